// SPDX-License-Identifier: MIT
//
// Binding and accepting: see transport/acceptor.hpp.
#pragma once

#include <comcp/transport/acceptor.hpp>

#include <comcp/detail/descriptor.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/transport/socket_address.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

inline constexpr duration first_pause = std::chrono::milliseconds(10);
inline constexpr duration longest_pause = std::chrono::seconds(1);

struct acceptor::resume_one
{
    waiter* who;
    void operator()() const { who->complete(); }
};

struct acceptor::ended
{
    ended(acceptor& of, std::shared_ptr<accept_sink> to) : from(&of), sink(std::move(to)) {}
    void operator()(std::exception_ptr) const
    {
        --from->accepting_;
        sink->accepting_ended();
    }
    acceptor* from;
    std::shared_ptr<accept_sink> sink;
};

// ---- TCP

COMCP_DECL result<void> acceptor::bind(std::string_view host, std::uint16_t port)
{
    if (http::equal_ignoring_case(host, "localhost")) return bind_localhost(port);
    io_error_code failed;
    const auto address = asio::ip::make_address(std::string(host), failed);
    if (failed) {
        return fail(errc::invalid_argument,
                    "\"" + std::string(host) + "\" is no address to listen at: give an IP address or \"localhost\"");
    }
    result<socket_acceptor> opened = open({address, port});
    if (!opened) return opened.error();
    add(*std::move(opened));
    return {};
}

COMCP_DECL result<void> acceptor::bind_localhost(std::uint16_t port)
{
    constexpr int attempts = 16; // the port that is free in one family may be taken in the other
    for (int attempt = 1;; ++attempt) {
        result<socket_acceptor> four = open({asio::ip::address_v4::loopback(), port});
        if (!four) return four.error();
        io_error_code ignored;
        const std::uint16_t taken = tcp_endpoint(four->local_endpoint(ignored)).port();
        result<socket_acceptor> six = open({asio::ip::address_v6::loopback(), taken});
        const int reason = six ? 0 : six.error().code.value();
        const bool no_ipv6 = reason == EAFNOSUPPORT || reason == EADDRNOTAVAIL || reason == EPROTONOSUPPORT;
        if (!six && !no_ipv6 && port == 0 && attempt < attempts) continue;
        if (!six && !no_ipv6) return six.error();
        add(*std::move(four));
        if (six) add(*std::move(six));
        return {};
    }
}

COMCP_DECL result<acceptor::socket_acceptor> acceptor::open(const asio::ip::tcp::endpoint& at) const
{
    io_error_code failed;
    const stream_protocol::endpoint place(at);
    socket_acceptor made(home_);
    made.open(place.protocol(), failed);
    // Without it a server that was restarted could not listen while connections of the last one fade away.
    if (!failed) made.set_option(socket_acceptor::reuse_address(true), failed);
    if (!failed && at.address().is_v6()) made.set_option(asio::ip::v6_only(true), failed);
    if (!failed) made.bind(place, failed);
    if (!failed) made.listen(backlog_, failed);
    if (failed) {
        const std::string host = at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
        return fault(std::error_code(failed.value(), std::system_category()),
                     "cannot listen at " + host + ":" + std::to_string(at.port()) + ": " + failed.message());
    }
    ::fcntl(made.native_handle(), F_SETFD, FD_CLOEXEC);
    return made;
}

COMCP_DECL void acceptor::add(socket_acceptor open)
{
    io_error_code ignored;
    const stream_protocol::endpoint at = open.local_endpoint(ignored);
    if (at.protocol().family() != AF_UNIX) endpoints_.push_back(tcp_endpoint(at));
    doors_.push_back(std::make_unique<door>(std::move(open), home_, lot_));
}

// ---- Unix sockets

COMCP_DECL socket_file::socket_file(std::string path)
{
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) return;
    path_ = std::move(path);
    id_ = found.st_ino;
    on_ = found.st_dev;
}

COMCP_DECL void socket_file::remove() noexcept
{
    struct stat found{};
    if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == id_ &&
        found.st_dev == on_)
        ::unlink(path_.c_str());
    path_.clear();
}

COMCP_DECL fault cannot_listen(std::string_view path, int reason, std::string_view why = {})
{
    std::string text = "cannot listen at unix:" + std::string(path) + ": ";
    text += why.empty() ? std::generic_category().message(reason) : std::string(why);
    return fault(std::error_code(reason, std::system_category()), std::move(text));
}

/// Removes a socket that nobody listens at any more.
COMCP_DECL result<void> remove_stale_socket(const std::string& path)
{
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return cannot_listen(path, errno);
    }
    if (!S_ISSOCK(found.st_mode)) return cannot_listen(path, EEXIST, "it is there, and is no socket");
    const unique_fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (probe.get() < 0) return cannot_listen(path, errno);
    const stream_protocol::endpoint place = unix_endpoint(path);
    const int refused =
        ::connect(probe.get(), static_cast<const sockaddr*>(place.data()), static_cast<socklen_t>(place.size())) == 0
            ? EADDRINUSE
            : errno;
    if (refused == EADDRINUSE || refused == EAGAIN) return cannot_listen(path, EADDRINUSE, "somebody listens there");
    if (refused != ECONNREFUSED && refused != ENOENT) return cannot_listen(path, refused);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot_listen(path, errno);
    return {};
}

COMCP_DECL result<void> acceptor::bind_unix(std::string_view path, mode_t mode)
{
    if (result<void> good = socket_address::check_path(path); !good) return good.error();
    const bool named = path.front() != '@';
    const std::string file(path);
    if (named) {
        if (result<void> free = remove_stale_socket(file); !free) return free.error();
    }
    io_error_code failed;
    socket_acceptor made(home_);
    made.open(stream_protocol(AF_UNIX, 0), failed);
    if (!failed) made.bind(unix_endpoint(path), failed);
    if (failed) return cannot_listen(path, failed.value());
    ::fcntl(made.native_handle(), F_SETFD, FD_CLOEXEC);
    socket_file owned = named ? socket_file(file) : socket_file();
    // Before it listens nobody can connect, whatever the umask of the process is.
    if (named && ::chmod(file.c_str(), mode) != 0) return cannot_listen(path, errno);
    made.listen(backlog_, failed);
    if (failed) return cannot_listen(path, failed.value());
    add(std::move(made));
    doors_.back()->file = std::move(owned);
    return {};
}

// ---- accepting

COMCP_DECL void acceptor::start(const std::shared_ptr<accept_sink>& sink)
{
    if (stopped_) return;
    for (const auto& each : doors_) {
        ++accepting_;
        asio::co_spawn(home_, accept(*this, sink, *each), ended(*this, sink));
    }
}

COMCP_DECL task<void> acceptor::accept(acceptor& self, std::shared_ptr<accept_sink> sink, door& from)
{
    duration wait = first_pause;
    while (!self.stopped_) {
        io_error_code failed;
        const executor home = sink->next_home();
        stream_socket peer =
            co_await from.listening->async_accept(home, asio::redirect_error(asio::use_awaitable, failed));
        if (self.stopped_) break;
        bool taken = false;
        try {
            if (!failed) {
                ::fcntl(peer.native_handle(), F_SETFD, FD_CLOEXEC);
                sink->accepted(std::move(peer));
                taken = true;
            }
        } catch (const std::exception&) { // out of memory
        }
        if (taken) {
            wait = first_pause;
            continue;
        }
        // No descriptors, usually. Connections that end give some back, and accepting at once again would only spin.
        from.pause.start(deadline_after(from.pause.now(), wait), resume_one{&from.paused});
        co_await from.paused.wait();
        wait = std::min(wait * 2, longest_pause);
    }
}

COMCP_DECL void acceptor::stop()
{
    if (std::exchange(stopped_, true)) return;
    for (const auto& each : doors_) {
        io_error_code ignored;
        each->listening->close(ignored);
        each->file.remove();
        each->pause.cancel();
    }
}

COMCP_DECL void acceptor::resume()
{
    for (const auto& each : doors_) each->paused.complete();
}

COMCP_DECL void acceptor::drop()
{
    for (const auto& each : doors_) {
        each->listening.reset();
        each->file.remove();
    }
    home_ = executor();
}

} // namespace comcp::inline COMCP_ABI::detail
