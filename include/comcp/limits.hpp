// SPDX-License-Identifier: MIT
//
// The table of limits: how much of anything a peer may make us keep or wait for. Every limit is finite by default and
// can be set; time limits of calls are policies (policy/timeouts.hpp). Not for limits that no code enforces: a row
// arrives together with the code that it bounds.
#pragma once

#include <comcp/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace comcp::inline COMCP_ABI
{

/// The clock of all deadlines; only timer.hpp reads it.
using duration = std::chrono::steady_clock::duration;
using time_point = std::chrono::steady_clock::time_point;

/// "For ever", spelled out: zero is never taken as "no limit".
inline constexpr duration no_limit = duration::max();

/// Sizes are bytes, counts are items. All members may be set before a client or server starts.
struct limits
{
    /// One message: a line on stdio. A longer one is skipped while it is read; only its request fails. Also all answers
    /// of one session that wait for others of their batch (2025-03-26): one beyond it becomes -32603 with
    /// `data.retryable`.
    std::size_t message = 16 * 1024 * 1024;
    /// JSON nesting, the outermost object being 1. Deeper input is answered with -32700.
    std::size_t depth = 64;
    /// Requests in flight in one session, each way. A further one is refused with -32603 and `data.retryable`.
    std::size_t in_flight = 256;
    /// Bytes of the requests that handlers hold, in one session: four messages of the largest size. A further one is
    /// refused in the same way, unless it is the only one.
    std::size_t held_requests = 64 * 1024 * 1024;
    /// Queued output plus the bytes of requests held, per stream. While output is queued beyond it, reading pauses.
    std::size_t stream_buffer = 4 * 1024 * 1024;
    /// A stream whose queued output makes no progress for this long is cut.
    duration write_stall = std::chrono::seconds(30);
    /// How long a server may go on with running handlers after its input ended, and how long `close()` may take.
    duration close = std::chrono::seconds(10);
    /// A request from server to client (roots, sampling, elicitation).
    duration server_request = std::chrono::seconds(60);
    /// Pages and items of one listing. Beyond them the list is partial and says so.
    std::size_t pages = 1000;
    std::size_t items = 10000;
    /// Text of all pages of one listing together: four messages of the largest size. The page that goes beyond it is
    /// left out, and the list is partial and says so.
    std::size_t list_bytes = 64 * 1024 * 1024;
    /// Resources that one client may have subscribed to. A further one is refused with -32603.
    std::size_t subscriptions = 1000;
    /// Log messages, updated resources and ended elicitations that wait for a slow callback of the host; further ones
    /// are dropped and counted.
    std::size_t notices = 256;
};

} // namespace comcp::inline COMCP_ABI
