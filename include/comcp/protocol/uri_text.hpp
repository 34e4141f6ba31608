// SPDX-License-Identifier: MIT
//
// What a URI may be made of (RFC 3986), and its escapes. Not for taking one apart, nor for what it means.
#pragma once

#include <comcp/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr bool is_ascii_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr int hex_digit(char c) noexcept
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr bool is_escape(std::string_view text, std::size_t at) noexcept
{
    return text.size() - at >= 3 && text[at] == '%' && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
}

/// The text behind escapes, which are known to be whole.
inline std::string unescape_uri(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_escape(text, at)) {
            out += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
            at += 2;
        } else {
            out += text[at];
        }
    }
    return out;
}

/// Whether each '%' begins an escape, and there is no NUL in any spelling.
constexpr bool is_sound_uri(std::string_view uri) noexcept
{
    for (std::size_t at = 0; at < uri.size(); ++at) {
        if (uri[at] == '\0') return false;
        if (uri[at] == '%' && (!is_escape(uri, at) || uri.substr(at, 3) == "%00")) return false;
    }
    return true;
}

/// An absolute URI: a scheme, and only characters that a URI can have.
constexpr bool is_absolute_uri(std::string_view text) noexcept
{
    const std::size_t colon = text.find(':');
    if (colon == text.npos || colon == 0 || !is_ascii_letter(text.front())) return false;
    const auto in_scheme = [](char c) {
        return is_ascii_letter(c) || is_ascii_digit(c) || c == '+' || c == '-' || c == '.';
    };
    const auto in_uri = [](char c) {
        return c > 0x20 && c < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
    };
    return std::ranges::all_of(text.substr(0, colon), in_scheme) && std::ranges::all_of(text, in_uri) &&
           is_sound_uri(text);
}

/// Whether there is a `.` or `..` between slashes, in whatever spelling.
inline bool has_dot_segment(std::string_view uri)
{
    const std::string plain = unescape_uri(uri);
    for (std::size_t at = 0; at <= plain.size();) {
        const std::size_t end = std::min(plain.find_first_of("/\\?#", at), plain.size());
        const std::string_view segment = std::string_view(plain).substr(at, end - at);
        if (segment == "." || segment == "..") return true;
        at = end + 1;
    }
    return false;
}

} // namespace comcp::inline COMCP_ABI::detail
