// SPDX-License-Identifier: MIT
//
// Reading ahead: see http/connection_input.hpp.
#pragma once

#include <comcp/http/connection_input.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

COMCP_DECL bool connection_input::ask()
{
    news_ = ended_;
    wanted_.complete();
    return !news_; // a stream in memory may have given bytes at once
}

COMCP_DECL task<void> connection_input::more()
{
    const bool waits = ask();
    if (waits) co_await arrival();
}

COMCP_DECL task<std::size_t> connection_input::more(std::span<char> direct)
{
    direct_ = direct;
    direct_count_ = 0;
    co_await more();
    direct_ = {};
    co_return direct_count_;
}

COMCP_DECL void connection_input::interrupt() { arrived_.complete(); }

COMCP_DECL void connection_input::stop()
{
    stopped_ = true;
    wanted_.complete();
}

COMCP_DECL task<bool> connection_input::pump()
{
    for (;;) {
        while (!room() && !stopped_) co_await wanted_.wait();
        if (stopped_) co_return false;
        const bool direct = !direct_.empty();
        const std::span<char> into = target();
        io_error_code failed;
        const std::size_t count = co_await stream_.read_some(into, failed);
        // Bytes for a place that nobody waits for any more are of a request that was given up.
        if (!direct) end_ += count;
        else if (!std::exchange(direct_, {}).empty()) direct_count_ = count;
        filled_ = count == into.size();
        ended_ = bool(failed);
        news_ = true;
        arrived_.complete();
        if (failed) co_return failed != asio::error::eof;
    }
}

// The only place where the buffer moves: no read is pending in it, and views into it do not outlive a suspension.
COMCP_DECL std::span<char> connection_input::target()
{
    if (!direct_.empty()) return direct_;
    const std::size_t held = end_ - begin_;
    const std::size_t size = (filled_ && arrived_.waiting()) || held >= small ? large : small;
    if (size != size_ && (held == 0 || size > size_)) {
        auto moved = std::make_unique_for_overwrite<char[]>(size);
        std::copy_n(buffer_.get() + begin_, held, moved.get());
        buffer_ = std::move(moved);
        size_ = size;
    } else if (begin_ != 0) {
        std::copy_n(buffer_.get() + begin_, held, buffer_.get());
    }
    begin_ = 0;
    end_ = held;
    return {buffer_.get() + end_, size_ - end_};
}

} // namespace comcp::inline COMCP_ABI::http::detail
