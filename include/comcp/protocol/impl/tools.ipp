// SPDX-License-Identifier: MIT
//
// Reading tools and results: see protocol/tools.hpp.
#pragma once

#include <comcp/protocol/tools.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<tool> read_tool(const json::value& from)
{
    const json::object* object = from.if_object();
    if (!object) return fail(errc::invalid_message, "a tool that is not an object");
    const auto name = string_member(*object, "name");
    if (!name) return fail(errc::invalid_message, "a tool without a name");
    const json::object* schema = object_member(*object, "inputSchema");
    if (!schema) {
        return fail(errc::invalid_message,
                    "tool \"" + std::string(detail::first_code_points(*name, 128)) + "\" has no object as inputSchema");
    }

    tool read{std::string(*name)};
    read.title = detail::text_member(*object, "title");
    read.description = detail::text_member(*object, "description");
    read.input_schema = detail::owned(*schema);
    if (const json::object* output = object_member(*object, "outputSchema"))
        read.output_schema = detail::owned(*output);
    if (const json::object* hints = object_member(*object, "annotations")) {
        read.annotations = tool_annotations::read(*hints);
    }
    read.icons = read_icons(*object);
    read.meta = detail::owned_object_member(*object, "_meta");
    read.extra = detail::unknown_members(
        *object, {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"});
    return read;
}

namespace detail
{

inline void read_result_content(const json::value& from, tool_result& into)
{
    if (!from.is_array()) into.oddities.push_back("content is not an array");
    if (!from.is_null()) read_blocks(from, &read_content, into.content, into.oddities);
}

} // namespace detail

COMCP_DECL void read_tool_result(const json::object& from, std::string_view source, tool_result& read)
{
    if (!source.empty()) read.source = source;

    // One pass instead of a look-up per member: this is what a client does most.
    const json::value* content = nullptr;
    const json::value* wrapped = nullptr;
    const auto take = [&](const json::object& object) {
        for (const json::key_value_pair& item : object) {
            const std::string_view key(item.key().data(), item.key().size());
            const json::value& value = item.value();
            if (key == "content") {
                content = &value;
            } else if (key == "isError") {
                if (value.is_bool()) {
                    read.is_error = value.get_bool();
                } else if (!value.is_null()) {
                    read.oddities.push_back("isError is not a boolean");
                }
            } else if (key == "structuredContent") {
                if (!value.is_object()) read.oddities.push_back("structuredContent is not an object");
                read.structured = detail::owned(value);
            } else if (key == "_meta") {
                if (value.is_object()) read.meta = detail::owned(value.get_object());
            } else if (key == "toolResult" && &object == &from) {
                wrapped = &value;
            } else {
                read.extra.emplace(item.key(), detail::owned(value));
            }
        }
    };
    take(from);
    // Very old servers wrap the result: {"toolResult": ...}.
    if (!content && wrapped) {
        read.oddities.push_back("result in a toolResult wrapper");
        if (wrapped->is_object()) {
            take(wrapped->get_object());
        } else {
            content = wrapped;
        }
    } else if (wrapped) {
        read.extra.emplace("toolResult", detail::owned(*wrapped));
    }
    if (content) {
        detail::read_result_content(*content, read);
    } else {
        read.oddities.push_back("result without content");
    }
}

COMCP_DECL tool_result read_tool_result(const json::object& from, std::string_view source)
{
    tool_result read;
    read_tool_result(from, source, read);
    return read;
}

} // namespace comcp::inline COMCP_ABI
