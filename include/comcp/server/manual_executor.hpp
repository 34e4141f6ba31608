// SPDX-License-Identifier: MIT
//
// An executor that the host pumps: for frame loops and GUI threads that want handlers on their own thread, a few at a
// time, while the session's loop runs elsewhere.
#pragma once

#include <comcp/asio.hpp>

#include <cstddef>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Work queues until `pump`. Posting is allowed from any thread; pump from one thread at a time. Must outlive the
/// sessions whose handlers run on it, or be pumped no more.
class manual_executor
{
public:
    manual_executor();
    manual_executor(const manual_executor&) = delete;
    manual_executor& operator=(const manual_executor&) = delete;

    /// For `server.handlers_on(...)`.
    comcp::executor executor();

    /// Queues work of the host.
    template <class Work>
    void post(Work work)
    {
        asio::post(io_, std::move(work));
    }

    /// Runs at most `max` queued items without waiting and returns how many ran. What they queue in turn counts too.
    std::size_t pump(std::size_t max);

private:
    asio::io_context io_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/manual_executor.ipp>
#endif
