// SPDX-License-Identifier: MIT
//
// A running child process, owned by one object: three pipes, its exit as an event, an orderly stop, and a destructor
// that leaves neither a process nor a zombie behind. It knows nothing of messages; a transport reads and writes the
// pipes.
//
// The exit is watched through a pidfd (or, without one, by asking every 20 ms): no SIGCHLD handler, no waitpid for any
// other process, so the host keeps its own children. The child is not reaped before the rest of its process group has
// been killed: the zombie keeps the number of the group from being given to somebody else.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/descriptor.hpp>
#include <comcp/detail/environment.hpp>
#include <comcp/detail/lookup.hpp>
#include <comcp/detail/output_tail.hpp>
#include <comcp/detail/spawn.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/child_process.hpp>
#include <comcp/transport/exit_status.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// How the exit of a child is noticed. `polling` is the fallback of kernels and sandboxes without pidfd.
enum class exit_watch {
    pidfd,
    polling,
};

/// A running child. Used from its executor only, except `spawn`; may be destroyed at any time, also from its own stderr
/// callback, while its exit is awaited, and after its io_context.
class child
{
public:
    /// Starts the process. Returns when it executes its program.
    ///
    /// *Errors*: errc::not_found for a program or working directory that is not there, errc::invalid_argument for a
    /// value that no process can get, errc::spawn_failed with the system's reason for all else.
    static result<std::unique_ptr<child>> spawn(executor ex, const child_process& what,
                                                exit_watch watch = exit_watch::pidfd)
    {
        auto made = start(std::move(ex), what, watch);
        if (made) return made;
        fault failed = made.error();
        failed.text.insert(0, "server \"" + what.name() + "\": ");
        return failed;
    }

    child(const child&) = delete;
    child& operator=(const child&) = delete;
    /// Never waits for the loop: closes the pipes, kills the process group, reaps.
    ~child() { state_->close(); }

    /// The pipe to the child's stdin. Non-blocking; written with `write_without_sigpipe` only.
    asio::posix::stream_descriptor& input() { return *state_->input; }
    /// The pipe from its stdout. Non-blocking. Both references end with the io_context.
    asio::posix::stream_descriptor& output() { return *state_->output; }
    pid_t pid() const noexcept { return state_->pid; }

    /// Tells the child that no more will come.
    void close_input() { state_->close_input(); }

    /// Waits for the exit of the child, and until what it wrote to stderr has been read; nothing when it takes longer.
    ///
    /// *Errors*: errc::cancelled when the caller is cancelled.
    task<std::optional<exit_status>> wait_exit(duration at_most) { return wait(state_, at_most); }

    /// Ends the child: end of input, SIGTERM, SIGKILL, each with its time, the signals for the whole process group.
    ///
    /// *Errors*: errc::cancelled when the caller is cancelled; the child is ended all the same.
    task<exit_status> stop() { return stop(state_); }

    /// SIGKILL to the whole group at once. The exit is an event as ever.
    void kill_now() noexcept { state_->signal_group(SIGKILL); }

    /// How it ended; nothing while it runs.
    std::optional<exit_status> status() const { return state_->status; }
    /// The last of what it wrote to stderr, as it was.
    std::string stderr_tail() const { return std::string(state_->tail.text()); }
    /// For an error: `server "x" exited with code 3; last lines of its stderr: ...`
    std::string describe_end() const
    {
        std::string text = "server \"" + state_->name + "\" ";
        text += state_->status ? state_->status->text() : "is still running";
        const std::string last = quote_tail(state_->tail.text(), 1000);
        if (!last.empty()) text += "; last lines of its stderr: " + last;
        return text;
    }

private:
    using callback = std::function<void(std::string_view)>;

    /// How far an orderly stop has come.
    enum class stage {
        running,
        input_closed,
        terminated,
        killed,
    };

    /// What the handlers and suspended callers hold. Everything but `close` runs on the executor.
    struct state final : parked, std::enable_shared_from_this<state>
    {
        state(const executor& on, const child_process& what)
            : ex(on),
              lot(make_parking_lot(on)),
              step(on),
              name(what.name()),
              end_of_input_time(what.end_of_input_),
              term_time(what.term_),
              tail(what.stderr_tail_),
              on_stderr(what.on_stderr_)
        {
            input.emplace(on);
            output.emplace(on);
            errors.emplace(on);
            lot->link(*this);
        }
        ~state()
        {
            if (!dropped) lot->unlink(*this);
        }

        // ---- the pipes

        void close_input()
        {
            io_error_code ignored;
            if (input) static_cast<void>(input->close(ignored));
        }

        bool stderr_open() const { return errors && errors->is_open(); }

        void watch_stderr()
        {
            if (!stderr_open()) return;
            errors->async_wait(asio::posix::stream_descriptor::wait_read,
                               [self = shared_from_this()](io_error_code failed) {
                                   if (failed || self->closed) return;
                                   self->read_stderr(256 * 1024); // then it is somebody else's turn
                                   if (!self->stderr_open() && self->exit_seen) self->finish();
                                   self->watch_stderr();
                               });
        }

        /// Reads what is there. The callback may close the child.
        void read_stderr(std::size_t most)
        {
            char chunk[16 * 1024];
            for (std::size_t total = 0; stderr_open() && total < most;) {
                const ssize_t got = ::read(errors->native_handle(), chunk, sizeof chunk);
                if (got < 0 && errno == EINTR) continue;
                if (got < 0 && errno == EAGAIN) return;
                if (got <= 0) {
                    io_error_code ignored;
                    static_cast<void>(errors->close(ignored));
                    return;
                }
                const std::string_view text(chunk, static_cast<std::size_t>(got));
                total += text.size();
                tail.append(text);
                report(text);
            }
        }

        void report(std::string_view text)
        {
            if (!on_stderr) return;
            callback running = std::move(on_stderr); // a callback that closes the child does not destroy itself
            on_stderr = nullptr;
            try {
                running(text);
            } catch (...) { // a host's failure to log ends neither the loop nor the reading
            }
            if (!closed) on_stderr = std::move(running);
        }

        // ---- the exit

        void watch_exit()
        {
            if (pidfd) {
                pidfd->async_wait(asio::posix::stream_descriptor::wait_read,
                                  [self = shared_from_this()](io_error_code failed) {
                                      if (!failed && !self->closed) self->check_exit();
                                  });
                return;
            }
            if (!poll) poll.emplace(ex);
            poll->start(poll->now() + std::chrono::milliseconds(20), [weak = weak_from_this()] {
                if (auto self = weak.lock()) self->check_exit();
            });
        }

        void check_exit()
        {
            if (reaped) return;
            siginfo_t info{};
            if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
                pidfd.reset(); // if it said otherwise (a debugger holds the child), asking beats spinning
                watch_exit();
                return;
            }
            // A launcher may die of SIGTERM before the server that it started has tidied up: that one has the rest of
            // the time. That it is there is seen by the stderr that it holds.
            exit_seen = true;
            if (at != stage::terminated || !stderr_open()) finish();
        }

        void finish()
        {
            if (reaped) return;
            signal_group(SIGKILL);
            reap(0);
            read_stderr(1024 * 1024); // the last words, so that describe_end() has them
            end();
        }

        /// The status is known, or given up: everybody goes on.
        void end()
        {
            step.cancel();
            if (poll) poll->cancel();
            pidfd.reset();
            while (!waiting.empty()) {
                waiter* first = waiting.front();
                waiting.erase(waiting.begin());
                first->complete();
            }
        }

        void reap(int flags)
        {
            int raw = 0;
            pid_t got = 0;
            do {
                got = ::waitpid(pid, &raw, flags);
            } while (got < 0 && errno == EINTR);
            reaped = got != 0;
            status = got == pid ? decode_status(raw) : exit_status(); // ECHILD: the host took it
        }

        // ---- the end

        bool is_ours() const noexcept
        {
            siginfo_t info{};
            return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
        }

        void signal_group(int signal) noexcept
        {
            if (reaped) return;
            // If the host has reaped it behind our back, the number is the group's only while no process has it.
            if (!is_ours() && !(::kill(pid, 0) < 0 && errno == ESRCH)) return;
            ::kill(-pid, signal);
        }

        /// Needs no coroutine: the caller who began it may be cancelled, and the child is ended all the same.
        void begin_stop()
        {
            if (at != stage::running || status || closed) return;
            at = stage::input_closed;
            close_input();
            next_step_after(end_of_input_time);
        }

        void next_step_after(duration time)
        {
            step.start(deadline_after(step.now(), time), [weak = weak_from_this()] {
                if (auto self = weak.lock()) self->next_step();
            });
        }

        void next_step()
        {
            switch (at) {
            case stage::running: break;
            case stage::input_closed:
                at = stage::terminated;
                signal_group(SIGTERM);
                next_step_after(term_time);
                break;
            case stage::terminated:
                if (exit_seen) return finish();
                at = stage::killed;
                signal_group(SIGKILL);
                next_step_after(std::chrono::seconds(10)); // long for the kernel, and no time that a server can use
                break;
            case stage::killed: // it became another user, or hangs in the kernel: nobody can do more
                status = exit_status();
                end();
                break;
            }
        }

        void close()
        {
            if (closed) return;
            closed = true;
            const callback gone = std::move(on_stderr); // freed last: it may own whoever owns this child
            close_pipes();
            step.cancel();
            poll.reset();
            pidfd.reset();
            if (!reaped) {
                signal_group(SIGKILL);
                // Who may not kill it (it became another user) cannot wait for it either.
                const bool dies = !is_ours() || ::kill(pid, SIGKILL) == 0;
                reap(dies ? 0 : WNOHANG);
            }
            if (!dropped && !waiting.empty()) asio::post(ex, [self = shared_from_this()] { self->end(); });
        }

        void close_pipes()
        {
            io_error_code ignored;
            for (auto* pipe : {&input, &output, &errors}) {
                if (*pipe) static_cast<void>((*pipe)->close(ignored));
            }
        }

        void drop() override // the context ends: nothing of it may be touched later
        {
            const callback gone = std::move(on_stderr);
            dropped = true;
            input.reset();
            output.reset();
            errors.reset();
            pidfd.reset();
            ex = executor();
        }

        executor ex;
        std::shared_ptr<parking_lot> lot;
        std::optional<asio::posix::stream_descriptor> input;
        std::optional<asio::posix::stream_descriptor> output;
        std::optional<asio::posix::stream_descriptor> errors;
        std::optional<asio::posix::stream_descriptor> pidfd;
        std::optional<timer> poll; ///< only without pidfd
        timer step;                ///< of the orderly stop
        std::vector<waiter*> waiting;
        const std::string name;
        const duration end_of_input_time;
        const duration term_time;
        output_tail tail;
        callback on_stderr;
        pid_t pid = -1;
        std::optional<exit_status> status;
        stage at = stage::running;
        bool reaped = true; ///< nothing to reap before the start
        bool exit_seen = false;
        bool closed = false;
        bool dropped = false;
    };

    explicit child(std::shared_ptr<state> owned) : state_(std::move(owned)) {}

    static result<spawn_plan> plan(const child_process& what)
    {
        const auto cut = [](const std::string& text) { return text.find('\0') != std::string::npos; };
        if (what.program_.empty()) return fail(errc::invalid_argument, "the program has no name");
        if (cut(what.program_) || cut(what.directory_))
            return fail(errc::invalid_argument, "the program or its directory contains a zero byte");
        for (const std::string& argument : what.args_) {
            if (cut(argument)) return fail(errc::invalid_argument, "an argument contains a zero byte");
        }
        for (const environment_change& change : what.changes_) {
            if (change.name.empty() || change.name.find('=') != std::string::npos || cut(change.name))
                return fail(errc::invalid_argument, "\"" + change.name + "\" is no name of a variable");
            if (change.value && cut(*change.value))
                return fail(errc::invalid_argument, "variable \"" + change.name + "\" contains a zero byte");
        }
        const environment env = child_environment(::environ, what.everything_, what.changes_);
        auto path = find_program(what.program_, env, what.directory_, probe_file);
        if (!path) return path.error();
        spawn_plan made;
        made.path = std::move(*path);
        made.arguments.push_back(what.program_);
        made.arguments.insert(made.arguments.end(), what.args_.begin(), what.args_.end());
        made.environment = environment_strings(env);
        made.directory = what.directory_;
        made.parent_death_signal = what.parent_death_signal_;
        return made;
    }

    static result<std::unique_ptr<child>> start(executor ex, const child_process& what, exit_watch watch)
    {
        auto planned = plan(what);
        if (!planned) return planned.error();
        auto input = make_pipe();
        if (!input) return input.error();
        auto output = make_pipe();
        if (!output) return output.error();
        auto errors = make_pipe();
        if (!errors) return errors.error();
        widen_pipe(input->write.get());
        widen_pipe(output->read.get());

        // All that can fail is done before the fork.
        auto owned = std::make_shared<state>(ex, what);
        std::unique_ptr<child> made(new child(owned));
        io_error_code failed;
        adopt(*owned->input, input->write, failed);
        if (!failed) adopt(*owned->output, output->read, failed);
        if (!failed) adopt(*owned->errors, errors->read, failed);
        if (failed) return fail(errc::spawn_failed, "pipe: " + failed.message());
        planned->input = input->read.get();
        planned->output = output->write.get();
        planned->errors = errors->write.get();

        const auto pid = spawn_process(*planned);
        if (!pid) return pid.error();
        owned->pid = *pid;
        owned->reaped = false;
        if (watch == exit_watch::pidfd) open_pidfd(*owned);
        // On the executor, wherever `spawn` was called: a handler may run there before this returns.
        asio::dispatch(ex, [owned] {
            if (owned->closed) return;
            owned->watch_stderr();
            owned->watch_exit();
        });
        return made;
    }

    static void adopt(asio::posix::stream_descriptor& to, unique_fd& fd, io_error_code& failed)
    {
        static_cast<void>(to.assign(fd.get(), failed));
        if (failed) return;
        fd.release();
        static_cast<void>(to.non_blocking(true, failed));
    }

    static void open_pidfd(state& of)
    {
#if defined(SYS_pidfd_open)
        unique_fd fd(static_cast<int>(::syscall(SYS_pidfd_open, of.pid, 0)));
        if (fd.get() < 0) return;
        io_error_code failed;
        of.pidfd.emplace(of.ex);
        static_cast<void>(of.pidfd->assign(fd.get(), failed));
        if (failed) of.pidfd.reset();
        else fd.release();
#else
        static_cast<void>(of);
#endif
    }

    /// A suspended caller, known to the child as long as it is suspended.
    struct exit_wait
    {
        explicit exit_wait(state& awaited) : of(awaited), done(*awaited.lot) { of.waiting.push_back(&done); }
        exit_wait(const exit_wait&) = delete;
        exit_wait& operator=(const exit_wait&) = delete;
        ~exit_wait() { std::erase(of.waiting, &done); }

        state& of;
        waiter done;
    };

    static task<std::optional<exit_status>> wait(std::shared_ptr<state> owned, duration at_most)
    {
        if (owned->status) co_return owned->status;
        exit_wait exit(*owned);
        timer limit(owned->ex);
        limit.start(deadline_after(limit.now(), at_most), [&exit] { exit.done.complete(); });
        co_await exit.done.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "the wait for the end of a child was cancelled"));
        co_return owned->status;
    }

    static task<exit_status> stop(std::shared_ptr<state> owned)
    {
        owned->begin_stop();
        const auto status = co_await wait(owned, no_limit);
        co_return status.value_or(exit_status());
    }

    std::shared_ptr<state> state_;
};

} // namespace comcp::inline COMCP_ABI::detail
