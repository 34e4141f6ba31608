// SPDX-License-Identifier: MIT
//
// Which revision has which capability and which part of it, as a table, and the writer that sends a peer only what its
// revision knows. Capabilities that no revision names are sent as they are: the sets are open (B-9). Not for acting on
// capabilities.
#pragma once

#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/wire/codec.hpp>

#include <array>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::wire
{

/// One row: a capability, or a part of one when `part` is not empty.
struct capability_info
{
    std::string_view name;
    std::string_view part;
    wire::sender side; ///< who declares it
    revision since;
    revision until;
};

/// The capabilities of the revisions with a handshake (B-7, B-8). `experimental` is anybody's and has no row.
inline constexpr auto legacy_capabilities = [] {
    using enum revision;
    using enum sender;
    constexpr revision first = r2024_11_05;
    constexpr revision last = r2025_11_25;
    return std::to_array<capability_info>({
        {"roots", "", client, first, last},
        {"roots", "listChanged", client, first, last},
        {"sampling", "", client, first, last},
        {"sampling", "context", client, r2025_11_25, last},
        {"sampling", "tools", client, r2025_11_25, last},
        {"elicitation", "", client, r2025_06_18, last},
        {"elicitation", "form", client, r2025_11_25, last},
        {"elicitation", "url", client, r2025_11_25, last},
        {"tools", "", server, first, last},
        {"tools", "listChanged", server, first, last},
        {"resources", "", server, first, last},
        {"resources", "subscribe", server, first, last},
        {"resources", "listChanged", server, first, last},
        {"prompts", "", server, first, last},
        {"prompts", "listChanged", server, first, last},
        {"completions", "", server, r2025_03_26, last},
        {"logging", "", server, first, last},
        {"tasks", "", either, r2025_11_25, last},
    });
}();

/// Appends the object of capabilities as a revision has it: what it lacks is left out. A client that only opens URLs
/// declares no elicitation to a revision that has only forms.
void write_capabilities(std::string& out, const client_capabilities& declared, revision at);
void write_capabilities(std::string& out, const server_capabilities& declared, revision at);

} // namespace comcp::inline COMCP_ABI::wire

#if !defined(COMCP_SEPARATE)
#include <comcp/wire/impl/capabilities.ipp>
#endif
