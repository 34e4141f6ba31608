// SPDX-License-Identifier: MIT
//
// What a server answers to the methods of lists, tools, resources, prompts and completions: see
// server/server_session.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/source.hpp>
#include <comcp/server/listing.hpp>
#include <comcp/server/prompt_entry.hpp>
#include <comcp/server/resource_entry.hpp>
#include <comcp/server/server_session.hpp>
#include <comcp/server/tool_entry.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// A string among the params.
inline std::optional<std::string_view> text_param(const rpc::message& request, std::string_view name)
{
    return request.params ? string_member(*request.params, name) : std::nullopt;
}

COMCP_DECL server_session::on_method server_session::find_method(std::string_view name)
{
    static constexpr served_method methods[] = {
        {method::tools_list, &server_session::on_list_tools},
        {method::resources_read, &server_session::on_read},
        {method::resources_list, &server_session::on_list_resources},
        {method::resources_templates_list, &server_session::on_list_templates},
        {method::resources_subscribe, &server_session::on_subscribe},
        {method::resources_unsubscribe, &server_session::on_unsubscribe},
        {method::prompts_list, &server_session::on_list_prompts},
        {method::prompts_get, &server_session::on_get_prompt},
        {method::completion_complete, &server_session::on_complete},
        {method::logging_set_level, &server_session::on_set_level},
        {method::tools_call, &server_session::on_call},
    };
    for (const served_method& each : methods)
        if (each.name == name) return each.serve;
    return nullptr;
}

COMCP_DECL handler_call server_session::call_of(const rpc::message& request, const answer_route& route,
                                                std::string_view source) const
{
    return {session_, environment_, request, route, core_->handler_executor, source};
}

// ---- lists ---------------------------------------------------------------------------------------------------------

COMCP_DECL void server_session::on_list_tools(const rpc::message& request, const answer_route& route)
{
    on_list(request, route, entry_kind::tool, "tools");
}

COMCP_DECL void server_session::on_list_resources(const rpc::message& request, const answer_route& route)
{
    on_list(request, route, entry_kind::resource, "resources");
}

COMCP_DECL void server_session::on_list_templates(const rpc::message& request, const answer_route& route)
{
    on_list(request, route, entry_kind::resource_template, "resourceTemplates");
}

COMCP_DECL void server_session::on_list_prompts(const rpc::message& request, const answer_route& route)
{
    on_list(request, route, entry_kind::prompt, "prompts");
}

COMCP_DECL void server_session::on_list(const rpc::message& request, const answer_route& route, entry_kind kind,
                                        std::string_view name)
{
    const entry_set& list = offered(kind);
    std::uint64_t after = 0;
    if (const json::value* cursor = request.params ? member(*request.params, "cursor") : nullptr) {
        const json::string* text = cursor->if_string();
        const auto found = text ? read_cursor(kind, {text->data(), text->size()}, list) : std::nullopt;
        if (!found) return refuse(request, route, "no such cursor"); // F-3
        after = *found;
    }
    const page_limits limits{core_->options.page_items, core_->options.page_bytes};
    session_.answer(request.id, route, [&](std::string& out) {
        write_page(out, name, kind, list, after, limits, session_.codec(), session_.spoken());
    });
}

// ---- tools ---------------------------------------------------------------------------------------------------------

COMCP_DECL void server_session::on_call(const rpc::message& request, const answer_route& route)
{
    // 2025-11-25, tools, error handling: an unknown tool and malformed params are protocol errors (F-14).
    const json::value* name = nullptr;
    const json::value* arguments = nullptr;
    if (request.params) {
        name = request.params->if_contains("name");
        arguments = request.params->if_contains("arguments");
    }
    if (!name || !name->is_string()) return refuse(request, route, "the name of the tool is missing");
    if (arguments && arguments->is_null()) arguments = nullptr;
    if (arguments && !arguments->is_object()) return refuse(request, route, "arguments must be an object");

    const std::string_view wanted(name->get_string().data(), name->get_string().size());
    const entry_ptr* found = offered(entry_kind::tool).find(wanted);
    if (!found) return refuse(request, route, "unknown tool: " + std::string(first_code_points(wanted, 128)));

    static const json::value no_arguments = json::object();
    std::string_view source;
    if (environment_->keep_source && arguments)
        if (const auto params = member_source(request.text, "params"))
            source = member_source(*params, "arguments").value_or("");
    static_cast<const tool_entry&>(**found).call(call_of(request, route, source),
                                                 arguments ? *arguments : no_arguments);
}

// ---- resources -----------------------------------------------------------------------------------------------------

COMCP_DECL void server_session::on_read(const rpc::message& request, const answer_route& route)
{
    const auto uri = text_param(request, "uri");
    if (!uri) return refuse(request, route, "the uri is missing");
    const handler_call call = call_of(request, route);
    if (const entry_ptr* found = offered(entry_kind::resource).find(*uri))
        return static_cast<const resource_entry&>(**found).read(call);
    for (const entry_ptr& each : offered(entry_kind::resource_template).all())
        if (each->enabled && static_cast<const template_entry&>(*each).read(call, *uri)) return;
    call.now().send_resource_not_found(*uri);
}

COMCP_DECL bool server_session::has_resource(std::string_view uri)
{
    return offered(entry_kind::resource).find(uri) || template_of(uri);
}

COMCP_DECL const entry_ptr* server_session::template_of(std::string_view uri)
{
    for (const entry_ptr& each : offered(entry_kind::resource_template).all())
        if (each->enabled && static_cast<const template_entry&>(*each).matches(uri)) return &each;
    return nullptr;
}

COMCP_DECL void server_session::on_subscribe(const rpc::message& request, const answer_route& route)
{
    const auto uri = text_param(request, "uri");
    if (!uri) return refuse(request, route, "the uri is missing");
    if (!has_resource(*uri)) return call_of(request, route).now().send_resource_not_found(*uri);
    if (!core_->subscriptions.add(live_, *uri, core_->options.limits.subscriptions))
        return session_.answer_error(&request.id, route, rpc_code::internal_error, "too many subscriptions");
    keep_state();
    answer_nothing(request, route);
}

COMCP_DECL void server_session::on_unsubscribe(const rpc::message& request, const answer_route& route)
{
    const auto uri = text_param(request, "uri");
    if (!uri) return refuse(request, route, "the uri is missing");
    core_->subscriptions.remove(*live_, *uri);
    keep_state();
    answer_nothing(request, route);
}

// ---- prompts and completion ----------------------------------------------------------------------------------------

COMCP_DECL void server_session::on_get_prompt(const rpc::message& request, const answer_route& route)
{
    const auto name = text_param(request, "name");
    if (!name) return refuse(request, route, "the name of the prompt is missing");
    const json::value* arguments = member(*request.params, "arguments");
    if (arguments && !arguments->is_object()) return refuse(request, route, "arguments must be an object");
    const entry_ptr* found = offered(entry_kind::prompt).find(*name);
    if (!found) return refuse(request, route, "unknown prompt: " + std::string(first_code_points(*name, 128)));
    static const json::object no_arguments;
    static_cast<const prompt_entry&>(**found).get(call_of(request, route),
                                                  arguments ? arguments->get_object() : no_arguments);
}

COMCP_DECL void server_session::on_complete(const rpc::message& request, const answer_route& route)
{
    static const json::object no_params;
    const auto asked = read_completion_request(request.params ? *request.params : no_params);
    if (!asked) return refuse(request, route, asked.error().text);
    const std::string& text = asked->reference.text();
    const std::string shown(first_code_points(text, 128));
    const handler_call call = call_of(request, route);
    bool done = false;
    if (asked->reference.type() == completion_reference::kind::prompt) {
        const entry_ptr* found = offered(entry_kind::prompt).find(text);
        if (!found) return refuse(request, route, "unknown prompt: " + shown);
        done = static_cast<const prompt_entry&>(**found).complete(call, *asked);
    } else { // 2025-11-25, completion: a URI, or a template
        const entry_ptr* found = offered(entry_kind::resource_template).find(text);
        if (!found) found = template_of(text);
        if (!found && !offered(entry_kind::resource).find(text))
            return refuse(request, route, "unknown resource: " + shown);
        done = found && static_cast<const template_entry&>(**found).complete(call, *asked);
    }
    if (!done) refuse(request, route, "unknown argument: " + std::string(first_code_points(asked->argument, 128)));
}

} // namespace comcp::inline COMCP_ABI::detail
