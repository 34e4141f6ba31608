// SPDX-License-Identifier: MIT
//
// Writing capabilities: see wire/capabilities.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/wire/capabilities.hpp>

namespace comcp::inline COMCP_ABI::wire
{

namespace detail
{

/// Whether a revision has a capability, or a part of it; what no row names it may have.
inline bool has_capability(std::string_view name, std::string_view part, sender side, revision at) noexcept
{
    for (const capability_info& row : legacy_capabilities) {
        if (row.name == name && row.part == part && (row.side == side || row.side == sender::either)) {
            return row.since <= at && at <= row.until;
        }
    }
    return true;
}

/// A declared capability that a revision would misread without the parts that it lacks: `elicitation` with `url` alone
/// would mean forms.
inline bool means_something_else(const capability_set& declared, std::string_view name, revision at) noexcept
{
    return name == "elicitation" && at < revision::r2025_11_25 && declared.has(name, "url") &&
           !declared.has(name, "form");
}

inline void write_capabilities_of(std::string& out, const capability_set& declared, sender side, revision at)
{
    const auto text = [](const json::key_value_pair& item) {
        return std::string_view(item.key().data(), item.key().size());
    };
    char before = '{';
    for (const json::key_value_pair& item : declared.raw()) {
        const std::string_view name = text(item);
        if (!has_capability(name, "", side, at) || means_something_else(declared, name, at)) continue;
        out += before;
        before = ',';
        write_string(out, name);
        out += ':';
        const json::object* parts = item.value().if_object();
        if (!parts) {
            write_value(out, item.value());
            continue;
        }
        char inner = '{';
        for (const json::key_value_pair& part : *parts) {
            if (!has_capability(name, text(part), side, at)) continue;
            out += inner;
            inner = ',';
            write_string(out, text(part));
            write_value(out += ':', part.value());
        }
        out += inner == '{' ? "{}" : "}";
    }
    out += before == '{' ? "{}" : "}";
}

} // namespace detail

COMCP_DECL void write_capabilities(std::string& out, const client_capabilities& declared, revision at)
{
    detail::write_capabilities_of(out, declared, sender::client, at);
}

COMCP_DECL void write_capabilities(std::string& out, const server_capabilities& declared, revision at)
{
    detail::write_capabilities_of(out, declared, sender::server, at);
}

} // namespace comcp::inline COMCP_ABI::wire
