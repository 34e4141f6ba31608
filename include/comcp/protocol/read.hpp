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
inline json::value owned(const json::value& from) { return json::value(from, json::storage_ptr()); }
inline json::object owned(const json::object& from) { return json::object(from, json::storage_ptr()); }

/// The text of a member; empty when it is absent.
inline std::string text_member(const json::object& from, std::string_view key)
{
    return std::string(string_member(from, key).value_or(std::string_view()));
}

/// A copy of an object member; empty when it is absent.
inline json::object owned_object_member(const json::object& from, std::string_view key)
{
    const json::object* found = object_member(from, key);
    return found ? owned(*found) : json::object();
}

/// Copies of the members that are not among the known ones. A null of an unknown member is kept: it may mean something.
inline json::object unknown_members(const json::object& from, std::initializer_list<std::string_view> known)
{
    json::object rest;
    for (const auto& member : from) {
        const std::string_view key(member.key().data(), member.key().size());
        if (std::ranges::find(known, key) == known.end()) rest.emplace(member.key(), owned(member.value()));
    }
    return rest;
}

} // namespace comcp::inline COMCP_ABI::detail
