// SPDX-License-Identifier: MIT
//
// What a client remembers of a server that spoke only the old HTTP+SSE transport, so that it need not be refused first
// whenever it connects. One fact about one endpoint, for some time: a server may be replaced by a newer one.
#pragma once

#include <comcp/config.hpp>
#include <comcp/limits.hpp>

#include <atomic>

namespace comcp::inline COMCP_ABI::http
{

/// Belongs to the description of one endpoint, and to its copies. Thread rule: any thread.
class fallback_memory
{
public:
    /// Whether the old transport is to be tried first.
    bool holds(time_point now) const { return now.time_since_epoch().count() < until_.load(std::memory_order_relaxed); }
    void keep_until(time_point end) { until_.store(end.time_since_epoch().count(), std::memory_order_relaxed); }
    void forget() { keep_until(time_point::min()); }

private:
    std::atomic<time_point::rep> until_{time_point::min().time_since_epoch().count()};
};

} // namespace comcp::inline COMCP_ABI::http
