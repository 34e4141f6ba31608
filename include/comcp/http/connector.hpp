// SPDX-License-Identifier: MIT
//
// How a client gets from a URL to a connected byte stream: an interface that a host can implement (for TLS it
// must), plain TCP, and Unix sockets. It knows nothing of HTTP.
#pragma once

#include <comcp/http/url.hpp>
#include <comcp/limits.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/any_stream.hpp>
#include <comcp/transport/socket_address.hpp>

#include <memory>
#include <string>

namespace comcp::inline COMCP_ABI::http
{

/// Thread rule: any executor; several connects at once.
class connector
{
public:
    connector() = default;
    connector(const connector&) = delete;
    connector& operator=(const connector&) = delete;
    virtual ~connector() = default;

    /// Whether URLs of this scheme can be connected to.
    virtual bool knows(scheme which) const = 0;

    /// Connects to the host and port of `to` on the executor of the caller.
    ///
    /// *Errors*: errc::peer_gone with the system's reason, errc::timed_out after `within`; not_sent.
    /// *Cancellation*: terminal; errc::cancelled.
    virtual task<std::unique_ptr<any_stream>> connect(url to, duration within) = 0;
};

/// TCP, as `connect_socket` does it (transport/connect.hpp).
class tcp_connector final : public connector
{
public:
    bool knows(scheme which) const override { return which == scheme::http; }
    task<std::unique_ptr<any_stream>> connect(url to, duration within) override;
};

/// HTTP over one Unix socket, whatever the URL's host and port are.
class unix_connector final : public connector
{
public:
    /// *Errors*: errc::invalid_argument when no Unix socket can have this path.
    explicit unix_connector(std::string path);
    bool knows(scheme which) const override { return which == scheme::http; }
    /// *Errors*: also errc::not_found when there is no such socket.
    task<std::unique_ptr<any_stream>> connect(url to, duration within) override;

private:
    socket_address place_;
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/connector.ipp>
#endif
