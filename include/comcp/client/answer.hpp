// SPDX-License-Identifier: MIT
//
// What a tool call gives: the typed result, whole, and its text for a model, cut by the client's output cap.
#pragma once

#include <comcp/error.hpp>
#include <comcp/policy/output_cap.hpp>
#include <comcp/protocol/flatten.hpp>
#include <comcp/protocol/tools.hpp>

#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// A result together with the output cap of the client that made the call.
class answer : public tool_result
{
public:
    answer() = default;
    explicit answer(any_output_cap cap) : cap_(std::move(cap)) {}
    answer(tool_result result, any_output_cap cap) : tool_result(std::move(result)), cap_(std::move(cap)) {}

    /// completed, or tool_error when the tool reported a failure.
    comcp::outcome outcome() const { return is_error ? comcp::outcome::tool_error : comcp::outcome::completed; }
    const any_output_cap& cap() const { return cap_; }

private:
    any_output_cap cap_;
};

/// The result as text for a model: all blocks and the structured content, within the cap that the client had.
///
/// *Errors*: errc::too_large under `policy::reject`.
std::string to_text(const answer& of, unsafe_integers how = unsafe_integers::as_they_are);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/answer.ipp>
#endif
