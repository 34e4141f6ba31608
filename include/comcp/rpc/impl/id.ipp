// SPDX-License-Identifier: MIT
//
// Ids from and to text: see rpc/id.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/rpc/id.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace comcp::inline COMCP_ABI::rpc
{

COMCP_DECL std::optional<id> id::from_number(std::string_view number)
{
    const auto point = number.find('.');
    const std::string_view whole = number.substr(0, point);
    const std::string_view digits = whole.substr(whole.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    if (point != number.npos) {
        const std::string_view fraction = number.substr(point + 1);
        if (fraction.empty() || fraction.find_first_not_of('0') != fraction.npos) return std::nullopt;
    }
    return whole == "-0" ? id(0) : integer_text(std::string(whole));
}

COMCP_DECL std::optional<std::int64_t> id::decimal() const noexcept
{
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    const std::string_view digits = text().substr(value < 0 ? 1 : 0);
    if (digits.front() == '-' || (digits.size() > 1 && digits.front() == '0')) return std::nullopt; // "-0", "007"
    return value;
}

COMCP_DECL void id::write(std::string& out) const
{
    if (is_string_) {
        write_string(out, text_);
    } else {
        out += text_;
    }
}

} // namespace comcp::inline COMCP_ABI::rpc
