// SPDX-License-Identifier: MIT
//
// Time as an object. Every wait of the library goes through the time service of its execution context: the steady clock
// by default, or a clock that a test moves by hand (`manual_time`). Nothing else in the library names a clock.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/limits.hpp>
#include <comcp/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ratio>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// The clock of an execution context, and in manual mode the queue of what is due.
class time_service final : public asio::execution_context::service
{
public:
    using key_type = time_service;
    static inline asio::execution_context::id id;

    explicit time_service(asio::execution_context& context) : asio::execution_context::service(context) {}

    bool manual() const { return manual_; }
    time_point now() const { return manual_ ? manual_now_ : std::chrono::steady_clock::now(); }

    // Manual mode only; single-threaded like the test that uses it.
    void start_manual() { manual_ = true; }
    std::uint64_t add(time_point at, std::function<void()> callback);
    void remove(std::uint64_t which);
    /// Moves the clock to the next entry that is due by `target`, runs it, and tells whether there was one. Equal
    /// deadlines run in the order in which they were set.
    bool step(time_point target);

private:
    struct entry
    {
        time_point at;
        std::uint64_t key;
        std::function<void()> callback;
    };

    void shutdown() override;

    bool manual_ = false;
    time_point manual_now_ = time_point() + std::chrono::hours(1);
    std::uint64_t last_ = 0;
    std::vector<entry> entries_;
};

time_service& time_of(const executor& ex);

/// `now + after` that stays at "never" instead of overflowing.
inline time_point deadline_after(time_point now, duration after)
{
    return after >= time_point::max() - now ? time_point::max() : now + after;
}

/// A time that the host gives, in the unit of the clock: what is too long for it is for ever, what is negative is none.
template <class Rep, class Period>
constexpr duration clamped(std::chrono::duration<Rep, Period> time)
{
    using wide = std::chrono::duration<std::common_type_t<Rep, std::int64_t>, Period>;
    if (time < time.zero()) return duration::zero();
    // Turned around, so that a NaN is for ever too.
    if (!(wide(time) < std::chrono::duration_cast<wide>(duration::max()))) return duration::max();
    return std::chrono::duration_cast<duration>(wide(time));
}

} // namespace detail

/// One deadline at a time on one executor. Thread rule: used from its executor only. May outlive the context: it then
/// does nothing.
class timer final : private detail::parked
{
public:
    explicit timer(executor ex);
    ~timer();

    time_point now() const;

    /// Calls `callback` on the executor at `at`, never from inside `start`. Replaces an earlier start. Not called after
    /// `cancel()` or destruction; `time_point::max()` means never.
    void start(time_point at, std::function<void()> callback);

    void cancel();

    /// Suspends for `time`. *Errors*: errc::cancelled when the caller is cancelled.
    task<void> wait_for(duration time);
    /// The same in a coarser unit. A time that the clock cannot tell is for ever, and does not overflow.
    template <class Rep, class Period>
        requires std::ratio_greater_equal_v<Period, duration::period>
    task<void> wait_for(std::chrono::duration<Rep, Period> time)
    {
        return wait_for(detail::clamped(time));
    }

private:
    struct stop
    {
        timer* self;
        void operator()() const { self->cancel(); }
    };

    void drop() override; // the context ends: nothing of it may be touched later

    comcp::executor executor_;
    detail::time_service* service_;
    std::shared_ptr<detail::parking_lot> lot_;
    std::unique_ptr<asio::steady_timer> steady_;
    std::shared_ptr<std::function<void()>> callback_;
    std::uint64_t key_ = 0;
};

/// A clock in the test's hand. Made before anything waits on the context; from then on every timer of the context is
/// moved by `advance` only, and nothing sleeps.
class manual_time
{
public:
    explicit manual_time(asio::io_context& io);

    time_point now() const { return service_.now(); }

    /// Runs what is ready until nothing is, without moving the clock.
    void settle();

    /// Moves the clock by `time`, stopping at every deadline on the way and letting everything it causes happen.
    void advance(duration time);

private:
    asio::io_context& io_;
    detail::time_service& service_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/detail/impl/timer.ipp>
#endif
