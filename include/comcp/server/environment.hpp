// SPDX-License-Identifier: MIT
//
// What the contexts of all calls of one session share, and the way from a handler to its session.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/limits.hpp>
#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/session/home.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/wire/codec.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// What a server knows of the client of one session. Never changes, so any thread may read it.
struct peer_info
{
    revision version = latest_legacy;
    client_capabilities capabilities;
    identity client;
};

namespace detail
{

/// The log level of one session: written on its executor, read by handlers anywhere.
struct log_gate
{
    // Before logging/setLevel the server chooses (G-41).
    std::atomic<log_level> least{log_level::info};
};

/// What all handlers of one session share.
struct handler_environment
{
    std::shared_ptr<detail::home> home;
    std::weak_ptr<session> owner;
    std::shared_ptr<const peer_info> peer;
    const wire::codec* codec = nullptr;
    std::shared_ptr<log_gate> log;
    std::shared_ptr<std::atomic<std::uint64_t>> roots_changes; ///< how often the client said that they have changed
    std::string principal;                                     ///< who the host's authorization says the client is
    duration server_request = no_limit;
    bool keep_source = false;
};

/// Runs `work(session&)` for a request on the session's executor, in place when this is it, or never.
template <class Work>
void on_session(const handler_environment& shared, const std::shared_ptr<inbound>& request, bool elsewhere, Work work)
{
    if (!elsewhere) {
        if (session* owner = request->owner()) work(*owner);
        return;
    }
    shared.home->post([request, work = std::move(work)] {
        if (session* owner = request->owner()) work(*owner);
    });
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
