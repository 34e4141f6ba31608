// SPDX-License-Identifier: MIT
//
// The reading half of an HTTP connection: a coroutine of its own that reads ahead, within a bound, whatever the other
// half does. So the end of the peer is noticed while a call runs or a stream is open. It knows bytes only.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/any_stream.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace comcp::inline COMCP_ABI::http::detail
{

/// Thread rule: the connection's executor.
class connection_input
{
public:
    connection_input(any_stream& stream, comcp::detail::parking_lot& lot) : stream_(stream), wanted_(lot), arrived_(lot)
    {}
    connection_input(const connection_input&) = delete;
    connection_input& operator=(const connection_input&) = delete;

    /// What has arrived and was not taken yet; valid until the caller suspends.
    std::string_view bytes() const { return {buffer_.get() + begin_, end_ - begin_}; }
    void take(std::size_t size) { begin_ += size; }
    /// No byte will follow those that are there: the peer ended its output, or the connection broke.
    bool ended() const { return ended_; }

    /// Asks for more bytes. True when they are to be waited for: `arrival()` ends with them, the end, or `interrupt()`.
    bool ask();
    asio::awaitable<void> arrival() { return arrived_.wait(); }
    /// Both.
    task<void> more();
    /// The same, and gives the number of bytes that came into `direct`, past the buffer: only when nothing is there to
    /// take, and not always even then. After an interrupt `direct` stays in use until the connection has ended.
    task<std::size_t> more(std::span<char> direct);
    /// The next read is a small one, whatever the last one was: nothing is awaited but the next request.
    void relax() { filled_ = false; }
    /// Ends the wait of `more`, if there is one.
    void interrupt();
    /// Lets the pump end once the stream is closed.
    void stop();

    /// Reads until the end or `stop()`, and says then whether the connection broke.
    task<bool> pump();

private:
    // What an idle connection holds; a small request fits. A read that fills it is followed by a large one, if the
    // other half waits for more.
    static constexpr std::size_t small = 1024;
    static constexpr std::size_t large = 64 * 1024;

    bool room() const { return !direct_.empty() || end_ - begin_ < large; }
    std::span<char> target();

    any_stream& stream_;
    comcp::detail::waiter wanted_;  // the pump, for room
    comcp::detail::waiter arrived_; // the other half, for bytes
    std::unique_ptr<char[]> buffer_;
    std::size_t size_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::span<char> direct_;
    std::size_t direct_count_ = 0;
    bool filled_ = false; // by the last read: there is probably more
    bool news_ = false;   // for `more`
    bool ended_ = false;
    bool stopped_ = false;
};

} // namespace comcp::inline COMCP_ABI::http::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/connection_input.ipp>
#endif
