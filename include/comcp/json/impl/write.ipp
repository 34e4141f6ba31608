// SPDX-License-Identifier: MIT
//
// How JSON is written: see json/write.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/write.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

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

COMCP_DECL void write_string(std::string& out, std::string_view text)
{
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* stop = detail::clean_run(at, end);
    if (stop == end && text.size() <= 64) { // most texts are short and plain
        char* to = detail::grow(out, text.size() + 2);
        *to = '"';
        *std::copy(at, end, to + 1) = '"';
        return;
    }
    // Exactly as long as a large plain text, a string would be doubled and copied for the bracket that comes next.
    if (text.size() >= 4096) out.reserve(out.size() + text.size() + text.size() / 64 + 64);
    out += '"';
    for (;; stop = detail::clean_run(at, end)) {
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

COMCP_DECL void write_bool(std::string& out, bool value) { out += value ? "true" : "false"; }

namespace detail
{

COMCP_DECL integer_text::integer_text(std::int64_t value) noexcept
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr - digits_))
{}

template <class Integer>
void write_digits(std::string& out, Integer value)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    out.append(digits, end.ptr);
}

COMCP_DECL void write_signed(std::string& out, long long value) { write_digits(out, value); }
COMCP_DECL void write_unsigned(std::string& out, unsigned long long value) { write_digits(out, value); }

template <class Floating>
bool write_shortest(std::string& out, Floating value)
{
    if (!std::isfinite(value)) { // JSON has no word for them
        out += "null";
        return false;
    }
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    const std::string_view text(digits, static_cast<std::size_t>(end.ptr - digits));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0"; // stays a number with a fraction for readers
    return true;
}

COMCP_DECL bool write_floating(std::string& out, float value) { return write_shortest(out, value); }
COMCP_DECL bool write_floating(std::string& out, double value) { return write_shortest(out, value); }
COMCP_DECL bool write_floating(std::string& out, long double value) { return write_shortest(out, value); }

} // namespace detail

COMCP_DECL bool write_double(std::string& out, double value) { return detail::write_floating(out, value); }

COMCP_DECL bool write_value(std::string& out, const json::array& array)
{
    bool finite = true;
    char before = '[';
    for (const json::value& item : array) {
        out += before;
        before = ',';
        finite = write_value(out, item) && finite;
    }
    out += before == '[' ? "[]" : "]";
    return finite;
}

COMCP_DECL bool write_value(std::string& out, const json::object& object)
{
    bool finite = true;
    char before = '{';
    for (const json::key_value_pair& item : object) {
        out += before;
        before = ',';
        write_string(out, std::string_view(item.key().data(), item.key().size()));
        out += ':';
        finite = write_value(out, item.value()) && finite;
    }
    out += before == '{' ? "{}" : "}";
    return finite;
}

COMCP_DECL bool write_value(std::string& out, const json::value& value)
{
    switch (value.kind()) {
    case json::kind::null: out += "null"; break;
    case json::kind::bool_: write_bool(out, value.get_bool()); break;
    case json::kind::int64: write_integer(out, value.get_int64()); break;
    case json::kind::uint64: write_integer(out, value.get_uint64()); break;
    case json::kind::double_: return write_double(out, value.get_double());
    case json::kind::string:
        write_string(out, std::string_view(value.get_string().data(), value.get_string().size()));
        break;
    case json::kind::array: return write_value(out, value.get_array());
    case json::kind::object: return write_value(out, value.get_object());
    }
    return true;
}

namespace detail
{

COMCP_DECL bool write_members(std::string& out, const void* object, std::span<const member_info> members,
                              const write_function* functions)
{
    bool finite = true;
    char before = '{';
    for (std::size_t index = 0; index < members.size(); ++index) {
        const std::size_t start = out.size();
        out += before;
        write_string(out, members[index].name);
        out += ':';
        const written how = functions[index](out, members[index].address(const_cast<void*>(object)));
        finite = finite && how != written::not_finite;
        if (how != written::left_out) before = ',';
        else out.resize(start);
    }
    out += before == '{' ? "{}" : "}";
    return finite;
}

COMCP_DECL void write_enumerator(std::string& out, std::span<const enumerator_info> all, std::uint64_t value)
{
    for (const enumerator_info& each : all) {
        if (each.value == value) return write_string(out, each.name);
    }
    out += "null"; // a value that has no name
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
