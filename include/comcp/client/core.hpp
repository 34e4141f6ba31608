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
#include <comcp/protocol/completion.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/session/statistics.hpp>
#include <comcp/wire/handshake.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
    std::shared_ptr<session> current; ///< replaced under `guard`, and read under it where an operation begins
    client_session* role = nullptr;   ///< of `current`, which owns it
    std::shared_ptr<session> opening; ///< under `guard` like `current`
    /// Replaced while calls were still running in them; they end with the last of these.
    std::vector<std::weak_ptr<session>> retired;
    bool connecting = false;
    bool closed = false; ///< until the next `connect`
    /// The server does not know `current` any more: a new session is needed before the next request.
    bool expired = false;
    duration connect_limit = no_limit;
    std::shared_ptr<client_renewal> renewing;
    std::optional<root_list> roots;  ///< offered, from the next handshake on
    std::uint64_t roots_version = 0; ///< moves when the host changes them
    // What every further session is told again; forgotten by `close`.
    std::set<std::string> subscriptions;
    std::optional<log_level> least_log_level;
    /// The tools of the last list that may be called twice, and whether they only read (F-16: hints), for the decision
    /// whether a call whose connection broke is made again.
    std::unordered_map<std::string, bool> hints;
    /// Operations may begin on any thread, and a renewal changes the sessions on its own.
    mutable std::mutex guard;

    /// The session that operations go to, or the one that is being opened.
    std::shared_ptr<session> lives() const
    {
        const std::lock_guard lock(guard);
        return current ? current : opening;
    }
    /// The same when it is on another executor than `here`, else null.
    std::shared_ptr<session> lives_elsewhere(const executor& here) const;
    void begin_opening(std::shared_ptr<session> made)
    {
        const std::lock_guard lock(guard);
        opening = std::move(made);
    }
    std::shared_ptr<session> end_opening()
    {
        const std::lock_guard lock(guard);
        return std::exchange(opening, nullptr);
    }
    /// Gives the one before.
    std::shared_ptr<session> replace(std::shared_ptr<session> made)
    {
        const std::lock_guard lock(guard);
        opening.reset();
        return std::exchange(current, std::move(made));
    }
};

/// *Errors*: errc::closed when there is none.
std::shared_ptr<session> open_session(const client_core& core);

/// Waits until there is a session that the server knows. It is made beside those that wait: one of them may give up,
/// at `by` at the latest.
task<void> renewed(std::shared_ptr<client_core> core, time_point by);

/// Whether the server declared what a method needs, and the negotiated revision has it (B-6).
bool declares(const client_session& role, const session& in, std::string_view what);

// All operations hop to the session's executor and back when they are awaited elsewhere.

task<void> client_connect(std::shared_ptr<client_core> core, duration limit);
task<tool_list> client_list_tools(std::shared_ptr<client_core> core, call_timeouts times);
task<resource_list> client_list_resources(std::shared_ptr<client_core> core, call_timeouts times);
task<resource_template_list> client_list_resource_templates(std::shared_ptr<client_core> core, call_timeouts times);
task<prompt_list> client_list_prompts(std::shared_ptr<client_core> core, call_timeouts times);
task<resource_result> client_read_resource(std::shared_ptr<client_core> core, std::string uri, call_options options,
                                           call_timeouts times);
task<void> client_subscribe(std::shared_ptr<client_core> core, std::string uri, call_timeouts times);
task<void> client_unsubscribe(std::shared_ptr<client_core> core, std::string uri, call_timeouts times);
task<prompt_result> client_get_prompt(std::shared_ptr<client_core> core, std::string name, args arguments,
                                      call_options options, call_timeouts times);
task<completion> client_complete(std::shared_ptr<client_core> core, completion_request what, call_options options,
                                 call_timeouts times);
task<void> client_set_log_level(std::shared_ptr<client_core> core, log_level least, call_timeouts times);
task<answer> client_call(std::shared_ptr<client_core> core, std::string tool, args arguments, call_options options,
                         call_timeouts times);
task<json_result> client_request(std::shared_ptr<client_core> core, std::string method, raw_json params,
                                 call_timeouts times);
task<void> client_ping(std::shared_ptr<client_core> core, call_timeouts times);
task<void> client_close(std::shared_ptr<client_core> core);
void client_abandon(client_core& core);
void client_set_roots(client_core& core, root_list places);
bool client_connected(const client_core& core);
const wire::initialize_result& client_server(const client_core& core);
session_statistics client_statistics(const client_core& core);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/client_connect.ipp>
#include <comcp/client/impl/client_operations.ipp>
#endif
