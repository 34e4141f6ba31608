// SPDX-License-Identifier: MIT
//
// JSON text appended to a string. What is written is always valid JSON in valid UTF-8 on one line, whatever bytes a
// host's strings hold. No values are built on the way: an answer's payload is copied once, from the host's string.
#pragma once

#include <comcp/json/describe.hpp>
#include <comcp/json/source.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace comcp::inline COMCP_ABI
{

/// Appends a text as a JSON string, with its quotes. Each byte that is not part of a well-formed code point is replaced
/// by U+FFFD.
void write_string(std::string& out, std::string_view text);

void write_bool(std::string& out, bool value);

namespace detail
{

void write_signed(std::string& out, long long value);
void write_unsigned(std::string& out, unsigned long long value);

// The shortest digits of each type: those of 0.1F are "0.1".
bool write_floating(std::string& out, float value);
bool write_floating(std::string& out, double value);
bool write_floating(std::string& out, long double value);

/// Appends `size` bytes that the caller fills. Not for large texts: they would be written twice.
inline char* grow(std::string& out, std::size_t size)
{
    out.resize(out.size() + size);
    return out.data() + out.size() - size;
}

/// Appends several short texts, looking for room once.
inline void append_all(std::string& out, std::initializer_list<std::string_view> parts)
{
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    char* at = grow(out, size);
    for (const std::string_view part : parts) at = std::copy(part.begin(), part.end(), at);
}

} // namespace detail

namespace detail
{

/// The digits of an integer.
class integer_text
{
public:
    explicit integer_text(std::int64_t value) noexcept;
    operator std::string_view() const noexcept { return {digits_, size_}; }

private:
    char digits_[24];
    std::size_t size_;
};

} // namespace detail

template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
void write_integer(std::string& out, Integer value)
{
    if constexpr (std::is_signed_v<Integer>) detail::write_signed(out, value);
    else detail::write_unsigned(out, value);
}

/// Appends the shortest digits that read back as the same number, with a fraction or an exponent; `null` for NaN and
/// the infinities, and then it is false.
bool write_double(std::string& out, double value);

/// Appends an array on one line, without spaces. False when a number in it was not finite.
bool write_value(std::string& out, const json::array& array);

/// Appends an object on one line, without spaces. False when a number in it was not finite.
bool write_value(std::string& out, const json::object& object);

/// Appends a value on one line, without spaces. It nests as deep as the value does. False when a number in it was not
/// finite.
bool write_value(std::string& out, const json::value& value);

namespace detail
{

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A map from strings to something.
template <class T>
concept string_map =
    std::ranges::input_range<T> && std::convertible_to<const typename T::key_type&, std::string_view> &&
    requires { typename T::mapped_type; };

template <class T>
inline constexpr bool is_character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                                     std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
inline constexpr bool always_false = false;

/// What became of a member.
enum class written : std::uint8_t {
    left_out,   ///< an empty optional
    whole,      ///< as it is
    not_finite, ///< with a null in place of a number that JSON has no word for
};

/// Writes what `value` points at.
using write_function = written (*)(std::string& out, const void* value);

template <class T>
written write_erased(std::string& out, const void* value);

template <class... Member>
struct write_table
{
    static constexpr std::array<write_function, sizeof...(Member)> functions{&write_erased<Member>...};
};

/// False when a number was not finite.
bool write_members(std::string& out, const void* object, std::span<const member_info> members,
                   const write_function* functions);

void write_enumerator(std::string& out, std::span<const enumerator_info> all, std::uint64_t value);

} // namespace detail

/// Appends a value of the host: numbers, bool, strings, described enums (their names) and structs, optionals (empty:
/// null, and as a member of a struct it is left out), ranges, maps with string keys, Boost.JSON values and raw JSON.
/// False when a number was NaN or infinite, which JSON has no word for: then there is `null` in its place.
template <class T>
bool write_json(std::string& out, const T& value)
{
    bool finite = true;
    if constexpr (std::same_as<T, bool>) {
        write_bool(out, value);
    } else if constexpr (std::same_as<T, std::nullptr_t>) {
        out += "null";
    } else if constexpr (std::integral<T>) {
        static_assert(!detail::is_character<T>, "a character has no JSON form of its own: use a string");
        write_integer(out, value);
    } else if constexpr (std::floating_point<T>) {
        finite = detail::write_floating(out, value);
    } else if constexpr (described_enum<T>) {
        detail::write_enumerator(out, detail::enumerators<T>::all, static_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<T, raw_json>) {
        out += value.text();
    } else if constexpr (std::same_as<T, json::value> || std::same_as<T, json::object> ||
                         std::same_as<T, json::array>) {
        finite = write_value(out, value);
    } else if constexpr (std::same_as<T, json::string>) {
        write_string(out, std::string_view(value.data(), value.size()));
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        write_string(out, value);
    } else if constexpr (detail::is_optional<T>) {
        if (value) finite = write_json(out, *value);
        else out += "null";
    } else if constexpr (described_struct<T>) {
        finite = detail::write_members(out, std::addressof(value), detail::layout<T>::members,
                                       detail::layout<T>::template apply<detail::write_table>::functions.data());
    } else if constexpr (detail::string_map<T>) {
        char before = '{';
        for (const auto& [key, item] : value) {
            out += before;
            before = ',';
            write_string(out, key);
            out += ':';
            finite = write_json(out, item) && finite;
        }
        out += before == '{' ? "{}" : "}";
    } else if constexpr (std::ranges::input_range<const T>) {
        char before = '[';
        for (auto&& item : value) {
            out += before;
            before = ',';
            // Named: vector<bool> has proxies.
            finite = write_json<std::ranges::range_value_t<const T>>(out, item) && finite;
        }
        out += before == '[' ? "[]" : "]";
    } else {
        static_assert(detail::always_false<T>, "no JSON form is known: is BOOST_DESCRIBE_STRUCT or _ENUM missing?");
    }
    return finite;
}

template <class T>
detail::written detail::write_erased(std::string& out, const void* value)
{
    const T& object = *static_cast<const T*>(value);
    if constexpr (is_optional<T>) {
        if (!object) return written::left_out;
    }
    return write_json(out, object) ? written::whole : written::not_finite;
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/write.ipp>
#endif
