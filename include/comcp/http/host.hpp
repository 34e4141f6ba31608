// SPDX-License-Identifier: MIT
//
// Hosts as URLs and Host fields write them: names, IPv4, IPv6 in brackets, with or without a port. One form for each
// host, so that texts can be compared. Nothing is looked up here. Refused are the spellings in which programs disagree
// about what is meant: user names, zone ids, percent-encoded names, IPv4 addresses such as 127.1 or 0x7f000001.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/result.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

using ipv4_bytes = std::array<std::uint8_t, 4>;
using ipv6_bytes = std::array<std::uint8_t, 16>;

/// Reads four decimal numbers without leading zeros.
constexpr std::optional<ipv4_bytes> parse_ipv4(std::string_view text) noexcept
{
    ipv4_bytes out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i != 0) {
            if (!text.starts_with('.')) return std::nullopt;
            text.remove_prefix(1);
        }
        unsigned value = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && detail::is_digit(text[digits]); ++digits) {
            if (digits == 3 || (digits == 1 && value == 0)) return std::nullopt;
            value = value * 10 + static_cast<unsigned>(text[digits] - '0');
        }
        if (digits == 0 || value > 255) return std::nullopt;
        out[i] = static_cast<std::uint8_t>(value);
        text.remove_prefix(digits);
    }
    if (!text.empty()) return std::nullopt;
    return out;
}

/// Reads every form of RFC 4291 section 2.2, without brackets and without a zone id.
constexpr std::optional<ipv6_bytes> parse_ipv6(std::string_view text) noexcept
{
    ipv6_bytes out{};
    std::size_t filled = 0;
    std::optional<std::size_t> gap; // where "::" stands
    if (text.starts_with("::")) {
        gap = 0;
        text.remove_prefix(2);
    } else if (text.starts_with(':')) {
        return std::nullopt;
    }
    while (!text.empty()) {
        if (filled == out.size()) return std::nullopt;
        unsigned value = 0;
        std::size_t digits = 0;
        while (digits < text.size() && detail::hex_value(text[digits]) < 16) {
            if (digits == 4) return std::nullopt;
            value = value * 16 + detail::hex_value(text[digits++]);
        }
        if (digits < text.size() && text[digits] == '.') {
            const std::optional<ipv4_bytes> tail = parse_ipv4(text);
            if (!tail || filled > out.size() - tail->size()) return std::nullopt;
            for (const std::uint8_t byte : *tail) out[filled++] = byte;
            break;
        }
        if (digits == 0) return std::nullopt;
        out[filled++] = static_cast<std::uint8_t>(value >> 8U);
        out[filled++] = static_cast<std::uint8_t>(value & 255U);
        text.remove_prefix(digits);
        if (text.empty()) break;
        if (text.starts_with("::") && !gap) {
            gap = filled;
            text.remove_prefix(2);
        } else if (text.size() > 1 && text[0] == ':' && text[1] != ':') {
            text.remove_prefix(1);
        } else {
            return std::nullopt;
        }
    }
    if (!gap) return filled == out.size() ? std::optional(out) : std::nullopt;
    if (filled == out.size()) return std::nullopt; // "::" stands for one group or more
    const std::size_t moved = filled - *gap;
    const auto begin = out.begin() + *gap;
    std::copy_backward(begin, begin + moved, out.end());
    std::fill(begin, out.end() - moved, std::uint8_t(0));
    return out;
}

/// The one text of an address: lower case, no leading zeros, "::" for the first longest run of two or more zero groups
/// (RFC 5952). The last 32 bits are written like the others, as browsers do it in Origin.
inline std::string ipv6_text(const ipv6_bytes& bytes)
{
    const auto group = [&](std::size_t i) { return static_cast<unsigned>(bytes[2 * i] << 8U | bytes[2 * i + 1]); };
    std::size_t gap = 8;
    std::size_t longest = 1;
    for (std::size_t from = 0; from < 8; ++from) {
        std::size_t to = from;
        while (to < 8 && group(to) == 0) ++to;
        if (to - from > longest) {
            longest = to - from;
            gap = from;
        }
    }
    std::string out;
    for (std::size_t i = 0; i < 8; ++i) {
        if (i == gap) {
            out += "::";
            i += longest - 1;
            continue;
        }
        if (i != 0 && !out.ends_with(':')) out += ':';
        bool begun = false;
        for (int shift = 12; shift >= 0; shift -= 4) {
            const unsigned digit = group(i) >> static_cast<unsigned>(shift) & 15U;
            begun = begun || digit != 0 || shift == 0;
            if (begun) out += "0123456789abcdef"[digit];
        }
    }
    return out;
}

/// A host and perhaps a port: what stands in a Host field, and in a URL after the scheme.
struct authority
{
    std::string host; ///< lower case; IPv4 without a dot at its end; IPv6 as `ipv6_text` writes it, without brackets
    std::optional<std::uint16_t> port;

    /// As it stands in a Host field: IPv6 has its brackets again.
    std::string text() const
    {
        std::string out = host.find(':') == host.npos ? host : '[' + host + ']';
        if (port) out.append(1, ':').append(std::to_string(*port));
        return out;
    }

    friend bool operator==(const authority&, const authority&) = default;
};

namespace detail
{

// A name that ends like this is an IPv4 address to the system's resolver, whatever stands before (WHATWG URL, "ends in
// a number").
constexpr bool ends_in_number(std::string_view name) noexcept
{
    const std::string_view last = name.substr(name.rfind('.') + 1);
    bool hex = last.size() >= 2 && last[0] == '0' && to_lower(last[1]) == 'x';
    bool digits = true;
    for (std::size_t i = 0; i < last.size(); ++i) {
        digits = digits && is_digit(last[i]);
        hex = hex && (i < 2 || hex_value(last[i]) < 16);
    }
    return digits || hex;
}

inline result<std::string> parse_name(std::string_view text)
{
    const std::string_view name = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
    if (name.empty()) return fail(errc::invalid_argument, "the host is empty");
    if (name.size() > 253) return fail(errc::invalid_argument, "the host is longer than 253 characters");
    if (parse_ipv4(name)) return std::string(name);
    if (!all(name, name_char)) {
        return fail(errc::invalid_argument, "a host name has letters, digits, '-', '.', '_' and '~' only");
    }
    if (name.front() == '.' || name.back() == '.' || name.find("..") != name.npos) {
        return fail(errc::invalid_argument, "a label of the host name is empty");
    }
    if (ends_in_number(name))
        return fail(errc::invalid_argument, "an IPv4 address is four decimal numbers from 0 to 255");
    std::string out(text);
    for (char& c : out) c = to_lower(c);
    return out;
}

inline result<std::string> parse_bracketed(std::string_view text)
{
    if (text.find('%') != text.npos)
        return fail(errc::invalid_argument, "zone ids of IPv6 addresses are not supported");
    const std::optional<ipv6_bytes> bytes = parse_ipv6(text);
    if (!bytes) return fail(errc::invalid_argument, "not an IPv6 address between the brackets");
    return ipv6_text(*bytes);
}

inline result<std::uint16_t> parse_port(std::string_view text)
{
    unsigned value = 0;
    for (const char c : text) {
        if (!is_digit(c) || value > 65535) {
            value = 0;
            break;
        }
        value = value * 10 + static_cast<unsigned>(c - '0');
    }
    if (value == 0 || value > 65535) return fail(errc::invalid_argument, "a port is a number from 1 to 65535");
    return static_cast<std::uint16_t>(value);
}

} // namespace detail

/// Reads `host`, `host:port`, `[IPv6]` or `[IPv6]:port`. *Errors*: `errc::invalid_argument` with the reason.
inline result<authority> parse_authority(std::string_view text)
{
    if (text.find('@') != text.npos) {
        return fail(errc::invalid_argument, "a user name or password before the host is not supported");
    }
    const bool bracketed = text.starts_with('[');
    const std::size_t end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && end == text.npos) return fail(errc::invalid_argument, "no ']' after an IPv6 address");
    result<std::string> host =
        bracketed ? detail::parse_bracketed(text.substr(1, end - 1)) : detail::parse_name(text.substr(0, end));
    std::string_view rest = end == text.npos ? "" : text.substr(end + (bracketed ? 1 : 0));
    if (!bracketed && rest.find(':', 1) != rest.npos) {
        return fail(errc::invalid_argument, "an IPv6 address stands in brackets");
    }
    if (!host) return std::move(host).error();
    authority out{*std::move(host), {}};
    if (rest.empty()) return out;
    if (rest[0] != ':') return fail(errc::invalid_argument, "after ']' comes a colon and a port, or nothing");
    const result<std::uint16_t> port = detail::parse_port(rest.substr(1));
    if (!port) return port.error();
    out.port = *port;
    return out;
}

/// Whether a host is this machine by its name or address alone: `localhost` and what ends in `.localhost`, 127.0.0.0/8,
/// ::1 and ::ffff:127.0.0.0/104; in any case, with or without brackets and a dot at the end.
inline bool is_loopback(std::string_view host) noexcept
{
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (const std::optional<ipv6_bytes> v6 = parse_ipv6(host)) {
        constexpr ipv6_bytes one{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
        constexpr ipv6_bytes mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
        return *v6 == one || (std::equal(mapped.begin(), mapped.begin() + 12, v6->begin()) && (*v6)[12] == 127);
    }
    if (host.ends_with('.')) host.remove_suffix(1);
    if (const std::optional<ipv4_bytes> v4 = parse_ipv4(host)) return (*v4)[0] == 127;
    constexpr std::string_view name = "localhost";
    if (host.size() < name.size() || !equal_ignoring_case(host.substr(host.size() - name.size()), name)) return false;
    return host.size() == name.size() || (host.size() > name.size() + 1 && host[host.size() - name.size() - 1] == '.');
}

} // namespace comcp::inline COMCP_ABI::http
