// SPDX-License-Identifier: MIT
//
// How an HTTP service uses its session store: see server/session_keeper.hpp.
#pragma once

#include <comcp/detail/within.hpp>
#include <comcp/server/session_keeper.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL session_keeper::session_keeper(session_store& in, comcp::executor ex, std::string who, settings chosen)
    : store(in),
      owner(std::move(who)),
      with(std::move(chosen)),
      executor_(std::move(ex)),
      lot_(make_parking_lot(executor_)),
      home_(std::make_shared<detail::home>(executor_)),
      quiet_(*lot_)
{
    lot_->link(*this);
}

COMCP_DECL session_keeper::~session_keeper()
{
    home_->leave();
    if (!context_gone_) lot_->unlink(*this);
}

COMCP_DECL session_keeper::absence session_keeper::absent(std::string_view id) const
{
    const std::lock_guard lock(mutex_);
    if (const auto at = erasing_.find(id); at != erasing_.end()) return at->second ? absence::deleted : absence::unsure;
    return late_.contains(id) ? absence::unsure : absence::unknown;
}

COMCP_DECL void session_keeper::begin_erase(const std::string& id, bool deleted)
{
    const std::lock_guard lock(mutex_);
    erasing_[id] = deleted;
}

COMCP_DECL void session_keeper::begin_late(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    late_.insert(id);
}

COMCP_DECL void session_keeper::end_late(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    late_.erase(id);
}

COMCP_DECL void session_keeper::end_erase(const std::string& id)
{
    {
        const std::lock_guard lock(mutex_);
        erasing_.erase(id);
    }
    wake();
}

COMCP_DECL task<result<void>> session_keeper::erased(std::shared_ptr<session_keeper> self,
                                                     std::shared_ptr<kept_session> which)
{
    // What is under way when it begins may take its time too, and may then not end at all.
    bool late = false;
    timer limit(self->executor_);
    limit.start(deadline_after(deadline_after(limit.now(), self->with.each), self->with.each),
                patience_ended(late, self->quiet_));
    while (which->erased() == kept_session::erasure::begun && !late) {
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the request was given up"));
    }
    if (which->erased() != kept_session::erasure::done) co_return fail(errc::busy, "the session could not be erased");
    co_return result<void>();
}

COMCP_DECL void session_keeper::end_work()
{
    if (--working_ == 0) wake();
}

COMCP_DECL void session_keeper::wake()
{
    home_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->quiet_.wake_all();
    });
}

COMCP_DECL task<void> session_keeper::idle(std::shared_ptr<session_keeper> self)
{
    while (self->working_ != 0) {
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the drain was cancelled"));
    }
}

COMCP_DECL void session_keeper::drop()
{
    context_gone_ = true;
    home_->leave();
    executor_ = comcp::executor();
}

// ---- one session ---------------------------------------------------------------------------------------------------

COMCP_DECL task<void> kept_session::begin(std::shared_ptr<kept_session> self)
{
    self->queued_ = http::budget_share(self->keeper_->with.memory);
    self->owed_bytes_ = http::budget_share(self->keeper_->with.memory);
    self->save_ = session_save::take;
    if (self->writing_) co_return;
    self->writing_ = true;
    try {
        co_await write(self, true);
    } catch (...) { // the request was given up, not the session
        self->write_later();
        throw;
    }
    if (self->save_ || self->erase_ || !self->queue_.empty()) self->write_later();
}

COMCP_DECL void kept_session::changed()
{
    if (record.id.empty()) return;
    save_ = session_save::take;
    write_later();
}

COMCP_DECL void kept_session::renew()
{
    const auto owner = owner_.lock();
    if (!owner || save_) return;
    if (!owed_.empty()) write_later();
    const duration after = unsaved_ ? std::min(keeper_->with.each, keeper_->with.renew) : keeper_->with.renew;
    if (time_of(owner->executor()).now() < deadline_after(saved_, after)) return;
    save_ = unsaved_ ? failed_ : session_save::renew;
    write_later();
}

COMCP_DECL void kept_session::note(http::stream_change change)
{
    if (record.id.empty() || erase_) return;
    if (take(change)) queue_.push_back(std::move(change));
    else if (owed_.empty()) return;
    write_later();
}

/// What a change costs while it waits.
COMCP_DECL std::size_t cost_of(const http::stream_change& change)
{
    return change.text.size() + change.stream.size() + 64;
}

COMCP_DECL bool kept_session::take(const http::stream_change& change)
{
    using kind = http::stream_change::kind;
    if (change.what == kind::dropped) {
        // One that the store does not know yet must not begin there behind its end.
        std::erase_if(owed_, [&](const http::stream_change& each) {
            const bool same = each.stream == change.stream;
            if (same) owed_bytes_.shrink(cost_of(each));
            return same;
        });
        return streams_.erase(change.stream) != 0;
    }
    const auto at = streams_.find(change.stream);
    if (change.what != kind::opened && (at == streams_.end() || !at->second)) return false;
    if (change.what == kind::finished) {
        at->second = false;
        return true;
    }
    // A store that does not keep up has the beginning of a stream, and what is missing is missing at its end.
    const std::size_t cost = cost_of(change);
    const bool room = queued_.bytes() + cost <= keeper_->with.queue && queued_.grow(cost);
    if (change.what == kind::kept) at->second = room;
    else if (room) streams_.emplace(change.stream, true);
    return room;
}

COMCP_DECL void kept_session::erase(bool anybodys)
{
    erase_ = true;
    erase_anybodys_ = anybodys;
    write_later();
}

COMCP_DECL task<result<std::optional<stored_stream>>> kept_session::load_stream(std::shared_ptr<kept_session> self,
                                                                                std::string stream)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    auto asked = self->keeper_->store.load_stream(self->record.id, std::move(stream));
    auto found = within(ex, self->keeper_->with.each, std::move(asked));
    co_return co_await std::move(found);
}

COMCP_DECL void kept_session::begin_erase(bool deleted)
{
    erasure_ = erasure::begun;
    keeper_->begin_erase(record.id, deleted);
}

COMCP_DECL void kept_session::end_erase(bool worked)
{
    erasure_ = worked ? erasure::done : erasure::failed;
    keeper_->end_erase(record.id);
}

COMCP_DECL void kept_session::write_later()
{
    const auto owner = owner_.lock();
    if (writing_ || !owner) return;
    writing_ = true;
    asio::co_spawn(owner->executor(), write(shared_from_this()), writer_ended());
}

/// What its end means for a session, however it comes.
class kept_session::writer
{
public:
    explicit writer(kept_session& of) : of_(&of) {}
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    ~writer()
    {
        of_->writing_ = false;
        // What goes on beyond its time is the last thing to be waited for: then it is erased.
        if (of_->erase_ && of_->asked_ == 0 && of_->erased() == erasure::begun) of_->end_erase(false);
    }

private:
    kept_session* of_;
};

COMCP_DECL bool kept_session::goes_on() const
{
    const bool over = erasure_ == erasure::done || erasure_ == erasure::failed;
    return asked_ == 0 && !over && !keeper_->stopped();
}

COMCP_DECL task<void> kept_session::write(std::shared_ptr<kept_session> self, bool only_record)
{
    session_keeper& by = *self->keeper_;
    const keeper_work working(self->keeper_);
    const writer me(*self);
    const comcp::executor ex = co_await asio::this_coro::executor;
    bool owed_tried = false;
    while (self->goes_on()) {
        if (self->erase_) {
            self->queue_.clear();
            self->queued_.release();
            self->owed_.clear();
            self->owed_bytes_.release();
            auto asked = ask(self, by.store.erase(self->record.id, self->erase_anybodys_ ? std::string() : by.owner));
            const result<void> done = co_await std::move(asked);
            self->end_erase(done.has_value());
            break;
        }
        if (self->save_) {
            const session_save how = *std::exchange(self->save_, std::nullopt);
            self->saved_ = time_of(ex).now();
            self->unsaved_ = true; // until it is
            std::string text = write_session_record(self->record);
            if (text.size() > session_record::most_bytes) { // it stays here
                if (only_record && !self->erase_) break;
                continue;
            }
            auto asked = ask(self, by.store.save(self->record.id, by.owner, std::move(text), how));
            const result<void> done = co_await std::move(asked);
            self->unsaved_ = !done;
            if (!done) self->failed_ = how;
            if (only_record && !self->erase_) break;
        } else if (!self->owed_.empty() && !std::exchange(owed_tried, true)) {
            auto asked = append(self, self->owed_);
            const result<void> done = co_await std::move(asked);
            if (!done) continue;
            self->owed_.clear();
            self->owed_bytes_.release();
        } else if (!self->queue_.empty()) {
            changes batch = std::exchange(self->queue_, {});
            const http::budget_share held = std::exchange(self->queued_, http::budget_share(by.with.memory));
            auto keeping = keep(self, std::move(batch));
            co_await std::move(keeping);
            owed_tried = false;
        } else {
            break;
        }
    }
}

// ---- one operation -------------------------------------------------------------------------------------------------

/// Says so when what was asked goes on.
class kept_session::late_guard
{
public:
    explicit late_guard(kept_session& of) : of_(&of) {}
    late_guard(const late_guard&) = delete;
    late_guard& operator=(const late_guard&) = delete;
    ~late_guard()
    {
        if (of_->asked_ != 0) of_->keeper_->begin_late(of_->record.id);
    }

private:
    kept_session* of_;
};

COMCP_DECL task<result<void>> kept_session::ask(std::shared_ptr<kept_session> self, task<void> work)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    const late_guard late(*self);
    ++self->asked_;
    auto limited = within(ex, self->keeper_->with.each, alone(self, std::move(work)));
    co_return co_await std::move(limited);
}

/// Keeps the session, and the next operation off, until this one has ended, however late that is: what it does then is
/// done before anything newer, whether it heeds its cancellation or not.
COMCP_DECL task<void> kept_session::alone(std::shared_ptr<kept_session> self, task<void> work)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    std::exception_ptr failed;
    try {
        co_await std::move(work);
    } catch (...) {
        failed = std::current_exception();
    }
    if (--self->asked_ == 0) self->keeper_->end_late(self->record.id);
    if (!self->writing_ && (self->save_ || self->erase_ || !self->queue_.empty())) { // it was late
        self->writing_ = true;
        asio::co_spawn(ex, write(self), writer_ended());
    }
    if (failed) std::rethrow_exception(failed);
}

COMCP_DECL task<result<void>> kept_session::append(std::shared_ptr<kept_session> self, changes batch)
{
    auto asked = ask(self, self->keeper_->store.append(self->record.id, std::move(batch)));
    co_return co_await std::move(asked);
}

/// Leaves the changes of one stream, in their order, and gives those of the others.
COMCP_DECL std::vector<http::stream_change> take_others(std::vector<http::stream_change>& batch)
{
    std::vector<http::stream_change> own;
    std::vector<http::stream_change> others;
    const std::string stream = batch.front().stream;
    for (http::stream_change& each : batch) (each.stream == stream ? own : others).push_back(std::move(each));
    batch = std::move(own);
    return others;
}

COMCP_DECL task<void> kept_session::keep(std::shared_ptr<kept_session> self, changes batch)
{
    auto whole = append(self, batch);
    result<void> done = co_await std::move(whole);
    if (done) co_return;
    changes others = take_others(batch);
    // One message that cannot be kept must not cost other streams theirs. A store that is slow is so for all of them.
    bool again = !others.empty();
    for (;;) {
        if (self->erase_ || !self->goes_on() || (!done && done.error().code == errc::timed_out)) again = false;
        if (again) {
            auto part = append(self, batch);
            done = co_await std::move(part);
        }
        if (!again || !done) self->lost(std::move(batch));
        if (others.empty()) break;
        batch = std::move(others);
        others = take_others(batch);
    }
}

/// What follows on the stream would leave a gap. That it began, so that whoever comes back hears that its answer is
/// lost, and that it is not kept any more the store is told later.
COMCP_DECL void kept_session::lost(changes of_one_stream)
{
    using kind = http::stream_change::kind;
    if (erase_ || of_one_stream.empty()) return;
    const auto at = streams_.find(of_one_stream.front().stream);
    const bool dropped = of_one_stream.back().what == kind::dropped;
    if (at != streams_.end()) at->second = false;
    else if (!dropped) return; // that is told by what waits
    for (http::stream_change& each : of_one_stream) {
        if (each.what != (dropped ? kind::dropped : kind::opened)) continue;
        const std::size_t cost = cost_of(each);
        const bool room = owed_bytes_.bytes() + cost <= keeper_->with.queue && owed_bytes_.grow(cost);
        if (room) owed_.push_back(std::move(each));
    }
}

} // namespace comcp::inline COMCP_ABI::detail
