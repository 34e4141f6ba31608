// SPDX-License-Identifier: MIT
//
// Two pumps: see transport/byte_bridge.hpp.
#pragma once

#include <comcp/transport/byte_bridge.hpp>

#include <comcp/detail/sigpipe.hpp>
#include <comcp/detail/within.hpp>
#include <comcp/error.hpp>
#include <comcp/transport/connect.hpp>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

inline constexpr std::size_t bridge_block = 64 * 1024;

struct byte_bridge::pump_ended
{
    explicit pump_ended(std::shared_ptr<byte_bridge> of) : self(std::move(of)) {}
    void operator()(std::exception_ptr failure) const
    {
        --self->pumps_;
        if (failure) self->end(fail(errc::peer_gone, "relaying failed: " + fault_of(failure).text));
        self->changed_.complete();
    }
    std::shared_ptr<byte_bridge> self;
};

struct byte_bridge::time_up
{
    byte_bridge* self;
    void operator()() const
    {
        self->over_ = true;
        self->changed_.complete();
    }
};

/// One side has taken nothing for too long. The other side is not heard meanwhile, nor its end seen.
struct byte_bridge::not_read
{
    byte_bridge* self;
    bool app;
    void operator()() const
    {
        self->end(fail(errc::peer_gone, app ? "the application at " + self->to_.text() + " does not read its input"
                                            : "the host does not read the answers"));
        self->changed_.complete();
    }
};

COMCP_DECL byte_bridge::byte_bridge(const executor& ex, int input, int output, socket_address to,
                                    duration connect_within, const limits& bounds)
    : executor_(ex),
      lot_(make_parking_lot(ex)),
      input_(ex, input),
      output_(ex, output),
      to_(std::move(to)),
      connect_within_(connect_within),
      write_stall_(bounds.write_stall),
      close_(bounds.close),
      clock_(ex),
      app_stall_(ex),
      host_stall_(ex),
      changed_(*lot_)
{}

COMCP_DECL byte_bridge::~byte_bridge()
{
    if (input_.is_open()) input_.release();
    if (output_.is_open()) output_.release();
}

COMCP_DECL task<fault> byte_bridge::run(std::shared_ptr<byte_bridge> self)
{
    auto connecting = connect_socket(self->to_, self->connect_within_);
    stream_socket connected = co_await std::move(connecting);
    self->begun_ = true;
    self->socket_.emplace(std::move(connected));
    io_error_code ignored;
    self->socket_->native_non_blocking(true, ignored);
    self->output_.native_non_blocking(true, ignored);
    self->pumps_ = 2;
    asio::co_spawn(self->executor_, from_host(self), pump_ended(self));
    asio::co_spawn(self->executor_, from_app(self), pump_ended(self));
    while (!self->over_) co_await self->changed_.wait();
    self->over_ = true;
    self->clock_.cancel();
    self->app_stall_.cancel();
    self->host_stall_.cancel();
    self->socket_->close(ignored);
    self->input_.release();
    self->output_.release();
    while (self->pumps_ != 0) co_await self->changed_.wait();
    co_return self->why_.value_or(fault());
}

COMCP_DECL void byte_bridge::stop()
{
    over_ = true;
    changed_.complete();
}

COMCP_DECL void byte_bridge::end(fault why)
{
    if (over_) return;
    if (!why_) why_ = std::move(why);
    over_ = true;
}

template <class Stream>
task<std::error_code> byte_bridge::write_all(byte_bridge* self, Stream& to, timer& stall, char* bytes, std::size_t size)
{
    while (size != 0 && !self->over_) {
        const iovec piece{bytes, size};
        const ssize_t n = write_without_sigpipe(to.native_handle(), &piece, 1);
        if (n >= 0) {
            bytes += n;
            size -= static_cast<std::size_t>(n);
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) co_return std::error_code(errno, std::generic_category());
        io_error_code failed;
        stall.start(deadline_after(stall.now(), self->write_stall_), not_read{self, &stall == &self->app_stall_});
        co_await to.async_wait(Stream::wait_write, asio::redirect_error(asio::use_awaitable, failed));
        stall.cancel();
        if (failed) co_return std::error_code(failed.value(), std::generic_category());
    }
    co_return std::error_code();
}

COMCP_DECL task<void> byte_bridge::from_host(std::shared_ptr<byte_bridge> self)
{
    const auto block = std::make_unique<char[]>(bridge_block);
    while (!self->over_) {
        io_error_code failed;
        const std::size_t n = co_await self->input_.async_read_some(asio::buffer(block.get(), bridge_block),
                                                                    asio::redirect_error(asio::use_awaitable, failed));
        if (self->over_) co_return;
        if (failed) break;
        auto writing = write_all(self.get(), *self->socket_, self->app_stall_, block.get(), n);
        const std::error_code lost = co_await std::move(writing);
        if (lost) co_return; // the other pump hears why, after what the application still said
    }
    if (self->over_) co_return;
    // The host has ended: the application sees that, and may still answer.
    self->input_over_ = true;
    io_error_code ignored;
    self->socket_->shutdown(stream_socket::shutdown_send, ignored);
    self->clock_.start(deadline_after(self->clock_.now(), self->close_), time_up{self.get()});
}

COMCP_DECL task<void> byte_bridge::from_app(std::shared_ptr<byte_bridge> self)
{
    const auto block = std::make_unique<char[]>(bridge_block);
    while (!self->over_) {
        io_error_code failed;
        const std::size_t n = co_await self->socket_->async_read_some(
            asio::buffer(block.get(), bridge_block), asio::redirect_error(asio::use_awaitable, failed));
        if (self->over_) co_return;
        if (failed) {
            const bool reset = failed != asio::error::eof;
            if (self->input_over_) self->over_ = true;
            else
                self->end(fail(errc::peer_gone, "the application at " + self->to_.text() + " closed the connection" +
                                                    (reset ? ": " + failed.message() : std::string())));
            co_return;
        }
        auto writing = write_all(self.get(), self->output_, self->host_stall_, block.get(), n);
        const std::error_code lost = co_await std::move(writing);
        if (!lost) continue;
        self->end(fail(errc::peer_gone, "the host does not take answers any more: " + lost.message()));
        co_return;
    }
}

} // namespace comcp::inline COMCP_ABI::detail
