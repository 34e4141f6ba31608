// SPDX-License-Identifier: MIT
//
// Reading and checking sampling: see protocol/sampling.hpp.
#pragma once

#include <comcp/protocol/sampling.hpp>

#include <set>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

inline std::optional<include_context> parse_include_context(std::string_view text)
{
    for (include_context each : {include_context::none, include_context::this_server, include_context::all_servers}) {
        if (to_string(each) == text) return each;
    }
    return std::nullopt;
}

inline std::optional<tool_choice> parse_tool_choice(std::string_view text)
{
    for (tool_choice each : {tool_choice::automatic, tool_choice::required, tool_choice::none}) {
        if (to_string(each) == text) return each;
    }
    return std::nullopt;
}

inline model_preferences read_model_preferences(const json::object& from)
{
    model_preferences read;
    if (const json::array* hints = array_member(from, "hints")) {
        for (const json::value& hint : *hints) {
            const json::object* object = hint.if_object();
            if (!object) continue;
            if (read.hints.size() == max_model_hints) break;
            read.hints.emplace_back(text_member(*object, "name")).extra = unknown_members(*object, {"name"});
        }
    }
    read.cost_priority = number_member(from, "costPriority");
    read.speed_priority = number_member(from, "speedPriority");
    read.intelligence_priority = number_member(from, "intelligencePriority");
    read.extra = unknown_members(from, {"hints", "costPriority", "speedPriority", "intelligencePriority"});
    return read;
}

inline result<sampling_message> read_sampling_message(const json::value& from, std::vector<std::string>& oddities)
{
    const json::object* object = from.if_object();
    if (!object) return fail(errc::invalid_argument, "a message must be an object");
    const auto who = parse_role(string_member(*object, "role").value_or(std::string_view()));
    if (!who) return fail(errc::invalid_argument, "a message's role must be user or assistant");
    const json::value* content = member(*object, "content");
    if (!content) return fail(errc::invalid_argument, "a message must have content");
    sampling_message read;
    read.role = *who;
    read_blocks(*content, &read_sampling_content, read.content, oddities);
    read.meta = owned_object_member(*object, "_meta");
    read.extra = unknown_members(*object, {"role", "content", "_meta"});
    return read;
}

} // namespace detail

COMCP_DECL result<sampling_request> read_sampling_request(const json::object& from)
{
    const json::array* messages = array_member(from, "messages");
    if (!messages) return fail(errc::invalid_argument, "messages must be an array");
    if (messages->size() > max_content_blocks) return fail(errc::invalid_argument, "too many messages");
    const auto most = integer_member(from, "maxTokens");
    if (!most || *most < 0) return fail(errc::invalid_argument, "maxTokens must be a whole number of at least 0");

    sampling_request read;
    read.max_tokens = *most;
    for (const json::value& item : *messages) {
        auto message = detail::read_sampling_message(item, read.oddities);
        if (!message) return std::move(message).error();
        read.messages.push_back(std::move(*message));
    }
    if (const json::object* wish = object_member(from, "modelPreferences")) {
        read.preferences = detail::read_model_preferences(*wish);
    }
    read.system_prompt = detail::text_member(from, "systemPrompt");
    if (const auto text = string_member(from, "includeContext")) {
        read.include_context = detail::parse_include_context(*text);
        if (!read.include_context) read.oddities.push_back("includeContext is not known");
    }
    read.temperature = number_member(from, "temperature");
    read.stop_sequences = read_strings(from, "stopSequences");
    if (const json::object* metadata = object_member(from, "metadata")) read.metadata = detail::owned(*metadata);
    if (const json::array* tools = array_member(from, "tools")) {
        if (tools->size() > max_content_blocks) return fail(errc::invalid_argument, "too many tools");
        for (const json::value& item : *tools) {
            auto one = read_tool(item);
            if (!one) return fail(errc::invalid_argument, std::move(one).error().text);
            read.tools.push_back(std::move(*one));
        }
    }
    if (const json::object* choice = object_member(from, "toolChoice")) {
        // Without a mode it is auto (2025-11-25, schema: ToolChoice).
        const std::string_view mode = string_member(*choice, "mode").value_or("auto");
        read.tool_choice = detail::parse_tool_choice(mode);
        if (!read.tool_choice) return fail(errc::invalid_argument, "toolChoice.mode must be auto, required or none");
        read.tool_choice_extra = detail::unknown_members(*choice, {"mode"});
    }
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra =
        detail::unknown_members(from, {"messages", "maxTokens", "modelPreferences", "systemPrompt", "includeContext",
                                       "temperature", "stopSequences", "metadata", "tools", "toolChoice", "_meta"});
    return read;
}

namespace detail
{

/// Whether a block that was read as `read` has what its type requires; of a type that is not known, nothing is.
inline bool is_whole_block(const json::value& from, const content& read)
{
    const json::object* object = from.if_object();
    if (read.get_if<tool_use_content>()) return object && object_member(*object, "input");
    if (!read.get_if<unknown_content>()) return true;
    const std::string_view type = object ? string_member(*object, "type").value_or("") : "";
    for (const std::string_view known :
         {"", "text", "image", "audio", "resource_link", "resource", "tool_use", "tool_result"})
        if (type == known) return false;
    return true;
}

inline bool are_whole_blocks(const json::value& from, const std::vector<content>& read)
{
    const json::array* items = from.if_array();
    if (!items) return is_whole_block(from, read.front());
    for (std::size_t i = 0; i < read.size(); ++i)
        if (!is_whole_block((*items)[i], read[i])) return false;
    return true;
}

} // namespace detail

COMCP_DECL result<sampling_result> read_sampling_result(const json::object& from)
{
    const auto refuse = [](std::string_view what) {
        return fail(errc::invalid_message, "the answer to a sampling request " + std::string(what));
    };
    const auto who = parse_role(string_member(from, "role").value_or(std::string_view()));
    if (!who) return refuse("is neither the user's nor the assistant's");
    if (!string_member(from, "model")) return refuse("names no model");
    const json::value* content = member(from, "content");
    if (!content) return refuse("has no content");
    sampling_result read;
    read.role = *who;
    detail::read_blocks(*content, &read_sampling_content, read.content, read.oddities);
    if (!detail::are_whole_blocks(*content, read.content)) return refuse("has a malformed block of content");
    read.model = detail::text_member(from, "model");
    read.stop_reason = detail::text_member(from, "stopReason");
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"role", "content", "model", "stopReason", "_meta"});
    return read;
}

namespace detail
{

/// The ids of a message's tool uses and results, and whether it has other blocks.
struct tool_blocks
{
    std::multiset<std::string_view> uses;
    std::multiset<std::string_view> results;
    bool others = false;

    explicit tool_blocks(const sampling_message& message)
    {
        for (const content& block : message.content) {
            if (const auto* use = block.get_if<tool_use_content>()) uses.insert(use->id);
            else if (const auto* given = block.get_if<tool_result_content>()) results.insert(given->tool_use_id);
            else others = true;
        }
    }
};

inline std::string quoted_id(std::string_view id) { return "\"" + std::string(first_code_points(id, 64)) + "\""; }

/// 2025-11-25, sampling, message content constraints: uses and results in balance.
inline std::optional<fault> check_balance(const std::vector<sampling_message>& messages)
{
    const auto refuse = [](std::string what) { return fail(errc::invalid_argument, std::move(what)); };
    std::multiset<std::string_view> waiting;
    for (const sampling_message& message : messages) {
        const tool_blocks blocks(message);
        if (!blocks.uses.empty() && message.role != role::assistant) {
            return refuse("Tool use in a message that is not the assistant's");
        }
        if (!blocks.results.empty()) {
            if (message.role != role::user) return refuse("Tool result in a message that is not the user's");
            if (blocks.others || !blocks.uses.empty()) return refuse("Tool results mixed with other content");
        }
        for (const std::string_view id : blocks.results) {
            if (waiting.find(id) == waiting.end()) {
                return refuse("Tool result " + quoted_id(id) + " without a tool use in the message before");
            }
        }
        for (const std::string_view id : waiting) {
            if (blocks.results.count(id) != waiting.count(id)) {
                return refuse(blocks.results.count(id) == 0 ? "Tool result missing for tool use " + quoted_id(id)
                                                            : "More than one tool result for " + quoted_id(id));
            }
        }
        waiting = blocks.uses;
        for (const std::string_view id : waiting) {
            if (waiting.count(id) > 1) return refuse("Two tool uses with the id " + quoted_id(id));
        }
    }
    if (!waiting.empty()) return refuse("Tool result missing for tool use " + quoted_id(*waiting.begin()));
    return std::nullopt;
}

} // namespace detail

COMCP_DECL std::optional<fault> check_sampling(const sampling_request& request, const client_capabilities& peer)
{
    if (!peer.has("sampling")) return fail(errc::unsupported, "the client does not declare sampling");
    bool has_tools = !request.tools.empty() || request.tool_choice.has_value();
    for (const sampling_message& message : request.messages) {
        const detail::tool_blocks blocks(message);
        has_tools = has_tools || !blocks.uses.empty() || !blocks.results.empty();
    }
    if (has_tools && !peer.has("sampling", "tools")) {
        return fail(errc::unsupported, "the client does not declare sampling.tools");
    }
    return detail::check_balance(request.messages);
}

} // namespace comcp::inline COMCP_ABI
