// SPDX-License-Identifier: MIT
//
// Name look-up and connecting with one time limit for both.
#pragma once

#include <comcp/transport/connect.hpp>

#include <comcp/detail/waiter.hpp>
#include <comcp/error.hpp>
#include <comcp/timer.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

using tcp_places = std::vector<asio::ip::tcp::endpoint>;

COMCP_DECL tcp_places places_without_look_up(const socket_address& to)
{
    using namespace asio::ip;
    tcp_places out;
    if (const auto v4 = http::parse_ipv4(to.host)) {
        out.emplace_back(address_v4(*v4), to.port);
    } else if (const auto v6 = http::parse_ipv6(to.host)) {
        out.emplace_back(address_v6(*v6), to.port);
    } else if (http::is_loopback(to.host)) {
        out.emplace_back(address_v4::loopback(), to.port);
        out.emplace_back(address_v6::loopback(), to.port);
    }
    return out;
}

/// How many look-ups run in an execution context, waited for or not.
class look_ups final : public asio::execution_context::service
{
public:
    using key_type = look_ups;
    static inline asio::execution_context::id id;

    explicit look_ups(asio::execution_context& context) : asio::execution_context::service(context) {}
    std::atomic<std::size_t> running{0};

private:
    void shutdown() override {}
};

COMCP_DECL bool is_looking_up(asio::execution_context& in) { return asio::use_service<look_ups>(in).running != 0; }

/// A look-up that is waited for. The resolver's handler only knows it weakly: a look-up cannot be stopped.
struct look_up
{
    explicit look_up(const executor& ex) : lot(make_parking_lot(ex)), ended(*lot) {}

    std::shared_ptr<parking_lot> lot;
    waiter ended;
    tcp_places found;
    io_error_code failed = asio::error::timed_out;
};

struct look_up_ended
{
    std::weak_ptr<look_up> of;
    look_ups* all; // of the context that calls

    void operator()(io_error_code failed, const asio::ip::tcp::resolver::results_type& found) const
    {
        --all->running;
        const auto waiting = of.lock();
        if (!waiting) return;
        waiting->failed = failed;
        for (const auto& each : found) waiting->found.push_back(each.endpoint());
        waiting->ended.complete();
    }
};

struct end_look_up
{
    look_up* of;
    void operator()() const { of->ended.complete(); }
};

struct close_socket
{
    stream_socket* socket;
    void operator()() const
    {
        io_error_code ignored;
        socket->close(ignored);
    }
};

COMCP_DECL fault connect_fault(const std::string& name, const io_error_code& failed)
{
    if (failed == asio::error::operation_aborted || failed == asio::error::timed_out)
        return fail(errc::timed_out, "no connection to " + name + " within the time limit");
    return fail(errc::peer_gone, "cannot connect to " + name + ": " + failed.message());
}

COMCP_DECL void throw_if_connecting_was_cancelled(const asio::cancellation_state& asked)
{
    if (is_cancelled(asked)) throw error(fail(errc::cancelled, "connecting was cancelled"));
}

COMCP_DECL task<tcp_places> look_up_places(socket_address to, time_point until, std::string name)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto waiting = std::make_shared<look_up>(ex);
    asio::ip::tcp::resolver resolver(ex);
    timer clock(ex);
    clock.start(until, end_look_up{waiting.get()});
    auto& all = asio::use_service<look_ups>(context_of(ex));
    ++all.running;
    resolver.async_resolve(to.host, std::to_string(to.port), asio::ip::resolver_base::numeric_service,
                           look_up_ended{waiting, &all});
    co_await waiting->ended.wait();
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    throw_if_connecting_was_cancelled(asked);
    if (waiting->failed) throw error(connect_fault(name, waiting->failed));
    co_return std::move(waiting->found);
}

COMCP_DECL task<stream_socket> connect_tcp(socket_address to, duration within, std::string name)
{
    const executor ex = co_await asio::this_coro::executor;
    timer clock(ex);
    const time_point until = deadline_after(clock.now(), within);
    tcp_places places = places_without_look_up(to);
    if (places.empty()) {
        auto looking = look_up_places(to, until, name);
        places = co_await std::move(looking);
    }
    io_error_code failed = asio::error::host_not_found;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const time_point now = clock.now();
        if (now >= until) failed = asio::error::timed_out;
        if (now >= until) break;
        const auto left = static_cast<duration::rep>(places.size() - i);
        stream_socket socket(ex);
        clock.start(until == time_point::max() ? until : now + (until - now) / left, close_socket{&socket});
        const stream_protocol::endpoint place(places[i]);
        co_await socket.async_connect(place, asio::redirect_error(asio::use_awaitable, failed));
        clock.cancel();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        throw_if_connecting_was_cancelled(asked);
        if (failed) continue;
        io_error_code ignored;
        ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);            // also for children of the host
        socket.set_option(asio::socket_base::keep_alive(true), ignored); // a peer that vanished is noticed some day
        send_at_once(socket);
        co_return socket;
    }
    throw error(connect_fault(name, failed));
}

COMCP_DECL fault unix_fault(const std::string& name, int reason)
{
    if (reason == ENOENT) return fail(errc::not_found, "cannot connect to " + name + ": there is no such socket");
    if (reason == ECONNREFUSED) return fail(errc::peer_gone, "cannot connect to " + name + ": nobody listens there");
    return fail(errc::peer_gone, "cannot connect to " + name + ": " + std::generic_category().message(reason));
}

COMCP_DECL task<stream_socket> connect_unix(socket_address to, duration within, std::string name)
{
    const executor ex = co_await asio::this_coro::executor;
    timer clock(ex);
    const time_point until = deadline_after(clock.now(), within);
    const stream_protocol::endpoint place = unix_endpoint(to.path);
    duration pause = std::chrono::milliseconds(1);
    for (;;) {
        stream_socket socket(ex);
        io_error_code failed;
        socket.open(stream_protocol(AF_UNIX, 0), failed);
        if (failed) throw error(unix_fault(name, failed.value()));
        ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        socket.native_non_blocking(true, failed);
        // Not async_connect: a Unix socket whose queue is full says EAGAIN, and then never tells when there is room.
        if (::connect(socket.native_handle(), static_cast<const sockaddr*>(place.data()),
                      static_cast<socklen_t>(place.size())) == 0)
            co_return socket;
        const int reason = errno;
        if (reason == EINTR) continue;
        if (reason != EAGAIN) throw error(unix_fault(name, reason));
        if (clock.now() >= until)
            throw error(fail(errc::timed_out, "no connection to " + name + " within the time limit"));
        co_await clock.wait_for(std::min(pause, until - clock.now()));
        pause = std::min(pause * 2, duration(std::chrono::milliseconds(100)));
    }
}

} // namespace detail

COMCP_DECL task<stream_socket> connect_socket(socket_address to, duration within, std::string name)
{
    if (name.empty()) name = to.text();
    if (to.is_unix()) return detail::connect_unix(std::move(to), within, std::move(name));
    return detail::connect_tcp(std::move(to), within, std::move(name));
}

} // namespace comcp::inline COMCP_ABI
