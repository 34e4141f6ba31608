// SPDX-License-Identifier: MIT
//
// Line-framed messages over one socket, TCP or Unix, as both sides use it. Users name a server with
// transport/line_socket.hpp and serve with server/run_lines.hpp; a host with a socket of its own uses this.
#pragma once

#include <comcp/transport/concept.hpp>
#include <comcp/transport/socket_address.hpp>
#include <comcp/transport/stream_socket.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI
{

/// A client's transport: opening it connects within a time limit. *Errors* of opening: those of `connect_socket`.
std::unique_ptr<transport> make_socket_transport(socket_address to, duration connect_within, const limits& bounds = {});

/// A server's transport over a connection that was accepted, on whose executor it is opened. A peer that begins with
/// something else than JSON is cut off at once: a page in a browser can make it send lines to a port of this machine,
/// which begin with those of HTTP.
std::unique_ptr<transport> make_socket_transport(stream_socket accepted, const limits& bounds = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/socket_transport.ipp>
#endif
