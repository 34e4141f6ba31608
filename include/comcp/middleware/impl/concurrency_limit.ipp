// SPDX-License-Identifier: MIT
//
// The places of middleware/concurrency_limit.hpp and the queue for them.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/error.hpp>
#include <comcp/middleware/concurrency_limit.hpp>
#include <comcp/middleware/refusal.hpp>
#include <comcp/session/home.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// One that waits for a place. Whoever makes room knows it too, perhaps on another thread, and reaches it by `home`.
struct place_wanted
{
    explicit place_wanted(const executor& ex) : lot(make_parking_lot(ex)), home(ex), came(*lot) {}

    std::shared_ptr<parking_lot> lot;
    detail::home home;
    waiter came;          ///< on its own executor
    bool granted = false; ///< under the lock of the gate
};

/// The places of one direction. Any thread.
class gate
{
public:
    enum class entry {
        open,
        queued,
        refused,
    };

    gate(std::size_t most, std::size_t waiting) : free_(most), most_waiting_(waiting) {}

    /// Makes an entry in the queue when it is needed.
    entry enter(const executor& ex, std::shared_ptr<place_wanted>& mine)
    {
        const std::lock_guard lock(mutex_);
        if (free_ != 0) { // then nobody waits
            --free_;
            return entry::open;
        }
        if (queue_.size() >= most_waiting_) return entry::refused;
        mine = std::make_shared<place_wanted>(ex);
        queue_.push_back(mine);
        return entry::queued;
    }

    bool granted(const place_wanted& mine)
    {
        const std::lock_guard lock(mutex_);
        return mine.granted;
    }

    /// Gives a place to the next that waits. Nothing is resumed in place.
    void leave()
    {
        std::shared_ptr<place_wanted> next;
        {
            const std::lock_guard lock(mutex_);
            if (queue_.empty()) {
                ++free_;
                return;
            }
            next = std::move(queue_.front());
            queue_.pop_front();
            next->granted = true;
        }
        next->home.post([next] { next->came.complete(); });
    }

    /// Leaves the queue, or gives on the place that was granted in the meantime.
    void give_up(const std::shared_ptr<place_wanted>& mine)
    {
        {
            const std::lock_guard lock(mutex_);
            if (std::erase(queue_, mine) != 0) return;
        }
        leave();
    }

private:
    std::mutex mutex_;
    std::size_t free_;
    const std::size_t most_waiting_;
    std::deque<std::shared_ptr<place_wanted>> queue_;
};

struct both_gates
{
    both_gates(std::size_t most, std::size_t waiting) : inbound(most, waiting), outbound(most, waiting) {}
    gate inbound;
    gate outbound;
};

/// A place, or one in the queue, of a coroutine that may be destroyed at any time.
class place
{
public:
    place(gate& at, const executor& ex) : gate_(at), how_(at.enter(ex, wanted_)) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place()
    {
        if (how_ == gate::entry::refused) return;
        if (how_ == gate::entry::open) {
            gate_.leave();
        } else {
            wanted_->home.leave(); // its context may end now
            gate_.give_up(wanted_);
        }
    }

    bool refused() const { return how_ == gate::entry::refused; }
    bool waits() const { return wanted_ && !gate_.granted(*wanted_); }
    task<void> moved() { return wanted_->came.wait(); }

private:
    gate& gate_;
    std::shared_ptr<place_wanted> wanted_;
    gate::entry how_;
};

COMCP_DECL task<middleware_reply> pass_gate(std::shared_ptr<both_gates> gates, middleware_message message,
                                            middleware_next next)
{
    const bool asks = message.way == direction::outbound;
    if (!is_limited(message)) {
        auto at_once = next(std::move(message));
        co_return co_await std::move(at_once);
    }
    const executor here = co_await asio::this_coro::executor;
    place mine(asks ? gates->outbound : gates->inbound, here);
    if (mine.refused()) {
        if (asks) throw error(fail(errc::busy, "too many requests wait for their turn"));
        co_return too_many_requests();
    }
    while (mine.waits()) {
        co_await mine.moved();
        const auto asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "cancelled before its turn"));
    }
    auto going = next(std::move(message));
    co_return co_await std::move(going);
}

} // namespace detail

COMCP_DECL concurrency_limit::concurrency_limit(std::size_t most, std::size_t waiting)
{
    if (most == 0) throw error(fail(errc::invalid_argument, "a concurrency limit must be above zero"));
    gates_ = std::make_shared<detail::both_gates>(most, waiting);
}

COMCP_DECL task<middleware_reply> concurrency_limit::operator()(middleware_message message, middleware_next next) const
{
    return detail::pass_gate(gates_, std::move(message), std::move(next));
}

} // namespace comcp::inline COMCP_ABI
