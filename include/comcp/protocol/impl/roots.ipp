// SPDX-License-Identifier: MIT
//
// Reading roots: see protocol/roots.hpp.
#pragma once

#include <comcp/protocol/roots.hpp>
#include <comcp/protocol/uri_text.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL std::optional<fault> check_root(const root& place)
{
    const auto refuse = [&](const char* why) {
        return fail(errc::invalid_argument, "the root \"" + place.uri + "\" " + why);
    };
    if (!place.uri.starts_with("file://") || !detail::is_absolute_uri(place.uri)) return refuse("is no file:// URI");
    if (detail::has_dot_segment(place.uri)) return refuse("has dot segments");
    return std::nullopt;
}

COMCP_DECL root_list read_roots(const json::object& from)
{
    root_list read;
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"roots", "_meta"});
    const json::array* items = array_member(from, "roots");
    if (!items) return read;
    for (const json::value& item : *items) {
        const json::object* object = item.if_object();
        const auto uri = object ? string_member(*object, "uri") : std::nullopt;
        if (!uri) continue;
        if (read.size() == max_roots) break;
        root& one = read.emplace_back(std::string(*uri), detail::text_member(*object, "name"));
        one.meta = detail::owned_object_member(*object, "_meta");
        one.extra = detail::unknown_members(*object, {"uri", "name", "_meta"});
    }
    return read;
}

} // namespace comcp::inline COMCP_ABI
