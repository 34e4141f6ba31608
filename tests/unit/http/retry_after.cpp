// SPDX-License-Identifier: MIT
#include <comcp/http/retry_after.hpp>

#include "catch.hpp"

#include <string>

using namespace std::chrono_literals;
using comcp::http::parse_http_date;
using comcp::http::parse_retry_after;

namespace
{

constexpr std::chrono::sys_seconds now{784'111'777s}; // Sun, 06 Nov 1994 08:49:37 GMT

} // namespace

static_assert(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == now);

TEST_CASE("a date is read to the second", "[retry_after]")
{
    CHECK(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == std::chrono::sys_seconds(0s));
    CHECK(parse_http_date("Tue, 29 Feb 2028 23:59:59 GMT") == std::chrono::sys_seconds(1'835'481'599s));
    CHECK(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT") == std::chrono::sys_seconds(1'483'228'800s));
}

TEST_CASE("what is no date in this form is none", "[retry_after]")
{
    for (const char* text :
         {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
          "Sun, 06 Xyz 1994 08:49:37 GMT", "Sun, 30 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
          "Sun  06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
          "S1n, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "}) {
        CAPTURE(text);
        CHECK(parse_http_date(text) == std::nullopt);
    }
}

TEST_CASE("a delay is seconds, or what is left until a date, and an hour at most", "[retry_after]")
{
    CHECK(parse_retry_after("0", now) == 0s);
    CHECK(parse_retry_after("120", now) == 120s);
    CHECK(parse_retry_after(" 5\t", now) == 5s);
    CHECK(parse_retry_after("007", now) == 7s);
    CHECK(parse_retry_after("3601", now) == 3600s);
    CHECK(parse_retry_after(std::string(1000, '9'), now) == 3600s);
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:38 GMT", now) == 1s);
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:59:37 GMT", now) == 600s);
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:36 GMT", now) == 0s);
    CHECK(parse_retry_after("Sun, 06 Nov 9999 08:49:37 GMT", now) == 3600s);
    CHECK(parse_retry_after("Sat, 01 Jan 0000 00:00:00 GMT", now) == 0s);
}

TEST_CASE("a delay in another form is none", "[retry_after]")
{
    for (const char* text : {"", " ", "-1", "+1", "1.5", "1 2", "1s", "soon", "0x10", "1, 2"}) {
        CAPTURE(text);
        CHECK(parse_retry_after(text, now) == std::nullopt);
    }
}
