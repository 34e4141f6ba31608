// SPDX-License-Identifier: MIT
//
// fork and exec, and nothing more: everything the child needs is made before, between the two only calls are made that
// are safe after a fork of a process with threads, and a failure there comes back as a fault with the system's reason.
// It keeps no state and installs no handler; who reaps the child is the caller's affair.
#pragma once

#include <comcp/detail/descriptor.hpp>
#include <comcp/result.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <string>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// A child to start. Paths are as seen from `directory`. The three descriptors are above 2 and become 0 to 2.
struct spawn_plan
{
    std::string path;
    std::vector<std::string> arguments;   ///< with the name of the program in front
    std::vector<std::string> environment; ///< `NAME=value`
    std::string directory;                ///< empty: that of the host
    int parent_death_signal = 0;
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// What a child says on the status pipe when it does not get as far as `execve`.
struct spawn_failure
{
    enum step_type { prepare, directory, execute } step;
    int error;
};

/// The part between fork and exec. Runs in the child, on a copy of the parent's memory in which any lock may be held by
/// a thread that does not exist here: no allocation, no stdio, no C++ runtime. Never returns.
[[noreturn]] inline void become_program(const spawn_plan& plan, char* const* argv, char* const* envp, pid_t parent,
                                        int status)
{
    const auto give_up = [status](spawn_failure::step_type step) {
        const spawn_failure failure{step, errno};
        while (::write(status, &failure, sizeof failure) < 0 && errno == EINTR) {
        }
        ::_exit(127);
    };

    // Handlers of the host must not run in here, and a signal that it ignores would stay ignored after exec: a child
    // that ignores SIGPIPE or SIGTERM because its host does is a surprise.
    struct sigaction original{};
    original.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &original, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);

    // A group of its own: a signal reaches its children too, and Ctrl-C at a terminal reaches only the host.
    ::setpgid(0, 0);
    if (::dup2(plan.input, STDIN_FILENO) < 0 || ::dup2(plan.output, STDOUT_FILENO) < 0 ||
        ::dup2(plan.errors, STDERR_FILENO) < 0)
        give_up(spawn_failure::prepare);
#if defined(SYS_close_range)
    // What the host opened without close-on-exec (a listening socket, say) is no business of a server either. Linux
    // 5.11; older ones pass such descriptors on.
    static_cast<void>(::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */));
#endif
    if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0) give_up(spawn_failure::directory);
#if defined(__linux__)
    if (plan.parent_death_signal != 0) {
        if (::prctl(PR_SET_PDEATHSIG, plan.parent_death_signal) != 0) give_up(spawn_failure::prepare);
        if (::getppid() != parent) ::_exit(127); // it died before we asked
    }
#else
    static_cast<void>(parent);
#endif
    ::execve(plan.path.c_str(), argv, envp);
    give_up(spawn_failure::execute);
    ::_exit(127);
}

/// Starts the child and returns when it executes its program, or when that failed and nothing is left of it.
inline result<pid_t> spawn_process(const spawn_plan& plan)
{
    const auto pointers = [](const std::vector<std::string>& strings) {
        std::vector<char*> made;
        made.reserve(strings.size() + 1);
        for (const std::string& s : strings)
            made.push_back(const_cast<char*>(s.c_str())); // execve promises not to write
        made.push_back(nullptr);
        return made;
    };
    const std::vector<char*> argv = pointers(plan.arguments);
    const std::vector<char*> envp = pointers(plan.environment);
    auto status = make_pipe();
    if (!status) return status.error();
    const pid_t parent = ::getpid();

    // No signal handler of the host may run in the child before its dispositions are reset.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::fork();
    if (pid == 0) become_program(plan, argv.data(), envp.data(), parent, status->write.get());
    const int fork_error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return fail(errc::spawn_failed, "fork: " + os_text(fork_error));

    ::setpgid(pid, pid); // both sides do it: whoever is first, the group is there before anybody signals it
    status->write.reset();
    spawn_failure failure{};
    ssize_t got = 0;
    do {
        got = ::read(status->read.get(), &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof failure)) return pid; // closed by exec

    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    const std::string reason = os_text(failure.error);
    const bool missing = failure.error == ENOENT || failure.error == ENOTDIR;
    switch (failure.step) {
    case spawn_failure::directory:
        return fail(missing ? errc::not_found : errc::spawn_failed,
                    "working directory \"" + plan.directory + "\": " + reason);
    case spawn_failure::execute:
        // The look-up has just seen the file, so what is missing is what it asks for in its first line.
        return fail(errc::spawn_failed, "program \"" + plan.path + "\" could not be executed: " + reason +
                                            (missing ? " (its interpreter?)" : ""));
    case spawn_failure::prepare: break;
    }
    return fail(errc::spawn_failed, "the process could not be prepared: " + reason);
}

} // namespace comcp::inline COMCP_ABI::detail
