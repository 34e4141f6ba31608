// SPDX-License-Identifier: MIT
//
// How the handshake is written and read: see wire/handshake.hpp.
#pragma once

#include <comcp/wire/capabilities.hpp>
#include <comcp/wire/handshake.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::wire
{

namespace detail
{

COMCP_DECL bool write_icons(std::string& out, const std::vector<icon>& icons)
{
    bool finite = true;
    char before = '[';
    for (const icon& each : icons) {
        out += before;
        before = ',';
        out += R"({"src":)";
        write_string(out, each.src);
        if (!each.mime_type.empty()) write_string(out += R"(,"mimeType":)", each.mime_type);
        if (!each.sizes.empty()) write_json(out += R"(,"sizes":)", each.sizes);
        if (!each.theme.empty()) write_string(out += R"(,"theme":)", each.theme);
        finite = write_kept(out, each.extra) && finite;
        out += '}';
    }
    out += ']';
    return finite;
}

COMCP_DECL bool write_kept(std::string& out, const json::object& members, std::string_view without)
{
    bool finite = true;
    for (const json::key_value_pair& item : members) {
        const std::string_view key(item.key().data(), item.key().size());
        if (!without.empty() && key == without) continue;
        out += ',';
        write_string(out, key);
        out += ':';
        finite = write_value(out, item.value()) && finite;
    }
    return finite;
}

COMCP_DECL void write_identity(std::string& out, const identity& who, revision at)
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

inline handshake_extras read_extras(const json::object& from, std::initializer_list<std::string_view> known)
{
    return {comcp::detail::owned_object_member(from, "_meta"), comcp::detail::unknown_members(from, known)};
}

inline void write_extras(std::string& out, const handshake_extras& extras)
{
    if (!extras.meta.empty()) write_value(out += R"(,"_meta":)", extras.meta);
    write_kept(out, extras.extra);
}

} // namespace detail

COMCP_DECL void write_initialize_params(std::string& out, revision offered, std::string_view capabilities,
                                        const identity& client, const handshake_extras& extras)
{
    out += R"({"protocolVersion":")";
    out += to_string(offered);
    out += R"(","capabilities":)";
    out += capabilities.empty() ? std::string_view("{}") : capabilities;
    out += R"(,"clientInfo":)";
    detail::write_identity(out, client, offered);
    detail::write_extras(out, extras);
    out += '}';
}

COMCP_DECL void write_initialize_params(std::string& out, revision offered, const client_capabilities& capabilities,
                                        const identity& client, const handshake_extras& extras)
{
    std::string text;
    write_capabilities(text, capabilities, offered);
    write_initialize_params(out, offered, text, client, extras);
}

COMCP_DECL initialize_params read_initialize_params(const json::object& from)
{
    initialize_params read;
    read.protocol_version = comcp::detail::text_member(from, "protocolVersion");
    if (const auto* object = object_member(from, "capabilities")) read.capabilities = client_capabilities(*object);
    if (const auto* object = object_member(from, "clientInfo")) read.client = identity::read(*object);
    read.extras = detail::read_extras(from, {"protocolVersion", "capabilities", "clientInfo", "_meta"});
    return read;
}

COMCP_DECL void write_initialize_result(std::string& out, revision chosen, const server_capabilities& capabilities,
                                        const identity& server, std::string_view instructions,
                                        const handshake_extras& extras)
{
    out += R"({"protocolVersion":")";
    out += to_string(chosen);
    out += R"(","capabilities":)";
    write_capabilities(out, capabilities, chosen);
    out += R"(,"serverInfo":)";
    detail::write_identity(out, server, chosen);
    if (!instructions.empty()) write_string(out += R"(,"instructions":)", instructions);
    detail::write_extras(out, extras);
    out += '}';
}

COMCP_DECL result<initialize_result> read_initialize_result(const json::object& from, revision offered)
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
    read.extras = detail::read_extras(from, {"protocolVersion", "capabilities", "serverInfo", "instructions", "_meta"});
    return read;
}

} // namespace comcp::inline COMCP_ABI::wire
