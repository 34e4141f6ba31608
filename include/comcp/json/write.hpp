// SPDX-License-Identifier: MIT
//
// JSON text appended to a string. What is written is always valid JSON in valid UTF-8 on one line, whatever bytes a
// host's strings hold. No values are built on the way: an answer's payload is copied once, from the host's string.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/describe.hpp>
#include <comcp/json/source.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// How a byte stands in a JSON string; of size 0 for the bytes of multi-byte code points. Eight bytes, so that it is
/// copied in one move.
struct escaped_byte
{
    char text[7];
    unsigned char size;
};

inline constexpr std::array<escaped_byte, 256> escaped_bytes = [] {
    std::array<escaped_byte, 256> table{};
    constexpr std::string_view short_forms = "\bb\tt\nn\ff\rr\"\"\\\\";
    for (unsigned byte = 0; byte < 0x80; ++byte) {
        const auto letter = static_cast<char>(byte);
        escaped_byte& entry = table[byte];
        if (byte < 0x20) {
            entry = {{'\\', 'u', '0', '0', byte < 0x10 ? '0' : '1', "0123456789abcdef"[byte % 16]}, 6};
        } else {
            entry = {{letter}, 1};
        }
        for (std::size_t form = 0; form < short_forms.size(); form += 2) {
            if (short_forms[form] == letter) entry = {{'\\', short_forms[form + 1]}, 2};
        }
    }
    return table;
}();

inline const escaped_byte& escape(char letter) noexcept { return escaped_bytes[static_cast<unsigned char>(letter)]; }

/// Whether eight bytes all stand for themselves in a JSON string: no quote, backslash, control, none beyond ASCII.
inline bool plain_8(const char* at) noexcept
{
    constexpr std::uint64_t ones = 0x0101010101010101U;
    std::uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    // Subtracting sets the high bit where a byte is below what is subtracted; a borrow comes only from such a byte.
    const std::uint64_t control = word - ones * 0x20;
    const std::uint64_t quote = (word ^ (ones * '"')) - ones;
    const std::uint64_t backslash = (word ^ (ones * '\\')) - ones;
    return ((control | quote | backslash | word) & (ones * 0x80)) == 0;
}

/// The same of 32 bytes.
inline bool plain_32(const char* at) noexcept
{
#if defined(__SSE2__)
    const auto special = [at](std::ptrdiff_t offset) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + offset));
        const __m128i control = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); // signed: those beyond ASCII as well
        const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        return _mm_or_si128(control, _mm_or_si128(quote, backslash));
    };
    return _mm_movemask_epi8(_mm_or_si128(special(0), special(16))) == 0;
#else
    return plain_8(at) && plain_8(at + 8) && plain_8(at + 16) && plain_8(at + 24);
#endif
}

/// The end of the run that can be copied as it is: plain bytes and well-formed code points.
inline const char* clean_run(const char* at, const char* end) noexcept
{
    for (;;) {
        while (end - at >= 32 && plain_32(at)) at += 32;
        while (end - at >= 8 && plain_8(at)) at += 8;
        while (at != end && escape(*at).size == 1) ++at;
        if (at == end || static_cast<unsigned char>(*at) < 0x80) return at;
        do {
            const std::size_t length = code_point_length(std::string_view(at, static_cast<std::size_t>(end - at)));
            if (length == 1) return at;
            at += length;
        } while (at != end && static_cast<unsigned char>(*at) >= 0x80);
    }
}

/// Appends a block that begins with a byte that must be escaped, up to a multi-byte code point; returns its end.
/// Text with many escapes costs a table look-up for each byte, and one append for each block.
inline const char* write_escaped_block(std::string& out, const char* at, const char* end)
{
    constexpr std::ptrdiff_t most = 128;
    char block[most * 6 + sizeof(escaped_byte)];
    std::size_t used = 0;
    if (end - at > most) end = at + most;
    for (; at != end && escape(*at).size != 0; ++at) {
        std::memcpy(block + used, &escape(*at), sizeof(escaped_byte));
        used += escape(*at).size;
    }
    out.append(block, used);
    return at;
}

} // namespace detail

/// Appends a text as a JSON string, with its quotes. Each byte that is not part of a well-formed code point is replaced
/// by U+FFFD.
inline void write_string(std::string& out, std::string_view text)
{
    const char* at = text.data();
    const char* const end = at + text.size();
    // Exactly as long as a large plain text, a string would be doubled and copied for the bracket that comes next.
    if (text.size() >= 4096) out.reserve(out.size() + text.size() + text.size() / 64 + 64);
    out += '"';
    for (;;) {
        const char* const stop = detail::clean_run(at, end);
        out.append(at, stop);
        if (stop == end) break;
        if (static_cast<unsigned char>(*stop) >= 0x80) {
            out += "\xEF\xBF\xBD";
            at = stop + 1;
        } else {
            at = detail::write_escaped_block(out, stop, end);
        }
    }
    out += '"';
}

inline void write_bool(std::string& out, bool value) { out += value ? "true" : "false"; }

template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
void write_integer(std::string& out, Integer value)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    out.append(digits, end.ptr);
}

namespace detail
{

template <class Floating>
void write_floating(std::string& out, Floating value)
{
    if (!std::isfinite(value)) { // JSON has no word for them
        out += "null";
        return;
    }
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    const std::string_view text(digits, static_cast<std::size_t>(end.ptr - digits));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0"; // stays a number with a fraction for readers
}

} // namespace detail

/// Appends the shortest digits that read back as the same number, with a fraction or an exponent; `null` for NaN and
/// the infinities.
inline void write_double(std::string& out, double value) { detail::write_floating(out, value); }

void write_value(std::string& out, const json::value& value);

/// Appends an array on one line, without spaces.
inline void write_value(std::string& out, const json::array& array)
{
    char before = '[';
    for (const json::value& item : array) {
        out += before;
        before = ',';
        write_value(out, item);
    }
    out += before == '[' ? "[]" : "]";
}

/// Appends an object on one line, without spaces.
inline void write_value(std::string& out, const json::object& object)
{
    char before = '{';
    for (const json::key_value_pair& item : object) {
        out += before;
        before = ',';
        write_string(out, std::string_view(item.key().data(), item.key().size()));
        out += ':';
        write_value(out, item.value());
    }
    out += before == '{' ? "{}" : "}";
}

/// Appends a value on one line, without spaces. It nests as deep as the value does.
inline void write_value(std::string& out, const json::value& value)
{
    switch (value.kind()) {
    case json::kind::null: out += "null"; break;
    case json::kind::bool_: write_bool(out, value.get_bool()); break;
    case json::kind::int64: write_integer(out, value.get_int64()); break;
    case json::kind::uint64: write_integer(out, value.get_uint64()); break;
    case json::kind::double_: write_double(out, value.get_double()); break;
    case json::kind::string:
        write_string(out, std::string_view(value.get_string().data(), value.get_string().size()));
        break;
    case json::kind::array: write_value(out, value.get_array()); break;
    case json::kind::object: write_value(out, value.get_object()); break;
    }
}

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

/// Writes what `value` points at; false when it is an empty optional, which as a member is left out.
using write_function = bool (*)(std::string& out, const void* value);

template <class T>
bool write_erased(std::string& out, const void* value);

template <class... Member>
struct write_table
{
    static constexpr std::array<write_function, sizeof...(Member)> functions{&write_erased<Member>...};
};

inline void write_members(std::string& out, const void* object, std::span<const member_info> members,
                          const write_function* functions)
{
    char before = '{';
    for (std::size_t index = 0; index < members.size(); ++index) {
        const std::size_t start = out.size();
        out += before;
        write_string(out, members[index].name);
        out += ':';
        if (functions[index](out, members[index].address(const_cast<void*>(object)))) before = ',';
        else out.resize(start);
    }
    out += before == '{' ? "{}" : "}";
}

inline void write_enumerator(std::string& out, std::span<const enumerator_info> all, std::uint64_t value)
{
    for (const enumerator_info& each : all) {
        if (each.value == value) return write_string(out, each.name);
    }
    out += "null"; // a value that has no name
}

} // namespace detail

/// Appends a value of the host: numbers, bool, strings, described enums (their names) and structs, optionals (empty:
/// null, and as a member of a struct it is left out), ranges, maps with string keys, Boost.JSON values and raw JSON.
template <class T>
void write_json(std::string& out, const T& value)
{
    if constexpr (std::same_as<T, bool>) {
        write_bool(out, value);
    } else if constexpr (std::same_as<T, std::nullptr_t>) {
        out += "null";
    } else if constexpr (std::integral<T>) {
        static_assert(!detail::is_character<T>, "a character has no JSON form of its own: use a string");
        write_integer(out, value);
    } else if constexpr (std::floating_point<T>) {
        detail::write_floating(out, value);
    } else if constexpr (described_enum<T>) {
        detail::write_enumerator(out, detail::enumerators<T>::all, static_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<T, raw_json>) {
        out += value.text();
    } else if constexpr (std::same_as<T, json::value> || std::same_as<T, json::object> ||
                         std::same_as<T, json::array>) {
        write_value(out, value);
    } else if constexpr (std::same_as<T, json::string>) {
        write_string(out, std::string_view(value.data(), value.size()));
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        write_string(out, value);
    } else if constexpr (detail::is_optional<T>) {
        if (value) write_json(out, *value);
        else out += "null";
    } else if constexpr (described_struct<T>) {
        detail::write_members(out, std::addressof(value), detail::layout<T>::members,
                              detail::layout<T>::template apply<detail::write_table>::functions.data());
    } else if constexpr (detail::string_map<T>) {
        char before = '{';
        for (const auto& [key, item] : value) {
            out += before;
            before = ',';
            write_string(out, key);
            out += ':';
            write_json(out, item);
        }
        out += before == '{' ? "{}" : "}";
    } else if constexpr (std::ranges::input_range<const T>) {
        char before = '[';
        for (auto&& item : value) {
            out += before;
            before = ',';
            write_json<std::ranges::range_value_t<const T>>(out, item); // named: vector<bool> has proxies
        }
        out += before == '[' ? "[]" : "]";
    } else {
        static_assert(detail::always_false<T>, "no JSON form is known: is BOOST_DESCRIBE_STRUCT or _ENUM missing?");
    }
}

template <class T>
bool detail::write_erased(std::string& out, const void* value)
{
    const T& object = *static_cast<const T*>(value);
    if constexpr (is_optional<T>) {
        if (!object) return false;
    }
    write_json(out, object);
    return true;
}

} // namespace comcp::inline COMCP_ABI
