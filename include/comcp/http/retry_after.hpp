// SPDX-License-Identifier: MIT
//
// The delay that a server asks for in Retry-After (RFC 9110 section 10.2.3), as seconds or as a date. The caller says
// what time it is; the obsolete forms of dates are not read.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// Reads "Sun, 06 Nov 1994 08:49:37 GMT", also from a Date field. That the day of the week fits is not checked.
constexpr std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) noexcept
{
    constexpr std::string_view form = "Sun, 00 Nov 0000 00:00:00 GMT"; // letters stand for letters, 0 for a digit
    constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != form.size() || !text.ends_with(" GMT")) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool digit = detail::is_digit(text[i]);
        const bool letter = to_lower(text[i]) >= 'a' && to_lower(text[i]) <= 'z';
        if (form[i] == '0' ? !digit : to_lower(form[i]) != form[i] || form[i] >= 'a' ? !letter : text[i] != form[i]) {
            return std::nullopt;
        }
    }
    const auto number = [&](std::size_t at, std::size_t size) {
        int value = 0;
        for (const char c : text.substr(at, size)) value = value * 10 + (c - '0');
        return value;
    };
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const std::chrono::year_month_day day(std::chrono::year(number(12, 4)),
                                          std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                                          std::chrono::day(static_cast<unsigned>(number(5, 2))));
    const int hour = number(17, 2);
    const int minute = number(20, 2);
    const int second = number(23, 2); // 60 is a leap second
    if (!day.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return std::chrono::sys_days(day) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second);
}

/// The delay from `now` on: none for a date that has passed, one hour at most. Nothing when the value is neither form.
constexpr std::optional<std::chrono::seconds> parse_retry_after(std::string_view value,
                                                                std::chrono::sys_seconds now) noexcept
{
    constexpr std::chrono::seconds most = std::chrono::hours(1);
    value = trim(value);
    if (!value.empty() && std::all_of(value.begin(), value.end(), detail::is_digit)) {
        std::chrono::seconds delay{};
        for (const char c : value) delay = std::min(most, delay * 10 + std::chrono::seconds(c - '0'));
        return delay;
    }
    const std::optional<std::chrono::sys_seconds> date = parse_http_date(value);
    if (!date) return std::nullopt;
    return std::clamp(*date - now, std::chrono::seconds(0), most);
}

} // namespace comcp::inline COMCP_ABI::http
