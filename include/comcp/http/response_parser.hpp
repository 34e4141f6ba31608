// SPDX-License-Identifier: MIT
//
// Reads HTTP/1.1 responses, one after another, from chunks of bytes. As strict as the request parser; provisional
// responses (1xx) are skipped. No I/O and no clock; what a status means is decided elsewhere.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/body.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/line.hpp>
#include <comcp/http/message.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

/// A push parser: bytes in, events out, wherever the bytes are cut. It must know the method of the request, because the
/// response to HEAD has no body whatever it says. The status of `error()` only tells the kind of error.
class response_parser
{
public:
    /// Provisional responses before the final one; a further one is an error.
    static constexpr int most_provisional = 8;

    explicit response_parser(const http_limits& limits = {}, std::string_view request_method = "POST")
        : no_body_(request_method == "HEAD"),
          lines_(limits),
          body_(limits)
    {}

    /// Reads on. See `parse_step` for how to go on.
    parse_step step(std::string_view input)
    {
        if (state_ == state::failed) return {kind::failed, 0, {}};
        if (state_ == state::done) return {kind::done, 0, {}};
        if (state_ == state::body) {
            const parse_step step = body_.step(input, error_);
            if (step.what == kind::failed) state_ = state::failed;
            return step;
        }
        started_ = started_ || !input.empty();
        std::string_view rest = input;
        const parse_step::kind what = read_head(rest);
        return {what, input.size() - rest.size(), {}};
    }

    /// The connection ended in order. `done` where that ends the body or the message was complete, else `failed`.
    parse_step eof()
    {
        if (state_ == state::failed) return {kind::failed, 0, {}};
        if (state_ == state::body && body_.how() == framing::until_close()) state_ = state::done;
        if (state_ == state::done) return {kind::done, 0, {}};
        if (state_ == state::body && body_.step({}, error_).what == kind::done) return {kind::done, 0, {}};
        return {fail_with({400, started_ ? "the connection ended within the response" //
                                         : "the connection ended before the response"}),
                0,
                {}};
    }

    /// Complete and valid once `step` has said `head`, until `reset()` or `take_head()`.
    const response_head& head() const noexcept { return head_; }
    response_head take_head() { return std::exchange(head_, {}); }

    /// The limit of this message's body in bytes; set it when `step` has said `head`, else it is that of a message,
    /// 16 MiB. A declared length over it fails at the next step, another body where it passes the limit.
    void body_limit(std::uint64_t bytes) noexcept { body_.limit(bytes); }

    const parse_error& error() const noexcept { return error_; }

    /// Whether a byte of this response has come, provisional ones included.
    bool started() const noexcept { return started_; }

    /// Ready for the response to the next request on the connection, after `done`.
    void reset(std::string_view request_method = "POST")
    {
        no_body_ = request_method == "HEAD";
        started_ = false;
        provisional_ = 0;
        error_ = {};
        next_head();
        body_.begin(framing::none());
    }

private:
    enum class state : std::uint8_t {
        head,
        body,
        done,
        failed,
    };
    using kind = parse_step::kind;

    void next_head()
    {
        state_ = state::head;
        lines_.clear();
        detail::empty_head(head_);
    }

    kind read_head(std::string_view& input)
    {
        const parse_error too_long{431, "the status line is over the limit"};
        const auto read_first = [this](std::string_view line) { return read_status_line(line); };
        for (;;) {
            switch (lines_.take(input, head_.fields, error_, too_long, read_first)) {
            case detail::head_lines::got::more: return kind::need_more;
            case detail::head_lines::got::failed: return fail_with(error_);
            case detail::head_lines::got::end: break;
            }
            if (const parse_error wrong = judge()) return fail_with(wrong);
            if (head_.status >= 200) {
                state_ = state::body;
                body_.begin(head_.body);
                return kind::head;
            }
            next_head();
        }
    }

    parse_error read_status_line(std::string_view line)
    {
        constexpr parse_error bad{400, "not a status line: version, three digits and a reason"};
        const std::size_t space = line.find(' ');
        if (space == line.npos) return bad;
        if (const parse_error wrong = detail::read_version(line.substr(0, space), head_.version)) return wrong;
        line.remove_prefix(space + 1);
        if (line.size() < 4 || line[3] != ' ') return bad;
        int status = 0;
        for (const char c : line.substr(0, 3)) {
            if (!detail::is_digit(c)) return bad;
            status = status * 10 + (c - '0');
        }
        if (status < 100 || !valid_value(line.substr(4))) return bad;
        head_.status = status;
        head_.reason = line.substr(4);
        return {};
    }

    // What only the whole head tells.
    parse_error judge()
    {
        if (const parse_error wrong =
                detail::read_framing(head_.fields, head_.version, framing::until_close(), head_.body)) {
            return wrong;
        }
        if (head_.status == 101) return {400, "a change of protocol that nobody asked for"};
        if (head_.status < 200 && ++provisional_ > most_provisional) return {400, "too many provisional responses"};
        if (const parse_error wrong = detail::read_connection(head_.fields, head_.version, head_.keep_alive)) {
            return wrong;
        }
        const bool never_has_one = head_.status < 200 || head_.status == 204;
        const bool announced = head_.body.how == framing::kind::chunked || head_.body.length != 0;
        if (no_body_ || never_has_one || head_.status == 304) {
            head_.body = framing::none();
        }
        // RFC 9112 section 6.3 lets a reader ignore it; whoever sent it may send the body all the same.
        if (never_has_one && announced) head_.keep_alive = false;
        if (head_.status < 200 && announced) return {400, "a provisional response announces a body"};
        if (head_.body == framing::until_close()) head_.keep_alive = false;
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
    int provisional_ = 0;
    bool no_body_;
    parse_error error_;
    response_head head_;
    detail::head_lines lines_;
    detail::body_reader body_;
};

} // namespace comcp::inline COMCP_ABI::http
