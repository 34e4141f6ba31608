// SPDX-License-Identifier: MIT
//
// An HTTP server with its sockets, and as a program: see server/run_http.hpp.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/server/run_http.hpp>
#include <comcp/server/run_until_signal.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL http_server::parts::parts(executor ex, const std::shared_ptr<detail::server_core>& served,
                                     const http_server_options& options)
    : service(ex, served, options),
      home(options.is_single_threaded() ? ex : executor(asio::make_strand(ex))),
      listener(ex, service, options.limits, {.single_threaded = options.is_single_threaded()})
{}

COMCP_DECL http_server::http_server(executor ex, const std::shared_ptr<detail::server_core>& served,
                                    http_server_options options)
    : parts_(std::make_shared<parts>(std::move(ex), served, options)),
      remote_allowed_(options.remote_allowed())
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
    const result<void> bound = parts_->listener.bind(host, port);
    if (!bound) throw error(bound.error());
    if (std::exchange(bound_, true)) return;
    first_.host = host;
    first_.port = parts_->listener.port();
}

COMCP_DECL void http_server::bind_unix(std::string_view path, mode_t mode)
{
    const result<void> bound = parts_->listener.bind_unix(path, mode);
    if (!bound) throw error(bound.error());
    if (!std::exchange(bound_, true)) first_.socket = path;
}

COMCP_DECL std::string http_server::url() const { return bound_ ? first_.url() : std::string(); }

// Both run as coroutines of their own: they go on waiting when the caller is cancelled, which only tells them how.

COMCP_DECL task<void> http_server::serve() { return detail::run_elsewhere(parts_->home, serve_at_home(parts_)); }

COMCP_DECL task<void> http_server::drain(duration patience)
{
    return detail::run_elsewhere(parts_->home, drain_at_home(parts_, patience));
}

COMCP_DECL task<void> http_server::serve_at_home(std::shared_ptr<parts> of)
{
    co_await of->listener.run(); // a cancellation cuts the connections in there
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (!detail::is_cancelled(asked)) co_return;
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await of->service.close();
}

COMCP_DECL task<void> http_server::drain_at_home(std::shared_ptr<parts> of, duration patience)
{
    constexpr duration to_write = std::chrono::seconds(1); // at least, for answers that exist
    const timer clock(of->home);
    const time_point end = detail::deadline_after(clock.now(), patience);
    of->listener.stop();
    try {
        co_await of->service.finish_calls(patience);
        co_await of->service.close();
    } catch (const std::exception&) {
        // Cancelled, before one of the two.
    }
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (detail::is_cancelled(asked)) {
        of->listener.close();
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await of->service.close();
    }
    co_await of->listener.drain(std::max(end - clock.now(), to_write));
}

namespace detail
{

COMCP_DECL int run_http(const std::shared_ptr<server_core>& served, std::string_view where, http_server_options options)
{
    try {
        http::listen_address at = http::listen_address::parse(where).value();
        asio::io_context io(1);
        options.single_threaded().path(std::move(at.path));
        http_server server(io.get_executor(), served, std::move(options));
        if (at.socket.empty()) server.bind(at.host, at.port);
        else server.bind_unix(at.socket);
        run_until_signal(io, server, served->options.limits.close, server.url());
        return 0;
    } catch (const std::exception& e) {
        return tell_failure(e.what());
    }
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
