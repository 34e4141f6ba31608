// SPDX-License-Identifier: MIT
//
// The handshake of the legacy era, 2024-11-05 to 2025-11-25: params and result of `initialize`, and the choice of the
// revision. Not the exchange itself: client and server do that.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::wire
{

/// What stands beside the members below, for relays.
struct handshake_extras
{
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name
};

/// What a client says first.
struct initialize_params
{
    std::string protocol_version; ///< as it was offered; may be anything
    client_capabilities capabilities;
    identity client;
    handshake_extras extras;
};

/// What a server answers.
struct initialize_result
{
    revision version = latest_legacy;
    server_capabilities capabilities;
    identity server;
    std::string instructions; ///< for the model; empty when there were none
    handshake_extras extras;
};

/// The server's choice (B-3, B-4): what was offered when it is known, else the newest revision with a handshake. Never
/// a refusal: `initialize` is a negotiation, and the client decides whether it can speak the answer.
constexpr revision negotiate(std::string_view offered) noexcept
{
    return parse_revision(offered).value_or(latest_legacy);
}

namespace detail
{

// False when a number in them was not finite: then there is null in its place.

bool write_icons(std::string& out, const std::vector<icon>& icons);

/// Appends members that were kept, each with a comma before it, less the one that is named.
bool write_kept(std::string& out, const json::object& members, std::string_view without = {});

void write_identity(std::string& out, const identity& who, revision at);

} // namespace detail

/// Appends the params of `initialize`. `capabilities` is the text of an object.
void write_initialize_params(std::string& out, revision offered, std::string_view capabilities, const identity& client,
                             const handshake_extras& extras = {});

void write_initialize_params(std::string& out, revision offered, const client_capabilities& capabilities,
                             const identity& client, const handshake_extras& extras = {});

/// Reads what a client offers. Nothing is a fault here: what is missing is empty, and an empty version is one that we
/// do not know.
initialize_params read_initialize_params(const json::object& from);

/// Appends the result of `initialize`; empty instructions are left out.
void write_initialize_result(std::string& out, revision chosen, const server_capabilities& capabilities,
                             const identity& server, std::string_view instructions = {},
                             const handshake_extras& extras = {});

/// Reads a server's answer. A version that we do not speak, or none, is a fault that says what was offered: there is
/// no session under a made-up version. Everything else may be missing.
result<initialize_result> read_initialize_result(const json::object& from, revision offered);

} // namespace comcp::inline COMCP_ABI::wire

#if !defined(COMCP_SEPARATE)
#include <comcp/wire/impl/handshake.ipp>
#endif
