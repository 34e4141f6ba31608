// SPDX-License-Identifier: MIT
//
// The stream that carries a session of the old HTTP+SSE transport, the POSTs beside it, and what the session is told.
#pragma once

#include <comcp/http/sse_hub.hpp>

#include <comcp/error.hpp>
#include <comcp/http/client_head.hpp>
#include <comcp/http/print.hpp>
#include <comcp/http/sse_endpoint.hpp>
#include <comcp/protocol/revision.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http::detail
{

inline constexpr std::uint64_t sse_reply_bytes = 64 * 1024; // of a body that is of no interest
inline constexpr std::size_t sse_excerpt_bytes = 1024;

inline void add_excerpt(std::string& to, std::string_view piece)
{
    to += piece.substr(0, sse_excerpt_bytes - std::min(to.size(), sse_excerpt_bytes));
}

// What is posted only knows the hub weakly: nothing of it is owed once the hub is gone.
struct sse_hub::wake_later
{
    std::weak_ptr<sse_hub> of;
    void operator()() const
    {
        if (const auto hub = of.lock()) hub->wake();
    }
};

struct sse_hub::serve_later
{
    std::weak_ptr<sse_hub> of;
    void operator()() const
    {
        const auto hub = of.lock();
        if (!hub) return;
        {
            const entered guard(*hub);
            hub->serve_waiting();
        }
        hub->quiet_.complete();
        hub->wake();
    }
};

/// After `close`: nothing is resumed inside of it.
struct sse_hub::tell_closed
{
    std::shared_ptr<sse_hub> hub;
    void operator()() const
    {
        hub->opened_.complete();
        hub->quiet_.complete();
        hub->arrived_.complete();
    }
};

// ---- the stream ----------------------------------------------------------------------------------------------------

COMCP_DECL std::uint64_t sse_stream::on_head(const response_head& response)
{
    rule_ = judge_reply(reply_facts_of(sent_kind::listen, false, response.status, response.fields));
    if (rule_.what == reply::stream && !is_encoded(response.fields)) {
        events_.emplace(hub_.settings().bounds.message);
        return unlimited_body;
    }
    if (rule_.what == reply::stream) problem_ = "its content is encoded, which was not asked for";
    else if (response.status < 300) problem_ = "its content is no stream of events";
    refused_ = true;
    refusal_ = read_refusal(response);
    hub_.limit_refusal();
    return sse_reply_bytes;
}

COMCP_DECL void sse_stream::on_body(std::string_view piece)
{
    if (!events_) {
        return add_excerpt(text_, piece);
    }
    hub_.heard();
    events_->feed(piece);
    sse_event event;
    while (hub_.listens() && events_->next(event)) hub_.on_event(event);
}

COMCP_DECL void sse_stream::on_end()
{
    if (conclude()) return;
    hub_.lose(fail(errc::peer_gone, "the server ended the stream of the session"));
}

COMCP_DECL void sse_stream::on_broken(broken_request how)
{
    if (conclude()) return;
    hub_.lose(broken_fault(how));
}

COMCP_DECL bool sse_stream::conclude()
{
    if (!std::exchange(refused_, false)) return false;
    fault why = to_fault(refusal_, rule_, problem_, text_);
    if (rule_.what == reply::redirected) hub_.follow(refusal_, std::move(why));
    else hub_.lose(std::move(why));
    return true;
}

COMCP_DECL void sse_hub::ask()
{
    const auto request = std::make_shared<sse_stream>(*this);
    request_head head = common_head(url_, "GET", with_.fields, {}, {});
    head.fields.add("Accept", "text/event-stream");
    if (result<void> bad = print(request->head, head); !bad) return lose(std::move(bad).error());
    asked_ = request;
    stream_ = make_connection(url_);
    connect(stream_, url_, request);
}

COMCP_DECL void sse_hub::follow(const refusal& to, fault why)
{
    const std::optional<url> there = redirect_target(to, url_, with_.other_origins, redirects_, why);
    if (!there) return lose(std::move(why));
    if (there->origin() != url_.origin()) with_.fields.clear(); // what the host gave was for the other one
    url_ = *there;
    limit_opening(no_limit);
    ask();
}

COMCP_DECL void sse_hub::heard()
{
    if (phase_ == phase::open) deadlines_.set(silence_, with_.times.idle, now());
}

COMCP_DECL void sse_hub::on_event(const sse_event& event)
{
    const bool names_endpoint = event.type == "endpoint";
    const bool is_message = event.type == "message" && !event.blank(); // E-37
    if (phase_ == phase::opening) {
        // 2024-11-05, transports: the endpoint is the first event (E-50).
        if (names_endpoint) on_endpoint(event.oversized ? std::string_view() : event.data);
        else if (is_message) lose(fail(errc::bad_response, "the stream begins with a message, not with its endpoint"));
        return;
    }
    if (names_endpoint) return lose(fail(errc::bad_response, "the server named a second endpoint"));
    if (!is_message) return;
    if (event.oversized) {
        push(transport_event::kind::oversized, pipe_exchange).skipped = event.facts;
        return;
    }
    const std::string_view text = texts_.emplace_back(event.data);
    push(transport_event::kind::message, pipe_exchange).text = text;
}

COMCP_DECL void sse_hub::on_endpoint(std::string_view told)
{
    result<url> to = sse_endpoint(url_, told, with_.endpoint_prefix);
    if (!to) return lose(std::move(to).error());
    endpoint_ = std::make_shared<const url>(*std::move(to));
    opening_.clear();
    asked_.reset();
    phase_ = phase::open;
    deadlines_.set(silence_, with_.times.idle, now());
    write_post_head();
}

COMCP_DECL void sse_hub::lose(fault why)
{
    if (!listens()) return;
    phase_ = phase::lost;
    why_ = std::move(why);
    why_.fate = outcome::unknown;
    opening_.clear();
    asked_.reset();
    silence_.clear();
    if (const auto gone = std::exchange(stream_, nullptr)) gone->cut();
}

COMCP_DECL void sse_hub::limit_opening(duration most)
{
    const duration left = open_by_ == time_point::max() ? no_limit : open_by_ - now();
    deadlines_.set(opening_, std::min(most, left), now());
}

COMCP_DECL void sse_hub::opening_expired()
{
    const auto self = shared_from_this();
    const auto asked = asked_;
    if (const auto left = std::exchange(stream_, nullptr)) left->cut();
    if (!asked || !asked->conclude()) lose(fail(errc::timed_out, "no endpoint event within the time to connect"));
    wake();
}

COMCP_DECL void sse_hub::silence_expired()
{
    const auto self = shared_from_this();
    lose(fail(errc::peer_gone, "the stream of the session was silent for too long"));
    wake();
}

// ---- POSTs ---------------------------------------------------------------------------------------------------------

COMCP_DECL void sse_post::asked(client_connection& on, std::shared_ptr<const url> to)
{
    on_ = &on;
    sent_to_ = std::move(to);
}

COMCP_DECL void sse_post::settle()
{
    settled_ = true;
    if (!on_) return finish();
    hub_.set_due(*this, hub_.settings().times.rest);
}

COMCP_DECL void sse_post::drop()
{
    if (client_connection* const connection = std::exchange(on_, nullptr)) connection->cut();
    finish();
}

COMCP_DECL void sse_post::expired()
{
    const auto hub = hub_.shared_from_this(); // the session may end in here
    const auto self = shared_from_this();
    const bool asked = on_ != nullptr;
    if (client_connection* const connection = std::exchange(on_, nullptr)) connection->cut();
    if (refused_) { // the head said it all
        conclude();
    } else {
        fault why = fail(errc::timed_out, "no response within the time limit");
        why.fate = asked ? outcome::unknown : outcome::not_sent;
        give_up(std::move(why));
    }
    hub->wake();
}

COMCP_DECL std::uint64_t sse_post::on_head(const response_head& response)
{
    // Any success will do, whatever comes with it (E-50); the answer comes on the stream. What is posted is always
    // posted to a session, so 404 says that there is none.
    rule_ = judge_reply(reply_facts_of(sent_kind::notification, true, response.status, response.fields));
    if (rule_.what == reply::accepted) {
        if (may_be_endless(response)) {
            drop();
            return 0;
        }
        accepted_ = true;
        hub_.set_due(*this, hub_.settings().times.rest);
        return sse_reply_bytes;
    }
    refused_ = true;
    refusal_ = read_refusal(response);
    text_.clear();
    hub_.set_due(*this, hub_.settings().times.refusal);
    return sse_reply_bytes;
}

COMCP_DECL void sse_post::on_body(std::string_view piece)
{
    if (refused_) add_excerpt(text_, piece);
}

COMCP_DECL void sse_post::on_end()
{
    on_ = nullptr;
    if (refused_) conclude();
    else finish();
}

COMCP_DECL void sse_post::on_broken(broken_request how)
{
    on_ = nullptr;
    if (refused_) return conclude();
    if (!how.sent && how.reused && !accepted_) return hub_.start(shared_from_this());
    give_up(broken_fault(how));
}

COMCP_DECL void sse_post::conclude()
{
    refused_ = false;
    fault why = to_fault(refusal_, rule_, {}, text_);
    if (rule_.what != reply::redirected) return give_up(std::move(why));
    const std::optional<url> to = redirect_target(refusal_, *sent_to_, false, redirects_, why); // E-51
    if (!to) return give_up(std::move(why));
    hub_.move_endpoint(*to);
    hub_.start(shared_from_this());
}

COMCP_DECL void sse_post::give_up(fault why)
{
    if (!settled_ && !accepted_) hub_.push(transport_event::kind::exchange_failed, number_).why = std::move(why);
    finish();
}

COMCP_DECL void sse_post::finish() { hub_.forget(*this); }

COMCP_DECL sse_hub::sse_hub(const executor& ex, client_settings with)
    : with_(std::move(with)),
      executor_(ex),
      lot_(comcp::detail::make_parking_lot(ex)),
      deadlines_(ex),
      url_(with_.to),
      pool_(with_.idle_connections, with_.times.unused),
      opened_(*lot_),
      arrived_(*lot_),
      quiet_(*lot_)
{}

COMCP_DECL void sse_hub::write_post_head()
{
    (void)print_post_head(post_head_, *endpoint_, with_.fields, {}, version_); // its parts were checked when they came
}

COMCP_DECL void sse_hub::move_endpoint(url to)
{
    endpoint_ = std::make_shared<const url>(std::move(to));
    write_post_head();
}

COMCP_DECL void sse_hub::negotiated(std::string_view version)
{
    // 2025-06-18, transports: HTTP requests repeat it (E-42); the revisions before know no such field.
    if (parse_revision(version) >= revision::r2025_06_18) version_ = std::string(version);
    gate_next_ = true;
    if (endpoint_) write_post_head();
}

COMCP_DECL std::string& sse_hub::begin(const send_hint& hint)
{
    const bool request = hint.what == send_hint::kind::request;
    building_ = std::make_shared<sse_post>(*this, request, request ? hint.exchange : pipe_exchange);
    building_->key = request ? static_cast<std::uint64_t>(hint.exchange) : ++last_key_;
    return building_->body;
}

COMCP_DECL void sse_hub::commit()
{
    const entered guard(*this);
    const auto built = std::exchange(building_, nullptr);
    if (phase_ == phase::closed) return;
    const bool is_gate = gate_next_ && !built->is_request();
    posts_.insert_or_assign(built->key, built);
    if (!built->is_request()) ++notices_;
    if (phase_ != phase::open) return built->give_up(fail(errc::peer_gone, "the stream of the session has ended"));
    start(built);
    if (!is_gate) return;
    gate_next_ = false;
    if (posts_.contains(built->key)) gate_ = built;
}

COMCP_DECL void sse_hub::settle(exchange_id which)
{
    const entered guard(*this);
    if (which == pipe_exchange) return;
    std::erase_if(pending_, [which](const transport_event& each) { return each.exchange == which; });
    const auto found = posts_.find(static_cast<std::uint64_t>(which));
    if (found == posts_.end()) return;
    const std::shared_ptr<sse_post> of = found->second;
    of->settle();
}

COMCP_DECL bool sse_hub::has_room_for(const sse_post& what) const
{
    // That of the stream is beside them.
    const std::size_t beside = what.is_request() ? 1 : 1 + most_notices;
    return connections_.size() - pool_.size() < with_.connections + beside;
}

COMCP_DECL void sse_hub::start(const std::shared_ptr<sse_post>& what)
{
    set_due(*what, what->is_request() ? with_.times.head : with_.times.notice);
    if (gate_ || !has_room_for(*what)) {
        if (waiting_.size() < most_waiting) waiting_.push_back(what);
        else what->give_up(fail(errc::too_many, "too many messages wait for a connection"));
        return;
    }
    what->head = post_head_ + std::to_string(what->body.size()) + "\r\n\r\n";
    while (const std::shared_ptr<client_connection> idle = pool_.take(endpoint_->origin())) {
        what->asked(*idle, endpoint_);
        if (idle->send(what)) return;
    }
    const auto fresh = make_connection(*endpoint_);
    what->asked(*fresh, endpoint_);
    connect(fresh, *endpoint_, what);
}

COMCP_DECL void sse_hub::serve_waiting()
{
    // Not the first alone: answers must not stand behind requests that wait for them.
    while (phase_ == phase::open && !gate_) {
        const auto at =
            std::find_if(waiting_.begin(), waiting_.end(), [this](const auto& each) { return has_room_for(*each); });
        if (at == waiting_.end()) return;
        const auto next = std::move(*at);
        waiting_.erase(at);
        start(next);
    }
}

COMCP_DECL void sse_hub::set_due(sse_post& what, duration after)
{
    if (after == no_limit) what.due.clear();
    else deadlines_.set(what.due, after, now());
}

COMCP_DECL void sse_hub::forget(sse_post& what)
{
    const auto found = posts_.find(what.key);
    if (found == posts_.end() || found->second.get() != &what) return;
    const std::shared_ptr<sse_post> last = std::move(found->second); // alive to the end of this
    posts_.erase(found);
    last->due.clear();
    std::erase(waiting_, last);
    if (!last->is_request()) --notices_;
    const bool was_gate = gate_ == last;
    if (was_gate) gate_.reset();
    if ((was_gate || quiet_.waiting()) && executor_) asio::post(executor_, serve_later{weak_from_this()});
}

// ---- connections ---------------------------------------------------------------------------------------------------

COMCP_DECL std::shared_ptr<client_connection> sse_hub::make_connection(const url& to)
{
    return connections_.emplace_back(std::make_shared<client_connection>(*lot_, to.origin(), with_.head));
}

COMCP_DECL void sse_hub::connect(const std::shared_ptr<client_connection>& on, const url& to,
                                 std::shared_ptr<client_request> first)
{
    client_connection::start(on, executor_, shared_from_this(), with_.door, to, with_.times.connect, std::move(first));
}

COMCP_DECL void sse_hub::on_idle(client_connection& connection)
{
    if (!listens()) return connection.cut();
    pool_.put(connection.shared_from_this(), now());
    if (!unused_.set()) deadlines_.set(unused_, with_.times.unused, now());
    if (!waiting_.empty()) serve_waiting();
}

COMCP_DECL void sse_hub::on_closed(client_connection& connection)
{
    pool_.forget(connection);
    std::erase_if(connections_, [&](const auto& each) { return each.get() == &connection; });
    if (!waiting_.empty() && phase_ == phase::open) asio::post(executor_, serve_later{weak_from_this()});
}

COMCP_DECL void sse_hub::on_read(client_connection& connection)
{
    wake();
    // What the session does not take yet is not read yet.
    if (!pending_.empty() && stream_.get() == &connection) connection.hold();
}

COMCP_DECL void sse_hub::drop_unused()
{
    const duration next = pool_.expire(now());
    deadlines_.set(unused_, next, now());
}

// ---- what the session is told --------------------------------------------------------------------------------------

COMCP_DECL task<void> sse_hub::open(std::shared_ptr<sse_hub> self)
{
    self->open_by_ = comcp::detail::deadline_after(self->now(), self->with_.times.connect);
    self->limit_opening(no_limit);
    {
        const entered guard(*self);
        self->ask();
    }
    while (self->phase_ == phase::opening) {
        co_await self->opened_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "connecting was cancelled"));
    }
    if (self->phase_ == phase::open) co_return;
    fault why = self->phase_ == phase::lost ? self->why_ : fail(errc::closed, "closed while it was being opened");
    why.fate = outcome::not_sent;
    throw error(std::move(why));
}

COMCP_DECL transport_event& sse_hub::push(transport_event::kind what, exchange_id on)
{
    transport_event& event = pending_.emplace_back();
    event.what = what;
    event.exchange = on;
    if (inside_ != 0 && pending_.size() == 1) asio::post(executor_, wake_later{weak_from_this()});
    return event;
}

COMCP_DECL bool sse_hub::something_to_tell() const
{
    // A server that asks without accepting answers is not heard until it does.
    return !listens() || (!pending_.empty() && notices_ <= most_notices);
}

COMCP_DECL void sse_hub::wake()
{
    if (inside_ != 0) return;
    if (finishing_) {
        pending_.clear(); // nobody listens any more
        texts_.clear();
        return;
    }
    if (phase_ != phase::opening) opened_.complete();
    if (something_to_tell()) arrived_.complete();
}

COMCP_DECL task<void> sse_hub::receive(std::shared_ptr<sse_hub> self, transport_batch& batch)
{
    batch.clear();
    self->handed_.clear();
    if (self->stream_ && self->stream_->held()) self->stream_->release();
    while (!self->something_to_tell()) co_await self->arrived_.wait();
    if (self->phase_ != phase::closed) {
        batch.swap(self->pending_);
        std::swap(self->handed_, self->texts_);
        if (self->listens()) co_return;
    }
    transport_event& end = batch.emplace_back();
    end.what = transport_event::kind::closed;
    if (self->phase_ == phase::lost) end.why = self->why_;
}

// ---- the end -------------------------------------------------------------------------------------------------------

COMCP_DECL task<void> sse_hub::finish(std::shared_ptr<sse_hub> self)
{
    std::vector<std::shared_ptr<sse_post>> left;
    for (const auto& [key, each] : self->posts_)
        if (each->is_request()) left.push_back(each);
    for (const auto& each : left) each->drop();
    left.clear();
    self->finishing_ = true;
    self->wake();
    // The end of the stream is the end of the session: what was said before it has arrived then.
    while (self->phase_ == phase::open && !self->posts_.empty()) {
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) co_return;
    }
}

COMCP_DECL void sse_hub::close() noexcept
{
    if (phase_ == phase::closed) return;
    phase_ = phase::closed;
    let_go();
    if (executor_) asio::post(executor_, tell_closed{shared_from_this()});
}

COMCP_DECL void sse_hub::context_gone() noexcept
{
    phase_ = phase::closed;
    executor_ = comcp::executor();
    connections_.clear(); // of a context that is gone, nothing is cut
    let_go();
    handed_.clear();
}

COMCP_DECL void sse_hub::let_go()
{
    opening_.clear();
    silence_.clear();
    unused_.clear();
    gate_.reset();
    building_.reset();
    waiting_.clear();
    asked_.reset();
    stream_.reset();
    const auto connections = std::exchange(connections_, {});
    for (const auto& each : connections) each->cut();
    pool_.drop_all();
    posts_.clear();
    pending_.clear();
    texts_.clear();
}

} // namespace comcp::inline COMCP_ABI::http::detail
