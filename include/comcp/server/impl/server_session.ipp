// SPDX-License-Identifier: MIT
//
// How a server meets one client and tells it of changes: see server/server_session.hpp. What it answers to the methods
// of lists, tools, resources, prompts and completions is in impl/server_requests.ipp.
#pragma once

#include <comcp/server/server_session.hpp>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL server_session::server_session(session& owner, std::shared_ptr<server_core> core,
                                          std::shared_ptr<live_session> live, session_origin from)
    : session_(owner),
      core_(std::move(core)),
      live_(std::move(live)),
      declared_(core_->capabilities(!from.assumed)),
      assumed_(from.assumed.has_value()),
      kept_(std::move(from.kept))
{
    auto shared = std::make_shared<handler_environment>();
    shared->home = owner.home();
    shared->owner = owner.weak_from_this();
    shared->codec = &owner.codec();
    auto peer = std::make_shared<peer_info>();
    peer->version = from.assumed.value_or(peer->version);
    shared->peer = std::move(peer);
    shared->principal = std::move(from.principal);
    shared->log = std::make_shared<log_gate>();
    shared->roots_changes = std::make_shared<std::atomic<std::uint64_t>>(0);
    shared->server_request = core_->options.limits.server_request;
    shared->keep_source = core_->options.keep_source;
    environment_ = std::move(shared);
    forget_changes();
    session_.number_from(from.last_number);
    if (from.assumed) session_.speak(*from.assumed);
    if (kept_ && kept_->taken) restore(kept_->record);
}

COMCP_DECL server_session::~server_session() { core_->subscriptions.remove_all(*live_); }

COMCP_DECL void server_session::on_request(const rpc::message& request, const answer_route& route)
{
    // The commonest first; every other name is judged by the era's table.
    if (session_.negotiated() && request.method == method::tools_call) return on_call(request, route);
    if (request.method == method::initialize) return on_initialize(request, route);
    if (request.method == method::ping) return answer_nothing(request, route);

    const auto* known =
        session_.codec().find(wire::sender::client, wire::kind::request, request.method, session_.spoken());
    const bool offered =
        known && (known->capability.empty() || (known->part.empty() ? declared_.has(known->capability)
                                                                    : declared_.has(known->capability, known->part)));
    const on_method serve = offered ? find_method(request.method) : nullptr;
    if (!serve) return session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method");
    if (!session_.negotiated()) // 2025-11-25, lifecycle: initialize is the first interaction (B-1)
        return session_.answer_error(&request.id, route, rpc_code::invalid_request, "initialize comes first");
    (this->*serve)(request, route);
}

COMCP_DECL void server_session::on_notification(const rpc::message& notice)
{
    if (notice.method == method::roots_list_changed)
        environment_->roots_changes->fetch_add(1, std::memory_order_relaxed);
}

COMCP_DECL void server_session::on_event(role_event)
{
    if (session_.negotiated()) tell_changes();
}

COMCP_DECL void server_session::on_ended(const fault&)
{
    core_->subscriptions.remove_all(*live_);
    if (again_) again_->cancel();
}

COMCP_DECL void server_session::restore_subscriptions(const std::vector<std::string>& uris)
{
    for (const std::string& each : uris) core_->subscriptions.add(live_, each, core_->options.limits.subscriptions);
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
    declared_ = core_->capabilities(!assumed_);
    forget_changes();
    session_.speak(peer->version);
    keep_state();
    session_.answer(request.id, route, [&](std::string& out) {
        wire::write_initialize_result(out, peer->version, declared_, core_->who, core_->options.instructions);
    });
}

COMCP_DECL void server_session::on_set_level(const rpc::message& request, const answer_route& route)
{
    const auto text = request.params ? string_member(*request.params, "level") : std::nullopt;
    const auto level = text ? parse_log_level(*text) : std::nullopt;
    if (!level) return refuse(request, route, "unknown log level"); // G-41
    restore_log_level(*level);
    keep_state();
    answer_nothing(request, route);
}

COMCP_DECL void server_session::describe(session_record& to) const
{
    to.version = environment_->peer->version;
    to.capabilities = environment_->peer->capabilities;
    to.client = environment_->peer->client;
    to.level = least_logged();
    to.subscriptions = subscriptions();
}

COMCP_DECL void server_session::restore(const session_record& from)
{
    auto peer = std::make_shared<peer_info>();
    peer->version = from.version;
    peer->capabilities = from.capabilities;
    peer->client = from.client;
    auto shared = std::make_shared<handler_environment>(*environment_);
    shared->peer = std::move(peer);
    environment_ = std::move(shared);
    restore_log_level(from.level);
    restore_subscriptions(from.subscriptions);
    session_.speak(from.version);
}

COMCP_DECL void server_session::keep_state()
{
    if (!kept_) return;
    describe(kept_->record);
    kept_->changed();
}

COMCP_DECL void server_session::answer_nothing(const rpc::message& request, const answer_route& route)
{
    session_.answer(request.id, route, [](std::string& out) { out += "{}"; });
}

COMCP_DECL void server_session::refuse(const rpc::message& request, const answer_route& route, std::string_view why)
{
    session_.answer_error(&request.id, route, rpc_code::invalid_params, why);
}

// ---- changes -------------------------------------------------------------------------------------------------------

COMCP_DECL const entry_set& server_session::offered(entry_kind kind)
{
    registry& all = core_->offers(kind);
    seen_list& list = lists_[static_cast<std::size_t>(kind)];
    if (const auto version = all.version(); version != list.version) {
        list.now = all.snapshot();
        list.version = version;
    }
    return *list.now;
}

COMCP_DECL void server_session::forget_changes()
{
    for (const entry_kind each : all_entry_kinds) {
        offered(each);
        seen_list& list = lists_[static_cast<std::size_t>(each)];
        list.told = list.now;
        list.due = false;
    }
}

/// Several changes are one notice, and those that leave no trace are none (PAGE 75).
COMCP_DECL void server_session::look_for_changes()
{
    for (const entry_kind each : all_entry_kinds) {
        offered(each);
        seen_list& list = lists_[static_cast<std::size_t>(each)];
        if (list.told == list.now) continue;
        if (!same_list(*list.told, *list.now, session_.codec(), session_.spoken())) list.due = true;
        list.told = list.now;
    }
}

COMCP_DECL bool server_session::has_room() const { return session_.room_for_notices(pipe_exchange); }

COMCP_DECL void server_session::tell_list(std::initializer_list<entry_kind> kinds, std::string_view capability,
                                          std::string_view notice)
{
    bool due = false;
    for (const entry_kind each : kinds) due = due || lists_[static_cast<std::size_t>(each)].due;
    if (!due || !has_room()) return;
    for (const entry_kind each : kinds) lists_[static_cast<std::size_t>(each)].due = false;
    if (declared_.has(capability, "listChanged")) session_.notify(notice); // NEGO 68
}

COMCP_DECL void server_session::tell_changes()
{
    look_for_changes();
    tell_list({entry_kind::tool}, "tools", method::tools_list_changed);
    tell_list({entry_kind::resource, entry_kind::resource_template}, "resources", method::resources_list_changed);
    tell_list({entry_kind::prompt}, "prompts", method::prompts_list_changed);
    while (has_room()) {
        const auto uri = core_->subscriptions.take_updated(*live_);
        if (!uri) break;
        session_.notify(method::resources_updated, [&](std::string& out) {
            session_.codec().write_uri_params(out, *uri, wire::request_meta(), session_.spoken());
        });
    }
    const bool all_told = std::ranges::none_of(lists_, &seen_list::due) && !core_->subscriptions.has_updated(*live_);
    if (all_told) again_after_ = {};
    else if (session_.open()) try_again_later();
}

/// A transport does not say when it has room again, so a client that reads slowly is looked after now and then.
COMCP_DECL void server_session::try_again_later()
{
    constexpr duration shortest = std::chrono::milliseconds(100);
    constexpr duration longest = std::chrono::seconds(5);
    again_after_ = std::clamp(2 * again_after_, shortest, longest);
    if (!again_) again_ = std::make_unique<timer>(session_.executor());
    again_->start(again_->now() + again_after_, [this] { tell_changes(); }); // ends with this object
}

} // namespace comcp::inline COMCP_ABI::detail
