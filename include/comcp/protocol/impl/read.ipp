// SPDX-License-Identifier: MIT
//
// Reading with ownership: see protocol/read.hpp.
#pragma once

#include <comcp/protocol/read.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL json::value owned(const json::value& from) { return json::value(from, json::storage_ptr()); }

COMCP_DECL json::object owned(const json::object& from) { return json::object(from, json::storage_ptr()); }

COMCP_DECL std::string text_member(const json::object& from, std::string_view key)
{
    return std::string(string_member(from, key).value_or(std::string_view()));
}

COMCP_DECL json::object owned_object_member(const json::object& from, std::string_view key)
{
    const json::object* found = object_member(from, key);
    return found ? owned(*found) : json::object();
}

COMCP_DECL json::object unknown_members(const json::object& from, std::initializer_list<std::string_view> known)
{
    json::object rest;
    for (const auto& member : from) {
        const std::string_view key(member.key().data(), member.key().size());
        if (std::ranges::find(known, key) == known.end()) rest.emplace(member.key(), owned(member.value()));
    }
    return rest;
}

} // namespace comcp::inline COMCP_ABI::detail
