// SPDX-License-Identifier: MIT
//
// Awaiting an operation of the host with a time limit. Not for the library's own operations, which have their limits
// themselves: this costs a coroutine and a timer for each.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/error.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// What an operation and who waits for it share; it lives as long as either.
template <class T>
struct limited
{
    explicit limited(const executor& ex) : lot(make_parking_lot(ex)), ended(*lot), limit(ex) {}
    std::shared_ptr<parking_lot> lot;
    waiter ended;
    timer limit;
    asio::cancellation_signal stop;
    std::optional<result<T>> got;
    bool late = false;
};

inline fault fault_of(std::exception_ptr failure)
{
    try {
        std::rethrow_exception(std::move(failure));
    } catch (const error& e) {
        return e.fault();
    } catch (const std::exception& e) {
        return fail(errc::handler_failed, e.what());
    } catch (...) {
        return fail(errc::handler_failed, "an unknown exception");
    }
}

template <class T>
struct limited_end
{
    explicit limited_end(std::shared_ptr<limited<T>> of) : into(std::move(of)) {}
    template <class... Value>
    void operator()(std::exception_ptr failure, Value... value) const
    {
        if (failure) into->got.emplace(fault_of(std::move(failure)));
        else into->got.emplace(std::move(value)...);
        into->limit.cancel();
        into->ended.complete();
    }
    std::shared_ptr<limited<T>> into;
};

template <class T>
struct limited_late
{
    std::weak_ptr<limited<T>> of;
    void operator()() const
    {
        const auto held = of.lock();
        if (!held) return;
        held->late = true;
        held->ended.complete();
    }
};

/// Awaits `work` on `ex`, which is the caller's executor, for at most `most`. Beyond that it is cancelled and left to
/// itself, as it is when the caller is cancelled. What it throws is a fault.
///
/// *Errors*: none but errc::cancelled, of the caller; errc::timed_out is in the result.
template <class T>
task<result<T>> within(executor ex, duration most, task<T> work)
{
    const auto shared = std::make_shared<limited<T>>(ex);
    asio::co_spawn(ex, std::move(work), asio::bind_cancellation_slot(shared->stop.slot(), limited_end<T>(shared)));
    shared->limit.start(deadline_after(shared->limit.now(), most), limited_late<T>{shared});
    while (!shared->got && !shared->late) {
        co_await shared->ended.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) {
            shared->stop.emit(asio::cancellation_type::terminal);
            throw error(fail(errc::cancelled, "the operation was given up"));
        }
    }
    if (!shared->got) {
        shared->stop.emit(asio::cancellation_type::terminal);
        co_return fail(errc::timed_out, "the operation took too long");
    }
    co_return std::move(*shared->got);
}

} // namespace comcp::inline COMCP_ABI::detail
