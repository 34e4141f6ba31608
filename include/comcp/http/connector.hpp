// SPDX-License-Identifier: MIT
//
// How a client gets from a URL to a connected byte stream: an interface that a host (or the TLS header) can implement,
// and plain TCP. It knows nothing of HTTP.
#pragma once

#include <comcp/http/url.hpp>
#include <comcp/limits.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/any_stream.hpp>

#include <memory>

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

/// TCP. Addresses and `localhost` are connected to without a look-up: `localhost` is 127.0.0.1 and, when nobody
/// listens there, ::1. Every other name goes to Asio's resolver, which starts one thread of its own for each execution
/// context, and whose look-up a context that is destroyed waits for. Addresses of a name are tried one after another,
/// each for its share of the time that is left.
class tcp_connector final : public connector
{
public:
    bool knows(scheme which) const override { return which == scheme::http; }
    task<std::unique_ptr<any_stream>> connect(url to, duration within) override;
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/connector.ipp>
#endif
