// SPDX-License-Identifier: MIT
//
// JSON Schema (2020-12) of a described struct, for a tool's `inputSchema` and `outputSchema`. It says what the binder
// (bind.hpp) accepts and what `write_json` writes. Not a validator of schemas, and no `$ref`: nested structs stand
// where they are used.
#pragma once

#include <comcp/json/defaults.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/value.hpp>
#include <comcp/json/write.hpp>
#include <comcp/limits.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// What a schema is for. Arguments are checked by it: unknown members are refused and members with defaults may be
/// left out. A result is promised by it: all members but empty optionals are there, and more may come in the future.
enum class schema_use {
    arguments,
    result,
};

namespace detail
{

/// The structs around the one whose schema is made: a struct inside of itself is cut short.
struct schema_scope
{
    schema_use use;
    const void* identity = nullptr;
    const schema_scope* outer = nullptr;
};

using schema_function = json::object (*)(const schema_scope& scope);

template <class T>
json::object schema_erased(const schema_scope& scope);

template <class... Member>
struct schema_table
{
    static constexpr std::array<schema_function, sizeof...(Member)> functions{&schema_erased<Member>...};
};

/// All that the schema of a struct is made of.
struct schema_parts
{
    std::span<const member_info> members;
    const schema_function* functions;
    std::span<const member_default> defaults;
    const notes& beside;
};

inline json::string_view json_view(std::string_view text) noexcept { return {text.data(), text.size()}; }

inline json::object simple_schema(std::string_view type)
{
    json::object schema;
    schema["type"] = json_view(type);
    return schema;
}

inline json::object integer_schema(bool is_signed, int bits)
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

inline json::object enum_schema(std::span<const enumerator_info> all)
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
    if (!note.minimum().is_null()) schema["minimum"] = note.minimum();
    if (!note.maximum().is_null()) schema["maximum"] = note.maximum();
    if (note.min_length()) schema["minLength"] = *note.min_length();
    if (note.max_length()) schema["maxLength"] = *note.max_length();
}

inline json::object struct_schema(const schema_parts& parts, const schema_scope& scope, const notes& extra)
{
    json::object schema = simple_schema("object");
    for (const schema_scope* around = scope.outer; around; around = around->outer) {
        if (around->identity == scope.identity) return schema;
    }
    const bool arguments = scope.use == schema_use::arguments;
    json::object properties;
    json::array required;
    for (std::size_t index = 0; index < parts.members.size(); ++index) {
        const std::string_view name = parts.members[index].name;
        const member_default& otherwise = parts.defaults[index];
        json::object property = parts.functions[index](scope);
        const field* note = extra.find(name);
        if (!note) note = parts.beside.find(name);
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

template <argument_struct T>
json::object struct_schema(const schema_scope& outer, const notes& extra)
{
    const schema_scope scope{outer.use, std::addressof(layout<T>::members), &outer};
    return struct_schema(schema_parts{layout<T>::members, layout<T>::template apply<schema_table>::functions.data(),
                                      defaults_of<T>(), notes_beside<T>()},
                         scope, extra);
}

template <class T>
json::object schema_erased(const schema_scope& scope)
{
    if constexpr (std::same_as<T, bool>) {
        return simple_schema("boolean");
    } else if constexpr (std::integral<T>) {
        static_assert(!is_character<T>, "a character has no JSON form of its own: use a string");
        return integer_schema(std::is_signed_v<T>, std::numeric_limits<std::make_unsigned_t<T>>::digits);
    } else if constexpr (std::floating_point<T>) {
        return simple_schema("number");
    } else if constexpr (described_enum<T>) {
        return enum_schema(enumerators<T>::all);
    } else if constexpr (std::same_as<T, json::value> || std::same_as<T, raw_json>) {
        return {}; // anything
    } else if constexpr (std::same_as<T, json::object>) {
        return simple_schema("object");
    } else if constexpr (std::same_as<T, json::array>) {
        return simple_schema("array");
    } else if constexpr (std::same_as<T, json::string> || std::convertible_to<const T&, std::string_view>) {
        return simple_schema("string");
    } else if constexpr (is_optional<T>) {
        return schema_erased<typename T::value_type>(scope);
    } else if constexpr (described_struct<T>) {
        return struct_schema<T>(scope, notes());
    } else if constexpr (string_map<T>) {
        json::object schema = simple_schema("object");
        schema["additionalProperties"] = schema_erased<typename T::mapped_type>(scope);
        return schema;
    } else if constexpr (std::ranges::input_range<T>) {
        json::object schema = simple_schema("array");
        schema["items"] = schema_erased<std::ranges::range_value_t<T>>(scope);
        return schema;
    } else {
        static_assert(always_false<T>, "no schema is known: is BOOST_DESCRIBE_STRUCT or BOOST_DESCRIBE_ENUM missing?");
    }
}

} // namespace detail

/// The schema of a struct, with the notes beside it and those given, which come first. Members stand in the order of
/// declaration; which of them are required: see `detail::defaults_of`. Bounds come from notes and from types of 8 and
/// 16 bits; an unsigned type has the minimum 0.
template <argument_struct T>
json::object schema_of(const notes& extra = {}, schema_use use = schema_use::arguments)
{
    return detail::struct_schema<T>(detail::schema_scope{use}, extra);
}

} // namespace comcp::inline COMCP_ABI
