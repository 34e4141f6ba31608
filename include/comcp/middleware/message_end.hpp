// SPDX-License-Identifier: MIT
//
// How a message that passed a chain ended, in one word, for those that count or write it down.
#pragma once

#include <comcp/session/middleware.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// What came of a message on its way.
struct message_end
{
    enum class kind {
        ok,
        tool_error, ///< a tool ran and reported a failure (`isError`)
        error,      ///< a JSON-RPC error, of the peer or of a part
        cancelled,
        failed, ///< no reply: timed out, the peer is gone, a part threw
    };

    kind what = kind::ok;
    std::int64_t code = 0; ///< of `error`
    std::string text;      ///< of `error` and `failed`: written by the peer, a part or the system

    message_end() = default;
    /// What a reply says.
    explicit message_end(const middleware_reply& reply);
    /// What was thrown instead of a reply.
    explicit message_end(std::exception_ptr thrown);
};

/// "ok", "tool_error", "error", "cancelled", "failed".
std::string_view to_string(message_end::kind what);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/message_end.ipp>
#endif
