// SPDX-License-Identifier: MIT
//
// What a server does with one client: see server/server_session.hpp.
#pragma once

#include <comcp/server/server_session.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void server_session::on_request(const rpc::message& request, const answer_route& route)
{
    // The commonest first; every other name is judged by the era's table.
    if (session_.negotiated() && request.method == method::tools_call) return on_call(request, route);
    if (request.method == method::initialize) return on_initialize(request, route);
    if (request.method == method::ping)
        return session_.answer(request.id, route, [](std::string& out) { out += "{}"; });

    const auto* known =
        session_.codec().find(wire::sender::client, wire::kind::request, request.method, session_.spoken());
    if (!known || (!known->capability.empty() && !declared_.has(known->capability)))
        return session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method");
    if (!session_.negotiated()) // 2025-11-25, lifecycle: initialize is the first interaction (B-1)
        return session_.answer_error(&request.id, route, rpc_code::invalid_request, "initialize comes first");
    if (request.method == method::tools_list) return on_list(request, route);
    if (request.method == method::logging_set_level) return on_set_level(request, route);
    session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method");
}

COMCP_DECL void server_session::on_event(role_event what)
{
    if (what != role_event::tools_changed || !session_.negotiated() || changes_told_ == core_->tools.version()) return;
    changes_told_ = core_->tools.version(); // several changes of one turn are one notice
    session_.notify(method::tools_list_changed);
}

COMCP_DECL void server_session::on_initialize(const rpc::message& request, const answer_route& route)
{
    if (session_.negotiated() && !assumed_)
        return session_.answer_error(&request.id, route, rpc_code::invalid_request, "initialized already");
    if (route.in_batch()) // 2025-03-26, lifecycle: initialize is not part of a batch (A-8)
        return session_.answer_error(&request.id, route, rpc_code::invalid_request, "initialize in a batch");
    static const json::object nothing;
    wire::initialize_params asked = wire::read_initialize_params(request.params ? *request.params : nothing);
    auto peer = std::make_shared<peer_info>();
    peer->version = wire::negotiate(asked.protocol_version);
    peer->capabilities = std::move(asked.capabilities);
    peer->client = std::move(asked.client);
    auto shared = std::make_shared<handler_environment>(*environment_);
    shared->peer = peer;
    environment_ = std::move(shared);
    changes_told_ = core_->tools.version();
    session_.speak(peer->version);
    keep_state();
    session_.answer(request.id, route, [&](std::string& out) {
        wire::write_initialize_result(out, peer->version, declared_, core_->who, core_->options.instructions);
    });
}

COMCP_DECL void server_session::on_list(const rpc::message& request, const answer_route& route)
{
    if (request.params && member(*request.params, "cursor")) // the list is one page: no cursor was ever given out
        return session_.answer_error(&request.id, route, rpc_code::invalid_params, "no such cursor");
    refresh_tools();
    session_.answer(request.id, route, [&](std::string& out) {
        out += R"({"tools":[)";
        bool comma = false;
        for (const auto& each : tools_->all()) {
            if (!each->enabled) continue;
            if (comma) out += ',';
            comma = true;
            session_.codec().write_tool(out, each->info, session_.spoken());
        }
        out += "]}";
    });
}

COMCP_DECL void server_session::on_call(const rpc::message& request, const answer_route& route)
{
    // 2025-11-25, tools, error handling: an unknown tool and malformed params are protocol errors (F-14).
    const json::value* name = nullptr;
    const json::value* arguments = nullptr;
    if (request.params) {
        name = request.params->if_contains("name");
        arguments = request.params->if_contains("arguments");
    }
    if (!name || !name->is_string()) return refuse(request, route, "the name of the tool is missing");
    if (arguments && arguments->is_null()) arguments = nullptr;
    if (arguments && !arguments->is_object()) return refuse(request, route, "arguments must be an object");

    refresh_tools();
    const std::string_view wanted(name->get_string().data(), name->get_string().size());
    const auto* entry = tools_->find(wanted);
    if (!entry) return refuse(request, route, "unknown tool: " + std::string(first_code_points(wanted, 128)));

    static const json::value no_arguments = json::object();
    std::string_view source;
    if (environment_->keep_source && arguments)
        if (const auto params = member_source(request.text, "params"))
            source = member_source(*params, "arguments").value_or("");
    const tool_call call{session_, environment_,           request, route, arguments ? *arguments : no_arguments,
                         source,   core_->handler_executor};
    const tool_entry& found = **entry;
    found.call(*entry, call); // held by the callee: the handler may change the registry
}

COMCP_DECL void server_session::refuse(const rpc::message& request, const answer_route& route, std::string_view why)
{
    session_.answer_error(&request.id, route, rpc_code::invalid_params, why);
}

COMCP_DECL void server_session::on_set_level(const rpc::message& request, const answer_route& route)
{
    const auto text = request.params ? string_member(*request.params, "level") : std::nullopt;
    const auto level = text ? parse_log_level(*text) : std::nullopt;
    if (!level) return refuse(request, route, "unknown log level"); // G-41
    environment_->log->least.store(*level, std::memory_order_relaxed);
    keep_state();
    session_.answer(request.id, route, [](std::string& out) { out += "{}"; });
}

COMCP_DECL void server_session::describe(session_record& to) const
{
    to.version = environment_->peer->version;
    to.capabilities = environment_->peer->capabilities;
    to.client = environment_->peer->client;
    to.level = environment_->log->least.load(std::memory_order_relaxed);
}

COMCP_DECL void server_session::restore(const session_record& from)
{
    auto peer = std::make_shared<peer_info>();
    peer->version = from.version;
    peer->capabilities = from.capabilities;
    peer->client = from.client;
    auto shared = std::make_shared<handler_environment>(*environment_);
    shared->peer = std::move(peer);
    shared->log->least.store(from.level, std::memory_order_relaxed);
    environment_ = std::move(shared);
    changes_told_ = core_->tools.version();
    session_.number_from(from.generation << 32);
    session_.speak(from.version);
}

COMCP_DECL void server_session::keep_state()
{
    if (!kept_) return;
    describe(kept_->record);
    kept_->changed();
}

COMCP_DECL void server_session::refresh_tools()
{
    const auto version = core_->tools.version();
    if (version == tools_version_) return;
    tools_ = core_->tools.snapshot();
    tools_version_ = version;
}

} // namespace comcp::inline COMCP_ABI::detail
