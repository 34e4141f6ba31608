// SPDX-License-Identifier: MIT
//
// The two ends of a socket: see transport/socket_transport.hpp.
#pragma once

#include <comcp/timer.hpp>
#include <comcp/transport/connect.hpp>
#include <comcp/transport/socket_transport.hpp>
#include <comcp/transport/stream_transport.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// How long a peer that still sends is heard out, so that it gets our last answers: it sees the end of our output, and
/// one that means well ends its own within a round trip. No more bytes than one message of the largest size by default.
inline constexpr duration linger_time = std::chrono::seconds(1);
inline constexpr std::size_t linger_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t linger_block = 64 * 1024;

class socket_transport : public stream_transport<stream_socket>
{
public:
    ~socket_transport() override { close(); }

    /// The peer sees the end of its input; its last words are not waited for.
    task<void> finish() override
    {
        io_error_code ignored;
        if (socket_) socket_->shutdown(stream_socket::shutdown_send, ignored);
        co_return;
    }
    void close() noexcept override
    {
        detach();
        socket_.reset();
    }
    void context_gone() noexcept override { close(); }

protected:
    explicit socket_transport(const limits& bounds) : stream_transport(bounds) {}

    stream_socket* socket() { return socket_ ? &*socket_ : nullptr; }

    void use(stream_socket connected)
    {
        io_error_code ignored;
        connected.native_non_blocking(true, ignored);
        socket_.emplace(std::move(connected));
        attach(*socket_, *socket_, socket_->get_executor());
    }

private:
    std::optional<stream_socket> socket_;
};

class connecting_transport final : public socket_transport
{
public:
    connecting_transport(socket_address to, duration within, const limits& bounds)
        : socket_transport(bounds),
          to_(std::move(to)),
          within_(within)
    {}

    task<void> open() override
    {
        auto connecting = connect_socket(to_, within_);
        stream_socket connected = co_await std::move(connecting);
        use(std::move(connected));
    }

private:
    task<fault> why_ended(std::error_code failed) override
    {
        std::string text = "the server at " + to_.text() + " closed the connection";
        if (failed) text += ": " + failed.message();
        co_return fault(errc::peer_gone, std::move(text));
    }

    socket_address to_;
    duration within_;
};

class accepted_transport final : public socket_transport
{
public:
    accepted_transport(stream_socket accepted, const limits& bounds)
        : socket_transport(bounds),
          accepted_(std::move(accepted))
    {}

    task<void> open() override
    {
        send_at_once(*accepted_);
        use(*std::move(accepted_));
        accepted_.reset();
        co_return;
    }

    task<void> receive(transport_batch& batch) override
    {
        return begun_ ? stream_transport::receive(batch) : receive_first(batch);
    }

    /// Closed with bytes that nobody read, TCP resets the connection, and the peer may lose what it has not got yet of
    /// our last answers. So what it still sends is read and dropped.
    task<void> finish() override
    {
        auto ending = socket_transport::finish();
        co_await std::move(ending);
        timer limit(co_await asio::this_coro::executor);
        limit.start(deadline_after(limit.now(), linger_time), cut{this});
        const auto block = std::make_unique<char[]>(linger_block);
        std::size_t left = linger_bytes;
        while (stream_socket* const from = socket()) {
            io_error_code failed;
            const std::size_t n = co_await from->async_read_some(asio::buffer(block.get(), linger_block),
                                                                 asio::redirect_error(asio::use_awaitable, failed));
            if (failed || n >= left) co_return;
            left -= n;
        }
    }

    void context_gone() noexcept override
    {
        accepted_.reset();
        socket_transport::context_gone();
    }

private:
    struct cut
    {
        accepted_transport* self;
        void operator()() const { self->close(); }
    };

    task<void> receive_first(transport_batch& batch)
    {
        auto receiving = stream_transport::receive(batch);
        co_await std::move(receiving);
        begun_ = true;
        transport_event& first = batch.front();
        const bool json = first.what == transport_event::kind::message
                              ? first.text.find_first_of("{[") == first.text.find_first_not_of(" \t")
                              : first.what != transport_event::kind::oversized || first.skipped.object;
        if (json) co_return;
        batch.clear();
        transport_event& end = batch.emplace_back();
        end.what = transport_event::kind::closed;
        end.why = fault(errc::invalid_message, "the peer speaks no MCP: its first line is no JSON");
        close();
    }

    std::optional<stream_socket> accepted_;
    bool begun_ = false;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_socket_transport(socket_address to, duration connect_within,
                                                            const limits& bounds)
{
    return std::make_unique<detail::connecting_transport>(std::move(to), connect_within, bounds);
}

COMCP_DECL std::unique_ptr<transport> make_socket_transport(stream_socket accepted, const limits& bounds)
{
    return std::make_unique<detail::accepted_transport>(std::move(accepted), bounds);
}

} // namespace comcp::inline COMCP_ABI
