// SPDX-License-Identifier: MIT
//
// How requests and notifications pass the middleware of a session: see session/middleware.hpp for what hosts see of it.
#pragma once

#include <comcp/error.hpp>
#include <comcp/json/source.hpp>
#include <comcp/session/session.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL middleware_message session::describe(direction way, std::string method) const
{
    middleware_message made;
    made.way = way;
    made.method = std::move(method);
    made.version = revision_;
    role_->describe_peer(made);
    return made;
}

template <class Use>
bool session::read_again(const std::string& text, Use use)
{
    auto parser = std::move(chain_->parser);
    if (!parser) parser = std::make_unique<rpc::parser>(limits_.depth);
    const rpc::parsed& read = parser->parse(text);
    const bool good = read.state == rpc::parsed::status::message && !read.msg.bad_params;
    if (good) use(read.msg);
    parser->clear();
    chain_->parser = std::move(parser);
    return good;
}

// ---- requests of the peer ------------------------------------------------------------------------------------------

COMCP_DECL void session::pass_request(const rpc::message& request, const answer_route& route)
{
    // A sign of life is given also when everything else is refused.
    if (request.method == method::ping && no_room_for(request)) return role_->on_request(request, route);
    auto admitted = admit(request, route);
    if (!admitted) return;
    middleware_message message = describe(direction::inbound, std::string(request.method));
    if (request.params) message.params = std::string(member_source(request.text, "params").value_or(""));
    request.id.write(message.id);
    auto way = answer_through_chain(shared_from_this(), admitted, std::move(message));
    spawn(std::move(admitted), std::move(way));
}

COMCP_DECL task<void> session::answer_through_chain(std::shared_ptr<session> self, std::shared_ptr<inbound> request,
                                                    middleware_message message)
{
    middleware_reply reply;
    try {
        auto run = std::make_shared<request_run>(self, request);
        auto way = chain_run::start(std::move(run), std::move(message));
        reply = co_await std::move(way);
    } catch (const request_error& refused) {
        reply = middleware_reply(rpc_error{refused.code(), refused.what(), {}});
    } catch (...) {
        reply = middleware_reply(rpc_error{rpc_code::internal_error, "the request failed on its way", {}});
    }
    if (!request->open()) co_return; // cancelled: nobody waits for the answer, and nothing can be awaited any more
    auto notices = wait_for_notices(self, direction::outbound);
    co_await std::move(notices);
    if (!reply.error && reply.result.empty())
        reply = middleware_reply(rpc_error{rpc_code::internal_error, "the request was not answered", {}});
    if (reply.error) {
        std::string data;
        if (!reply.error->data.is_null()) write_value(data, reply.error->data);
        self->answer_error(*request, reply.error->code, reply.error->message, data);
    } else {
        self->answer(*request, [&](std::string& out) { rpc::write_raw(out, reply.result); });
    }
}

COMCP_DECL request_run::request_run(std::shared_ptr<session> owner, std::shared_ptr<inbound> request)
    : chain_run(owner->chain_->parts),
      session_(std::move(owner)),
      request_(std::move(request))
{}

/// The frame that waits for a gathered answer may end before the answer comes.
class chain_waits
{
public:
    chain_waits(gathered_answers& on, waiter& with) : on_(on) { on_.chain = &with; }
    chain_waits(const chain_waits&) = delete;
    chain_waits& operator=(const chain_waits&) = delete;
    ~chain_waits() { on_.chain = nullptr; }

private:
    gathered_answers& on_;
};

/// A part gave up what it had passed on: the handler works for nobody.
COMCP_DECL void session::give_up_gathered(const rpc::id& id, const gathered_answers& answers)
{
    inbound* const handler = handler_of(id, answers);
    if (!handler) return;
    const std::shared_ptr<inbound> given_up = release(*handler);
    given_up->emit(given_up);
}

COMCP_DECL inbound* session::handler_of(const rpc::id& id, const gathered_answers& answers) const
{
    inbound* const found = inbound_.find(id);
    return found && found->route_.gathered.get() == &answers ? found : nullptr;
}

COMCP_DECL bool session::handler_runs(const rpc::id& id, const gathered_answers& answers) const
{
    const inbound* const handler = handler_of(id, answers);
    return handler && handler->running_;
}

/// While a request waits for its handler, both run, but the request is in flight once.
class counted_once
{
public:
    counted_once(std::size_t& count, bool counts) : count_(count), by_(counts ? 1 : 0) { count_ += by_; }
    counted_once(const counted_once&) = delete;
    counted_once& operator=(const counted_once&) = delete;
    ~counted_once() { count_ -= by_; }

private:
    std::size_t& count_;
    std::size_t by_;
};

/// The reply that an answer, written as text, is.
COMCP_DECL middleware_reply reply_of(const rpc::message& answer)
{
    if (answer.type != rpc::message::kind::error)
        return middleware_reply(std::string(member_source(answer.text, "result").value_or("")));
    return middleware_reply(rpc::read_error(*answer.error));
}

COMCP_DECL task<middleware_reply> request_run::arrive(middleware_message message)
{
    answer_route route = request_->route();
    auto gathered = std::make_shared<gathered_answers>();
    gathered->missing = 1;
    gathered->in_batch = route.in_batch();
    gathered->for_chain = true;
    route.gathered = gathered;
    waiter answered(*session_->lot_);
    const chain_waits waits(*gathered, answered);

    if (!request_->open()) throw error(fail(errc::cancelled, "the request was cancelled"));
    std::string text;
    rpc::write_request(text, request_->id(), message.method, message.params);
    const bool understood =
        session_->read_again(text, [&](const rpc::message& request) { session_->role_->on_request(request, route); });
    if (!understood) throw request_error(rpc_code::invalid_params, "the params were made unreadable on their way");
    if (gathered->missing != 0) {
        const counted_once once(session_->chain_->doubled, session_->handler_runs(request_->id(), *gathered));
        co_await answered.wait();
    }
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(asked)) session_->give_up_gathered(request_->id(), *gathered);

    middleware_reply reply;
    // Without one the request was cancelled, or the session has ended.
    if (gathered->text.empty()) throw error(fail(errc::cancelled, "the request was cancelled"));
    // Cut out and not parsed: what a handler gives may be nested deeper than what a peer may send.
    if (const auto result = member_source(gathered->text, "result")) co_return middleware_reply(std::string(*result));
    const bool refused =
        session_->read_again(gathered->text, [&](const rpc::message& written) { reply = reply_of(written); });
    if (!refused) throw request_error(rpc_code::internal_error, "the error of the handler cannot be read");
    co_return reply;
}

// ---- notifications -------------------------------------------------------------------------------------------------

COMCP_DECL bool is_progress(std::string_view method) { return method == method::progress; }

/// What comes in masses and says nothing that a later one would not.
COMCP_DECL bool may_be_dropped(std::string_view method) { return method == method::message || is_progress(method); }

COMCP_DECL void session::pass_notice(direction way, std::string method, std::string params, const send_hint& hint)
{
    notice_line& line = chain_->line(way);
    // The peer decides how much comes in: beyond the bound only what takes back a request in flight is kept.
    const bool full = line.waiting.size() >= limits_.notices || line.bytes + params.size() > limits_.stream_buffer;
    const bool needed = way == direction::outbound ? !may_be_dropped(method) : method == method::cancelled;
    const bool too_many = line.waiting.size() >= limits_.notices + 2 * limits_.in_flight ||
                          line.bytes + params.size() > 2 * limits_.stream_buffer;
    if (full && (!needed || too_many)) return count_dropped_notice();
    std::optional<std::string> about;
    if (way == direction::inbound && is_progress(method))
        about = std::string(member_source(params, "progressToken").value_or(""));
    line.bytes += params.size();
    line.waiting.push_back({std::move(method), std::move(params), hint, std::move(about)});
    ++line.begun;
    if (line.running) return;
    line.running = true;
    spawn_beside(pass_notices(shared_from_this(), way));
}

COMCP_DECL task<void> session::pass_notices(std::shared_ptr<session> self, direction way)
{
    notice_line& line = self->chain_->line(way);
    while (!line.waiting.empty()) {
        waiting_notice next = std::move(line.waiting.front());
        line.waiting.pop_front();
        line.bytes -= next.params.size();
        line.passing = std::move(next.about);
        try {
            middleware_message message = self->describe(way, std::move(next.method));
            message.is_request = false;
            message.params = std::move(next.params);
            auto run = std::make_shared<notice_run>(self, next.hint);
            auto passing = chain_run::start(std::move(run), std::move(message));
            co_await std::move(passing);
        } catch (...) { // a part that fails has dropped the notice
        }
        ++line.done;
        line.passing.reset();
        line.moved.wake_all();
        const auto asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) break;
    }
    line.done += line.waiting.size();
    line.waiting.clear();
    line.bytes = 0;
    line.running = false;
    line.moved.wake_all();
}

COMCP_DECL task<void> session::wait_for_notices(std::shared_ptr<session> self, direction way)
{
    notice_line& line = self->chain_->line(way);
    const std::uint64_t mine = line.begun;
    while (line.done < mine) co_await line.moved.wait();
}

/// What takes a question of a handler back goes on the stream on which it was asked.
COMCP_DECL task<void> session::abandon_after_notices(std::shared_ptr<session> self, exchange_id exchange)
{
    auto notices = wait_for_notices(self, direction::outbound);
    co_await std::move(notices);
    self->wire_->abandon(exchange);
}

COMCP_DECL notice_run::notice_run(std::shared_ptr<session> owner, send_hint hint)
    : chain_run(owner->chain_->parts),
      session_(std::move(owner)),
      hint_(hint)
{}

COMCP_DECL task<middleware_reply> notice_run::arrive(middleware_message message)
{
    const bool sends = message.way == direction::outbound;
    const auto state = session_->state_;
    if (sends && (state == session::state::open || state == session::state::draining)) {
        std::string& out = session_->begin_message(hint_);
        rpc::write_notification(out, message.method, message.params);
        session_->end_message(out);
    } else if (!sends && state == session::state::open) {
        std::string text;
        rpc::write_notification(text, message.method, message.params);
        session_->read_again(text, [&](const rpc::message& notice) { session_->take_notification(notice); });
    }
    co_return middleware_reply();
}

// ---- our requests --------------------------------------------------------------------------------------------------

COMCP_DECL outbound_run::outbound_run(std::shared_ptr<session> owner, pending_call& call, call_timeouts times)
    : chain_run(owner->chain_->parts),
      ended(*owner->lot_),
      session_(std::move(owner)),
      call_(&call),
      id_(call.wanted_id_),
      related_(call.related_),
      times_(times)
{
    session_->deadlines_.set(total_, times.total, session_->deadlines_.now());
    session_->chain_->calls.push_back(this);
}

COMCP_DECL void outbound_run::end()
{
    if (over) return;
    over = true;
    total_.clear();
    std::erase(session_->chain_->calls, this);
    ended.complete();
}

/// The request that a part goes on waiting for, though its call has ended: the part does not heed its cancellation.
struct outbound_run::wake_relayed
{
    explicit wake_relayed(std::shared_ptr<outbound_run> of) : run(std::move(of)) {}
    void operator()() const
    {
        if (run->relayed_) run->relayed_->done_.complete();
    }
    std::shared_ptr<outbound_run> run;
};

/// Tells the peer if it was sent, and the part by a post. While it waits for room it then sees that it is not wanted.
COMCP_DECL void outbound_run::give_up_relayed()
{
    if (!relayed_) return;
    if (relayed_->table_) session_->cancel(*relayed_);
    asio::post(session_->executor_, wake_relayed(shared_from_this()));
}

COMCP_DECL void outbound_run::end(fault why)
{
    if (over) return;
    if (!session_->open() && !why.rpc) why = session_->why_not_open(); // tells more than that it was cancelled
    const bool answered = why.rpc && !why.http;
    why.fate = answered ? outcome::refused : sent ? fate_ : outcome::not_sent;
    failed = std::move(why);
    give_up_relayed();
    end();
}

COMCP_DECL outbound_run* session::find_run(const rpc::id& id) const
{
    const auto number = chain_ ? id.decimal() : std::nullopt;
    if (!number) return nullptr;
    const auto found = std::find_if(chain_->calls.begin(), chain_->calls.end(),
                                    [&](const outbound_run* each) { return each->id() == *number; });
    return found == chain_->calls.end() ? nullptr : *found;
}

COMCP_DECL void outbound_run::progressed(const progress& notice)
{
    if (call_) call_->on_progress(notice);
}

COMCP_DECL void outbound_run::leave()
{
    call_ = nullptr;
    end();
}

COMCP_DECL void outbound_run::expired()
{
    if (pending_call* sent_one = session_->calls_.find(id_)) sent_one->given_up_because_ = "timed out";
    signal->emit(asio::cancellation_type::terminal); // first: the peer is told before the caller does something new
    end(fail(errc::timed_out, sent ? "no answer within the time limit" : "not sent within the time limit"));
}

/// The request as the last part gave it on. It has the id of the call that waits for it, whose progress token that is.
class relayed_call final : public pending_call
{
public:
    relayed_call(session& in, outbound_run& run, const middleware_message& message)
        : pending_call(in.lot(), message.method),
          run_(run),
          params_(message.params)
    {
        wanted_id_ = run.id_;
        relates_to(run.related_);
        run.relayed_ = this;
    }
    ~relayed_call() override { run_.relayed_ = nullptr; }
    std::string result;

private:
    void write_params(std::string& out) const override
    {
        run_.sent = true;
        if (params_.empty()) out += "{}";
        else rpc::write_raw(out, params_);
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        result = std::string(member_source(answer.text, "result").value_or(""));
        return std::nullopt;
    }
    void on_progress(const progress& notice) override { run_.progressed(notice); }

    outbound_run& run_;
    const std::string& params_;
};

COMCP_DECL task<middleware_reply> outbound_run::arrive(middleware_message message)
{
    // What was given out before goes out before: no call overtakes notifications/initialized.
    auto notices = session::wait_for_notices(session_, direction::outbound);
    co_await std::move(notices);
    if (over) throw error(fail(errc::cancelled, "the call has ended")); // its caller was told that it is not sent
    relayed_call call(*session_, *this, message);
    std::optional<rpc_error> refused;
    try {
        auto performing = session::perform_directly(session_, call, times_);
        co_await std::move(performing);
    } catch (const error& e) {
        fate_ = e.outcome();                   // what was sent may have failed to get through
        if (!e.rpc() || e.fault().http) throw; // what HTTP says of a request may quote an error, and is no answer
        refused = *e.rpc();
    }
    if (session_->chain_->inbound.tells_of(std::to_string(id_))) { // the answer does not overtake its progress
        auto progress = session::wait_for_notices(session_, direction::inbound);
        co_await std::move(progress);
    }
    if (refused) co_return middleware_reply(std::move(*refused));
    co_return middleware_reply(std::move(call.result));
}

COMCP_DECL task<void> session::run_outbound(std::shared_ptr<outbound_run> run, middleware_message message)
{
    try {
        auto way = chain_run::start(run, std::move(message));
        run->reply = co_await std::move(way);
        run->end();
    } catch (const error& e) {
        run->end(e.fault());
    } catch (const request_error& refused) {
        run->end(fail(errc::refused, refused.what()));
    } catch (const std::system_error& e) {
        const bool aborted = e.code() == asio::error::operation_aborted; // what awaiting says after a cancellation
        run->end(aborted ? fail(errc::cancelled, "the call was cancelled") : fault(e.code(), e.what()));
    } catch (const std::exception& e) {
        run->end(fail(errc::handler_failed, std::string("a middleware failed: ") + e.what()));
    } catch (...) {
        run->end(fail(errc::handler_failed, "a middleware failed"));
    }
}

/// Ends what runs for a caller when the caller goes.
class leave_run
{
public:
    explicit leave_run(outbound_run& run) : run_(run) {}
    leave_run(const leave_run&) = delete;
    leave_run& operator=(const leave_run&) = delete;
    ~leave_run() { run_.leave(); }

private:
    outbound_run& run_;
};

struct cancel_run
{
    outbound_run* run;
    void operator()() const { run->signal->emit(asio::cancellation_type::terminal); }
};

COMCP_DECL task<void> session::perform_in_chain(std::shared_ptr<session> self, pending_call& call, call_timeouts times)
{
    const asio::cancellation_state before = co_await asio::this_coro::cancellation_state;
    if (self->state_ != state::open) throw error(self->not_open());
    if (is_cancelled(before)) throw error(fail(errc::cancelled, "cancelled before it was sent"));
    call.session_ = self.get();
    call.wanted_id_ = ++self->last_id_;
    const auto run = std::make_shared<outbound_run>(self, call, times);
    const leave_run guard(*run);
    middleware_message message = self->describe(direction::outbound, std::string(call.method()));
    message.id = std::to_string(call.wanted_id_);
    call.write_params(message.params);

    const auto signal = run->signal;
    self->beside_.push_back(signal);
    asio::co_spawn(self->executor_, run_outbound(run, std::move(message)),
                   asio::bind_cancellation_slot(signal->slot(), beside_ended(self, signal)));
    const cancel_run on_cancel{run.get()};
    if (!run->over) co_await run->ended.wait(on_cancel);

    call.id_ = run->sent ? call.wanted_id_ : 0;
    const asio::cancellation_state after = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(after)) run->end(fail(errc::cancelled, "the call was cancelled"));
    if (run->failed) {
        call.failed_ = std::move(run->failed);
    } else if (run->reply.error) {
        call.failed_ = refused_with(std::move(*run->reply.error));
    } else {
        std::string text;
        rpc::write_result(text, rpc::id(call.wanted_id_), run->reply.result);
        std::optional<fault> bad = fail(errc::invalid_message, "the result was made unreadable on its way");
        self->read_again(text, [&](const rpc::message& answer) { bad = call.read_result(answer); });
        if (bad) bad->fate = outcome::unknown;
        call.failed_ = std::move(bad);
    }
    finish(call);
}

} // namespace comcp::inline COMCP_ABI::detail
