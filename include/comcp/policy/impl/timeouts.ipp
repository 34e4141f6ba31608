// SPDX-License-Identifier: MIT
//
// Which programs are launchers: see policy/timeouts.hpp.
#pragma once

#include <comcp/policy/timeouts.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::policy
{

/// A program's name without its folder, in lower case, without the extension that Windows needs.
inline std::string program_name(std::string_view path)
{
    std::string name(path.substr(path.find_last_of("/\\") + 1));
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    for (std::string_view extension : {".cmd", ".exe", ".bat", ".ps1"}) {
        if (name.ends_with(extension)) {
            name.resize(name.size() - extension.size());
            break;
        }
    }
    return name;
}

COMCP_DECL bool is_launcher(const launch_facts& facts)
{
    struct rule
    {
        std::string_view program;
        std::string_view argument; // empty: any
    };
    static constexpr auto rules = std::to_array<rule>({
        {"npx", {}},
        {"uvx", {}},
        {"bunx", {}},
        {"pnpx", {}},
        {"bun", "x"},
        {"uv", "run"},
        {"uv", "tool"},
        {"pipx", "run"},
        {"pnpm", "dlx"},
        {"yarn", "dlx"},
        {"npm", "exec"},
        {"npm", "x"},
        {"docker", "run"},
        {"podman", "run"},
    });
    const auto has = [&](std::string_view argument) {
        return std::ranges::find(facts.args, argument) != facts.args.end();
    };

    const std::string name = program_name(facts.program);
    for (const rule& r : rules) {
        if (name == r.program && (r.argument.empty() || has(r.argument))) return true;
    }
    if (name == "deno") {
        return has("run") && std::ranges::any_of(facts.args, [](std::string_view a) {
                   return a.starts_with("npm:") || a.starts_with("jsr:");
               });
    }
    // The usual way to reach npx on Windows: cmd /c npx ...
    if (name == "cmd" && facts.args.size() >= 2 && (facts.args[0] == "/c" || facts.args[0] == "/C")) {
        return is_launcher({facts.args[1], facts.args.subspan(2)});
    }
    return false;
}

} // namespace comcp::inline COMCP_ABI::policy
