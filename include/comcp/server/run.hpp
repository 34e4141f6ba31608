// SPDX-License-Identifier: MIT
//
// A whole program in one call: serves stdin and stdout until the client leaves.
#pragma once

#include <comcp/server/server.hpp>
#include <comcp/transport/stdio.hpp>

#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// Runs one served session on an `io_context` of its own; gives the exit status.
int run_served(task<fault> session);

} // namespace detail

/// Serves one client over this process's stdin and stdout on an `io_context` of its own, and returns when the input has
/// ended and the running handlers' answers are written (at most the close limit, 10 s). While it runs, prints to stdout
/// go to stderr.
///
/// *Result*: the exit status: 0 after an orderly end, 1 after an error, which is told on stderr.
template <class Policy>
int run_stdio(basic_server<Policy>& served)
{
    return detail::run_served(served.serve(make_stdio_transport(served.options().limits)));
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/run.ipp>
#endif
