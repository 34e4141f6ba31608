// SPDX-License-Identifier: MIT
//
// An MCP server: an identity, and the tools, resources and prompts that it offers to any number of sessions over any
// transport. It owns no socket, no thread and no loop. Not for one client's conversation: that is server_session.hpp.
#pragma once

#include <comcp/observer.hpp>
#include <comcp/policy.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/handler_error.hpp>
#include <comcp/server/handles.hpp>
#include <comcp/server/options.hpp>
#include <comcp/server/prompt.hpp>
#include <comcp/server/resource.hpp>
#include <comcp/server/tool.hpp>
#include <comcp/session/middleware.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/concept.hpp>

#include <boost/json/object.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

// What basic_server does, which knows no policy. `policy` keeps the observer alive.

std::shared_ptr<server_core> make_server(identity who, server_options options, std::shared_ptr<void> policy,
                                         observer_ref observer);
tool_handle add_tool(const std::shared_ptr<server_core>& core, tool described, tool_handler handler);
tool_handle add_tool(const std::shared_ptr<server_core>& core, std::string name, std::string description,
                     tool_handler handler);
resource_handle add_resource(const std::shared_ptr<server_core>& core, resource described, resource_handler handler);
resource_template_handle add_template(const std::shared_ptr<server_core>& core, resource_template described,
                                      resource_handler handler);
prompt_handle add_prompt(const std::shared_ptr<server_core>& core, prompt described, prompt_handler handler);
bool remove_tool(server_core& core, std::string_view name);
void resource_updated(server_core& core, std::string_view uri);
void set_handler_executor(server_core& core, executor ex);
void add_middleware(server_core& core, middleware part);
server_options& options_of(server_core& core);
const identity& identity_of(const server_core& core);
task<fault> serve(std::shared_ptr<server_core> core, std::unique_ptr<transport> wire);
void close_server(server_core& core);
void abandon_server(server_core& core);

} // namespace detail

/// A server with the policies of `Policy`. Neither copied nor moved. Destroying it ends its sessions at once; `serve`
/// calls that wait for them return.
///
/// Thread rule: safe to share between threads once it serves. Registering, the handles, `remove_tool` and
/// `resource_updated` work on any thread at any time; every session sees each change whole, and tells its client.
template <class Policy = default_policy>
class basic_server
{
    static_assert(assert_policy<Policy>());

public:
    explicit basic_server(identity who, server_options options = {}, policy_state<Policy> policies = {})
    {
        auto held = std::make_shared<policy_state<Policy>>(std::move(policies));
        const observer_ref observer(held->observer);
        core_ = detail::make_server(std::move(who), std::move(options), std::move(held), observer);
    }
    basic_server(std::string name, std::string version) : basic_server(identity(std::move(name), std::move(version))) {}
    basic_server(const basic_server&) = delete;
    basic_server& operator=(const basic_server&) = delete;
    ~basic_server() { detail::abandon_server(*core_); }

    /// Registers a tool. `handler` takes a struct described with BOOST_DESCRIBE_STRUCT (or nothing) and optionally a
    /// `comcp::context&`, and returns text, content, a `tool_result`, JSON, a number, or a described struct, or a
    /// `task` of one of these. A plain function runs in place and must be short; mark a long one with
    /// `comcp::blocking`.
    ///
    /// *Errors*: errc::invalid_argument when the name is empty or taken, or a note names no member.
    template <class Handler>
    tool_handle tool(std::string name, std::string description, Handler handler)
    {
        static_assert(!std::same_as<typename detail::handler_traits<Handler>::arguments, json::object>,
                      "a handler that takes json::object needs a schema: server.raw_tool(tool, handler)");
        return detail::add_tool(core_, std::move(name), std::move(description),
                                detail::make_tool_handler(std::move(handler)));
    }

    /// Registers a tool whose schema is written by hand; the handler takes `json::object` and optionally a context. Its
    /// arguments are only checked to be an object.
    ///
    /// *Errors*: errc::invalid_argument when the name is empty or taken, or a schema has another type than "object",
    /// which is added when none is there (F-6).
    template <class Handler>
    tool_handle raw_tool(comcp::tool described, Handler handler)
    {
        static_assert(std::same_as<typename detail::handler_traits<Handler>::arguments, json::object>,
                      "the handler of a raw tool takes json::object");
        return detail::add_tool(core_, std::move(described), detail::make_tool_handler(std::move(handler)));
    }

    /// A handle of a tool by its name; changes through it do nothing when there is no such tool.
    tool_handle find_tool(std::string name) { return tool_handle(core_, std::move(name)); }
    bool remove_tool(std::string_view name) { return detail::remove_tool(*core_, name); }

    /// Registers a resource. `handler` takes nothing or the URI, and optionally a `comcp::context&`; it returns text, a
    /// `comcp::blob`, `comcp::resource_contents` or a vector of them, or a `task` of one of these. Plain functions and
    /// `comcp::blocking` as for tools. A handler that throws is answered as an internal error with a fixed text: see
    /// server/handler_error.hpp for what it can say.
    ///
    /// *Errors*: errc::invalid_argument when the URI is taken, or is none: it begins with a scheme and has no spaces
    /// (RFC 3986: G-8).
    template <class Handler>
    resource_handle resource(std::string uri, std::string name, Handler handler)
    {
        return resource(comcp::resource(std::move(uri), std::move(name)), std::move(handler));
    }
    template <class Handler>
    resource_handle resource(comcp::resource described, Handler handler)
    {
        return detail::add_resource(core_, std::move(described), detail::make_resource_handler(std::move(handler)));
    }

    /// Registers resources whose URIs follow a template (RFC 6570; see `comcp::uri_template::parse`). `handler` takes a
    /// described struct whose members are variables of the template, `comcp::uri_variables`, or the URI as a
    /// `std::string`; all else as for `resource`. A URI is first looked for among the resources, then it is read by the
    /// first template, in the order of registration, that it follows and whose variables bind to the struct. Of `file:`
    /// URIs those are refused that could leave a directory.
    ///
    /// *Errors*: errc::invalid_argument when the template is malformed or taken, begins with no scheme, or lacks a
    /// variable of the struct.
    template <class Handler>
    resource_template_handle resource_template(std::string uri_template, std::string name, Handler handler)
    {
        return resource_template(comcp::resource_template(std::move(uri_template), std::move(name)),
                                 std::move(handler));
    }
    template <class Handler>
    resource_template_handle resource_template(comcp::resource_template described, Handler handler)
    {
        return detail::add_template(core_, std::move(described), detail::make_resource_handler(std::move(handler)));
    }

    /// Tells the clients that have subscribed to a resource that it has changed; several updates may be one notice.
    void resource_updated(std::string_view uri) { detail::resource_updated(*core_, uri); }

    /// Registers a prompt. `handler` takes a described struct (its members are the arguments, and required as for a
    /// tool) or a map from names to strings, and optionally a `comcp::context&`; it returns text or content (a message
    /// of the user), `comcp::prompt_message`, a vector of these or a `comcp::prompt_result`, or a `task` of one of
    /// these.
    ///
    /// *Errors*: errc::invalid_argument when the name is empty or taken.
    template <class Handler>
    prompt_handle prompt(std::string name, std::string description, Handler handler)
    {
        return prompt(comcp::prompt(std::move(name), std::move(description)), std::move(handler));
    }
    template <class Handler>
    prompt_handle prompt(comcp::prompt described, Handler handler)
    {
        return detail::add_prompt(core_, std::move(described), detail::make_prompt_handler(std::move(handler)));
    }

    /// Handles as of `find_tool`.
    resource_handle find_resource(std::string uri) { return resource_handle(core_, std::move(uri)); }
    resource_template_handle find_resource_template(std::string uri_template)
    {
        return resource_template_handle(core_, std::move(uri_template));
    }
    prompt_handle find_prompt(std::string name) { return prompt_handle(core_, std::move(name)); }

    /// Runs every handler on an executor of the host from now on: a thread pool, or a `manual_executor` that the host
    /// pumps. Sessions, ping, cancellation and timers stay where they are and go on when that executor stalls. Set
    /// before the first session.
    void handlers_on(executor ex) { detail::set_handler_executor(*core_, std::move(ex)); }

    /// Adds a part to the chain around every message of every session, inside of the ones before
    /// (session/middleware.hpp). Set before the first session.
    void use(middleware part) { detail::add_middleware(*core_, std::move(part)); }

    /// Options, until the first session starts.
    server_options& options() { return detail::options_of(*core_); }
    const identity& who() const { return detail::identity_of(*core_); }

    /// Serves one client until it leaves, on the caller's executor (a strand where several threads run the context).
    ///
    /// *Result*: why it ended; an empty fault is an orderly end of the client's input.
    /// *Errors*: those of opening the transport; errc::invalid_argument when a blocking tool has no executor.
    /// *Cancellation*: ends the session at once.
    task<fault> serve(std::unique_ptr<transport> wire) { return detail::serve(core_, std::move(wire)); }

    /// Ends all sessions in order: handlers are cancelled, queued answers still go out. Any thread; does not wait:
    /// `serve` returns when it is done.
    void close() { detail::close_server(*core_); }

    /// For the library.
    const std::shared_ptr<detail::server_core>& core() const { return core_; }

private:
    std::shared_ptr<detail::server_core> core_;
};

using server = basic_server<>;

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/server.ipp>
#endif
