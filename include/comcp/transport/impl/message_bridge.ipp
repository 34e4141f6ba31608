// SPDX-License-Identifier: MIT
//
// What is relayed, and what is owed: see transport/message_bridge.hpp.
#pragma once

#include <comcp/transport/message_bridge.hpp>

#include <comcp/detail/within.hpp>
#include <comcp/error.hpp>
#include <comcp/json/value.hpp>
#include <comcp/rpc/print.hpp>
#include <comcp/rpc/scan.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

struct message_bridge::pump_ended
{
    explicit pump_ended(std::shared_ptr<message_bridge> of) : self(std::move(of)) {}
    void operator()(std::exception_ptr failure) const
    {
        --self->pumps_;
        if (failure) self->end(fail(errc::peer_gone, "relaying failed: " + fault_of(failure).text));
        self->changed_.complete();
    }
    std::shared_ptr<message_bridge> self;
};

struct message_bridge::wake_up
{
    explicit wake_up(std::weak_ptr<message_bridge> of) : self(std::move(of)) {}
    void operator()() const
    {
        const auto held = self.lock();
        if (!held) return;
        if (!held->host_is_behind() || held->leaving_) {
            held->host_taken_.complete();
            held->answer_taken_.complete();
        }
        held->changed_.complete();
    }
    std::weak_ptr<message_bridge> self;
};

struct message_bridge::time_up
{
    message_bridge* self;
    void operator()() const
    {
        self->late_ = true;
        if (self->leaving_) self->app_->close(); // it does not come to its end by itself
        self->wake();
    }
};

/// What is nested too deep is not parsed, but whose it is can be told.
inline rpc::oversize_facts outline_of(std::string_view text)
{
    rpc::oversize_scanner scanner;
    scanner.feed(text);
    return scanner.facts();
}

struct message_bridge::not_read
{
    message_bridge* self;
    void operator()() const { self->end(fail(errc::peer_gone, "the host does not read the answers")); }
};

COMCP_DECL message_bridge::message_bridge(const executor& ex, std::unique_ptr<transport> host,
                                          std::unique_ptr<transport> app, const limits& bounds)
    : limits_(bounds),
      executor_(ex),
      lot_(make_parking_lot(ex)),
      host_(std::move(host)),
      app_(std::move(app)),
      from_host_(bounds.depth),
      from_app_(bounds.depth),
      clock_(ex),
      stall_(ex),
      changed_(*lot_),
      host_taken_(*lot_),
      answer_taken_(*lot_)
{}

// ---- life

COMCP_DECL task<fault> message_bridge::run(std::shared_ptr<message_bridge> self)
{
    co_await self->app_->open();
    co_await self->host_->open();
    self->begun_ = true;
    self->host_->on_drained(on_host_drained, self.get());
    self->pumps_ = 2;
    asio::co_spawn(self->executor_, from_host(self), pump_ended(self));
    asio::co_spawn(self->executor_, from_app(self), pump_ended(self));
    while (!self->over()) co_await self->changed_.wait();

    self->fail_all(self->why_ ? self->why_->text : "the bridge was told to end before the answer came");
    const duration limit = self->limits_.close;
    self->late_ = false;
    self->clock_.start(deadline_after(self->clock_.now(), limit), time_up{self.get()});
    self->host_->flush();
    while (self->host_->queued() != 0 && !self->host_->write_error() && !self->late_) co_await self->changed_.wait();
    // The application hears that its session is over, if that can be done in time.
    self->leaving_ = true;
    if (!self->late_) {
        self->clock_.start(deadline_after(self->clock_.now(), limit), time_up{self.get()});
        auto finishing = self->app_->finish();
        co_await std::move(finishing);
    }
    self->clock_.cancel();
    self->app_->close();
    self->host_->close();
    self->stall_.cancel();
    self->wake();
    while (self->pumps_ != 0) co_await self->changed_.wait();
    co_return self->why_.value_or(fault());
}

COMCP_DECL void message_bridge::stop()
{
    input_over_ = late_ = true;
    wake();
}

COMCP_DECL void message_bridge::end(fault why)
{
    if (!why_) why_ = std::move(why);
    wake();
}

COMCP_DECL void message_bridge::wake() { asio::post(executor_, wake_up(weak_from_this())); }

COMCP_DECL void message_bridge::on_host_drained(void* which)
{
    auto& self = *static_cast<message_bridge*>(which);
    if (const std::error_code failed = self.host_->write_error())
        return self.end(fail(errc::peer_gone, "the host does not take answers any more: " + failed.message()));
    self.watch_host();
    self.wake();
}

/// Begins its time anew while it is behind.
COMCP_DECL void message_bridge::watch_host()
{
    if (!host_is_behind() || leaving_) return stall_.cancel();
    stall_.start(deadline_after(stall_.now(), limits_.write_stall), not_read{this});
}

// ---- from the host

COMCP_DECL task<void> message_bridge::from_host(std::shared_ptr<message_bridge> self)
{
    transport_batch batch;
    while (!self->leaving_ && !self->input_over_) {
        co_await self->host_->receive(batch);
        for (transport_event& each : batch) self->on_host(each);
        self->from_host_.clear();
        self->host_->flush();
        self->watch_host();
        while (self->host_is_behind() && !self->leaving_) co_await self->host_taken_.wait();
    }
}

COMCP_DECL void message_bridge::on_host(transport_event& event)
{
    if (leaving_) return; // we closed it
    switch (event.what) {
    case transport_event::kind::message: return relay_to_app(event.text);
    case transport_event::kind::oversized:
        if (event.skipped.has_method && event.skipped.id_known)
            answer_error(&event.skipped.id, rpc_code::invalid_request, "the message is over the size limit");
        return;
    case transport_event::kind::closed:
        input_over_ = true;
        if (event.why.code) return end(std::move(event.why));
        clock_.start(deadline_after(clock_.now(), limits_.close), time_up{this});
        return wake();
    default: return;
    }
}

COMCP_DECL void message_bridge::relay_to_app(std::string_view text)
{
    using status = rpc::parsed::status;
    const rpc::parsed& read = from_host_.parse(text);
    if (read.state == status::not_json) return answer_error(nullptr, rpc_code::parse_error, read.why);
    if (read.state == status::too_deep) {
        const rpc::oversize_facts facts = outline_of(text);
        if (facts.has_method || !facts.id_known) // what looks like an answer gets none
            answer_error(facts.id_known ? &facts.id : nullptr, rpc_code::parse_error, read.why);
        return;
    }
    if (read.state == status::invalid) {
        if (read.has_method || !read.id_known) // what looks like an answer gets none
            answer_error(read.id_known ? &read.id : nullptr, rpc_code::invalid_request, read.why);
        return;
    }

    call asked;
    asked.bytes = text.size();
    const auto look_at = [&](const rpc::parsed& one) {
        if (one.state != status::message || one.msg.type != rpc::message::kind::request) return;
        asked.ids.push_back(one.msg.id);
        asked.initialize = asked.initialize || one.msg.method == "initialize";
    };
    if (read.state == status::message) look_at(read);
    for (const rpc::parsed& each : read.elements) look_at(each);

    send_hint hint;
    if (asked.ids.empty()) {
        const bool one = read.state == status::message;
        const bool notice = !one || read.msg.type == rpc::message::kind::notification;
        hint.what = notice ? send_hint::kind::notification : send_hint::kind::answer;
        send_to_app(text, hint);
        if (!one || !notice) return;
        if (read.msg.method == "notifications/cancelled") return cancel(read.msg);
        if (read.msg.method == "notifications/initialized" && !std::exchange(listening_, true)) app_->listen();
        return;
    }
    if (calls_.size() >= limits_.in_flight || held_ >= limits_.message) {
        for (const rpc::id& each : asked.ids)
            answer_error(&each, rpc_code::internal_error, "too many requests", R"({"retryable":true})");
        return;
    }
    hint.what = send_hint::kind::request;
    hint.exchange = exchange_id(++last_call_);
    held_ += asked.bytes;
    calls_.emplace(last_call_, std::move(asked));
    send_to_app(text, hint);
}

COMCP_DECL void message_bridge::send_to_app(std::string_view text, const send_hint& hint)
{
    app_->begin(hint) += text;
    app_->commit();
}

/// A cancelled request gets no answer, and its exchange perhaps no end.
COMCP_DECL void message_bridge::cancel(const rpc::message& notice)
{
    const json::value* const value = notice.params ? member(*notice.params, "requestId") : nullptr;
    const auto named = rpc::detail::read_id(value, [&] {
        const auto params = member_source(notice.text, "params");
        return params ? member_source(*params, "requestId") : std::nullopt;
    });
    if (!named) return;
    for (auto each = calls_.begin(); each != calls_.end(); ++each) {
        const call& one = each->second;
        // 2025-11-25, cancellation: never of initialize (B-2).
        if (one.initialize || one.ids.size() != 1 || one.ids.front() != *named) continue;
        app_->abandon(exchange_id(each->first));
        held_ -= one.bytes;
        calls_.erase(each);
        return wake();
    }
}

// ---- from the application

COMCP_DECL task<void> message_bridge::from_app(std::shared_ptr<message_bridge> self)
{
    transport_batch batch;
    while (!self->leaving_) {
        co_await self->app_->receive(batch);
        for (transport_event& each : batch) {
            if (self->leaving_ || each.what == transport_event::kind::closed) co_return;
            self->on_app(each);
            self->host_->flush();
            self->watch_host();
            while (self->host_is_behind() && !self->leaving_) co_await self->answer_taken_.wait();
        }
        self->from_app_.clear();
    }
}

COMCP_DECL void message_bridge::on_app(transport_event& event)
{
    switch (event.what) {
    case transport_event::kind::message: return relay_to_host(event.text, event.exchange);
    case transport_event::kind::oversized: return on_unread(event.skipped, event.exchange, "over the size limit");
    case transport_event::kind::exchange_failed: return on_failed(event.exchange, event.why);
    case transport_event::kind::exchange_closed: return on_closed(event.exchange);
    case transport_event::kind::closed: return;
    }
}

COMCP_DECL void message_bridge::relay_to_host(std::string_view text, exchange_id on)
{
    using status = rpc::parsed::status;
    const rpc::parsed& read = from_app_.parse(text);
    if (read.state == status::not_json) return; // no line of it must reach the host
    if (read.state == status::too_deep) return on_unread(outline_of(text), on, "nested too deep");
    if (read.state != status::batch) {
        if (passes(read, on)) send_to_host(text);
        return settle(on);
    }
    std::string kept;
    for (const rpc::parsed& each : read.elements) {
        if (!passes(each, on)) continue;
        kept += kept.empty() ? '[' : ',';
        kept += each.msg.text;
    }
    if (!kept.empty()) send_to_host(kept += ']');
    settle(on);
}

COMCP_DECL void message_bridge::send_to_host(std::string_view text)
{
    rpc::write_raw(host_->begin({}), text); // newlines between tokens would end the line
    host_->commit();
}

/// Whether the host is to hear it as it is. An answer that is heard, or stands for one, is not owed any more.
COMCP_DECL bool message_bridge::passes(const rpc::parsed& read, exchange_id on)
{
    if (read.state == rpc::parsed::status::message) {
        const bool asks = read.msg.type == rpc::message::kind::request;
        const bool tells = read.msg.type == rpc::message::kind::notification;
        return asks || tells || passes_answer(read.msg, on);
    }
    if (!read.id_known) return false;
    if (read.has_method) {
        refuse_to_app(read.id, read.why);
    } else if (const auto owed = take_owed(on, read.id)) {
        answer_error(&*owed, rpc_code::internal_error, "the server's answer is malformed: " + std::string(read.why));
    }
    return false;
}

COMCP_DECL bool is_plain_version(std::string_view text)
{
    return !text.empty() && text.size() <= 64 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

COMCP_DECL bool message_bridge::passes_answer(const rpc::message& said, exchange_id on)
{
    const auto found = calls_.find(static_cast<std::uint64_t>(on));
    if (said.has_id) {
        if (!take_owed(on, said.id)) return false;
        if (found->second.initialize && said.type == rpc::message::kind::result) {
            const auto version = string_member(*said.result, "protocolVersion");
            if (version && is_plain_version(*version)) app_->negotiated(*version);
        }
        return true;
    }
    // An error without an id. The host does not see whom it answers; we do when only one answer is owed here.
    if (found == calls_.end() || found->second.ids.size() != 1) return true;
    const std::string why(string_member(*said.error, "message").value_or(""));
    answer_error(&found->second.ids.front(), rpc_code::internal_error,
                 "the server answered with an error without an id: " + why);
    found->second.ids.clear();
    return false;
}

/// The id as the host wrote it, if an answer to it is owed on this exchange. It is not any more.
COMCP_DECL std::optional<rpc::id> message_bridge::take_owed(exchange_id on, const rpc::id& answered)
{
    const auto found = calls_.find(static_cast<std::uint64_t>(on));
    if (found == calls_.end()) return std::nullopt;
    std::vector<rpc::id>& ids = found->second.ids;
    auto owed = std::find(ids.begin(), ids.end(), answered);
    if (owed == ids.end() && answered.decimal())
        owed = std::find_if(ids.begin(), ids.end(),
                            [&](const rpc::id& one) { return one.decimal() == answered.decimal(); });
    if (owed == ids.end()) return std::nullopt;
    rpc::id taken = std::move(*owed);
    ids.erase(owed);
    return taken;
}

/// An exchange of which nothing is owed any more ends.
COMCP_DECL void message_bridge::settle(exchange_id on)
{
    const auto found = calls_.find(static_cast<std::uint64_t>(on));
    if (found == calls_.end() || !found->second.ids.empty()) return;
    held_ -= found->second.bytes;
    calls_.erase(found);
    app_->complete(on);
    if (input_over_) wake();
}

COMCP_DECL void message_bridge::refuse_to_app(const rpc::id& id, std::string_view why)
{
    send_hint hint;
    hint.what = send_hint::kind::answer;
    std::string refusal;
    rpc::write_error(refusal, &id, rpc_code::invalid_request, why);
    send_to_app(refusal, hint);
}

/// A message that was not kept or not read to its end: what it would have ended ends, and nothing else.
COMCP_DECL void message_bridge::on_unread(const rpc::oversize_facts& facts, exchange_id on, std::string_view why)
{
    if (facts.has_method) {
        if (facts.id_known) refuse_to_app(facts.id, "the message is " + std::string(why)); // else a notice
        return;
    }
    const std::string failure = "the answer is " + std::string(why);
    if (facts.id_known) {
        if (const auto owed = take_owed(on, facts.id)) answer_error(&*owed, rpc_code::internal_error, failure);
        return settle(on);
    }
    const auto found = calls_.find(static_cast<std::uint64_t>(on));
    if (found == calls_.end()) return;
    app_->complete(on);
    fail_call(found, failure);
}

COMCP_DECL void message_bridge::on_failed(exchange_id on, const fault& why)
{
    if (const auto found = calls_.find(static_cast<std::uint64_t>(on)); found != calls_.end())
        fail_call(found, why.text);
    if (why.code == errc::session_expired) end(fail(errc::session_expired, "the application forgot the session"));
    if (why.code == errc::not_found || (why.code == errc::peer_gone && why.fate == outcome::not_sent)) end(why);
}

COMCP_DECL void message_bridge::on_closed(exchange_id on)
{
    const auto found = calls_.find(static_cast<std::uint64_t>(on));
    if (found == calls_.end()) return app_->complete(on);
    if (app_->resume(on)) return;
    app_->abandon(on);
    fail_call(found, "the server ended the response without an answer");
}

// ---- errors of our own

COMCP_DECL void message_bridge::answer_error(const rpc::id* id, std::int64_t code, std::string_view why,
                                             std::string_view data)
{
    rpc::write_error(host_->begin({}), id, code, why, data);
    host_->commit();
}

COMCP_DECL void message_bridge::fail_call(calls::iterator which, std::string_view why)
{
    for (const rpc::id& each : which->second.ids) answer_error(&each, rpc_code::internal_error, why);
    held_ -= which->second.bytes;
    calls_.erase(which);
    if (input_over_) wake();
}

COMCP_DECL void message_bridge::fail_all(std::string_view why)
{
    while (!calls_.empty()) {
        app_->abandon(exchange_id(calls_.begin()->first));
        fail_call(calls_.begin(), why);
    }
}

} // namespace comcp::inline COMCP_ABI::detail
