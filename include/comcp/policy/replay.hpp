// SPDX-License-Identifier: MIT
//
// Whether a request whose connection broke is sent again: the policy slot `replay`, its default `only_if_safe`;
// `never` fits too. Nothing may run twice by accident. Not for streams: resuming one repeats no request.
#pragma once

#include <comcp/config.hpp>
#include <comcp/policy/never.hpp>

#include <concepts>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// What is known of a request that got no answer.
struct replay_facts
{
    std::string_view method = {};
    std::string_view tool = {}; ///< empty for other methods than tools/call
    bool sent = true;           ///< false only when it certainly never ran: no connection, or the session was gone
    bool timed_out = false;     ///< a deadline of ours passed
    bool read_only = false;     ///< the request reads only: a listing, or a tool that says so
    bool idempotent = false;    ///< the tool says that a second call changes nothing more
    bool opted_in = false;      ///< the caller allowed it for this request
};

namespace policy
{

/// What the slot `replay` must offer: whether the request is sent again, once, over a new connection.
template <class T>
concept replay = std::copyable<T> && requires(const T& policy, const replay_facts& facts) {
    { policy.resend(facts) } -> std::same_as<bool>;
};

/// The default: what never ran, and what may run twice without harm. Nothing after a timeout, because it may still be
/// running and the time of the caller is over.
struct only_if_safe
{
    bool resend(const replay_facts& facts) const noexcept
    {
        if (facts.timed_out) return false;
        return !facts.sent || facts.read_only || facts.idempotent || facts.opted_in;
    }
};

} // namespace policy
} // namespace comcp::inline COMCP_ABI
