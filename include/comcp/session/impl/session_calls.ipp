// SPDX-License-Identifier: MIT
//
// Our own requests: room, deadlines, answers, cancellation.
#pragma once

#include <comcp/session/session.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL task<void> session::perform(std::shared_ptr<session> self, pending_call& call, call_timeouts times)
{
    return self->chain_ ? perform_in_chain(self, call, times) : perform_directly(self, call, times);
}

COMCP_DECL task<void> session::perform_directly(std::shared_ptr<session> self, pending_call& call, call_timeouts times)
{
    const asio::cancellation_state caller = co_await asio::this_coro::cancellation_state;
    self->begin(call, times, caller, self->now());
    if (call.waits_for_room()) co_await wait_for_room(self, call);
    if (call.sent()) co_await self->wait_for_answer(call);
    finish(call);
}

COMCP_DECL void session::begin(pending_call& call, call_timeouts times, const asio::cancellation_state& caller,
                               time_point now)
{
    call.session_ = this;
    deadlines_.set(call.total_, times.total, now);
    call.idle_after_ = times.idle < times.total ? times.idle : no_limit;
    try_to_send(call, caller, false);
}

COMCP_DECL task<void> session::wait_for_room(std::shared_ptr<session> self, pending_call& call)
{
    while (call.waits_for_room()) {
        self->waiting_for_room_.push_back(&call);
        const room_guard guard(*self, call);
        co_await call.done_.wait();
        const asio::cancellation_state caller = co_await asio::this_coro::cancellation_state;
        self->try_to_send(call, caller, true);
    }
}

COMCP_DECL void session::try_to_send(pending_call& call, const asio::cancellation_state& caller, bool waited)
{
    if (call.failed_) return; // its time was over while it waited
    if (state_ != state::open) call.failed_ = not_open();
    else if (call.wanted_id_ != 0 && !find_run(rpc::id(call.wanted_id_))) // it was given on by a chain too late
        call.failed_ = fail(errc::cancelled, "the call has ended");
    else if (is_cancelled(caller)) call.failed_ = fail(errc::cancelled, "cancelled before it was sent");
    else if (!wire_->can_ask(exchange_of(call)))
        call.failed_ = fail(errc::unsupported, "the client cannot be asked: it has no stream to hear it on");
    // First come, first served: a newcomer queues behind those that wait for room.
    else if (room() && (waited || waiting_for_room_.empty())) send_request(call);
}

COMCP_DECL void session::finish(pending_call& call)
{
    call.total_.clear();
    call.session_->leave_if_retired();
    if (!call.failed_) return;
    call.failed_->method = call.method_;
    if (call.id_ != 0) call.failed_->id = std::to_string(call.id_);
    throw error(std::move(*call.failed_));
}

COMCP_DECL void session::notify(std::string_view method)
{
    if (state_ != state::open && state_ != state::draining) return;
    if (chain_) return pass_notice(direction::outbound, std::string(method), {}, {});
    std::string& out = begin_message({});
    rpc::write_notification(out, method);
    end_message(out);
}

COMCP_DECL void session::on_progress(const rpc::message& message)
{
    const auto id = id_param(message, "progressToken");
    pending_call* call = id ? find(*id) : nullptr;
    outbound_run* const run = id && !call ? find_run(*id) : nullptr;
    const auto notice = call || run ? read_progress(*message.params) : std::nullopt;
    if (!notice) return;
    // Progress restarts the idle clock, never the total (B-11).
    if (call) deadlines_.set(call->idle_, call->idle_after_, deadlines_.now());
    call ? call->on_progress(*notice) : run->progressed(*notice);
}

COMCP_DECL pending_call* session::find(const rpc::id& id) const
{
    const auto number = id.decimal();
    return number ? calls_.find(*number) : nullptr;
}

COMCP_DECL bool session::answers_on(const pending_call& call, exchange_id on) const
{
    return role_->serves() || on == pipe_exchange || on == exchange_of(call);
}

COMCP_DECL void session::on_answer(const rpc::message& message, exchange_id on)
{
    if (!message.has_id) return on_error_without_id(message, on);
    pending_call* call = find(message.id);
    if (!call) {
        const auto number = message.id.decimal();
        if (number && *number > 0 && *number <= last_id_) {
            ++statistics_.late_answers;
            observer_.late_answer(message.id.text());
        } else {
            note_bad("an answer to a request that was never made", message.text);
        }
        return;
    }
    if (!answers_on(*call, on)) return note_bad("an answer to the request of another exchange", message.text);
    const exchange_id exchange = exchange_of(*call);
    if (message.type == rpc::message::kind::error) {
        call->end(refusal(*message.error));
    } else if (auto bad = call->read_result(message)) {
        bad->fate = outcome::unknown;
        call->end(std::move(*bad));
    } else {
        call->end();
    }
    if (!role_->serves()) wire_->complete(exchange);
    offer_room();
}

COMCP_DECL fault session::refusal(const json::object& object)
{
    fault why = refused_with(rpc::read_error(object));
    role_->on_refused(*why.rpc);
    return why;
}

COMCP_DECL fault session::refused_with(rpc_error peer)
{
    fault why = fail(errc::refused, peer.message + " (" + std::to_string(peer.code) + ")");
    why.fate = outcome::refused;
    // A server that took over from one that is gone says so: it answers, but not for what that one did.
    const json::object* data = peer.data.if_object();
    if (data && string_member(*data, "outcome") == "unknown") {
        why.code = errc::peer_gone;
        why.fate = outcome::unknown;
    }
    why.rpc = std::make_shared<const rpc_error>(std::move(peer));
    return why;
}

COMCP_DECL void session::on_error_without_id(const rpc::message& message, exchange_id exchange)
{
    note_bad("an error without an id", message.text);
    pending_call* call = caller_on(exchange);
    if (!call && exchange == pipe_exchange && calls_.size() == 1) call = calls_.any();
    if (call) end_answered(*call, refusal(*message.error));
}

COMCP_DECL void session::end_answered(pending_call& call, fault why)
{
    const exchange_id exchange = exchange_of(call);
    call.end(std::move(why));
    if (!role_->serves()) wire_->complete(exchange);
    offer_room();
}

COMCP_DECL void session::leave_if_retired()
{
    const bool in_chain = chain_ && !chain_->calls.empty();
    if (retired_ && calls_.size() == 0 && !in_chain && waiting_for_room_.empty() && state_ == state::open)
        begin_close(fault(errc::closed, "another session took its place"), false);
}

COMCP_DECL void session::send_request(pending_call& call)
{
    call.id_ = call.wanted_id_ != 0 ? call.wanted_id_ : ++last_id_;
    std::string& out = begin_message({exchange_of(call), send_hint::kind::request});
    append_all(out,
               {R"({"jsonrpc":"2.0","id":)", integer_text(call.id_), R"(,"method":")", call.method_, R"(","params":)"});
    call.write_params(out);
    out += '}';
    end_message(out);
    calls_.add(call);
    if (call.idle_after_ != no_limit) deadlines_.set(call.idle_, call.idle_after_, deadlines_.now());
}

COMCP_DECL void session::tell_cancelled(const pending_call& call, std::string_view reason)
{
    if (call.method_ == method::initialize) return;
    const exchange_id about = role_->serves() ? call.related_ : pipe_exchange;
    notify(
        method::cancelled,
        [&](std::string& out) { codec().write_cancelled_params(out, rpc::id(call.id_), reason, revision_); },
        send_hint{about});
}

COMCP_DECL void session::give_up(const pending_call& call, std::string_view reason)
{
    tell_cancelled(call, reason);
    if (!role_->serves()) wire_->abandon(exchange_of(call));
}

COMCP_DECL void session::cancel(pending_call& call)
{
    if (!call.table_) return; // asked again by middleware that sees the peer being told
    calls_.remove(call);
    call.total_.clear();
    call.idle_.clear();
    call.failed_ = fail(errc::cancelled, "the call was cancelled");
    call.failed_->fate = outcome::unknown;
    give_up(call, call.given_up_because_);
    if (!waiting_for_room_.empty()) asio::post(executor_, [self = shared_from_this()] { self->offer_room(); });
}

COMCP_DECL void session::on_deadline(pending_call& call)
{
    fault why = fail(errc::timed_out, "no answer within the time limit");
    if (call.table_) {
        why.fate = outcome::unknown;
        give_up(call, "timed out");
    } else {
        why.text = "not sent within the time limit: the output of the session is full";
    }
    call.end(std::move(why));
    offer_room();
}

COMCP_DECL void session::offer_room()
{
    while (!waiting_for_room_.empty() && (room() || state_ != state::open)) {
        pending_call* next = waiting_for_room_.front();
        waiting_for_room_.pop_front();
        next->done_.complete();
    }
}

COMCP_DECL void pending_call::expired() { session_->on_deadline(*this); }

} // namespace comcp::inline COMCP_ABI::detail
