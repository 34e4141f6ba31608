// SPDX-License-Identifier: MIT
//
// An owned file descriptor, and pipes that no other child inherits. Not for reading or writing: that is Asio's.
#pragma once

#include <comcp/result.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// The system's sentence for an `errno`.
inline std::string os_text(int number) { return std::generic_category().message(number); }

/// Owns one descriptor; -1 is none.
class unique_fd
{
public:
    explicit unique_fd(int fd = -1) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
    unique_fd& operator=(unique_fd&& other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~unique_fd() { reset(); }

    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }
    void reset(int fd = -1) noexcept
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

private:
    int fd_;
};

struct pipe_ends
{
    unique_fd read;
    unique_fd write;
};

/// A pipe with both ends close-on-exec from their first moment, so that a child started meanwhile by another thread
/// keeps no copy, which would hold back the end of input. No end is one of 0 to 2, even in a host that closed those.
inline result<pipe_ends> make_pipe()
{
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return fail(errc::spawn_failed, "pipe2: " + os_text(errno));
    pipe_ends ends{unique_fd(fds[0]), unique_fd(fds[1])};
    for (unique_fd* end : {&ends.read, &ends.write}) {
        if (end->get() > STDERR_FILENO) continue;
        const int moved = ::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0) return fail(errc::spawn_failed, "fcntl: " + os_text(errno));
        end->reset(moved);
    }
    return ends;
}

/// Messages of up to 256 KiB then pass in one switch between the processes. A refusal (a user's quota) is harmless.
inline void widen_pipe(int fd) noexcept
{
#if defined(F_SETPIPE_SZ)
    static_cast<void>(::fcntl(fd, F_SETPIPE_SZ, 256 * 1024));
#else
    static_cast<void>(fd);
#endif
}

} // namespace comcp::inline COMCP_ABI::detail
