// SPDX-License-Identifier: MIT
//
// A program under test with its three standard streams in the test's hand: raw bytes in, raw bytes out, on real
// descriptors. Nothing sleeps: every wait is for an event, and one deadline for each program turns a hang into a
// failure. Not for sessions: it knows of lines only.
#pragma once

#include "catch.hpp"

#include <boost/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMCP_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COMCP_TEST_SANITIZED 1
#endif
#endif
#ifndef COMCP_TEST_SANITIZED
#define COMCP_TEST_SANITIZED 0
#endif

namespace support
{

/// Sanitizers keep freed memory and own much of it: sizes of a process say nothing then.
inline constexpr bool sanitized = COMCP_TEST_SANITIZED != 0;

/// A program that was built beside this one.
inline std::string program(std::string_view name)
{
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

/// A descriptor with an owner.
class file
{
public:
    file() = default;
    explicit file(int fd) : fd_(fd) {}
    file(file&& from) noexcept : fd_(std::exchange(from.fd_, -1)) {}
    file& operator=(file&& from) noexcept
    {
        if (this != &from) {
            close();
            fd_ = std::exchange(from.fd_, -1);
        }
        return *this;
    }
    ~file() { close(); }

    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    void close()
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    file duplicate() const { return file(::fcntl(fd_, F_DUPFD_CLOEXEC, 3)); }
    /// The flag belongs to the open file, which all duplicates and all processes share.
    bool non_blocking() const { return (::fcntl(fd_, F_GETFL) & O_NONBLOCK) != 0; }
    void non_blocking(bool on) const
    {
        const int flags = ::fcntl(fd_, F_GETFL);
        ::fcntl(fd_, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
    }
    /// Bytes that were written and not yet read.
    int unread() const
    {
        int count = -1;
        ::ioctl(fd_, FIONREAD, &count);
        return count;
    }

private:
    int fd_ = -1;
};

struct pipe_ends
{
    file read;
    file write;
};

inline pipe_ends make_pipe()
{
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pipe_ends made;
    made.read = file(ends[0]);
    made.write = file(ends[1]);
    return made;
}

/// How a process ended: "exit 0", "signal 9".
inline std::string describe_exit(const siginfo_t& info)
{
    return (info.si_code == CLD_EXITED ? "exit " : "signal ") + std::to_string(info.si_status);
}

inline bool no_trace_of(pid_t pid) { return ::kill(pid, 0) < 0 && errno == ESRCH; }

/// A process by a descriptor of it, taken while it lives: its number cannot deceive.
class watched_process
{
public:
    explicit watched_process(pid_t pid) : fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

    bool known() const { return fd_.open(); }
    bool gone_within(int milliseconds) const
    {
        pollfd ask{fd_.get(), POLLIN, 0};
        return ::poll(&ask, 1, milliseconds) == 1;
    }
    int descriptor() const { return fd_.get(); }

private:
    file fd_;
};

/// A number of /proc/PID/status in kB: "VmHWM", "VmRSS".
inline long status_kb(pid_t pid, const std::string& name)
{
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name + ":")) return std::atol(line.c_str() + name.size() + 1);
    return -1;
}

/// What a program gets as its three standard streams. What is not given is a pipe to the test.
struct streams
{
    static constexpr int closed = -1;

    std::optional<int> in;
    std::optional<int> out;
    std::optional<int> errors;
    bool read_errors = true; ///< the pipe of stderr is read as it fills
};

/// A running program.
class process
{
public:
    process(const std::string& name, std::vector<std::string> args, const streams& given = {})
        : read_errors_(given.read_errors)
    {
        pipe_ends in;
        pipe_ends out;
        pipe_ends errors;
        int fds[3] = {given.in.value_or(0), given.out.value_or(0), given.errors.value_or(0)};
        if (!given.in) fds[0] = (in = make_pipe()).read.get();
        if (!given.out) fds[1] = (out = make_pipe()).write.get();
        if (!given.errors) fds[2] = (errors = make_pipe()).write.get();
        const std::string path = program(name);
        std::vector<char*> argv{const_cast<char*>(path.c_str())};
        for (std::string& each : args) argv.push_back(each.data());
        argv.push_back(nullptr);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) become(path.c_str(), argv.data(), fds);
        pidfd_ = file(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
        in_ = std::move(in.write);
        out_ = std::move(out.read);
        errors_ = std::move(errors.read);
        for (const file* each : {&in_, &out_, &errors_})
            if (each->open()) each->non_blocking(true); // our end only: the ends of a pipe share no flags
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process()
    {
        if (reaped_) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    pid_t pid() const { return pid_; }
    file& input() { return in_; }
    file& output() { return out_; }

    /// Reads and writes on descriptors of the test's own instead of the pipes.
    void use(file in, file out)
    {
        in_ = std::move(in);
        out_ = std::move(out);
        for (const file* each : {&in_, &out_})
            if (each->open()) each->non_blocking(true);
    }
    /// At most so many bytes in one read: a slow reader. With 0, stdout is not read.
    void read_at_most(std::size_t bytes) { most_ = bytes; }

    /// Writes all of it, and reads meanwhile: neither side can block the other.
    void send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t n = ::write(in_.get(), bytes.data(), bytes.size());
            if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
            else if (errno == EAGAIN) turn(true);
            else FAIL("the program does not read: " << std::strerror(errno) << "; its stderr: " << error_text_);
        }
    }
    /// Writes without reading until all is written or nothing was taken for `milliseconds`. Gives what was written.
    std::size_t send_without_reading(std::string_view bytes, int milliseconds)
    {
        std::size_t sent = 0;
        while (sent != bytes.size()) {
            const ssize_t n = ::write(in_.get(), bytes.data() + sent, bytes.size() - sent);
            if (n > 0) {
                sent += static_cast<std::size_t>(n);
                continue;
            }
            pollfd ask{in_.get(), POLLOUT, 0};
            if (::poll(&ask, 1, milliseconds) == 0) break;
        }
        return sent;
    }
    /// Writes, and waits until the program has taken it: what follows is another read of it.
    void send_alone(std::string_view bytes)
    {
        send(bytes);
        while (in_.unread() > 0) {
            check_deadline();
            ::sched_yield();
        }
    }
    void end_input() { in_.close(); }

    /// The next line of stdout, without its newline; nothing at the end.
    std::optional<std::string> line()
    {
        for (;;) {
            const std::size_t end = text_.find('\n', searched_);
            if (end != std::string::npos) {
                std::string first = text_.substr(taken_, end - taken_);
                taken_ = searched_ = end + 1;
                if (taken_ > 1024 * 1024) {
                    text_.erase(0, taken_);
                    taken_ = searched_ = 0;
                }
                return first;
            }
            searched_ = text_.size();
            if (!out_.open()) return std::nullopt;
            turn(false);
        }
    }
    /// Everything up to the end of stdout that was not taken as lines.
    std::string rest()
    {
        while (out_.open()) turn(false);
        return std::exchange(text_, std::string()).substr(std::exchange(taken_, 0));
    }
    /// The next line as JSON. It must be one.
    boost::json::object message()
    {
        const auto text = line();
        if (!text) FAIL("the program's output ended; its stderr: " << errors());
        boost::system::error_code failed;
        boost::json::value value = boost::json::parse(*text, failed);
        if (failed || !value.is_object()) FAIL("not a message: " << text->substr(0, 300));
        return std::move(value.get_object());
    }

    /// Waits for the end of the program: "exit 0" or "signal 9".
    std::string exit()
    {
        for (;;) {
            pollfd ask{pidfd_.get(), POLLIN, 0};
            if (::poll(&ask, 1, 0) == 1) break;
            turn(false, true);
        }
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
        reaped_ = true;
        drain_errors();
        return describe_exit(info);
    }
    bool running() const
    {
        pollfd ask{pidfd_.get(), POLLIN, 0};
        return ::poll(&ask, 1, 0) == 0;
    }
    void signal(int number) const { ::kill(pid_, number); }

    /// What it has written to stderr so far.
    const std::string& errors()
    {
        drain_errors();
        return error_text_;
    }
    /// Waits until a text stands in stderr.
    void wait_for_error(std::string_view text)
    {
        while (error_text_.find(text) == std::string::npos) turn(false);
    }

    /// What every wait takes at most, in total.
    void deadline(std::chrono::seconds from_now) { deadline_ = std::chrono::steady_clock::now() + from_now; }

private:
    [[noreturn]] static void become(const char* path, char** argv, const int (&fds)[3])
    {
        // First out of the way: one of them may be 0, 1 or 2.
        int moved[3];
        for (int i = 0; i < 3; ++i) moved[i] = fds[i] < 0 ? -1 : ::fcntl(fds[i], F_DUPFD_CLOEXEC, 10);
        for (int i = 0; i < 3; ++i) {
            if (moved[i] < 0) ::close(i);
            else ::dup2(moved[i], i);
        }
        for (const int each : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM})
            ::signal(each, SIG_DFL); // this program may ignore them
        ::execv(path, argv);
        ::_exit(127);
    }

    void check_deadline() const
    {
        if (std::chrono::steady_clock::now() < deadline_) return;
        ::kill(pid_, SIGKILL);
        FAIL("the program hangs; its stderr: " << error_text_);
    }

    /// One turn of the wheel: waits until something can be read (or written), and reads it.
    void turn(bool writing, bool exiting = false)
    {
        check_deadline();
        pollfd ask[4] = {{most_ == 0 ? -1 : out_.get(), POLLIN, 0},
                         {read_errors_ ? errors_.get() : -1, POLLIN, 0},
                         {writing ? in_.get() : -1, POLLOUT, 0},
                         {exiting ? pidfd_.get() : -1, POLLIN, 0}};
        ::poll(ask, 4, 1000);
        if (ask[0].revents != 0) read_into(out_, text_, most_);
        if (ask[1].revents != 0) read_into(errors_, error_text_, 64 * 1024);
    }

    static void read_into(file& from, std::string& into, std::size_t most)
    {
        static thread_local std::string chunk(256 * 1024, '\0');
        const ssize_t n = ::read(from.get(), chunk.data(), std::min(most, chunk.size()));
        if (n > 0) into.append(chunk.data(), static_cast<std::size_t>(n));
        else if (n == 0 || (errno != EAGAIN && errno != EINTR)) from.close();
    }

    void drain_errors()
    {
        if (!read_errors_) return;
        pollfd ask{errors_.get(), POLLIN, 0};
        while (errors_.open() && ::poll(&ask, 1, 0) == 1) read_into(errors_, error_text_, 64 * 1024);
    }

    pid_t pid_ = -1;
    file pidfd_;
    file in_;
    file out_;
    file errors_;
    bool read_errors_;
    bool reaped_ = false;
    std::size_t most_ = 256 * 1024;
    std::string text_;
    std::size_t taken_ = 0;
    std::size_t searched_ = 0;
    std::string error_text_;
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
};

/// Sets what this process does with a signal, for one scope.
class signal_scope
{
public:
    signal_scope(int signal, void (*handler)(int)) : signal_(signal)
    {
        struct sigaction action{};
        action.sa_handler = handler;
        ::sigaction(signal, &action, &before_);
    }
    ~signal_scope() { ::sigaction(signal_, &before_, nullptr); }
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    int signal_;
    struct sigaction before_{};
};

} // namespace support
