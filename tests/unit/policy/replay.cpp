// SPDX-License-Identifier: MIT
#include <comcp/policy/replay.hpp>

#include "catch.hpp"

using comcp::replay_facts;
using comcp::policy::never;
using comcp::policy::only_if_safe;

static_assert(comcp::policy::replay<only_if_safe>);
static_assert(comcp::policy::replay<never>);
static_assert(!comcp::policy::replay<int>);

TEST_CASE("SESSION 110: a call that may have run is sent again only if that is harmless or allowed", "[policy]")
{
    const only_if_safe policy;
    CHECK_FALSE(policy.resend({}));
    CHECK_FALSE(policy.resend({.method = "tools/call", .tool = "pay"}));
    CHECK(policy.resend({.method = "tools/call", .tool = "pay", .sent = false}));
    CHECK(policy.resend({.method = "tools/call", .tool = "look", .read_only = true}));
    CHECK(policy.resend({.method = "tools/call", .tool = "set", .idempotent = true}));
    CHECK(policy.resend({.method = "tools/call", .tool = "pay", .opted_in = true}));
}

TEST_CASE("nothing is sent again after a timeout", "[policy]")
{
    const only_if_safe policy;
    CHECK_FALSE(policy.resend({.sent = false, .timed_out = true}));
    CHECK_FALSE(policy.resend({.timed_out = true, .read_only = true}));
    CHECK_FALSE(policy.resend({.timed_out = true, .idempotent = true, .opted_in = true}));
}

TEST_CASE("never sends nothing again", "[policy]")
{
    CHECK_FALSE(never().resend({.sent = false, .read_only = true, .idempotent = true, .opted_in = true}));
}
