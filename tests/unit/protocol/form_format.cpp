// SPDX-License-Identifier: MIT
#include <comcp/protocol/form_format.hpp>

#include "catch.hpp"

#include <string>

using comcp::detail::has_format;

TEST_CASE("a date is a day that there is", "[protocol]")
{
    for (const char* good : {"2025-11-25", "2024-02-29", "2000-02-29", "0000-01-01"}) CHECK(has_format(good, "date"));
    for (const char* bad : {"", "2025-11-31", "2025-02-29", "1900-02-29", "2025-13-01", "2025-00-01", "2025-1-1",
                            "25-11-25", "2025-11-25T", "2025/11/25", "2025-11-00", " 2025-11-25"}) {
        CHECK_FALSE(has_format(bad, "date"));
    }
}

TEST_CASE("a date and time has an offset", "[protocol]")
{
    for (const char* good : {"2025-11-25T12:30:00Z", "2025-11-25t12:30:60.123z", "2025-11-25T00:00:00+23:59"}) {
        CHECK(has_format(good, "date-time"));
    }
    for (const char* bad :
         {"2025-11-25", "2025-11-25T12:30:00", "2025-11-25T24:00:00Z", "2025-11-25T12:60:00Z", "2025-11-25T12:30:61Z",
          "2025-11-25T12:30:00.Z", "2025-11-25T12:30:00+1:00", "2025-11-25 12:30:00Z", "2025-11-25T12:30:00Zx"}) {
        CHECK_FALSE(has_format(bad, "date-time"));
    }
}

TEST_CASE("an address has something on both sides of one at sign", "[protocol]")
{
    for (const char* good : {"a@b", "a.b+c@d.example", "\xC3\xA9@x", "\"a@b\"@c"}) CHECK(has_format(good, "email"));
    for (const char* bad : {"", "@", "a@", "@b", "a", "a b@c", "a@b@c", "a@b\n"}) CHECK_FALSE(has_format(bad, "email"));
}

TEST_CASE("a URI is absolute and has only characters of URIs", "[protocol]")
{
    for (const char* good : {"https://x/a?b#c", "mailto:a@b", "urn:x", "a+b-c.1:"}) CHECK(has_format(good, "uri"));
    for (const char* bad :
         {"", "x", ":x", "1a:x", "/a", "https://x/ y", "https://x/\"", "h ttp:x", "https://\xC3\xA9"}) {
        CHECK_FALSE(has_format(bad, "uri"));
    }
    CHECK_FALSE(has_format(std::string("a:\0", 3), "uri"));
}

TEST_CASE("a format that is not known has no say", "[protocol]")
{
    CHECK(has_format("anything", ""));
    CHECK(has_format("anything", "ipv4"));
}
