// SPDX-License-Identifier: MIT
//
// Timers and the clock of a context: see timer.hpp.
#pragma once

#include <comcp/timer.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

COMCP_DECL std::uint64_t time_service::add(time_point at, std::function<void()> callback)
{
    entries_.push_back({at, ++last_, std::move(callback)});
    return last_;
}

COMCP_DECL void time_service::remove(std::uint64_t which)
{
    std::erase_if(entries_, [which](const entry& e) { return e.key == which; });
}

COMCP_DECL bool time_service::step(time_point target)
{
    auto next = std::min_element(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
        return a.at != b.at ? a.at < b.at : a.key < b.key;
    });
    if (next == entries_.end() || next->at > target) {
        manual_now_ = std::max(manual_now_, target);
        return false;
    }
    manual_now_ = std::max(manual_now_, next->at);
    auto callback = std::move(next->callback);
    entries_.erase(next);
    callback();
    return true;
}

COMCP_DECL void time_service::shutdown()
{
    auto dropped = std::move(entries_);
    entries_.clear();
}

COMCP_DECL time_service& time_of(const executor& ex) { return asio::use_service<time_service>(context_of(ex)); }

} // namespace detail

COMCP_DECL timer::timer(executor ex)
    : executor_(std::move(ex)),
      service_(&detail::time_of(executor_)),
      lot_(detail::make_parking_lot(executor_))
{
    lot_->link(*this);
}

COMCP_DECL timer::~timer()
{
    cancel();
    if (service_) lot_->unlink(*this);
}

COMCP_DECL time_point timer::now() const { return service_ ? service_->now() : std::chrono::steady_clock::now(); }

COMCP_DECL void timer::start(time_point at, std::function<void()> callback)
{
    cancel();
    if (at == time_point::max() || !service_) return;
    callback_ = std::make_shared<std::function<void()>>(std::move(callback));
    auto fire = [weak = std::weak_ptr<std::function<void()>>(callback_)] {
        if (auto still_wanted = weak.lock()) (*still_wanted)();
    };
    if (service_->manual()) {
        key_ = service_->add(at, [fire, ex = executor_] { asio::post(ex, fire); });
    } else {
        if (!steady_) steady_ = std::make_unique<asio::steady_timer>(executor_);
        steady_->expires_at(at);
        steady_->async_wait([fire](io_error_code failed) {
            if (!failed) fire();
        });
    }
}

COMCP_DECL void timer::cancel()
{
    if (!callback_) return;
    callback_.reset(); // an expiry that is already queued finds nothing to call
    if (key_ && service_) service_->remove(key_);
    key_ = 0;
    if (steady_) steady_->cancel();
}

COMCP_DECL task<void> timer::wait_for(duration time)
{
    const auto lot = lot_; // the timer may die while somebody waits
    detail::waiter due(*lot);
    start(detail::deadline_after(now(), time), [&due] { due.complete(); });
    co_await due.wait(stop{this});
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "the wait was cancelled"));
}

COMCP_DECL void timer::drop()
{
    callback_.reset();
    steady_.reset();
    service_ = nullptr;
    executor_ = comcp::executor();
}

COMCP_DECL manual_time::manual_time(asio::io_context& io)
    : io_(io),
      service_(asio::use_service<detail::time_service>(static_cast<asio::execution_context&>(io)))
{
    service_.start_manual();
}

COMCP_DECL void manual_time::settle()
{
    io_.restart();
    while (io_.poll() != 0) {
    }
}

COMCP_DECL void manual_time::advance(duration time)
{
    const time_point target = service_.now() + time;
    settle();
    while (service_.step(target)) settle();
}

} // namespace comcp::inline COMCP_ABI
