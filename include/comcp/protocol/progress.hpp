// SPDX-License-Identifier: MIT
//
// How far a request is. The token ties a notice to its request; the numbers mean what the peer says, only that they
// grow is sure. Not for clocks: that progress restarts the idle time is decided by the session.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/protocol/read.hpp>
#include <comcp/rpc/id.hpp>

#include <optional>
#include <string>

namespace comcp::inline COMCP_ABI
{

/// A string or an integer, sent back exactly as it came.
using progress_token = rpc::id;

/// One notice of progress. `message` is empty when none was given (it exists since 2025-03-26).
struct progress
{
    double value = 0;
    std::optional<double> total;
    std::string message;
    json::object extra{}; ///< members that are not listed here, `_meta` among them
};

/// Reads the params of notifications/progress; nothing when the value is no number.
inline std::optional<progress> read_progress(const json::object& from)
{
    const auto value = number_member(from, "progress");
    if (!value) return std::nullopt;
    progress read;
    read.value = *value;
    read.total = number_member(from, "total");
    if (const auto text = string_member(from, "message")) read.message = *text;
    read.extra = detail::unknown_members(from, {"progressToken", "progress", "total", "message"});
    return read;
}

} // namespace comcp::inline COMCP_ABI
