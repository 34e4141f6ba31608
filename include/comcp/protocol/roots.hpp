// SPDX-License-Identifier: MIT
//
// Roots: the places that a client tells a server to work in. Guidance, not access control (2025-11-25, roots).
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/read.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// `uri` is a `file://` URI; `name` may be empty.
struct root
{
    std::string uri;
    std::string name;

    root() = default;
    explicit root(std::string where, std::string shown = {}) : uri(std::move(where)), name(std::move(shown)) {}
};

/// Reads the result of roots/list. Entries without a uri are left out.
inline std::vector<root> read_roots(const json::object& from)
{
    std::vector<root> read;
    const json::array* items = array_member(from, "roots");
    if (!items) return read;
    for (const json::value& item : *items) {
        const json::object* object = item.if_object();
        const auto uri = object ? string_member(*object, "uri") : std::nullopt;
        if (uri) read.emplace_back(std::string(*uri), detail::text_member(*object, "name"));
    }
    return read;
}

/// Appends the result of roots/list.
inline void write_roots(std::string& out, const std::vector<root>& roots)
{
    out += R"({"roots":[)";
    bool comma = false;
    for (const root& each : roots) {
        if (comma) out += ',';
        comma = true;
        write_string(out += R"({"uri":)", each.uri);
        if (!each.name.empty()) write_string(out += R"(,"name":)", each.name);
        out += '}';
    }
    out += "]}";
}

} // namespace comcp::inline COMCP_ABI
