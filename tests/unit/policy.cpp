// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/policy.hpp>

#include "catch.hpp"

namespace
{

struct strict : comcp::default_policy
{
    using output_cap = comcp::policy::reject;
};

struct no_observer_name
{
    using timeouts = comcp::policy::launcher_aware;
    using reconnect = comcp::policy::never;
    using replay = comcp::policy::never;
    using output_cap = comcp::policy::truncate;
};

struct bad_timeouts : comcp::default_policy
{
    using timeouts = int;
};

struct bad_reconnect : comcp::default_policy
{
    using reconnect = comcp::policy::only_if_safe;
};

struct bad_replay : comcp::default_policy
{
    using replay = comcp::policy::exponential;
};

// What a batch program wants: the first broken connection ends it.
struct batch : comcp::default_policy
{
    using reconnect = comcp::policy::never;
    using replay = comcp::policy::never;
};

} // namespace

static_assert(comcp::assert_policy<comcp::default_policy>());
static_assert(comcp::assert_policy<strict>());
static_assert(comcp::client_policy<comcp::default_policy>);
static_assert(comcp::server_policy<comcp::default_policy>);
static_assert(comcp::client_policy<strict>);
static_assert(!comcp::client_policy<no_observer_name>);
static_assert(!comcp::client_policy<bad_timeouts>);
static_assert(!comcp::client_policy<bad_reconnect>);
static_assert(!comcp::client_policy<bad_replay>);
static_assert(comcp::client_policy<batch>);
static_assert(comcp::assert_policy<batch>());
static_assert(!comcp::server_policy<bad_timeouts>);

TEST_CASE("a bundle that replaces one name keeps the others", "[policy]")
{
    comcp::policy_state<strict> state;
    CHECK(state.output_cap.apply(std::string(12'001, 'a')).has_error());
    CHECK(state.timeouts.ping() == std::chrono::seconds(10));
    state.timeouts.ping_within(std::chrono::seconds(1));
    CHECK(state.reconnect.attempts() == 6);
    CHECK_FALSE(state.replay.resend({}));
    state.output_cap = comcp::policy::reject(20'000);
    CHECK(state.output_cap.apply(std::string(12'001, 'a')).has_value());
    CHECK(state.timeouts.ping() == std::chrono::seconds(1));
}
