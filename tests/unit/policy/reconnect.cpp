// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/policy/reconnect.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using comcp::duration;
using comcp::policy::exponential;
using fixed_delay = comcp::policy::fixed; // std::ios has a fixed too
using comcp::policy::never;

static_assert(comcp::policy::reconnect<never>);
static_assert(comcp::policy::reconnect<fixed_delay>);
static_assert(comcp::policy::reconnect<exponential>);
static_assert(!comcp::policy::reconnect<int>);

namespace
{

constexpr double almost_one = 0x1.fffffffffffffp-1;

bool refused(void (*set)())
{
    try {
        set();
    } catch (const comcp::error& e) {
        return e.code() == comcp::errc::invalid_argument;
    }
    return false;
}

} // namespace

TEST_CASE("never gives up at once, whatever the peer asks for", "[policy]")
{
    CHECK(never().delay({}) == std::nullopt);
    CHECK(never().delay({1, duration(5ms), 0.5}) == std::nullopt);
}

TEST_CASE("a fixed delay is the same for six attempts", "[policy]")
{
    for (unsigned attempt = 1; attempt <= 6; ++attempt) CHECK(fixed_delay().delay({attempt, {}, 0.7}) == 1s);
    CHECK(fixed_delay().delay({7, {}, 0.7}) == std::nullopt);
    CHECK(fixed_delay().every(20ms).at_most(2).delay({2, {}, 0}) == 20ms);
    CHECK(fixed_delay().every(20ms).at_most(2).delay({3, {}, 0}) == std::nullopt);
}

TEST_CASE("an exponential delay is any part of a bound that doubles up to its maximum", "[policy]")
{
    const exponential policy;
    CHECK(policy.delay({1, {}, 0.5}) == 500ms);
    CHECK(policy.delay({2, {}, 0.5}) == 1s);
    CHECK(policy.delay({3, {}, 0.5}) == 2s);
    CHECK(policy.delay({5, {}, 0.5}) == 8s);
    CHECK(policy.delay({6, {}, 0.5}) == 15s);
    CHECK(policy.delay({6, {}, 0.0}) == 0s);
    CHECK(*policy.delay({6, {}, almost_one}) < 30s);
    CHECK(*policy.delay({6, {}, almost_one}) > 29'999ms);
    CHECK(policy.delay({7, {}, 0.5}) == std::nullopt);
}

TEST_CASE("bounds of any size do not overflow", "[policy]")
{
    exponential policy;
    policy.between(1ms, comcp::no_limit).at_most(1'000'000);
    CHECK(*policy.delay({999'999, {}, almost_one}) > 24h);
    CHECK(*policy.delay({999'999, {}, 1.0}) <= comcp::no_limit);
    CHECK(*policy.delay({2, {}, 0.5}) == 1ms);
    CHECK(exponential().between(10s, 1s).delay({1, {}, 0.5}) == 500ms);
}

TEST_CASE("the delay that the peer asks for is the first one, and the least of the later ones", "[policy]")
{
    CHECK(exponential().delay({1, duration(500ms), 0.9}) == 500ms);
    CHECK(exponential().delay({1, duration(0ms), 0.9}) == 0ms);
    CHECK(exponential().delay({3, duration(500ms), 0.1}) == 500ms);
    CHECK(exponential().delay({3, duration(500ms), 0.5}) == 2s);
    CHECK(exponential().delay({7, duration(500ms), 0.5}) == std::nullopt);
    CHECK(fixed_delay().delay({1, duration(2s), 0}) == 2s);
    CHECK(fixed_delay().delay({2, duration(2s), 0}) == 2s);
    CHECK(fixed_delay().delay({2, duration(5ms), 0}) == 1s);
}

TEST_CASE("no attempts and no delay are refused", "[policy]")
{
    CHECK(refused([] { fixed_delay().every(0s); }));
    CHECK(refused([] { fixed_delay().at_most(0); }));
    CHECK(refused([] { exponential().between(0s, 1s); }));
    CHECK(refused([] { exponential().between(1s, -1s); }));
    CHECK(refused([] { exponential().at_most(0); }));
}
