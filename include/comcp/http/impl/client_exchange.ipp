// SPDX-License-Identifier: MIT
//
// What a response makes of an exchange.
#pragma once

#include <comcp/http/client_exchange.hpp>
#include <comcp/http/client_hub.hpp>

#include <comcp/rpc/parse.hpp>

#include <functional>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

COMCP_DECL std::string_view client_exchange::last_event_id() const
{
    if (!events_ || !valid_value(events_->last_event_id())) return {};
    return events_->last_event_id();
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

COMCP_DECL void client_exchange::asked(client_connection& on, std::shared_ptr<const url> to, bool in_session)
{
    on_ = &on;
    sent_to_ = std::move(to);
    in_session_ = in_session;
}

COMCP_DECL void client_exchange::complete()
{
    answered_ = true;
    if (!on_) return finish();
    // What is left is read, so that the connection can be used again; not for long.
    hub_.set_due(*this, hub_.settings().times.rest);
}

COMCP_DECL void client_exchange::abandon()
{
    answered_ = true;
    leave_connection();
    finish();
}

COMCP_DECL bool client_exchange::resume()
{
    // Handshake era, transports: a stream whose events have ids is resumed with a GET, also that of a POST (E-35).
    if (phase_ != phase::told || last_event_id().empty()) return false;
    return pause();
}

COMCP_DECL void client_exchange::expired()
{
    const auto hub = hub_.shared_from_this(); // the session may end in here
    const auto self = shared_from_this();
    time_is_up();
    hub->wake();
}

COMCP_DECL void client_exchange::time_is_up()
{
    if (phase_ == phase::pausing) {
        resuming_ = what_ != sent_kind::listen;
        std::string().swap(body);
        return hub_.start(shared_from_this());
    }
    const bool asked = on_ != nullptr;
    leave_connection();
    if (phase_ == phase::refused) { // the head said it all
        if (!text_.empty()) whole_ = text_;
        return conclude(nullptr);
    }
    if (answered_ || what_ == sent_kind::end_session) return finish();
    if (phase_ == phase::events) return stream_ended();
    fault why = fail(errc::timed_out, "no response within the time limit");
    why.fate = asked ? outcome::unknown : outcome::not_sent;
    if (asks() == sent_kind::listen) return pause_or_end(std::move(why));
    give_up(std::move(why));
}

// ---- the response --------------------------------------------------------------------------------------------------

COMCP_DECL std::uint64_t client_exchange::on_head(const response_head& response)
{
    refusal_ = refusal{response.status, {}, {}, {}};
    problem_ = {};
    whole_ = {};
    text_.clear();
    declared_ = response.body.length;
    rule_ = judge_reply(reply_facts_of(asks(), in_session_, response.status, response.fields));
    if (rule_.what == reply::json || rule_.what == reply::stream) {
        if (is_encoded(response.fields)) {
            problem_ = "its content is encoded, which was not asked for";
            rule_ = reply_rule{reply::unexpected};
        } else if (what_ == sent_kind::request && !resuming_) {
            if (const result<void> learnt = hub_.learn_session(response.fields); !learnt) {
                problem_ = "its Mcp-Session-Id is not visible ASCII";
                rule_ = reply_rule{reply::unexpected};
            }
        }
    }
    if (rule_.what != reply::redirected) redirects_ = 0;
    switch (rule_.what) {
    case reply::json:
        phase_ = phase::json;
        limit_silence(hub_.settings().times.idle);
        return hub_.settings().bounds.message;
    case reply::stream:
        phase_ = phase::events;
        if (events_) events_->restart();
        else events_.emplace(hub_.settings().bounds.message);
        opened_ = hub_.now();
        limit_silence(hub_.settings().times.first_event);
        return unlimited_body;
    case reply::accepted: {
        phase_ = phase::draining;
        if (!may_be_endless(response)) return drained_at_most;
        leave_connection();
        finish();
        return 0;
    }
    default: break;
    }
    phase_ = phase::refused;
    refusal_ = read_refusal(response);
    hub_.set_due(*this, hub_.settings().times.refusal);
    return rule_.look_in_body ? hub_.settings().bounds.message : drained_at_most;
}

COMCP_DECL void client_exchange::on_body(std::string_view piece)
{
    switch (phase_) {
    case phase::events: return read_stream(piece);
    case phase::json:
    case phase::refused:
        if (hub_.settings().times.idle != no_limit && phase_ == phase::json) limit_silence(hub_.settings().times.idle);
        if (text_.empty() && whole_.empty() && piece.size() == declared_) {
            whole_ = piece;
            return;
        }
        if (text_.empty() && declared_ > text_.capacity()) text_.reserve(static_cast<std::size_t>(declared_));
        text_ += piece;
        return;
    default: return;
    }
}

COMCP_DECL void client_exchange::on_end()
{
    client_connection* const was_on = std::exchange(on_, nullptr);
    switch (phase_) {
    case phase::json:
        if (!text_.empty()) whole_ = text_;
        if (answered_) return finish();
        if (whole_.find_first_not_of(" \t\r\n") == whole_.npos) {
            problem_ = "it is empty";
            return give_up(status_fault());
        }
        if (says_session_gone(whole_)) return conclude(was_on);
        return deliver_answer(was_on);
    case phase::events: return stream_ended();
    case phase::refused:
        if (!text_.empty()) whole_ = text_;
        return conclude(was_on);
    default: return finish();
    }
}

COMCP_DECL void client_exchange::on_broken(broken_request how)
{
    client_connection* const was_on = std::exchange(on_, nullptr);
    fault why = broken_fault(how);
    switch (phase_) {
    case phase::asking: break;
    case phase::events: return stream_ended();
    case phase::json:
        if (answered_) return finish();
        if (why.code != errc::too_large) return give_up(std::move(why));
        {
            // What it answers is known, whatever is in it.
            rpc::oversize_facts facts;
            facts.object = facts.id_present = facts.id_known = facts.has_result = true;
            facts.id = rpc::id(static_cast<std::int64_t>(number_));
            facts.bytes = static_cast<std::size_t>(declared_ != 0 ? declared_ : text_.size());
            deliver_oversized(facts);
        }
        return tell_closed();
    case phase::refused:
        if (!text_.empty()) whole_ = text_;
        return conclude(was_on);
    default: return finish();
    }
    if (answered_) return finish();
    // What only reads, or ends, may be asked again; an idle connection that died is no reason to give up.
    const bool harmless = asks() == sent_kind::listen || what_ == sent_kind::end_session;
    if ((harmless && how.reused && !how.begun && !std::exchange(repeated_, true)) || (!how.sent && how.reused))
        return hub_.start(shared_from_this());
    if (what_ == sent_kind::end_session) return finish();
    if (asks() == sent_kind::listen) return pause_or_end(std::move(why));
    give_up(std::move(why));
}

COMCP_DECL void client_exchange::read_stream(std::string_view piece)
{
    if (hub_.settings().times.idle != no_limit || hub_.settings().times.first_event != no_limit)
        limit_silence(hub_.settings().times.idle);
    events_->feed(piece);
    sse_event event;
    while (phase_ == phase::events && events_->next(event)) {
        attempt_ = 0;
        if (event.oversized) {
            spoke_ = true;
            hub_.keep(on_, nullptr);
            deliver_oversized(event.facts);
        } else if (!event.blank() && event.type == "message") { // E-37
            if (!std::exchange(spoke_, true) && says_session_gone(event.data)) return forgotten(event.data);
            deliver(event.data, piece);
        }
    }
}

/// Before anything else was said: whoever does not know the session ran nothing in it.
COMCP_DECL void client_exchange::forgotten(std::string_view why)
{
    text_ = why;
    whole_ = text_;
    leave_connection();
    conclude(nullptr);
}

/// An exchange that has its answer keeps the limit that it has for the rest.
COMCP_DECL void client_exchange::limit_silence(duration most)
{
    if (!answered_) hub_.set_due(*this, most);
}

COMCP_DECL void client_exchange::deliver(std::string_view text, std::string_view piece)
{
    const std::less_equal<const char*> before;
    const bool in_piece =
        before(piece.data(), text.data()) && before(text.data() + text.size(), piece.data() + piece.size());
    hub_.keep(on_, nullptr); // also for a copy: no more than one read of each connection waits for the session
    if (!in_piece) text = hub_.keep_text(text);
    hub_.push(transport_event::kind::message, number_).text = text;
}

COMCP_DECL void client_exchange::deliver_answer(client_connection* from)
{
    hub_.keep(from, shared_from_this());
    hub_.push(transport_event::kind::message, number_).text = whole_;
    tell_closed();
}

COMCP_DECL void client_exchange::deliver_oversized(const rpc::oversize_facts& facts)
{
    hub_.push(transport_event::kind::oversized, number_).skipped = facts;
}

// ---- the end -------------------------------------------------------------------------------------------------------

COMCP_DECL void client_exchange::stream_ended()
{
    if (answered_) return finish();
    if (what_ != sent_kind::listen) return tell_closed();
    // A stream that stood for a while was a good one, though nothing was said on it.
    if (hub_.now() - opened_ >= std::chrono::minutes(1)) attempt_ = 0;
    if (!pause()) give_up(fail(errc::peer_gone, "the server ends the stream of its messages again and again"));
}

COMCP_DECL bool client_exchange::answered_all_the_same()
{
    if (!rule_.look_in_body || whole_.empty()) return false;
    rpc::parser parser(hub_.settings().bounds.depth);
    const rpc::parsed& read = parser.parse(whole_);
    if (read.state != rpc::parsed::status::message || !read.msg.has_id) return false;
    const bool failed = read.msg.type == rpc::message::kind::error;
    if (!failed && read.msg.type != rpc::message::kind::result) return false;
    // Asked of the body: its number need not be the one of the exchange when somebody else's request is relayed.
    rpc::parser asked(hub_.settings().bounds.depth);
    const rpc::parsed& request = asked.parse(body);
    const bool same =
        request.msg.has_id &&
        (request.msg.id == read.msg.id || (read.msg.id.decimal() && request.msg.id.decimal() == read.msg.id.decimal()));
    if (!same) return false;
    std::optional<std::int64_t> code;
    if (failed) code = integer_member(*read.msg.error, "code");
    return answer_counts(rule_, code);
}

COMCP_DECL bool client_exchange::says_session_gone(std::string_view text) const
{
    constexpr std::size_t most = 4096; // answers are parsed by the session; of such an error more is not needed
    const bool may_say = rule_.what == reply::json || rule_.what == reply::stream || rule_.look_in_body;
    if (!may_say || !in_session_ || what_ != sent_kind::request || resuming_) return false;
    if (text.size() > most || text.find("\"error\"") == text.npos) return false;
    rpc::parser parser(hub_.settings().bounds.depth);
    const rpc::parsed& read = parser.parse(text);
    if (read.state != rpc::parsed::status::message || read.msg.type != rpc::message::kind::error) return false;
    // Whoever does not know the session often does not read the id either.
    if (read.msg.has_id && read.msg.id.decimal() != static_cast<std::int64_t>(number_)) return false;
    return tells_session_gone(integer_member(*read.msg.error, "code").value_or(0),
                              string_member(*read.msg.error, "message").value_or(""));
}

COMCP_DECL void client_exchange::conclude(client_connection* from)
{
    if (answered_) return finish();
    if (says_session_gone(whole_)) rule_ = reply_rule{reply::session_gone, outcome::not_sent};
    if (rule_.what == reply::redirected) return follow();
    if (what_ == sent_kind::request && !resuming_ && answered_all_the_same()) return deliver_answer(from);
    // A server that does not know its own stream may still know the session.
    if (rule_.what == reply::session_gone && what_ != sent_kind::listen) hub_.lost_session();
    if (what_ == sent_kind::end_session) return finish();
    if (asks() == sent_kind::listen) {
        // 4xx is final (SSE 83); a server that is overloaded or away may come back.
        if ((rule_.what == reply::busy || refusal_.status >= 500) && pause()) return;
        if (what_ == sent_kind::listen && !events_) return finish(); // it offers no stream
    }
    give_up(status_fault());
}

COMCP_DECL void client_exchange::follow()
{
    fault why = status_fault();
    // The id of a session, and of its events, is for its own origin only.
    const bool posts = asks() == sent_kind::request || asks() == sent_kind::notification;
    const bool elsewhere = hub_.settings().other_origins && !in_session_ && posts;
    std::optional<url> to = redirect_target(refusal_, *sent_to_, elsewhere, redirects_, why);
    if (!to) {
        if (what_ == sent_kind::end_session) return finish();
        return give_up(std::move(why));
    }
    // RFC 9110, 15.4.8 and 15.4.9: 307 is for this request, 308 for all that follow: not when 307 led to it, and where
    // a stream is is not where requests go. What another origin answers belongs there, its session above all.
    const bool remembered = (refusal_.status == 308 && !once_) || to->origin() != sent_to_->origin();
    if (remembered) once_.reset();
    if (remembered && posts) hub_.move_to(*std::move(to));
    else (remembered ? moved_ : once_) = std::make_shared<const url>(*std::move(to));
    hub_.start(shared_from_this());
}

COMCP_DECL std::shared_ptr<const url> client_exchange::target(const std::shared_ptr<const url>& endpoint) const
{
    if (once_) return once_;
    return moved_ ? moved_ : endpoint;
}

COMCP_DECL bool client_exchange::pause()
{
    const client_settings& with = hub_.settings();
    if (!with.reconnect) return false;
    reconnect_facts facts;
    facts.attempt = ++attempt_;
    if (phase_ == phase::refused && refusal_.retry_after) facts.asked = *refusal_.retry_after;
    else if (events_ && events_->retry()) facts.asked = *events_->retry();
    const result<double> random = hub_.random();
    if (!random) {
        give_up(random.error());
        return true;
    }
    facts.random = *random;
    const std::optional<duration> delay = with.reconnect(facts);
    if (!delay) return false;
    phase_ = phase::pausing;
    once_.reset(); // 307 was for that one request
    // "At once" every time would be a loop at the speed of the network (SSE 83).
    constexpr duration shortest = std::chrono::milliseconds(100);
    hub_.set_due(*this, std::max(*delay, shortest));
    return true;
}

COMCP_DECL void client_exchange::pause_or_end(fault why)
{
    if (pause()) return;
    if (what_ != sent_kind::listen) why.fate = outcome::unknown;
    give_up(std::move(why));
}

COMCP_DECL void client_exchange::tell_closed()
{
    phase_ = phase::told;
    hub_.set_due(*this, no_limit);
    hub_.push(transport_event::kind::exchange_closed, number_);
}

COMCP_DECL void client_exchange::give_up(fault why)
{
    // The POST of a stream that is resumed, or is to be, has arrived.
    if (resuming_ || phase_ == phase::told) why.fate = outcome::unknown;
    hub_.push(transport_event::kind::exchange_failed, number_).why = std::move(why);
    finish();
}

COMCP_DECL void client_exchange::finish()
{
    phase_ = phase::over;
    on_ = nullptr;
    hub_.forget(*this);
}

COMCP_DECL fault client_exchange::status_fault() const
{
    fault why = to_fault(refusal_, rule_, problem_, whole_);
    if (!rule_.look_in_body || whole_.empty()) return why;
    // An error for nobody in particular.
    rpc::parser parser(hub_.settings().bounds.depth);
    const rpc::parsed& read = parser.parse(whole_);
    if (read.state != rpc::parsed::status::message || read.msg.type != rpc::message::kind::error) return why;
    why.rpc = std::make_shared<const rpc_error>(rpc::read_error(*read.msg.error));
    return why;
}

COMCP_DECL void client_exchange::leave_connection()
{
    if (client_connection* const connection = std::exchange(on_, nullptr)) connection->cut();
}

} // namespace comcp::inline COMCP_ABI::http::detail
