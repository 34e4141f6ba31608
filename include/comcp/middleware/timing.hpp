// SPDX-License-Identifier: MIT
//
// Middleware: tells how long each message took and how it ended, for counters and histograms. It keeps nothing.
//
//     server.use(comcp::timing([&](const comcp::message_timing& each) { histogram.add(each.method, each.took); }));
#pragma once

#include <comcp/limits.hpp>
#include <comcp/middleware/message_end.hpp>
#include <comcp/session/middleware.hpp>

#include <functional>
#include <string>

namespace comcp::inline COMCP_ABI
{

/// One message that passed. Only what is inside of this part counts, the handler or the peer included.
struct message_timing
{
    std::string method; ///< inbound: what the peer wrote, of any length up to the limit of messages
    direction way = direction::inbound;
    bool is_request = true;
    duration took = duration::zero();
    message_end end;
};

/// `sink` is called once for each message, on the executor of its session, and must not block it; what it throws is
/// dropped.
middleware timing(std::function<void(const message_timing&)> sink);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/timing.ipp>
#endif
