// SPDX-License-Identifier: MIT
//
// Media types (`application/json; charset=utf-8`) and what a peer accepts of them (RFC 9110 sections 8.3 and 12.5.1).
// Not for turning bytes from one charset into another: JSON and events are UTF-8.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// Views into the text that was parsed.
struct media_type
{
    std::string_view type;
    std::string_view subtype;
    std::string_view parameters; ///< what follows the first semicolon, as it was written

    /// Whether it is `wanted`, written as `type/subtype`; case and parameters make no difference.
    constexpr bool is(std::string_view wanted) const noexcept
    {
        const std::size_t slash = wanted.find('/');
        return slash != wanted.npos && equal_ignoring_case(type, wanted.substr(0, slash)) &&
               equal_ignoring_case(subtype, wanted.substr(slash + 1));
    }

    /// The value of a parameter, without quotes.
    std::optional<std::string> parameter(std::string_view name) const
    {
        std::string_view item;
        for (std::string_view rest = parameters; next_item(rest, item, ';');) {
            const std::size_t equals = item.find('=');
            if (equals == item.npos || !equal_ignoring_case(item.substr(0, equals), name)) continue;
            item.remove_prefix(equals + 1);
            if (!item.starts_with('"')) return std::string(item);
            std::string value;
            for (std::size_t i = 1; i < item.size() && item[i] != '"'; ++i) {
                if (item[i] == '\\' && i + 1 < item.size()) ++i;
                value += item[i];
            }
            return value;
        }
        return std::nullopt;
    }
};

/// Reads `type/subtype`, with or without parameters. Nothing when it is none.
constexpr std::optional<media_type> parse_media_type(std::string_view text) noexcept
{
    media_type out;
    const std::size_t semicolon = text.find(';');
    if (semicolon != text.npos) out.parameters = trim(text.substr(semicolon + 1));
    text = trim(text.substr(0, semicolon));
    const std::size_t slash = text.find('/');
    if (slash == text.npos) return std::nullopt;
    out.type = text.substr(0, slash);
    out.subtype = text.substr(slash + 1);
    if (!valid_name(out.type) || !valid_name(out.subtype)) return std::nullopt;
    return out;
}

/// Whether a Content-Type value is `wanted`, written as `type/subtype`.
constexpr bool is_media_type(std::string_view content_type, std::string_view wanted) noexcept
{
    if (content_type == wanted) return true; // nearly always
    const std::optional<media_type> parsed = parse_media_type(content_type);
    return parsed && parsed->is(wanted);
}

/// The same of the message's one Content-Type. False when there is none, or more than one.
inline bool has_media_type(const fields& list, std::string_view wanted)
{
    const fields::named type = list.look_for("Content-Type");
    return type.count == 1 && is_media_type(type.value, wanted);
}

namespace detail
{

/// The weight `q` of an item, in thousandths; 1000 when none is given, nothing when it is malformed.
constexpr std::optional<int> read_weight(std::string_view parameters) noexcept
{
    std::string_view item;
    while (next_item(parameters, item, ';')) {
        if (item.size() < 2 || to_lower(item[0]) != 'q' || item[1] != '=') continue;
        item.remove_prefix(2);
        if (item.empty() || item.size() > 5 || (item[0] != '0' && item[0] != '1')) return std::nullopt;
        int value = (item[0] - '0') * 1000;
        if (item.size() > 1 && item[1] != '.') return std::nullopt;
        for (std::size_t i = 2, unit = 100; i < item.size(); ++i, unit /= 10) {
            if (!is_digit(item[i])) return std::nullopt;
            value += (item[i] - '0') * static_cast<int>(unit);
        }
        if (value > 1000) return std::nullopt;
        return value;
    }
    return 1000;
}

/// What the ranges that were looked at say of one media type: the most specific range decides.
struct accept_scan
{
    std::string_view wanted;
    bool any_range = false;
    int best_rank = 0;
    int weight = 0;

    constexpr void look_at(std::string_view list) noexcept
    {
        std::string_view item;
        while (next_item(list, item)) {
            const std::optional<media_type> range = parse_media_type(item);
            const std::optional<int> q = range ? read_weight(range->parameters) : std::nullopt;
            if (!q) continue; // one damaged item does not spoil the others
            any_range = true;
            const std::string_view type = wanted.substr(0, wanted.find('/'));
            int rank = 0;
            if (range->is(wanted)) {
                rank = 3;
            } else if (range->subtype == "*" && equal_ignoring_case(range->type, type)) {
                rank = 2;
            } else if (range->subtype == "*" && range->type == "*") {
                rank = 1;
            }
            if (rank == 0 || rank < best_rank || (rank == best_rank && *q <= weight)) continue;
            best_rank = rank;
            weight = *q;
        }
    }

    // A list without any range says nothing, like an absent one.
    constexpr int result() const noexcept { return any_range ? weight : 1000; }
};

} // namespace detail

/// What clients send that do as they are told (2025-11-25, transports): they accept both.
inline constexpr std::string_view usual_accept = "application/json, text/event-stream";

/// How much a peer with this Accept value wants a media type, in thousandths. 0: not at all. Parameters other than the
/// weight make no difference; a value without any range is like an absent one, which accepts everything.
constexpr int accept_weight(std::string_view accept, std::string_view wanted) noexcept
{
    detail::accept_scan scan{wanted};
    scan.look_at(accept);
    return scan.result();
}

/// The same of all Accept fields of a message.
inline int accept_weight(const fields& list, std::string_view wanted)
{
    detail::accept_scan scan{wanted};
    for (const field& item : list) {
        if (equal_ignoring_case(item.name, "Accept")) scan.look_at(item.value);
    }
    return scan.result();
}

/// Whether a peer accepts a media type: `accepts(head.fields, "text/event-stream")`.
constexpr bool accepts(std::string_view accept, std::string_view wanted) noexcept
{
    return accept_weight(accept, wanted) > 0;
}
inline bool accepts(const fields& list, std::string_view wanted) { return accept_weight(list, wanted) > 0; }

} // namespace comcp::inline COMCP_ABI::http
