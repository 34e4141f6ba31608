// SPDX-License-Identifier: MIT
//
// How forms are made and checked: see protocol/form.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/protocol/form.hpp>
#include <comcp/protocol/form_format.hpp>
#include <comcp/protocol/read.hpp>

#include <algorithm>
#include <cmath>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// What a member of a form is.
enum class form_kind {
    text,
    choice,
    titled_choice,
    number,
    integer,
    boolean,
    choices,
    titled_choices,
    malformed,
};

inline bool all_strings(const json::array& items)
{
    return std::ranges::all_of(items, [](const json::value& item) { return item.is_string(); });
}

/// Whether these are alternatives of a choice: objects with a text as `const` and one as `title`.
inline bool are_titled(const json::array& items)
{
    return std::ranges::all_of(items, [](const json::value& item) {
        const json::object* object = item.if_object();
        return object && string_member(*object, "const") && string_member(*object, "title");
    });
}

inline form_kind kind_of(const json::object& property)
{
    using enum form_kind;
    const std::string_view type = string_member(property, "type").value_or(std::string_view());
    if (type == "number") return number;
    if (type == "integer") return integer;
    if (type == "boolean") return boolean;
    if (type == "string") {
        if (const json::value* items = property.if_contains("enum")) {
            return items->is_array() && all_strings(items->get_array()) ? choice : malformed;
        }
        if (const json::value* items = property.if_contains("oneOf")) {
            return items->is_array() && are_titled(items->get_array()) ? titled_choice : malformed;
        }
        return text;
    }
    const json::object* item = type == "array" ? object_member(property, "items") : nullptr;
    if (!item) return malformed;
    if (const json::array* items = array_member(*item, "enum")) {
        return string_member(*item, "type") == "string" && all_strings(*items) ? choices : malformed;
    }
    const json::array* items = array_member(*item, "anyOf");
    return items && are_titled(*items) ? titled_choices : malformed;
}

/// The texts of a choice, sorted: a peer may offer many, and answer with many.
class alternatives
{
public:
    explicit alternatives(const json::array& from)
    {
        texts_.reserve(from.size());
        for (const json::value& each : from) {
            const json::value* value = each.is_object() ? each.get_object().if_contains("const") : &each;
            if (const json::string* text = value ? value->if_string() : nullptr) {
                texts_.emplace_back(text->data(), text->size());
            }
        }
        std::ranges::sort(texts_);
    }

    bool contain(const json::string& text) const
    {
        return std::ranges::binary_search(texts_, std::string_view(text.data(), text.size()));
    }

private:
    std::vector<std::string_view> texts_;
};

inline const char* json_type(const json::value& value)
{
    switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
    default: return "number";
    }
}

/// Checks one value; returns what is wrong, or nothing.
class form_checker
{
public:
    explicit form_checker(const json::object& property) : property_(property), kind_(kind_of(property)) {}

    std::string check(const json::value& value) const
    {
        switch (kind_) {
        case form_kind::text:
        case form_kind::choice:
        case form_kind::titled_choice: return check_string(value);
        case form_kind::number:
        case form_kind::integer: return check_number(value);
        case form_kind::boolean: return value.is_bool() ? "" : expected("boolean", value);
        case form_kind::choices:
        case form_kind::titled_choices: return check_array(value);
        case form_kind::malformed: break;
        }
        return {}; // nothing is known about it
    }

private:
    static std::string expected(std::string_view what, const json::value& value)
    {
        return "expected " + std::string(what) + ", got " + json_type(value);
    }

    std::string check_string(const json::value& value) const
    {
        const json::string* given = value.if_string();
        if (!given) return expected("string", value);
        if (kind_ == form_kind::choice || kind_ == form_kind::titled_choice) {
            const json::array* all = array_member(property_, kind_ == form_kind::choice ? "enum" : "oneOf");
            return alternatives(*all).contain(*given) ? "" : "not one of the choices";
        }
        const std::string_view text(given->data(), given->size());
        const auto length = static_cast<std::int64_t>(count_code_points(text));
        const auto least = integer_member(property_, "minLength");
        const auto most = integer_member(property_, "maxLength");
        if (least && length < *least) return "shorter than " + std::to_string(*least) + " characters";
        if (most && length > *most) return "longer than " + std::to_string(*most) + " characters";
        const std::string_view format = string_member(property_, "format").value_or(std::string_view());
        return has_format(text, format) ? "" : "not of the format " + std::string(format);
    }

    std::string check_number(const json::value& value) const
    {
        if (!value.is_number()) return expected(kind_ == form_kind::integer ? "integer" : "number", value);
        const double number = value.is_int64()    ? static_cast<double>(value.get_int64())
                              : value.is_uint64() ? static_cast<double>(value.get_uint64())
                                                  : value.get_double();
        if (!std::isfinite(number)) return "not a finite number";
        if (kind_ == form_kind::integer && number != std::trunc(number)) return "expected integer, got a fraction";
        const auto bound = [this](std::string_view name) {
            std::string text;
            write_value(text, *member(property_, name));
            return text;
        };
        const auto least = number_member(property_, "minimum");
        const auto most = number_member(property_, "maximum");
        if (least && number < *least) return "less than " + bound("minimum");
        if (most && number > *most) return "greater than " + bound("maximum");
        return {};
    }

    std::string check_array(const json::value& value) const
    {
        const json::array* given = value.if_array();
        if (!given) return expected("array", value);
        const auto count = static_cast<std::int64_t>(given->size());
        const auto least = integer_member(property_, "minItems");
        const auto most = integer_member(property_, "maxItems");
        if (least && count < *least) return "fewer than " + std::to_string(*least) + " choices";
        if (most && count > *most) return "more than " + std::to_string(*most) + " choices";
        const alternatives all(
            *array_member(*object_member(property_, "items"), kind_ == form_kind::choices ? "enum" : "anyOf"));
        for (const json::value& item : *given) {
            const json::string* text = item.if_string();
            if (!text) return expected("strings", item);
            if (!all.contain(*text)) return "not one of the choices";
        }
        return {};
    }

    const json::object& property_;
    form_kind kind_;
};

/// 2025-11-25, schema: ElicitResult. What a form's content may hold at all.
inline bool is_form_value(const json::value& value)
{
    return value.is_string() || value.is_number() || value.is_bool() ||
           (value.is_array() && all_strings(value.get_array()));
}

inline json::string_view key_of(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view name_of(const json::key_value_pair& item) { return {item.key().data(), item.key().size()}; }

inline std::string shown_name(std::string_view name) { return std::string(first_code_points(name, 64)); }

/// The member as 2025-06-18 has it; the kind has been checked.
inline json::object as_2025_06_18(const json::object& property, form_kind kind)
{
    json::object made;
    for (const json::key_value_pair& item : property) {
        if (item.key() == "default" && kind != form_kind::boolean) continue;
        if (item.key() == "oneOf" && kind == form_kind::titled_choice) continue;
        made.emplace(item.key(), item.value());
    }
    if (kind == form_kind::titled_choice) {
        json::array names;
        json::array titles;
        for (const json::value& each : *array_member(property, "oneOf")) {
            names.push_back(each.get_object().at("const"));
            titles.push_back(each.get_object().at("title"));
        }
        made["enum"] = std::move(names);
        made["enumNames"] = std::move(titles);
    }
    return made;
}

COMCP_DECL json::object flat_schema(json::object schema)
{
    json::object made;
    for (const json::key_value_pair& item : schema) {
        if (item.key() != "additionalProperties") made.emplace(item.key(), item.value());
    }
    return made;
}

COMCP_DECL json::object known_members(const json::object& from, std::span<const member_info> members)
{
    json::object made;
    for (const member_info& each : members) {
        if (const json::value* found = from.if_contains(key_of(each.name))) made.emplace(key_of(each.name), *found);
    }
    return made;
}

COMCP_DECL fault unfit_answer(const bind_errors& errors)
{
    return fail(errc::invalid_message, "the answer does not fit the form: " + errors.text());
}

} // namespace detail

COMCP_DECL void fill_defaults(const json::object& schema, json::object& content)
{
    const json::object* properties = object_member(schema, "properties");
    if (!properties) return;
    for (const json::key_value_pair& item : *properties) {
        const json::object* property = item.value().if_object();
        const json::value* otherwise = property ? member(*property, "default") : nullptr;
        if (!otherwise || content.contains(item.key()) || !detail::is_form_value(*otherwise)) continue;
        if (detail::form_checker(*property).check(*otherwise).empty()) {
            content.emplace(item.key(), detail::owned(*otherwise));
        }
    }
}

COMCP_DECL std::vector<std::string> check_form(const json::object& schema, const json::object& content)
{
    std::vector<std::string> problems;
    const auto add = [&problems](std::string_view name, std::string_view what) {
        if (problems.size() < max_form_problems) problems.push_back(detail::shown_name(name).append(": ").append(what));
    };
    if (const json::array* required = array_member(schema, "required")) {
        for (const json::value& name : *required) {
            const json::string* text = name.if_string();
            if (text && !content.contains(*text)) add({text->data(), text->size()}, "required member is missing");
        }
    }
    const json::object* properties = object_member(schema, "properties");
    for (const json::key_value_pair& item : content) {
        const std::string_view name = detail::name_of(item);
        const json::object* property = properties ? object_member(*properties, name) : nullptr;
        if (property) {
            const std::string what = detail::form_checker(*property).check(item.value());
            if (!what.empty()) {
                add(name, what);
                continue;
            }
        }
        if (!detail::is_form_value(item.value())) {
            add(name, "expected string, number, boolean or an array of strings");
        }
    }
    return problems;
}

COMCP_DECL result<json::object> form_schema_for(const json::object& schema, revision at)
{
    if (at < revision::r2025_06_18) {
        return fail(errc::unsupported, "revision " + std::string(to_string(at)) + " has no elicitation");
    }
    const auto refuse = [](std::string what) {
        return fail(errc::invalid_argument, "no schema of a form: " + std::move(what));
    };
    const json::object* properties = object_member(schema, "properties");
    if (string_member(schema, "type") != "object" || !properties) {
        return refuse("its type must be object, and properties must be there");
    }
    if (properties->size() > max_form_members) return refuse("too many members");
    if (const json::value* required = schema.if_contains("required")) {
        if (!required->is_array()) return refuse("required must be an array");
        for (const json::value& name : required->get_array()) {
            if (!name.is_string() || !properties->contains(name.get_string())) {
                return refuse("required names a member that does not exist");
            }
        }
    }

    const bool old = at < revision::r2025_11_25;
    json::object members;
    for (const json::key_value_pair& item : *properties) {
        const std::string name = detail::shown_name(detail::name_of(item));
        const json::object* property = item.value().if_object();
        const detail::form_kind kind = property ? detail::kind_of(*property) : detail::form_kind::malformed;
        if (kind == detail::form_kind::malformed) {
            return refuse("member \"" + name + "\" must be a string, number, integer, boolean or a choice of strings");
        }
        const auto format = string_member(*property, "format");
        if (kind == detail::form_kind::text && format && !detail::is_known_format(*format)) {
            return refuse("the format of member \"" + name + "\" must be email, uri, date or date-time");
        }
        if (old && (kind == detail::form_kind::choices || kind == detail::form_kind::titled_choices)) {
            return fail(errc::unsupported, "revision " + std::string(to_string(at)) +
                                               " has no choice of several, as member \"" + name + "\" is");
        }
        members.emplace(item.key(), old ? detail::as_2025_06_18(*property, kind) : detail::owned(*property));
    }
    json::object made;
    for (const json::key_value_pair& item : schema) {
        if (item.key() == "properties") made.emplace("properties", nullptr); // in its place among the others
        else if (!old || item.key() != "$schema") made.emplace(item.key(), detail::owned(item.value()));
    }
    made["properties"] = std::move(members);
    return made;
}

} // namespace comcp::inline COMCP_ABI
