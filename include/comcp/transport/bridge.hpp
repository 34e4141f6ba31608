// SPDX-License-Identifier: MIT
//
// A program for hosts that can only start processes: its stdin and stdout on one side, a running application on the
// other, behind a TCP port, a Unix socket or an HTTP endpoint. It adds nothing and reads as little as it can. Not a
// gateway: one host, one application, one session.
#pragma once

#include <comcp/error.hpp>
#include <comcp/http/client_settings.hpp>
#include <comcp/limits.hpp>
#include <comcp/policy/timeouts.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Options of a bridge.
class bridge_options
{
public:
    /// `message`, `depth`, `in_flight`, `stream_buffer`, `write_stall` and `close` count.
    comcp::limits limits;

    /// A field of every HTTP request, such as Authorization; without it none is sent that would prove anything.
    /// *Errors*: errc::invalid_argument for bad characters, and for what HTTP itself writes.
    bridge_options& header(std::string_view name, std::string_view value)
    {
        http::check_host_field(name, value).value();
        fields_.set(name, value);
        return *this;
    }
    /// The time for each connection (20 s). *Errors*: errc::invalid_argument for zero.
    bridge_options& connect_within(duration value)
    {
        connect_ = policy::checked_limit(value);
        return *this;
    }
    /// Another way to connect: one of the host for https, since comcp brings no TLS yet.
    bridge_options& connector(std::unique_ptr<http::connector> door)
    {
        door_ = std::move(door);
        return *this;
    }

    // For the library.
    const http::fields& fields() const { return fields_; }
    duration connect_time() const { return connect_; }
    const std::shared_ptr<http::connector>& door() const { return door_; }

private:
    http::fields fields_;
    duration connect_ = std::chrono::seconds(20);
    std::shared_ptr<http::connector> door_;
};

/// Joins this process's stdin and stdout with the application at `where`: "unix:/run/app.sock", "unix:@name",
/// "tcp:localhost:7000", "http://localhost:8080/mcp" or "http://unix:/run/app.sock:/mcp". Everything else the process
/// prints goes to stderr meanwhile.
///
/// Sockets get the bytes as they are. Over HTTP (2025-03-26 to 2025-11-25) each line is a POST of that text; a request
/// that fails there is answered with -32603 and what is known of the failure.
///
/// When the host closes stdin, the application sees that, and answers that are owed still have the close limit (10 s)
/// to come. SIGTERM and SIGINT end it without that. When the application leaves, the bridge ends too. Over HTTP that
/// shows when the stream of its messages ends and cannot be opened again within 3 attempts (at most 7 s, or what the
/// application asked for), and where it has no such stream, with the next message that does not reach it. The session
/// of a bridge that is killed ends at once on a socket, over HTTP by the application's idle limit.
///
/// It also ends when the host, or an application behind a socket, takes nothing of what waits for it for the stall
/// limit (30 s): an end of the other side would not be seen meanwhile.
///
/// A look-up of a name cannot be stopped. A bridge that ends meanwhile does not wait for it: its thread, and the loop
/// that it belongs to, are left to the end of the process.
///
/// *Result*: the exit status: 0 when the host ended it, 1 after an error, which is told on stderr.
int run_bridge(std::string_view where, bridge_options options = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/bridge.ipp>
#endif
