// SPDX-License-Identifier: MIT
//
// The id of a JSON-RPC request: a string or an integer, kept as the text that was received, so that it goes back
// exactly as it came. Not a number to calculate with, and never null, a fraction or a bool.
#pragma once

#include <comcp/config.hpp>
#include <comcp/json/write.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
        write_integer(text_, number);
    }

    static id string(std::string text) { return id(std::move(text), true); }

    /// An integer of any size. The text must be one as JSON writes it; for text of a peer use `from_number`.
    static id integer_text(std::string digits) { return id(std::move(digits), false); }

    /// Becomes such an integer, in the memory that is there.
    void set_integer_text(std::string_view digits)
    {
        text_ = digits;
        is_string_ = false;
    }

    /// The id that a JSON number is. A fraction of zeros is dropped, as JSON Schema calls 1.0 an integer; anything else
    /// that is not a plain integer is no id.
    static std::optional<id> from_number(std::string_view number);

    bool is_string() const noexcept { return is_string_; }

    /// The characters of the string or the digits of the integer.
    std::string_view text() const noexcept { return text_; }

    /// The value of an integer id that fits.
    std::optional<std::int64_t> integer() const noexcept { return is_string_ ? std::nullopt : decimal(); }

    /// Like `integer()`, but also for a string that is the plain decimal form of an integer: some peers answer `0`
    /// with `"0"`.
    std::optional<std::int64_t> decimal() const noexcept;

    /// Appends the id as JSON, exactly as it was received.
    void write(std::string& out) const;

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

#if !defined(COMCP_SEPARATE)
#include <comcp/rpc/impl/id.ipp>
#endif
