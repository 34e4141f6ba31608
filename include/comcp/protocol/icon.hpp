// SPDX-License-Identifier: MIT
//
// Icons as data. Not for showing or fetching them: a program that does must refuse other schemes than https and
// data, and fetch without credentials.
#pragma once

#include <comcp/protocol/read.hpp>

#include <cstddef>
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
std::vector<std::string> read_strings(const json::object& from, std::string_view key);

/// Further icons of one thing are dropped by the reader.
inline constexpr std::size_t max_icons = 100;

/// Reads the member `icons`. An icon without a `src` is left out.
std::vector<icon> read_icons(const json::object& from);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/icon.ipp>
#endif
