// SPDX-License-Identifier: MIT
//
// Which exchange a message goes to, and in which form: see http/session_transport.hpp.
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/http/session_transport.hpp>
#include <comcp/http/sse.hpp>
#include <comcp/protocol/revision.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

COMCP_DECL session_transport::session_transport(executor ex, std::shared_ptr<const session_transport_settings> settings)
    : executor_(std::move(ex)),
      lot_(comcp::detail::make_parking_lot(executor_)),
      mailbox_(std::make_shared<mailbox>(lot_)),
      settings_(std::move(settings)),
      standalone_offered_(settings_->standalone),
      kept_bytes_(settings_->kept)
{}

COMCP_DECL session_transport::~session_transport() { close(); }

// ---- the service's side --------------------------------------------------------------------------------------------

COMCP_DECL void session_transport::deliver(std::shared_ptr<exchange> posted, std::string body)
{
    if (closed_) return posted->decide(exchange_head::lost);
    posted->id_ = static_cast<exchange_id>(++last_id_);
    posted->owner_ = this;
    inbox_.push_back({posted->id_, std::move(body)});
    open_.push_back(std::move(posted));
    mailbox_->arrived.complete();
}

COMCP_DECL session_transport::opened session_transport::open_stream(budget_share slot)
{
    if (standalone_ && standalone_->read()) {
        if (standalone_->kept_ != 0) store_->finish(standalone_->kept_);
        standalone_->keeps_unread_ = false;
        quiet_.push_back(std::move(standalone_));
    }
    const std::shared_ptr<exchange> on = standalone_ ? standalone_ : make_standalone();
    standalone_ = on;
    const std::uint32_t reader = on->attach(std::move(slot));
    if (on->out_.empty()) prime(*on);
    return {replay_state::found, on, reader};
}

COMCP_DECL session_transport::opened session_transport::resume_stream(std::string_view last_event_id, budget_share slot)
{
    if (!store_) return {replay_state::malformed, nullptr, 0};
    const std::string seen(last_event_id); // the view is the old reader's, perhaps
    const replay missed = store_->replay_after(seen);
    if (missed.state != replay_state::found) return {missed.state, nullptr, 0};
    const auto is_wanted = [&](const std::shared_ptr<exchange>& each) { return each && each->kept_ == missed.stream; };
    std::shared_ptr<exchange> found;
    if (is_wanted(standalone_)) found = standalone_;
    for (const auto* list : {&open_, &quiet_}) {
        const auto at = std::ranges::find_if(*list, is_wanted);
        if (at != list->end()) found = *at;
    }
    if (!found) found = make_ended(); // what is kept is all there is
    const std::uint32_t reader = found->attach(std::move(slot));
    // The reader before goes on in place, and with it whatever it was asked meanwhile: looked at anew.
    found->out_.clear();
    found->output_.release();
    const replay now = store_->replay_after(seen);
    if (now.state != replay_state::found) {
        found->leave(reader);
        return {now.state, nullptr, 0};
    }
    for (const stored_event& each : now.events) append_event(*found, each.id, each.message);
    return {replay_state::found, found, reader};
}

COMCP_DECL session_transport::opened session_transport::replay_stream(const std::vector<stored_event>& events,
                                                                      std::string_view answer, bool goes_on,
                                                                      budget_share slot)
{
    opened out;
    std::string later; // what waits for the client's own stream comes behind what was sent on the old one
    if (goes_on) {
        out = open_stream(std::move(slot));
        later = std::exchange(out.stream->out_, {});
    } else {
        out.stream = make_ended();
        out.reader = out.stream->attach(std::move(slot));
    }
    for (const stored_event& each : events) append_event(*out.stream, each.id, each.message);
    if (!answer.empty()) append_event(*out.stream, {}, answer);
    out.stream->out_ += later;
    return out;
}

// ---- the session's side --------------------------------------------------------------------------------------------

COMCP_DECL task<void> session_transport::open() { co_return; }

COMCP_DECL task<void> session_transport::receive(transport_batch& batch)
{
    batch.clear();
    handed_.clear();
    while (inbox_.empty() && !closed_) co_await mailbox_->arrived.wait();
    if (closed_) {
        batch.emplace_back().what = transport_event::kind::closed;
        co_return;
    }
    std::swap(handed_, inbox_);
    for (const item& each : handed_) {
        transport_event& event = batch.emplace_back();
        event.exchange = each.exchange;
        event.text = each.text;
    }
}

COMCP_DECL std::string& session_transport::begin(const send_hint& hint)
{
    hint_ = hint;
    way_ = way::nowhere;
    if (one_stream()) {
        target_ = standalone_;
        if (target_) way_ = way::event;
        return scratch_;
    }
    target_ = closed_ ? nullptr : find(hint.exchange);
    if (hint.what == send_hint::kind::answer) {
        if (!target_ || (!target_->read() && target_->kept_ == 0)) return scratch_; // nobody is left to answer (E-32)
        const bool undecided = target_->head_ == exchange_head::undecided;
        // Whoever takes neither gets the whole of it: a host that cannot stream.
        const bool whole = target_->form_.json || !target_->form_.stream || hint.status != 200;
        if (undecided && (whole || !become_stream(*target_))) {
            way_ = way::json;
            target_->out_.reserve(256); // a short answer in one piece
            return target_->out_;
        }
        way_ = way::event;
        return scratch_;
    }
    // What cannot go on the POST that it belongs to goes where the client still hears it.
    if (!target_ || !carries(*target_) || !become_stream(*target_)) target_ = closed_ ? nullptr : standalone();
    if (target_) way_ = way::event;
    return scratch_;
}

COMCP_DECL void session_transport::commit()
{
    const std::shared_ptr<exchange> to = std::move(target_);
    const bool last = hint_.what == send_hint::kind::answer;
    if (way_ == way::json) {
        to->status_ = hint_.status;
        to->decide(exchange_head::answer);
    } else if (way_ == way::event) {
        send_event(*to, scratch_);
    }
    scratch_.clear();
    if (scratch_.capacity() > 1024) std::string().swap(scratch_); // an idle session is small
    if (last && one_stream()) return complete(hint_.exchange);
    if (!last || !to) return;
    if (to->kept_ != 0) store_->finish(to->kept_);
    to->finish();
    forget(hint_.exchange);
}

COMCP_DECL void session_transport::abandon(exchange_id id)
{
    const auto found = find(id);
    if (!found) return;
    // Ids would have the client come back for an answer that never comes (E-36).
    if (found->head_ == exchange_head::undecided) found->form_.resumable = false;
    const bool streams = found->form_.stream && found->read() && become_stream(*found);
    end_exchange(*found, streams ? exchange_head::stream : exchange_head::accepted);
    forget(id);
}

COMCP_DECL void session_transport::complete(exchange_id id)
{
    const auto found = find(id);
    if (!found) return;
    end_exchange(*found, exchange_head::accepted);
    forget(id);
}

COMCP_DECL void session_transport::close_stream(exchange_id id, std::optional<duration> retry)
{
    const auto found = find(id);
    // 2025-11-25, transports: only after an event with an id, or the client could not come back (E-36).
    if (!found || !primes_ || !carries(*found) || !found->read() || !become_stream(*found) || found->kept_ == 0) return;
    if (retry && *retry != no_limit) {
        const std::size_t before = found->out_.size();
        write_sse_retry(found->out_, std::chrono::duration_cast<std::chrono::milliseconds>(*retry));
        found->output_.add(found->out_.size() - before);
    }
    found->part();
}

COMCP_DECL std::size_t session_transport::queued_on(exchange_id id) const
{
    if (one_stream()) id = pipe_exchange;
    const auto found = id == pipe_exchange ? standalone_ : find(id);
    if (!found) return id == pipe_exchange ? 0 : std::numeric_limits<std::size_t>::max();
    // Of what nobody may ever fetch little is kept; what finds no room there waits where it came from.
    constexpr std::size_t unread = 64 * 1024;
    if (id == pipe_exchange && !found->read() && found->out_.size() >= unread)
        return std::numeric_limits<std::size_t>::max();
    return id == pipe_exchange || carries(*found) ? found->out_.size() : std::numeric_limits<std::size_t>::max();
}

COMCP_DECL bool session_transport::can_ask(exchange_id id) const
{
    const auto found = find(id);
    return (found && carries(*found)) || standalone_ || standalone_offered_;
}

COMCP_DECL void session_transport::negotiated(std::string_view revision)
{
    // 2025-11-25, transports: a stream begins with an event that has only an id; older clients may take its empty data
    // for JSON (E-36, E-37).
    primes_ = parse_revision(revision) >= revision::r2025_11_25;
}

COMCP_DECL task<void> session_transport::finish() { co_return; }

COMCP_DECL void session_transport::close() noexcept
{
    if (closed_) return;
    closed_ = true;
    if (store_) store_->report_to(nullptr);
    for (const auto& each : open_) end_exchange(*each, exchange_head::lost);
    if (standalone_) end_exchange(*standalone_, exchange_head::stream);
    for (const auto& each : quiet_) end_exchange(*each, exchange_head::stream);
    open_.clear();
    standalone_.reset();
    quiet_.clear();
    inbox_.clear();
    if (executor_) {
        asio::post(executor_, [weak = std::weak_ptr(mailbox_)] {
            if (const auto box = weak.lock()) box->arrived.complete();
        });
    }
    if (const auto tell = std::exchange(on_closed_, nullptr)) tell();
}

COMCP_DECL void session_transport::context_gone() noexcept
{
    // Nothing is destroyed here: an exchange may be what holds its session.
    executor_ = executor();
    on_closed_ = nullptr;
}

// ---- exchanges -----------------------------------------------------------------------------------------------------

COMCP_DECL std::shared_ptr<exchange> session_transport::find(exchange_id id) const
{
    const auto at = std::ranges::lower_bound(open_, id, {}, [](const auto& each) { return each->id_; });
    return at != open_.end() && (*at)->id_ == id ? *at : nullptr;
}

COMCP_DECL void session_transport::forget(exchange_id id)
{
    const auto at = std::ranges::lower_bound(open_, id, {}, [](const auto& each) { return each->id_; });
    if (at != open_.end() && (*at)->id_ == id) open_.erase(at);
}

COMCP_DECL std::shared_ptr<exchange> session_transport::standalone()
{
    if (!standalone_ && standalone_offered_) standalone_ = make_standalone();
    return standalone_;
}

COMCP_DECL std::shared_ptr<exchange> session_transport::make_standalone()
{
    exchange_form form;
    form.json = false;
    form.resumable = settings_->resumable;
    auto made = std::make_shared<exchange>(lot_, form);
    made->owner_ = this;
    made->reader_ = 0; // until a GET comes
    made->head_ = exchange_head::stream;
    made->keeps_unread_ = true;
    made->output_ = budget_share(settings_->memory);
    return made;
}

COMCP_DECL std::shared_ptr<exchange> session_transport::make_ended() const
{
    auto made = std::make_shared<exchange>(lot_, exchange_form{});
    made->head_ = exchange_head::stream;
    made->output_ = budget_share(settings_->memory);
    made->ended_ = true;
    return made;
}

COMCP_DECL bool session_transport::carries(const exchange& on) const
{
    if (on.head_ == exchange_head::stream) return on.read() || on.kept_ != 0;
    return on.head_ == exchange_head::undecided && on.form_.stream && on.read();
}

COMCP_DECL bool session_transport::become_stream(exchange& on)
{
    if (on.head_ == exchange_head::stream) return true;
    budget_share slot(settings_->streams);
    if (!slot.grow(1)) {
        on.form_.stream = false;
        return false;
    }
    on.slot_ = std::move(slot);
    on.output_ = budget_share(settings_->memory);
    prime(on);
    on.decide(exchange_head::stream);
    return true;
}

COMCP_DECL void session_transport::prime(exchange& on)
{
    if (!primes_ || !on.form_.resumable) return;
    const std::string id = keep(on, {});
    if (id.empty()) return;
    const std::size_t before = on.out_.size();
    if (settings_->retry != no_limit)
        write_sse_retry(on.out_, std::chrono::duration_cast<std::chrono::milliseconds>(settings_->retry));
    write_sse_priming(on.out_, id);
    on.output_.add(on.out_.size() - before);
    on.wake();
}

COMCP_DECL void session_transport::send_event(exchange& on, std::string_view text)
{
    const std::string id = keep(on, text);
    if (!on.read() && !on.keeps_unread_) return;
    if (!one_stream() && on.out_.size() >= settings_->stream_buffer) {
        // The reader stands still. It is cut off; what is kept of the stream can be asked for.
        on.out_ = {};
        on.output_.release();
        if (on.read()) {
            on.detach();
            return on_left(on);
        }
    }
    append_event(on, id, text);
    on.wake();
}

COMCP_DECL void session_transport::append_event(exchange& on, std::string_view id, std::string_view text)
{
    const std::size_t before = on.out_.size();
    begin_sse_event(on.out_, id);
    on.out_ += text;
    end_sse_event(on.out_);
    on.output_.add(on.out_.size() - before);
}

COMCP_DECL void session_transport::end_exchange(exchange& on, exchange_head undecided)
{
    if (on.head_ == exchange_head::undecided) on.decide(undecided);
    if (on.kept_ != 0 && store_) store_->finish(on.kept_);
    on.finish();
}

COMCP_DECL void session_transport::on_taken(std::size_t bytes)
{
    if (!one_stream()) return;
    taken_ += bytes;
    if (drained_) drained_(drained_argument_);
}

COMCP_DECL void session_transport::on_left(exchange& from)
{
    if (one_stream()) {
        if (&from == standalone_.get()) close();
        return;
    }
    const auto at = std::ranges::find(quiet_, &from, &std::shared_ptr<exchange>::get);
    if (at == quiet_.end()) return;
    const auto gone = std::move(*at); // the last one may destroy it
    quiet_.erase(at);
    end_exchange(*gone, exchange_head::stream);
}

// ---- what is kept for resumption -----------------------------------------------------------------------------------

COMCP_DECL memory_event_store* session_transport::store()
{
    if (store_) return store_.get();
    auto tag = comcp::detail::random_token();
    if (!tag) return nullptr;
    std::erase(*tag, '-');
    tag->resize(std::min<std::size_t>(tag->size(), 12));
    store_ = std::make_unique<memory_event_store>(*std::move(tag), settings_->store);
    store_->report_to(journal_.get());
    return store_.get();
}

COMCP_DECL std::string session_transport::keep(exchange& on, std::string_view text)
{
    if (!on.form_.resumable || !store()) return {};
    if (on.kept_ == 0) on.kept_ = store_->open(on.owes_);
    std::string id = store_->append(on.kept_, text);
    const std::size_t now = store_->bytes();
    const std::size_t before = kept_bytes_.bytes();
    if (now <= before) {
        kept_bytes_.shrink(before - now);
    } else if (!kept_bytes_.grow(now - before)) {
        // The service keeps too much already: this stream cannot be resumed any more.
        store_->drop(std::exchange(on.kept_, 0));
        on.form_.resumable = false;
        kept_bytes_.shrink(before - std::min(before, store_->bytes()));
        id.clear();
    }
    return id;
}

} // namespace comcp::inline COMCP_ABI::http
