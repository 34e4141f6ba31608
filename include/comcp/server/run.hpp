// SPDX-License-Identifier: MIT
//
// A whole program in one call: serves stdin and stdout until the client leaves.
#pragma once

#include <comcp/server/server.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// Serves stdin and stdout on an `io_context` of its own; gives the exit status.
int run_stdio(const std::shared_ptr<server_core>& served);

} // namespace detail

/// Serves one client over this process's stdin and stdout on an `io_context` of its own, and returns when the input has
/// ended and the running handlers' answers are written (at most the close limit, 10 s). While it runs, prints to stdout
/// go to stderr. However it returns, stdin and stdout have the flags back that they had.
///
/// SIGTERM, SIGINT and SIGHUP end it too: running handlers are cancelled, and what is queued is written, for at most
/// 1 s, since hosts kill 2 s after SIGTERM. A second signal ends it at once. A signal that the program ignores or
/// handles itself stays so. A plain handler that runs in place holds all of this up.
///
/// *Result*: the exit status: 0 after an orderly end and after a signal, 1 after an error, which is told on stderr.
template <class Policy>
int run_stdio(basic_server<Policy>& served)
{
    return detail::run_stdio(served.core());
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/run.ipp>
#endif
