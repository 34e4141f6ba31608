// SPDX-License-Identifier: MIT
//
// Accepts connections, TCP and Unix, and serves HTTP/1.1 on them: the sockets of an `http::service`. It runs on the
// user's own io_context and starts no thread. Not for deciding anything about requests, and not for TLS: `serve` takes
// streams that somebody else has accepted.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/service.hpp>
#include <comcp/http/service_limits.hpp>
#include <comcp/result.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/acceptor.hpp>
#include <comcp/transport/any_stream.hpp>
#include <comcp/transport/asio_ip.hpp>

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{
class listener_core;
}

struct listener_options
{
    /// Connections that the system holds until they are accepted.
    int backlog = asio::socket_base::max_listen_connections;
    /// One thread runs the context: connections do without strands. The listener is then used on that thread only.
    bool single_threaded = false;
};

/// Serves a service on any number of addresses. The service must stay until `run()` has returned; after `close()` and
/// after the listener's end it is not asked any more, and only what waits inside of it goes on there.
///
/// Thread rule: any thread, unless it is single-threaded; one thread at a time until `run()`. `ex` belongs to an
/// `io_context`, which may end first.
class listener
{
public:
    listener(executor ex, http::service& service, http_service_limits limits = {}, listener_options options = {});
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    /// Like `close()`.
    ~listener();

    /// Listens at an IP address, or at "localhost": both families with the same port, only IPv4 where IPv6 is down.
    /// Port 0 takes a free one. May be called several times, before `run()`.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for another name.
    result<void> bind(std::string_view host, std::uint16_t port);
    /// Listens at a Unix socket: "/run/app.sock", or "@name" for one of Linux without a file. What a dead server left
    /// there is replaced, anything else stays and is an error. `mode` is that of the file, which goes when the listener
    /// stops.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for a path that a Unix socket cannot have.
    result<void> bind_unix(std::string_view path, mode_t mode = 0600);
    /// Those of TCP.
    std::vector<asio::ip::tcp::endpoint> endpoints() const;
    /// The port of the first of them; 0 when there is none.
    std::uint16_t port() const;

    /// Accepts and serves, until the listener was closed or drained and no connection is left.
    ///
    /// *Errors*: none: when the system has no descriptor or memory for a connection, it tries again after 10 ms, up to
    /// 1 s. *Cancellation*: closes the listener at once, and returns when no connection is left.
    task<void> run();

    /// Serves a connected stream like an accepted connection, while the listener runs. From then on the stream is used
    /// on an executor of the connection's own.
    void serve(std::unique_ptr<any_stream> stream);

    /// Accepts nothing any more, closes idle connections, and ends the others after the request that has begun. It does
    /// not wait.
    void stop();

    /// The same, gives requests in flight `time` to end, cuts them then, and returns when no connection is left.
    ///
    /// *Cancellation*: as that of `run()`.
    task<void> drain(duration time);

    /// Closes everything at once. It does not wait: `run()` returns when nothing is left. With several threads the
    /// sockets are closed by the threads of the context.
    void close();

private:
    std::shared_ptr<detail::listener_core> core_;
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/listener.ipp>
#endif
