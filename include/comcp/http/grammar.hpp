// SPDX-License-Identifier: MIT
//
// The character classes of HTTP and URLs (RFC 9110 section 5.6, RFC 3986 section 2) and comparisons that ignore the
// case of ASCII letters. No locale has a say here.
#pragma once

#include <comcp/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{

enum char_class : std::uint8_t {
    token_char = 1,  // tchar: names of fields, methods, media types
    value_char = 2,  // in a field value: no control character but the tab
    target_char = 4, // in a path or query: visible ASCII without '#'
    name_char = 8,   // in a host name: unreserved of RFC 3986
};

inline constexpr std::array<std::uint8_t, 256> char_classes = [] {
    std::array<std::uint8_t, 256> table{};
    const auto add = [&](std::string_view chars, unsigned classes) {
        for (const char c : chars) {
            std::uint8_t& entry = table[static_cast<unsigned char>(c)];
            entry = static_cast<std::uint8_t>(entry | classes);
        }
    };
    add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", token_char | name_char);
    add("!#$%&'*+^`|", token_char);
    for (unsigned c = 0; c < table.size(); ++c) {
        const bool visible = c > 0x20 && c < 0x7F;
        if (visible || c == ' ' || c == '\t' || c >= 0x80) table[c] = static_cast<std::uint8_t>(table[c] | value_char);
        if (visible && c != '#') table[c] = static_cast<std::uint8_t>(table[c] | target_char);
    }
    return table;
}();

constexpr bool is(char c, char_class which) noexcept
{
    return (char_classes[static_cast<unsigned char>(c)] & which) != 0;
}

constexpr bool all(std::string_view text, char_class which) noexcept
{
    unsigned common = which; // without a jump for each character: most of a head is read here
    for (const char c : text) common &= char_classes[static_cast<unsigned char>(c)];
    return common != 0;
}

/// Eight characters at once: whether none of them is a control character. `text` has that many.
inline bool eight_without_controls(const char* text) noexcept
{
    constexpr std::uint64_t each = 0x0101'0101'0101'0101;
    std::uint64_t eight = 0;
    std::memcpy(&eight, text, sizeof eight);
    const std::uint64_t deleted = eight ^ (each * 0x7F);
    const std::uint64_t controls = ((eight - each * 0x20) & ~eight) | ((deleted - each) & ~deleted);
    return (controls & (each * 0x80)) == 0;
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The value of a hexadecimal digit; 16 for every other character.
constexpr unsigned hex_value(char c) noexcept
{
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    return 16;
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

} // namespace detail

/// The lower-case form of an ASCII letter; every other character as it is.
constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether two texts differ at most in the case of ASCII letters.
constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// The same for names of fields, which nearly everybody writes like everybody else.
constexpr bool same_name(std::string_view a, std::string_view b) noexcept
{
    return a.size() == b.size() && (a == b || equal_ignoring_case(a, b));
}

/// Without the spaces and tabs at both ends.
constexpr std::string_view trim(std::string_view text) noexcept
{
    while (!text.empty() && detail::is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && detail::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Whether this can be the name of a field, or a method: one or more token characters.
constexpr bool valid_name(std::string_view text) noexcept
{
    return !text.empty() && detail::all(text, detail::token_char);
}

/// Whether this can be the value of a field: no CR, LF, NUL or other control character but the tab (K-8).
constexpr bool valid_value(std::string_view text) noexcept
{
    if (!std::is_constant_evaluated() && text.size() >= 8) { // most of a head is read here
        std::string_view rest = text;
        while (rest.size() >= 8 && detail::eight_without_controls(rest.data())) rest.remove_prefix(8);
        // The last eight, some of which have been looked at.
        if (rest.size() < 8 && detail::eight_without_controls(text.data() + text.size() - 8)) return true;
    }
    return detail::all(text, detail::value_char);
}

/// Whether this can be a request target in origin form: a path and perhaps a query, percent-encoded.
constexpr bool valid_target(std::string_view text) noexcept
{
    return text.starts_with('/') && detail::all(text, detail::target_char);
}

} // namespace comcp::inline COMCP_ABI::http
