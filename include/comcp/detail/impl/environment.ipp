// SPDX-License-Identifier: MIT
//
// What a child gets: see detail/environment.hpp.
#pragma once

#include <comcp/detail/environment.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// Whether a child gets the variable without being asked for: who and where the user is, and how to talk to them. It
/// leaves out all that may be a secret (tokens, agent sockets, proxies with passwords) or that changes what is loaded.
inline bool passed_by_default(std::string_view name)
{
    static constexpr std::string_view names[] = {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    };
    return name.starts_with("LC_") || std::find(std::begin(names), std::end(names), name) != std::end(names);
}

COMCP_DECL environment child_environment(const char* const* parent, bool everything,
                                         const std::vector<environment_change>& changes)
{
    environment made;
    for (; parent && *parent; ++parent) {
        const std::string_view entry(*parent);
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos || equals == 0) continue;
        const auto name = entry.substr(0, equals);
        const auto value = entry.substr(equals + 1);
        // "()": a function that an old bash exported; it would run in every shell below.
        if (!everything && (!passed_by_default(name) || value.starts_with("()"))) continue;
        made.emplace(name, value); // the first of two equal names counts, as for getenv
    }
    for (const environment_change& change : changes) {
        if (change.value) made.insert_or_assign(change.name, *change.value);
        else made.erase(change.name);
    }
    return made;
}

COMCP_DECL std::vector<std::string> environment_strings(const environment& from)
{
    std::vector<std::string> made;
    made.reserve(from.size());
    for (const auto& [name, value] : from) made.push_back(name + '=' + value);
    return made;
}

} // namespace comcp::inline COMCP_ABI::detail
