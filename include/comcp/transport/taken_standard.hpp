// SPDX-License-Identifier: MIT
//
// Taking this process's stdin and stdout over, and giving them back with the flags that they had. Not for reading and
// writing them.
#pragma once

#include <comcp/detail/descriptor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace comcp::inline COMCP_ABI::detail
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

/// Stdin and stdout taken over: a stray print goes to stderr, and a stray read finds an empty stdin.
class taken_standard
{
public:
    /// False when one of the three standard descriptors is not open.
    bool take()
    {
        // Asked first: what is opened next would get the number of one that is closed.
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            if (::fcntl(standard, F_GETFD) < 0) return false;
        const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        return nothing.get() >= 0 && in_.take(STDIN_FILENO, nothing.get()) && out_.take(STDOUT_FILENO, STDERR_FILENO);
    }
    int input() const { return in_.get(); }
    int output() const { return out_.get(); }

    void give_back()
    {
        in_.give_back();
        // What handlers printed and is still in the buffer must not end up in the stream.
        if (out_.get() >= 0) std::fflush(stdout);
        out_.give_back();
    }

private:
    taken_descriptor in_;
    taken_descriptor out_;
};

} // namespace comcp::inline COMCP_ABI::detail
