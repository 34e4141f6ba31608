// SPDX-License-Identifier: MIT
// The last bytes of a child's stderr, and how an error quotes them.
#include <comcp/detail/output_tail.hpp>
#include <comcp/transport/exit_status.hpp>

#include "catch.hpp"

using comcp::detail::output_tail;
using comcp::detail::quote_tail;

TEST_CASE("the tail is the last bytes, however the text was cut", "[output_tail]")
{
    std::string all;
    for (int i = 0; i < 100; ++i) all += std::to_string(i) + ',';
    for (const std::size_t capacity : {0U, 1U, 7U, 50U, 1000U}) {
        for (std::size_t piece = 1; piece < 120; ++piece) {
            output_tail tail(capacity);
            for (std::size_t at = 0; at < all.size(); at += piece) tail.append(std::string_view(all).substr(at, piece));
            const std::size_t kept = std::min(capacity, all.size());
            REQUIRE(tail.text() == std::string_view(all).substr(all.size() - kept));
        }
    }
}

TEST_CASE("a quoted tail is one line", "[output_tail]")
{
    CHECK(quote_tail("", 100).empty());
    CHECK(quote_tail("boom\n", 100) == "boom");
    CHECK(quote_tail("one\ntwo\r\nthree \r\n\n", 100) == "one | two | three");
    CHECK(quote_tail("a\tb", 100) == "a b");
}

TEST_CASE("a quoted tail cannot drive a terminal", "[output_tail]")
{
    CHECK(quote_tail("\x1b[31mred\x07\x7f", 100) == "?[31mred??");
    CHECK(quote_tail(std::string_view("nul\0!", 5), 100) == "nul?!");
    CHECK(quote_tail("csi \xC2\x9B", 100) == "csi ?");
    CHECK(quote_tail("broken \xFF\xC3", 100) == "broken ??");
    CHECK(quote_tail("gr\xC3\xBC\xC3\x9F"
                     "e \xC2\xA0.",
                     100) == "gr\xC3\xBC\xC3\x9F"
                             "e \xC2\xA0.");
    CHECK(quote_tail("back\rfront", 100) == "back?front");
}

TEST_CASE("a long tail is cut before a line, or else before a code point", "[output_tail]")
{
    CHECK(quote_tail("first\nsecond\nthird\n", 9) == "... third");
    CHECK(quote_tail("abcdef", 3) == "... def");
    CHECK(quote_tail("ab\xC3\xBC"
                     "de",
                     3) == "... de");
}

TEST_CASE("an exit status has a sentence", "[exit_status]")
{
    using comcp::exit_status;
    CHECK(exit_status{true, 3, 0}.text() == "exited with code 3");
    CHECK(exit_status{false, 0, SIGKILL}.text() == "was killed by signal 9 (SIGKILL)");
    CHECK(exit_status{false, 0, 40}.text() == "was killed by signal 40");
    CHECK(exit_status().text() == "ended with an unknown status");
}
