// SPDX-License-Identifier: MIT
//
// How a call is taken in: see server/tool_entry.hpp.
#pragma once

#include <comcp/server/tool_entry.hpp>

#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::shared_ptr<inbound> tool_call::admit() const
{
    auto admitted = owner->admit(request, route);
    if (!admitted || !request.params) return admitted;
    const json::object* meta = object_member(*request.params, "_meta");
    const json::value* token = meta ? member(*meta, "progressToken") : nullptr;
    if (!token) return admitted;
    if (const json::string* text = token->if_string())
        admitted->token = progress_token::string(std::string(text->data(), text->size()));
    else if (token->is_int64()) admitted->token = progress_token(token->get_int64());
    else if (token->is_uint64()) admitted->token = progress_token(token->get_uint64());
    else if (token->is_double()) admitted->token = exact_token();
    return admitted;
}

COMCP_DECL context tool_call::make_context(const std::shared_ptr<inbound>& admitted, bool is_elsewhere) const
{
    context made(environment, admitted, is_elsewhere);
    std::shared_ptr<const std::string> source;
    std::shared_ptr<const json::object> meta;
    if (!arguments_text.empty()) source = std::make_shared<const std::string>(arguments_text);
    if (const json::object* sent = request.params ? object_member(*request.params, "_meta") : nullptr)
        meta = std::make_shared<const json::object>(*sent, json::storage_ptr());
    made.attach(std::move(source), std::move(meta));
    return made;
}

COMCP_DECL std::optional<progress_token> tool_call::exact_token() const
{
    auto text = member_source(request.text, "params");
    if (text) text = member_source(*text, "_meta");
    if (text) text = member_source(*text, "progressToken");
    return text ? rpc::id::from_number(*text) : std::nullopt;
}

} // namespace comcp::inline COMCP_ABI::detail
