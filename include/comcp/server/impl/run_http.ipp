// SPDX-License-Identifier: MIT
//
// An HTTP server with its sockets, and as a program: see server/run_http.hpp.
#pragma once

#include <comcp/server/run_http.hpp>
#include <comcp/server/run_until_signal.hpp>
#include <comcp/timer.hpp>

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
    const result<void> bound = listener_.bind(host, port);
    if (!bound) throw error(bound.error());
    if (std::exchange(bound_, true)) return;
    first_.host = host;
    first_.port = listener_.port();
}

COMCP_DECL void http_server::bind_unix(std::string_view path, mode_t mode)
{
    const result<void> bound = listener_.bind_unix(path, mode);
    if (!bound) throw error(bound.error());
    if (!std::exchange(bound_, true)) first_.socket = path;
}

COMCP_DECL std::string http_server::url() const { return bound_ ? first_.url() : std::string(); }

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
