// SPDX-License-Identifier: MIT
//
// JSON as text: a value that keeps its source, and finding a member's text without building values. Numbers such as
// 1.0, 1E400 or 24 digits survive only as text. The functions trust that the text is valid JSON
// (`parse_json` or `raw_json::checked` have said so); for other text they give a wrong span, but never read outside.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// A JSON value as text, printed as it is. By default `null`.
class raw_json
{
public:
    raw_json() : text_("null") {}

    /// Takes a text that is known to be JSON on one line; `checked` is for any other.
    explicit raw_json(std::string text) noexcept : text_(std::move(text)) {}

    /// Takes a text of unknown origin: refuses what is not JSON (the faults of `parse_json`), and joins its lines.
    static result<raw_json> checked(std::string text, std::size_t depth);

    const std::string& text() const& noexcept { return text_; }
    std::string text() && noexcept { return std::move(text_); }

private:
    std::string text_;
};

namespace detail
{

std::size_t skip_space(std::string_view text, std::size_t at) noexcept;

} // namespace detail

/// The end of the value that begins at `at` (not a space), as an offset in the text.
std::size_t skip_value(std::string_view text, std::size_t at) noexcept;

/// The text of the value of a member of an object, without the spaces around it; nothing when there is no such
/// member. Of a key that is there twice the last value counts, as in a parsed value.
std::optional<std::string_view> member_source(std::string_view object, std::string_view key);

/// The same JSON with quotes around each integer beyond 2^53 - 1, which JavaScript would round or take for a BigInt.
std::string quote_unsafe_integers(std::string_view json);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/source.ipp>
#endif
