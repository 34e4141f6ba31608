// SPDX-License-Identifier: MIT
//
// Reads the body of a message as its head announces it, within a limit. The second half of both parsers.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/chunked.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/message.hpp>
#include <comcp/limits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace comcp::inline COMCP_ABI::http::detail
{

/// Digits only, and what a uint64_t holds.
constexpr bool read_length(std::string_view text, std::uint64_t& out) noexcept
{
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    out = 0;
    for (const char c : text) {
        if (!is_digit(c)) return false;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (out > (most - digit) / 10) return false;
        out = out * 10 + digit;
    }
    return !text.empty();
}

/// What the fields say of the body; `otherwise` when they say nothing. Whatever two readers could understand in two
/// ways is refused (RFC 9112 section 6.3, and stricter).
inline parse_error read_framing(const fields& list, version spoken, framing otherwise, framing& out)
{
    constexpr std::string_view coding = "Transfer-Encoding";
    constexpr std::string_view length = "Content-Length";
    const fields::named coded = list.look_for(coding);
    const fields::named sized = list.look_for(length);
    out = otherwise;
    if (!coded && !sized) return {};
    if (coded && sized) return {400, "both Content-Length and Transfer-Encoding"};
    if (coded.count > 1) return {400, "more than one Transfer-Encoding"};
    if (sized.count > 1) return {400, "more than one Content-Length"};
    if (sized) {
        std::uint64_t bytes = 0;
        if (!read_length(sized.value, bytes)) return {400, "Content-Length is not a number"};
        out = framing::bytes(bytes);
        return {};
    }
    if (spoken == version::http_1_0) return {400, "Transfer-Encoding in an HTTP/1.0 message"};
    if (!equal_ignoring_case(coded.value, "chunked")) return {501, "a transfer coding other than chunked"};
    out = framing::chunked();
    return {};
}

/// Whether the peer keeps the connection open after this message.
inline parse_error read_connection(const fields& list, version spoken, bool& keep_alive)
{
    bool close = false;
    keep_alive = spoken == version::http_1_1;
    for (const field& item : list) {
        const bool own = equal_ignoring_case(item.name, "Connection");
        if (!own && !equal_ignoring_case(item.name, "Proxy-Connection")) continue;
        std::string_view option;
        for (std::string_view rest = item.value; next_item(rest, option);) {
            if (!valid_name(option)) return {400, "Connection is not a list of tokens"};
            if (own && equal_ignoring_case(option, "close")) close = true;
            if (own && equal_ignoring_case(option, "keep-alive")) keep_alive = true;
        }
    }
    keep_alive = keep_alive && !close;
    return {};
}

class body_reader
{
public:
    explicit body_reader(const http_limits& limits) : chunks_(limits) {}

    void begin(framing how)
    {
        how_ = how;
        received_ = 0;
        limit(limits{}.message);
        chunks_.reset();
    }

    void limit(std::uint64_t bytes) noexcept
    {
        limit_ = bytes;
        chunks_.limit(bytes);
    }

    parse_step step(std::string_view input, parse_error& error)
    {
        using kind = parse_step::kind;
        const auto size = [&](std::uint64_t most) {
            return static_cast<std::size_t>(std::min<std::uint64_t>(most, input.size()));
        };
        std::size_t used = 0;
        switch (how_.how) {
        case framing::kind::none: return {kind::done, 0, {}};
        case framing::kind::chunked: {
            const parse_step step = chunks_.step(input);
            error = chunks_.error();
            return step;
        }
        case framing::kind::length:
            if (how_.length > limit_) {
                error = {413, "the body is over the limit"};
                return {kind::failed, 0, {}};
            }
            if (received_ == how_.length) return {kind::done, 0, {}};
            used = size(how_.length - received_);
            break;
        case framing::kind::until_close:
            used = size(limit_ - std::min(received_, limit_));
            if (used == 0 && !input.empty()) {
                error = {413, "the body is over the limit"};
                return {kind::failed, 0, {}};
            }
            break;
        }
        if (used == 0) return {kind::need_more, 0, {}};
        received_ += used;
        return {kind::body, used, input.substr(0, used)};
    }

    framing how() const noexcept { return how_; }

private:
    framing how_;
    std::uint64_t limit_ = 0;
    std::uint64_t received_ = 0;
    chunked_decoder chunks_;
};

} // namespace comcp::inline COMCP_ABI::http::detail
