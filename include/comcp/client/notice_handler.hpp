// SPDX-License-Identifier: MIT
//
// Callbacks of the host for notices, with their type erased: plain functions and coroutines alike. Not for when they
// are called: notices.hpp decides that.
#pragma once

#include <comcp/protocol/logging.hpp>
#include <comcp/task.hpp>

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// A callback that is a plain function or a coroutine. Plain ones run in place; coroutines one at a time.
template <class... Notice>
class notice_handler
{
public:
    notice_handler() = default;

    template <class F>
        requires std::invocable<F&, const Notice&...> && (!std::same_as<std::decay_t<F>, notice_handler>)
    explicit notice_handler(F function)
    {
        if constexpr (std::same_as<std::invoke_result_t<F&, const Notice&...>, task<void>>) slow_ = std::move(function);
        else plain_ = std::move(function);
    }

    explicit operator bool() const { return plain_ || slow_; }
    bool is_plain() const { return static_cast<bool>(plain_); }
    void call(const Notice&... notice) const { plain_(notice...); }
    /// The notice must live until the coroutine has ended.
    task<void> call_slow(const Notice&... notice) const { return slow_(notice...); }

private:
    std::function<void(const Notice&...)> plain_;
    std::function<task<void>(const Notice&...)> slow_;
};

/// Who is told of what, beside the progress of a call.
struct notice_handlers
{
    notice_handler<log_message> log;
    notice_handler<std::string> resource_updated;     ///< its URI
    notice_handler<std::string> elicitation_complete; ///< its id
    notice_handler<> tools_changed;
    notice_handler<> resources_changed;
    notice_handler<> prompts_changed;
};

} // namespace comcp::inline COMCP_ABI::detail
