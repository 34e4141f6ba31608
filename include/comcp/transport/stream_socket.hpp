// SPDX-License-Identifier: MIT
//
// One type for connected stream sockets of every family, TCP and Unix alike, so that what stands over them is compiled
// once. Not for connecting (connect.hpp) and not for accepting (acceptor.hpp).
#pragma once

#include <comcp/transport/asio_ip.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/generic/stream_protocol.hpp>
#else
#include <asio/generic/stream_protocol.hpp>
#endif

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

using stream_protocol = asio::generic::stream_protocol;
using stream_socket = stream_protocol::socket;

namespace detail
{

inline asio::ip::tcp::endpoint tcp_endpoint(const stream_protocol::endpoint& from)
{
    asio::ip::tcp::endpoint out(from.protocol().family() == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), 0);
    if (from.size() <= out.capacity()) std::memcpy(out.data(), from.data(), from.size());
    return out;
}

/// The address of a Unix socket; its path was checked.
inline stream_protocol::endpoint unix_endpoint(std::string_view path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    std::size_t size = offsetof(sockaddr_un, sun_path) + path.size();
    if (path.front() == '@') address.sun_path[0] = '\0';
    else ++size; // the zero at its end
    return stream_protocol::endpoint(&address, size, 0);
}

/// The address of a peer for logs: "127.0.0.1:4711", or "local".
inline std::string peer_text(const stream_socket& of)
{
    io_error_code failed;
    const stream_protocol::endpoint peer = of.remote_endpoint(failed);
    if (failed) return {};
    const int family = peer.protocol().family();
    if (family != AF_INET && family != AF_INET6) return "local";
    const asio::ip::tcp::endpoint address = tcp_endpoint(peer);
    return address.address().to_string() + ":" + std::to_string(address.port());
}

/// Small messages must not wait for the acknowledgement of the last one. Does nothing for a Unix socket.
inline void send_at_once(stream_socket& socket) noexcept
{
    const int on = 1;
    static_cast<void>(::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

} // namespace detail
} // namespace comcp::inline COMCP_ABI
