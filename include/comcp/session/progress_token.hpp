// SPDX-License-Identifier: MIT
//
// The token with which a peer's request asks for progress. Not for the tokens of our own requests: those are
// their ids.
#pragma once

#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/rpc/parse.hpp>

#include <optional>

namespace comcp::inline COMCP_ABI::detail
{

/// Exact also for an integer that no integer type holds: it is sent back as it came.
inline std::optional<progress_token> progress_token_of(const rpc::message& request)
{
    const json::object* meta = request.params ? object_member(*request.params, "_meta") : nullptr;
    const json::value* token = meta ? member(*meta, "progressToken") : nullptr;
    return rpc::detail::read_id(token, [&] {
        auto digits = member_source(request.text, "params");
        if (digits) digits = member_source(*digits, "_meta");
        return digits ? member_source(*digits, "progressToken") : std::nullopt;
    });
}

} // namespace comcp::inline COMCP_ABI::detail
