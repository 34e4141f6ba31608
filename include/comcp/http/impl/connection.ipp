// SPDX-License-Identifier: MIT
//
// Serving one connection, from the first request to the last: see http/connection.hpp.
#pragma once

#include <comcp/http/chunked.hpp>
#include <comcp/http/connection.hpp>
#include <comcp/http/date.hpp>
#include <comcp/http/print.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

/// A peer that still sends would lose our last answer to a reset if we closed at once: so long its bytes are dropped.
inline constexpr duration linger_time = std::chrono::seconds(2);
/// A body that is not wanted is read up to this size, so that the connection can go on.
inline constexpr std::uint64_t skipped_at_most = 64 * 1024;
/// The first allocation of a body and its growth. A length that is only announced costs no more than the first.
inline constexpr std::uint64_t first_room = 68 * 1024;
inline constexpr std::uint64_t room_growth = 4;
/// One read into a body: worth a call, and since it is zeroed before, small enough for the cache.
inline constexpr std::uint64_t least_read = 4 * 1024;
inline constexpr std::uint64_t most_read = 256 * 1024;
/// What a connection keeps of its output buffer while it waits.
inline constexpr std::size_t kept_output = 1024;
/// The memory of an answer is used for the next request's body: so large, and so long after the answer. Given back and
/// taken anew for each request, it would go to the system and come back, page by page.
inline constexpr std::size_t spare_at_most = 2 * 1024 * 1024;
inline constexpr duration spare_time = std::chrono::seconds(1);

/// Frees its memory. Assigning an empty string keeps it, in libstdc++.
inline void give_back(std::string& what) { std::string().swap(what); }

struct connection::half_ended
{
    explicit half_ended(std::shared_ptr<connection> of) : self(std::move(of)) {}
    void operator()(std::exception_ptr) const { self->half_end(); }
    std::shared_ptr<connection> self;
};

COMCP_DECL connection::connection(executor ex, std::unique_ptr<any_stream> stream,
                                  std::shared_ptr<connection_owner> owner, manner how)
    : executor_(std::move(ex)),
      owner_(std::move(owner)),
      stream_(std::move(stream)),
      how_(how),
      lot_(comcp::detail::make_parking_lot(executor_)),
      deadlines_(executor_),
      input_(*stream_, *lot_),
      peer_(stream_->peer())
{}

COMCP_DECL connection::~connection() { owner_->destroyed(*this); }

COMCP_DECL void connection::start(std::shared_ptr<connection> self)
{
    asio::co_spawn(self->executor_, run_service(self),
                   asio::bind_cancellation_slot(self->stop_service_.slot(), half_ended(self)));
    asio::co_spawn(self->executor_, run_input(self), half_ended(self));
}

COMCP_DECL void connection::finish()
{
    last_ = true;
    if (idle_) cut();
}

COMCP_DECL void connection::cut()
{
    if (std::exchange(cut_, true)) return;
    stream_->close();
    input_.stop();
    stop_service_.emit(asio::cancellation_type::terminal);
}

COMCP_DECL void connection::half_end()
{
    if (--halves_ == 0) owner_->ended(*this);
}

COMCP_DECL task<void> connection::run_service(std::shared_ptr<connection> self)
{
    try {
        co_await self->serve();
    } catch (...) { // a cancellation, or a stream that failed after its begin: the cut connection tells it
    }
    self->cut();
}

COMCP_DECL task<void> connection::run_input(std::shared_ptr<connection> self)
{
    bool broken = true;
    try {
        broken = co_await self->input_.pump();
    } catch (...) { // no memory to read into
    }
    // A peer that only ended its output still gets its answer. While a stream is open it is a client that leaves.
    if (broken || self->streaming_) self->cut();
}

/// All requests of the connection, one after the other. What is awaited for each of them is awaited here, without a
/// coroutine between: most of a small request's time goes into those.
COMCP_DECL task<void> connection::serve()
{
    bool more = true;
    while (more) {
        begin_request();
        got head = how_ == manner::turn_away ? bad({503, "too many connections"}) : take_head();
        while (head == got::part) {
            if (input_.ask()) co_await input_.arrival();
            head = take_head();
        }
        if (head == got::nothing) co_return;

        std::optional<response> answer;
        bool refused = false;
        if (head == got::all) {
            http::request asked = take_request();
            if (owner_->closed) break;
            try {
                answer = co_await owner_->service->refuse(asked);
            } catch (...) {
                answer = own_answer({500, "the service failed"});
            }
            if (cut_ || owner_->closed) break; // the service may be gone
            refused = answer.has_value();
            if (!refused) {
                answer_fields_ = asked.answer_fields;
                begin_body();
                got body = take_body();
                if (body == got::part) body = co_await read_body();
                if (cut_) break;
                if (body != got::all) {
                    give_up_body();
                } else if (owner_->closed) {
                    give_up_body();
                    wrong_ = {503, "the server ends"};
                } else {
                    asked.body = std::exchange(body_, {});
                    asked.counted = std::move(counted_);
                    try {
                        auto handling = owner_->service->handle(std::move(asked));
                        answer = co_await std::move(handling);
                    } catch (...) {
                        answer = own_answer({500, "the service failed"});
                    }
                    if (cut_) break;
                }
            }
        }
        if (!answer) answer = own_answer(wrong_);
        // Whoever waits for 100 sends the body after all, or does not: where the next request begins is not known.
        if (refused && (awaits_continue_ || coming_.how == framing::kind::chunked || coming_.length > skipped_at_most))
            keep_ = false;

        if (answer->stream && !bare_) {
            more = co_await write_stream(*answer);
        } else {
            begin_answer(*answer);
            const bool written = write_some();
            if (!written) co_await write_rest();
            more = end_answer(*answer);
        }
        if (refused && more) more = co_await skip_body();
    }
    if (!cut_) co_await linger();
}

COMCP_DECL void connection::begin_request()
{
    parser_.reset(); // an idle connection holds none
    late_ = false;
    bare_ = false;
    if (fields none; !answer_fields_.empty()) std::swap(answer_fields_, none);
}

/// Reads on in the head with what has arrived.
COMCP_DECL connection::got connection::take_head()
{
    if (!parser_ && !input_.bytes().empty()) parser_ = std::make_unique<request_parser>(owner_->limits.head);
    const parse_step step = !parser_ ? parse_step() : parser_->step(input_.bytes());
    input_.take(step.used);
    const bool idle = !parser_ || !parser_->started(); // an empty line begins nothing
    if (step.what == parse_step::kind::head) {
        idle_ = false;
        input_deadline_.clear();
        return got::all;
    }
    if (step.what == parse_step::kind::failed) return bad(parser_->error());
    if (input_.ended()) return idle ? got::nothing : bad({400, "the request is not complete"});
    const http_service_limits& most = owner_->limits;
    if (late_ && idle && spare_.capacity() > kept_output) {
        late_ = false;
        give_back(spare_);
        spare_counted_.release();
        deadlines_.set(input_deadline_, most.connection_idle - spare_time, deadlines_.now());
    }
    if (late_) return idle ? got::nothing : bad({408, "the head of the request took too long"});
    if (idle && last_) return got::nothing;
    if (idle != idle_ || !input_deadline_.set()) {
        const bool spares = idle && spare_.capacity() > kept_output;
        const duration wait = spares ? spare_time : idle ? most.connection_idle : most.head_time;
        deadlines_.set(input_deadline_, wait, deadlines_.now());
    }
    idle_ = idle;
    if (idle) input_.relax();
    return got::part;
}

/// The request whose head is complete.
COMCP_DECL http::request connection::take_request()
{
    request_head head = parser_->take_head();
    http::request asked;
    asked.method = std::move(head.method);
    asked.target = std::move(head.target);
    asked.fields = std::move(head.fields);
    asked.peer = peer_;
    get_ = asked.method == "GET";
    bare_ = asked.method == "HEAD";
    is_http_1_1_ = head.version != version::http_1_0;
    keep_ = head.keep_alive && is_http_1_1_;
    coming_ = head.body;
    awaits_continue_ = head.expects_continue;
    return asked;
}

COMCP_DECL void connection::begin_body()
{
    parser_->body_limit(owner_->service->most_body());
    counted_ = budget_share(owner_->memory);
    if (coming_.length > kept_output && spare_.capacity() > kept_output) {
        counted_ = std::move(spare_counted_);
        body_.swap(spare_);
    }
}

/// Reads on in the body with what has arrived.
COMCP_DECL connection::got connection::take_body()
{
    for (;;) {
        const parse_step step = parser_->step(input_.bytes());
        if (step.what == parse_step::kind::body) {
            if (!make_room(body_.size() + step.body.size())) return bad({503, "out of memory for bodies"});
            body_ += step.body;
        }
        input_.take(step.used);
        if (step.what == parse_step::kind::body) continue;
        if (step.what == parse_step::kind::done) {
            input_deadline_.clear();
            return got::all;
        }
        if (step.what == parse_step::kind::failed) return bad(parser_->error());
        if (input_.ended()) return bad({400, "the body is not complete"});
        if (late_) return bad({408, "the body of the request took too long"});
        if (!input_deadline_.set()) deadlines_.set(input_deadline_, owner_->limits.body_time, deadlines_.now());
        return got::part;
    }
}

/// Reads the body of which a part is still to come.
COMCP_DECL task<connection::got> connection::read_body()
{
    got now = got::part;
    while (now == got::part) {
        if (std::exchange(awaits_continue_, false) && input_.bytes().empty()) {
            const bool sent = co_await write(continue_response);
            if (!sent) co_return got::nothing;
        } else if (coming_.how != framing::kind::length) {
            co_await input_.more();
        } else {
            const std::size_t size = body_.size();
            if (!make_room(std::min(size + least_read, coming_.length)))
                co_return bad({503, "out of memory for bodies"});
            const std::uint64_t room = std::min<std::uint64_t>(body_.capacity(), coming_.length) - size;
            body_.resize(size + static_cast<std::size_t>(std::min(room, most_read)));
            const std::size_t count = co_await input_.more(std::span(body_).subspan(size));
            if (!late_) { // else a read may be pending in it
                body_.resize(size + count);
                parser_->step(std::string_view(body_).substr(size));
            }
        }
        now = take_body();
    }
    co_return now;
}

COMCP_DECL void connection::give_up_body()
{
    if (late_) return; // a read may be pending in it
    give_back(body_);
    counted_.release();
}

/// Reads what follows a refused head. True when the next request can be read.
COMCP_DECL task<bool> connection::skip_body()
{
    late_ = false;
    parser_->body_limit(skipped_at_most);
    for (;;) {
        const parse_step step = parser_->step(input_.bytes());
        input_.take(step.used);
        if (step.what == parse_step::kind::body) continue;
        if (step.what != parse_step::kind::need_more || input_.ended() || late_) {
            input_deadline_.clear();
            co_return step.what == parse_step::kind::done;
        }
        if (!input_deadline_.set()) deadlines_.set(input_deadline_, owner_->limits.body_time, deadlines_.now());
        co_await input_.more();
    }
}

/// Prints the head of an answer; it and the body are to be written.
COMCP_DECL void connection::begin_answer(response& answer)
{
    const bool bodiless = answer.status == 204 || answer.status == 304;
    if (bodiless) answer.body.clear();
    if (!print_head(answer, bodiless ? framing::none() : framing::bytes(answer.body.size()))) {
        answer_fields_.clear(); // the service gave a status or a field that cannot be written
        answer = own_answer({500, "the service failed"});
        print_head(answer, framing::bytes(answer.body.size()));
    }
    unwritten_ = {out_, bare_ ? std::string_view() : answer.body};
}

/// True when it was sent and another request may follow.
COMCP_DECL bool connection::end_answer(response& answer)
{
    const bool sent = !cut_;
    if (out_.capacity() > kept_output) give_back(out_);
    const std::size_t spare = answer.body.capacity();
    if (spare > kept_output && spare <= spare_at_most && owner_->limits.connection_idle > spare_time) {
        spare_counted_ = budget_share(owner_->memory);
        if (spare_counted_.grow(spare)) spare_ = std::move(answer.body);
        spare_.clear();
    }
    return sent && keep_ && !last_;
}

COMCP_DECL task<bool> connection::write_stream(response& head)
{
    const std::unique_ptr<body_stream> content = std::move(head.stream);
    // Nobody opens a stream with GET and ends his output, unless he leaves.
    if (get_ && input_.ended()) co_return false;
    if (!is_http_1_1_) keep_ = false;
    if (!print_head(head, is_http_1_1_ ? framing::chunked() : framing::until_close())) {
        response answer = own_answer({500, "the service failed"});
        begin_answer(answer);
        const bool written = write_some();
        if (!written) co_await write_rest();
        co_return end_answer(answer);
    }
    streaming_ = true;
    bool more = true;
    bool sent = co_await write(out_); // at once: the first piece may be long in coming
    while (sent && more) {
        if (out_.capacity() > kept_output) give_back(out_);
        out_.clear();
        const std::size_t begun = is_http_1_1_ ? begin_chunk(out_) : 0;
        more = co_await content->next(out_);
        if (is_http_1_1_) end_chunk(out_, begun);
        if (is_http_1_1_ && !more) out_ += last_chunk;
        sent = co_await write(out_);
    }
    streaming_ = false;
    if (out_.capacity() > kept_output) give_back(out_);
    co_return sent&& keep_ && !last_;
}

COMCP_DECL task<bool> connection::write(std::string_view text)
{
    unwritten_ = {text, {}};
    const bool written = write_some();
    if (!written) co_await write_rest();
    co_return !cut_;
}

/// Writes what the peer takes now, in one call. True when nothing is left, or the peer is gone: then the connection is
/// cut.
COMCP_DECL bool connection::write_some()
{
    io_error_code failed;
    std::size_t left = stream_->try_write(unwritten_, failed);
    if (left != 0) write_deadline_.clear();
    for (std::string_view& piece : unwritten_) {
        const std::size_t size = std::min(left, piece.size());
        piece.remove_prefix(size);
        left -= size;
    }
    if (!failed && !(unwritten_[0].empty() && unwritten_[1].empty())) return false;
    write_deadline_.clear();
    if (failed) cut();
    return true;
}

/// Writes the rest as the peer takes it. Afterwards the connection is cut when the peer is gone.
COMCP_DECL task<void> connection::write_rest()
{
    budget_share queued(owner_->memory); // counted while it waits for the peer
    queued.add(unwritten_[0].size() + unwritten_[1].size());
    for (bool written = false; !written;) {
        if (!write_deadline_.set()) deadlines_.set(write_deadline_, owner_->limits.write_time, deadlines_.now());
        io_error_code failed;
        co_await stream_->writable(failed); // when that fails, so does the next write
        written = cut_ || write_some();
    }
}

COMCP_DECL task<void> connection::linger()
{
    stream_->shut_down_output();
    late_ = false;
    deadlines_.set(input_deadline_, linger_time, deadlines_.now());
    while (!input_.ended() && !late_) {
        input_.take(input_.bytes().size());
        co_await input_.more();
    }
}

COMCP_DECL connection::got connection::bad(const parse_error& why)
{
    wrong_ = why;
    idle_ = false;
    input_deadline_.clear();
    return got::bad;
}

/// Grows the body's memory for `size` bytes as bytes arrive, counted in the service's budget before. At most what the
/// body may come to.
COMCP_DECL bool connection::make_room(std::uint64_t size)
{
    if (size <= body_.capacity()) return true;
    const std::uint64_t limit = owner_->service->most_body();
    const std::uint64_t most = coming_.how == framing::kind::length ? std::min(coming_.length, limit) : limit;
    const std::uint64_t wanted = std::max({size, first_room, body_.capacity() * room_growth});
    const auto room = static_cast<std::size_t>(std::max(size, std::min(wanted, most)));
    if (!counted_.grow(room - counted_.bytes())) return false;
    std::string larger; // `reserve` of a string that is not empty may take twice as much as it was asked for
    larger.reserve(room);
    larger += body_;
    body_ = std::move(larger);
    return true;
}

/// Writes into `out_`. False when it cannot be written.
COMCP_DECL bool connection::print_head(response& answer, framing body)
{
    response_head head;
    head.status = answer.status;
    head.fields = std::move(answer.fields);
    head.fields.add("Date", date());
    head.body = body;
    head.keep_alive = keep_ && !last_;
    out_.clear();
    return bool(http::print(out_, head));
}

COMCP_DECL response connection::own_answer(const parse_error& why)
{
    keep_ = false;
    response answer;
    answer.status = why.status;
    answer.fields = std::move(answer_fields_);
    answer.fields.add("Content-Type", "text/plain; charset=utf-8");
    if (why.status == 503) answer.fields.add("Retry-After", "1");
    answer.body.append(why.text).append(1, '\n');
    return answer;
}

COMCP_DECL std::string_view connection::date()
{
    const std::time_t now = std::time(nullptr);
    if (now != date_of_) date_ = imf_fixdate(now);
    date_of_ = now;
    return date_;
}

COMCP_DECL void connection::input_late()
{
    late_ = true;
    input_.interrupt();
}

} // namespace comcp::inline COMCP_ABI::http::detail
