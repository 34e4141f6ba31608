// SPDX-License-Identifier: MIT
//
// Middleware: so many requests at once, over all sessions that share it; others wait their turn. Not for how many in a
// time: that is rate_limit.hpp.
//
//     server.use(comcp::concurrency_limit(8));
#pragma once

#include <comcp/session/middleware.hpp>
#include <comcp/task.hpp>

#include <cstddef>
#include <memory>

namespace comcp::inline COMCP_ABI
{

namespace detail
{
struct both_gates;
}

/// At most `most` requests of each direction are past it. Others wait, first come first served and each on the executor
/// of its own session, and leave when they are cancelled. When `waiting` of them wait already, a request of the peer is
/// refused as `-32603` "too many requests" with `data.retryable`, and one of ours with errc::busy. `ping`, `initialize`
/// and notifications pass free. The directions are counted apart, because a handler that asks its client waits for one
/// while it takes the place of the other. Copies share the places. Any thread.
class concurrency_limit
{
public:
    /// *Errors*: errc::invalid_argument when `most` is zero.
    explicit concurrency_limit(std::size_t most) : concurrency_limit(most, most) {}
    concurrency_limit(std::size_t most, std::size_t waiting);

    task<middleware_reply> operator()(middleware_message message, middleware_next next) const;

private:
    std::shared_ptr<detail::both_gates> gates_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/concurrency_limit.ipp>
#endif
