// SPDX-License-Identifier: MIT
//
// Icons as data. Not for showing or fetching them: a program that does must refuse other schemes than https and
// data, and fetch without credentials.
#pragma once

#include <comcp/protocol/read.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// One icon; what is empty was not given.
class icon
{
public:
    std::string src;                ///< a URI
    std::string mime_type;          ///< such as "image/png"
    std::vector<std::string> sizes; ///< such as "48x48" or "any"
    std::string theme;              ///< "light" or "dark"
    json::object extra;             ///< members that the specification does not name

    icon() = default;
    explicit icon(std::string source, std::string type = {}) : src(std::move(source)), mime_type(std::move(type)) {}
};

/// The strings of an array member; what is not a string is left out.
inline std::vector<std::string> read_strings(const json::object& from, std::string_view key)
{
    std::vector<std::string> texts;
    if (const json::array* items = array_member(from, key)) {
        for (const json::value& item : *items) {
            if (const json::string* text = item.if_string()) texts.emplace_back(text->data(), text->size());
        }
    }
    return texts;
}

/// Reads the member `icons`. An icon without a `src` is left out.
inline std::vector<icon> read_icons(const json::object& from)
{
    std::vector<icon> icons;
    if (const json::array* items = array_member(from, "icons")) {
        for (const json::value& item : *items) {
            const json::object* object = item.if_object();
            if (!object || !string_member(*object, "src")) continue;
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
