// SPDX-License-Identifier: MIT
//
// The calls of a process that is gone: which a POST holds, kept with its stream, and what is answered to them when the
// stream is resumed elsewhere. Calls do not move, and nobody knows how far they came.
#pragma once

#include <comcp/config.hpp>

#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// The id of the request in the body of a POST as JSON, or the array of those of a batch; "null" for what has none that
/// can be told.
std::string ids_of_calls(std::string_view body);

/// An error for each, as its stream would have carried the answer: the outcome is unknown. The ids are a store's: any
/// text is allowed.
std::string answer_left_calls(std::string_view ids);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/left_calls.ipp>
#endif
