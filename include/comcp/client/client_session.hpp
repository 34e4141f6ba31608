// SPDX-License-Identifier: MIT
//
// What a client does with the messages of its server: answers its requests with the host's handlers, and passes notices
// on. One object per session, on the session's executor.
#pragma once

#include <comcp/client/awaited_urls.hpp>
#include <comcp/client/notices.hpp>
#include <comcp/client/options.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/handshake.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class client_session final : public session_role
{
public:
    /// `roots`: nothing when none are offered.
    client_session(session& owner, std::shared_ptr<const client_options> options, std::optional<root_list> roots);

    /// The handshake is over.
    void agree(wire::initialize_result server);

    void on_request(const rpc::message& request, const answer_route& route) override;
    void on_notification(const rpc::message& notice) override;
    void on_refused(const rpc_error& why) override { urls_.add(why); }
    bool serves() const override { return false; }

    void describe_peer(middleware_message& message) const override { message.peer = server().server.name(); }

    void set_roots(root_list places) { roots_ = std::move(places); }
    /// Declared, so that they may be spoken of (B-6).
    bool offers_roots() const { return roots_.has_value(); }

    /// Tells the host what may have changed while the server did not know this client.
    void missed(const std::vector<std::string>& subscribed);

    const std::shared_ptr<notice_pump>& notices() const { return notices_; }
    const client_capabilities& declared() const { return agreed_->declared; }
    const wire::initialize_result& server() const { return agreed_->server; }

private:
    client_capabilities capabilities() const;

    void elicit(const rpc::message& request, const answer_route& route);
    void ask(const rpc::message& request, const answer_route& route, const question_handler& handler);

    static task<void> answer(std::shared_ptr<session> owner, std::shared_ptr<inbound> request, question_handler handler,
                             json::object params, client_context context);

    session& session_;
    std::shared_ptr<const client_options> options_;
    std::shared_ptr<notice_pump> notices_;
    std::optional<root_list> roots_;
    std::shared_ptr<const agreement> agreed_;
    awaited_urls urls_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/client_session.ipp>
#endif
