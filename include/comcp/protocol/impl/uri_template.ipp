// SPDX-License-Identifier: MIT
//
// Expanding and matching URI templates: see protocol/uri_template.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/protocol/uri_template.hpp>
#include <comcp/protocol/uri_text.hpp>

#include <algorithm>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

inline bool is_name_character(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

inline bool is_unreserved(char c) noexcept { return is_name_character(c) || c == '-' || c == '.' || c == '~'; }

inline bool is_reserved(char c) noexcept
{
    return std::string_view(":/?#[]@!$&'()*+,;=").find(c) != std::string_view::npos;
}

/// The value in a URI. RFC 6570, section 3.2.1: `reserved` also keeps the reserved characters, and escapes.
inline void escape_uri(std::string& out, std::string_view value, bool reserved)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t at = 0; at < value.size(); ++at) {
        const char c = value[at];
        if (is_unreserved(c) || (reserved && (is_reserved(c) || is_escape(value, at)))) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 15U];
        }
    }
}

/// The size of the character at a place, an escape being one; 0 when a simple variable does not have it.
inline std::size_t simple_step(std::string_view text, std::size_t at) noexcept
{
    if (text[at] == '/' || text[at] == '?' || text[at] == '#') return 0;
    if (!is_escape(text, at)) return 1;
    const int byte = hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]);
    return byte == '/' || byte == '?' || byte == '#' ? 0 : 3;
}

} // namespace detail

COMCP_DECL result<uri_template> uri_template::parse(std::string_view text)
{
    const auto refuse = [text](const std::string& what) {
        return fail(errc::invalid_argument,
                    "URI template \"" + std::string(detail::first_code_points(text, 128)) + "\": " + what);
    };
    if (text.size() > max_text) return refuse("longer than " + std::to_string(max_text) + " bytes");
    uri_template made;
    made.text_ = text;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t open = std::min(text.find('{', at), text.size());
        const std::string_view literal = text.substr(at, open - at);
        if (!literal.empty()) {
            if (!detail::is_sound_uri(literal)) return refuse("a '%' without two hexadecimal digits, or a NUL");
            for (const char c : literal) {
                if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '}' || c == '"' || c == '<' ||
                    c == '>' || c == '\\' || c == '^' || c == '`' || c == '|') {
                    return refuse("a character that a URI cannot have");
                }
            }
            if (!made.parts_.empty() && made.parts_.back().kind == part_kind::query) {
                return refuse("nothing may follow a query");
            }
            made.parts_.push_back({part_kind::literal, std::string(literal)});
        }
        if (open == text.size()) break;
        const std::size_t close = text.find('}', open);
        if (close == text.npos) return refuse("a brace that is not closed");
        if (auto wrong = made.add_expression(text.substr(open + 1, close - open - 1))) return refuse(wrong->text);
        at = close + 1;
    }
    const bool query = !made.parts_.empty() && made.parts_.back().kind == part_kind::query;
    if (query && text.substr(0, text.rfind('{')).find('?') != text.npos) {
        return refuse("a question mark before the query");
    }
    return made;
}

COMCP_DECL std::optional<fault> uri_template::add_expression(std::string_view inside)
{
    const auto refuse = [](std::string what) { return fail(errc::invalid_argument, std::move(what)); };
    if (!parts_.empty() && parts_.back().kind == part_kind::query) return refuse("nothing may follow a query");
    part_kind kind = part_kind::simple;
    if (inside.starts_with('+')) kind = part_kind::reserved;
    if (inside.starts_with('/')) kind = part_kind::segment;
    if (inside.starts_with('?')) kind = part_kind::query;
    if (kind != part_kind::simple) inside.remove_prefix(1);
    const bool lists = kind == part_kind::segment || kind == part_kind::query;
    if (!lists && inside.find(',') != inside.npos) return refuse("lists are for {/a,b} and {?a,b} alone");

    for (;;) {
        const std::size_t comma = std::min(inside.find(','), inside.size());
        const std::string_view name = inside.substr(0, comma);
        if (name.empty()) return refuse("an expression without a name");
        if (!std::ranges::all_of(name, &detail::is_name_character)) {
            return refuse("\"" + std::string(detail::first_code_points(name, 64)) +
                          "\" is no name; modifiers and the operators # . ; & are not supported");
        }
        std::size_t count = 0;
        for (const part& each : parts_) {
            count += each.kind != part_kind::literal;
            if (each.kind != part_kind::literal && each.text == name) return refuse("a name that is there twice");
        }
        if (count == max_variables) return refuse("more than " + std::to_string(max_variables) + " variables");
        parts_.push_back({kind, std::string(name)});
        if (comma == inside.size()) return std::nullopt;
        inside.remove_prefix(comma + 1);
    }
}

COMCP_DECL std::string uri_template::expand(const uri_variables& values) const
{
    std::string out;
    char before = '?';
    for (const part& each : parts_) {
        if (each.kind == part_kind::literal) {
            out += each.text;
            continue;
        }
        const auto value = values.find(each.text);
        if (value == values.end()) continue;
        if (each.kind == part_kind::segment) out += '/';
        if (each.kind == part_kind::query) {
            (out += before) += each.text;
            out += '=';
            before = '&';
        }
        detail::escape_uri(out, value->second, each.kind == part_kind::reserved);
    }
    return out;
}

COMCP_DECL std::vector<std::string> uri_template::variables() const
{
    std::vector<std::string> names;
    for (const part& each : parts_) {
        if (each.kind != part_kind::literal) names.push_back(each.text);
    }
    return names;
}

COMCP_DECL std::optional<uri_variables> uri_template::match(std::string_view uri) const
{
    if (uri.size() > max_uri || !detail::is_sound_uri(uri)) return std::nullopt;
    uri_variables found;
    const bool query = !parts_.empty() && parts_.back().kind == part_kind::query;
    const std::size_t mark = query ? std::min(uri.find('?'), uri.size()) : uri.size();
    if (mark != uri.size() && !match_query(uri.substr(mark + 1), found)) return std::nullopt;
    if (!match_path(uri.substr(0, mark), found)) return std::nullopt;
    return found;
}

COMCP_DECL bool uri_template::match_query(std::string_view query, uri_variables& found) const
{
    for (;;) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos || pair.find('#') != pair.npos) return false;
        const std::string_view name = pair.substr(0, equals);
        const auto known = std::ranges::find_if(
            parts_, [name](const part& each) { return each.kind == part_kind::query && each.text == name; });
        if (known == parts_.end()) return false;
        if (!found.emplace(known->text, detail::unescape_uri(pair.substr(equals + 1))).second) return false;
        if (end == query.size()) return true;
        query.remove_prefix(end + 1);
    }
}

// From the end to the front: `fits[i][at]` says whether the parts from i on make up the path from `at` on. So each
// place is looked at once for each part, however many variables could divide the path between them.
COMCP_DECL bool uri_template::match_path(std::string_view path, uri_variables& found) const
{
    const std::size_t size = path.size();
    std::size_t count = 0;
    while (count < parts_.size() && parts_[count].kind != part_kind::query) ++count;
    std::vector<std::vector<bool>> fits(count + 1, std::vector<bool>(size + 1, false));
    fits[count][size] = true;

    const auto step = [path](part_kind kind, std::size_t at) {
        if (kind != part_kind::reserved) return detail::simple_step(path, at);
        return detail::is_escape(path, at) ? std::size_t(3) : std::size_t(1);
    };
    std::vector<bool> ends(size + 1); // whether a variable that has begun may go on from here, or end here
    for (std::size_t i = count; i-- > 0;) {
        const part& each = parts_[i];
        const std::vector<bool>& next = fits[i + 1];
        if (each.kind == part_kind::literal) {
            for (std::size_t at = 0; at + each.text.size() <= size; ++at) {
                fits[i][at] = next[at + each.text.size()] && path.substr(at).starts_with(each.text);
            }
            continue;
        }
        ends = next;
        for (std::size_t at = size; at-- > 0;) {
            const std::size_t width = step(each.kind, at);
            const bool goes_on = width != 0 && ends[at + width];
            if (goes_on) ends[at] = true;
            if (each.kind != part_kind::segment) fits[i][at] = goes_on;
        }
        if (each.kind == part_kind::segment) {
            for (std::size_t at = 0; at <= size; ++at) {
                fits[i][at] = next[at];
                if (at + 1 >= size || path[at] != '/' || fits[i][at]) continue;
                const std::size_t width = step(each.kind, at + 1);
                fits[i][at] = width != 0 && ends[at + 1 + width];
            }
        }
    }
    if (!fits[0][0]) return false;

    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const part& each = parts_[i];
        if (each.kind == part_kind::literal) {
            at += each.text.size();
            continue;
        }
        std::size_t from = at;
        if (each.kind == part_kind::segment) {
            if (at >= size || path[at] != '/') continue;
            ++from;
        }
        std::size_t end = 0; // the last place where the rest still fits
        for (std::size_t to = from; to < size;) {
            const std::size_t width = step(each.kind, to);
            if (width == 0) break;
            to += width;
            if (fits[i + 1][to]) end = to;
        }
        if (end == 0) continue; // a segment that is not there
        found.emplace(each.text, detail::unescape_uri(path.substr(from, end - from)));
        at = end;
    }
    return true;
}

} // namespace comcp::inline COMCP_ABI
