// SPDX-License-Identifier: MIT
//
// How a handler asks the client: for how long, and who hears of the client's progress. Everything that takes a function
// stands here, since operations that are awaited take none.
#pragma once

#include <comcp/limits.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/protocol/progress.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Options of one request to the client. A class with chained setters: `request_options().timeout(5min)`; set a
/// progress callback on a named object before the request, never inside the awaited expression.
class request_options
{
public:
    request_options() = default;

    /// The time for the whole request. Default: `limits::server_request`, 60 s. *Errors*: errc::invalid_argument for
    /// zero.
    request_options& timeout(duration total)
    {
        total_ = policy::checked_limit(total);
        return *this;
    }
    /// Told of the client's progress, on the handler's executor; of several notices that wait there only the newest is
    /// told, and none after the request has ended. What it throws is dropped. Without it no progress is asked for.
    request_options& on_progress(std::function<void(const progress&)> handler)
    {
        progress_ = std::move(handler);
        return *this;
    }

    // For the library.
    const std::optional<duration>& total() const { return total_; }
    const std::function<void(const progress&)>& progress_handler() const { return progress_; }

private:
    std::optional<duration> total_;
    std::function<void(const progress&)> progress_;
};

} // namespace comcp::inline COMCP_ABI
