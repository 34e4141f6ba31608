// SPDX-License-Identifier: MIT
//
// Reading completions: see protocol/completion.hpp.
#pragma once

#include <comcp/protocol/completion.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<completion_request> read_completion_request(const json::object& from)
{
    const auto refuse = [](const char* what) { return fail(errc::invalid_argument, what); };
    const json::object* reference = object_member(from, "ref");
    if (!reference) return refuse("ref must be an object");
    const json::object* argument = object_member(from, "argument");
    if (!argument) return refuse("argument must be an object");

    completion_request read;
    const std::string_view type = string_member(*reference, "type").value_or(std::string_view());
    if (type == "ref/prompt") {
        const auto name = string_member(*reference, "name");
        if (!name) return refuse("ref.name must be a string");
        read.reference = completion_reference::prompt(std::string(*name));
    } else if (type == "ref/resource") {
        const auto uri = string_member(*reference, "uri");
        if (!uri) return refuse("ref.uri must be a string");
        read.reference = completion_reference::resource(std::string(*uri));
    } else {
        return refuse("ref.type must be ref/prompt or ref/resource");
    }
    const auto name = string_member(*argument, "name");
    if (!name) return refuse("argument.name must be a string");
    const auto value = string_member(*argument, "value");
    if (!value) return refuse("argument.value must be a string");
    read.argument = *name;
    read.value = *value;

    const json::object* context = object_member(from, "context");
    const json::object* known = context ? object_member(*context, "arguments") : nullptr;
    if (known) {
        for (const json::key_value_pair& item : *known) {
            const json::string* text = item.value().if_string();
            if (text) {
                read.context.emplace(std::string_view(item.key().data(), item.key().size()),
                                     std::string_view(text->data(), text->size()));
            }
        }
    }
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"ref", "argument", "context", "_meta"});
    read.reference_extra = detail::unknown_members(*reference, {"type", type == "ref/prompt" ? "name" : "uri"});
    read.argument_extra = detail::unknown_members(*argument, {"name", "value"});
    if (context) read.context_extra = detail::unknown_members(*context, {"arguments"});
    return read;
}

COMCP_DECL void completion::cap()
{
    if (values.size() <= max_completions) return;
    if (!total) total = static_cast<std::int64_t>(values.size());
    has_more = true;
    values.resize(max_completions);
}

COMCP_DECL completion read_completion(const json::object& from)
{
    completion read;
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"completion", "_meta"});
    const json::object* inner = object_member(from, "completion");
    if (!inner) return read;
    read.values_extra = detail::unknown_members(*inner, {"values", "total", "hasMore"});
    read.total = integer_member(*inner, "total");
    read.has_more = bool_member(*inner, "hasMore");
    if (const json::array* items = array_member(*inner, "values")) {
        for (const json::value& item : *items) {
            const json::string* text = item.if_string();
            if (!text) continue;
            if (read.values.size() == max_completions) {
                read.has_more = true;
                break;
            }
            read.values.emplace_back(text->data(), text->size());
        }
    }
    return read;
}

} // namespace comcp::inline COMCP_ABI
