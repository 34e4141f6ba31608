// SPDX-License-Identifier: MIT
//
// How schemas are made: see json/schema.hpp.
#pragma once

#include <comcp/json/schema.hpp>
#include <comcp/json/value.hpp>
#include <comcp/limits.hpp>

#include <boost/json/array.hpp>
#include <boost/json/string_view.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

inline json::string_view json_view(std::string_view text) noexcept { return {text.data(), text.size()}; }

COMCP_DECL json::object simple_schema(std::string_view type)
{
    json::object schema;
    schema["type"] = json_view(type);
    return schema;
}

COMCP_DECL json::object integer_schema(bool is_signed, int bits)
{
    json::object schema = simple_schema("integer");
    // Bounds of wider types would be noise to a model; the binder checks them all the same.
    if (bits <= 16) {
        schema["minimum"] = is_signed ? -(1 << (bits - 1)) : 0;
        schema["maximum"] = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    } else if (!is_signed) {
        schema["minimum"] = 0;
    }
    return schema;
}

COMCP_DECL json::object enum_schema(std::span<const enumerator_info> all)
{
    json::object schema = simple_schema("string");
    json::array names;
    for (const enumerator_info& each : all) names.emplace_back(json_view(each.name));
    schema["enum"] = std::move(names);
    return schema;
}

inline void apply_note(json::object& schema, const field& note)
{
    if (!note.title().empty()) schema["title"] = json_view(note.title());
    if (!note.description().empty()) schema["description"] = json_view(note.description());
    if (!note.format().empty()) schema["format"] = json_view(note.format());
    if (!note.minimum().is_null()) schema["minimum"] = note.minimum();
    if (!note.maximum().is_null()) schema["maximum"] = note.maximum();
    if (note.min_length()) schema["minLength"] = *note.min_length();
    if (note.max_length()) schema["maxLength"] = *note.max_length();
}

COMCP_DECL json::object struct_schema(const struct_facts& facts, const schema_function* functions,
                                      const schema_scope& outer, const notes& extra)
{
    const schema_scope scope{outer.use, std::addressof(facts), &outer};
    json::object schema = simple_schema("object");
    for (const schema_scope* around = scope.outer; around; around = around->outer) {
        if (around->identity == scope.identity) return schema;
    }
    const bool arguments = scope.use == schema_use::arguments;
    json::object properties;
    json::array required;
    for (std::size_t index = 0; index < facts.members.size(); ++index) {
        const std::string_view name = facts.members[index].name;
        const member_default& otherwise = facts.defaults[index];
        json::object property = functions[index](scope);
        const field* note = extra.find(name);
        if (!note) note = facts.beside.find(name);
        if (note) apply_note(property, *note);
        if (arguments && !otherwise.text.empty()) {
            if (auto value = parse_json(otherwise.text, limits().depth)) property["default"] = std::move(*value);
        }
        if (arguments ? otherwise.required : !otherwise.optional) required.emplace_back(json_view(name));
        properties[json_view(name)] = std::move(property);
    }
    if (arguments) schema["additionalProperties"] = false;
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
