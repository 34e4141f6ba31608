// SPDX-License-Identifier: MIT
//
// The id of a JSON-RPC request: a string or an integer, kept as the text that was received, so that it goes back
// exactly as it came. Not a number to calculate with, and never null, a fraction or a bool.
#pragma once

#include <comcp/config.hpp>
#include <comcp/json/write.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace comcp::inline COMCP_ABI::rpc
{

/// A request id. `1` and `"1"` are different ids. Integers of up to 15 digits need no allocation.
class id
{
public:
    id() : text_(1, '0') {}

    template <std::integral Int>
        requires(!std::same_as<Int, bool>)
    id(Int number)
    {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        text_.assign(digits, static_cast<std::size_t>(end - digits));
    }

    static id string(std::string text) { return id(std::move(text), true); }

    /// An integer of any size. The text must be one as JSON writes it; for text of a peer use `from_number`.
    static id integer_text(std::string digits) { return id(std::move(digits), false); }

    /// The id that a JSON number is. A fraction of zeros is dropped, as JSON Schema calls 1.0 an integer; anything else
    /// that is not a plain integer is no id.
    static std::optional<id> from_number(std::string_view number)
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

    bool is_string() const noexcept { return is_string_; }

    /// The characters of the string or the digits of the integer.
    std::string_view text() const noexcept { return text_; }

    /// The value of an integer id that fits.
    std::optional<std::int64_t> integer() const noexcept { return is_string_ ? std::nullopt : decimal(); }

    /// Like `integer()`, but also for a string that is the plain decimal form of an integer: some peers answer `0`
    /// with `"0"`.
    std::optional<std::int64_t> decimal() const noexcept
    {
        std::int64_t value = 0;
        const char* const end = text_.data() + text_.size();
        const auto [stop, error] = std::from_chars(text_.data(), end, value);
        if (error != std::errc() || stop != end) return std::nullopt;
        const std::string_view digits = text().substr(value < 0 ? 1 : 0);
        if (digits.front() == '-' || (digits.size() > 1 && digits.front() == '0')) return std::nullopt; // "-0", "007"
        return value;
    }

    /// Appends the id as JSON, exactly as it was received.
    void write(std::string& out) const
    {
        if (is_string_) {
            write_string(out, text_);
        } else {
            out += text_;
        }
    }

    std::size_t hash() const noexcept { return std::hash<std::string_view>()(text_) ^ (is_string_ ? 1U : 0U); }

    friend bool operator==(const id& a, const id& b) noexcept
    {
        return a.is_string_ == b.is_string_ && a.text_ == b.text_;
    }

private:
    id(std::string text, bool is_string) : text_(std::move(text)), is_string_(is_string) {}

    std::string text_;
    bool is_string_ = false;
};

} // namespace comcp::inline COMCP_ABI::rpc

template <>
struct std::hash<comcp::rpc::id>
{
    std::size_t operator()(const comcp::rpc::id& value) const noexcept { return value.hash(); }
};
