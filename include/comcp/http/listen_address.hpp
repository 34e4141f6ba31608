// SPDX-License-Identifier: MIT
//
// Where an HTTP server listens, as a person writes it: "127.0.0.1:8080/mcp", "unix:/run/app.sock:/mcp". No name is
// looked up. A client reads only the Unix form of it, which no URL can say: "http://unix:/run/app.sock:/mcp".
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/host.hpp>
#include <comcp/result.hpp>
#include <comcp/transport/socket_address.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

struct listen_address
{
    std::string host = "localhost"; ///< an IP address, IPv6 without brackets, or "localhost": both families
    std::uint16_t port = 0;         ///< 0: a free one
    std::string path = "/mcp";
    std::string socket = {}; ///< of a Unix socket: its path, or "@name"; host and port are then of no use

    /// Whether only this machine reaches it.
    bool loopback() const noexcept { return !socket.empty() || is_loopback(host); }
    /// For clients on this machine.
    std::string url() const
    {
        if (!socket.empty()) return "http://unix:" + socket + ":" + path;
        const bool any = host == "0.0.0.0" || host == "::";
        const authority named{any ? "localhost" : host, port};
        return "http://" + named.text() + path;
    }

    friend bool operator==(const listen_address&, const listen_address&) = default;

    /// Whether a client means a Unix socket by this: "http://unix:" and a path or "@name" (and not a port).
    static bool names_socket(std::string_view text) noexcept
    {
        constexpr std::string_view start = "http://unix:";
        return text.starts_with(start) && text.size() > start.size() &&
               std::string_view("/.@").find(text[start.size()]) != std::string_view::npos;
    }

    /// Reads `[http://][host]:port[/path]`: "localhost:0", "127.0.0.1:8080/mcp", "[::1]:8080". Without a host it is
    /// localhost, and not every address of the machine. Or `[http://]unix:SOCKET[:/path]`: "unix:/run/app.sock:/mcp",
    /// "unix:@name"; the first ':' before a '/' ends the socket's path. *Errors*: errc::invalid_argument with the
    /// reason.
    static result<listen_address> parse(std::string_view text)
    {
        constexpr std::string_view scheme = "http://";
        if (text.starts_with("https://")) return wrong(text, "this server speaks no TLS: write http:// or nothing");
        std::string_view rest = text.starts_with(scheme) ? text.substr(scheme.size()) : text;
        listen_address out;
        const bool is_socket = rest.starts_with("unix:");
        if (is_socket) rest.remove_prefix(5);
        const std::size_t mark = is_socket ? rest.find(":/") : rest.find('/');
        if (mark != rest.npos) {
            out.path = rest.substr(mark + (is_socket ? 1 : 0));
            rest = rest.substr(0, mark);
            if (!valid_target(out.path) || out.path.find('?') != out.path.npos) {
                return wrong(text, "the path has characters that must be encoded, or a query");
            }
        }
        if (is_socket) {
            if (const result<void> good = socket_address::check_path(rest); !good)
                return wrong(text, good.error().text);
            out.socket = rest;
            return out;
        }
        const result<comcp::detail::host_and_port> place = comcp::detail::split_port(rest);
        if (!place) return wrong(text, place.error().text);
        out.port = place->port;
        if (place->host.empty()) return out;

        result<authority> host = parse_authority(place->host);
        if (!host) return wrong(text, host.error().text);
        if (host->port) return wrong(text, "an IPv6 address stands in brackets");
        const bool address = parse_ipv4(host->host) || parse_ipv6(host->host);
        if (!address && host->host != "localhost") return wrong(text, "the host is an IP address or \"localhost\"");
        out.host = std::move(host->host);
        return out;
    }

private:
    static fault wrong(std::string_view text, std::string_view why)
    {
        return fail(errc::invalid_argument,
                    "\"" + std::string(text) + "\" is no address to listen at: " + std::string(why));
    }
};

} // namespace comcp::inline COMCP_ABI::http
