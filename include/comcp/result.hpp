// SPDX-License-Identifier: MIT
//
// What pure code returns: a value, or a `fault` that says what is wrong. The fault is a plain value and needs neither
// exceptions nor RTTI; the shell (sessions, clients, servers) turns it into the exception `comcp::error` in one place.
#pragma once

#include <comcp/config.hpp>

#include <boost/json/value.hpp>
#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Why an operation of the library failed, when no error of the operating system says it better.
///
/// The peer's own JSON-RPC errors have the code `errc::refused` and carry the number in `fault::rpc`.
enum class errc {
    refused = 1,      ///< the peer answered with a JSON-RPC error
    timed_out,        ///< a deadline of ours passed
    cancelled,        ///< the caller cancelled the operation
    closed,           ///< the session was closed by us, or was never connected
    peer_gone,        ///< the peer ended, or the connection broke
    parse_error,      ///< the bytes are not JSON
    invalid_message,  ///< JSON, but not the message that was expected here
    invalid_argument, ///< a value given by the caller is out of its range
    too_large,        ///< a message or text is over its limit
    too_deep,         ///< JSON nested deeper than the limit
    too_many,         ///< a count is over its limit
    unsupported,      ///< the peer, the negotiated revision, or comcp here does not have the feature
    not_found,        ///< a program, tool or file that was named does not exist
    spawn_failed,     ///< a child process could not be started
    handler_failed,   ///< a handler of the host failed
    bad_response,     ///< an HTTP response that a Streamable HTTP server must not give
    unauthorized,     ///< HTTP 401: credentials are missing or not valid
    forbidden,        ///< HTTP 403: the credentials do not suffice
    busy,             ///< HTTP 429, or 503 that says when to come again: nothing ran
    session_expired,  ///< the server does not know the session any more (HTTP 404, or it says so); nothing ran
};

} // namespace comcp::inline COMCP_ABI

template <>
struct std::is_error_code_enum<comcp::errc> : std::true_type
{};

namespace comcp::inline COMCP_ABI
{

/// The category of `errc`; its name is "comcp".
inline const std::error_category& comcp_category() noexcept
{
    class category final : public std::error_category
    {
    public:
        const char* name() const noexcept override { return "comcp"; }
        std::string message(int value) const override
        {
            switch (static_cast<errc>(value)) {
            case errc::refused: return "refused by the peer";
            case errc::timed_out: return "timed out";
            case errc::cancelled: return "cancelled";
            case errc::closed: return "closed";
            case errc::peer_gone: return "the peer is gone";
            case errc::parse_error: return "not JSON";
            case errc::invalid_message: return "not the expected message";
            case errc::invalid_argument: return "invalid argument";
            case errc::too_large: return "over the size limit";
            case errc::too_deep: return "nested too deep";
            case errc::too_many: return "over the count limit";
            case errc::unsupported: return "not supported";
            case errc::not_found: return "not found";
            case errc::spawn_failed: return "could not start the process";
            case errc::handler_failed: return "a handler failed";
            case errc::bad_response: return "unexpected HTTP response";
            case errc::unauthorized: return "unauthorized";
            case errc::forbidden: return "forbidden";
            case errc::busy: return "the server is busy";
            case errc::session_expired: return "the session has expired";
            }
            return "unknown error";
        }
    };
    static const category instance;
    return instance;
}

inline std::error_code make_error_code(errc value) noexcept { return {static_cast<int>(value), comcp_category()}; }

/// What is known about the fate of a request.
enum class outcome {
    completed,  ///< it ran and gave a result
    tool_error, ///< the tool ran and reported a failure (`isError`)
    refused,    ///< the peer answered with a JSON-RPC error
    not_sent,   ///< it certainly never reached the peer
    unknown,    ///< it was sent and not answered: it may have run
};

/// A JSON-RPC error object: a code, a sentence, and data of any shape (null when absent).
struct rpc_error
{
    std::int64_t code = 0;
    std::string message;
    json::value data;
};

/// What an HTTP server said with a status that is no success.
struct http_error
{
    int status = 0;
    std::string challenge; ///< WWW-Authenticate, all of it; empty when absent
    std::optional<std::chrono::seconds> retry_after;
};

/// The JSON-RPC error codes of the specification (2025-11-25, base protocol, and JSON-RPC 2.0).
namespace rpc_code
{
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int resource_not_found = -32002;
} // namespace rpc_code

/// A failure as a value: the code, a sentence for a person, and what is known about the request.
struct fault
{
    std::error_code code;
    std::string text;
    comcp::outcome fate = comcp::outcome::not_sent;
    std::string method;                     ///< of the request that failed; empty when there was none
    std::string id;                         ///< its JSON-RPC id as text; empty when it was not sent
    std::shared_ptr<const rpc_error> rpc;   ///< the peer's error object, when it sent one
    std::shared_ptr<const http_error> http; ///< the HTTP status, when it was one that failed

    fault() = default;
    fault(errc value, std::string what) : code(make_error_code(value)), text(std::move(what)) {}
    fault(std::error_code value, std::string what) : code(value), text(std::move(what)) {}
};

/// A value or a fault. `value()` of a fault throws `comcp::error` where exceptions are on (include error.hpp).
template <class T>
using result = boost::system::result<T, fault>;

/// Makes a fault in one expression: `return fail(errc::too_deep, "arguments nest deeper than 64")`.
inline fault fail(errc value, std::string what) { return fault(value, std::move(what)); }

[[noreturn]] void throw_fault(fault what); // error.hpp

/// Found by `boost::system::result` when the value of a fault is asked for.
[[noreturn]] inline void throw_exception_from_error(const fault& what, const boost::source_location&)
{
    throw_fault(what);
}

} // namespace comcp::inline COMCP_ABI
