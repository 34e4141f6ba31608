// SPDX-License-Identifier: MIT
//
// Starts exchanges, finds connections for them, and tells the session what came of it.
#pragma once

#include <comcp/http/client_hub.hpp>

#include <comcp/http/client_head.hpp>
#include <comcp/http/print.hpp>

#include <algorithm>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

// What is posted only knows the hub weakly: nothing of it is owed once the hub is gone.
struct client_hub::wake_later
{
    std::weak_ptr<client_hub> of;
    void operator()() const
    {
        if (const auto hub = of.lock()) hub->wake();
    }
};

struct client_hub::serve_later
{
    std::weak_ptr<client_hub> of;
    void operator()() const
    {
        const auto hub = of.lock();
        if (!hub) return;
        {
            const entered guard(*hub);
            hub->serve_waiting();
        }
        hub->wake();
    }
};

/// After `close`: nothing is resumed inside of it.
struct client_hub::release_all
{
    std::shared_ptr<client_hub> hub;
    std::vector<std::shared_ptr<client_connection>> held;
    void operator()()
    {
        hub->release(held);
        hub->quiet_.complete();
        hub->arrived_.complete();
    }
};

COMCP_DECL client_hub::client_hub(const executor& ex, client_settings with)
    : with_(std::move(with)),
      executor_(ex),
      lot_(comcp::detail::make_parking_lot(ex)),
      deadlines_(ex),
      url_(std::make_shared<const url>(with_.to)),
      pool_(with_.idle_connections, with_.times.unused),
      arrived_(*lot_),
      quiet_(*lot_)
{
    write_post_head();
}

// ---- heads ---------------------------------------------------------------------------------------------------------

COMCP_DECL void client_hub::write_post_head()
{
    print_post_head(post_head_, *url_, with_.fields, session_, version_).value();
}

COMCP_DECL void client_hub::write_head(client_exchange& of, const url& to) const
{
    of.head.clear();
    if (of.asks() == sent_kind::request || of.asks() == sent_kind::notification) {
        const std::string length = std::to_string(of.body.size());
        of.head.reserve(post_head_.size() + length.size() + 4);
        if (&to == url_.get()) of.head = post_head_;
        else print_post_head(of.head, to, with_.fields, session_, version_).value();
        of.head.append(length).append("\r\n\r\n");
        return;
    }
    const bool listens = of.asks() == sent_kind::listen;
    request_head head = common_head(to, listens ? "GET" : "DELETE", with_.fields, session_, version_);
    if (listens) head.fields.add("Accept", "text/event-stream");
    if (listens && !of.last_event_id().empty()) head.fields.add("Last-Event-ID", of.last_event_id());
    (void)print(of.head, head); // its parts were checked when they came
}

COMCP_DECL result<void> client_hub::learn_session(const fields& head)
{
    if (!session_.empty() || !version_.empty()) return {};
    const auto id = head.find("Mcp-Session-Id");
    if (!id) return {};
    // 2025-11-25, transports: visible ASCII only (E-40).
    const bool visible = std::all_of(id->begin(), id->end(), [](char c) { return c > ' ' && c < 0x7F; });
    if (id->empty() || id->size() > 4096 || !visible) return fail(errc::bad_response, "not a session id");
    session_ = std::string(*id);
    write_post_head();
    return {};
}

COMCP_DECL void client_hub::move_to(url to)
{
    if (to == *url_) return;
    if (to.origin() != url_->origin()) {
        with_.fields.clear(); // what the host gave was for the other one
        pool_.cut_all();
    }
    url_ = std::make_shared<const url>(std::move(to));
    write_post_head();
}

COMCP_DECL result<double> client_hub::random() const { return comcp::detail::random_fraction(with_.random); }

// ---- what the session says -----------------------------------------------------------------------------------------

COMCP_DECL std::shared_ptr<client_exchange> client_hub::make(sent_kind what, exchange_id number)
{
    auto made = std::make_shared<client_exchange>(*this, what, number);
    made->key = what == sent_kind::request ? static_cast<std::uint64_t>(number) : ++last_key_;
    return made;
}

COMCP_DECL void client_hub::begin_exchange(const std::shared_ptr<client_exchange>& what)
{
    exchanges_.insert_or_assign(what->key, what);
    if (what->what() == sent_kind::notification) ++notices_;
    start(what);
}

COMCP_DECL std::string& client_hub::begin(const send_hint& hint)
{
    const bool request = hint.what == send_hint::kind::request;
    building_ = make(request ? sent_kind::request : sent_kind::notification, request ? hint.exchange : pipe_exchange);
    return building_->body;
}

COMCP_DECL void client_hub::commit()
{
    const entered guard(*this);
    const auto built = std::exchange(building_, nullptr);
    if (closed_) return;
    const bool is_gate = gate_next_ && built->what() == sent_kind::notification;
    begin_exchange(built);
    if (!is_gate) return;
    gate_next_ = false;
    if (exchanges_.contains(built->key)) gate_ = built;
}

COMCP_DECL std::shared_ptr<client_exchange> client_hub::find(exchange_id which) const
{
    const auto found = exchanges_.find(static_cast<std::uint64_t>(which));
    return found == exchanges_.end() ? nullptr : found->second;
}

COMCP_DECL void client_hub::abandon(exchange_id which)
{
    const entered guard(*this);
    std::erase_if(pending_, [which](const transport_event& each) { return each.exchange == which; });
    if (const auto found = find(which)) found->abandon();
}

COMCP_DECL void client_hub::complete(exchange_id which)
{
    const entered guard(*this);
    if (const auto found = find(which)) found->complete();
}

COMCP_DECL bool client_hub::resume(exchange_id which)
{
    const entered guard(*this);
    const auto found = find(which);
    return found && !closed_ && found->resume();
}

COMCP_DECL void client_hub::negotiated(std::string_view version)
{
    version_ = std::string(version);
    gate_next_ = true;
    write_post_head();
}

COMCP_DECL void client_hub::listen()
{
    const entered guard(*this);
    if (with_.listens && !closed_) begin_exchange(make(sent_kind::listen, pipe_exchange));
}

// ---- connections ---------------------------------------------------------------------------------------------------

COMCP_DECL bool client_hub::has_room_for(const client_exchange& what) const
{
    const std::size_t beside = what.what() == sent_kind::request ? 0 : most_notices;
    return connections_.size() - pool_.size() < with_.connections + beside;
}

COMCP_DECL duration client_hub::time_for(const client_exchange& what) const
{
    // Some servers send the head of a stream with its first event only.
    if (what.what() == sent_kind::listen) return no_limit;
    return what.what() == sent_kind::request ? with_.times.head : with_.times.notice;
}

COMCP_DECL void client_hub::start(const std::shared_ptr<client_exchange>& what)
{
    what->wanted();
    set_due(*what, time_for(*what));
    if (gate_ || !has_room_for(*what)) {
        if (waiting_.size() < most_waiting) waiting_.push_back(what);
        else what->refused(fail(errc::too_many, "too many messages wait for a connection"));
        return;
    }
    const std::shared_ptr<const url> to = what->target(url_);
    write_head(*what, *to);
    while (const std::shared_ptr<client_connection> idle = pool_.take(to->origin())) {
        what->asked(*idle, to, !session_.empty());
        if (idle->send(what)) return;
    }
    const auto fresh = std::make_shared<client_connection>(*lot_, to->origin(), with_.head);
    connections_.push_back(fresh);
    what->asked(*fresh, to, !session_.empty());
    client_connection::start(fresh, executor_, shared_from_this(), with_.door, *to, with_.times.connect, what);
}

COMCP_DECL void client_hub::serve_waiting()
{
    // Not the first alone: answers must not stand behind requests that wait for them.
    while (!closed_ && !gate_) {
        const auto at =
            std::find_if(waiting_.begin(), waiting_.end(), [this](const auto& each) { return has_room_for(*each); });
        if (at == waiting_.end()) return;
        const auto next = std::move(*at);
        waiting_.erase(at);
        start(next);
    }
}

COMCP_DECL void client_hub::on_idle(client_connection& connection)
{
    if (closed_) return connection.cut();
    pool_.put(connection.shared_from_this(), now());
    if (!unused_.set()) deadlines_.set(unused_, with_.times.unused, now());
    if (!waiting_.empty()) serve_waiting();
}

COMCP_DECL void client_hub::on_closed(client_connection& connection)
{
    pool_.forget(connection);
    std::erase_if(connections_, [&](const auto& each) { return each.get() == &connection; });
    if (!waiting_.empty() && !closed_) asio::post(executor_, serve_later{weak_from_this()});
}

COMCP_DECL void client_hub::forget(client_exchange& what)
{
    const auto found = exchanges_.find(what.key);
    if (found == exchanges_.end() || found->second.get() != &what) return;
    const std::shared_ptr<client_exchange> last = std::move(found->second); // alive to the end of this
    exchanges_.erase(found);
    std::erase(waiting_, last);
    if (last->what() == sent_kind::notification) --notices_;
    if (gate_ == last) {
        gate_.reset();
        if (!closed_) asio::post(executor_, serve_later{weak_from_this()});
    }
    if (quiet_.waiting()) asio::post(executor_, release_all{shared_from_this(), {}});
}

// ---- what the session is told --------------------------------------------------------------------------------------

COMCP_DECL transport_event& client_hub::push(transport_event::kind what, exchange_id on)
{
    transport_event& event = pending_.emplace_back();
    event.what = what;
    event.exchange = on;
    if (inside_ != 0 && pending_.size() == 1) asio::post(executor_, wake_later{weak_from_this()});
    return event;
}

COMCP_DECL void client_hub::keep(client_connection* connection, std::shared_ptr<client_exchange> exchange)
{
    if (connection && !connection->held()) {
        connection->hold();
        kept_.connections.push_back(connection->shared_from_this());
    }
    if (exchange) kept_.exchanges.push_back(std::move(exchange));
}

COMCP_DECL std::string_view client_hub::keep_text(std::string_view text) { return kept_.texts.emplace_back(text); }

COMCP_DECL bool client_hub::something_to_tell() const
{
    // A server that asks without accepting answers is not heard until it does.
    return closed_ || (!pending_.empty() && notices_ <= most_notices);
}

COMCP_DECL void client_hub::wake()
{
    if (inside_ != 0) return;
    if (finishing_) return drop_events();
    if (!arrived_.waiting()) return;
    if (something_to_tell()) arrived_.complete();
    else release_given_up();
}

COMCP_DECL void client_hub::on_read(client_connection&) { wake(); }

COMCP_DECL void client_hub::release(std::vector<std::shared_ptr<client_connection>>& held)
{
    const auto released = std::exchange(held, {});
    for (const auto& each : released) each->release();
}

/// Once the session has ended nobody listens: what is held for it would hold the last answers up.
COMCP_DECL void client_hub::drop_events()
{
    pending_.clear();
    handed_.exchanges.clear();
    handed_.texts.clear();
    kept_.exchanges.clear();
    kept_.texts.clear();
    release(handed_.connections);
    release(kept_.connections);
}

/// Connections that were held for an exchange which the session has given up since.
COMCP_DECL void client_hub::release_given_up()
{
    if (!pending_.empty() || kept_.connections.empty()) return;
    kept_.exchanges.clear();
    kept_.texts.clear();
    release(kept_.connections);
}

COMCP_DECL task<void> client_hub::receive(std::shared_ptr<client_hub> self, transport_batch& batch)
{
    batch.clear();
    self->handed_.exchanges.clear();
    self->handed_.texts.clear();
    self->release(self->handed_.connections);
    while (!self->something_to_tell()) {
        self->release_given_up();
        if (!self->something_to_tell()) co_await self->arrived_.wait();
    }
    if (self->closed_) {
        batch.emplace_back().what = transport_event::kind::closed;
        co_return;
    }
    batch.swap(self->pending_);
    std::swap(self->handed_, self->kept_);
}

// ---- time ----------------------------------------------------------------------------------------------------------

COMCP_DECL void client_hub::set_due(client_exchange& what, duration after)
{
    if (after == no_limit) what.due.clear();
    else deadlines_.set(what.due, after, now());
}

COMCP_DECL void client_hub::drop_unused()
{
    const duration next = pool_.expire(now());
    deadlines_.set(unused_, next, now());
}

// ---- the end -------------------------------------------------------------------------------------------------------

COMCP_DECL task<void> client_hub::finish(std::shared_ptr<client_hub> self)
{
    std::vector<std::shared_ptr<client_exchange>> left;
    for (const auto& [key, each] : self->exchanges_)
        if (each->what() != sent_kind::notification) left.push_back(each);
    for (const auto& each : left) each->abandon();
    left.clear();
    self->finishing_ = true;
    self->drop_events();
    bool asked_to_end = self->session_.empty() || self->session_lost_;
    for (;;) {
        if (self->closed_) co_return;
        if (self->exchanges_.empty()) {
            if (asked_to_end) co_return;
            asked_to_end = true;
            const entered guard(*self);
            self->begin_exchange(self->make(sent_kind::end_session, pipe_exchange));
            continue;
        }
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) co_return;
    }
}

COMCP_DECL void client_hub::close() noexcept
{
    if (closed_) return;
    closed_ = true;
    gate_.reset();
    building_.reset();
    waiting_.clear();
    unused_.clear();
    const auto connections = std::exchange(connections_, {});
    for (const auto& each : connections) each->cut();
    pool_.drop_all();
    exchanges_.clear();
    pending_.clear();
    std::vector<std::shared_ptr<client_connection>> held = std::move(kept_.connections);
    held.insert(held.end(), handed_.connections.begin(), handed_.connections.end());
    kept_.connections.clear();
    handed_.connections.clear();
    if (executor_) asio::post(executor_, release_all{shared_from_this(), std::move(held)});
}

COMCP_DECL void client_hub::context_gone() noexcept
{
    closed_ = true;
    gate_.reset();
    building_.reset();
    waiting_.clear();
    connections_.clear();
    pool_.drop_all();
    exchanges_.clear();
    pending_.clear();
    kept_ = kept();
    handed_ = kept();
    executor_ = comcp::executor();
}

} // namespace comcp::inline COMCP_ABI::http::detail
