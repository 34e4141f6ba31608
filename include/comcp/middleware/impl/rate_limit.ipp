// SPDX-License-Identifier: MIT
//
// The token bucket of middleware/rate_limit.hpp, kept as the one time at which it would be full again.
#pragma once

#include <comcp/error.hpp>
#include <comcp/middleware/rate_limit.hpp>
#include <comcp/middleware/refusal.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class rate_state
{
public:
    rate_state(double per_second, std::size_t burst)
        : interval_(as_duration(1 / per_second)),
          slack_(as_duration(static_cast<double>(burst - 1) / per_second))
    {}

    void each_principal(std::size_t most) { most_ = most; }

    /// Takes a token now; none is left: false.
    bool take(const std::string& principal, time_point now)
    {
        const std::lock_guard lock(mutex_);
        time_point& full = bucket(principal, now);
        if (std::max(full, now) - now > slack_) return false;
        full = std::max(full, now) + interval_;
        return true;
    }

    /// Takes the next token, and tells how long it is until it is there.
    duration reserve(const std::string& principal, time_point now)
    {
        const std::lock_guard lock(mutex_);
        time_point& full = bucket(principal, now);
        const duration wait = std::max(full, now) - slack_ - now;
        full = std::max(full, now) + interval_;
        return std::max(wait, duration::zero());
    }

    void give_back(const std::string& principal, time_point now)
    {
        const std::lock_guard lock(mutex_);
        bucket(principal, now) -= interval_;
    }

private:
    static duration as_duration(double seconds)
    {
        constexpr double longest = 365.0 * 24 * 60 * 60; // sums of a few stay in range
        const std::chrono::duration<double> wanted(std::min(seconds, longest));
        return std::chrono::duration_cast<duration>(wanted);
    }

    time_point& bucket(const std::string& principal, time_point now)
    {
        if (most_ == 0 || principal.empty()) return shared_;
        if (const auto found = own_.find(principal); found != own_.end()) return found->second;
        if (own_.size() >= most_ && now >= sweep_at_) {
            sweep_at_ = now + std::max<duration>(interval_, std::chrono::seconds(1));
            std::erase_if(own_, [now](const auto& each) { return each.second <= now; }); // full, like a new one
        }
        return own_.size() < most_ ? own_[principal] : shared_;
    }

    std::mutex mutex_;
    const duration interval_;
    const duration slack_;
    std::size_t most_ = 0; // one bucket for all
    time_point shared_;
    time_point sweep_at_;
    std::unordered_map<std::string, time_point> own_;
};

/// A token that was promised; given back unless it was used.
class promised_token
{
public:
    promised_token(rate_state& of, const std::string& principal, time_point now)
        : state_(&of),
          principal_(principal),
          now_(now)
    {}
    promised_token(const promised_token&) = delete;
    promised_token& operator=(const promised_token&) = delete;
    ~promised_token()
    {
        if (state_) state_->give_back(principal_, now_);
    }
    void use() { state_ = nullptr; }

private:
    rate_state* state_;
    const std::string& principal_;
    time_point now_;
};

COMCP_DECL task<void> wait_for_token(std::shared_ptr<rate_state> state, std::string principal)
{
    timer until(co_await asio::this_coro::executor);
    const time_point now = until.now();
    const duration wait = state->reserve(principal, now);
    promised_token token(*state, principal, now);
    if (wait != duration::zero()) co_await until.wait_for(wait);
    token.use();
}

COMCP_DECL task<middleware_reply> pass_at_rate(std::shared_ptr<rate_state> state, middleware_message message,
                                               middleware_next next)
{
    const executor here = co_await asio::this_coro::executor;
    if (is_limited(message)) {
        if (message.way == direction::outbound) {
            auto waiting = wait_for_token(state, message.principal);
            co_await std::move(waiting);
        } else if (!state->take(message.principal, time_of(here).now())) {
            co_return too_many_requests();
        }
    }
    auto going = next(std::move(message));
    co_return co_await std::move(going);
}

} // namespace detail

COMCP_DECL rate_limit::rate_limit(double per_second, std::size_t burst)
{
    if (!(per_second > 0) || !std::isfinite(per_second) || burst == 0)
        throw error(fail(errc::invalid_argument, "a rate limit must be above zero"));
    state_ = std::make_shared<detail::rate_state>(per_second, burst);
}

COMCP_DECL rate_limit& rate_limit::each_principal(std::size_t most)
{
    if (most == 0) throw error(fail(errc::invalid_argument, "the number of principals must be above zero"));
    state_->each_principal(most);
    return *this;
}

COMCP_DECL task<middleware_reply> rate_limit::operator()(middleware_message message, middleware_next next) const
{
    return detail::pass_at_rate(state_, std::move(message), std::move(next));
}

} // namespace comcp::inline COMCP_ABI
