// SPDX-License-Identifier: MIT
//
// Reads HTTP/1.1 requests, one after another, from chunks of bytes: a strict subset of RFC 9112, in which no two
// programs can understand a message in two ways. No I/O and no clock; what a request means is decided elsewhere.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/body.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/line.hpp>
#include <comcp/http/message.hpp>
#include <comcp/http/url.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

/// A push parser: bytes in, events out, wherever the bytes are cut. It keeps the head that it reads; an idle one holds
/// at most 5 KiB.
class request_parser
{
public:
    explicit request_parser(const http_limits& limits = {}) : lines_(limits, empty_lines), body_(limits) {}

    /// Reads on. See `parse_step` for how to go on.
    parse_step step(std::string_view input)
    {
        if (state_ == state::failed) return {parse_step::kind::failed, 0, {}};
        if (state_ == state::body) {
            const parse_step step = body_.step(input, error_);
            if (step.what == parse_step::kind::failed) state_ = state::failed;
            return step;
        }
        std::string_view rest = input;
        const parse_step::kind what = read_head(rest);
        started_ = what != kind::need_more || lines_.begun();
        return {what, input.size() - rest.size(), {}};
    }

    /// Complete and valid once `step` has said `head`, until `reset()` or `take_head()`.
    const request_head& head() const noexcept { return head_; }
    request_head take_head() { return std::exchange(head_, {}); }

    /// The limit of this message's body in bytes; set it when `step` has said `head`, else it is that of a message,
    /// 16 MiB. A declared length over it fails at the next step, a chunked body at the chunk that passes it: 413.
    void body_limit(std::uint64_t bytes) noexcept { body_.limit(bytes); }

    const parse_error& error() const noexcept { return error_; }

    /// Whether a byte of this message has come, empty lines before it apart: a connection that ends or idles before is
    /// no failure.
    bool started() const noexcept { return started_; }

    /// Ready for the next message on the connection, after `done`.
    void reset()
    {
        state_ = state::head;
        started_ = false;
        error_ = {};
        lines_.clear();
        named_.reset();
        detail::empty_head(head_);
        body_.begin(framing::none());
    }

private:
    enum class state : std::uint8_t {
        head,
        body,
        failed,
    };
    using kind = parse_step::kind;

    // RFC 9112 section 2.2: at least one is to be ignored, since old clients send one behind a body.
    static constexpr int empty_lines = 2;

    kind read_head(std::string_view& input)
    {
        const parse_error too_long{414, "the request line is over the limit"};
        const auto read_first = [this](std::string_view line) { return read_request_line(line); };
        switch (lines_.take(input, head_.fields, error_, too_long, read_first)) {
        case detail::head_lines::got::more: return kind::need_more;
        case detail::head_lines::got::failed: return fail_with(error_);
        case detail::head_lines::got::end: break;
        }
        if (const parse_error wrong = judge()) return fail_with(wrong);
        state_ = state::body;
        body_.begin(head_.body);
        return kind::head;
    }

    parse_error read_request_line(std::string_view line)
    {
        constexpr parse_error bad{400, "not a request line: method, target and version with one space between them"};
        const std::size_t first = line.find(' ');
        const std::size_t second = first == line.npos ? first : line.find(' ', first + 1);
        if (second == line.npos) return bad;
        const std::string_view method = line.substr(0, first);
        std::string_view target = line.substr(first + 1, second - first - 1);
        if (!valid_name(method)) return bad;
        if (const parse_error wrong = detail::read_version(line.substr(second + 1), head_.version)) return wrong;
        head_.method = method;
        constexpr parse_error bad_target{400, "the target is neither a path nor an http or https URL"};
        if (method == "CONNECT") return bad_target;
        if (target == "*" && method == "OPTIONS") {
            head_.target = target;
        } else {
            if (!target.starts_with('/') && !take_authority(target)) return bad_target;
            head_.target = target.starts_with('/') ? "" : "/";
            if (!detail::all(target, detail::target_char)) return bad_target;
            head_.target += target;
        }
        return {};
    }

    // RFC 9112 section 3.2.2: a server must accept the absolute form, whose authority then takes the place of Host.
    // Whoever looked at Host in front of us must not have seen another one, so that the two have to be the same.
    bool take_authority(std::string_view& target)
    {
        if (!detail::take_scheme(target)) return false;
        const std::size_t end = std::min(target.find_first_of("/?"), target.size());
        result<authority> named = parse_authority(target.substr(0, end));
        if (!named) return false;
        named_ = *std::move(named);
        target.remove_prefix(end);
        return true;
    }

    // What only the whole head tells.
    parse_error judge()
    {
        const fields::named name = head_.fields.look_for("Host");
        if (name.count != 1) return {400, "not exactly one Host"};
        result<authority> host = parse_authority(name.value);
        if (!host) return {400, "Host is not a host with or without a port"};
        head_.host = *std::move(host);
        if (named_ && *named_ != head_.host) return {400, "Host is not the host of the target"};
        if (const parse_error wrong = detail::read_framing(head_.fields, head_.version, framing::none(), head_.body)) {
            return wrong;
        }
        if (const parse_error wrong = detail::read_connection(head_.fields, head_.version, head_.keep_alive)) {
            return wrong;
        }
        // RFC 9110 section 10.1.1: of an HTTP/1.0 peer it is ignored.
        const fields::named expected = head_.fields.look_for("Expect");
        if (head_.version == version::http_1_0 || !expected) return {};
        if (expected.count != 1 || !equal_ignoring_case(expected.value, "100-continue")) {
            return {417, "an expectation other than 100-continue"};
        }
        head_.expects_continue = head_.body != framing::none() && head_.body != framing::bytes(0);
        return {};
    }

    kind fail_with(const parse_error& error)
    {
        error_ = error;
        state_ = state::failed;
        return kind::failed;
    }

    state state_ = state::head;
    bool started_ = false;
    parse_error error_;
    request_head head_;
    std::optional<authority> named_; // of a target in absolute form
    detail::head_lines lines_;
    detail::body_reader body_;
};

} // namespace comcp::inline COMCP_ABI::http
