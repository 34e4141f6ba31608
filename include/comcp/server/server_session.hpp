// SPDX-License-Identifier: MIT
//
// What a server does with one client: the handshake, lists and what is behind them, subscriptions, the log level. One
// object per session, on the session's executor.
#pragma once

#include <comcp/protocol/logging.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/session_record.hpp>
#include <comcp/session/session.hpp>
#include <comcp/timer.hpp>
#include <comcp/wire/handshake.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class server_session final : public session_role
{
public:
    server_session(session& owner, std::shared_ptr<server_core> core, std::shared_ptr<live_session> live,
                   session_origin from = {});
    ~server_session() override;

    void on_request(const rpc::message& request, const answer_route& route) override;
    void on_notification(const rpc::message& notice) override;
    void on_event(role_event what) override;
    void on_ended(const fault& why) override;
    bool serves() const override { return true; }

    void describe_peer(middleware_message& message) const override
    {
        message.peer = environment_->peer->client.name();
        message.principal = environment_->principal;
    }

    // What a client has chosen, as values: to be kept, and to be put into a session that goes on for another.

    std::vector<std::string> subscriptions() const { return core_->subscriptions.of(*live_); }
    /// Those beyond the limit are left out.
    void restore_subscriptions(const std::vector<std::string>& uris);
    log_level least_logged() const { return environment_->log->least.load(std::memory_order_relaxed); }
    void restore_log_level(log_level least) { environment_->log->least.store(least, std::memory_order_relaxed); }

private:
    using on_method = void (server_session::*)(const rpc::message& request, const answer_route& route);
    struct served_method
    {
        std::string_view name;
        on_method serve;
    };
    static on_method find_method(std::string_view name);

    /// One of the lists, as this session has seen it.
    struct seen_list
    {
        std::shared_ptr<const entry_set> now;
        std::uint64_t version = 0;
        std::shared_ptr<const entry_set> told; ///< the one that it was compared with last
        bool due = false;                      ///< the client is to be told of a change
    };

    void on_initialize(const rpc::message& request, const answer_route& route);
    void on_set_level(const rpc::message& request, const answer_route& route);

    void on_list_tools(const rpc::message& request, const answer_route& route);
    void on_list_resources(const rpc::message& request, const answer_route& route);
    void on_list_templates(const rpc::message& request, const answer_route& route);
    void on_list_prompts(const rpc::message& request, const answer_route& route);
    void on_list(const rpc::message& request, const answer_route& route, entry_kind kind, std::string_view member);

    void on_call(const rpc::message& request, const answer_route& route);
    void on_read(const rpc::message& request, const answer_route& route);
    void on_subscribe(const rpc::message& request, const answer_route& route);
    void on_unsubscribe(const rpc::message& request, const answer_route& route);
    void on_get_prompt(const rpc::message& request, const answer_route& route);
    void on_complete(const rpc::message& request, const answer_route& route);

    void answer_nothing(const rpc::message& request, const answer_route& route);
    /// As -32602.
    void refuse(const rpc::message& request, const answer_route& route, std::string_view why);
    handler_call call_of(const rpc::message& request, const answer_route& route, std::string_view source = {}) const;

    const entry_set& offered(entry_kind kind);
    bool has_resource(std::string_view uri);
    /// The first template that the URI follows; null when there is none.
    const entry_ptr* template_of(std::string_view uri);
    void forget_changes();
    void look_for_changes();
    bool has_room() const;
    void tell_list(std::initializer_list<entry_kind> kinds, std::string_view capability, std::string_view notice);
    void tell_changes();
    void try_again_later();

    // What another process needs to go on with the session, and going on with it here.
    void describe(session_record& to) const;
    void restore(const session_record& from);
    /// What `describe` says has changed.
    void keep_state();

    session& session_;
    std::shared_ptr<server_core> core_;
    std::shared_ptr<live_session> live_;
    server_capabilities declared_;
    std::shared_ptr<const handler_environment> environment_;
    std::array<seen_list, all_entry_kinds.size()> lists_;
    std::unique_ptr<timer> again_; // runs while something waits for room in the output
    duration again_after_{};
    bool assumed_; // a session that is one request only
    std::shared_ptr<kept_state> kept_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/server_requests.ipp>
#include <comcp/server/impl/server_session.ipp>
#endif
