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

COMCP_DECL task<void> connection::serve()
{
    bool more = true;
    while (more) {
        got head = got::bad;
        if (how_ == manner::turn_away) wrong_ = {503, "too many connections"};
        else head = co_await read_head();
        if (head == got::nothing) co_return;
        if (head == got::all) {
            more = co_await answer_one();
        } else {
            more = co_await answer_wrong();
        }
    }
    if (!cut_) co_await linger();
}

COMCP_DECL task<connection::got> connection::read_head()
{
    parser_.reset(); // an idle connection holds none
    late_ = false;
    bare_ = false;
    if (fields none; !answer_fields_.empty()) std::swap(answer_fields_, none);
    for (;;) {
        if (!parser_ && !input_.bytes().empty()) parser_ = std::make_unique<request_parser>(owner_->limits.head);
        const bool idle = !parser_;
        const parse_step step = idle ? parse_step() : parser_->step(input_.bytes());
        input_.take(step.used);
        if (step.what == parse_step::kind::head) break;
        if (step.what == parse_step::kind::failed) co_return bad(parser_->error());
        if (input_.ended()) co_return idle ? got::nothing : bad({400, "the request is not complete"});
        const http_service_limits& most = owner_->limits;
        if (late_ && idle && spare_.capacity() > kept_output) {
            late_ = false;
            give_back(spare_);
            spare_counted_.release();
            deadlines_.set(input_deadline_, most.connection_idle - spare_time, deadlines_.now());
        }
        if (late_) co_return idle ? got::nothing : bad({408, "the head of the request took too long"});
        if (idle && last_) co_return got::nothing;
        if (idle != idle_ || !input_deadline_.set()) {
            const bool spares = idle && spare_.capacity() > kept_output;
            const duration wait = spares ? spare_time : idle ? most.connection_idle : most.head_time;
            deadlines_.set(input_deadline_, wait, deadlines_.now());
        }
        idle_ = idle;
        if (idle) input_.relax();
        co_await input_.more();
    }
    idle_ = false;
    input_deadline_.clear();
    co_return got::all;
}

COMCP_DECL task<bool> connection::answer_wrong()
{
    response answer = own_answer(wrong_);
    co_return co_await write_answer(std::move(answer));
}

/// The whole of one request. True when another one may follow.
COMCP_DECL task<bool> connection::answer_one()
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

    if (owner_->closed) co_return false;
    std::optional<response> refusal;
    try {
        refusal = co_await owner_->service->refuse(asked);
    } catch (...) {
        refusal = own_answer({500, "the service failed"});
    }
    if (cut_ || owner_->closed) co_return false; // the service may be gone
    if (refusal) {
        // Whoever waits for 100 sends the body after all, or does not: where the next request begins is not known.
        if (head.expects_continue || head.body.how == framing::kind::chunked || head.body.length > skipped_at_most) {
            keep_ = false;
        }
        const bool go_on = co_await write_answer(*std::move(refusal));
        if (!go_on) co_return false;
        co_return co_await skip_body();
    }
    answer_fields_ = asked.answer_fields;

    const got body = co_await read_body(head.body, head.expects_continue);
    if (cut_) co_return false;
    if (body != got::all || owner_->closed) {
        if (!late_) { // else a read may be pending in it
            give_back(body_);
            counted_.release();
        }
        if (body == got::all) wrong_ = {503, "the server ends"};
        co_return co_await answer_wrong();
    }
    asked.body = std::exchange(body_, {});
    asked.counted = std::move(counted_);

    response answer;
    try {
        answer = co_await owner_->service->handle(std::move(asked));
    } catch (...) {
        answer = own_answer({500, "the service failed"});
    }
    if (cut_) co_return false;
    co_return co_await write_answer(std::move(answer));
}

COMCP_DECL task<connection::got> connection::read_body(framing how, bool awaits_continue)
{
    const std::uint64_t limit = owner_->service->most_body();
    const bool told = how.how == framing::kind::length;
    const std::uint64_t most = told ? std::min(how.length, limit) : limit;
    parser_->body_limit(limit);
    counted_ = budget_share(owner_->memory);
    if (how.length > kept_output && spare_.capacity() > kept_output) {
        counted_ = std::move(spare_counted_);
        body_.swap(spare_);
    }
    for (;;) {
        const parse_step step = parser_->step(input_.bytes());
        if (step.what == parse_step::kind::body) {
            if (!make_room(body_.size() + step.body.size(), most)) co_return bad({503, "out of memory for bodies"});
            body_ += step.body;
        }
        input_.take(step.used);
        if (step.what == parse_step::kind::body) continue;
        if (step.what == parse_step::kind::done) break;
        if (step.what == parse_step::kind::failed) co_return bad(parser_->error());

        if (input_.ended()) co_return bad({400, "the body is not complete"});
        if (late_) co_return bad({408, "the body of the request took too long"});
        if (!input_deadline_.set()) deadlines_.set(input_deadline_, owner_->limits.body_time, deadlines_.now());
        if (std::exchange(awaits_continue, false) && input_.bytes().empty()) {
            const bool sent = co_await write(continue_response);
            if (!sent) co_return got::nothing;
            continue; // bytes may have come meanwhile
        }
        if (!told) {
            co_await input_.more();
            continue;
        }
        const std::size_t size = body_.size();
        if (!make_room(std::min(size + least_read, how.length), most)) co_return bad({503, "out of memory for bodies"});
        const std::uint64_t room = std::min<std::uint64_t>(body_.capacity(), how.length) - size;
        body_.resize(size + static_cast<std::size_t>(std::min(room, most_read)));
        const std::size_t count = co_await input_.more(std::span(body_).subspan(size));
        if (late_) continue; // a read may be pending in it
        body_.resize(size + count);
        parser_->step(std::string_view(body_).substr(size));
    }
    input_deadline_.clear();
    co_return got::all;
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

/// True when it was sent and another request may follow.
COMCP_DECL task<bool> connection::write_answer(response answer)
{
    if (answer.stream && !bare_) {
        std::unique_ptr<body_stream> content = std::move(answer.stream);
        co_return co_await write_stream(std::move(answer), std::move(content));
    }
    const bool bodiless = answer.status == 204 || answer.status == 304;
    if (bodiless) answer.body.clear();
    if (!print_head(answer, bodiless ? framing::none() : framing::bytes(answer.body.size()))) {
        answer_fields_.clear(); // the service gave a status or a field that cannot be written
        answer = own_answer({500, "the service failed"});
        print_head(answer, framing::bytes(answer.body.size()));
    }
    const bool sent = co_await write(out_, bare_ ? std::string_view() : answer.body);
    if (out_.capacity() > kept_output) give_back(out_);
    const std::size_t spare = answer.body.capacity();
    if (spare > kept_output && spare <= spare_at_most && owner_->limits.connection_idle > spare_time) {
        spare_counted_ = budget_share(owner_->memory);
        if (spare_counted_.grow(spare)) spare_ = std::move(answer.body);
        spare_.clear();
    }
    co_return sent&& keep_ && !last_;
}

COMCP_DECL task<bool> connection::write_stream(response head, std::unique_ptr<body_stream> content)
{
    // Nobody opens a stream with GET and ends his output, unless he leaves.
    if (get_ && input_.ended()) co_return false;
    if (!is_http_1_1_) keep_ = false;
    if (!print_head(head, is_http_1_1_ ? framing::chunked() : framing::until_close())) {
        response answer = own_answer({500, "the service failed"});
        co_return co_await write_answer(std::move(answer));
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

/// Writes both in one call, if the peer takes them; waits for it otherwise. False when the peer is gone.
COMCP_DECL task<bool> connection::write(std::string_view first, std::string_view second)
{
    std::array<std::string_view, 2> rest{first, second};
    budget_share queued; // counted while it waits for the peer
    for (;;) {
        io_error_code failed;
        const std::size_t written = stream_->try_write(rest, failed);
        std::size_t left = written;
        for (std::string_view& piece : rest) {
            const std::size_t size = std::min(left, piece.size());
            piece.remove_prefix(size);
            left -= size;
        }
        if (failed || (rest[0].empty() && rest[1].empty())) {
            write_deadline_.clear();
            if (failed) cut();
            co_return !failed;
        }
        if (queued.bytes() == 0) {
            queued = budget_share(owner_->memory);
            queued.add(rest[0].size() + rest[1].size());
        }
        if (written != 0 || !write_deadline_.set()) {
            deadlines_.set(write_deadline_, owner_->limits.write_time, deadlines_.now());
        }
        co_await stream_->writable(failed); // when that fails, so does the next write
        if (cut_) co_return false;
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

/// Grows the body's memory for `size` bytes as bytes arrive, counted in the service's budget before. At most `most`.
COMCP_DECL bool connection::make_room(std::uint64_t size, std::uint64_t most)
{
    if (size <= body_.capacity()) return true;
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
