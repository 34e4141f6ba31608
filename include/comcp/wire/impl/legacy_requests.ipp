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
inline bool write_meta(std::string& out, const request_meta& meta)
{
    constexpr std::string_view name = R"(,"_meta":)";
    const std::size_t from = (out += name).size();
    if (meta.token) meta.token->write(out += R"(,"progressToken":)");
    const bool finite = !meta.members || write_kept(out, *meta.members, meta.token ? "progressToken" : "");
    if (out.size() == from) {
        out.resize(from - name.size());
        return true;
    }
    out[from] = '{'; // in place of the comma
    out += '}';
    return finite;
}

/// One block of a sampled conversation: text, image and audio, since 2025-11-25 also the use of tools. Others become
/// text.
inline bool write_sampling_block(std::string& out, const content& block, revision at)
{
    const bool has_tools = at >= revision::r2025_11_25;
    const auto* use = block.get_if<tool_use_content>();
    const auto* given = block.get_if<tool_result_content>();
    if (block.get_if<resource_link>() || block.get_if<embedded_resource>() || ((use || given) && !has_tools)) {
        write_string(out += R"({"type":"text","text":)", comcp::detail::block_text(block));
        out += '}';
        return true;
    }
    bool finite = true;
    if (!use && !given) return write_block(out, block, at);
    if (use) {
        write_string(out += R"({"type":"tool_use","id":)", use->id);
        write_string(out += R"(,"name":)", use->name);
        finite = write_value(out += R"(,"input":)", use->input);
    } else {
        write_string(out += R"({"type":"tool_result","toolUseId":)", given->tool_use_id);
        out += R"(,"content":)";
        finite = write_array(out, given->content, [&](const content& each) { return write_block(out, each, at); });
        if (given->structured) { // an object is required up to 2025-11-25
            const bool is_object = given->structured->is_object();
            out += is_object ? R"(,"structuredContent":)" : R"(,"structuredContent":{"result":)";
            finite = write_value(out, *given->structured) && finite;
            if (!is_object) out += '}';
        }
        if (given->is_error) out += R"(,"isError":true)";
    }
    return write_block_end(out, block, at) && finite;
}

inline bool write_sampling_blocks(std::string& out, const std::vector<content>& blocks, revision at)
{
    return write_array(out, blocks, [&](const content& each) { return write_sampling_block(out, each, at); });
}

inline bool write_sampling_message(std::string& out, const sampling_message& message, revision at)
{
    bool finite = true;
    const auto begin = [&] { ((out += R"({"role":")") += to_string(message.role)) += R"(","content":)"; };
    if (at >= revision::r2025_11_25) {
        begin();
        if (message.content.size() == 1) finite = write_sampling_block(out, message.content.front(), at);
        else finite = write_sampling_blocks(out, message.content, at);
        if (!message.meta.empty()) finite = write_value(out += R"(,"_meta":)", message.meta) && finite;
        finite = write_kept(out, message.extra) && finite;
        out += '}';
        return finite;
    }
    // One block is all that a message has: several become as many messages of the same role (H-12).
    bool comma = false;
    for (const content& each : message.content) {
        if (comma) out += ',';
        comma = true;
        begin();
        finite = write_sampling_block(out, each, at) && finite;
        finite = write_kept(out, message.extra) && finite;
        out += '}';
    }
    return finite;
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

inline bool write_model_preferences(std::string& out, const model_preferences& from)
{
    bool finite = true;
    std::string members;
    if (!from.hints.empty()) {
        members += R"(,"hints":)";
        finite = write_array(members, from.hints, [&](const model_hint& each) {
            std::string hint;
            if (!each.name.empty()) write_string(hint += R"(,"name":)", each.name);
            const bool kept = write_kept(hint, each.extra);
            if (hint.empty()) hint += ' ';
            hint.front() = '{';
            (members += hint) += '}';
            return kept;
        });
    }
    const auto priority = [&](std::string_view name, const std::optional<double>& value) {
        if (value) finite = write_number(((members += ",\"") += name) += "Priority\":", *value) && finite;
    };
    priority("cost", from.cost_priority);
    priority("speed", from.speed_priority);
    priority("intelligence", from.intelligence_priority);
    finite = write_kept(members, from.extra) && finite;
    if (members.empty()) members += ' ';
    members.front() = '{';
    ((out += R"(,"modelPreferences":)") += members) += '}';
    return finite;
}

/// What was written since `start` is taken back: JSON has no word for a number in it.
inline fault take_back(std::string& out, std::size_t start)
{
    out.resize(start);
    return fail(errc::invalid_argument, "a number in the request is not finite");
}

inline result<void> write_sampling_request(std::string& out, const sampling_request& request,
                                           const progress_token* token, revision at)
{
    const bool has_tools = at >= revision::r2025_11_25;
    if (!has_tools && uses_tools(request)) {
        return fail(errc::unsupported, "revision " + std::string(to_string(at)) + " has no tools in sampling");
    }
    const std::size_t start = out.size();
    bool finite = true;
    out += R"({"messages":[)";
    bool comma = false;
    for (const sampling_message& message : request.messages) {
        if (!has_tools && message.content.empty()) continue;
        if (comma) out += ',';
        comma = true;
        finite = write_sampling_message(out, message, at) && finite;
    }
    write_integer(out += R"(],"maxTokens":)", request.max_tokens);
    if (request.preferences) finite = write_model_preferences(out, *request.preferences) && finite;
    if (!request.system_prompt.empty()) write_string(out += R"(,"systemPrompt":)", request.system_prompt);
    if (request.include_context) {
        ((out += R"(,"includeContext":")") += to_string(*request.include_context)) += '"';
    }
    if (request.temperature) finite = write_number(out += R"(,"temperature":)", *request.temperature) && finite;
    if (!request.stop_sequences.empty()) write_json(out += R"(,"stopSequences":)", request.stop_sequences);
    if (request.metadata) finite = write_value(out += R"(,"metadata":)", *request.metadata) && finite;
    if (!request.tools.empty()) {
        out += R"(,"tools":)";
        finite = write_array(out, request.tools,
                             [&](const tool& each) { return legacy_codec().write_tool(out, each, at); }) &&
                 finite;
    }
    if (request.tool_choice) {
        ((out += R"(,"toolChoice":{"mode":")") += to_string(*request.tool_choice)) += '"';
        finite = write_kept(out, request.tool_choice_extra) && finite;
        out += '}';
    }
    finite = write_meta(out, {token, &request.meta}) && finite;
    finite = write_kept(out, request.extra) && finite;
    out += '}';
    if (!finite) return take_back(out, start);
    return {};
}

inline bool write_sampling_answer(std::string& out, const sampling_result& value, revision at)
{
    bool finite = true;
    ((out += R"({"role":")") += to_string(value.role)) += R"(","content":)";
    if (value.content.size() == 1) {
        finite = write_sampling_block(out, value.content.front(), at);
    } else if (at >= revision::r2025_11_25) {
        finite = write_sampling_blocks(out, value.content, at);
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
    if (!value.meta.empty()) finite = write_value(out += R"(,"_meta":)", value.meta) && finite;
    finite = write_kept(out, value.extra) && finite;
    out += '}';
    return finite;
}

inline result<void> write_elicitation_request(std::string& out, const elicitation_request& request,
                                              const progress_token* token, revision at)
{
    const bool has_modes = at >= revision::r2025_11_25;
    const std::size_t start = out.size();
    bool finite = true;
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
        finite = write_value(out += R"(,"requestedSchema":)", *schema);
    }
    finite = write_meta(out, {token, &request.meta}) && finite;
    finite = write_kept(out, request.extra) && finite;
    out += '}';
    if (!finite) return take_back(out, start);
    return {};
}

inline bool write_elicitation_answer(std::string& out, const elicitation_result& value, elicitation_mode asked,
                                     revision at)
{
    bool finite = true;
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
            finite = write_value(out += ':', item.value()) && finite;
        }
        out += before == '{' ? "{}" : "}";
    }
    if (!value.meta.empty()) finite = write_value(out += R"(,"_meta":)", value.meta) && finite;
    finite = write_kept(out, value.extra) && finite;
    out += '}';
    return finite;
}

} // namespace comcp::inline COMCP_ABI::wire::detail
