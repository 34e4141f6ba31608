// SPDX-License-Identifier: MIT
//
// Forms of elicitation: flat schemas (H-22) made of a struct, checked, filled with their defaults, and answers checked
// by them. Pure and total: a malformed schema checks less and never fails. Not a JSON Schema validator: only what a
// form may contain is known.
#pragma once

#include <comcp/json/bind.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/schema.hpp>
#include <comcp/json/value.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// The most members of a form, and the most problems that are told of one answer.
inline constexpr std::size_t max_form_members = 200;
inline constexpr std::size_t max_form_problems = 32;

/// Members that are missing get the default of their schema, when it has one that fits it.
void fill_defaults(const json::object& schema, json::object& content);

/// What is wrong with an answer, one sentence each; empty when nothing is. Checked are: required members, types,
/// choices (`enum`, and `const` of `oneOf` and `anyOf`), ranges, lengths in code points, the formats email, uri, date
/// and date-time as far as their shape goes, and the number of items. Members that the schema does not name may only be
/// strings, numbers, booleans or arrays of strings.
std::vector<std::string> check_form(const json::object& schema, const json::object& content);

/// The schema as a revision can have it. A fault (`errc::invalid_argument`) when it is no flat form, or
/// (`errc::unsupported`) when the revision has no word for a part of it. For 2025-06-18 a choice with titles becomes
/// `enum` with `enumNames`, and defaults and `$schema` are left out, but for the default of a boolean; a choice of
/// several is not there yet. Before 2025-06-18 there are no forms.
result<json::object> form_schema_for(const json::object& schema, revision at);

/// Checks that a schema is a form of the newest revision: `form_schema_for` without the result.
inline std::optional<fault> check_form_schema(const json::object& schema, revision at = latest_legacy)
{
    auto checked = form_schema_for(schema, at);
    if (checked) return std::nullopt;
    return std::move(checked).error();
}

namespace detail
{

template <class T>
inline constexpr bool form_value = std::is_arithmetic_v<T> || described_enum<T> || std::is_same_v<T, std::string>;

template <class T>
inline constexpr bool form_member = form_value<T>;
template <class T>
inline constexpr bool form_member<std::optional<T>> = form_member<T>;
template <class T, class Allocator>
inline constexpr bool form_member<std::vector<T, Allocator>> = described_enum<T>;

template <class... Member>
struct form_members
{
    static constexpr bool all = (form_member<Member> && ...);
};

/// A schema of arguments without what a form has no word for.
json::object flat_schema(json::object schema);

/// The members of an object that are named.
json::object known_members(const json::object& from, std::span<const member_info> members);

/// The fault of an answer that did not bind.
fault unfit_answer(const bind_errors& errors);

} // namespace detail

/// A struct that a form can be made of: its members are strings, booleans, numbers and described enums, optionals of
/// them, and vectors of described enums (a choice of several).
template <class T>
concept form_struct = argument_struct<T> && detail::layout<T>::template apply<detail::form_members>::all;

/// The schema of a form: `form_schema_of<booking>()`. Titles, descriptions, ranges and formats come from notes; a
/// member that is no optional and has no default is required.
template <form_struct T>
json::object form_schema_of(const notes& extra = {})
{
    return detail::flat_schema(schema_of<T>(extra));
}

/// Binds a form's content to the struct. The fault (`errc::invalid_message`) names every member that does not fit.
template <form_struct T>
result<T> bind_form(const json::object& content)
{
    T value{};
    bind_errors errors;
    if (!bind(json::value(detail::known_members(content, detail::layout<T>::members)), value, errors)) {
        return detail::unfit_answer(errors);
    }
    return value;
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/form.ipp>
#endif
