// SPDX-License-Identifier: MIT
//
// A server over Streamable HTTP with sockets of its own: in one object on the host's io_context, or as a whole program
// in one call. Whoever has an HTTP server already mounts an http_service there instead.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/listen_address.hpp>
#include <comcp/http/listener.hpp>
#include <comcp/server/http_service.hpp>
#include <comcp/server/server.hpp>

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Options of the service, and what only sockets need.
class http_server_options : public http_service_options
{
public:
    http_server_options() = default;
    http_server_options(http_service_options of_service) : http_service_options(std::move(of_service)) {}

    /// Lets everybody who reaches the machine call the tools. Without it and without `authorize`, only addresses of
    /// this machine can be listened at.
    http_server_options& allow_unauthorized_remote(bool on = true)
    {
        allow_unauthorized_remote_ = on;
        return *this;
    }

    // For the library.
    bool remote_allowed() const { return allow_unauthorized_remote_ || authorizer(); }

private:
    bool allow_unauthorized_remote_ = false;
};

/// Serves a server's tools over HTTP. Destroying it closes it at once.
///
/// Thread rule: any thread, unless the options say that it is single-threaded. It, its server and the io_context may
/// end in any order; where several threads run the context, that ends after `serve()` has returned.
class http_server
{
public:
    /// `ex` is an executor of the `io_context` that everything runs on. *Errors*: errc::invalid_argument for an allowed
    /// host or origin that is none.
    template <class Policy>
    http_server(executor ex, basic_server<Policy>& served, http_server_options options = {})
        : http_server(std::move(ex), served.core(), std::move(options))
    {}
    http_server(executor ex, const std::shared_ptr<detail::server_core>& served, http_server_options options);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    /// Like `close()`.
    ~http_server() { close(); }

    /// Listens at an IP address, or at "localhost": both families with the same port. Port 0 takes a free one. May be
    /// called several times before `serve()`.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for another name, and for an address that other machines
    /// reach when nobody is authorized there.
    void bind(std::string_view host, std::uint16_t port);
    /// Listens at a Unix socket: "/run/app.sock", or "@name" for one of Linux without a file, which everybody on the
    /// machine reaches. What a dead server left there is replaced, anything else stays and is an error. Others than the
    /// owner of the file can connect as `mode` says.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for a path that a Unix socket cannot have.
    void bind_unix(std::string_view path, mode_t mode = 0600);
    /// The port of the first TCP address; 0 when there is none.
    std::uint16_t port() const { return parts_->listener.port(); }
    /// What a client on this machine connects to: the first address; empty before `bind`.
    std::string url() const;

    /// Serves until the server is closed or drained.
    ///
    /// *Cancellation*: closes the listener and cuts all connections, cancels the calls that run and ends all sessions;
    /// it returns when nothing of that is left: at once, or for handlers that do not heed it after the server's close
    /// limit.
    task<void> serve();
    /// Accepts nothing any more, gives calls that run `patience` to end, ends sessions and streams, and returns when no
    /// connection is left.
    ///
    /// *Cancellation*: what it waits for is not waited for any longer, but cut, as by cancelling `serve()`. It returns
    /// when nothing is left.
    task<void> drain(duration patience);
    /// Closes everything at once, without waiting; `serve()` returns when no connection is left.
    void close()
    {
        parts_->listener.close();
        parts_->service.abandon();
    }

    const http_service& service() const { return parts_->service; }

private:
    /// Held by `serve` and `drain` too: the server may die while they wait.
    struct parts
    {
        parts(executor ex, const std::shared_ptr<detail::server_core>& served, const http_server_options& options);

        http_service service;
        executor home;           // of `serve` and `drain`
        http::listener listener; // the last: it asks the service
    };
    static task<void> serve_at_home(std::shared_ptr<parts> of);
    static task<void> drain_at_home(std::shared_ptr<parts> of, duration patience);

    std::shared_ptr<parts> parts_;
    bool remote_allowed_;
    bool bound_ = false;
    http::listen_address first_;
};

namespace detail
{

/// Runs a server on an `io_context` of its own until a signal; gives the exit status.
int run_http(const std::shared_ptr<server_core>& served, std::string_view where, http_server_options options);

} // namespace detail

/// Serves on an `io_context` of its own at `where` ("localhost:8080", "127.0.0.1:0/mcp", "unix:/run/app.sock:/mcp",
/// http/listen_address.hpp) until SIGTERM or SIGINT: then calls that run get the server's close limit (10 s) to end. A
/// second signal ends it at once. Writes the URL to stderr, and nothing to stdout.
///
/// *Result*: the exit status: 0 after a signal, 1 after an error, which is told on stderr.
template <class Policy>
int run_http(basic_server<Policy>& served, std::string_view where, http_server_options options = {})
{
    return detail::run_http(served.core(), where, std::move(options));
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/run_http.ipp>
#endif
