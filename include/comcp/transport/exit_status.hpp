// SPDX-License-Identifier: MIT
//
// How a child process ended.
#pragma once

#include <comcp/config.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <string>

namespace comcp::inline COMCP_ABI
{

/// How a child process ended. A host that reaps all children itself (`waitpid(-1)`, or SIGCHLD ignored) takes the
/// status away; then it is known that the child ended, and `code` is -1.
struct exit_status
{
    bool exited = true; ///< it exited by itself, or nobody knows; false: a signal killed it
    int code = -1;      ///< of the exit, 0 to 255; -1 when it is not known
    int signal = 0;     ///< that killed it

    /// "exited with code 3", "was killed by signal 9 (SIGKILL)", "ended with an unknown status"
    std::string text() const
    {
        if (!exited) return "was killed by signal " + std::to_string(signal) + signal_name();
        if (code < 0) return "ended with an unknown status";
        return "exited with code " + std::to_string(code);
    }

    friend bool operator==(const exit_status&, const exit_status&) = default;

private:
    const char* signal_name() const
    {
        switch (signal) {
        case SIGHUP: return " (SIGHUP)";
        case SIGINT: return " (SIGINT)";
        case SIGQUIT: return " (SIGQUIT)";
        case SIGILL: return " (SIGILL)";
        case SIGTRAP: return " (SIGTRAP)";
        case SIGABRT: return " (SIGABRT)";
        case SIGBUS: return " (SIGBUS)";
        case SIGFPE: return " (SIGFPE)";
        case SIGKILL: return " (SIGKILL)";
        case SIGSEGV: return " (SIGSEGV)";
        case SIGPIPE: return " (SIGPIPE)";
        case SIGALRM: return " (SIGALRM)";
        case SIGTERM: return " (SIGTERM)";
        case SIGUSR1: return " (SIGUSR1)";
        case SIGUSR2: return " (SIGUSR2)";
        case SIGXCPU: return " (SIGXCPU)";
        case SIGSYS: return " (SIGSYS)";
        default: return "";
        }
    }
};

namespace detail
{

/// From what `waitpid` gives.
inline exit_status decode_status(int raw) noexcept
{
    exit_status made;
    if (WIFSIGNALED(raw)) {
        made.exited = false;
        made.code = 0;
        made.signal = WTERMSIG(raw);
    } else {
        made.code = WEXITSTATUS(raw);
    }
    return made;
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
