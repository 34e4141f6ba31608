// SPDX-License-Identifier: MIT
//
// Records of sessions as text: see server/session_record.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/server/session_record.hpp>
#include <comcp/wire/handshake.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::string write_session_record(const session_record& from)
{
    std::string out = R"({"format":1,"id":)";
    write_string(out, from.id);
    write_string(out += R"(,"principal":)", from.principal);
    write_integer(out += R"(,"generation":)", from.generation);
    write_string(out += R"(,"version":)", to_string(from.version));
    write_value(out += R"(,"capabilities":)", from.capabilities.raw());
    wire::detail::write_identity(out += R"(,"client":)", from.client, latest_legacy);
    write_string(out += R"(,"level":)", to_string(from.level));
    write_json(out += R"(,"subscriptions":)", from.subscriptions);
    out += '}';
    return out;
}

COMCP_DECL result<session_record> read_session_record(std::string_view text)
{
    if (text.size() > session_record::most_bytes) return fail(errc::too_large, "the record is too long");
    const auto whole = parse_json(text, 64);
    if (!whole) return whole.error();
    const json::object* from = whole->if_object();
    if (!from || integer_member(*from, "format") != 1) return fail(errc::unsupported, "the record has another format");
    session_record out;
    out.id = text_member(*from, "id");
    out.principal = text_member(*from, "principal");
    out.generation = integer_member(*from, "generation").value_or(0);
    const auto version = parse_revision(string_member(*from, "version").value_or(""));
    const auto level = parse_log_level(string_member(*from, "level").value_or(""));
    // Without its principal it would be a session of anybody.
    const bool whole_enough = !out.id.empty() && string_member(*from, "principal") && version && level;
    if (!whole_enough || out.generation < 1 || out.generation > session_record::most_generations)
        return fail(errc::invalid_message, "the record is not whole");
    out.version = *version;
    out.level = *level;
    if (const auto* object = object_member(*from, "capabilities")) out.capabilities = client_capabilities(*object);
    if (const auto* object = object_member(*from, "client")) out.client = identity::read(*object);
    if (const auto* uris = array_member(*from, "subscriptions"))
        for (const json::value& each : *uris)
            if (const json::string* uri = each.if_string()) out.subscriptions.emplace_back(uri->data(), uri->size());
    return out;
}

} // namespace comcp::inline COMCP_ABI::detail
