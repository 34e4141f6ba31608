// SPDX-License-Identifier: MIT
//
// What an HTTP client transport is made with: where to, with which fields, through which connector, and its times.
// Users name a server with http/streamable_http.hpp, which fills this in.
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/http/connector.hpp>
#include <comcp/http/fallback_memory.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/listen_address.hpp>
#include <comcp/http/print.hpp>
#include <comcp/http/url.hpp>
#include <comcp/limits.hpp>
#include <comcp/policy/reconnect.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

/// How long the phases of one HTTP exchange may take. A call has its own deadlines above them, so most are unlimited.
struct client_times
{
    duration connect = std::chrono::seconds(20);
    /// From the start of a request to the head of its response.
    duration head = no_limit;
    /// From the head of a stream to its first bytes, and the longest silence after them.
    duration first_event = no_limit;
    duration idle = no_limit;
    /// For what no call waits for: notifications and answers.
    duration notice = std::chrono::seconds(60);
    /// For the rest of a response whose answer has come; then its connection is cut.
    duration rest = std::chrono::seconds(5);
    /// For the body of a refusal, which only says more of it: what has not come by then is not waited for.
    duration refusal = std::chrono::seconds(2);
    /// A connection that is not used is closed.
    duration unused = std::chrono::seconds(30);
    /// How long a server that was found to speak only HTTP+SSE is asked for that first.
    duration remembered = std::chrono::hours(1);
};

struct client_settings
{
    explicit client_settings(url endpoint) : to(std::move(endpoint)), old(std::make_shared<fallback_memory>()) {}

    url to;
    http::fields fields; ///< of the host; sent to the origin of `to` only
    comcp::limits bounds;
    http_limits head;
    client_times times;
    std::shared_ptr<connector> door;      ///< null: TCP
    bool listens = true;                  ///< opens a stream for what the server says outside of requests
    bool other_origins = false;           ///< redirects may lead to other origins, never from https to http
    std::string endpoint_prefix;          ///< of HTTP+SSE: what a proxy takes off the paths that its server sees
    std::shared_ptr<fallback_memory> old; ///< of this endpoint, in all copies
    std::size_t connections = 256;        ///< of requests at the same time; further ones wait
    std::size_t idle_connections = 8;
    /// Before a stream that ended is opened again; empty: never.
    std::function<std::optional<duration>(const reconnect_facts&)> reconnect;
    comcp::detail::random_source random = ::getrandom;
};

/// The settings for an endpoint: an absolute http or https URL, or "http://unix:/run/app.sock:/mcp" for HTTP over a
/// Unix socket (http/listen_address.hpp), whose requests name the host localhost. *Errors*: errc::invalid_argument.
inline result<client_settings> settings_for(std::string_view endpoint)
{
    if (!listen_address::names_socket(endpoint)) {
        result<url> to = url::parse(endpoint);
        if (!to) return std::move(to).error();
        return client_settings(*std::move(to));
    }
    result<listen_address> at = listen_address::parse(endpoint);
    if (!at) return std::move(at).error();
    result<url> to = url::parse("http://localhost" + at->path);
    if (!to) return std::move(to).error();
    client_settings out(*std::move(to));
    out.door = std::make_shared<unix_connector>(std::move(at->socket));
    return out;
}

/// Whether a host may set this field. *Errors*: `errc::invalid_argument`; the value, which may be a secret, is not in
/// the text.
inline result<void> check_host_field(std::string_view name, std::string_view value)
{
    if (result<void> bad = detail::check_fields(http::fields{{name, value}}); !bad) return bad;
    constexpr std::array<std::string_view, 6> ours{"Accept",         "Accept-Encoding", "Content-Type",
                                                   "Mcp-Session-Id", "Last-Event-ID",   "MCP-Protocol-Version"};
    for (const std::string_view one : ours) {
        if (!equal_ignoring_case(one, name)) continue;
        return fail(errc::invalid_argument, "the field " + std::string(name) + " is the transport's own");
    }
    return {};
}

} // namespace comcp::inline COMCP_ABI::http
