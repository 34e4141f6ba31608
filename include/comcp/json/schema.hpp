// SPDX-License-Identifier: MIT
//
// JSON Schema (2020-12) of a described struct, for a tool's `inputSchema` and `outputSchema`. It says what the binder
// (bind.hpp) accepts and what `write_json` writes. Not a validator of schemas, and no `$ref`: nested structs stand
// where they are used.
#pragma once

#include <comcp/json/defaults.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/write.hpp>

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

json::object simple_schema(std::string_view type);

json::object integer_schema(bool is_signed, int bits);

json::object enum_schema(std::span<const enumerator_info> all);

json::object struct_schema(const struct_facts& facts, const schema_function* functions, const schema_scope& outer,
                           const notes& extra);

template <argument_struct T>
json::object struct_schema(const schema_scope& outer, const notes& extra)
{
    return struct_schema(facts_of<T>(), layout<T>::template apply<schema_table>::functions.data(), outer, extra);
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
/// declaration; which of them are required: see `detail::struct_facts`. Bounds come from notes and from types of 8 and
/// 16 bits; an unsigned type has the minimum 0.
template <argument_struct T>
json::object schema_of(const notes& extra = {}, schema_use use = schema_use::arguments)
{
    return detail::struct_schema<T>(detail::schema_scope{use}, extra);
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/schema.ipp>
#endif
