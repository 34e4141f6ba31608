// SPDX-License-Identifier: MIT
//
// The token with which a peer's request asks for progress. Not for the tokens of our own requests: those are
// their ids.
#pragma once

#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/rpc/message.hpp>

#include <optional>
#include <string>

namespace comcp::inline COMCP_ABI::detail
{

/// Exact also for an integer that no integer type holds: it is sent back as it came.
inline std::optional<progress_token> progress_token_of(const rpc::message& request)
{
    const json::object* meta = request.params ? object_member(*request.params, "_meta") : nullptr;
    const json::value* token = meta ? member(*meta, "progressToken") : nullptr;
    if (!token) return std::nullopt;
    if (const json::string* text = token->if_string())
        return progress_token::string(std::string(text->data(), text->size()));
    if (token->is_int64()) return progress_token(token->get_int64());
    if (token->is_uint64()) return progress_token(token->get_uint64());
    if (!token->is_double()) return std::nullopt;
    auto digits = member_source(request.text, "params");
    if (digits) digits = member_source(*digits, "_meta");
    if (digits) digits = member_source(*digits, "progressToken");
    return digits ? rpc::id::from_number(*digits) : std::nullopt;
}

} // namespace comcp::inline COMCP_ABI::detail
