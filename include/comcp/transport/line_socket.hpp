// SPDX-License-Identifier: MIT
//
// How a client names a server that speaks lines over a socket. A description only: it connects to nothing and can be
// copied; the transport is in transport/socket_transport.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/transport/settings.hpp>
#include <comcp/transport/socket_transport.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// A server at a socket: `comcp::client c(comcp::line_socket("unix:/run/app.sock"), comcp::identity(...));`
///
/// The framing is that of stdio; nothing proves to one side who the other is, but for the permissions of a Unix
/// socket's file. Connecting fails with errc::not_found when there is no such Unix socket, with errc::peer_gone when
/// nobody listens.
class line_socket
{
public:
    /// "unix:PATH", "unix:@name" or "tcp:HOST:PORT" (transport/socket_address.hpp).
    /// *Errors*: errc::invalid_argument.
    explicit line_socket(std::string_view where) : to_(socket_address::parse(where).value()) {}

    /// The time for the connection; that of the client's policy when not set.
    /// *Errors*: errc::invalid_argument for zero.
    line_socket& connect_within(duration value)
    {
        connect_ = policy::checked_limit(value);
        return *this;
    }

    const socket_address& address() const noexcept { return to_; }

private:
    friend std::unique_ptr<transport> make_transport(const line_socket& of, const transport_settings& with)
    {
        return make_socket_transport(of.to_, of.connect_.value_or(with.connect), with.limits);
    }

    socket_address to_;
    std::optional<duration> connect_;
};

} // namespace comcp::inline COMCP_ABI
