// SPDX-License-Identifier: MIT
//
// Name look-up and connecting with one time limit for both.
#pragma once

#include <comcp/http/connector.hpp>

#include <comcp/detail/waiter.hpp>
#include <comcp/error.hpp>
#include <comcp/timer.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{

using tcp_places = std::vector<asio::ip::tcp::endpoint>;

COMCP_DECL tcp_places places_without_look_up(const url& to)
{
    using namespace asio::ip;
    tcp_places out;
    if (const auto v4 = parse_ipv4(to.host())) {
        out.emplace_back(address_v4(*v4), to.port());
    } else if (const auto v6 = parse_ipv6(to.host())) {
        out.emplace_back(address_v6(*v6), to.port());
    } else if (is_loopback(to.host())) {
        out.emplace_back(address_v4::loopback(), to.port());
        out.emplace_back(address_v6::loopback(), to.port());
    }
    return out;
}

/// A look-up that is waited for. The resolver's handler only knows it weakly: a look-up cannot be stopped.
struct look_up
{
    explicit look_up(const executor& ex) : lot(comcp::detail::make_parking_lot(ex)), ended(*lot) {}

    std::shared_ptr<comcp::detail::parking_lot> lot;
    comcp::detail::waiter ended;
    tcp_places found;
    io_error_code failed = asio::error::timed_out;
};

struct look_up_ended
{
    std::weak_ptr<look_up> of;

    void operator()(io_error_code failed, const asio::ip::tcp::resolver::results_type& found) const
    {
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
    asio::ip::tcp::socket* socket;
    void operator()() const
    {
        io_error_code ignored;
        socket->close(ignored);
    }
};

COMCP_DECL fault connect_fault(const url& to, const io_error_code& failed)
{
    if (failed == asio::error::operation_aborted || failed == asio::error::timed_out)
        return fail(errc::timed_out, "no connection to " + to.origin().text() + " within the time limit");
    return fail(errc::peer_gone, "cannot connect to " + to.origin().text() + ": " + failed.message());
}

COMCP_DECL task<tcp_places> look_up_places(url to, time_point until)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto waiting = std::make_shared<look_up>(ex);
    asio::ip::tcp::resolver resolver(ex);
    timer clock(ex);
    clock.start(until, end_look_up{waiting.get()});
    resolver.async_resolve(to.host(), std::to_string(to.port()), asio::ip::resolver_base::numeric_service,
                           look_up_ended{waiting});
    co_await waiting->ended.wait();
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (comcp::detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "connecting was cancelled"));
    if (waiting->failed) throw error(connect_fault(to, waiting->failed));
    co_return std::move(waiting->found);
}

} // namespace detail

COMCP_DECL task<std::unique_ptr<any_stream>> tcp_connector::connect(url to, duration within)
{
    if (!knows(to.scheme())) throw error(fail(errc::unsupported, "https needs the connector of <comcp/tls.hpp>"));
    const executor ex = co_await asio::this_coro::executor;
    timer clock(ex);
    const time_point until = comcp::detail::deadline_after(clock.now(), within);
    detail::tcp_places places = detail::places_without_look_up(to);
    if (places.empty()) {
        auto looking = detail::look_up_places(to, until);
        places = co_await std::move(looking);
    }
    io_error_code failed = asio::error::host_not_found;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const time_point now = clock.now();
        if (now >= until) failed = asio::error::timed_out;
        if (now >= until) break;
        const auto left = static_cast<duration::rep>(places.size() - i);
        asio::ip::tcp::socket socket(ex);
        clock.start(until == time_point::max() ? until : now + (until - now) / left, detail::close_socket{&socket});
        co_await socket.async_connect(places[i], asio::redirect_error(asio::use_awaitable, failed));
        clock.cancel();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "connecting was cancelled"));
        if (failed) continue;
        io_error_code ignored;
        socket.set_option(asio::socket_base::keep_alive(true), ignored); // a peer that vanished is noticed some day
        co_return std::make_unique<tcp_stream>(std::move(socket));
    }
    throw error(detail::connect_fault(to, failed));
}

} // namespace comcp::inline COMCP_ABI::http
