// SPDX-License-Identifier: MIT
//
// What the limits among the middleware have in common: which messages they count, and how they refuse one.
#pragma once

#include <comcp/protocol/methods.hpp>
#include <comcp/session/middleware.hpp>

namespace comcp::inline COMCP_ABI::detail
{

/// Requests are, but for the handshake and the sign of life, without which a session is nothing. Notifications are not.
inline bool is_limited(const middleware_message& message)
{
    return message.is_request && message.method != method::ping && message.method != method::initialize;
}

/// The answer that a session itself gives beyond its limit of requests in flight.
inline middleware_reply too_many_requests()
{
    rpc_error refused{rpc_code::internal_error, "too many requests", json::object()};
    refused.data.get_object()["retryable"] = true;
    return middleware_reply(std::move(refused));
}

} // namespace comcp::inline COMCP_ABI::detail
