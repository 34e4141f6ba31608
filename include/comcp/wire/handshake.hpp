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

/// What a client says first.
struct initialize_params
{
    std::string protocol_version; ///< as it was offered; may be anything
    client_capabilities capabilities;
    identity client;
};

/// What a server answers.
struct initialize_result
{
    revision version = latest_legacy;
    server_capabilities capabilities;
    identity server;
    std::string instructions; ///< for the model; empty when there were none
};

/// The server's choice (B-3, B-4): what was offered when it is known, else the newest revision with a handshake. Never
/// a refusal: `initialize` is a negotiation, and the client decides whether it can speak the answer.
constexpr revision negotiate(std::string_view offered) noexcept
{
    return parse_revision(offered).value_or(latest_legacy);
}

namespace detail
{

inline void write_icons(std::string& out, const std::vector<icon>& icons)
{
    char before = '[';
    for (const icon& each : icons) {
        out += before;
        before = ',';
        out += R"({"src":)";
        write_string(out, each.src);
        if (!each.mime_type.empty()) write_string(out += R"(,"mimeType":)", each.mime_type);
        if (!each.sizes.empty()) write_json(out += R"(,"sizes":)", each.sizes);
        if (!each.theme.empty()) write_string(out += R"(,"theme":)", each.theme);
        out += '}';
    }
    out += ']';
}

/// Appends members that were kept, each with a comma before it, less the one that is named.
inline void write_kept(std::string& out, const json::object& members, std::string_view without = {})
{
    for (const json::key_value_pair& item : members) {
        const std::string_view key(item.key().data(), item.key().size());
        if (!without.empty() && key == without) continue;
        out += ',';
        write_string(out, key);
        out += ':';
        write_value(out, item.value());
    }
}

inline void write_identity(std::string& out, const identity& who, revision at)
{
    out += R"({"name":)";
    write_string(out, who.name());
    out += R"(,"version":)";
    write_string(out, who.version());
    if (at >= revision::r2025_06_18 && !who.title().empty()) write_string(out += R"(,"title":)", who.title());
    if (at >= revision::r2025_11_25) {
        if (!who.description().empty()) write_string(out += R"(,"description":)", who.description());
        if (!who.website_url().empty()) write_string(out += R"(,"websiteUrl":)", who.website_url());
        if (!who.icons().empty()) write_icons(out += R"(,"icons":)", who.icons());
    }
    write_kept(out, who.extra());
    out += '}';
}

} // namespace detail

/// Appends the params of `initialize`. `capabilities` is the text of an object.
inline void write_initialize_params(std::string& out, revision offered, std::string_view capabilities,
                                    const identity& client)
{
    out += R"({"protocolVersion":")";
    out += to_string(offered);
    out += R"(","capabilities":)";
    out += capabilities.empty() ? std::string_view("{}") : capabilities;
    out += R"(,"clientInfo":)";
    detail::write_identity(out, client, offered);
    out += '}';
}

inline void write_initialize_params(std::string& out, revision offered, const client_capabilities& capabilities,
                                    const identity& client)
{
    std::string text;
    write_value(text, capabilities.raw());
    write_initialize_params(out, offered, text, client);
}

/// Reads what a client offers. Nothing is a fault here: what is missing is empty, and an empty version is one that we
/// do not know.
inline initialize_params read_initialize_params(const json::object& from)
{
    initialize_params read;
    read.protocol_version = comcp::detail::text_member(from, "protocolVersion");
    if (const auto* object = object_member(from, "capabilities")) read.capabilities = client_capabilities(*object);
    if (const auto* object = object_member(from, "clientInfo")) read.client = identity::read(*object);
    return read;
}

/// Appends the result of `initialize`; empty instructions are left out.
inline void write_initialize_result(std::string& out, revision chosen, const server_capabilities& capabilities,
                                    const identity& server, std::string_view instructions = {})
{
    out += R"({"protocolVersion":")";
    out += to_string(chosen);
    out += R"(","capabilities":)";
    write_value(out, capabilities.raw());
    out += R"(,"serverInfo":)";
    detail::write_identity(out, server, chosen);
    if (!instructions.empty()) write_string(out += R"(,"instructions":)", instructions);
    out += '}';
}

/// Reads a server's answer. A version that we do not speak, or none, is a fault that says what was offered: there is
/// no session under a made-up version. Everything else may be missing.
inline result<initialize_result> read_initialize_result(const json::object& from, revision offered)
{
    const auto refuse = [offered](errc code, const std::string& what) {
        return fail(code, "the server answered initialize with " + what + "; we offered protocolVersion \"" +
                              std::string(to_string(offered)) + "\"");
    };
    const json::value* version = member(from, "protocolVersion");
    if (!version) return refuse(errc::invalid_message, "no protocolVersion");
    const json::string* text = version->if_string();
    if (!text) return refuse(errc::invalid_message, "a protocolVersion that is not a string");
    const auto chosen = parse_revision(std::string_view(text->data(), text->size()));
    if (!chosen) {
        const std::string_view shown = comcp::detail::first_code_points({text->data(), text->size()}, 40);
        return refuse(errc::unsupported, "the unknown protocolVersion \"" + std::string(shown) + "\"");
    }

    initialize_result read;
    read.version = *chosen;
    if (const auto* object = object_member(from, "capabilities")) read.capabilities = server_capabilities(*object);
    if (const auto* object = object_member(from, "serverInfo")) read.server = identity::read(*object);
    read.instructions = comcp::detail::text_member(from, "instructions");
    return read;
}

} // namespace comcp::inline COMCP_ABI::wire
