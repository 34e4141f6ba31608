// SPDX-License-Identifier: MIT
//
// Connecting a stream socket within a time limit: to a host and port, or to a Unix socket. Not for what is spoken on
// it.
#pragma once

#include <comcp/limits.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/socket_address.hpp>
#include <comcp/transport/stream_socket.hpp>

#include <string>

namespace comcp::inline COMCP_ABI
{

/// Connects on the executor of the caller.
///
/// TCP: addresses and `localhost` are connected to without a look-up: `localhost` is 127.0.0.1 and, when nobody listens
/// there, ::1. Every other name goes to Asio's resolver, which starts one thread of its own for each execution context,
/// and whose look-up a context that is destroyed waits for. Addresses of a name are tried one after another, each for
/// its share of the time that is left.
///
/// *Errors*, all not_sent and with `name` in the text (the address when it is empty): errc::not_found when there is no
/// such Unix socket; errc::peer_gone with the system's reason; errc::timed_out after `within`.
/// *Cancellation*: terminal; errc::cancelled.
task<stream_socket> connect_socket(socket_address to, duration within, std::string name = {});

namespace detail
{

/// Whether a look-up still runs in the context, so that its destructor would wait.
bool is_looking_up(asio::execution_context& in);

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/connect.ipp>
#endif
