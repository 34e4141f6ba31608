// SPDX-License-Identifier: MIT
//
// Writes the heads of requests and responses, and small complete responses. What frames a message and steers the
// connection is written from the members of the head, never from fields that somebody else gave. Nothing is written
// that the parsers would not read back as the same message.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/message.hpp>
#include <comcp/http/status.hpp>
#include <comcp/result.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// Whether `print` writes this field itself, or it belongs to the connection: one that a host gives is an error.
constexpr bool is_reserved_field(std::string_view name) noexcept
{
    constexpr std::array<std::string_view, 10> reserved{
        "Host", "Connection", "Content-Length", "Keep-Alive",      "Expect", "Transfer-Encoding",
        "TE",   "Trailer",    "Upgrade",        "Proxy-Connection"};
    for (const std::string_view one : reserved) {
        if (equal_ignoring_case(name, one)) return true;
    }
    return false;
}

namespace detail
{

// A name is shown only when it is a good one: the text may end in a log.
inline result<void> check_fields(const fields& list)
{
    for (const field& item : list) {
        if (!valid_name(item.name)) return fail(errc::invalid_argument, "bad characters in the name of a field");
        if (!valid_value(item.value)) {
            return fail(errc::invalid_argument, "a control character in the field " + std::string(item.name));
        }
        if (is_reserved_field(item.name)) {
            return fail(errc::invalid_argument, "the field " + std::string(item.name) + " is not for hosts to set");
        }
    }
    return {};
}

inline void write_field(std::string& out, std::string_view name, std::string_view value)
{
    out.append(name).append(": ", 2).append(value).append("\r\n", 2);
}

inline void write_fields(std::string& out, const fields& list, const framing& body, bool keep_alive)
{
    for (const field& item : list) write_field(out, item.name, item.value);
    if (body.how == framing::kind::length) write_field(out, "Content-Length", std::to_string(body.length));
    if (body.how == framing::kind::chunked) write_field(out, "Transfer-Encoding", "chunked");
    if (!keep_alive) write_field(out, "Connection", "close");
    out += "\r\n";
}

} // namespace detail

/// Appends the head of an HTTP/1.1 request, whatever its `version`. *Errors*: `errc::invalid_argument` when a part of
/// it cannot be written safely (K-8); `out` is then as it was.
inline result<void> print(std::string& out, const request_head& head)
{
    if (!valid_name(head.method)) return fail(errc::invalid_argument, "bad characters in the method");
    if (!valid_target(head.target)) return fail(errc::invalid_argument, "the target is not a path");
    const std::string host = head.host.text();
    if (const result<authority> again = parse_authority(host); !again || *again != head.host) {
        return fail(errc::invalid_argument, "the host is not a host in its usual form");
    }
    if (head.body.how == framing::kind::until_close) {
        return fail(errc::invalid_argument, "the body of a request does not end with the connection");
    }
    if (result<void> bad = detail::check_fields(head.fields); !bad) return bad;

    out.append(head.method).append(1, ' ').append(head.target).append(" HTTP/1.1\r\n");
    detail::write_field(out, "Host", host);
    if (head.expects_continue) detail::write_field(out, "Expect", "100-continue");
    // RFC 9110 section 8.6: what usually has a body says that there is none.
    const bool says_none = head.body == framing::none() && (head.method == "POST" || head.method == "PUT");
    detail::write_fields(out, head.fields, says_none ? framing::bytes(0) : head.body, head.keep_alive);
    return {};
}

/// Appends the head of an HTTP/1.1 response, whatever its `version`. Without a reason the registered one is written.
/// *Errors*: as above.
inline result<void> print(std::string& out, const response_head& head)
{
    if (head.status < 200 || head.status > 999) return fail(errc::invalid_argument, "a status is 200 to 999");
    if (!valid_value(head.reason)) return fail(errc::invalid_argument, "a control character in the reason");
    const bool bodiless = head.status == 204 || head.status == 304;
    if (bodiless && head.body != framing::none()) {
        return fail(errc::invalid_argument, "a response with status 204 or 304 has no body");
    }
    if (result<void> bad = detail::check_fields(head.fields); !bad) return bad;

    const std::string_view reason = head.reason.empty() ? status_text(head.status) : std::string_view(head.reason);
    out.append("HTTP/1.1 ").append(std::to_string(head.status)).append(1, ' ').append(reason).append("\r\n");
    const bool says_none = head.body == framing::none() && !bodiless;
    const bool keep_alive = head.keep_alive && head.body != framing::until_close();
    detail::write_fields(out, head.fields, says_none ? framing::bytes(0) : head.body, keep_alive);
    return {};
}

/// Appends a whole response: the head, whose `body` is set here, and the body. *Errors*: as above.
inline result<void> print(std::string& out, response_head head, std::string_view body)
{
    head.body = body.empty() ? framing::none() : framing::bytes(body.size());
    if (result<void> bad = print(out, head); !bad) return bad;
    out += body;
    return {};
}

/// Appends the whole response to a request that was not understood. The connection is closed after it.
inline void print(std::string& out, const parse_error& error)
{
    out.append("HTTP/1.1 ").append(std::to_string(error.status)).append(1, ' ').append(status_text(error.status));
    out += "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ";
    out.append(std::to_string(error.text.size() + 1)).append("\r\nConnection: close\r\n\r\n");
    out.append(error.text).append(1, '\n');
}

/// The whole response for a request that `expects_continue`, before its body is read.
inline constexpr std::string_view continue_response = "HTTP/1.1 100 Continue\r\n\r\n";

} // namespace comcp::inline COMCP_ABI::http
