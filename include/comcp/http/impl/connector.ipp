// SPDX-License-Identifier: MIT
//
// From URLs to sockets.
#pragma once

#include <comcp/http/connector.hpp>

#include <comcp/error.hpp>
#include <comcp/transport/connect.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

COMCP_DECL task<std::unique_ptr<any_stream>> tcp_connector::connect(url to, duration within)
{
    if (!knows(to.scheme()))
        throw error(fail(errc::unsupported, "https needs a connector that speaks TLS, this one does not"));
    socket_address place;
    place.host = to.host();
    place.port = to.port();
    auto connecting = connect_socket(std::move(place), within, to.origin().text());
    stream_socket connected = co_await std::move(connecting);
    co_return std::make_unique<socket_stream>(std::move(connected));
}

COMCP_DECL unix_connector::unix_connector(std::string path)
{
    socket_address::check_path(path).value();
    place_.path = std::move(path);
}

COMCP_DECL task<std::unique_ptr<any_stream>> unix_connector::connect(url, duration within)
{
    auto connecting = connect_socket(place_, within);
    stream_socket connected = co_await std::move(connecting);
    co_return std::make_unique<socket_stream>(std::move(connected));
}

} // namespace comcp::inline COMCP_ABI::http
