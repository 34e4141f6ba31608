// SPDX-License-Identifier: MIT
//
// Base64 of RFC 4648 section 4 with padding: encode, strict decode, and the decoded size without decoding. Not for the
// URL-safe alphabet and not for line breaks: the strict reader refuses both.
#pragma once

#include <comcp/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

inline constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of each character of the alphabet, 64 for all others.
inline constexpr std::array<std::uint8_t, 256> base64_values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(64);
    for (std::size_t i = 0; i < base64_alphabet.size(); ++i) {
        table[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return table;
}();

inline std::string base64_encode(std::string_view bytes)
{
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    const auto byte = [&](std::size_t i) -> std::uint32_t {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
    };
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
        out += base64_alphabet[group >> 18U];
        out += base64_alphabet[group >> 12U & 63U];
        out += i + 1 < bytes.size() ? base64_alphabet[group >> 6U & 63U] : '=';
        out += i + 2 < bytes.size() ? base64_alphabet[group & 63U] : '=';
    }
    return out;
}

/// The size of what the text decodes to; nothing when the text is not strict base64. Does not allocate.
constexpr std::optional<std::size_t> base64_decoded_size(std::string_view text) noexcept
{
    if (text.size() % 4 != 0) return std::nullopt;
    if (text.empty()) return 0;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    const std::string_view digits = text.substr(0, text.size() - padding);
    std::uint8_t last = 0;
    for (char c : digits) {
        last = base64_values[static_cast<unsigned char>(c)];
        if (last == 64) return std::nullopt;
    }
    // Bits that no byte uses must be zero, else two texts would stand for the same bytes.
    if ((padding == 2 && (last & 15U) != 0) || (padding == 1 && (last & 3U) != 0)) return std::nullopt;
    return text.size() / 4 * 3 - padding;
}

/// The bytes; nothing when the text is not strict base64.
inline std::optional<std::string> base64_decode(std::string_view text)
{
    const std::optional<std::size_t> size = base64_decoded_size(text);
    if (!size) return std::nullopt;
    std::string out;
    out.reserve(*size + 2);
    const auto digit = [&](std::size_t i) -> std::uint32_t {
        return text[i] == '=' ? 0U : base64_values[static_cast<unsigned char>(text[i])];
    };
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const std::uint32_t group = digit(i) << 18U | digit(i + 1) << 12U | digit(i + 2) << 6U | digit(i + 3);
        out += static_cast<char>(group >> 16U & 255U);
        out += static_cast<char>(group >> 8U & 255U);
        out += static_cast<char>(group & 255U);
    }
    out.resize(*size);
    return out;
}

} // namespace comcp::inline COMCP_ABI::detail
