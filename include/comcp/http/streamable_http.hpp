// SPDX-License-Identifier: MIT
//
// How a client names a server over Streamable HTTP. A description only: it connects to nothing and can be copied; the
// transport is in http/client_transport.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/http/client_transport.hpp>
#include <comcp/http/sse_transport.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/transport/settings.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// A server at a URL: `comcp::client c(comcp::streamable_http("http://127.0.0.1:8080/mcp"), comcp::identity(...));`
///
/// Speaks 2025-03-26 to 2025-11-25, and the HTTP+SSE of 2024-11-05 with servers that know only that. A session that the
/// server has forgotten is made anew by the client; a stream that breaks is resumed where the server offers it.
/// "http://unix:/run/app.sock:/mcp" is the endpoint "/mcp" behind a Unix socket.
class streamable_http
{
public:
    /// *Errors*: errc::invalid_argument when it is neither an absolute http or https URL nor a Unix socket.
    explicit streamable_http(std::string_view endpoint) : settings_(http::settings_for(endpoint).value()) {}

    /// A field of every request, such as Authorization. It goes to this URL's origin only, and into no log and error.
    /// *Errors*: errc::invalid_argument for bad characters, and for what the transport itself writes.
    streamable_http& header(std::string_view name, std::string_view value)
    {
        http::check_host_field(name, value).value();
        settings_.fields.set(name, value);
        return *this;
    }
    /// The time for each TCP (and TLS) connection; that of the client's policy when not set.
    /// *Errors* of all times: errc::invalid_argument for zero.
    streamable_http& connect_within(duration value)
    {
        connect_ = policy::checked_limit(value);
        return *this;
    }
    /// From a request to the head of its response; without it only the call's own time counts.
    streamable_http& answer_within(duration value)
    {
        settings_.times.head = policy::checked_limit(value);
        return *this;
    }
    /// From the head of a stream of events to its first bytes, and the longest silence after those. A stream that is
    /// silent for longer is taken as broken, and resumed if it can be. For servers that send comments to keep it alive.
    streamable_http& silence_within(duration first, duration later)
    {
        settings_.times.first_event = policy::checked_limit(first);
        settings_.times.idle = policy::checked_limit(later);
        return *this;
    }
    /// Lets redirects (307 and 308 only, at most 3) lead to other origins, never from https to http, as long as no
    /// session has begun: in practice that of `initialize`. All that follows then goes there, and the fields set with
    /// `header` stay behind. The id of a session is for its own origin, so a request of one that is sent to another
    /// origin ends as errc::bad_response, whatever is set here.
    streamable_http& follow_other_origins(bool value = true)
    {
        settings_.other_origins = value;
        return *this;
    }
    /// Whether a stream is opened for what the server says outside of requests; on by default.
    streamable_http& listen(bool value)
    {
        settings_.listens = value;
        return *this;
    }
    /// Whether HTTP+SSE (2024-11-05) is tried when the server knows no POST at the URL, that is, when it answers the
    /// first one with 405, or with 400 or 404 and no JSON-RPC error; on by default.
    ///
    /// What was found is remembered for an hour in this description and its copies: clients that connect again ask for
    /// the old stream at once, and for Streamable HTTP in the same attempt when the answer is no such stream.
    streamable_http& sse_fallback(bool value)
    {
        sse_ = value ? sse_use::fallback : sse_use::never;
        return *this;
    }
    /// For HTTP+SSE behind a proxy that takes a prefix like "/api" off the paths which its server sees, and so names
    /// its endpoint without: it is put before that path. *Errors*: errc::invalid_argument when it is no path.
    streamable_http& endpoint_prefix(std::string_view path)
    {
        const bool whole = path.starts_with('/') && !path.starts_with("//") && !path.ends_with('/');
        if (!whole || path.find('?') != path.npos || !settings_.to.resolve(path))
            throw_fault(fail(errc::invalid_argument, "a prefix is a path like \"/api\""));
        settings_.endpoint_prefix = std::string(path);
        return *this;
    }
    /// Connections that may be open for requests at the same time (256); further requests wait.
    /// *Errors*: errc::invalid_argument for zero.
    streamable_http& connections(std::size_t most)
    {
        if (most == 0) throw_fault(fail(errc::invalid_argument, "without connections nothing can be asked"));
        settings_.connections = most;
        return *this;
    }
    /// Another way to connect: one of the host for https, since comcp brings no TLS yet, or `http::unix_connector`.
    streamable_http& connector(std::unique_ptr<http::connector> door)
    {
        settings_.door = std::move(door);
        return *this;
    }

    const http::url& endpoint() const noexcept { return settings_.to; }

private:
    friend std::unique_ptr<transport> make_transport(const streamable_http& of, const transport_settings& with)
    {
        http::client_settings settings = of.settings_;
        settings.bounds = with.limits;
        settings.times.connect = of.connect_.value_or(with.connect);
        settings.reconnect = with.reconnect;
        settings.random = with.random;
        switch (of.sse_) {
        case sse_use::never: return http::make_client_transport(std::move(settings));
        case sse_use::only: return http::make_sse_transport(std::move(settings));
        case sse_use::fallback: break;
        }
        return http::make_fallback_transport(std::move(settings));
    }
    friend streamable_http http_sse(std::string_view endpoint);

    enum class sse_use {
        never,
        fallback,
        only,
    };

    http::client_settings settings_;
    std::optional<duration> connect_;
    sse_use sse_ = sse_use::fallback;
};

/// A server at a URL that is known to speak only the old HTTP+SSE transport (2024-11-05): nothing else is tried. The
/// URL is that of the stream, often ".../sse". *Errors*: as those of `streamable_http`.
inline streamable_http http_sse(std::string_view endpoint)
{
    streamable_http out(endpoint);
    out.sse_ = streamable_http::sse_use::only;
    return out;
}

} // namespace comcp::inline COMCP_ABI
