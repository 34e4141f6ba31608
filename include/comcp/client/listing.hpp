// SPDX-License-Identifier: MIT
//
// The tools of a server, all pages of its list (pages.hpp gathers them).
#pragma once

#include <comcp/protocol/tools.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// The tools of a server, in its order. Iterate it like a container.
class tool_list
{
public:
    std::vector<tool> tools;
    bool complete = true;
    std::string why_partial;           ///< when it is not complete
    std::vector<std::string> problems; ///< tools that were left out, and why: the others are good

    auto begin() const { return tools.begin(); }
    auto end() const { return tools.end(); }
    std::size_t size() const { return tools.size(); }
    bool empty() const { return tools.empty(); }

    /// The tool of that name, or null.
    const tool* find(std::string_view name) const
    {
        for (const tool& each : tools)
            if (each.name == name) return &each;
        return nullptr;
    }
};

} // namespace comcp::inline COMCP_ABI
