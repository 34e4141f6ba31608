// SPDX-License-Identifier: MIT
//
// Sampling and elicitation in the legacy era, and the `_meta` of requests: see wire/legacy.hpp.
#pragma once

#include <comcp/wire/impl/legacy_content.ipp>
#include <comcp/wire/legacy.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::wire::detail
{

/// Appends `_meta` with a comma before it, unless there is nothing in it.
inline void write_meta(std::string& out, const request_meta& meta)
{
    constexpr std::string_view name = R"(,"_meta":)";
    const std::size_t from = (out += name).size();
    if (meta.token) meta.token->write(out += R"(,"progressToken":)");
    if (meta.members) write_kept(out, *meta.members, meta.token ? "progressToken" : "");
    if (out.size() == from) return out.resize(from - name.size());
    out[from] = '{'; // in place of the comma
    out += '}';
}

/// One block of a sampled conversation: text, image and audio, since 2025-11-25 also the use of tools. Others become
/// text.
inline void write_sampling_block(std::string& out, const content& block, revision at)
{
    const bool has_tools = at >= revision::r2025_11_25;
    const auto* use = block.get_if<tool_use_content>();
    const auto* given = block.get_if<tool_result_content>();
    if (block.get_if<resource_link>() || block.get_if<embedded_resource>() || ((use || given) && !has_tools)) {
        write_string(out += R"({"type":"text","text":)", comcp::detail::block_text(block));
        out += '}';
        return;
    }
    if (!use && !given) return write_block(out, block, at);
    if (use) {
        write_string(out += R"({"type":"tool_use","id":)", use->id);
        write_string(out += R"(,"name":)", use->name);
        write_value(out += R"(,"input":)", use->input);
    } else {
        write_string(out += R"({"type":"tool_result","toolUseId":)", given->tool_use_id);
        out += R"(,"content":)";
        write_array(out, given->content, [&](const content& each) { write_block(out, each, at); });
        if (given->structured) { // an object is required up to 2025-11-25
            const bool is_object = given->structured->is_object();
            out += is_object ? R"(,"structuredContent":)" : R"(,"structuredContent":{"result":)";
            write_value(out, *given->structured);
            if (!is_object) out += '}';
        }
        if (given->is_error) out += R"(,"isError":true)";
    }
    if (block.annotations) write_annotations(out, *block.annotations, at);
    if (!block.meta.empty()) write_value(out += R"(,"_meta":)", block.meta);
    write_kept(out, block.extra);
    out += '}';
}

inline void write_sampling_message(std::string& out, const sampling_message& message, revision at)
{
    const auto begin = [&] { ((out += R"({"role":")") += to_string(message.role)) += R"(","content":)"; };
    if (at >= revision::r2025_11_25) {
        begin();
        if (message.content.size() == 1) write_sampling_block(out, message.content.front(), at);
        else write_array(out, message.content, [&](const content& each) { write_sampling_block(out, each, at); });
        if (!message.meta.empty()) write_value(out += R"(,"_meta":)", message.meta);
        write_kept(out, message.extra);
        out += '}';
        return;
    }
    // One block is all that a message has: several become as many messages of the same role (H-12).
    bool comma = false;
    for (const content& each : message.content) {
        if (comma) out += ',';
        comma = true;
        begin();
        write_sampling_block(out, each, at);
        write_kept(out, message.extra);
        out += '}';
    }
}

inline bool uses_tools(const sampling_request& request)
{
    if (!request.tools.empty() || request.tool_choice) return true;
    for (const sampling_message& message : request.messages) {
        for (const content& block : message.content) {
            if (block.get_if<tool_use_content>() || block.get_if<tool_result_content>()) return true;
        }
    }
    return false;
}

inline void write_model_preferences(std::string& out, const model_preferences& from)
{
    std::string members;
    if (!from.hints.empty()) {
        members += R"(,"hints":)";
        write_array(members, from.hints, [&](const model_hint& each) {
            std::string hint;
            if (!each.name.empty()) write_string(hint += R"(,"name":)", each.name);
            write_kept(hint, each.extra);
            if (hint.empty()) hint += ' ';
            hint.front() = '{';
            (members += hint) += '}';
        });
    }
    if (from.cost_priority) write_number(members += R"(,"costPriority":)", *from.cost_priority);
    if (from.speed_priority) write_number(members += R"(,"speedPriority":)", *from.speed_priority);
    if (from.intelligence_priority) {
        write_number(members += R"(,"intelligencePriority":)", *from.intelligence_priority);
    }
    write_kept(members, from.extra);
    if (members.empty()) members += ' ';
    members.front() = '{';
    ((out += R"(,"modelPreferences":)") += members) += '}';
}

inline result<void> write_sampling_request(std::string& out, const sampling_request& request,
                                           const progress_token* token, revision at)
{
    const bool has_tools = at >= revision::r2025_11_25;
    if (!has_tools && uses_tools(request)) {
        return fail(errc::unsupported, "revision " + std::string(to_string(at)) + " has no tools in sampling");
    }
    out += R"({"messages":[)";
    bool comma = false;
    for (const sampling_message& message : request.messages) {
        if (!has_tools && message.content.empty()) continue;
        if (comma) out += ',';
        comma = true;
        write_sampling_message(out, message, at);
    }
    write_integer(out += R"(],"maxTokens":)", request.max_tokens);
    if (request.preferences) write_model_preferences(out, *request.preferences);
    if (!request.system_prompt.empty()) write_string(out += R"(,"systemPrompt":)", request.system_prompt);
    if (request.include_context) {
        ((out += R"(,"includeContext":")") += to_string(*request.include_context)) += '"';
    }
    if (request.temperature) write_number(out += R"(,"temperature":)", *request.temperature);
    if (!request.stop_sequences.empty()) write_json(out += R"(,"stopSequences":)", request.stop_sequences);
    if (request.metadata) write_value(out += R"(,"metadata":)", *request.metadata);
    if (!request.tools.empty()) {
        out += R"(,"tools":)";
        write_array(out, request.tools, [&](const tool& each) { legacy_codec().write_tool(out, each, at); });
    }
    if (request.tool_choice) {
        ((out += R"(,"toolChoice":{"mode":")") += to_string(*request.tool_choice)) += '"';
        write_kept(out, request.tool_choice_extra);
        out += '}';
    }
    write_meta(out, {token, &request.meta});
    write_kept(out, request.extra);
    out += '}';
    return {};
}

inline void write_sampling_answer(std::string& out, const sampling_result& value, revision at)
{
    ((out += R"({"role":")") += to_string(value.role)) += R"(","content":)";
    if (value.content.size() == 1) {
        write_sampling_block(out, value.content.front(), at);
    } else if (at >= revision::r2025_11_25) {
        write_array(out, value.content, [&](const content& each) { write_sampling_block(out, each, at); });
    } else {
        std::string text;
        for (const content& each : value.content) {
            if (!text.empty()) text += '\n';
            text += comcp::detail::block_text(each);
        }
        write_string(out += R"({"type":"text","text":)", text);
        out += '}';
    }
    write_string(out += R"(,"model":)", value.model);
    if (!value.stop_reason.empty()) write_string(out += R"(,"stopReason":)", value.stop_reason);
    if (!value.meta.empty()) write_value(out += R"(,"_meta":)", value.meta);
    write_kept(out, value.extra);
    out += '}';
}

inline result<void> write_elicitation_request(std::string& out, const elicitation_request& request,
                                              const progress_token* token, revision at)
{
    const bool has_modes = at >= revision::r2025_11_25;
    if (request.mode == elicitation_mode::url) {
        if (!has_modes) {
            return fail(errc::unsupported, "revision " + std::string(to_string(at)) + " has no elicitation by URL");
        }
        if (request.url.empty() || request.elicitation_id.empty()) {
            return fail(errc::invalid_argument, "an elicitation by URL needs a URL and an id");
        }
        write_string(out += R"({"mode":"url","message":)", request.message);
        write_string(out += R"(,"url":)", request.url);
        write_string(out += R"(,"elicitationId":)", request.elicitation_id);
    } else {
        auto schema = form_schema_for(request.requested_schema, at);
        if (!schema) return std::move(schema).error();
        write_string(out += has_modes ? R"({"mode":"form","message":)" : R"({"message":)", request.message);
        write_value(out += R"(,"requestedSchema":)", *schema);
    }
    write_meta(out, {token, &request.meta});
    write_kept(out, request.extra);
    out += '}';
    return {};
}

inline void write_elicitation_answer(std::string& out, const elicitation_result& value, elicitation_mode asked,
                                     revision at)
{
    ((out += R"({"action":")") += to_string(value.action)) += '"';
    if (value.accepted() && asked == elicitation_mode::form) {
        char before = '{';
        out += R"(,"content":)";
        for (const json::key_value_pair& item : value.content) {
            // Arrays are there since 2025-11-25.
            if (at < revision::r2025_11_25 && item.value().is_array()) continue;
            out += before;
            before = ',';
            write_string(out, std::string_view(item.key().data(), item.key().size()));
            write_value(out += ':', item.value());
        }
        out += before == '{' ? "{}" : "}";
    }
    if (!value.meta.empty()) write_value(out += R"(,"_meta":)", value.meta);
    write_kept(out, value.extra);
    out += '}';
}

} // namespace comcp::inline COMCP_ABI::wire::detail
