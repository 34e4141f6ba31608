// SPDX-License-Identifier: MIT
//
// What a server offers, all pages of a list: tools, resources, resource templates, prompts. One template, since the
// four differ in their items only (pages.hpp gathers them).
#pragma once

#include <comcp/protocol/prompts.hpp>
#include <comcp/protocol/resources.hpp>
#include <comcp/protocol/tools.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

// What makes an item one of its list: a second one with the same key is left out.
inline std::string_view key_of(const tool& item) { return item.name; }
inline std::string_view key_of(const resource& item) { return item.uri; }
inline std::string_view key_of(const resource_template& item) { return item.uri_template; }
inline std::string_view key_of(const prompt& item) { return item.name; }

} // namespace detail

/// The items of one kind, in the server's order. Iterate it like a container.
template <class Item>
class list_of
{
public:
    std::vector<Item> items;
    bool complete = true;
    std::string why_partial;           ///< when it is not complete
    std::vector<std::string> problems; ///< items that were left out, and why: the others are good
    json::object extra;                ///< what stands beside the items of the pages, `_meta` among it; later pages win

    auto begin() const { return items.begin(); }
    auto end() const { return items.end(); }
    std::size_t size() const { return items.size(); }
    bool empty() const { return items.empty(); }

    /// The item with that name (tools, prompts), URI (resources) or URI template (resource templates), or null.
    const Item* find(std::string_view key) const
    {
        for (const Item& each : items)
            if (detail::key_of(each) == key) return &each;
        return nullptr;
    }
};

using tool_list = list_of<tool>;
using resource_list = list_of<resource>;
using resource_template_list = list_of<resource_template>;
using prompt_list = list_of<prompt>;

} // namespace comcp::inline COMCP_ABI
