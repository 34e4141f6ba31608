// SPDX-License-Identifier: MIT
//
// What a client handle and its operations share, and the operations themselves, which know no policy: basic_client asks
// its policies and passes plain values.
#pragma once

#include <comcp/client/answer.hpp>
#include <comcp/client/listing.hpp>
#include <comcp/client/options.hpp>
#include <comcp/client/target.hpp>
#include <comcp/json/args.hpp>
#include <comcp/json/result.hpp>
#include <comcp/observer.hpp>
#include <comcp/policy/replay.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/session/statistics.hpp>
#include <comcp/wire/handshake.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class session;
class client_session;
struct client_renewal;

/// What a client handle and its operations share.
struct client_core
{
    identity who;
    std::shared_ptr<const client_options> options;
    std::unique_ptr<target> server;
    std::shared_ptr<const void> policy;
    std::function<std::optional<duration>(const reconnect_facts&)> reconnect;
    std::function<bool(const replay_facts&)> resend;
    any_output_cap cap;
    observer_ref observer;
    std::shared_ptr<session> current;
    client_session* role = nullptr; ///< of `current`, which owns it
    std::shared_ptr<session> opening;
    bool connecting = false;
    /// The server does not know `current` any more: a new session is needed before the next request.
    bool expired = false;
    duration connect_limit = no_limit;
    std::shared_ptr<client_renewal> renewing;
};

// All operations hop to the session's executor and back when they are awaited elsewhere.

task<void> client_connect(std::shared_ptr<client_core> core, duration limit);
task<tool_list> client_list_tools(std::shared_ptr<client_core> core, call_timeouts times);
task<answer> client_call(std::shared_ptr<client_core> core, std::string tool, args arguments, call_options options,
                         call_timeouts times);
task<json_result> client_request(std::shared_ptr<client_core> core, std::string method, raw_json params,
                                 call_timeouts times);
task<void> client_ping(std::shared_ptr<client_core> core, call_timeouts times);
task<void> client_close(std::shared_ptr<client_core> core);
void client_abandon(client_core& core);
void client_set_roots(client_core& core, std::vector<root> places);
bool client_connected(const client_core& core);
const wire::initialize_result& client_server(const client_core& core);
session_statistics client_statistics(const client_core& core);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/client.ipp>
#endif
