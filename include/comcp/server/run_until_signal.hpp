// SPDX-License-Identifier: MIT
//
// What the programs of servers with sockets have in common: they serve until SIGTERM or SIGINT.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/signals.hpp>
#include <comcp/detail/tell.hpp>
#include <comcp/limits.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// The first signal drains the server, the second closes it.
template <class Server>
struct on_signal
{
    asio::signal_set& signals;
    Server& server;
    duration patience;
    bool again = false;

    void operator()(io_error_code failed, int) const
    {
        if (failed) return;
        if (again) return server.close();
        asio::co_spawn(signals.get_executor(), server.drain(patience), [](std::exception_ptr) {});
        signals.async_wait(on_signal{signals, server, patience, true});
    }
};

/// Runs `server`, which was bound, until its `serve()` returns. Nothing else runs on `io` then. *Errors*: what
/// `serve()` threw.
template <class Server>
void run_until_signal(asio::io_context& io, Server& server, duration patience, std::string_view where)
{
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait(on_signal<Server>{signals, server, patience});
    std::exception_ptr failed;
    asio::co_spawn(io, server.serve(), [&](std::exception_ptr why) {
        failed = why;
        io.stop();
    });
    tell("serving at " + std::string(where));
    io.run();
    if (failed) std::rethrow_exception(failed);
}

} // namespace comcp::inline COMCP_ABI::detail
