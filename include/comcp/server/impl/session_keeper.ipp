// SPDX-License-Identifier: MIT
//
// How an HTTP service uses its session store: see server/session_keeper.hpp.
#pragma once

#include <comcp/detail/within.hpp>
#include <comcp/server/session_keeper.hpp>

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

COMCP_DECL void session_keeper::begin_erase(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    erasing_.insert(id);
}

COMCP_DECL void session_keeper::end_erase(const std::string& id)
{
    {
        const std::lock_guard lock(mutex_);
        erasing_.erase(id);
    }
    wake();
}

COMCP_DECL bool session_keeper::erasing(std::string_view id) const
{
    const std::lock_guard lock(mutex_);
    return erasing_.contains(id);
}

COMCP_DECL task<result<void>> session_keeper::erased(std::shared_ptr<session_keeper> self,
                                                     std::shared_ptr<kept_session> which)
{
    while (which->erased() == kept_session::erasure::begun) {
        co_await self->quiet_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the request was given up"));
    }
    if (which->erased() == kept_session::erasure::failed) co_return fail(errc::busy, "the session could not be erased");
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
    const duration after = unsaved_ ? std::min(keeper_->with.each, keeper_->with.renew) : keeper_->with.renew;
    if (time_of(owner->executor()).now() < deadline_after(saved_, after)) return;
    save_ = unsaved_ ? failed_ : session_save::renew;
    write_later();
}

COMCP_DECL void kept_session::note(http::stream_change change)
{
    if (record.id.empty() || erase_ || !take(change)) return;
    queue_.push_back(std::move(change));
    write_later();
}

COMCP_DECL bool kept_session::take(const http::stream_change& change)
{
    using kind = http::stream_change::kind;
    if (change.what == kind::dropped) return streams_.erase(change.stream) != 0;
    const auto at = streams_.find(change.stream);
    if (change.what != kind::opened && (at == streams_.end() || !at->second)) return false;
    if (change.what == kind::finished) {
        at->second = false;
        return true;
    }
    // A store that does not keep up has the beginning of a stream, and what is missing is missing at its end.
    const std::size_t cost = change.text.size() + change.stream.size() + 64;
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

COMCP_DECL void kept_session::begin_erase()
{
    erasure_ = erasure::begun;
    keeper_->begin_erase(record.id);
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
        if (of_->erase_ && of_->erased() == erasure::begun) of_->end_erase(false);
    }

private:
    kept_session* of_;
};

COMCP_DECL task<void> kept_session::write(std::shared_ptr<kept_session> self, bool only_record)
{
    session_keeper& by = *self->keeper_;
    const keeper_work working(self->keeper_);
    const writer me(*self);
    const comcp::executor ex = co_await asio::this_coro::executor;
    while (!by.stopped()) {
        if (self->erase_) {
            self->queue_.clear();
            self->queued_.release();
            auto asked = by.store.erase(self->record.id, self->erase_anybodys_ ? std::string() : by.owner);
            auto limited = within(ex, by.with.each, std::move(asked));
            const result<void> done = co_await std::move(limited);
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
            auto asked = by.store.save(self->record.id, by.owner, std::move(text), how);
            auto limited = within(ex, by.with.each, std::move(asked));
            const result<void> done = co_await std::move(limited);
            self->unsaved_ = !done;
            if (!done) self->failed_ = how;
            if (only_record && !self->erase_) break;
        } else if (!self->queue_.empty()) {
            std::vector<http::stream_change> batch = std::exchange(self->queue_, {});
            const http::budget_share held = std::exchange(self->queued_, http::budget_share(by.with.memory));
            std::vector<std::string> streams;
            for (const http::stream_change& each : batch)
                if (streams.empty() || streams.back() != each.stream) streams.push_back(each.stream);
            auto asked = by.store.append(self->record.id, std::move(batch));
            auto limited = within(ex, by.with.each, std::move(asked));
            const result<void> done = co_await std::move(limited);
            if (!done) // what follows would leave a gap
                for (const std::string& each : streams)
                    if (const auto at = self->streams_.find(each); at != self->streams_.end()) at->second = false;
        } else {
            break;
        }
    }
}

} // namespace comcp::inline COMCP_ABI::detail
