// SPDX-License-Identifier: MIT
//
// The bridge as a program: see transport/bridge.hpp.
#pragma once

#include <comcp/transport/bridge.hpp>

#include <comcp/detail/tell.hpp>
#include <comcp/http/client_transport.hpp>
#include <comcp/policy/reconnect.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/byte_bridge.hpp>
#include <comcp/transport/connect.hpp>
#include <comcp/transport/message_bridge.hpp>
#include <comcp/transport/stdio.hpp>
#include <comcp/transport/taken_standard.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/signal_set.hpp>
#else
#include <asio/signal_set.hpp>
#endif

#include <signal.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// The loop of a bridge. While a name is looked up its destructor would wait for the answer, which nobody needs any
/// more: then the loop is left to the process, as it is.
class bridge_loop
{
public:
    bridge_loop() = default;
    bridge_loop(const bridge_loop&) = delete;
    bridge_loop& operator=(const bridge_loop&) = delete;
    ~bridge_loop()
    {
        if (is_looking_up(*io_)) static_cast<void>(io_.release());
    }
    asio::io_context& operator*() { return *io_; }

private:
    std::unique_ptr<asio::io_context> io_ = std::make_unique<asio::io_context>(1);
};

/// Runs a bridge of either kind until its end. A signal ends it in order, and at once while it is still opening.
/// *Errors*: those of its beginning.
template <class Bridge>
fault run_to_its_end(asio::io_context& io, const std::shared_ptr<Bridge>& bridge)
{
    asio::signal_set signals(io, SIGTERM, SIGINT);
    asio::cancellation_signal opening;
    bool given_up = false;
    signals.async_wait([&, weak = std::weak_ptr(bridge)](io_error_code failed, int) {
        const auto held = weak.lock();
        if (failed || !held) return;
        if (held->begun()) return held->stop();
        given_up = true;
        opening.emit(asio::cancellation_type::terminal);
    });
    fault ended;
    std::exception_ptr failure;
    const auto at_end = [&](std::exception_ptr thrown, fault why) {
        failure = thrown;
        ended = std::move(why);
        io.stop();
    };
    asio::co_spawn(io, Bridge::run(bridge), asio::bind_cancellation_slot(opening.slot(), at_end));
    io.run();
    if (given_up) return fault();
    if (failure) std::rethrow_exception(failure);
    return ended;
}

inline fault bridge_bytes(socket_address to, const bridge_options& options)
{
    taken_standard standard;
    if (!standard.take()) return fail(errc::not_found, "stdin, stdout and stderr must be open to bridge them");
    bridge_loop loop;
    asio::io_context& io = *loop;
    const auto bridge = std::make_shared<byte_bridge>(io.get_executor(), standard.input(), standard.output(),
                                                      std::move(to), options.connect_time(), options.limits);
    return run_to_its_end(io, bridge);
}

inline fault bridge_messages(http::client_settings to, const bridge_options& options)
{
    for (const http::field& each : options.fields()) to.fields.set(each.name, each.value);
    if (options.door()) to.door = options.door();
    to.bounds = options.limits;
    to.times.connect = options.connect_time();
    // A few seconds: an application that stays away is gone, and the host is to hear of it.
    to.reconnect = [policy = policy::exponential().at_most(3)](const reconnect_facts& facts) {
        return policy.delay(facts);
    };
    bridge_loop loop;
    asio::io_context& io = *loop;
    const auto bridge = std::make_shared<message_bridge>(io.get_executor(), make_stdio_transport(options.limits),
                                                         http::make_client_transport(std::move(to)), options.limits);
    return run_to_its_end(io, bridge);
}

} // namespace detail

COMCP_DECL int run_bridge(std::string_view where, bridge_options options)
{
    try {
        const bool lines = where.starts_with("unix:") || where.starts_with("tcp:");
        const fault ended = lines ? detail::bridge_bytes(socket_address::parse(where).value(), options)
                                  : detail::bridge_messages(http::settings_for(where).value(), options);
        return ended.code ? detail::tell_failure(ended.text) : 0;
    } catch (const error& e) {
        return detail::tell_failure(e.text());
    } catch (const std::exception& e) {
        return detail::tell_failure(e.what());
    }
}

} // namespace comcp::inline COMCP_ABI
