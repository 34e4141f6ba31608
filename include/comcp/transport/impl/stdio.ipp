// SPDX-License-Identifier: MIT
//
// Taking stdin and stdout over, and giving them back: see transport/stdio.hpp.
#pragma once

#include <comcp/transport/stdio.hpp>
#include <comcp/transport/stream_transport.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// A standard descriptor taken over: a private duplicate of it, with a harmless file in its place until `give_back`.
class taken_descriptor
{
public:
    taken_descriptor() = default;
    taken_descriptor(const taken_descriptor&) = delete;
    taken_descriptor& operator=(const taken_descriptor&) = delete;
    ~taken_descriptor() { give_back(); }

    /// False, with errno, when the descriptor is not open.
    bool take(int standard, int substitute)
    {
        private_ = ::fcntl(standard, F_DUPFD_CLOEXEC, 3);
        if (private_ < 0) return false;
        standard_ = standard;
        flags_ = ::fcntl(private_, F_GETFL);
        ::fcntl(private_, F_SETPIPE_SZ, 256 * 1024); // fails for what is no pipe, and that is fine
        return ::dup2(substitute, standard) >= 0;
    }

    int get() const { return private_; }

    /// O_NONBLOCK belongs to the open file, which the parent shares: it is put back as it was.
    void give_back()
    {
        if (private_ < 0) return;
        if (flags_ >= 0) ::fcntl(private_, F_SETFL, flags_);
        ::dup2(private_, standard_);
        ::close(private_);
        private_ = -1;
    }

private:
    int private_ = -1;
    int standard_ = -1;
    int flags_ = -1;
};

class stdio_transport final : public stream_transport<asio::posix::stream_descriptor>
{
public:
    explicit stdio_transport(const limits& bounds) : stream_transport(bounds) {}
    ~stdio_transport() override { close(); }

    task<void> open() override
    {
        const comcp::executor ex = co_await asio::this_coro::executor;
        // Asked first: what is opened next would get the number of one that is closed.
        bool taken = true;
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            taken = taken && ::fcntl(standard, F_GETFD) >= 0;
        const int nothing = taken ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
        taken = nothing >= 0 && taken_in_.take(STDIN_FILENO, nothing) && taken_out_.take(STDOUT_FILENO, STDERR_FILENO);
        if (nothing >= 0) ::close(nothing);
        if (!taken) throw error(fail(errc::not_found, "stdin, stdout and stderr must be open to serve on stdio"));
        input_.emplace(ex, taken_in_.get());
        output_.emplace(ex, taken_out_.get());
        output_->non_blocking(true);
        attach(*input_, *output_, ex);
    }

    task<void> finish() override { co_return; } // the host's exit ends the stream

    void close() noexcept override
    {
        detach();
        release();
    }
    void context_gone() noexcept override
    {
        detach();
        release();
    }

private:
    // Asio must not close what is given back by hand, flags first.
    void release()
    {
        if (input_) input_->release();
        if (output_) output_->release();
        input_.reset();
        output_.reset();
        taken_in_.give_back();
        // What handlers printed and is still in the buffer must not end up in the stream.
        if (taken_out_.get() >= 0) std::fflush(stdout);
        taken_out_.give_back();
    }

    taken_descriptor taken_in_;
    taken_descriptor taken_out_;
    std::optional<asio::posix::stream_descriptor> input_;
    std::optional<asio::posix::stream_descriptor> output_;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_stdio_transport(const limits& bounds)
{
    return std::make_unique<detail::stdio_transport>(bounds);
}

} // namespace comcp::inline COMCP_ABI
