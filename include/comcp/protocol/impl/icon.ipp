// SPDX-License-Identifier: MIT
//
// Reading icons: see protocol/icon.hpp.
#pragma once

#include <comcp/protocol/icon.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL std::vector<std::string> read_strings(const json::object& from, std::string_view key)
{
    std::vector<std::string> texts;
    if (const json::array* items = array_member(from, key)) {
        for (const json::value& item : *items) {
            if (const json::string* text = item.if_string()) texts.emplace_back(text->data(), text->size());
        }
    }
    return texts;
}

COMCP_DECL std::vector<icon> read_icons(const json::object& from)
{
    std::vector<icon> icons;
    if (const json::array* items = array_member(from, "icons")) {
        for (const json::value& item : *items) {
            const json::object* object = item.if_object();
            if (!object || !string_member(*object, "src")) continue;
            if (icons.size() == max_icons) break;
            icon& read =
                icons.emplace_back(detail::text_member(*object, "src"), detail::text_member(*object, "mimeType"));
            read.sizes = read_strings(*object, "sizes");
            read.theme = detail::text_member(*object, "theme");
            read.extra = detail::unknown_members(*object, {"src", "mimeType", "sizes", "theme"});
        }
    }
    return icons;
}

} // namespace comcp::inline COMCP_ABI
