// SPDX-License-Identifier: MIT
//
// The binder: see json/bind.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/bind.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL void bind_errors::add(std::string pointer, std::string text)
{
    if (++count_ <= most) entries_.push_back({std::move(pointer), std::move(text)});
}

COMCP_DECL std::string bind_errors::text() const
{
    std::string out;
    for (const bind_error& each : entries_) {
        if (!out.empty()) out += '\n';
        out += each.pointer;
        if (!each.pointer.empty()) out += ": ";
        out += each.text;
    }
    if (count_ > most) out += "\nand " + std::to_string(count_ - most) + " more";
    return out;
}

namespace detail
{

inline void append_pointer(std::string& out, const bind_scope& scope)
{
    if (!scope.outer) return;
    append_pointer(out, *scope.outer);
    out += '/';
    if (scope.in_array) {
        out += std::to_string(scope.index);
        return;
    }
    const std::string_view shown = first_code_points(scope.key, 64);
    for (const char letter : shown) {
        if (letter == '~') out += "~0";
        else if (letter == '/') out += "~1";
        else out += letter;
    }
    if (shown.size() < scope.key.size()) out += "...";
}

inline void report(const bind_scope& scope, std::string text)
{
    std::string pointer;
    if (!scope.errors.full()) append_pointer(pointer, scope);
    scope.errors.add(std::move(pointer), std::move(text));
}

inline const char* type_name(const json::value& value) noexcept
{
    switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::int64:
    case json::kind::uint64: return "integer";
    case json::kind::double_: return "number";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: break;
    }
    return "object";
}

COMCP_DECL void report_type(const bind_scope& scope, const char* expected, const json::value& value)
{
    report(scope, std::string("expected ") + expected + ", got " + type_name(value));
}

inline double as_double(const json::value& number) noexcept
{
    if (number.is_int64()) return static_cast<double>(number.get_int64());
    if (number.is_uint64()) return static_cast<double>(number.get_uint64());
    return number.get_double();
}

/// Whether one number is less than another; integers are compared exactly.
inline bool less_number(const json::value& left, const json::value& right) noexcept
{
    if (left.is_double() || right.is_double()) return as_double(left) < as_double(right);
    if (left.is_int64() && right.is_int64()) return left.get_int64() < right.get_int64();
    if (left.is_int64())
        return left.get_int64() < 0 || static_cast<std::uint64_t>(left.get_int64()) < right.get_uint64();
    if (right.is_int64())
        return right.get_int64() > 0 && left.get_uint64() < static_cast<std::uint64_t>(right.get_int64());
    return left.get_uint64() < right.get_uint64();
}

inline void check_bounds(const bind_scope& scope, const json::value& number)
{
    if (!scope.note) return;
    const json::value& minimum = scope.note->minimum();
    const json::value& maximum = scope.note->maximum();
    std::string text;
    if (!minimum.is_null() && less_number(number, minimum)) {
        text = "must be at least ";
        write_value(text, minimum);
    } else if (!maximum.is_null() && less_number(maximum, number)) {
        text = "must be at most ";
        write_value(text, maximum);
    }
    if (!text.empty()) report(scope, std::move(text));
}

COMCP_DECL bool read_integer(const json::value& value, std::int64_t lowest, std::uint64_t highest, std::uint64_t& bits,
                             const bind_scope& scope)
{
    bool negative = false;
    bool fits = true;
    if (value.is_int64()) {
        negative = value.get_int64() < 0;
        bits = static_cast<std::uint64_t>(value.get_int64());
    } else if (value.is_uint64()) {
        bits = value.get_uint64();
    } else if (value.is_double() && value.get_double() == std::trunc(value.get_double())) {
        const double number = value.get_double();
        negative = number < 0;
        fits = number >= -0x1p63 && number < 0x1p64;
        if (fits)
            bits = negative ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                            : static_cast<std::uint64_t>(number);
    } else {
        report_type(scope, "integer", value);
        return false;
    }
    fits = fits && (negative ? static_cast<std::int64_t>(bits) >= lowest : bits <= highest);
    if (!fits) {
        report(scope, "out of range: must be from " + std::to_string(lowest) + " to " + std::to_string(highest));
        return false;
    }
    check_bounds(scope, value);
    return true;
}

COMCP_DECL bool read_number(const json::value& value, double greatest, double& out, const bind_scope& scope)
{
    if (!value.is_number()) {
        report_type(scope, "number", value);
        return false;
    }
    out = as_double(value);
    if (!(std::abs(out) <= greatest)) { // a number like 1E400 parses as infinity
        report(scope, "out of range");
        return false;
    }
    check_bounds(scope, value);
    return true;
}

COMCP_DECL bool read_string(const json::value& value, std::string_view& out, const bind_scope& scope)
{
    const json::string* text = value.if_string();
    if (!text) {
        report_type(scope, "string", value);
        return false;
    }
    out = std::string_view(text->data(), text->size());
    if (!scope.note) return true;
    const auto least = scope.note->min_length();
    const auto greatest = scope.note->max_length();
    if (!least && !greatest) return true;
    const std::size_t length = count_code_points(out);
    if (least && length < *least) report(scope, "must have at least " + std::to_string(*least) + " characters");
    if (greatest && length > *greatest) report(scope, "must have at most " + std::to_string(*greatest) + " characters");
    return true;
}

COMCP_DECL bool read_enumerator(const json::value& value, std::span<const enumerator_info> all, std::uint64_t& out,
                                const bind_scope& scope)
{
    std::string_view name;
    if (!read_string(value, name, scope)) return false;
    for (const enumerator_info& each : all) {
        if (each.name != name) continue;
        out = each.value;
        return true;
    }
    std::string text = "expected one of";
    const char* before = " ";
    for (const enumerator_info& each : all) {
        text += before;
        text += each.name;
        before = ", ";
    }
    report(scope, std::move(text));
    return false;
}

inline void report_unknown(const json::object& object, std::span<const member_info> members, const bind_scope& scope)
{
    for (const json::key_value_pair& item : object) {
        const std::string_view key(item.key().data(), item.key().size());
        bool known = false;
        for (const member_info& member : members) known = known || member.name == key;
        if (!known) report(scope.member(key), "unknown member");
    }
}

COMCP_DECL void bind_members(const json::value& value, void* out, const struct_facts& facts,
                             const bind_function* functions, const bind_scope& scope)
{
    const json::object* object = value.if_object();
    if (!object) return report_type(scope, "object", value);
    std::size_t given = 0;
    for (std::size_t index = 0; index < facts.members.size(); ++index) {
        const member_info& member = facts.members[index];
        const bool required = facts.defaults[index].required;
        const json::value* item = object->if_contains(json::string_view(member.name.data(), member.name.size()));
        given += item != nullptr;
        if (!item) {
            if (required) report(scope.member(member.name), "required member is missing");
        } else if (required || !item->is_null()) { // null says the same as nothing where nothing may be said
            const field* note = scope.extra ? scope.extra->find(member.name) : nullptr;
            if (!note) note = facts.beside.find(member.name);
            functions[index](*item, member.address(out), scope.member(member.name, note));
        }
    }
    if (given != object->size()) report_unknown(*object, facts.members, scope);
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
