// SPDX-License-Identifier: MIT
//
// The part of a server that all its sessions share: who it is, what it offers, its options, and which sessions live.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/observer.hpp>
#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/server/live_session.hpp>
#include <comcp/server/options.hpp>
#include <comcp/server/registry.hpp>
#include <comcp/session/session.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class kept_state;

/// Thread rule: any thread, but for the options before the first session.
class server_core : public std::enable_shared_from_this<server_core>
{
public:
    server_core(identity described, server_options chosen) : who(std::move(described)), options(std::move(chosen)) {}

    const identity who;
    server_options options;
    subscription_table subscriptions;
    comcp::executor handler_executor; ///< empty: the session's own
    std::shared_ptr<const middleware_chain> chain;
    std::shared_ptr<void> policy; ///< keeps the observer alive
    observer_ref observer;

    registry& offers(entry_kind kind) { return offers_[static_cast<std::size_t>(kind)]; }

    /// What is declared now; a handshake fixes it for its session. One that does not last takes no subscriptions.
    server_capabilities capabilities(bool lasting);

    /// Tells every session of every change.
    void listen_to_changes();

    void add(std::shared_ptr<live_session> started);

    /// Ends every session at once.
    void abandon_all();
    /// Ends every session in order.
    void close_all();

private:
    template <class Work>
    void for_all(Work work)
    {
        const std::lock_guard lock(mutex_);
        for (const auto& each : sessions_) work(*each);
    }

    std::array<registry, 4> offers_{registry(entry_kind::tool), registry(entry_kind::resource),
                                    registry(entry_kind::resource_template), registry(entry_kind::prompt)};
    std::mutex mutex_;
    std::vector<std::shared_ptr<live_session>> sessions_;
    std::size_t sweep_at_ = 16;
};

/// What is known of a session before its first message.
struct session_origin
{
    std::string principal; ///< who the host's authorization says it is
    /// Set for a session that is one request only: what is spoken without a handshake.
    std::optional<revision> assumed;
    /// Set where sessions are kept outside of the process.
    std::shared_ptr<kept_state> kept;
    /// Our requests are numbered after this.
    std::int64_t last_number = 0;
};

/// Makes the session of one client on `ex`, known to the server and not yet started.
std::shared_ptr<session> make_server_session(const std::shared_ptr<server_core>& core, const executor& ex,
                                             std::unique_ptr<transport> wire, session_origin from = {});

/// *Errors*: errc::invalid_argument when a blocking handler has no executor.
void check_blocking_handlers(server_core& core);

/// Serves one client; see basic_server::serve.
task<fault> serve(std::shared_ptr<server_core> core, std::unique_ptr<transport> wire);

} // namespace comcp::inline COMCP_ABI::detail
