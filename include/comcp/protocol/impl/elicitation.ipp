// SPDX-License-Identifier: MIT
//
// Reading and checking elicitation: see protocol/elicitation.hpp.
#pragma once

#include <comcp/protocol/elicitation.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<elicitation_request> read_elicitation_request(const json::object& from)
{
    const auto refuse = [](const char* what) { return fail(errc::invalid_argument, what); };
    const auto message = string_member(from, "message");
    if (!message) return refuse("message must be a string");
    // 2025-11-25, elicitation: without a mode it is a form.
    const std::string_view mode = string_member(from, "mode").value_or("form");
    elicitation_request read;
    read.message = *message;
    if (mode == "form") {
        const json::object* schema = object_member(from, "requestedSchema");
        if (!schema) return refuse("requestedSchema must be an object");
        read.requested_schema = detail::owned(*schema);
    } else if (mode == "url") {
        read.mode = elicitation_mode::url;
        read.url = detail::text_member(from, "url");
        read.elicitation_id = detail::text_member(from, "elicitationId");
        if (read.url.empty()) return refuse("url must be a string");
        if (read.elicitation_id.empty()) return refuse("elicitationId must be a string");
    } else {
        return refuse("mode must be form or url");
    }
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"mode", "message", "requestedSchema", "url", "elicitationId", "_meta"});
    return read;
}

COMCP_DECL result<elicitation_result> read_elicitation_result(const json::object& from)
{
    const std::string_view action = string_member(from, "action").value_or(std::string_view());
    for (elicitation_action each :
         {elicitation_action::accept, elicitation_action::decline, elicitation_action::cancel}) {
        if (to_string(each) != action) continue;
        elicitation_result read(each);
        if (read.accepted() && member(from, "content") && !object_member(from, "content"))
            return fail(errc::invalid_message, "the content of an accepted elicitation is no object");
        if (read.accepted()) read.content = detail::owned_object_member(from, "content");
        read.meta = detail::owned_object_member(from, "_meta");
        read.extra = detail::unknown_members(from, {"action", "content", "_meta"});
        return read;
    }
    return fail(errc::invalid_message, "the answer to an elicitation is none of accept, decline and cancel");
}

COMCP_DECL std::optional<fault> check_elicitation(const elicitation_request& request, const client_capabilities& peer)
{
    if (!peer.has("elicitation")) return fail(errc::unsupported, "the client does not declare elicitation");
    const bool url = peer.has("elicitation", "url");
    if (request.mode == elicitation_mode::url) {
        if (!url) return fail(errc::unsupported, "the client does not declare elicitation.url");
    } else if (url && !peer.has("elicitation", "form")) {
        return fail(errc::unsupported, "the client does not declare elicitation.form");
    }
    return std::nullopt;
}

COMCP_DECL std::vector<elicitation_request> url_elicitations(const rpc_error& from)
{
    std::vector<elicitation_request> read;
    const json::object* data = from.code == rpc_code::url_elicitation_required ? from.data.if_object() : nullptr;
    const json::array* items = data ? array_member(*data, "elicitations") : nullptr;
    if (!items) return read;
    for (const json::value& item : *items) {
        if (read.size() == max_url_elicitations) break;
        const json::object* object = item.if_object();
        if (!object) continue;
        auto one = read_elicitation_request(*object);
        if (one && one->mode == elicitation_mode::url) read.push_back(std::move(*one));
    }
    return read;
}

COMCP_DECL json::value url_elicitation_data(const std::vector<elicitation_request>& required)
{
    json::array items;
    for (const elicitation_request& each : required) {
        json::object item;
        item["mode"] = "url";
        item["message"] = each.message;
        item["url"] = each.url;
        item["elicitationId"] = each.elicitation_id;
        for (const json::key_value_pair& more : each.extra) item.emplace(more.key(), more.value());
        if (!each.meta.empty()) item["_meta"] = each.meta;
        items.push_back(std::move(item));
    }
    json::object data;
    data["elicitations"] = std::move(items);
    return json::value(std::move(data));
}

COMCP_DECL std::string read_elicitation_complete(const json::object& from)
{
    return detail::text_member(from, "elicitationId");
}

} // namespace comcp::inline COMCP_ABI
