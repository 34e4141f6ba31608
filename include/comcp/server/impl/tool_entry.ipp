// SPDX-License-Identifier: MIT
//
// What a tool makes of a call: see server/tool_entry.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/server/tool_entry.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// All revisions require `"type":"object"` at the root (F-6): put there when it is missing, and refused when it is
/// another.
inline json::object object_schema(json::object schema, const std::string& of)
{
    const json::value* type = schema.if_contains("type");
    if (!type) {
        json::object typed;
        typed["type"] = "object";
        for (json::key_value_pair& each : schema) typed.emplace(each.key(), std::move(each.value()));
        return typed;
    }
    if (*type != "object")
        throw error(fail(errc::invalid_argument, "a schema of tool \"" + of + "\" has another type than object"));
    return schema;
}

COMCP_DECL tool_entry::tool_entry(comcp::tool described, tool_handler handler)
    : info(std::move(described)),
      handler_(std::move(handler))
{
    if (handler_.described) {
        const struct_facts& facts = handler_.described->facts();
        check_notes(facts.members, notes_, facts.beside).value();
        info.input_schema =
            struct_schema(facts, handler_.described->schema, schema_scope{schema_use::arguments}, notes_);
    } else if (!handler_.raw) {
        info.input_schema["type"] = "object";
        info.input_schema["properties"].emplace_object();
        info.input_schema["additionalProperties"] = false;
    }
    info.input_schema = object_schema(std::move(info.input_schema), info.name);
    if (handler_.output_schema) info.output_schema = handler_.output_schema();
    if (info.output_schema) set_output_schema(std::move(*info.output_schema));
}

COMCP_DECL void tool_entry::set_output_schema(json::object schema)
{
    info.output_schema = object_schema(std::move(schema), info.name);
}

COMCP_DECL void tool_entry::write(std::string& out, const wire::codec& codec, revision at) const
{
    codec.write_tool(out, info, at);
}

COMCP_DECL void tool_entry::describe(std::string name, field note)
{
    const argument_type* described = handler_.described;
    if (!described) throw_fault(fail(errc::invalid_argument, "tool \"" + info.name + "\" has no described arguments"));
    const struct_facts& facts = described->facts();
    notes changed = notes_;
    changed.add(std::move(name), std::move(note));
    check_notes(facts.members, changed, facts.beside).value();
    notes_ = std::move(changed);
    info.input_schema = struct_schema(facts, described->schema, schema_scope{schema_use::arguments}, notes_);
}

COMCP_DECL void tool_entry::call(const handler_call& call, const json::value& arguments) const
{
    handler_call owing = call;
    owing.owes_structure = info.output_schema.has_value();
    run_handler(handler_.run, owing, [&](void* given) { return bind(call, arguments, given); });
}

COMCP_DECL bool tool_entry::bind(const handler_call& call, const json::value& arguments, void* given) const
{
    if (handler_.raw) {
        *static_cast<json::object*>(given) = json::object(arguments.get_object(), json::storage_ptr()); // its own
    } else if (handler_.described) {
        bind_errors errors;
        bind_scope scope{errors};
        scope.extra = &notes_;
        bind_members(arguments, given, handler_.described->facts(), handler_.described->bind, scope);
        if (!errors.empty()) {
            // The model's mistake, told to it, all at once (2025-11-25, tools: F-14).
            call.now().send_failure("invalid arguments:\n" + errors.text());
            return false;
        }
    }
    return true;
}

} // namespace comcp::inline COMCP_ABI::detail
