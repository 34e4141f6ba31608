// SPDX-License-Identifier: MIT
//
// The client's side of Streamable HTTP (2025-03-26 to 2025-11-25, transports): every message is a POST, whose response
// is JSON or a stream of events; a stream that breaks is resumed; a GET stream brings what belongs to no request.
// Not for deciding when a new session is made or a request repeated: that is the client's (client/).
#pragma once

#include <comcp/http/client_settings.hpp>
#include <comcp/transport/concept.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI::http
{

/// A transport that talks to one MCP endpoint, for one session. Opening it connects to nothing yet.
///
/// Failures of a request are events (`exchange_failed`) with the errors
/// - errc::peer_gone, errc::timed_out: no connection, or it broke; with HTTP status:
/// - errc::session_expired, errc::unauthorized, errc::forbidden, errc::busy, errc::bad_response; `fault::http` has the
///   status, the challenge and the delay that the server asked for.
///
/// Nothing is ever sent twice, but for a request of which not a byte was written, and for GET and DELETE.
///
/// *Errors* of opening: errc::unsupported for https without a TLS connector.
std::unique_ptr<transport> make_client_transport(client_settings with);

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/client_exchange.ipp>
#include <comcp/http/impl/client_hub.ipp>
#include <comcp/http/impl/client_transport.ipp>
#endif
