// SPDX-License-Identifier: MIT
//
// What is learnt of a message over the size limit while it is skipped (scan.hpp looks).
#pragma once

#include <comcp/rpc/id.hpp>

#include <cstddef>
#include <string>

namespace comcp::inline COMCP_ABI::rpc
{

/// What is known of a message that was not kept. Nulls count as absent, and the last of two equal keys counts.
struct oversize_facts
{
    bool object = false;     ///< the outermost value is an object
    bool id_present = false; ///< there is an `id` of any kind, so that a method makes this a request
    bool id_known = false;   ///< and it is a string or integer of at most 256 bytes
    rpc::id id;
    bool has_method = false;
    std::string method; ///< empty when it is longer than 128 bytes
    bool has_result = false;
    bool has_error = false;
    std::size_t bytes = 0; ///< the size of the message
};

} // namespace comcp::inline COMCP_ABI::rpc
