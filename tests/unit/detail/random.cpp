// SPDX-License-Identifier: MIT
#include <comcp/detail/random.hpp>
#include <comcp/error.hpp>

#include "catch.hpp"
#include "random_sources.hpp"

#include <set>

namespace detail = comcp::detail;

namespace
{

int calls = 0;

// Interrupted first, then one byte less at each call: 3, 2, 1, 1, ...
ssize_t halting(void* to, std::size_t size, unsigned)
{
    if (++calls == 1) {
        errno = EINTR;
        return -1;
    }
    const std::size_t count = std::min<std::size_t>(size, calls < 4 ? 5 - static_cast<std::size_t>(calls) : 1);
    std::memset(to, calls, count);
    return static_cast<ssize_t>(count);
}

ssize_t empty(void*, std::size_t, unsigned) { return 0; }

} // namespace

TEST_CASE("a token has 32 characters that a URL and a header field may hold", "[random]")
{
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string token = detail::random_token().value();
        CHECK(token.size() == 32);
        CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
              token.npos);
        seen.insert(token);
    }
    CHECK(seen.size() == 1000);
    CHECK(detail::random_token(sources::zeros).value() == std::string(32, 'A'));
    CHECK(detail::random_token(sources::ones).value() == std::string(32, '_'));
}

TEST_CASE("interruptions and short reads are made good", "[random]")
{
    calls = 0;
    const auto bytes = detail::random_bytes<8>(halting).value();
    CHECK(bytes == std::array<unsigned char, 8>{2, 2, 2, 3, 3, 4, 5, 6});
}

TEST_CASE("without a source of the system there is an error and no number", "[random]")
{
    const auto got = detail::random_token(sources::failing);
    REQUIRE(got.has_error());
    CHECK(got.error().code == std::error_code(ENOSYS, std::generic_category()));
    CHECK(got.error().text == "the system gives no random bytes");
    CHECK(detail::random_token(empty).error().code == std::error_code(EIO, std::generic_category()));
    CHECK(detail::random_fraction(sources::failing).has_error());
}

TEST_CASE("a fraction is at least 0 and below 1", "[random]")
{
    CHECK(detail::random_fraction(sources::zeros).value() == 0.0);
    CHECK(detail::random_fraction(sources::ones).value() == 0x1.fffffffffffffp-1);
    double sum = 0;
    for (int i = 0; i < 1000; ++i) sum += detail::random_fraction().value();
    CHECK(sum > 400);
    CHECK(sum < 600);
}
