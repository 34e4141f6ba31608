// SPDX-License-Identifier: MIT
//
// Where an HTTP server listens, as a person writes it: "127.0.0.1:8080/mcp". Not a URL of a client, and no name is
// looked up.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/host.hpp>
#include <comcp/result.hpp>

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

    /// Whether only this machine reaches it.
    bool loopback() const noexcept { return is_loopback(host); }
    /// For clients on this machine.
    std::string url() const
    {
        const bool any = host == "0.0.0.0" || host == "::";
        const authority named{any ? "localhost" : host, port};
        return "http://" + named.text() + path;
    }

    friend bool operator==(const listen_address&, const listen_address&) = default;

    /// Reads `[http://][host]:port[/path]`: "localhost:0", "127.0.0.1:8080/mcp", "[::1]:8080". Without a host it is
    /// localhost, and not every address of the machine. *Errors*: errc::invalid_argument with the reason.
    static result<listen_address> parse(std::string_view text)
    {
        constexpr std::string_view scheme = "http://";
        if (text.starts_with("https://")) return wrong(text, "this server speaks no TLS: write http:// or nothing");
        std::string_view rest = text.starts_with(scheme) ? text.substr(scheme.size()) : text;
        listen_address out;
        if (const std::size_t slash = rest.find('/'); slash != rest.npos) {
            out.path = rest.substr(slash);
            rest = rest.substr(0, slash);
            if (!valid_target(out.path) || out.path.find('?') != out.path.npos) {
                return wrong(text, "the path has characters that must be encoded, or a query");
            }
        }
        const std::size_t colon = rest.rfind(':');
        if (colon == rest.npos || rest.ends_with(']'))
            return wrong(text, "a port is missing: ':' and a number, 0 for any");
        const std::string_view digits = rest.substr(colon + 1);
        if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos) {
            return wrong(text, "a port is a number from 0 to 65535");
        }
        unsigned port = 0;
        for (const char digit : digits) port = port * 10 + static_cast<unsigned>(digit - '0');
        if (port > 65535) return wrong(text, "a port is a number from 0 to 65535");
        out.port = static_cast<std::uint16_t>(port);
        if (colon == 0) return out;

        result<authority> host = parse_authority(rest.substr(0, colon));
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
