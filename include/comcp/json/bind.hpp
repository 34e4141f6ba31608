// SPDX-License-Identifier: MIT
//
// From a JSON value to a described struct, strictly, and with every mistake named at once: a model that called a tool
// with bad arguments can then repair all of them. It accepts what the schema (schema.hpp) says. Not for lenient wire
// fields: those are read with the accessors of value.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/defaults.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/write.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// One mistake: where, as a JSON pointer (RFC 6901; a key of more than 64 code points is cut), and what.
struct bind_error
{
    std::string pointer;
    std::string text;
};

/// The mistakes of one binding. The first 32 are kept, further ones are counted.
class bind_errors
{
public:
    static constexpr std::size_t most = 32;

    void add(std::string pointer, std::string text)
    {
        if (++count_ <= most) entries_.push_back({std::move(pointer), std::move(text)});
    }

    bool empty() const noexcept { return count_ == 0; }
    /// A further one would only be counted.
    bool full() const noexcept { return count_ >= most; }
    /// How many there were, also those that are not kept.
    std::size_t count() const noexcept { return count_; }
    const std::vector<bind_error>& entries() const noexcept { return entries_; }

    /// For the model: one line each, like `/times: expected integer, got string`.
    std::string text() const
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

private:
    std::vector<bind_error> entries_;
    std::size_t count_ = 0;
};

namespace detail
{

/// Where the binder is. The scopes of a nested value are a list on the stack, so that a pointer costs nothing until
/// there is a mistake to report.
struct bind_scope
{
    bind_errors& errors;
    const bind_scope* outer = nullptr;
    std::string_view key = {};
    std::size_t index = 0;
    bool in_array = false;
    const field* note = nullptr;  ///< on the value itself
    const notes* extra = nullptr; ///< on the members of the value

    bind_scope member(std::string_view name, const field* its_note = nullptr) const noexcept
    {
        return {errors, this, name, 0, false, its_note, nullptr};
    }
    bind_scope item(std::size_t at) const noexcept { return {errors, this, {}, at, true, nullptr, nullptr}; }
};

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

inline void report_type(const bind_scope& scope, const char* expected, const json::value& value)
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

/// Reads a whole number of any JSON spelling (`3`, `3.0`, `3e0`) between two bounds, as the bits of a 64-bit integer.
inline bool read_integer(const json::value& value, std::int64_t lowest, std::uint64_t highest, std::uint64_t& bits,
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

inline bool read_number(const json::value& value, double greatest, double& out, const bind_scope& scope)
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

inline bool read_string(const json::value& value, std::string_view& out, const bind_scope& scope)
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

inline bool read_enumerator(const json::value& value, std::span<const enumerator_info> all, std::uint64_t& out,
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

using bind_function = void (*)(const json::value& value, void* out, const bind_scope& scope);

template <class T>
void bind_erased(const json::value& value, void* out, const bind_scope& scope);

template <class... Member>
struct bind_table
{
    static constexpr std::array<bind_function, sizeof...(Member)> functions{&bind_erased<Member>...};
};

/// All that the binding of a struct needs.
struct bind_parts
{
    std::span<const member_info> members;
    const bind_function* functions;
    std::span<const member_default> defaults;
    const notes& beside;
};

inline void report_unknown(const json::object& object, std::span<const member_info> members, const bind_scope& scope)
{
    for (const json::key_value_pair& item : object) {
        const std::string_view key(item.key().data(), item.key().size());
        bool known = false;
        for (const member_info& member : members) known = known || member.name == key;
        if (!known) report(scope.member(key), "unknown member");
    }
}

inline void bind_members(const json::value& value, void* out, const bind_parts& parts, const bind_scope& scope)
{
    const json::object* object = value.if_object();
    if (!object) return report_type(scope, "object", value);
    std::size_t given = 0;
    for (std::size_t index = 0; index < parts.members.size(); ++index) {
        const member_info& member = parts.members[index];
        const bool required = parts.defaults[index].required;
        const json::value* item = object->if_contains(json::string_view(member.name.data(), member.name.size()));
        given += item != nullptr;
        if (!item) {
            if (required) report(scope.member(member.name), "required member is missing");
        } else if (required || !item->is_null()) { // null says the same as nothing where nothing may be said
            const field* note = scope.extra ? scope.extra->find(member.name) : nullptr;
            if (!note) note = parts.beside.find(member.name);
            parts.functions[index](*item, member.address(out), scope.member(member.name, note));
        }
    }
    if (given != object->size()) report_unknown(*object, parts.members, scope);
}

template <class T>
void bind_erased(const json::value& value, void* place, const bind_scope& scope)
{
    T& out = *static_cast<T*>(place);
    if constexpr (std::same_as<T, bool>) {
        if (value.is_bool()) out = value.get_bool();
        else report_type(scope, "boolean", value);
    } else if constexpr (std::integral<T>) {
        static_assert(!is_character<T>, "a character has no JSON form of its own: use a string");
        std::uint64_t bits = 0;
        if (read_integer(value, std::is_signed_v<T> ? static_cast<std::int64_t>(std::numeric_limits<T>::min()) : 0,
                         static_cast<std::uint64_t>(std::numeric_limits<T>::max()), bits, scope))
            out = static_cast<T>(bits);
    } else if constexpr (std::floating_point<T>) {
        constexpr double greatest = sizeof(T) < sizeof(double) ? static_cast<double>(std::numeric_limits<T>::max())
                                                               : std::numeric_limits<double>::max();
        double number = 0;
        if (read_number(value, greatest, number, scope)) out = static_cast<T>(number);
    } else if constexpr (described_enum<T>) {
        std::uint64_t number = 0;
        if (read_enumerator(value, enumerators<T>::all, number, scope)) out = static_cast<T>(number);
    } else if constexpr (std::same_as<T, json::value>) {
        out = value;
    } else if constexpr (std::same_as<T, raw_json>) {
        std::string text;
        write_value(text, value);
        out = raw_json(std::move(text));
    } else if constexpr (std::same_as<T, json::object>) {
        if (const json::object* object = value.if_object()) out = *object;
        else report_type(scope, "object", value);
    } else if constexpr (std::same_as<T, json::array>) {
        if (const json::array* array = value.if_array()) out = *array;
        else report_type(scope, "array", value);
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view> ||
                         std::same_as<T, json::string>) {
        std::string_view text;
        if (read_string(value, text, scope)) out = T(text.data(), text.size());
    } else if constexpr (is_optional<T>) {
        if (value.is_null()) out.reset();
        else bind_erased<typename T::value_type>(value, std::addressof(out.emplace()), scope);
    } else if constexpr (described_struct<T>) {
        bind_members(value, place,
                     bind_parts{layout<T>::members, layout<T>::template apply<bind_table>::functions.data(),
                                defaults_of<T>(), notes_beside<T>()},
                     scope);
    } else if constexpr (string_map<T>) {
        const json::object* object = value.if_object();
        if (!object) return report_type(scope, "object", value);
        out.clear();
        for (const json::key_value_pair& item : *object) {
            const std::string_view key(item.key().data(), item.key().size());
            typename T::mapped_type element{};
            bind_erased<typename T::mapped_type>(item.value(), std::addressof(element), scope.member(key));
            out.emplace(key, std::move(element));
        }
    } else if constexpr (requires(typename T::value_type element) { out.push_back(std::move(element)); }) {
        const json::array* array = value.if_array();
        if (!array) return report_type(scope, "array", value);
        out.clear();
        for (std::size_t index = 0; index < array->size(); ++index) {
            typename T::value_type element{};
            bind_erased<typename T::value_type>((*array)[index], std::addressof(element), scope.item(index));
            out.push_back(std::move(element));
        }
    } else {
        static_assert(always_false<T>, "cannot be bound: is BOOST_DESCRIBE_STRUCT or BOOST_DESCRIBE_ENUM missing?");
    }
}

} // namespace detail

/// Fills `out`, which the caller has default-constructed, from a value; false when `errors` has grown. Then `out` holds
/// the members that were right. Members that are missing, or null, keep their defaults where the schema allows it.
/// `extra` are notes on the members of the outermost struct, which come before those beside it. Members of type
/// `std::string_view` point into the value; all others own their memory.
template <class T>
bool bind(const json::value& value, T& out, bind_errors& errors, const notes* extra = nullptr)
{
    const std::size_t before = errors.count();
    detail::bind_scope scope{errors};
    scope.extra = extra;
    detail::bind_erased<T>(value, std::addressof(out), scope);
    return errors.count() == before;
}

} // namespace comcp::inline COMCP_ABI
