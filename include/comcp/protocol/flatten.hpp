// SPDX-License-Identifier: MIT
//
// The text of a result, for a model or a person. A total function: any result in, text out; nothing that came is
// dropped without a word. Not a cap (policy/output_cap.hpp), and not for relaying: a relayed result stays as it is.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/tools.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace comcp::inline COMCP_ABI
{
namespace detail
{

/// The text of one block. Revisions that lack a kind of block get this text in its place.
std::string block_text(const content& block);

/// Appends the JSON of the structured content: as it was received when that is known, so that all digits of numbers are
/// there. False when a number in it was not finite: then there is null in its place.
bool write_structured(std::string& out, const tool_result& from);
std::string structured_text(const tool_result& from);

/// Whether a text block already says all that the structured content does. Servers that wrap a plain value as
/// `{"result": value}` write the plain value as text.
bool text_repeats_structured(const tool_result& from);

} // namespace detail

/// How integers beyond 2^53 - 1 are written in JSON inside of a text.
enum class unsafe_integers : std::uint8_t {
    as_they_are,
    quoted, ///< for JavaScript, which would round them or fail
};

/// All of a result as text, one block after the other, each on lines of its own; then the structured content, unless
/// a text block already says the same. The text is about as long as the result was on the wire, and never cut here
/// but for blocks of a kind that is not known. `how` is for the structured content and for texts that repeat it.
std::string flatten(const tool_result& from, unsafe_integers how = unsafe_integers::as_they_are);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/flatten.ipp>
#endif
