// SPDX-License-Identifier: MIT
//
// The client's side of the old HTTP+SSE transport (2024-11-05, transports): one GET stream brings everything, and every
// message of ours is a POST to the endpoint that the stream named first. And the transport that finds out by itself
// which of the two a server speaks.
#pragma once

#include <comcp/http/client_settings.hpp>
#include <comcp/transport/concept.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI::http
{

/// A transport that asks for the stream at once. Its end is the end of the session: nothing is resumed.
///
/// *Errors* of opening, all not_sent: errc::unsupported for https without a TLS connector; errc::timed_out when no
/// endpoint came within the time to connect; errc::bad_response for another answer, and for an endpoint that is none or
/// at another origin; errc::peer_gone, errc::unauthorized, errc::forbidden, errc::busy.
///
/// Failures of a request are events (`exchange_failed`) as over Streamable HTTP; 404 to a POST is
/// errc::session_expired. Nothing is sent twice, but for a request of which not a byte was written.
std::unique_ptr<transport> make_sse_transport(client_settings with);

/// A transport that speaks Streamable HTTP, and HTTP+SSE where the first POST, `initialize`, is answered with 400, 404
/// or 405 and the same URL gives a stream that names an endpoint (2025-11-25, transports: backwards compatibility,
/// E-52). A JSON-RPC error with 400 or 404 comes from a Streamable HTTP server: then it is not tried.
///
/// That a server speaks HTTP+SSE is remembered in the settings, for `client_times::remembered`: until then the stream
/// is asked for first (E-54). Another answer to that is taken for a newer server and forgets it: the POST follows at
/// once. So does, but with the next transport only, a stream that names no endpoint in time. What says nothing about
/// the kind is told as it is: 401, 403, 429, 5xx, no connection.
///
/// Where it did not help, `initialize` fails with the error of the POST, which tells of both; with that of the GET when
/// this was 401 or 403, or named an endpoint that cannot be used.
std::unique_ptr<transport> make_fallback_transport(client_settings with);

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/sse_hub.ipp>
#include <comcp/http/impl/sse_transport.ipp>
#endif
