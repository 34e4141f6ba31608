// SPDX-License-Identifier: MIT
//
// What HTTP messages are made of beside their fields: versions, the way a body is delimited, heads, and what a parser
// reports. Values only; parser.hpp reads them and print.hpp writes them.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/host.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

enum class version : std::uint8_t {
    http_1_0,
    http_1_1,
};

/// How the end of a body is told.
struct framing
{
    enum class kind : std::uint8_t {
        none,        ///< there is no body
        length,      ///< `Content-Length`
        chunked,     ///< `Transfer-Encoding: chunked`
        until_close, ///< by the end of the connection; responses only
    };

    kind how = kind::none;
    std::uint64_t length = 0; ///< bytes, with `kind::length`

    static constexpr framing none() noexcept { return {}; }
    static constexpr framing bytes(std::uint64_t count) noexcept { return {kind::length, count}; }
    static constexpr framing chunked() noexcept { return {kind::chunked, 0}; }
    static constexpr framing until_close() noexcept { return {kind::until_close, 0}; }

    friend bool operator==(const framing&, const framing&) = default;
};

struct request_head
{
    std::string method; ///< as it was written: methods are case-sensitive
    std::string
        target; ///< begins with '/', whatever form it came in, or is "*" (OPTIONS); percent-encoded, no fragment
    http::version version = http::version::http_1_1;
    http::fields fields;
    authority host; ///< the one Host field, and that of a target in absolute form
    framing body;
    bool keep_alive = true;        ///< the peer is ready for another request on this connection
    bool expects_continue = false; ///< the peer waits for `100 Continue` before it sends the body

    /// The target without its query.
    std::string_view path() const noexcept { return std::string_view(target).substr(0, target.find('?')); }
};

struct response_head
{
    int status = 0; ///< 200 to 999: the parser skips what is provisional
    std::string reason;
    http::version version = http::version::http_1_1;
    http::fields fields;
    framing body;
    bool keep_alive = true; ///< the connection may be used for another request once this message is done
};

/// Why a message was refused. The connection must be closed after it: where the next message begins is not known.
struct parse_error
{
    int status = 0;        ///< what to answer a request with: 400, 413, 414, 417, 431, 501 or 505; 0 for no error
    std::string_view text; ///< a short reason without the peer's bytes; never dies

    explicit operator bool() const noexcept { return status != 0; }
    friend bool operator==(const parse_error&, const parse_error&) = default;
};

/// As an error of the library: `errc::too_large` when a limit was passed, else `errc::invalid_message`.
inline fault to_fault(const parse_error& error)
{
    const bool large = error.status == 413 || error.status == 414 || error.status == 431;
    return fail(large ? errc::too_large : errc::invalid_message, std::string(error.text));
}

/// What one call of `step` came to. The caller takes `used` bytes off its input whatever it was, and calls again, with
/// empty input too, until the answer is `need_more`, `done` or `failed`.
struct parse_step
{
    enum class kind : std::uint8_t {
        need_more, ///< all input was used
        head,      ///< the head is complete: read it, and set the limit of the body
        body,      ///< a piece of the body, at least one byte
        done,      ///< the message is complete; what follows the used bytes belongs to the next one
        failed,    ///< the parser's `error()` says why; every further call says the same
    };

    kind what = kind::need_more;
    std::size_t used = 0;
    std::string_view body; ///< points into the input of this call
};

} // namespace comcp::inline COMCP_ABI::http
