// SPDX-License-Identifier: MIT
//
// What a session counts. Plain numbers for a status page or a test; hooks for each event are the observer's.
#pragma once

#include <comcp/config.hpp>

#include <cstdint>

namespace comcp::inline COMCP_ABI
{

/// Counts since the session began.
struct session_statistics
{
    std::uint64_t received = 0;          ///< messages read
    std::uint64_t sent = 0;              ///< messages queued for writing
    std::uint64_t bad_messages = 0;      ///< not JSON, not JSON-RPC, or answers to nothing
    std::uint64_t oversized = 0;         ///< skipped because of their size
    std::uint64_t late_answers = 0;      ///< answers to calls that had ended
    std::uint64_t dropped_notices = 0;   ///< progress and log notices without room
    std::uint64_t cancelled_by_peer = 0; ///< requests that the peer gave up
};

} // namespace comcp::inline COMCP_ABI
