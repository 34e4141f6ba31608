// SPDX-License-Identifier: MIT
//
// A write that cannot kill the host: writing to a pipe whose reader is gone raises SIGPIPE, pipes have no MSG_NOSIGNAL,
// and ignoring the signal for the whole process is not a library's right.
#pragma once

#include <comcp/config.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace comcp::inline COMCP_ABI::detail
{

/// `writev` that reports a broken pipe as EPIPE and never as a signal, whatever the host does with SIGPIPE.
inline ssize_t write_without_sigpipe(int fd, const iovec* buffers, int count) noexcept
{
    sigset_t only_pipe;
    sigset_t before;
    sigemptyset(&only_pipe);
    sigaddset(&only_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &only_pipe, &before);
    // Only a thread that had it blocked already can have one pending that is not ours; that one stays.
    const bool was_blocked = sigismember(&before, SIGPIPE) == 1;
    bool was_pending = false;
    if (was_blocked) {
        sigset_t pending;
        sigemptyset(&pending);
        ::sigpending(&pending);
        was_pending = sigismember(&pending, SIGPIPE) == 1;
    }

    const ssize_t written = ::writev(fd, buffers, count);
    const int error = errno;

    if (written < 0 && error == EPIPE && !was_pending) {
        const timespec at_once{};
        while (::sigtimedwait(&only_pipe, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    }
    if (!was_blocked) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return written;
}

} // namespace comcp::inline COMCP_ABI::detail
