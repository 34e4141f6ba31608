// SPDX-License-Identifier: MIT
#include <comcp/detail/utf8.hpp>
#include <comcp/error.hpp>
#include <comcp/policy/output_cap.hpp>

#include "catch.hpp"

namespace
{
using reject = comcp::policy::reject;
using cut = comcp::policy::truncate; // unistd.h has a truncate too
} // namespace

static_assert(comcp::policy::output_cap<cut>);
static_assert(comcp::policy::output_cap<reject>);
static_assert(comcp::policy::output_cap<comcp::any_output_cap>);
static_assert(!comcp::policy::output_cap<int>);

namespace
{

std::string repeat(std::string_view letter, std::size_t count)
{
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += letter;
    return out;
}

} // namespace

TEST_CASE("text within the cap is left as it is, counted in code points", "[policy]")
{
    for (const char* letter : {"a", "\u00E9", "\u8A9E", "\U0001F600", "\xFF"}) {
        const std::string text = repeat(letter, 100);
        CHECK(cut(100).apply(text).value() == text);
        CHECK(reject(100).apply(text).value() == text);
    }
    CHECK(cut().apply("").value() == "");
    CHECK(cut().limit() == 12'000);
    CHECK(cut().apply(repeat("a", 12'000)).value().size() == 12'000);
}

TEST_CASE("text over the cap is cut between code points, and the marker is part of the cap", "[policy]")
{
    for (const char* letter : {"a", "\u00E9", "\u8A9E", "\U0001F600", "\xFF"}) {
        const std::string out = cut(100).apply(repeat(letter, 101)).value();
        // "\n[cut: 100 of 101 characters shown]" has 35 code points.
        CHECK(out == repeat(letter, 65) + "\n[cut: 65 of 101 characters shown]");
        CHECK(comcp::detail::count_code_points(out) <= 100);
    }
    const std::string big = cut().apply(repeat("a", 48'213)).value();
    CHECK(big == repeat("a", 11'961) + "\n[cut: 11961 of 48213 characters shown]");
    CHECK(big.size() == 12'000);
}

TEST_CASE("a code point that straddles the bound is left out whole", "[policy]")
{
    const std::string text = repeat("a", 64) + "\u8A9E" + repeat("b", 100);
    CHECK(cut(100).apply(text).value() == repeat("a", 64) + "\u8A9E\n[cut: 65 of 165 characters shown]");
    // A code point that the text itself ends inside of counts as its bytes.
    CHECK(cut(3).apply("ab\xE8\xAA").value() == "ab\u2026");
}

TEST_CASE("every cap is kept, however small it is beside the marker", "[policy]")
{
    const std::string text = repeat("\u8A9E", 200);
    for (std::size_t cap = 1; cap <= 200; ++cap) {
        const std::string out = cut(cap).apply(text).value();
        CHECK(comcp::detail::count_code_points(out) <= cap);
        CHECK((cap == 200 || out.ends_with("shown]") || out.ends_with("\u2026")));
    }
    CHECK(cut(1).apply("ab").value() == "\u2026");
    CHECK(cut(2).apply("abc").value() == "a\u2026");
}

TEST_CASE("reject refuses with both sizes", "[policy]")
{
    const auto got = reject(10).apply(repeat("\u8A9E", 11));
    REQUIRE(got.has_error());
    CHECK(got.error().code == comcp::errc::too_large);
    CHECK(got.error().text == "the result's text has 11 characters, and the output cap is 10");
}

TEST_CASE("a cap of zero is refused", "[policy]")
{
    CHECK_THROWS_AS(cut(0), comcp::error);
    CHECK_THROWS_AS(reject(0), comcp::error);
}

TEST_CASE("an erased cap does what the cap does, and its copies too", "[policy]")
{
    const std::string text = repeat("a", 200);
    CHECK(comcp::any_output_cap().apply(text).value() == text);

    const comcp::any_output_cap shorten(cut(100));
    const comcp::any_output_cap refuse(reject(100));
    CHECK(shorten.apply(text).value().size() <= 100);
    CHECK(comcp::any_output_cap(shorten).apply(text).value() == cut(100).apply(text).value());
    CHECK(refuse.apply(text).has_error());

    struct stateful
    {
        std::shared_ptr<int> calls = std::make_shared<int>(0);
        std::string suffix = "!";
        comcp::result<std::string> apply(std::string text) const
        {
            ++*calls;
            return text + suffix;
        }
    };
    const stateful mine;
    comcp::any_output_cap held;
    {
        const comcp::any_output_cap first(mine);
        held = first;
    }
    CHECK(held.apply("a").value() == "a!");
    CHECK(held.apply("b").value() == "b!");
    CHECK(*mine.calls == 2);
}
