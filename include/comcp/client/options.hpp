// SPDX-License-Identifier: MIT
//
// What a client is told beforehand: limits, what it offers to servers, and who is told of notices. Everything that
// takes a function stands here, since operations that are awaited take none.
#pragma once

#include <comcp/limits.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/roots.hpp>
#include <comcp/session/request_error.hpp>
#include <comcp/task.hpp>

#include <boost/json/object.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// A callback for notices that is a plain function or a coroutine. Plain ones run in place; coroutines one at a time.
template <class Notice>
class notice_handler
{
public:
    notice_handler() = default;

    template <class F>
        requires std::invocable<F&, const Notice&> && (!std::same_as<std::decay_t<F>, notice_handler>)
    explicit notice_handler(F function)
    {
        if constexpr (std::same_as<std::invoke_result_t<F&, const Notice&>, task<void>>) slow_ = std::move(function);
        else plain_ = std::move(function);
    }

    explicit operator bool() const { return plain_ || slow_; }
    bool is_plain() const { return static_cast<bool>(plain_); }
    void call(const Notice& notice) const { plain_(notice); }
    task<void> call_slow(Notice notice) const { return slow_(notice); }

private:
    std::function<void(const Notice&)> plain_;
    std::function<task<void>(const Notice&)> slow_;
};

} // namespace detail

/// Options of a client, set before it connects.
class client_options
{
public:
    using request_handler = std::function<task<json::object>(json::object)>;

    comcp::limits limits;
    /// Keeps the text of every result (`answer::source`), counted in the limits: numbers are exact there.
    bool keep_source = false;
    /// The newest revision that is offered.
    revision newest = latest_legacy;

    /// Offers roots to the server (2025-11-25, roots). Set anew on a connected client with `client.set_roots`.
    client_options& roots(std::vector<root> places)
    {
        roots_ = std::move(places);
        return *this;
    }
    /// Answers `sampling/createMessage`; takes its params and gives its result. Never called without a server's
    /// request.
    client_options& on_sampling(request_handler handler)
    {
        sampling_ = std::move(handler);
        return *this;
    }
    /// Answers `elicitation/create`, form mode.
    client_options& on_elicitation(request_handler handler)
    {
        elicitation_ = std::move(handler);
        return *this;
    }
    /// Told of log messages of the server, in order and one at a time: a plain function, or a coroutine returning
    /// `task<void>`. While a coroutine is behind, at most `limits.notices` wait; further ones are dropped and counted.
    template <class F>
    client_options& on_log(F handler)
    {
        log_ = detail::notice_handler<log_message>(std::move(handler));
        return *this;
    }
    /// Told that the list of tools has changed; several changes at once may be one call.
    client_options& on_tools_changed(std::function<void()> handler)
    {
        tools_changed_ = std::move(handler);
        return *this;
    }

    // For the library.
    const std::optional<std::vector<root>>& offered_roots() const { return roots_; }
    const request_handler& sampling() const { return sampling_; }
    const request_handler& elicitation() const { return elicitation_; }
    const detail::notice_handler<log_message>& log() const { return log_; }
    const std::function<void()>& tools_changed() const { return tools_changed_; }

private:
    std::optional<std::vector<root>> roots_;
    request_handler sampling_;
    request_handler elicitation_;
    detail::notice_handler<log_message> log_;
    std::function<void()> tools_changed_;
};

/// Options of one call. A class with chained setters: `call_options().timeout(5s)`; set a progress callback on a named
/// object before the call, never inside the awaited expression.
class call_options
{
public:
    /// The time for the whole call. *Errors*: errc::invalid_argument for zero.
    call_options& timeout(duration total)
    {
        total_ = policy::checked_limit(total);
        return *this;
    }
    /// The longest silence: progress starts it anew. *Errors*: errc::invalid_argument for zero.
    call_options& idle_timeout(duration silence)
    {
        idle_ = policy::checked_limit(silence);
        return *this;
    }
    /// Told of progress, in order and one at a time: a plain function, or a coroutine returning `task<void>`. While a
    /// coroutine is behind, only the newest notice waits; after the call has ended none is delivered.
    template <class F>
    call_options& on_progress(F handler)
    {
        progress_ = detail::notice_handler<progress>(std::move(handler));
        return *this;
    }

    // For the library.
    const std::optional<duration>& total() const { return total_; }
    const std::optional<duration>& idle() const { return idle_; }
    const detail::notice_handler<progress>& progress_handler() const { return progress_; }

private:
    std::optional<duration> total_;
    std::optional<duration> idle_;
    detail::notice_handler<progress> progress_;
};

} // namespace comcp::inline COMCP_ABI
