// SPDX-License-Identifier: MIT
//
// Code points in text that may not be UTF-8: counting them and finding where the n-th begins, so that no cut falls
// inside one. An invalid byte counts as one code point. Not for graphemes, and not for repair.
#pragma once

#include <comcp/config.hpp>

#include <cstddef>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// The length in bytes of the code point that starts at `text[0]`; 1 for an invalid or cut one, 0 for empty text.
constexpr std::size_t code_point_length(std::string_view text) noexcept
{
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    std::size_t length = 0;
    unsigned low = 0x80; // the range of the second byte: excludes overlong forms, surrogates and beyond U+10FFFF
    unsigned high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    } else {
        return 1;
    }
    if (text.size() < length || byte(1) < low || byte(1) > high) return 1;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return 1;
    }
    return length;
}

/// How many code points the text has.
constexpr std::size_t count_code_points(std::string_view text) noexcept
{
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) at += code_point_length(text.substr(at));
    return count;
}

/// The byte offset where code point number `n` (from 0) begins; the size of the text when it has no more than `n`.
constexpr std::size_t code_point_offset(std::string_view text, std::size_t n) noexcept
{
    std::size_t at = 0;
    while (n != 0 && at < text.size()) {
        at += code_point_length(text.substr(at));
        --n;
    }
    return at;
}

/// The first `n` code points.
constexpr std::string_view first_code_points(std::string_view text, std::size_t n) noexcept
{
    return text.substr(0, code_point_offset(text, n));
}

} // namespace comcp::inline COMCP_ABI::detail
