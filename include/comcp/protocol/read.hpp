// SPDX-License-Identifier: MIT
//
// Small helpers of the readers of the neutral model. What is read is always copied into default storage, because the
// parsed message may stand in an arena that dies with it. A missing, null or wrongly typed optional member reads as
// absent; members that are not known are kept, and nothing here fails.
#pragma once

#include <comcp/json/value.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// A copy that owns its memory.
json::value owned(const json::value& from);
json::object owned(const json::object& from);

/// The text of a member; empty when it is absent.
std::string text_member(const json::object& from, std::string_view key);

/// A copy of an object member; empty when it is absent.
json::object owned_object_member(const json::object& from, std::string_view key);

/// Copies of the members that are not among the known ones. A null of an unknown member is kept: it may mean something.
json::object unknown_members(const json::object& from, std::initializer_list<std::string_view> known);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/read.ipp>
#endif
