// SPDX-License-Identifier: MIT
#include <comcp/detail/utf8.hpp>

#include "catch.hpp"

#include <string>

using namespace comcp::detail;

TEST_CASE("code points are counted, and each invalid byte is one", "[detail]")
{
    const auto [text, count] = GENERATE(table<std::string, std::size_t>({
        {"", 0},
        {"abc", 3},
        {"\u00E9\u8A9E\U0001F600", 3},
        {"\xC3", 1},                     // cut
        {"\xE8\xAA", 2},                 // cut: two bytes that are nothing
        {"\xF0\x9F\x98", 3},             // cut
        {"\x80\xBF", 2},                 // continuations alone
        {"\xC0\x80", 2},                 // overlong
        {"\xE0\x80\x80", 3},             // overlong
        {"\xED\xA0\x80", 3},             // a surrogate
        {"\xF4\x90\x80\x80", 4},         // beyond U+10FFFF
        {"\xF5\xFE\xFF", 3},             // never a lead
        {"\xF4\x8F\xBF\xBF", 1},         // U+10FFFF
        {"\xED\x9F\xBF\xEE\x80\x80", 2}, // the neighbours of the surrogates
        {"a\xC3z", 3},
    }));
    CHECK(count_code_points(text) == count);
    CHECK(code_point_offset(text, count) == text.size());
    CHECK(code_point_offset(text, count + 5) == text.size());
    CHECK(code_point_offset(text, 0) == 0);
}

TEST_CASE("the offset of the n-th code point is where it begins", "[detail]")
{
    const std::string text = "a\u00E9\u8A9E\U0001F600z";
    CHECK(code_point_offset(text, 1) == 1);
    CHECK(code_point_offset(text, 2) == 3);
    CHECK(code_point_offset(text, 3) == 6);
    CHECK(code_point_offset(text, 4) == 10);
    CHECK(code_point_offset(text, 5) == 11);
    CHECK(first_code_points(text, 3) == "a\u00E9\u8A9E");
}

TEST_CASE("a fixed piece of 1,023 letters and one long one is never cut inside", "[detail]")
{
    const std::string text = std::string(1023, 'a') + "\u8A9Etail";
    CHECK(first_code_points(text, 1024) == std::string(1023, 'a') + "\u8A9E");
    CHECK(first_code_points(text, 1023) == std::string(1023, 'a'));
}
