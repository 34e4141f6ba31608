// SPDX-License-Identifier: MIT
//
// What a client does with the messages of its server: answers its requests with the host's handlers, and passes notices
// on. One object per session, on the session's executor.
#pragma once

#include <comcp/client/notices.hpp>
#include <comcp/client/options.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/handshake.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class client_session final : public session_role
{
public:
    client_session(session& owner, std::shared_ptr<const client_options> options)
        : session_(owner),
          options_(std::move(options)),
          notices_(std::make_shared<notice_pump>(options_->log(), options_->limits.notices)),
          roots_(options_->offered_roots())
    {}

    static client_capabilities capabilities(const client_options& options);

    void on_request(const rpc::message& request, const answer_route& route) override;

    void on_notification(const rpc::message& notice) override;

    bool serves() const override { return false; }

    void set_roots(std::vector<root> places) { roots_ = std::move(places); }
    /// A new session of the same client offers what the one before did.
    void take_over(const client_session& before) { roots_ = before.roots_; }
    const std::shared_ptr<notice_pump>& notices() const { return notices_; }

    wire::initialize_result server; ///< valid once negotiated

private:
    void run(const rpc::message& request, const answer_route& route, const client_options::request_handler& handler);

    static task<void> answer(std::shared_ptr<session> owner, std::shared_ptr<inbound> request,
                             client_options::request_handler handler, json::object params);

    session& session_;
    std::shared_ptr<const client_options> options_;
    std::shared_ptr<notice_pump> notices_;
    std::optional<std::vector<root>> roots_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/client_session.ipp>
#endif
