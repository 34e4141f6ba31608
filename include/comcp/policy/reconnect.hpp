// SPDX-License-Identifier: MIT
//
// Whether, and after what delay, a lost connection is made again: the policy slot `reconnect`, its default
// `exponential`, and `fixed`; `never` fits too. Policies get facts and a random number and give a delay; they own no
// clock and no generator. Not for requests that were under way: whether one of those is sent again is `replay`.
#pragma once

#include <comcp/limits.hpp>
#include <comcp/policy/never.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/result.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>

namespace comcp::inline COMCP_ABI
{

/// What is known when a connection was lost, or could not be made.
struct reconnect_facts
{
    /// Which attempt this would be since the last one that succeeded; the first is 1.
    unsigned attempt = 1;
    /// The delay that the peer asked for (`retry` of an event stream, `Retry-After`), if it did.
    std::optional<duration> asked;
    /// An even random number in [0, 1).
    double random = 0;
};

namespace policy
{

/// What the slot `reconnect` must offer: the delay before that attempt, or nothing when it is time to give up.
template <class T>
concept reconnect = std::copyable<T> && requires(const T& policy, const reconnect_facts& facts) {
    { policy.delay(facts) } -> std::same_as<std::optional<duration>>;
};

/// The number of attempts that the policies below share; 6 by default. `Policy` is the one that it is a part of.
template <class Policy>
class attempt_limit
{
public:
    unsigned attempts() const noexcept { return attempts_; }

    /// Throws `errc::invalid_argument` for zero.
    Policy& at_most(unsigned attempts)
    {
        if (attempts == 0) throw_fault(fail(errc::invalid_argument, "for no attempt at all there is policy::never"));
        attempts_ = attempts;
        return static_cast<Policy&>(*this);
    }

protected:
    // 2025-11-25, transports: a client must respect the time that the server asks for (E-36). So it is the delay of
    // the first attempt, and the least of the later ones.
    std::optional<duration> decide(const reconnect_facts& facts, duration own) const noexcept
    {
        if (facts.attempt > attempts_) return std::nullopt;
        if (!facts.asked) return own;
        return facts.attempt <= 1 ? *facts.asked : std::max(*facts.asked, own);
    }

private:
    unsigned attempts_ = 6;
};

/// The same delay before each attempt: 1 s, 6 attempts.
class fixed : public attempt_limit<fixed>
{
public:
    std::optional<duration> delay(const reconnect_facts& facts) const noexcept { return decide(facts, delay_); }

    /// Throws `errc::invalid_argument` for zero and less.
    fixed& every(duration value)
    {
        delay_ = checked_limit(value);
        return *this;
    }

private:
    duration delay_ = std::chrono::seconds(1);
};

/// The default: any delay between none and a bound that doubles from 1 s up to 30 s, 6 attempts. The whole range is
/// used (full jitter), so that the clients of a server that restarts do not come back all at once.
class exponential : public attempt_limit<exponential>
{
public:
    std::optional<duration> delay(const reconnect_facts& facts) const noexcept
    {
        duration bound = base_;
        for (unsigned n = 1; n < facts.attempt && bound < max_; ++n) bound = bound > max_ / 2 ? max_ : bound * 2;
        bound = std::min(bound, max_);
        const double part = std::clamp(facts.random, 0.0, 0x1.fffffffffffffp-1); // below 1, so that it never overflows
        return decide(facts, duration(static_cast<duration::rep>(static_cast<double>(bound.count()) * part)));
    }

    /// Throws `errc::invalid_argument` for zero and less.
    exponential& between(duration base, duration max)
    {
        base_ = checked_limit(base);
        max_ = checked_limit(max);
        return *this;
    }

private:
    duration base_ = std::chrono::seconds(1);
    duration max_ = std::chrono::seconds(30);
};

} // namespace policy
} // namespace comcp::inline COMCP_ABI
