// SPDX-License-Identifier: MIT
//
// The bundle of policies of a client or server. Policies choose algorithms; numbers are fields (limits.hpp, and the
// policies' own setters). To change one, inherit the bundle and replace one name:
//
//     struct strict : comcp::default_policy { using output_cap = comcp::policy::reject; };
#pragma once

#include <comcp/observer.hpp>
#include <comcp/policy/output_cap.hpp>
#include <comcp/policy/reconnect.hpp>
#include <comcp/policy/replay.hpp>
#include <comcp/policy/timeouts.hpp>

#include <concepts>

namespace comcp::inline COMCP_ABI
{

struct default_policy
{
    using timeouts = policy::launcher_aware;
    using reconnect = policy::exponential;
    using replay = policy::only_if_safe;
    using output_cap = policy::truncate;
    using observer = null_observer;
};

/// A bundle that a client can use.
template <class P>
concept client_policy = policy::timeouts<typename P::timeouts> && policy::reconnect<typename P::reconnect> &&
                        policy::replay<typename P::replay> && policy::output_cap<typename P::output_cap> &&
                        std::movable<typename P::observer>;

/// A bundle that a server can use: a server launches nothing and flattens nothing, but it waits and is observed.
template <class P>
concept server_policy = policy::timeouts<typename P::timeouts> && std::movable<typename P::observer>;

/// Says in one line which part of a bundle is missing, where a concept would answer with a page.
template <class P>
consteval bool assert_policy()
{
    static_assert(requires { typename P::timeouts; }, "comcp policy: `using timeouts = ...` is missing");
    static_assert(requires { typename P::reconnect; }, "comcp policy: `using reconnect = ...` is missing");
    static_assert(requires { typename P::replay; }, "comcp policy: `using replay = ...` is missing");
    static_assert(requires { typename P::output_cap; }, "comcp policy: `using output_cap = ...` is missing");
    static_assert(requires { typename P::observer; }, "comcp policy: `using observer = ...` is missing");
    static_assert(
        requires(const typename P::timeouts& t) { t.connect(launch_facts{}); },
        "comcp policy: timeouts lacks `duration connect(const launch_facts&) const`");
    static_assert(
        requires(const typename P::timeouts& t) { t.call(call_facts{}); },
        "comcp policy: timeouts lacks `call_timeouts call(const call_facts&) const`");
    static_assert(
        requires(const typename P::timeouts& t) { t.ping(); }, "comcp policy: timeouts lacks `duration ping() const`");
    static_assert(policy::timeouts<typename P::timeouts>,
                  "comcp policy: timeouts must give `duration` and `call_timeouts`");
    static_assert(policy::reconnect<typename P::reconnect>,
                  "comcp policy: reconnect must be copyable and have "
                  "`std::optional<duration> delay(const reconnect_facts&) const`");
    static_assert(policy::replay<typename P::replay>,
                  "comcp policy: replay must be copyable and have `bool resend(const replay_facts&) const`");
    static_assert(policy::output_cap<typename P::output_cap>,
                  "comcp policy: output_cap must be copyable and have `result<std::string> apply(std::string) const`");
    static_assert(std::movable<typename P::observer>, "comcp policy: observer must be movable");
    return true;
}

/// The instances of a bundle: policies may have state, and are passed in here. All are default-constructed at first.
template <class P>
struct policy_state
{
    static_assert(assert_policy<P>());

    [[no_unique_address]] typename P::timeouts timeouts{};
    [[no_unique_address]] typename P::reconnect reconnect{};
    [[no_unique_address]] typename P::replay replay{};
    [[no_unique_address]] typename P::output_cap output_cap{};
    [[no_unique_address]] typename P::observer observer{};
};

} // namespace comcp::inline COMCP_ABI
