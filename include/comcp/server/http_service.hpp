// SPDX-License-Identifier: MIT
//
// A server over Streamable HTTP, without sockets: requests in, answers and streams out (http::service). It joins the
// judgement on heads, the sessions and the server; whoever has an HTTP server of his own mounts it there.
#pragma once

#include <comcp/http/service.hpp>
#include <comcp/server/http_service_options.hpp>
#include <comcp/server/server.hpp>
#include <comcp/server/session_table.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class http_core;

} // namespace detail

/// Serves a server's tools to any number of HTTP clients; handshake era (2025-03-26 to 2025-11-25, Streamable HTTP; on
/// request also 2024-11-05, HTTP+SSE).
///
/// Thread rule: any thread. Destroying it ends its sessions at once, without waiting; requests that wait are answered
/// with 500, since they may have run. It, its server and the `io_context` may die in any order.
class http_service final : public http::service
{
public:
    /// `ex` is an executor of the `io_context` that everything runs on. *Errors*: errc::invalid_argument for an allowed
    /// host or origin that is none.
    template <class Policy>
    http_service(executor ex, basic_server<Policy>& served, http_service_options options = {})
        : http_service(std::move(ex), served.core(), std::move(options))
    {}
    http_service(executor ex, const std::shared_ptr<detail::server_core>& served, http_service_options options);
    ~http_service() override;

    task<std::optional<http::response>> refuse(http::request& head) override;
    task<http::response> handle(http::request whole) override;
    std::size_t most_body() const override;
    std::shared_ptr<http::budget> memory() const override;

    /// Takes no more requests (503 with Retry-After), lets calls that run end within `patience`, then ends all sessions
    /// and their streams, and waits for that. May be called again with less patience.
    /// *Cancellation*: calls are cancelled; it returns when all sessions have ended, after the server's close limit at
    /// the latest.
    task<void> drain(duration patience);
    /// The same without patience: handlers are cancelled.
    task<void> close() { return drain(duration::zero()); }

    /// Ends everything at once, without waiting; takes no more requests.
    void abandon();

    /// Sessions with an id, and open streams.
    std::size_t sessions() const;
    std::size_t streams() const;

    const http_service_options& options() const;

private:
    friend class http_server;
    /// The first part of `drain`: no more requests, and calls that run end. *Cancellation*: stops waiting.
    task<void> finish_calls(duration patience);

    std::shared_ptr<detail::http_core> core_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/http_old_sse.ipp>
#include <comcp/server/impl/http_service.ipp>
#include <comcp/server/impl/http_takeover.ipp>
#endif
