// SPDX-License-Identifier: MIT
//
// The coroutines of a client's connection.
#pragma once

#include <comcp/http/client_connection.hpp>

#include <comcp/error.hpp>

#include <array>
#include <span>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

/// The signal of the connect must outlive the coroutine.
struct client_connection::ended
{
    explicit ended(std::shared_ptr<client_connection> of) : self(std::move(of)) {}
    void operator()(std::exception_ptr) const {}
    std::shared_ptr<client_connection> self;
};

COMCP_DECL void client_connection::start(std::shared_ptr<client_connection> self, const executor& ex,
                                         std::shared_ptr<connection_owner> owner, std::shared_ptr<connector> door,
                                         url to, duration within, std::shared_ptr<client_request> first)
{
    self->executor_ = ex;
    self->owner_ = owner.get();
    self->request_ = std::move(first);
    auto coroutine = run(self, std::move(owner), std::move(door), std::move(to), within);
    asio::co_spawn(ex, std::move(coroutine), asio::bind_cancellation_slot(self->connecting_.slot(), ended(self)));
}

COMCP_DECL task<void> client_connection::run(std::shared_ptr<client_connection> self,
                                             std::shared_ptr<connection_owner> owner, std::shared_ptr<connector> door,
                                             url to, duration within)
{
    std::optional<fault> failed;
    try {
        auto connecting = door->connect(std::move(to), within);
        self->stream_ = co_await std::move(connecting);
    } catch (const error& e) {
        failed = e.fault();
    } catch (const std::exception& e) {
        failed = fail(errc::peer_gone, std::string("connecting failed: ") + e.what());
    }
    door.reset();
    if (self->state_ == state::closed) co_return;
    if (!failed) {
        const std::shared_ptr<client_request> first = self->request_;
        result<void> sent = self->send(first);
        if (!sent) first->on_broken(broken_request{std::move(sent).error()});
    } else {
        self->state_ = state::busy; // nothing is left to be cancelled
        self->broken(std::move(*failed));
    }
    if (self->state_ == state::closed) owner->on_read(*self);
    while (self->state_ != state::closed) {
        const std::span<char> space = self->space();
        io_error_code error;
        const std::size_t n = co_await self->stream_->read_some(space, error);
        if (self->state_ == state::closed) break;
        self->filled_ = n == space.size();
        if (n != 0) self->take(std::string_view(space.data(), n));
        if (error && self->state_ != state::closed) self->end_of_input(error);
        owner->on_read(*self);
        if (self->held_ && self->state_ != state::closed) co_await self->released_.wait();
    }
}

COMCP_DECL result<void> client_connection::send(std::shared_ptr<client_request> request)
{
    request_ = std::move(request);
    written_ = 0;
    state_ = state::busy;
    io_error_code failed;
    write(failed);
    if (failed && written_ == 0) {
        request_.reset();
        cut();
        return fail(errc::peer_gone, "writing failed: " + failed.message());
    }
    // An answer may be there all the same: reading finds it, or the end.
    output_broken_ = static_cast<bool>(failed);
    if (writing() && !failed && !rest_waits_) {
        rest_waits_ = true;
        asio::co_spawn(executor_, write_rest(shared_from_this()), ended(shared_from_this()));
    }
    return {};
}

COMCP_DECL void client_connection::write(io_error_code& failed)
{
    while (writing()) {
        const std::size_t head = request_->head.size();
        const std::string_view first = std::string_view(request_->head).substr(std::min(written_, head));
        const std::string_view second = std::string_view(request_->body).substr(written_ > head ? written_ - head : 0);
        const std::array<std::string_view, 2> pieces{first, second};
        const std::size_t n = stream_->try_write(pieces, failed);
        written_ += n;
        if (failed || n == 0) return;
    }
}

COMCP_DECL task<void> client_connection::write_rest(std::shared_ptr<client_connection> self)
{
    while (self->state_ == state::busy && self->writing() && !self->output_broken_) {
        io_error_code failed;
        co_await self->stream_->writable(failed);
        if (self->state_ != state::busy) break;
        if (!failed) self->write(failed);
        self->output_broken_ = static_cast<bool>(failed);
    }
    self->rest_waits_ = false;
}

/// A small buffer until a peer fills it: most connections only ever see small answers.
COMCP_DECL std::span<char> client_connection::space()
{
    constexpr std::size_t small = 8 * 1024;
    constexpr std::size_t large = 64 * 1024;
    if (capacity_ == 0 || (filled_ && capacity_ == small)) {
        capacity_ = capacity_ == 0 ? small : large;
        buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
    }
    return {buffer_.get(), capacity_};
}

COMCP_DECL void client_connection::take(std::string_view input)
{
    using kind = parse_step::kind;
    for (;;) {
        if (state_ == state::closed) return;
        const std::shared_ptr<client_request> request = request_; // it may give itself up
        if (!request) {
            if (!input.empty()) cut(); // nobody asked
            return;
        }
        const parse_step step = parser_.step(input);
        input.remove_prefix(step.used);
        switch (step.what) {
        case kind::need_more: return;
        case kind::head: parser_.body_limit(request->on_head(parser_.head())); break;
        case kind::body: request->on_body(step.body); break;
        case kind::done: return answered(input);
        case kind::failed: return broken(to_fault(parser_.error()));
        }
    }
}

COMCP_DECL void client_connection::end_of_input(const io_error_code& failed)
{
    if (!request_) return cut();
    const bool orderly = failed == asio::error::eof;
    if (orderly && parser_.eof().what == parse_step::kind::done) return answered({});
    if (!orderly) return broken(fail(errc::peer_gone, "reading failed: " + failed.message()));
    broken(fail(errc::peer_gone, std::string(parser_.error().text)));
}

COMCP_DECL void client_connection::answered(std::string_view rest)
{
    const bool keep = parser_.head().keep_alive && !writing() && !output_broken_ && rest.empty();
    const std::shared_ptr<client_request> done = std::move(request_);
    request_.reset();
    parser_.reset();
    reused_ = true;
    if (keep) {
        state_ = state::idle;
        owner_->on_idle(*this); // first, so that what follows from the answer can use it
    } else {
        cut();
    }
    done->on_end();
}

COMCP_DECL void client_connection::broken(fault why)
{
    const std::shared_ptr<client_request> lost = std::move(request_);
    request_.reset();
    broken_request how{std::move(why), written_ != 0, reused_, parser_.started()};
    cut();
    if (lost) lost->on_broken(std::move(how));
}

COMCP_DECL void client_connection::cut()
{
    if (state_ == state::closed) return;
    const bool connecting = state_ == state::connecting;
    state_ = state::closed;
    request_.reset();
    if (stream_) stream_->close();
    if (connecting) connecting_.emit(asio::cancellation_type::terminal);
    // Who waits for more reading of it has nothing to wait for.
    if (std::exchange(held_, false) && executor_)
        asio::post(executor_, [self = shared_from_this()] { self->released_.complete(); });
    owner_->on_closed(*this);
}

} // namespace comcp::inline COMCP_ABI::http
