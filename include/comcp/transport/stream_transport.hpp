// SPDX-License-Identifier: MIT
//
// Line-framed messages over byte streams: a pair of descriptors (stdio, a child's pipes) or one socket used for both
// directions. Reading hands over every complete line of what was read; writing tries at once without waiting, and
// waits for writability only with what the peer did not take.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/sigpipe.hpp>
#include <comcp/transport/concept.hpp>
#include <comcp/transport/framing.hpp>

#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// The writing half. Kept alive by the transport and watched weakly by its pending wait, so it can die at any time.
template <class Stream>
class line_writer : public std::enable_shared_from_this<line_writer<Stream>>
{
public:
    explicit line_writer(Stream& stream, const comcp::executor& ex) : stream_(&stream), executor_(ex) {}

    std::string& begin()
    {
        if (queue_.back().size() >= full) queue_.emplace_back();
        return queue_.back();
    }

    void commit()
    {
        queue_.back() += '\n';
        dirty_ = true;
        if (in_turn_ || posted_ || waiting_ || !stream_) return;
        posted_ = true; // one write for everything that this turn of the executor queues
        asio::post(executor_, [weak = this->weak_from_this()] {
            if (auto self = weak.lock()) {
                self->posted_ = false;
                self->flush();
            }
        });
    }

    void in_turn(bool value) { in_turn_ = value; }

    void flush()
    {
        if (!dirty_ || waiting_ || !stream_) return;
        const std::uint64_t before = written_;
        while (!failed_ && queued() != 0) {
            iovec parts[16];
            int count = 0;
            std::size_t skip = at_;
            for (std::string& each : queue_) {
                if (count == 16) break;
                parts[count++] = {each.data() + skip, each.size() - skip};
                skip = 0;
            }
            const ssize_t n = write_parts(parts, count);
            if (n < 0) {
                if (errno == EINTR) continue;
                if (errno == EAGAIN || errno == EWOULDBLOCK) {
                    wait();
                    break;
                }
                failed_ = std::error_code(errno, std::generic_category());
                break;
            }
            advance(static_cast<std::size_t>(n));
        }
        if (failed_) {
            queue_.resize(1);
            queue_.front().clear();
            at_ = 0;
        }
        dirty_ = queued() != 0;
        if (drained_ && (written_ != before || failed_)) drained_(drained_argument_);
    }

    std::size_t queued() const
    {
        std::size_t size = 0;
        for (const std::string& each : queue_) size += each.size();
        return size - at_;
    }
    std::uint64_t written() const { return written_; }
    std::error_code failed() const { return failed_; }
    void on_drained(void (*call)(void*), void* argument)
    {
        drained_ = call;
        drained_argument_ = argument;
    }
    void detach()
    {
        stream_ = nullptr;
        drained_ = nullptr;
        executor_ = comcp::executor(); // a strand must not outlive the context
    }

private:
    // A message begins a string of its own after this much: one string that grows would be copied, and twice as large.
    static constexpr std::size_t full = 64 * 1024;
    // Kept for the next message. Given back and taken anew for each large one, it would go to the system and come back
    // page by page.
    static constexpr std::size_t kept_capacity = 2 * 1024 * 1024;

    ssize_t write_parts(iovec* parts, int count)
    {
        if constexpr (requires { typename Stream::protocol_type; }) { // sockets need no guard against SIGPIPE
            msghdr message{};
            message.msg_iov = parts;
            message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
            return ::sendmsg(stream_->native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            return write_without_sigpipe(stream_->native_handle(), parts, count);
        }
    }

    void advance(std::size_t n)
    {
        written_ += n;
        at_ += n;
        while (at_ >= queue_.front().size() && queue_.size() > 1) {
            at_ -= queue_.front().size();
            queue_.pop_front();
        }
        std::string& only = queue_.front();
        if (at_ != only.size()) return;
        if (only.capacity() > kept_capacity) std::string().swap(only);
        else only.clear();
        at_ = 0;
    }

    void wait()
    {
        waiting_ = true;
        stream_->async_wait(Stream::wait_write, [weak = this->weak_from_this()](io_error_code failed) {
            auto self = weak.lock();
            if (!self) return;
            self->waiting_ = false;
            if (!failed) self->flush();
        });
    }

    Stream* stream_;
    comcp::executor executor_;
    std::deque<std::string> queue_ = std::deque<std::string>(1); // never empty; messages are appended to the last
    std::size_t at_ = 0;                                         // of the first, written
    std::uint64_t written_ = 0;
    std::error_code failed_;
    void (*drained_)(void*) = nullptr;
    void* drained_argument_ = nullptr;
    bool dirty_ = false;
    bool in_turn_ = false;
    bool posted_ = false;
    bool waiting_ = false;
};

} // namespace detail

/// A session's transport over an input and an output stream of the same type, which may be one object. `Stream` is an
/// Asio descriptor or stream socket. Derived classes own the streams and say what opening and finishing mean.
template <class Stream>
class stream_transport : public transport
{
public:
    task<void> receive(transport_batch& batch) override
    {
        batch.clear();
        writer_->in_turn(false);
        writer_->flush();
        for (;;) {
            take_frames(batch);
            if (!batch.empty()) break;
            if (end_ || !input_) {
                report_end(batch, co_await why_ended(std::exchange(end_error_, {})));
                co_return; // no further turn will flush: from now on every message is written by itself
            }
            const auto space = reader_.prepare();
            io_error_code failed;
            const std::size_t n = co_await input_->async_read_some(asio::buffer(space.data(), space.size()),
                                                                   asio::redirect_error(asio::use_awaitable, failed));
            reader_.commit(n);
            if (failed) {
                end_ = true;
                frame last;
                if (reader_.next(last) || reader_.finish(last)) add(batch, last);
                if (failed != asio::error::eof) end_error_ = failed;
            }
        }
        writer_->in_turn(true);
    }

    std::string& begin(const send_hint&) override { return writer_->begin(); }
    void commit() override { writer_->commit(); }
    void flush() override { writer_->flush(); }
    std::size_t queued() const override { return writer_->queued(); }
    std::uint64_t written() const override { return writer_->written(); }
    std::error_code write_error() const override { return writer_->failed(); }
    void on_drained(void (*call)(void*), void* argument) override { writer_->on_drained(call, argument); }
    void abandon(exchange_id) override {}

protected:
    explicit stream_transport(const limits& bounds) : reader_(bounds.message) {}

    /// Called once the streams are open.
    void attach(Stream& input, Stream& output, const executor& ex)
    {
        input_ = &input;
        writer_ = std::make_shared<detail::line_writer<Stream>>(output, ex);
    }
    void detach()
    {
        input_ = nullptr;
        if (writer_) writer_->detach();
    }

    /// The end of the input as the session shall see it; an empty fault is an orderly end.
    virtual task<fault> why_ended(std::error_code failed)
    {
        if (!failed) co_return fault();
        co_return fault(errc::peer_gone, "reading failed: " + failed.message());
    }

private:
    void take_frames(transport_batch& batch)
    {
        frame line;
        while (reader_.next(line)) add(batch, line);
    }

    static void add(transport_batch& batch, frame& line)
    {
        transport_event& event = batch.emplace_back();
        if (line.oversized) {
            event.what = transport_event::kind::oversized;
            event.skipped = std::move(line.facts);
        } else {
            event.text = line.text;
        }
    }

    void report_end(transport_batch& batch, fault why)
    {
        transport_event& event = batch.emplace_back();
        event.what = transport_event::kind::closed;
        event.why = std::move(why);
    }

    line_reader reader_;
    Stream* input_ = nullptr;
    std::shared_ptr<detail::line_writer<Stream>> writer_;
    bool end_ = false;
    std::error_code end_error_;
};

} // namespace comcp::inline COMCP_ABI
