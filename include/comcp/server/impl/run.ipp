// SPDX-License-Identifier: MIT
//
// Running a server as a program: see server/run.hpp.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/signals.hpp>
#include <comcp/detail/tell.hpp>
#include <comcp/server/run.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/stdio.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

inline task<void> stop_after(asio::io_context& io, duration patience)
{
    const executor ex = io.get_executor();
    timer clock(ex);
    co_await clock.wait_for(patience);
    io.stop();
}

/// The first signal closes the server in order, the second ends everything.
struct close_on_signal
{
    asio::io_context& io;
    asio::signal_set& signals;
    server_core& served;
    bool again = false;

    void operator()(io_error_code failed, int) const
    {
        if (failed) return;
        if (again) return io.stop();
        served.close_all();
        signals.async_wait(close_on_signal{io, signals, served, true});
        const duration patience = std::min<duration>(served.options.limits.close, std::chrono::seconds(1));
        asio::co_spawn(io, stop_after(io, patience), [](std::exception_ptr) {});
    }
};

COMCP_DECL int run_stdio(const std::shared_ptr<server_core>& served)
{
    asio::io_context io(1);
    std::optional<asio::signal_set> signals;
    int status = 0;
    auto session = serve(served, make_stdio_transport(served->options.limits));
    asio::co_spawn(io, std::move(session), [&](std::exception_ptr failure, const fault& why) {
        try {
            if (failure) std::rethrow_exception(failure);
            if (why.code && why.code != errc::closed) status = tell_failure(why.text); // closed: by the host itself
        } catch (const std::exception& e) {
            status = tell_failure(e.what());
        } catch (...) {
            status = tell_failure("unknown exception");
        }
        io.stop(); // whatever the host still has on this loop, the client is gone
    });
    // When the transport has opened: a descriptor that is opened before could get the number of a standard one that is
    // closed.
    asio::post(io, [&] {
        signals.emplace(io);
        take_ending_signals(*signals);
        signals->async_wait(close_on_signal{io, *signals, *served});
    });
    io.run();
    return status;
}

} // namespace comcp::inline COMCP_ABI::detail
