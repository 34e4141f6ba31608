// SPDX-License-Identifier: MIT
//
// An MCP client: connects to one server, and uses its tools, resources and prompts. A handle: everything it starts
// lives on without it only until it can end, and nothing touches the handle afterwards. Each is a client of one
// server: for several, make several.
#pragma once

#include <comcp/client/core.hpp>
#include <comcp/policy.hpp>
#include <comcp/protocol/methods.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A client with the policies of `Policy`. Neither copied nor moved: a coroutine takes it by reference or in a
/// `std::unique_ptr`.
///
/// Thread rule: a client lives on the executor on which `connect` was awaited, a strand where several threads run the
/// context. Operations awaited elsewhere hop there and back; everything else is called there. Destroying the client
/// ends the session at once: calls that wait end as closed, a child process is killed and reaped.
template <class Policy = default_policy>
class basic_client
{
    static_assert(assert_policy<Policy>());

public:
    /// A client of a server that can be reached again: `child_process`, `streamable_http`, or one that the host
    /// describes (transport/settings.hpp).
    template <server_description Server>
    basic_client(Server what, identity who, client_options options = {}, policy_state<Policy> policies = {})
        : basic_client(std::make_unique<detail::described_target<Server>>(std::move(what)), std::move(who),
                       std::move(options), std::move(policies))
    {}
    /// A client over a transport of the host; it connects once.
    basic_client(std::unique_ptr<transport> wire, identity who, client_options options = {},
                 policy_state<Policy> policies = {})
        : basic_client(std::make_unique<detail::given_target>(std::move(wire)), std::move(who), std::move(options),
                       std::move(policies))
    {}
    basic_client(const basic_client&) = delete;
    basic_client& operator=(const basic_client&) = delete;
    ~basic_client() { detail::client_abandon(*core_); }

    /// Opens the transport and negotiates (2025-11-25, lifecycle). After the end of a session a client may connect
    /// again, but for one over a transport of the host; subscriptions and the log level are set anew then, unless it
    /// was closed.
    ///
    /// *Errors*: errc::not_found, errc::spawn_failed; errc::timed_out after the connect limit of the policy;
    /// errc::peer_gone with the server's exit status and last words; errc::unsupported for a version that we do not
    /// speak; errc::invalid_argument for roots that cannot be offered. *Cancellation*: gives the attempt up; the child
    /// is killed.
    task<void> connect() { return detail::client_connect(core_, policies_->timeouts.connect(core_->server->launch())); }

    /// All tools, over all pages. The total time of a call is that of the whole list.
    ///
    /// *Result*: the list; `complete` is false when a budget, a repeated cursor or a failed later page ended it early.
    /// *Errors*: as every call; a server that has no tools gives an empty list.
    /// *Cancellation*: not sent: not_sent. Sent: the server is told.
    task<tool_list> list_tools() { return detail::client_list_tools(core_, times(method::tools_list)); }
    /// The same for resources, resource templates and prompts; a server that did not declare them is not asked.
    task<resource_list> list_resources() { return detail::client_list_resources(core_, times(method::resources_list)); }
    task<resource_template_list> list_resource_templates()
    {
        return detail::client_list_resource_templates(core_, times(method::resources_templates_list));
    }
    task<prompt_list> list_prompts() { return detail::client_list_prompts(core_, times(method::prompts_list)); }

    /// Calls one tool.
    ///
    /// *Result*: the answer; a tool that ran and failed is an answer with `is_error`.
    /// *Errors*: errc::refused with the peer's error; errc::timed_out, errc::cancelled, errc::peer_gone, errc::closed,
    /// each with its outcome: not_sent, or unknown when it may have run; over HTTP also errc::unauthorized,
    /// errc::forbidden, errc::busy and errc::bad_response. A call that the server refused because it had forgotten the
    /// session (errc::session_expired) is sent once more in a new one, if the policy `replay` allows; its time limits
    /// then begin anew. By default a call that may have run is never sent twice, unless the tool said in the last list
    /// that it only reads or is idempotent, or the caller allows it (`call_options::may_repeat`).
    /// *Cancellation*: not sent: not_sent. Sent: the server is told, a late answer is dropped.
    task<answer> call(std::string tool, args arguments = {}, call_options options = {})
    {
        const call_timeouts limits = policies_->timeouts.call(call_facts{method::tools_call, tool});
        return detail::client_call(core_, std::move(tool), std::move(arguments), std::move(options), limits);
    }

    // The errors of the operations below are those of a call. What needs a capability that the server did not declare
    // is errc::unsupported, not sent (B-6).

    /// The contents of a resource. One that does not exist is errc::refused with -32002 or -32602 (G-5).
    task<resource_result> read_resource(std::string uri, call_options options = {})
    {
        return detail::client_read_resource(core_, std::move(uri), std::move(options), times(method::resources_read));
    }

    /// Asks the server to tell of changes: `client_options::on_resource_updated`. A session that the client has to make
    /// by itself subscribes again.
    task<void> subscribe(std::string uri)
    {
        return detail::client_subscribe(core_, std::move(uri), times(method::resources_subscribe));
    }
    /// The subscription is forgotten whatever the server answers.
    task<void> unsubscribe(std::string uri)
    {
        return detail::client_unsubscribe(core_, std::move(uri), times(method::resources_unsubscribe));
    }

    /// A prompt with its arguments put in. Their values are strings (G-21): `args("language", "c++")`.
    task<prompt_result> get_prompt(std::string name, args arguments = {}, call_options options = {})
    {
        return detail::client_get_prompt(core_, std::move(name), std::move(arguments), std::move(options),
                                         times(method::prompts_get));
    }

    /// Suggestions for an argument: `complete(completion_reference::prompt("review"), "language", "c")`.
    task<completion> complete(completion_reference of, std::string argument, std::string typed)
    {
        return complete(completion_request(std::move(of), std::move(argument), std::move(typed)));
    }
    /// The same with the arguments that have their values already (`completion_request::context`).
    task<completion> complete(completion_request what, call_options options = {})
    {
        return detail::client_complete(core_, std::move(what), std::move(options), times(method::completion_complete));
    }

    /// Asks for log messages of this level and above: `client_options::on_log`. A session that the client has to make
    /// by itself gets the same level.
    task<void> set_log_level(log_level least)
    {
        return detail::client_set_log_level(core_, least, times(method::logging_set_level));
    }

    /// A request of any method; `params` is the text of an object.
    task<json_result> request(std::string what, raw_json params = raw_json("{}"))
    {
        const call_timeouts limits = times(what);
        return detail::client_request(core_, std::move(what), std::move(params), limits);
    }

    /// Asks the server for a sign of life.
    task<void> ping()
    {
        const duration limit = policies_->timeouts.ping();
        return detail::client_ping(core_, call_timeouts{limit, limit});
    }

    /// Ends the session in order: calls that wait fail as closed, the server's input is closed, a child that does not
    /// leave is terminated, then killed; everything is joined. Takes at most about the close limit (10 s).
    task<void> close() { return detail::client_close(core_); }

    /// Offers other roots from now on, and tells the server. The handshake declares whether there are any: in a session
    /// that began without, these count from the next one on.
    ///
    /// *Errors*: errc::invalid_argument when one is no `file://` URI, or has dot segments (`check_root`); the roots
    /// that were offered stay.
    void set_roots(root_list places) { detail::client_set_roots(*core_, std::move(places)); }

    bool connected() const { return detail::client_connected(*core_); }
    /// What the server said in the handshake. *Errors*: errc::closed before it connected.
    const wire::initialize_result& server() const { return detail::client_server(*core_); }
    session_statistics statistics() const { return detail::client_statistics(*core_); }

private:
    call_timeouts times(std::string_view what) const { return policies_->timeouts.call(call_facts{what, {}}); }

    basic_client(std::unique_ptr<detail::target> where, identity who, client_options options,
                 policy_state<Policy> policies)
        : core_(std::make_shared<detail::client_core>()),
          policies_(std::make_shared<policy_state<Policy>>(std::move(policies)))
    {
        core_->server = std::move(where);
        core_->who = std::move(who);
        core_->options = std::make_shared<const client_options>(std::move(options));
        core_->roots = core_->options->offered_roots();
        core_->policy = policies_;
        core_->cap = any_output_cap(policies_->output_cap);
        core_->observer = observer_ref(policies_->observer);
        core_->reconnect = [own = policies_](const reconnect_facts& facts) { return own->reconnect.delay(facts); };
        core_->resend = [own = policies_](const replay_facts& facts) { return own->replay.resend(facts); };
    }

    std::shared_ptr<detail::client_core> core_;
    std::shared_ptr<policy_state<Policy>> policies_;
};

using client = basic_client<>;

/// The URLs that a user must visit before the request that failed can succeed (2025-11-25, elicitation: -32042); empty
/// for every other error. When `on_elicitation_complete` has told of them, or the user says so, make the request again.
inline std::vector<elicitation_request> url_elicitations(const error& of)
{
    return of.rpc() ? url_elicitations(*of.rpc()) : std::vector<elicitation_request>();
}

} // namespace comcp::inline COMCP_ABI
