// SPDX-License-Identifier: MIT
//
// A running child and the stream transport over its pipes: see transport/child_transport.hpp.
#pragma once

#include <comcp/transport/child.hpp>
#include <comcp/transport/child_transport.hpp>
#include <comcp/transport/stream_transport.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class child_transport final : public stream_transport<asio::posix::stream_descriptor>
{
public:
    child_transport(child_process what, const limits& bounds) : stream_transport(bounds), what_(std::move(what)) {}
    ~child_transport() override { close(); }

    task<void> open() override
    {
        const comcp::executor ex = co_await asio::this_coro::executor;
        auto started = child::spawn(ex, what_);
        if (!started) throw error(started.error());
        child_ = std::move(*started);
        attach(child_->output(), child_->input(), ex);
    }

    /// Ends the child by the ladder: end of input, SIGTERM, SIGKILL.
    task<void> finish() override
    {
        if (child_) co_await child_->stop();
    }

    void close() noexcept override
    {
        detach();
        child_.reset(); // kills the whole group and reaps
    }

    void context_gone() noexcept override { detach(); }

private:
    // The end of its output usually comes a moment before its exit, which says more.
    static constexpr auto exit_grace = std::chrono::milliseconds(250);

    task<fault> why_ended(std::error_code failed) override
    {
        if (!child_) co_return fault(errc::closed, "the session was closed");
        co_await child_->wait_exit(exit_grace);
        if (!child_) co_return fault(errc::closed, "the session was closed");
        std::string text = child_->describe_end();
        if (failed) text += " (reading failed: " + failed.message() + ")";
        if (!child_->status()) text += ", and closed its output";
        co_return fault(errc::peer_gone, std::move(text));
    }

    child_process what_;
    std::unique_ptr<child> child_;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_child_transport(child_process what, const limits& bounds)
{
    return std::make_unique<detail::child_transport>(std::move(what), bounds);
}

} // namespace comcp::inline COMCP_ABI
