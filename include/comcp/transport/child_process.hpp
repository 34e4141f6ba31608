// SPDX-License-Identifier: MIT
//
// The description of a server that is to be started as a child process. It starts nothing and can be copied and kept,
// for a restart; the running child is in transport/child.hpp.
#pragma once

#include <comcp/detail/environment.hpp>
#include <comcp/limits.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{
class child;
}

/// A server to start: `child_process("npx").arg("-y").arg("some-server").env("TOKEN", token)`.
///
/// The program is looked up in the PATH that the child itself gets. A name with a slash is not looked up, and is
/// relative to the child's working directory. No shell is involved: arguments arrive as they are.
class child_process
{
public:
    explicit child_process(std::string program, std::vector<std::string> args = {})
        : program_(std::move(program)),
          args_(std::move(args))
    {}

    /// Adds one argument.
    child_process& arg(std::string value)
    {
        args_.push_back(std::move(value));
        return *this;
    }
    /// Sets a variable of the child's environment.
    child_process& env(std::string variable, std::string value)
    {
        changes_.push_back({std::move(variable), std::move(value)});
        return *this;
    }
    /// Leaves a variable out that the child would get from the host.
    child_process& without_env(std::string variable)
    {
        changes_.push_back({std::move(variable), std::nullopt});
        return *this;
    }
    /// Passes the host's whole environment, secrets included. Without it a child gets what `env` declares and, of the
    /// host's: HOME LANG LANGUAGE LC_* LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME
    /// XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME, less what is an exported shell function.
    child_process& inherit_environment()
    {
        everything_ = true;
        return *this;
    }
    /// The child's working directory; that of the host when not set.
    child_process& directory(std::string path)
    {
        directory_ = std::move(path);
        return *this;
    }
    /// Called on the executor with what the child writes to stderr, in pieces as it comes. What it throws is ignored.
    child_process& on_stderr(std::function<void(std::string_view)> callback)
    {
        on_stderr_ = std::move(callback);
        return *this;
    }
    /// What errors call the server; the program when not set.
    child_process& name(std::string text)
    {
        name_ = std::move(text);
        return *this;
    }
    /// Linux: the signal that the child gets when its parent is gone. Off by default, because it is sent when the
    /// *thread* that started the child ends: only for hosts that start children from a thread that lives as long as
    /// they.
    child_process& parent_death_signal(int signal)
    {
        parent_death_signal_ = signal;
        return *this;
    }
    /// The time that an orderly stop gives after the end of input (5 s) and after SIGTERM (2 s), before SIGKILL.
    child_process& stop_after(duration end_of_input, duration term)
    {
        end_of_input_ = end_of_input;
        term_ = term;
        return *this;
    }
    /// How many of the last bytes of stderr are kept for errors (8 KiB).
    child_process& stderr_tail(std::size_t bytes)
    {
        stderr_tail_ = bytes;
        return *this;
    }

    const std::string& program() const noexcept { return program_; }
    const std::vector<std::string>& args() const noexcept { return args_; }
    const std::string& name() const noexcept { return name_.empty() ? program_ : name_; }

private:
    friend class detail::child;

    std::string program_;
    std::vector<std::string> args_;
    std::vector<detail::environment_change> changes_;
    bool everything_ = false;
    std::string directory_;
    std::function<void(std::string_view)> on_stderr_;
    std::string name_;
    int parent_death_signal_ = 0;
    duration end_of_input_ = std::chrono::seconds(5);
    duration term_ = std::chrono::seconds(2);
    std::size_t stderr_tail_ = 8 * 1024;
};

} // namespace comcp::inline COMCP_ABI
