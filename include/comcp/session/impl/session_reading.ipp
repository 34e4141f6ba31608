// SPDX-License-Identifier: MIT
//
// What arrives: every message is judged here and passed on, and the peer's requests are admitted, answered and
// cancelled.
#pragma once

#include <comcp/rpc/scan.hpp>
#include <comcp/session/session.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void session::count_dropped_notice()
{
    ++statistics_.dropped_notices;
    observer_.dropped_notice(1);
}

COMCP_DECL void session::answer_error(const rpc::id* id, const answer_route& route, std::int64_t code,
                                      std::string_view message, std::string_view data)
{
    if (state_ == state::ended) return;
    std::string& out = begin_answer(route, codec().http_status(code, revision_));
    if (id || !negotiated_ || codec().null_error_id(revision_)) rpc::write_error(out, id, code, message, data);
    else rpc::write_error_without_id(out, code, message, data);
    end_answer(out, route);
}

COMCP_DECL std::shared_ptr<inbound> session::admit(const rpc::message& request, const answer_route& route)
{
    // With middleware the request was counted when it set out.
    const bool counted = route.gathered && route.gathered->for_chain;
    if (!counted && no_room_for(request)) {
        answer_error(&request.id, route, rpc_code::internal_error, "too many requests", R"({"retryable":true})");
        return nullptr;
    }
    auto request_now = std::make_shared<inbound>(request.id, route, counted ? 0 : request.text.size());
    request_now->session_ = this;
    inbound_.add(request_now);
    return request_now;
}

COMCP_DECL bool session::no_room_for(const rpc::message& request) const
{
    if (in_flight() >= limits_.in_flight) return true;
    return held_bytes_ != 0 && held_bytes_ + request.text.size() > limits_.held_requests;
}

COMCP_DECL std::size_t session::in_flight() const
{
    return handlers_ - answered_handlers_ - (chain_ ? chain_->doubled : 0);
}

COMCP_DECL void session::answer_error(inbound& request, std::int64_t code, std::string_view message,
                                      std::string_view data)
{
    if (!request.session_) return;
    const auto keep = release_answered(request);
    answer_error(&request.id_, request.route_, code, message, data);
}

COMCP_DECL void session::spawn(std::shared_ptr<inbound> request, task<void> body)
{
    count_handler(*request);
    const auto assign = [&](handler_worker& worker) {
        request->worker_signal_ = &worker.signal;
        worker.request = std::move(request);
        worker.job = std::move(body);
    };
    if (!idle_workers_.empty()) {
        handler_worker& worker = *idle_workers_.back();
        idle_workers_.pop_back();
        assign(worker);
        return worker.idle.complete();
    }
    const auto worker = std::make_shared<handler_worker>(*lot_);
    assign(*worker);
    ++workers_;
    asio::co_spawn(executor_, work(shared_from_this(), *worker),
                   asio::bind_cancellation_slot(worker->signal.slot(), worker_ended(shared_from_this(), worker)));
}

COMCP_DECL task<void> session::work(std::shared_ptr<session> self, handler_worker& me)
{
    while (me.request) {
        {
            task<void> job = std::move(me.job); // in a scope: its frame ends before its request does
            try {
                co_await std::move(job);
            } catch (...) { // it answers for itself; without an answer the request is answered below
            }
        }
        co_await asio::this_coro::reset_cancellation_state();
        co_await asio::this_coro::throw_if_cancelled(true);
        self->on_handler_ended(*std::exchange(me.request, nullptr));
        if (self->state_ == state::ended || self->idle_workers_.size() >= handler_worker::most_idle) co_return;
        self->idle_workers_.push_back(&me);
        co_await me.idle.wait_uncancelled();
    }
}

COMCP_DECL void session::dismiss_idle_workers()
{
    for (handler_worker* each : std::exchange(idle_workers_, {})) each->idle.complete();
}

COMCP_DECL void session::spawn_on(const comcp::executor& elsewhere, const std::shared_ptr<inbound>& request,
                                  task<void> body)
{
    count_handler(*request);
    const comcp::executor strand = asio::make_strand(elsewhere);
    request->foreign_ = strand;
    asio::co_spawn(strand, std::move(body),
                   asio::bind_cancellation_slot(request->foreign_signal_.slot(),
                                                foreign_handler_ended(home_, weak_from_this(), request)));
}

COMCP_DECL void session::spawn_beside(task<void> body)
{
    auto signal = std::make_shared<asio::cancellation_signal>();
    beside_.push_back(signal);
    asio::co_spawn(executor_, std::move(body),
                   asio::bind_cancellation_slot(signal->slot(), beside_ended(shared_from_this(), signal)));
}

COMCP_DECL task<void> session::read(std::shared_ptr<session> self)
{
    transport_batch batch;
    while (self->state_ == state::open) {
        co_await self->wire_->receive(batch);
        for (transport_event& event : batch) {
            if (self->state_ != state::open) break;
            self->on_event(event);
            // Tested after every message: a bound on the writer alone bounds nothing, since finished answers would
            // wait in the frames of their handlers.
            while (self->must_pause()) {
                self->wire_->flush();
                if (self->must_pause()) co_await self->drained_.wait();
            }
        }
        self->parser_.clear(); // an idle session does not hold its last message
    }
}

COMCP_DECL void session::on_event(transport_event& event)
{
    switch (event.what) {
    case transport_event::kind::message: on_text(event.text, event.exchange); break;
    case transport_event::kind::oversized: on_oversized(event.skipped, event.exchange); break;
    case transport_event::kind::exchange_failed: on_exchange_failed(event); break;
    case transport_event::kind::exchange_closed: on_exchange_closed(event.exchange); break;
    case transport_event::kind::closed: on_closed(std::move(event.why)); break;
    }
}

COMCP_DECL pending_call* session::caller_on(exchange_id exchange) const
{
    return role_->serves() || exchange == pipe_exchange ? nullptr : calls_.find(static_cast<std::int64_t>(exchange));
}

COMCP_DECL void session::on_exchange_failed(transport_event& event)
{
    if (pending_call* call = caller_on(event.exchange)) {
        call->end(std::move(event.why));
        return offer_room();
    }
    note_bad(event.why.text, ""); // a notification or an answer of ours was refused
}

COMCP_DECL void session::on_exchange_closed(exchange_id exchange)
{
    // Handshake era, transports: a peer that leaves an exchange does not cancel its request (E-32).
    if (role_->serves()) return;
    pending_call* call = caller_on(exchange);
    if (!call) return wire_->complete(exchange);
    if (wire_->resume(exchange)) return;
    fault why = fail(errc::peer_gone, "the server ended the response without an answer");
    why.fate = outcome::unknown;
    wire_->abandon(exchange);
    call->end(std::move(why));
    offer_room();
}

COMCP_DECL void session::on_text(std::string_view text, exchange_id exchange)
{
    ++statistics_.received;
    observer_.receive(text);
    const rpc::parsed& read = parser_.parse(text);
    if (read.state == rpc::parsed::status::batch) return on_batch(read, exchange);
    on_parsed(read, text, answer_route{exchange, nullptr});
}

COMCP_DECL void session::on_batch(const rpc::parsed& read, exchange_id exchange)
{
    if (!negotiated_ || !codec().receives_batches(revision_)) {
        note_bad("a batch, which this revision does not have", "");
        if (role_->serves())
            answer_error(nullptr, answer_route{exchange, nullptr}, rpc_code::invalid_request,
                         "batches are not part of this revision");
        return;
    }
    answer_route route{exchange, std::make_shared<gathered_answers>()};
    route.gathered->exchange = exchange;
    route.gathered->missing = 1;
    // Counted first: an answer given in place must not complete the array early.
    for (const rpc::parsed& element : read.elements)
        if (wants_answer(element)) ++route.gathered->missing;
    for (const rpc::parsed& element : read.elements) {
        if (state_ != state::open) return;
        on_parsed(element, element.msg.text, route);
    }
    answer_gathered(route);
}

COMCP_DECL bool session::wants_answer(const rpc::parsed& element) const
{
    if (element.state == rpc::parsed::status::message) return element.msg.type == rpc::message::kind::request;
    return role_->serves();
}

COMCP_DECL void session::on_parsed(const rpc::parsed& read, std::string_view text, const answer_route& route)
{
    if (read.state != rpc::parsed::status::message) return on_unreadable(read, text, route);
    const rpc::message& message = read.msg;
    switch (message.type) {
    case rpc::message::kind::request:
        if (inbound_.find(message.id)) // A-3
            answer_error(&message.id, route, rpc_code::invalid_request, "the id of this request is in use");
        else if (message.bad_params && knows(message.method)) // an unknown method is that first (A-31)
            answer_error(&message.id, route, rpc_code::invalid_params, "params must be an object");
        else if (chain_) pass_request(message, route);
        else role_->on_request(message, route);
        break;
    case rpc::message::kind::notification:
        on_notification(message);
        no_answer_due(route);
        break;
    case rpc::message::kind::result:
    case rpc::message::kind::error:
        on_answer(message, route.exchange);
        no_answer_due(route);
        break;
    }
}

COMCP_DECL void session::no_answer_due(const answer_route& route)
{
    if (role_->serves() && !route.gathered) wire_->complete(route.exchange);
}

COMCP_DECL bool session::knows(std::string_view method) const
{
    const auto from = role_->serves() ? wire::sender::client : wire::sender::server;
    return codec().find(from, wire::kind::request, method, revision_) != nullptr;
}

COMCP_DECL void session::on_unreadable(const rpc::parsed& read, std::string_view text, const answer_route& route)
{
    note_bad(read.why, text);
    const bool too_deep = read.state == rpc::parsed::status::too_deep;
    rpc::oversize_facts deep; // what is nested too deep was not parsed, but its id is told all the same
    if (too_deep) {
        rpc::oversize_scanner scanner;
        scanner.feed(text);
        deep = scanner.facts();
    }
    const rpc::id* id = read.id_known ? &read.id : deep.id_known ? &deep.id : nullptr;
    // Without a method it is somebody's answer, if anything (SHAPE 47).
    const bool answers = too_deep ? deep.has_result || deep.has_error : read.has_jsonrpc && !read.has_method;
    pending_call* call = id && answers ? find(*id) : nullptr;
    if (call && !answers_on(*call, route.exchange)) call = nullptr;
    const bool is_answer = too_deep ? (deep.has_result || deep.has_error) && !deep.has_method : read.is_answer;
    if (role_->serves() && !call && is_answer) {
        // Its id is one of ours. An error that carried it would answer a request of the peer that has the same one.
        if (route.gathered) answer_gathered(route); // it was counted as one to be answered
        else no_answer_due(route);
    } else if (role_->serves() && !call) {
        const bool not_json = read.state == rpc::parsed::status::not_json || too_deep;
        answer_error(id, route, not_json ? rpc_code::parse_error : rpc_code::invalid_request, read.why);
    } else if (call) {
        fault why = fail(too_deep ? errc::too_deep : errc::invalid_message,
                         "the answer is malformed: " + std::string(read.why) + ": " + std::string(text.substr(0, 200)));
        why.fate = outcome::unknown;
        end_answered(*call, std::move(why));
        if (role_->serves() && route.gathered) answer_gathered(route); // it was counted as one to be answered
        else no_answer_due(route);
    }
}

COMCP_DECL void session::note_bad(std::string_view why, std::string_view text)
{
    ++statistics_.bad_messages;
    observer_.bad_message(why, text.substr(0, 200));
}

COMCP_DECL void session::on_oversized(const rpc::oversize_facts& facts, exchange_id exchange)
{
    ++statistics_.oversized;
    observer_.bad_message("a message over the size limit", facts.method);
    const answer_route route{exchange, nullptr};
    if (facts.has_method) {
        if (facts.id_present)
            answer_error(facts.id_known ? &facts.id : nullptr, route, rpc_code::invalid_request,
                         "the request is over the size limit");
        return;
    }
    if (facts.id_known) {
        if (pending_call* call = find(facts.id); call && answers_on(*call, exchange)) {
            fault why = fail(errc::too_large, "the answer of " + std::to_string(facts.bytes) +
                                                  " bytes is over the limit of " + std::to_string(limits_.message));
            why.fate = outcome::unknown;
            return end_answered(*call, std::move(why));
        }
    }
    if (role_->serves() && !facts.has_result && !facts.has_error)
        answer_error(nullptr, route, rpc_code::invalid_request, "the message is over the size limit");
}

COMCP_DECL void session::on_notification(const rpc::message& message)
{
    if (!chain_) return take_notification(message);
    const auto params = message.params ? member_source(message.text, "params") : std::nullopt;
    pass_notice(direction::inbound, std::string(message.method), std::string(params.value_or("")), {});
}

COMCP_DECL void session::take_notification(const rpc::message& message)
{
    if (message.method == method::cancelled) return on_cancelled(message);
    if (message.method == method::progress) return on_progress(message);
    role_->on_notification(message);
}

COMCP_DECL void session::on_cancelled(const rpc::message& message)
{
    const auto wanted = id_param(message, "requestId");
    if (!wanted) return;
    inbound* const found = inbound_.find(*wanted);
    if (!found) return;
    ++statistics_.cancelled_by_peer;
    const std::shared_ptr<inbound> request = release(*found);
    // With middleware it is in flight twice: the request on its way, found last, and the handler at the end of the way.
    std::shared_ptr<inbound> outer;
    if (inbound* const on_its_way = chain_ ? inbound_.find(*wanted) : nullptr) outer = release(*on_its_way);
    if (outer) outer->emit(outer);
    request->emit(request); // first: what the handler asked is taken back on the stream on which it was asked
    if (outer) give_up_answer(*outer);
    give_up_answer(*request);
}

COMCP_DECL std::optional<rpc::id> session::id_param(const rpc::message& message, std::string_view name)
{
    const json::value* value = message.params ? member(*message.params, name) : nullptr;
    return rpc::detail::read_id(value, [&] {
        const auto params = member_source(message.text, "params");
        return params ? member_source(*params, name) : std::nullopt;
    });
}

COMCP_DECL std::string& session::begin_message(const send_hint& hint)
{
    std::string& out = wire_->begin(hint);
    message_start_ = out.size();
    return out;
}

COMCP_DECL void session::end_message(std::string& out)
{
    ++statistics_.sent;
    observer_.send(std::string_view(out).substr(message_start_));
    wire_->commit();
    if (!stall_.set() && wire_->queued() != 0) {
        stall_mark_ = wire_->written();
        idle_checks_ = -1; // the first check may come right after a later message, so it does not count
        watch_output();
    }
}

COMCP_DECL std::string& session::begin_answer(const answer_route& route, int status)
{
    if (!route.gathered) return begin_message({route.exchange, send_hint::kind::answer, status});
    std::string& out = route.gathered->text;
    message_start_ = out.size();
    if (!route.gathered->for_chain) out += out.empty() ? '[' : ',';
    return out;
}

COMCP_DECL void session::end_answer(std::string& out, const answer_route& route)
{
    if (route.joins_batch()) batch_bytes_ += out.size() - message_start_;
    if (route.gathered) return answer_gathered(route);
    answer_bytes_ += out.size() - message_start_;
    end_message(out);
}

COMCP_DECL void session::refuse_in_batch(std::string& out, std::size_t start, const rpc::id& id)
{
    out.resize(start);
    rpc::write_error(out, &id, rpc_code::internal_error, "the answers to batches are too long",
                     R"({"retryable":true})");
}

COMCP_DECL void session::give_up_answer(inbound& request)
{
    if (request.route_.gathered) return answer_gathered(request.route_);
    if (!role_->serves()) return; // a client's exchange is its own call's
    const exchange_id exchange = request.route_.exchange;
    const bool notices_wait = chain_ && chain_->outbound.begun != chain_->outbound.done;
    if (notices_wait && exchange != pipe_exchange) spawn_beside(abandon_after_notices(shared_from_this(), exchange));
    else wire_->abandon(exchange);
}

COMCP_DECL void session::answer_gathered(const answer_route& route)
{
    gathered_answers& batch = *route.gathered;
    if (--batch.missing != 0 || state_ == state::ended) return;
    if (batch.for_chain) {
        if (batch.chain) batch.chain->complete();
        return;
    }
    if (batch.text.empty()) {                                 // notifications only, or all was cancelled
        if (role_->serves()) wire_->complete(batch.exchange); // that of a client is its own call's
        return;
    }
    batch_bytes_ -= batch.text.size();
    std::string& out = begin_message({batch.exchange, send_hint::kind::answer});
    out += batch.text;
    out += ']';
    answer_bytes_ += batch.text.size();
    end_message(out);
}

COMCP_DECL void session::count_handler(inbound& request)
{
    request.running_ = true;
    ++handlers_;
    held_bytes_ += request.bytes_;
}

COMCP_DECL void session::on_handler_ended(inbound& request)
{
    --handlers_;
    if (request.answered_) --answered_handlers_;
    request.running_ = false;
    request.worker_signal_ = nullptr;
    held_bytes_ -= request.bytes_;
    if (request.session_) answer_error(request, rpc_code::internal_error, "the handler ended without an answer");
    if (drained_.waiting() && !must_pause()) drained_.complete();
    if (handlers_ == 0) quiet_.wake_all();
}

COMCP_DECL std::shared_ptr<inbound> session::release_answered(inbound& request)
{
    request.answered_ = request.running_;
    if (request.answered_) ++answered_handlers_;
    return release(request);
}

COMCP_DECL std::shared_ptr<inbound> session::release(inbound& request)
{
    request.session_ = nullptr;
    return inbound_.remove(request);
}

} // namespace comcp::inline COMCP_ABI::detail
