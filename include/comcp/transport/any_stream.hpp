// SPDX-License-Identifier: MIT
//
// A connected byte stream with its kind erased: sockets here, others (TLS) behind the same few functions. Not for stdio
// and child processes, which know their descriptors.
#pragma once

#include <comcp/transport/stream_socket.hpp>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Thread rule: one executor at a time. Destroying it closes it.
class any_stream
{
public:
    any_stream() = default;
    any_stream(const any_stream&) = delete;
    any_stream& operator=(const any_stream&) = delete;
    virtual ~any_stream() = default;

    /// Waits for bytes and reads some. The end of the stream is `asio::error::eof`. `into` and `failed` live in the
    /// caller's frame.
    virtual asio::awaitable<std::size_t> read_some(std::span<char> into, io_error_code& failed) = 0;
    /// Writes what fits without waiting and gives its size, over all pieces.
    virtual std::size_t try_write(std::span<const std::string_view> pieces, io_error_code& failed) = 0;
    /// Waits until more can be written.
    virtual asio::awaitable<void> writable(io_error_code& failed) = 0;
    /// No more output: the peer sees the end. Input still arrives.
    virtual void shut_down_output() noexcept = 0;
    /// Nothing has arrived and the peer has not left, as far as this side knows without waiting: asked of a connection
    /// that was idle before it is used again.
    virtual bool quiet() noexcept { return true; }
    /// Ends it at once: what waits ends with an error.
    virtual void close() noexcept = 0;
    /// The peer's address as text, for logs.
    virtual std::string peer() const = 0;
};

/// A socket of any family.
class socket_stream final : public any_stream
{
public:
    /// `socket` is connected.
    explicit socket_stream(stream_socket socket) : socket_(std::move(socket))
    {
        io_error_code ignored;
        socket_.native_non_blocking(true, ignored);
        detail::send_at_once(socket_);
    }

    asio::awaitable<std::size_t> read_some(std::span<char> into, io_error_code& failed) override
    {
        return socket_.async_read_some(asio::buffer(into.data(), into.size()),
                                       asio::redirect_error(asio::use_awaitable, failed));
    }

    std::size_t try_write(std::span<const std::string_view> pieces, io_error_code& failed) override
    {
        failed = {};
        iovec parts[16];
        std::size_t wanted = 0;
        int count = 0;
        for (const std::string_view piece : pieces) {
            if (count == 16) break;
            parts[count++] = {const_cast<char*>(piece.data()), piece.size()};
            wanted += piece.size();
        }
        if (wanted == 0) return 0;
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
        for (;;) {
            const ssize_t n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n >= 0) return static_cast<std::size_t>(n);
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                failed = io_error_code(errno, asio::error::get_system_category());
            return 0;
        }
    }

    asio::awaitable<void> writable(io_error_code& failed) override
    {
        return socket_.async_wait(stream_socket::wait_write, asio::redirect_error(asio::use_awaitable, failed));
    }

    void shut_down_output() noexcept override
    {
        io_error_code ignored;
        socket_.shutdown(stream_socket::shutdown_send, ignored);
    }
    bool quiet() noexcept override
    {
        char byte = 0;
        const ssize_t n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    }
    void close() noexcept override
    {
        io_error_code ignored;
        socket_.close(ignored);
    }

    std::string peer() const override { return detail::peer_text(socket_); }

private:
    stream_socket socket_;
};

} // namespace comcp::inline COMCP_ABI
