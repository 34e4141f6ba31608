// SPDX-License-Identifier: MIT
//
// What a server does with one client: the handshake, the list of tools and their calls, the log level. One object per
// session, on the session's executor.
#pragma once

#include <comcp/protocol/logging.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/session_record.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/handshake.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

class server_session final : public session_role
{
public:
    server_session(session& owner, std::shared_ptr<server_core> core, session_origin from = {})
        : session_(owner),
          core_(std::move(core)),
          declared_(core_->capabilities()),
          assumed_(from.assumed.has_value()),
          kept_(std::move(from.kept))
    {
        auto shared = std::make_shared<handler_environment>();
        shared->home = owner.home();
        shared->owner = owner.weak_from_this();
        auto peer = std::make_shared<peer_info>();
        peer->version = from.assumed.value_or(peer->version);
        shared->peer = std::move(peer);
        shared->principal = std::move(from.principal);
        shared->log = std::make_shared<log_gate>();
        shared->server_request = core_->options.limits.server_request;
        shared->keep_source = core_->options.keep_source;
        environment_ = std::move(shared);
        refresh_tools();
        if (from.assumed) session_.speak(*from.assumed);
        if (kept_ && kept_->taken) restore(kept_->record);
    }

    void on_request(const rpc::message& request, const answer_route& route) override;

    void on_notification(const rpc::message&) override {} // none that a server must act upon (SHAPE 41)

    void on_event(role_event what) override;

    bool serves() const override { return true; }

    void describe_peer(middleware_message& message) const override
    {
        message.peer = environment_->peer->client.name();
        message.principal = environment_->principal;
    }

private:
    void on_initialize(const rpc::message& request, const answer_route& route);

    void on_list(const rpc::message& request, const answer_route& route);

    void on_call(const rpc::message& request, const answer_route& route);

    void refuse(const rpc::message& request, const answer_route& route, std::string_view why);

    void on_set_level(const rpc::message& request, const answer_route& route);

    void refresh_tools();

    // What another process needs to go on with the session, and going on with it here.
    void describe(session_record& to) const;
    void restore(const session_record& from);
    /// What `describe` says has changed.
    void keep_state();

    session& session_;
    std::shared_ptr<server_core> core_;
    server_capabilities declared_;
    std::shared_ptr<const handler_environment> environment_;
    std::shared_ptr<const tool_set> tools_;
    std::uint64_t tools_version_ = 0;
    std::uint64_t changes_told_ = 0;
    bool assumed_; // a session that is one request only
    std::shared_ptr<kept_state> kept_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/server_session.ipp>
#endif
