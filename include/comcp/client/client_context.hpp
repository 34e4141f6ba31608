// SPDX-License-Identifier: MIT
//
// What a client's handler of a server's question can do besides answering it: report progress, see whether the server
// gave it up, and know who asks.
#pragma once

#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/wire/handshake.hpp>

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class inbound;

/// What both sides said in the handshake of one session. Does not change once it is over.
struct agreement
{
    client_capabilities declared; ///< by us
    wire::initialize_result server;
};

} // namespace detail

/// One question of a server as its handler sees it: passed by reference, copyable, and safe to keep. After the question
/// has ended it does nothing. Thread rule: the client's executor.
class client_context
{
public:
    client_context(std::shared_ptr<const detail::agreement> session, std::shared_ptr<detail::inbound> request,
                   json::object meta);

    /// Reports progress, if the server asked for it; never waits. Values must rise. A notice for which the output has
    /// no room is dropped (2025-11-25, progress).
    void progress(double value, std::optional<double> total = {}, std::string message = {});

    /// The server gave the question up, or the session ended: the answer goes nowhere. The handler's coroutine is also
    /// cancelled.
    bool cancelled() const;

    /// Who the server says it is (unverified), to be shown to the user (H-26), and the revision that was negotiated.
    const identity& server() const { return session_->server.server; }
    revision version() const { return session_->server.version; }
    /// What this client declared.
    const client_capabilities& declared() const { return session_->declared; }

    /// The request's id as text, for logs.
    std::string request_id() const;
    /// `_meta` of the request.
    const json::object& meta() const { return meta_; }

private:
    std::shared_ptr<const detail::agreement> session_;
    std::shared_ptr<detail::inbound> request_;
    json::object meta_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/client_context.ipp>
#endif
