// SPDX-License-Identifier: MIT
//
// How long to wait for a connection, a call and a ping: the policy slot `timeouts`, its default, and one with a single
// connect time. Policies get plain facts and give durations; they own no clock and start no timer. Not for limits of
// the machinery (write stall, close): those are in limits.hpp.
#pragma once

#include <comcp/limits.hpp>
#include <comcp/result.hpp>

#include <chrono>
#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// What is known when a connection is made. `program` is empty when no process is started.
struct launch_facts
{
    std::string_view program;
    std::span<const std::string> args;
};

/// What is known when a request is made. `tool` is empty for other methods than tools/call.
struct call_facts
{
    std::string_view method;
    std::string_view tool;
};

/// The two clocks of one request: progress restarts the idle clock, never the total.
struct call_timeouts
{
    duration total;
    duration idle;
};

namespace policy
{

/// What the slot `timeouts` must offer. Each duration is above zero; `no_limit` means for ever.
template <class T>
concept timeouts = requires(const T& policy, const launch_facts& launch, const call_facts& call) {
    { policy.connect(launch) } -> std::convertible_to<duration>;
    { policy.call(call) } -> std::convertible_to<call_timeouts>;
    { policy.ping() } -> std::convertible_to<duration>;
};

/// Gives a duration back when it may be a time limit, and throws `errc::invalid_argument` when it is zero or less:
/// zero could mean "at once" or "never", so it means neither.
constexpr duration checked_limit(duration value)
{
    if (value <= duration::zero()) {
        throw_fault(fail(errc::invalid_argument, "a time limit must be above zero; \"for ever\" is comcp::no_limit"));
    }
    return value;
}

/// The same times for every server and call: connect 20 s, call 120 s (also when idle), ping 10 s.
class fixed_timeouts
{
public:
    duration connect(const launch_facts&) const noexcept { return connect_; }
    call_timeouts call(const call_facts&) const noexcept { return call_; }
    duration ping() const noexcept { return ping_; }

    /// The setters throw `errc::invalid_argument` for zero and less.
    fixed_timeouts& connect_within(duration value)
    {
        connect_ = checked_limit(value);
        return *this;
    }
    fixed_timeouts& call_within(duration total) { return call_within(total, total); }
    fixed_timeouts& call_within(duration total, duration idle)
    {
        call_ = {checked_limit(total), checked_limit(idle)};
        return *this;
    }
    fixed_timeouts& ping_within(duration value)
    {
        ping_ = checked_limit(value);
        return *this;
    }

private:
    duration connect_ = std::chrono::seconds(20);
    call_timeouts call_ = {std::chrono::seconds(120), std::chrono::seconds(120)};
    duration ping_ = std::chrono::seconds(10);
};

/// Whether the program first downloads what it runs, so that a cold start takes minutes.
///
/// A sub-command is looked for among all arguments: options before it may have values, and a limit that is longer than
/// needed does less harm than one that is shorter.
bool is_launcher(const launch_facts& facts);

/// The default: like `fixed_timeouts`, but a launcher such as npx or uvx has three minutes to connect.
class launcher_aware : public fixed_timeouts
{
public:
    duration connect(const launch_facts& facts) const
    {
        return is_launcher(facts) ? launcher_ : fixed_timeouts::connect(facts);
    }

    /// Throws `errc::invalid_argument` for zero and less.
    launcher_aware& launcher_within(duration value)
    {
        launcher_ = checked_limit(value);
        return *this;
    }

private:
    duration launcher_ = std::chrono::minutes(3);
};

} // namespace policy
} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/policy/impl/timeouts.ipp>
#endif
