// SPDX-License-Identifier: MIT
//
// How every request of a client begins, and through which door it goes: for both HTTP transports. No message and no
// connection is made here.
#pragma once

#include <comcp/http/client_settings.hpp>
#include <comcp/http/media.hpp>
#include <comcp/http/message.hpp>
#include <comcp/http/print.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http::detail
{

/// The head of a request without what belongs to its content. An empty session or version is left out.
inline request_head common_head(const url& to, std::string_view method, const fields& of_host, std::string_view session,
                                std::string_view version)
{
    request_head head;
    head.method = method;
    head.target = to.target();
    head.host = to.authority();
    head.fields.add("Accept-Encoding", "identity");
    if (!session.empty()) head.fields.add("Mcp-Session-Id", session);
    if (!version.empty()) head.fields.add("MCP-Protocol-Version", version);
    for (const field& each : of_host) head.fields.add(each.name, each.value);
    return head;
}

/// The head of a POST but for the length of its body, which differs and stands last. *Errors*: as `print`.
inline result<void> print_post_head(std::string& out, const url& to, const fields& of_host, std::string_view session,
                                    std::string_view version)
{
    request_head head = common_head(to, "POST", of_host, session, version);
    head.fields.add("Content-Type", "application/json");
    head.fields.add("Accept", usual_accept);
    out.clear();
    if (result<void> bad = print(out, head); !bad) return bad;
    out.resize(out.size() - std::string_view("0\r\n\r\n").size());
    return {};
}

/// TCP unless the host gave a connector. *Errors*: errc::unsupported for a scheme that it does not know.
inline result<void> choose_door(client_settings& with)
{
    if (!with.door) with.door = std::make_shared<tcp_connector>();
    if (with.door->knows(with.to.scheme())) return {};
    return fail(errc::unsupported, std::string(scheme_name(with.to.scheme())) +
                                       " needs a connector of the host that speaks TLS: comcp brings none yet");
}

} // namespace comcp::inline COMCP_ABI::http::detail
