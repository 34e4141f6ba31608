// SPDX-License-Identifier: MIT
//
// The sessions of an HTTP service: see server/session_table.hpp.
#pragma once

#include <comcp/server/session_table.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL session_table::session_table(comcp::executor ex, std::size_t most, duration idle, random_source random)
    : executor_(std::move(ex)),
      lot_(make_parking_lot(executor_)),
      home_(std::make_shared<detail::home>(executor_)),
      most_(most),
      idle_(idle),
      random_(random),
      timer_(executor_),
      quiet_(*lot_)
{
    lot_->link(*this);
}

COMCP_DECL session_table::~session_table()
{
    home_->leave();
    if (!context_gone_) lot_->unlink(*this);
}

COMCP_DECL void begin_to_end(const leaving_session& which, std::string why, bool deleted)
{
    if (!which.owner) return;
    which.owner->home()->post([which, why = std::move(why), deleted] {
        if (which.kept && which.kept->erased() == kept_session::erasure::begun) which.kept->erase(deleted);
        which.owner->begin_close(fault(errc::closed, why), false);
    });
}

COMCP_DECL session_lease session_table::adopt(std::shared_ptr<session> owner, http::session_transport* wire,
                                              std::string principal, std::shared_ptr<kept_session> kept)
{
    auto made = std::make_shared<table_entry>();
    made->owner = std::move(owner);
    made->wire = wire;
    made->kept = std::move(kept);
    made->principal = std::move(principal);
    made->active = 1;
    const std::lock_guard lock(mutex_);
    if (ended_ || nameless_ >= most_) return {};
    keeps_ = keeps_ || made->kept;
    ++nameless_;
    made->at = active_.insert(active_.end(), made);
    ++calls_;
    return session_lease(shared_from_this(), made, session_lease::kind::call);
}

COMCP_DECL result<std::string> session_table::name(const session_lease& lease)
{
    auto id = random_token(random_);
    if (!id) return id.error();
    return name(lease, *std::move(id));
}

COMCP_DECL result<std::string> session_table::name(const session_lease& lease, std::string id)
{
    leaving_session gives_way;
    bool watch_now = false;
    {
        const std::lock_guard lock(mutex_);
        if (!lease.entry()->owner) return fail(errc::closed, "the session was closed");
        if (by_id_.contains(id)) return fail(errc::invalid_argument, "there is a session with this id");
        if (by_id_.size() >= most_) {
            const entries& from = fresh_.empty() ? used_ : fresh_;
            if (from.empty()) return fail(errc::busy, "too many sessions");
            gives_way = take_out_for_good(*from.front());
        }
        --nameless_;
        lease.entry()->id = id;
        // It had its second request elsewhere.
        lease.entry()->used = lease.entry()->kept && lease.entry()->kept->taken;
        by_id_.emplace(lease.entry()->id, lease.entry());
        watch_now = !std::exchange(watched_, true);
    }
    begin_to_end(gives_way, "the session gave way to a new one");
    if (watch_now)
        home_->post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->watch();
        });
    return id;
}

COMCP_DECL table_entry* session_table::find_entry(std::string_view id, std::string_view principal) const
{
    const auto found = by_id_.find(id);
    return found != by_id_.end() && found->second->principal == principal ? found->second.get() : nullptr;
}

COMCP_DECL session_table::in_use session_table::find(std::string_view id, std::string_view principal,
                                                     session_lease::kind use)
{
    const std::lock_guard lock(mutex_);
    table_entry* const entry = find_entry(id, principal);
    if (!entry) return {};
    if (entry->active++ == 0) active_.splice(active_.end(), idle_list(*entry), entry->at);
    entry->used = true;
    if (use == session_lease::kind::call) ++calls_;
    in_use out;
    out.owner = entry->owner;
    out.wire = entry->wire;
    out.kept = entry->kept;
    out.lease = session_lease(shared_from_this(), *entry->at, use);
    return out;
}

COMCP_DECL bool session_table::knows(std::string_view id, std::string_view principal) const
{
    const std::lock_guard lock(mutex_);
    return find_entry(id, principal) != nullptr;
}

COMCP_DECL bool session_table::remove(std::string_view id, std::string_view principal)
{
    leaving_session gone;
    {
        const std::lock_guard lock(mutex_);
        table_entry* const entry = find_entry(id, principal);
        if (!entry) return false;
        gone = take_out_for_good(*entry, true);
        if (by_id_.empty()) unwatch_later();
    }
    begin_to_end(gone, "the client ended the session", true);
    return true;
}

COMCP_DECL std::shared_ptr<kept_session> session_table::kept(std::string_view id, std::string_view principal) const
{
    const std::lock_guard lock(mutex_);
    const table_entry* const entry = find_entry(id, principal);
    return entry ? entry->kept : nullptr;
}

COMCP_DECL void session_table::forget(std::string_view id)
{
    leaving_session gone; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    const auto entry = found->second;
    gone = take_out(*entry);
    if (by_id_.empty()) unwatch_later();
}

COMCP_DECL std::vector<std::shared_ptr<session>> session_table::take_all()
{
    std::vector<std::shared_ptr<session>> all;
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (entries* list : {&active_, &fresh_, &used_})
        while (!list->empty()) all.push_back(take_out(*list->front()).owner);
    unwatch_later();
    return all;
}

COMCP_DECL std::size_t session_table::size() const
{
    const std::lock_guard lock(mutex_);
    return by_id_.size();
}

COMCP_DECL leaving_session session_table::take_out_for_good(table_entry& entry, bool deleted)
{
    if (entry.kept) entry.kept->begin_erase(deleted);
    return take_out(entry);
}

COMCP_DECL leaving_session session_table::take_out(table_entry& entry)
{
    if (entry.id.empty()) --nameless_;
    else by_id_.erase(entry.id);
    entries& in = entry.active != 0 ? active_ : idle_list(entry);
    leaving_session out{std::move(entry.owner), std::move(entry.kept)};
    in.erase(entry.at); // may destroy the entry
    return out;
}

COMCP_DECL void session_table::release(table_entry& entry, session_lease::kind use)
{
    std::shared_ptr<session> over;
    bool last_call = false;
    {
        const std::lock_guard lock(mutex_);
        if (use == session_lease::kind::call) last_call = --calls_ == 0 && draining_;
        if (--entry.active == 0 && entry.owner) {
            if (entry.id.empty()) {
                ++entry.active; // it is among the active ones
                over = take_out(entry).owner;
                --entry.active;
            } else {
                entry.since = timer_.now();
                entries& idle = idle_list(entry);
                idle.splice(idle.end(), active_, entry.at);
            }
        }
    }
    if (over) over->home()->post([over] { over->abandon(fault(errc::closed, "the request is over")); });
    if (last_call)
        home_->post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->quiet_.wake_all();
        });
}

COMCP_DECL void session_table::watch()
{
    const std::lock_guard lock(mutex_);
    timer_.start(deadline_after(timer_.now(), keeps_ && idle_ != no_limit ? idle_ / 2 : idle_), [this] { sweep(); });
}

COMCP_DECL void session_table::unwatch_later()
{
    home_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->unwatch();
    });
}

/// No session is left to watch: a timer that waits would keep the loop of the host running.
COMCP_DECL void session_table::unwatch()
{
    const std::lock_guard lock(mutex_);
    if (!by_id_.empty()) return;
    watched_ = false;
    timer_.cancel();
}

COMCP_DECL void session_table::sweep()
{
    std::vector<leaving_session> due;
    std::vector<leaving_session> busy;
    time_point next;
    {
        const std::lock_guard lock(mutex_);
        const time_point now = timer_.now();
        // One that becomes idle after this look is due after the next one.
        next = deadline_after(now, idle_);
        for (entries* list : {&fresh_, &used_}) {
            while (!list->empty() && deadline_after(list->front()->since, idle_) <= now)
                due.push_back(take_out_for_good(*list->front()));
            if (!list->empty()) next = std::min(next, deadline_after(list->front()->since, idle_));
        }
        // One whose stream is open, or whose call takes long, is in use though nothing arrives.
        for (const auto& each : active_)
            if (each->owner && each->kept && !each->id.empty()) busy.push_back({each->owner, each->kept});
        if (!busy.empty() && idle_ != no_limit) next = std::min(next, deadline_after(now, idle_ / 2));
        watched_ = !by_id_.empty();
        if (!watched_) next = time_point::max();
    }
    for (const auto& each : due) begin_to_end(each, "the session was idle for too long");
    for (const auto& each : busy) each.owner->home()->post([kept = each.kept] { kept->renew(); });
    timer_.start(next, [this] { sweep(); });
}

COMCP_DECL task<void> session_table::calls_ended(std::shared_ptr<session_table> self, duration within)
{
    bool late = within <= duration::zero();
    timer limit(self->executor_);
    if (!late) limit.start(deadline_after(limit.now(), within), patience_ended(late, self->quiet_));
    for (;;) {
        {
            const std::lock_guard lock(self->mutex_);
            self->draining_ = true;
            if (self->calls_ == 0 || late) co_return;
        }
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the drain was cancelled"));
    }
}

COMCP_DECL void session_table::drop()
{
    context_gone_ = true;
    home_->leave();
    executor_ = comcp::executor();
}

} // namespace comcp::inline COMCP_ABI::detail
