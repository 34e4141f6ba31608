// SPDX-License-Identifier: MIT
//
// Awaiting an operation on another executor and coming back. A cancellation of the waiting coroutine is posted there:
// Asio before 1.24 emits it on the thread of whoever cancels, in the middle of what runs on the other executor.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/task.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Where an operation runs, and how it is cancelled there. It lives as long as the operation.
struct running_elsewhere
{
    explicit running_elsewhere(executor ex) : home(std::move(ex)) {}
    executor home;
    asio::cancellation_signal signal;
};

/// Sits in the slot of the waiting coroutine, and perhaps there still when the context has ended: it holds nothing.
struct stop_elsewhere
{
    explicit stop_elsewhere(std::weak_ptr<running_elsewhere> which) : what(std::move(which)) {}
    void operator()(asio::cancellation_type type) const
    {
        if (auto held = what.lock()) asio::post(held->home, [held, type] { held->signal.emit(type); });
    }
    std::weak_ptr<running_elsewhere> what;
};

/// Takes the result back to the waiting coroutine; keeps the signal until the operation has ended.
template <class Handler>
struct come_back
{
    come_back(Handler waits, std::shared_ptr<running_elsewhere> of) : handler(std::move(waits)), what(std::move(of)) {}
    template <class... Results>
    void operator()(Results&&... results)
    {
        std::move(handler)(std::forward<Results>(results)...);
    }
    Handler handler;
    std::shared_ptr<running_elsewhere> what;
};

struct start_elsewhere
{
    template <class Handler, class T>
    void operator()(Handler handler, executor home, task<T> operation) const
    {
        auto what = std::make_shared<running_elsewhere>(home);
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) slot.template emplace<stop_elsewhere>(what);
        const auto back = asio::get_associated_executor(handler);
        const auto stop = what->signal.slot();
        come_back<Handler> then(std::move(handler), std::move(what));
        asio::co_spawn(home, std::move(operation),
                       asio::bind_cancellation_slot(stop, asio::bind_executor(back, std::move(then))));
    }
};

template <class T>
struct completion_of
{
    using signature = void(std::exception_ptr, T);
};
template <>
struct completion_of<void>
{
    using signature = void(std::exception_ptr);
};

/// Runs an operation on `home`, which is not the executor of the caller.
template <class T>
task<T> run_elsewhere(executor home, task<T> operation)
{
    return asio::async_initiate<const asio::use_awaitable_t<>, typename completion_of<T>::signature>(
        start_elsewhere(), asio::use_awaitable, std::move(home), std::move(operation));
}

/// Awaits an operation on its object's executor and comes back: in place when the caller is there already.
template <class T>
task<T> on_executor(executor home, task<T> operation)
{
    const executor here = co_await asio::this_coro::executor;
    if (here == home) co_return co_await std::move(operation);
    co_return co_await run_elsewhere(std::move(home), std::move(operation));
}

} // namespace comcp::inline COMCP_ABI::detail
