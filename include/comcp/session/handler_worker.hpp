// SPDX-License-Identifier: MIT
//
// A coroutine of a session that runs one handler after another: starting a coroutine of its own for each would cost
// more than most handlers do. What one handler set for its coroutine or was told by cancellation is undone before the
// next.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/task.hpp>

#include <cstddef>
#include <memory>

namespace comcp::inline COMCP_ABI::detail
{

/// What such a coroutine and its session share. Freed by the completion handler of the coroutine, since a signal must
/// outlive the coroutine that it cancels.
struct handler_worker
{
    explicit handler_worker(parking_lot& lot) : idle(lot) {}
    handler_worker(const handler_worker&) = delete;
    handler_worker& operator=(const handler_worker&) = delete;
    /// With a request still when the execution context ends: then it is in flight, and nobody is left to be cancelled.
    ~handler_worker()
    {
        if (request) request->worker_signal_ = nullptr;
    }

    /// Kept for the next burst of requests, about a kilobyte each; one that ends beyond them is not.
    static constexpr std::size_t most_idle = 64;

    asio::cancellation_signal signal;
    waiter idle;
    std::shared_ptr<inbound> request; ///< none while it is idle; woken without one it ends
    task<void> job;
};

} // namespace comcp::inline COMCP_ABI::detail
