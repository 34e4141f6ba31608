// SPDX-License-Identifier: MIT
//
// Byte streams without sockets: two ends that are each other's peer. An end is used as an `any_stream` by what is
// tested, or held by the test as a `stream_peer`, which sees every byte, answers, breaks off and stops reading.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/transport/any_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace script
{

namespace asio = comcp::asio;

/// What one side will read, and how it is woken. May outlive the execution context.
struct stream_end final : private comcp::detail::parked
{
    explicit stream_end(comcp::executor ex)
        : executor(std::move(ex)),
          lot(comcp::detail::make_parking_lot(executor)),
          readable(*lot),
          writable(*lot)
    {
        lot->link(*this);
    }
    ~stream_end()
    {
        if (executor) lot->unlink(*this);
    }

    /// Like a socket, a stream wakes its reader later and never inside of the write.
    void wake(comcp::detail::waiter stream_end::* which)
    {
        if (!executor) return;
        asio::post(executor, [weak = self, which] {
            if (const auto end = weak.lock()) ((*end).*which).complete();
        });
    }

    comcp::executor executor;
    std::shared_ptr<comcp::detail::parking_lot> lot;
    comcp::detail::waiter readable;
    comcp::detail::waiter writable;
    std::weak_ptr<stream_end> self;
    std::weak_ptr<stream_end> other;
    std::string inbox;
    std::size_t room = std::numeric_limits<std::size_t>::max(); // that this end takes before a writer must wait
    bool ended = false;                                         // the other side has ended its output
    bool broken = false;                                        // or vanished
    bool closed = false;                                        // by this side

private:
    void drop() override { executor = comcp::executor(); }
};

inline void append(const std::shared_ptr<stream_end>& to, std::string_view bytes)
{
    to->inbox += bytes;
    to->wake(&stream_end::readable);
}

inline void end_input(const std::shared_ptr<stream_end>& of, bool broken)
{
    (broken ? of->broken : of->ended) = true;
    of->wake(&stream_end::readable);
    of->wake(&stream_end::writable);
}

class memory_stream final : public comcp::any_stream
{
public:
    explicit memory_stream(std::shared_ptr<stream_end> end) : end_(std::move(end)) {}
    ~memory_stream() override { close(); }

    asio::awaitable<std::size_t> read_some(std::span<char> into, comcp::io_error_code& failed) override
    {
        return read(end_, into, failed);
    }

    std::size_t try_write(std::span<const std::string_view> pieces, comcp::io_error_code& failed) override
    {
        failed = {};
        const auto other = end_->other.lock();
        if (end_->closed || end_->broken || !other || other->closed) {
            failed = asio::error::broken_pipe;
            return 0;
        }
        std::size_t size = 0;
        for (std::string_view piece : pieces) {
            piece = piece.substr(0, std::min(piece.size(), other->room - std::min(other->room, other->inbox.size())));
            if (piece.empty()) continue;
            append(other, piece);
            size += piece.size();
        }
        return size;
    }

    asio::awaitable<void> writable(comcp::io_error_code& failed) override { return wait_writable(end_, failed); }

    void shut_down_output() noexcept override
    {
        if (const auto other = end_->other.lock()) end_input(other, false);
    }
    bool quiet() noexcept override { return end_->inbox.empty() && !end_->ended && !end_->broken; }
    void close() noexcept override
    {
        if (end_->closed) return;
        end_->closed = true;
        shut_down_output();
        end_->wake(&stream_end::readable);
        end_->wake(&stream_end::writable);
    }
    std::string peer() const override { return "memory"; }

private:
    static asio::awaitable<std::size_t> read(std::shared_ptr<stream_end> end, std::span<char> into,
                                             comcp::io_error_code& failed)
    {
        failed = {};
        while (end->inbox.empty() && !end->ended && !end->broken && !end->closed) {
            co_await end->readable.wait();
            const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
            if (asked.cancelled() != asio::cancellation_type::none) {
                failed = asio::error::operation_aborted;
                co_return 0;
            }
        }
        if (end->closed) failed = asio::error::operation_aborted;
        else if (end->broken) failed = asio::error::connection_reset;
        else if (end->inbox.empty()) failed = asio::error::eof;
        if (failed) co_return 0;
        const std::size_t size = std::min(into.size(), end->inbox.size());
        std::copy_n(end->inbox.data(), size, into.data());
        end->inbox.erase(0, size);
        if (const auto other = end->other.lock()) other->wake(&stream_end::writable);
        co_return size;
    }

    static asio::awaitable<void> wait_writable(std::shared_ptr<stream_end> end, comcp::io_error_code& failed)
    {
        failed = {};
        for (;;) {
            const auto other = end->other.lock();
            if (end->closed) failed = asio::error::operation_aborted;
            if (end->closed || end->broken || !other || other->closed || other->inbox.size() < other->room) co_return;
            co_await end->writable.wait();
            const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
            if (asked.cancelled() != asio::cancellation_type::none) failed = asio::error::operation_aborted;
            if (failed) co_return;
        }
    }

    std::shared_ptr<stream_end> end_;
};

/// The end that the test holds. Copies are the same end.
class stream_peer
{
public:
    explicit stream_peer(std::shared_ptr<stream_end> end) : end_(std::move(end)) {}

    /// All that was written and not taken yet.
    const std::string& seen() const { return end_->inbox; }
    std::string take(std::size_t most = std::string::npos)
    {
        std::string out = end_->inbox.substr(0, most);
        end_->inbox.erase(0, out.size());
        if (const auto other = end_->other.lock()) other->wake(&stream_end::writable);
        return out;
    }
    /// The other side has closed, or ended its output.
    bool ended() const { return end_->ended || end_->other.expired(); }

    void send(std::string_view bytes)
    {
        if (const auto other = end_->other.lock()) append(other, bytes);
    }
    /// An orderly end of what this side sends.
    void end()
    {
        if (const auto other = end_->other.lock()) end_input(other, false);
    }
    /// This side vanishes: reading and writing fail over there.
    void reset()
    {
        if (const auto other = end_->other.lock()) end_input(other, true);
    }
    /// How much the other side can write before it must wait.
    void takes(std::size_t room)
    {
        end_->room = room;
        if (const auto other = end_->other.lock()) other->wake(&stream_end::writable);
    }

private:
    std::shared_ptr<stream_end> end_;
};

/// Two ends; the second one as a stream, or in the test's hand.
struct memory_streams
{
    explicit memory_streams(const comcp::executor& ex)
    {
        left_ = std::make_shared<stream_end>(ex);
        right_ = std::make_shared<stream_end>(ex);
        left_->self = left_;
        right_->self = right_;
        left_->other = right_;
        right_->other = left_;
        first = std::make_unique<memory_stream>(left_);
    }

    std::unique_ptr<comcp::any_stream> first;
    std::unique_ptr<comcp::any_stream> second() const { return std::make_unique<memory_stream>(right_); }
    stream_peer peer() const { return stream_peer(right_); }

private:
    std::shared_ptr<stream_end> left_;
    std::shared_ptr<stream_end> right_;
};

} // namespace script
