// SPDX-License-Identifier: MIT
//
// An HTTP server with its sockets, and as a program: see server/run_http.hpp.
#pragma once

#include <comcp/detail/sigpipe.hpp>
#include <comcp/server/run_http.hpp>
#include <comcp/timer.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/signal_set.hpp>
#else
#include <asio/signal_set.hpp>
#endif

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL http_server::http_server(executor ex, const std::shared_ptr<detail::server_core>& served,
                                    http_server_options options)
    : service_(ex, served, options),
      remote_allowed_(options.remote_allowed()),
      executor_(ex),
      listener_(std::move(ex), service_, options.limits, {.single_threaded = options.is_single_threaded()})
{
    first_.path = options.guard.path;
}

COMCP_DECL void http_server::bind(std::string_view host, std::uint16_t port)
{
    if (!remote_allowed_ && !http::is_loopback(host)) {
        throw error(
            fail(errc::invalid_argument, "other machines can reach \"" + std::string(host) +
                                             "\": say who may call with authorize(), or allow_unauthorized_remote()"));
    }
    const bool first = listener_.endpoints().empty();
    const result<void> bound = listener_.bind(host, port);
    if (!bound) throw error(bound.error());
    if (!first) return;
    first_.host = host;
    first_.port = listener_.port();
}

COMCP_DECL std::string http_server::url() const { return listener_.port() == 0 ? std::string() : first_.url(); }

COMCP_DECL task<void> http_server::drain(duration patience)
{
    constexpr duration to_write = std::chrono::seconds(1); // at least, for answers that exist
    const timer clock(executor_);
    const time_point end = detail::deadline_after(clock.now(), patience);
    listener_.stop();
    co_await service_.drain(patience);
    co_await listener_.drain(std::max(end - clock.now(), to_write));
}

namespace detail
{

inline void tell(std::string_view what)
{
    std::string line = "comcp: ";
    line.append(what).append(1, '\n');
    const iovec piece{line.data(), line.size()};
    static_cast<void>(write_without_sigpipe(STDERR_FILENO, &piece, 1));
}

/// The first signal drains the server, the second closes it.
struct on_signal
{
    asio::signal_set& signals;
    http_server& server;
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

COMCP_DECL int run_http(const std::shared_ptr<server_core>& served, std::string_view where, http_server_options options)
{
    try {
        http::listen_address at = http::listen_address::parse(where).value();
        asio::io_context io(1);
        options.single_threaded().path(std::move(at.path));
        http_server server(io.get_executor(), served, std::move(options));
        server.bind(at.host, at.port);
        asio::signal_set signals(io, SIGTERM, SIGINT);
        signals.async_wait(on_signal{signals, server, served->options.limits.close});
        asio::co_spawn(io, server.serve(), [&io](std::exception_ptr) { io.stop(); });
        tell("serving at " + server.url());
        io.run();
        return 0;
    } catch (const std::exception& e) {
        tell(e.what());
    }
    return 1;
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
