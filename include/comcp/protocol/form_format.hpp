// SPDX-License-Identifier: MIT
//
// The four formats of texts that a form can ask for: email, uri, date and date-time. Only their shape: whether an
// address exists, or a URL should be opened, nothing here knows.
#pragma once

#include <comcp/config.hpp>
#include <comcp/protocol/uri_text.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// The number of `count` digits at the start, which are taken from the text; -1 when they are not there.
constexpr int take_digits(std::string_view& text, std::size_t count) noexcept
{
    if (text.size() < count) return -1;
    int number = 0;
    for (const char c : text.substr(0, count)) {
        if (!is_ascii_digit(c)) return -1;
        number = number * 10 + (c - '0');
    }
    text.remove_prefix(count);
    return number;
}

constexpr bool take(std::string_view& text, char c) noexcept
{
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

/// Takes `2025-11-25`.
constexpr bool take_date(std::string_view& text) noexcept
{
    constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int year = take_digits(text, 4);
    if (year < 0 || !take(text, '-')) return false;
    const int month = take_digits(text, 2);
    if (month < 1 || month > 12 || !take(text, '-')) return false;
    const int day = take_digits(text, 2);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (leap && month == 2 ? 1 : 0);
}

/// Takes `12:30:00.5Z` or `12:30:00+01:00`.
constexpr bool take_time(std::string_view& text) noexcept
{
    const auto clock = [&text] {
        const int hour = take_digits(text, 2);
        if (hour < 0 || hour > 23 || !take(text, ':')) return false;
        const int minute = take_digits(text, 2);
        return minute >= 0 && minute <= 59;
    };
    if (!clock() || !take(text, ':')) return false;
    const int second = take_digits(text, 2);
    if (second < 0 || second > 60) return false;
    if (take(text, '.')) {
        if (take_digits(text, 1) < 0) return false;
        while (take_digits(text, 1) >= 0) {
        }
    }
    if (take(text, 'Z') || take(text, 'z')) return true;
    return (take(text, '+') || take(text, '-')) && clock();
}

constexpr bool is_date(std::string_view text) noexcept { return take_date(text) && text.empty(); }

constexpr bool is_date_time(std::string_view text) noexcept
{
    return take_date(text) && (take(text, 'T') || take(text, 't')) && take_time(text) && text.empty();
}

/// Something, one at sign, and something: no spaces and no control characters.
constexpr bool is_email(std::string_view text) noexcept
{
    const std::size_t at = text.rfind('@');
    if (at == text.npos || at == 0 || at + 1 == text.size()) return false;
    if (text.substr(0, at).find('@') != text.npos && text.front() != '"') return false;
    return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

constexpr bool is_known_format(std::string_view format) noexcept
{
    return format == "email" || format == "uri" || format == "date" || format == "date-time";
}

/// Whether a text has a format; one that is not known has no say.
constexpr bool has_format(std::string_view text, std::string_view format) noexcept
{
    if (format == "email") return is_email(text);
    if (format == "uri") return is_absolute_uri(text);
    if (format == "date") return is_date(text);
    if (format == "date-time") return is_date_time(text);
    return true;
}

} // namespace comcp::inline COMCP_ABI::detail
