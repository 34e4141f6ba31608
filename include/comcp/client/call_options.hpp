// SPDX-License-Identifier: MIT
//
// What one call of a client may set for itself: its time, its progress callback, its `_meta`.
#pragma once

#include <comcp/client/notice_handler.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/protocol/progress.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI
{

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
    /// `_meta` of the request. A progress token in it gives way to the one of the call itself, when that has one.
    call_options& meta(json::object members)
    {
        meta_ = std::move(members);
        return *this;
    }
    /// The request may be made once more when its connection broke and it may have run: what policies know as
    /// `replay_facts::opted_in`.
    call_options& may_repeat(bool allowed = true)
    {
        may_repeat_ = allowed;
        return *this;
    }

    // For the library.
    bool repeats() const { return may_repeat_; }
    const detail::notice_handler<progress>& progress_handler() const { return progress_; }
    const json::object& meta() const { return meta_; }
    /// What the policy gives, changed by what was set here.
    call_timeouts within(call_timeouts times) const
    {
        if (total_) times = call_timeouts{*total_, std::min(times.idle, *total_)};
        if (idle_) times.idle = *idle_;
        return times;
    }

private:
    std::optional<duration> total_;
    std::optional<duration> idle_;
    detail::notice_handler<progress> progress_;
    json::object meta_;
    bool may_repeat_ = false;
};

} // namespace comcp::inline COMCP_ABI
