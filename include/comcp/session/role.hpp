// SPDX-License-Identifier: MIT
//
// The contract between a session and what it is: a client or a server. Not the roles themselves (client/, server/).
#pragma once

#include <comcp/result.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/session/middleware.hpp>

namespace comcp::inline COMCP_ABI::detail
{

/// Something that a role is told from outside, on the session's executor.
enum class role_event {
    changed, ///< something that it shares with others
};

/// What a client or a server makes of messages. Owned by its session.
class session_role
{
public:
    session_role() = default;
    session_role(const session_role&) = delete;
    session_role& operator=(const session_role&) = delete;
    virtual ~session_role() = default;

    /// Must lead to one answer, now or later. The message's memory ends with the call.
    virtual void on_request(const rpc::message& request, const answer_route& route) = 0;
    /// All notifications but `notifications/cancelled` and the progress of our own calls.
    virtual void on_notification(const rpc::message& notification) = 0;
    virtual void on_event(role_event) {}
    /// The peer answered a request of ours with an error. Called before what came after it is read.
    virtual void on_refused(const rpc_error&) {}
    /// The session has ended; called once, before it is joined. An empty fault is an orderly end.
    virtual void on_ended(const fault&) {}
    /// A server answers what it cannot read; a client counts it and goes on.
    virtual bool serves() const = 0;
    /// Tells a middleware who the peer is.
    virtual void describe_peer(middleware_message&) const {}
};

} // namespace comcp::inline COMCP_ABI::detail
