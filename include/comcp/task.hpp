// SPDX-License-Identifier: MIT
//
// What an operation returns, and the two ways to use it without exceptions or without an io_context of one's own.
// Callbacks and futures need nothing from here: `asio::co_spawn(executor, client.call(...), token)`.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/error.hpp>

#include <cstdio>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// A coroutine of the library. It starts when it is awaited, once, and throws `comcp::error`.
template <class T = void>
using task = asio::awaitable<T>;

/// Awaits an operation and gives its failure as a value: `auto r = co_await as_result(client.ping());`
///
/// *Errors*: only exceptions that are no `comcp::error` pass through.
template <class T>
task<result<T>> as_result(task<T> operation)
{
    std::optional<fault> failed;
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(operation);
            co_return result<void>();
        } else {
            co_return co_await std::move(operation);
        }
    } catch (const error& e) {
        failed = e.fault();
    }
    co_return std::move(*failed);
}

/// Runs one coroutine to its end on an `io_context` of its own, for small programs: `int main() { return run(talk());
/// }`
///
/// Signals do what they do in any program: SIGINT and SIGTERM end it at once, as by signal. Its servers then find the
/// end of their input, the first step of an orderly end, and leave. Cancelling the coroutine instead would destroy its
/// clients, which kills their servers. A host that waits until they have left takes the signal itself
/// (`asio::signal_set`) and awaits `client.close()`; one whose servers may not heed the end of their input sets
/// `child_process::parent_death_signal`.
///
/// *Result*: 0; or 1 after an exception, whose text is written to stderr.
int run(task<void> main);

namespace detail
{

/// Whether the coroutine whose state this is was cancelled. The state is to be asked of `this_coro` in the coroutine
/// itself: once cancelled, awaiting any function would throw.
inline bool is_cancelled(const asio::cancellation_state& of) { return of.cancelled() != asio::cancellation_type::none; }

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/detail/impl/task.ipp>
#endif
