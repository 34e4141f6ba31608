// SPDX-License-Identifier: MIT
//
// How a session begins and ends. Every way to the end leads through `shut_down`, except the death of the handle.
#pragma once

#include <comcp/session/session.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void session::speak(revision negotiated)
{
    revision_ = negotiated;
    negotiated_ = true;
    wire_->negotiated(to_string(negotiated));
}

COMCP_DECL task<void> session::start(std::shared_ptr<session> self)
{
    co_await self->wire_->open();
    if (self->state_ != state::opening) {
        self->wire_->close();
        throw error(fail(errc::closed, "closed while it was being opened"));
    }
    self->wire_->on_drained([](void* listener) { static_cast<session*>(listener)->on_drained(); }, self.get());
    self->state_ = state::open;
    self->reading_ = true;
    asio::co_spawn(self->executor_, read(self), ended_reading(self));
}

COMCP_DECL task<void> session::close(std::shared_ptr<session> self)
{
    self->begin_close(fault(errc::closed, "the session was closed"), false);
    while (!self->finished_) {
        co_await self->finished_waiters_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "waiting for the close was cancelled"));
    }
}

COMCP_DECL task<void> session::wait_ended(std::shared_ptr<session> self)
{
    while (!self->finished_) {
        co_await self->finished_waiters_.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the wait was cancelled"));
    }
}

COMCP_DECL void session::begin_close(fault why, bool let_handlers_finish)
{
    if (context_gone_) return;
    if (closing_) {
        hurried_ = hurried_ || !let_handlers_finish;
        return quiet_.wake_all();
    }
    closing_ = true;
    if (let_handlers_finish) state_ = state::draining;
    asio::co_spawn(executor_, shut_down(shared_from_this(), std::move(why)), joined(shared_from_this()));
}

COMCP_DECL void session::abandon(fault why)
{
    if (context_gone_) return;
    wire_->close();
    if (state_ == state::ended) return;
    end(std::move(why));
    asio::post(executor_, [self = shared_from_this()] {
        self->fail_calls();
        self->drained_.complete();                  // a paused reader has nothing to wait for any more
        self->begin_close(self->why_ended_, false); // joins what is left, and tells those who wait for the end
    });
}

COMCP_DECL std::string session::text_of(std::exception_ptr failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "unknown exception";
    }
}

COMCP_DECL bool session::must_pause()
{
    const std::size_t queued = wire_->queued();
    if (queued == 0 || state_ != state::open) {
        answer_bytes_ = 0;
        return false;
    }
    return std::min(answer_bytes_, queued) + held_bytes_ >= limits_.stream_buffer;
}

COMCP_DECL void session::on_drained()
{
    if (wire_->write_error() && !broken_.set()) // the end of input usually tells more, and comes at once
        deadlines_.set(broken_, std::chrono::seconds(1), deadlines_.now());
    if (drained_.waiting() || !waiting_for_room_.empty() || !quiet_.empty())
        asio::post(executor_, [self = shared_from_this()] {
            self->drained_.complete();
            self->offer_room();
            self->quiet_.wake_all();
        });
}

COMCP_DECL void session::on_stall()
{
    wire_->flush(); // what was queued a moment ago is no stall
    if (wire_->queued() == 0) return;
    if (wire_->written() != stall_mark_) {
        stall_mark_ = wire_->written();
        idle_checks_ = 0;
    } else if (++idle_checks_ >= stall_checks) {
        stuck_ = true;
        return begin_close(fault(errc::peer_gone, "the peer does not read its input"), false);
    }
    watch_output();
}

COMCP_DECL void session::watch_output()
{
    const duration limit = limits_.write_stall;
    deadlines_.set(stall_, limit == no_limit ? limit : limit / stall_checks, deadlines_.now());
}

COMCP_DECL void session::on_broken()
{
    begin_close(fault(errc::peer_gone, "writing failed: " + wire_->write_error().message()), false);
}

COMCP_DECL void session::cancel_handlers()
{
    while (inbound* left = inbound_.any()) {
        const auto request = release(*left);
        request->emit(request);
    }
}

COMCP_DECL fault session::why_not_open() const
{
    return why_ended_.code ? why_ended_ : fail(errc::closed, "the session is not open");
}

COMCP_DECL fault session::not_open() const
{
    fault why = why_not_open();
    why.fate = outcome::not_sent;
    return why;
}

COMCP_DECL void session::on_closed(fault why)
{
    const bool orderly = !why.code;
    // For a server the end of its input is the orderly end; a client has lost its peer.
    if (orderly && !role_->serves()) why = fault(errc::peer_gone, "the peer closed the connection");
    begin_close(std::move(why), role_->serves());
}

COMCP_DECL void session::end(fault why)
{
    if (state_ == state::ended) return;
    state_ = state::ended;
    why_ended_ = std::move(why);
    observer_.closed(why_ended_);
    cancel_handlers();
    for (const auto& each : std::vector(beside_)) each->emit(asio::cancellation_type::terminal);
    if (role_) role_->on_ended(why_ended_);
}

COMCP_DECL void session::fail_calls()
{
    fault why = why_ended_.code ? why_ended_ : fault(errc::peer_gone, "the peer closed the connection");
    why.fate = outcome::unknown;
    while (pending_call* call = calls_.any()) call->end(why);
    while (chain_ && !chain_->calls.empty()) chain_->calls.back()->end(why);
    offer_room();
}

COMCP_DECL task<void> session::shut_down(std::shared_ptr<session> self, fault why)
{
    self->deadlines_.set(self->close_by_, self->limits_.close, self->deadlines_.now());
    if (self->state_ == state::draining) self->fail_calls(); // nobody will answer: handlers that ask need not wait
    // An output that broke takes no answer: nobody is left to work for.
    while (self->state_ == state::draining && self->handlers_ != 0 && !self->hurried_ && !self->wire_->write_error() &&
           self->close_by_.set())
        co_await self->quiet_.wait();
    const bool was_open = self->state_ == state::open || self->state_ == state::draining;
    // What is queued goes out before the end; nothing new is accepted.
    self->end(std::move(why));
    self->fail_calls();
    if (was_open) {
        self->wire_->flush();
        while (self->wire_->queued() != 0 && !self->stuck_ && !self->wire_->write_error() && self->close_by_.set())
            co_await self->quiet_.wait();
        if (self->close_by_.set()) co_await self->finish_transport(self);
    }
    self->wire_->close();
    self->drained_.complete();
    self->dismiss_idle_workers(); // the others end by themselves from now on
    while ((self->reading_ || self->handlers_ != 0 || self->workers_ != 0 || !self->beside_.empty()) &&
           self->close_by_.set())
        co_await self->quiet_.wait();
    self->close_by_.clear();
    self->stall_.clear();
    self->broken_.clear();
}

COMCP_DECL task<void> session::finish_transport(std::shared_ptr<session> self)
{
    try {
        co_await self->wire_->finish();
    } catch (const std::exception&) {
        // It is closed hard in any case; the reason of the end is known already.
    }
}

COMCP_DECL void session::on_close_deadline()
{
    wire_->close();
    quiet_.wake_all();
}

COMCP_DECL void session::drop()
{
    context_gone_ = true;
    state_ = state::ended;
    home_->leave();
    wire_->context_gone();
    executor_ = comcp::executor();
    idle_workers_.clear(); // dropped as well
}

} // namespace comcp::inline COMCP_ABI::detail
