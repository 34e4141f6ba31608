// SPDX-License-Identifier: MIT
//
// The scanner: see json/source.hpp.
#pragma once

#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<raw_json> raw_json::checked(std::string text, std::size_t depth)
{
    if (auto parsed = parse_json(text, depth); !parsed) return parsed.error();
    // In valid JSON a line break can only stand between tokens, never inside of a string.
    std::erase_if(text, [](char letter) { return letter == '\n' || letter == '\r'; });
    return raw_json(std::move(text));
}

namespace detail
{

COMCP_DECL std::size_t skip_space(std::string_view text, std::size_t at) noexcept
{
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) ++at;
    return at;
}

/// From behind an opening quote to the closing one, or to the end of the text.
inline std::size_t closing_quote(std::string_view text, std::size_t at) noexcept
{
    for (const std::size_t from = at;; ++at) {
        at = text.find('"', at);
        if (at == std::string_view::npos) return text.size();
        std::size_t back = at;
        while (back > from && text[back - 1] == '\\') --back;
        if ((at - back) % 2 == 0) return at; // else the quote itself is escaped
    }
}

/// The code unit of four hexadecimal digits; 0 when they are not.
inline unsigned hex_unit(std::string_view digits) noexcept
{
    if (digits.size() < 4) return 0;
    unsigned unit = 0;
    for (const char digit : digits.substr(0, 4)) {
        unit <<= 4U;
        if (digit >= '0' && digit <= '9') unit |= static_cast<unsigned>(digit - '0');
        else if (digit >= 'a' && digit <= 'f') unit |= static_cast<unsigned>(digit - 'a' + 10);
        else if (digit >= 'A' && digit <= 'F') unit |= static_cast<unsigned>(digit - 'A' + 10);
        else return 0;
    }
    return unit;
}

inline void append_utf8(std::string& out, unsigned point)
{
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((point >> shift) & 0x3FU)); };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0U | (point >> 6U));
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0U | (point >> 12U));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0U | (point >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// The text that stands escaped between two quotes.
inline std::string unescape(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || ++at == text.size()) {
            if (at < text.size()) out += text[at];
            continue;
        }
        switch (text[at]) {
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
            unsigned point = hex_unit(text.substr(at + 1));
            at += 4;
            if (point >= 0xD800 && point < 0xDC00 && text.substr(at < text.size() ? at + 1 : text.size(), 2) == "\\u") {
                point = 0x10000U + ((point - 0xD800U) << 10U) + ((hex_unit(text.substr(at + 3)) - 0xDC00U) & 0x3FFU);
                at += 6;
            }
            append_utf8(out, point);
            break;
        }
        default: out += text[at];
        }
    }
    return out;
}

} // namespace detail

COMCP_DECL std::size_t skip_value(std::string_view text, std::size_t at) noexcept
{
    std::size_t depth = 0;
    while (at < text.size()) {
        switch (text[at]) {
        case '"': at = detail::closing_quote(text, at + 1) + 1; break;
        case '{':
        case '[':
            ++depth;
            ++at;
            continue;
        case '}':
        case ']':
            if (depth == 0) return at;
            --depth;
            ++at;
            break;
        case ',':
        case ':':
        case ' ':
        case '\t':
        case '\n':
        case '\r':
            if (depth == 0) return at;
            ++at;
            continue;
        default: // a number or a word ends where another token or a space begins
            at = text.find_first_of(",:]} \t\n\r", at + 1);
            if (at == std::string_view::npos) return text.size();
        }
        if (depth == 0) return at < text.size() ? at : text.size();
    }
    return text.size();
}

COMCP_DECL std::optional<std::string_view> member_source(std::string_view object, std::string_view key)
{
    std::optional<std::string_view> found;
    std::size_t at = detail::skip_space(object, 0);
    if (at == object.size() || object[at] != '{') return found;
    for (++at;; ++at) {
        at = detail::skip_space(object, at);
        if (at >= object.size() || object[at] != '"') return found;
        const std::size_t end = detail::closing_quote(object, at + 1);
        const std::string_view name = object.substr(at + 1, end - at - 1);
        const bool same = name.find('\\') == std::string_view::npos ? name == key : detail::unescape(name) == key;
        at = detail::skip_space(object, end + 1);
        if (at >= object.size() || object[at] != ':') return found;
        at = detail::skip_space(object, at + 1);
        const std::size_t stop = skip_value(object, at);
        if (same) found = object.substr(at, stop - at);
        at = detail::skip_space(object, stop);
        if (at >= object.size() || object[at] != ',') return found;
    }
}

COMCP_DECL std::string quote_unsafe_integers(std::string_view json)
{
    constexpr std::string_view largest_safe = "9007199254740991";
    constexpr std::string_view digit = "0123456789";
    std::string out;
    out.reserve(json.size());
    for (std::size_t at = 0, end = 0; at < json.size(); at = end) {
        const bool number = json[at] == '-' || digit.find(json[at]) != std::string_view::npos;
        if (number || json[at] == '"') end = skip_value(json, at);
        else end = std::min(json.find_first_of("-0123456789\"", at), json.size());
        const std::string_view token = json.substr(at, end - at);
        const std::string_view digits = token.substr(token.front() == '-' ? 1 : 0);
        const bool unsafe =
            number && digits.find_first_not_of(digit) == std::string_view::npos &&
            (digits.size() > largest_safe.size() || (digits.size() == largest_safe.size() && digits > largest_safe));
        if (unsafe) out += '"';
        out += token;
        if (unsafe) out += '"';
    }
    return out;
}

} // namespace comcp::inline COMCP_ABI
