// SPDX-License-Identifier: MIT
//
// The limits of an HTTP server, beside those of every message (comcp::limits) and of every head (http/limits.hpp). All
// are finite by default and can be set before it starts.
#pragma once

#include <comcp/http/limits.hpp>
#include <comcp/limits.hpp>

#include <chrono>
#include <cstddef>

namespace comcp::inline COMCP_ABI
{

/// Sizes are bytes, counts are items. A body is a message: `limits::message` bounds it.
struct http_service_limits
{
    http_limits head;

    /// Further connections are answered with 503 and closed.
    std::size_t connections = 4096;
    /// At the cap the session that was idle for longest gives way; 503 with Retry-After when none can.
    std::size_t sessions = 4096;
    /// Open SSE streams; beyond it 503 with Retry-After.
    std::size_t streams = 4096;
    /// Request bodies plus queued output of the whole service: beyond it new bodies are refused with 503 and
    /// Retry-After.
    std::size_t memory = 256 * 1024 * 1024;
    /// Events kept per stream for resumption; the oldest go first, and a resume past them is refused.
    std::size_t stored_events = 1000;
    std::size_t stored_bytes = 4 * 1024 * 1024;

    /// A session without a call and without an open stream for so long ends: its id is then answered with 404.
    duration session_idle = std::chrono::minutes(30);
    /// One operation of a session store. A session that could not be looked for in that time: 503 with Retry-After.
    duration store_time = std::chrono::seconds(5);
    /// Silence on an SSE stream after which a comment is sent.
    duration keep_alive = std::chrono::seconds(15);
    /// A connection between two requests is closed.
    duration connection_idle = std::chrono::seconds(60);
    /// From the first byte of a request to the end of its head, and from there to the end of its body: then 408.
    duration head_time = std::chrono::seconds(10);
    duration body_time = std::chrono::seconds(60);
    /// Output that makes no progress: the connection is cut.
    duration write_time = std::chrono::seconds(30);
};

} // namespace comcp::inline COMCP_ABI
