// SPDX-License-Identifier: MIT
//
// Where a stream socket is, as a person writes it: "unix:/run/app.sock" or "tcp:127.0.0.1:7000". Only the text: nothing
// is looked up, and no file is touched.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/host.hpp>
#include <comcp/result.hpp>

#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

struct host_and_port
{
    std::string_view host;
    std::uint16_t port = 0;
};

/// "host:port", where the port may be 0: any that is free. *Errors*: errc::invalid_argument with the reason.
inline result<host_and_port> split_port(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos || text.ends_with(']'))
        return fail(errc::invalid_argument, "a port is missing: ':' and a number, 0 for any");
    const std::string_view digits = text.substr(colon + 1);
    unsigned port = 65536;
    if (!digits.empty() && digits.size() <= 5 && digits.find_first_not_of("0123456789") == digits.npos) {
        port = 0;
        for (const char digit : digits) port = port * 10 + static_cast<unsigned>(digit - '0');
    }
    if (port > 65535) return fail(errc::invalid_argument, "a port is a number from 0 to 65535");
    return host_and_port{text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

} // namespace detail

/// A Unix socket, or a host and port.
struct socket_address
{
    std::string path;       ///< of a Unix socket, "@name" for one of Linux without a file; empty: TCP
    std::string host;       ///< IPv6 without brackets
    std::uint16_t port = 0; ///< 0: a free one, for a server

    bool is_unix() const noexcept { return !path.empty(); }
    /// Whether only this machine reaches it.
    bool local() const noexcept { return is_unix() || http::is_loopback(host); }
    /// As `parse` reads it.
    std::string text() const
    {
        if (is_unix()) return "unix:" + path;
        return "tcp:" + http::authority{host, port}.text();
    }

    friend bool operator==(const socket_address&, const socket_address&) = default;

    /// Reads "unix:PATH" or "tcp:HOST:PORT". A path begins with '/', '.' or '@'; a host is a name, an IPv4 address or
    /// an IPv6 address in brackets. *Errors*: errc::invalid_argument with the reason.
    static result<socket_address> parse(std::string_view text)
    {
        socket_address out;
        if (text.starts_with("unix:")) {
            out.path = text.substr(5);
            if (const result<void> good = check_path(out.path); !good) return wrong(text, good.error().text);
            return out;
        }
        if (!text.starts_with("tcp:")) return wrong(text, "write unix:PATH or tcp:HOST:PORT");
        const result<detail::host_and_port> place = detail::split_port(text.substr(4));
        if (!place) return wrong(text, place.error().text);
        result<http::authority> host = http::parse_authority(place->host);
        if (!host) return wrong(text, host.error().text);
        if (host->port) return wrong(text, "an IPv6 address stands in brackets");
        out.host = std::move(host->host);
        out.port = place->port;
        return out;
    }

    /// Whether a Unix socket can have this path. *Errors*: errc::invalid_argument with the reason.
    static result<void> check_path(std::string_view path)
    {
        constexpr std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
        if (path.empty() || std::string_view("/.@").find(path.front()) == std::string_view::npos)
            return fail(errc::invalid_argument, "the path of a Unix socket begins with '/', '.' or '@'");
        if (path.size() < 2 || path.find('\0') != path.npos)
            return fail(errc::invalid_argument, "this names no Unix socket");
        if (path.size() > most)
            return fail(errc::invalid_argument, "the path of a Unix socket has at most " + std::to_string(most) +
                                                    " bytes, and not " + std::to_string(path.size()));
        return {};
    }

private:
    static fault wrong(std::string_view text, std::string_view why)
    {
        return fail(errc::invalid_argument, "\"" + std::string(text) + "\" is no socket: " + std::string(why));
    }
};

} // namespace comcp::inline COMCP_ABI
