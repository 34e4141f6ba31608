// SPDX-License-Identifier: MIT
//
// Reading roots: see protocol/roots.hpp.
#pragma once

#include <comcp/protocol/roots.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL std::vector<root> read_roots(const json::object& from)
{
    std::vector<root> read;
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
