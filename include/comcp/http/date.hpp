// SPDX-License-Identifier: MIT
//
// Writes a time as HTTP dates are written (IMF-fixdate, RFC 9110 section 5.6.7), without locale and time zones of the
// system. It reads no clock: whoever needs a date brings the time.
#pragma once

#include <comcp/config.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// `Sun, 06 Nov 1994 08:49:37 GMT`. Times outside the years 0 to 9999 become the nearest that is inside.
inline std::string imf_fixdate(std::time_t time)
{
    using namespace std::chrono;
    static constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    constexpr sys_seconds first = sys_days(year(0) / 1 / 1);
    constexpr sys_seconds last = sys_days(year(10000) / 1 / 1) - seconds(1);
    sys_seconds at{seconds(time)};
    if (at < first) at = first;
    if (at > last) at = last;

    const sys_days day = floor<std::chrono::days>(at);
    const year_month_day date(day);
    const hh_mm_ss clock(at - day);
    std::string out;
    const auto number = [&](long long value, std::size_t width) {
        const std::string digits = std::to_string(value);
        out.append(width - digits.size(), '0').append(digits);
    };
    out.append(days[weekday(day).c_encoding()]).append(", ");
    number(unsigned(date.day()), 2);
    out.append(1, ' ').append(months[unsigned(date.month()) - 1]).append(1, ' ');
    number(int(date.year()), 4);
    out += ' ';
    number(clock.hours().count(), 2);
    out += ':';
    number(clock.minutes().count(), 2);
    out += ':';
    number(clock.seconds().count(), 2);
    return out += " GMT";
}

} // namespace comcp::inline COMCP_ABI::http
