// SPDX-License-Identifier: MIT
//
// How far a request is. The token ties a notice to its request; the numbers mean what the peer says, only that they
// grow is sure. Not for clocks: that progress restarts the idle time is decided by the session.
#pragma once

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
};

} // namespace comcp::inline COMCP_ABI
