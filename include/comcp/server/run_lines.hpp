// SPDX-License-Identifier: MIT
//
// A server that speaks lines over sockets, TCP or Unix, each connection a session of its own: in one object on the
// host's io_context, or as a whole program in one call. Not for HTTP: that is run_http.hpp.
#pragma once

#include <comcp/config.hpp>
#include <comcp/server/server.hpp>
#include <comcp/task.hpp>

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{
class line_core;
}

/// Options of a line server, set before it is made.
class line_server_options
{
public:
    /// Sessions at the same time; a further connection is closed at once.
    line_server_options& connections(std::size_t most)
    {
        connections_ = most;
        return *this;
    }
    /// Who may connect to a Unix socket: the permissions of its file, by default only its owner.
    line_server_options& mode(mode_t of_file)
    {
        mode_ = of_file;
        return *this;
    }
    /// Lets everybody who reaches the machine call the tools. Without it only addresses of this machine can be listened
    /// at. Lines know no credentials.
    line_server_options& allow_unauthorized_remote(bool on = true)
    {
        remote_ = on;
        return *this;
    }
    /// One thread runs everything: sessions do without strands. The server is then used on that thread only.
    line_server_options& single_threaded(bool on = true)
    {
        single_threaded_ = on;
        return *this;
    }

    // For the library.
    std::size_t most_connections() const { return connections_; }
    mode_t file_mode() const { return mode_; }
    bool remote_allowed() const { return remote_; }
    bool is_single_threaded() const { return single_threaded_; }

private:
    std::size_t connections_ = 4096;
    mode_t mode_ = 0600;
    bool remote_ = false;
    bool single_threaded_ = false;
};

/// Serves a server's tools over sockets. Destroying it closes it at once.
///
/// Thread rule: any thread, unless the options say that it is single-threaded; one thread at a time until `serve()`.
/// It, its server and the io_context may end in any order.
class line_server
{
public:
    /// `ex` is an executor of the `io_context` that everything runs on.
    template <class Policy>
    line_server(executor ex, basic_server<Policy>& served, line_server_options options = {})
        : line_server(std::move(ex), served.core(), options)
    {}
    line_server(executor ex, std::shared_ptr<detail::server_core> served, line_server_options options);
    line_server(const line_server&) = delete;
    line_server& operator=(const line_server&) = delete;
    /// Like `close()`.
    ~line_server();

    /// Listens at "unix:PATH", "unix:@name" (Linux, without a file: everybody on the machine reaches it) or
    /// "tcp:HOST:PORT", where the host is an IP address or "localhost" and port 0 takes a free one. What a dead server
    /// left at PATH is replaced, anything else stays and is an error; the file goes when the server stops. May be
    /// called several times before `serve()`.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for what is no such address, and for one that other
    /// machines reach.
    void bind(std::string_view where);
    /// What a client on this machine connects to: the first address with its port; empty before `bind`.
    std::string where() const;

    /// Serves until the server is closed or drained.
    ///
    /// *Errors*: errc::invalid_argument when a blocking tool has no executor. When the system has no descriptor for a
    /// connection, it tries again after 10 ms, up to 1 s. *Cancellation*: closes it at once, and returns when nothing
    /// is left.
    task<void> serve();
    /// Accepts nothing any more and reads nothing any more, gives calls that run `patience` to end (and no longer than
    /// the server's close limit), and returns when no session is left. *Cancellation*: as that of `serve()`.
    task<void> drain(duration patience);
    /// Closes everything at once; `serve()` returns when nothing is left.
    void close();

    /// Sessions that live.
    std::size_t sessions() const;

private:
    std::shared_ptr<detail::line_core> core_;
};

namespace detail
{

/// Runs a server on an `io_context` of its own until a signal; gives the exit status.
int run_lines(const std::shared_ptr<server_core>& served, std::string_view where, line_server_options options);

} // namespace detail

/// Serves on an `io_context` of its own at `where` ("unix:/run/app.sock", "tcp:localhost:7000") until SIGTERM or
/// SIGINT: then calls that run get the server's close limit (10 s) to end. A second signal ends it at once. Writes the
/// address to stderr, and nothing to stdout.
///
/// *Result*: the exit status: 0 after a signal, 1 after an error, which is told on stderr.
template <class Policy>
int run_lines(basic_server<Policy>& served, std::string_view where, line_server_options options = {})
{
    return detail::run_lines(served.core(), where, options);
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/run_lines.ipp>
#endif
