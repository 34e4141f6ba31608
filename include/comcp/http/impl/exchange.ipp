// SPDX-License-Identifier: MIT
//
// The reader's side of an exchange, and how it is woken: see http/exchange.hpp.
#pragma once

#include <comcp/http/exchange.hpp>
#include <comcp/http/sse.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

COMCP_DECL task<void> exchange::wait_head(std::shared_ptr<exchange> self)
{
    while (self->head_ == exchange_head::undecided) {
        co_await self->ready_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "the request was given up"));
    }
}

COMCP_DECL task<bool> exchange::next(std::shared_ptr<exchange> self, std::uint32_t reader, duration keep_alive,
                                     std::string& out)
{
    for (;;) {
        if (self->reader_ != reader) co_return false;
        if (!self->out_.empty()) {
            const std::size_t bytes = self->out_.size();
            if (out.empty()) out.swap(self->out_);
            else out += self->out_;
            self->out_.clear();
            self->output_.release();
            if (self->silence_) self->spoke_ = self->silence_->now();
            if (self->owner_) self->owner_->on_taken(bytes);
            co_return true;
        }
        if (self->ended_ || self->parting_) co_return false;
        self->keep_awake(keep_alive);
        co_await self->ready_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (comcp::detail::is_cancelled(asked)) throw error(fail(errc::cancelled, "the stream was given up"));
    }
}

COMCP_DECL void exchange::leave(std::uint32_t reader)
{
    if (reader == 0 || reader_ != reader) return;
    detach();
    if (owner_) owner_->on_left(*this);
}

COMCP_DECL std::uint32_t exchange::attach(budget_share slot)
{
    detach();
    const std::uint32_t reader = reader_ = ++last_reader_;
    slot_ = std::move(slot);
    ready_.complete(); // there is one place to wait: who stood there sees that another came
    return reader;
}

COMCP_DECL void exchange::part()
{
    parting_ = true;
    silence_.reset();
    wake();
}

COMCP_DECL void exchange::detach()
{
    reader_ = 0;
    parting_ = false;
    silence_.reset();
    slot_.release();
    if (!keeps_unread_) {
        std::string().swap(out_); // an assignment would keep the memory
        output_.release();
    }
    wake();
}

COMCP_DECL void exchange::decide(exchange_head head)
{
    head_ = head;
    wake();
}

COMCP_DECL void exchange::finish()
{
    ended_ = true;
    body_.release();
    silence_.reset();
    wake();
    owner_ = nullptr;
}

COMCP_DECL void exchange::wake()
{
    if (!ready_.waiting() || waking_ || !owner_ || !owner_->wakes_on()) return;
    waking_ = true;
    asio::post(owner_->wakes_on(), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->waking_ = false;
            self->ready_.complete();
        }
    });
}

COMCP_DECL void exchange::keep_awake(duration interval)
{
    if (silence_ || interval == no_limit || !owner_ || !owner_->wakes_on()) return;
    silence_ = std::make_unique<timer>(owner_->wakes_on());
    spoke_ = silence_->now();
    silence_->start(comcp::detail::deadline_after(spoke_, interval), [this, interval] { on_silence(interval); });
}

COMCP_DECL void exchange::on_silence(duration interval)
{
    const time_point now = silence_->now();
    const time_point due = comcp::detail::deadline_after(spoke_, interval);
    const bool silent = now >= due;
    // A reader that is at work with what it has is not silent.
    if (silent) spoke_ = now;
    silence_->start(silent ? comcp::detail::deadline_after(now, interval) : due,
                    [this, interval] { on_silence(interval); });
    if (!silent || !out_.empty() || !ready_.waiting()) return;
    write_sse_keep_alive(out_);
    ready_.complete();
}

} // namespace comcp::inline COMCP_ABI::http
