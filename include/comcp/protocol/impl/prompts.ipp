// SPDX-License-Identifier: MIT
//
// Reading prompts: see protocol/prompts.hpp.
#pragma once

#include <comcp/protocol/prompts.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<prompt> read_prompt(const json::value& from)
{
    const json::object* object = from.if_object();
    if (!object) return fail(errc::invalid_message, "a prompt that is not an object");
    const auto name = string_member(*object, "name");
    if (!name) return fail(errc::invalid_message, "a prompt without a name");
    prompt read(std::string(*name), detail::text_member(*object, "description"));
    read.title = detail::text_member(*object, "title");
    if (const json::array* items = array_member(*object, "arguments")) {
        for (const json::value& item : *items) {
            const json::object* argument = item.if_object();
            const auto called = argument ? string_member(*argument, "name") : std::nullopt;
            if (!called) continue;
            if (read.arguments.size() == max_prompt_arguments) break;
            prompt_argument& one =
                read.arguments.emplace_back(std::string(*called), detail::text_member(*argument, "description"),
                                            bool_member(*argument, "required").value_or(false));
            one.title = detail::text_member(*argument, "title");
            one.extra = detail::unknown_members(*argument, {"name", "title", "description", "required"});
        }
    }
    read.icons = read_icons(*object);
    read.meta = detail::owned_object_member(*object, "_meta");
    read.extra = detail::unknown_members(*object, {"name", "title", "description", "arguments", "icons", "_meta"});
    return read;
}

namespace detail
{

inline void read_prompt_message(const json::value& from, prompt_result& into)
{
    const json::object* object = from.if_object();
    const json::value* block = object ? member(*object, "content") : nullptr;
    if (!block) {
        into.oddities.push_back("message without content");
        return;
    }
    const auto who = parse_role(string_member(*object, "role").value_or(std::string_view()));
    if (!who) into.oddities.push_back("message whose role is neither user nor assistant");
    const auto add = [&](const json::value& one) {
        if (into.messages.size() >= max_content_blocks) return;
        prompt_message& message = into.messages.emplace_back();
        message.role = who.value_or(role::user);
        message.extra = unknown_members(*object, {"role", "content"});
        read_content(one, message.content, into.oddities);
    };
    // One block is what every revision has; servers that send an array mean one message after the other.
    if (const json::array* several = block->if_array()) {
        into.oddities.push_back("content of a message is an array");
        for (const json::value& one : *several) add(one);
    } else {
        add(*block);
    }
}

} // namespace detail

COMCP_DECL prompt_result read_prompt_result(const json::object& from, std::string_view source)
{
    prompt_result read;
    read.source = source;
    read.description = detail::text_member(from, "description");
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"description", "messages", "_meta"});
    const json::array* items = array_member(from, "messages");
    if (!items) {
        read.oddities.push_back("result without an array of messages");
        return read;
    }
    for (const json::value& item : *items) {
        if (read.messages.size() >= max_content_blocks) {
            read.oddities.push_back("too many messages: the rest is dropped");
            break;
        }
        detail::read_prompt_message(item, read);
    }
    return read;
}

} // namespace comcp::inline COMCP_ABI
