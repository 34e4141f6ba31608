// SPDX-License-Identifier: MIT
//
// The signals that end a whole program of the library in order. Not for programs that have a loop of their own: they
// decide about signals themselves.
#pragma once

#include <comcp/asio.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/signal_set.hpp>
#else
#include <asio/signal_set.hpp>
#endif

#include <signal.h>

namespace comcp::inline COMCP_ABI::detail
{

/// Adds SIGTERM, SIGINT and SIGHUP, but for those that are ignored (nohup, a background job of a script) or that the
/// program handles itself.
inline void take_ending_signals(asio::signal_set& into)
{
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction now{};
        if (::sigaction(each, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) into.add(each);
    }
}

} // namespace comcp::inline COMCP_ABI::detail
