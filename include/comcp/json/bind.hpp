// SPDX-License-Identifier: MIT
//
// From a JSON value to a described struct, strictly, and with every mistake named at once: a model that called a tool
// with bad arguments can then repair all of them. It accepts what the schema (schema.hpp) says. Not for lenient wire
// fields: those are read with the accessors of value.hpp.
#pragma once

#include <comcp/json/defaults.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/write.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
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

    void add(std::string pointer, std::string text);

    bool empty() const noexcept { return count_ == 0; }
    /// A further one would only be counted.
    bool full() const noexcept { return count_ >= most; }
    /// How many there were, also those that are not kept.
    std::size_t count() const noexcept { return count_; }
    const std::vector<bind_error>& entries() const noexcept { return entries_; }

    /// For the model: one line each, like `/times: expected integer, got string`.
    std::string text() const;

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

void report_type(const bind_scope& scope, const char* expected, const json::value& value);

/// Reads a whole number of any JSON spelling (`3`, `3.0`, `3e0`) between two bounds, as the bits of a 64-bit integer.
bool read_integer(const json::value& value, std::int64_t lowest, std::uint64_t highest, std::uint64_t& bits,
                  const bind_scope& scope);

bool read_number(const json::value& value, double greatest, double& out, const bind_scope& scope);

bool read_string(const json::value& value, std::string_view& out, const bind_scope& scope);

bool read_enumerator(const json::value& value, std::span<const enumerator_info> all, std::uint64_t& out,
                     const bind_scope& scope);

using bind_function = void (*)(const json::value& value, void* out, const bind_scope& scope);

template <class T>
void bind_erased(const json::value& value, void* out, const bind_scope& scope);

template <class... Member>
struct bind_table
{
    static constexpr std::array<bind_function, sizeof...(Member)> functions{&bind_erased<Member>...};
};

void bind_members(const json::value& value, void* out, const struct_facts& facts, const bind_function* functions,
                  const bind_scope& scope);

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
        bind_members(value, place, facts_of<T>(), layout<T>::template apply<bind_table>::functions.data(), scope);
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

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/bind.ipp>
#endif
