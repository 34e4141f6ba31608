// SPDX-License-Identifier: MIT
//
// What a handler can do besides returning a result: report progress, log, ask the client, see whether it was cancelled.
// The same on every executor: a context works on the session's own and on the host's (`handlers_on`).
#pragma once

#include <comcp/json/result.hpp>
#include <comcp/limits.hpp>
#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/elicitation.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/roots.hpp>
#include <comcp/protocol/sampling.hpp>
#include <comcp/server/request_options.hpp>
#include <comcp/task.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{
class inbound;
class session;
struct handler_environment;
} // namespace detail

/// One call as its handler sees it. Passed by reference, copyable, and safe to keep: after the call has ended it does
/// nothing. Thread rule: the handler's executor.
class context
{
public:
    context(std::shared_ptr<const detail::handler_environment> environment, std::shared_ptr<detail::inbound> request,
            bool elsewhere);

    /// Reports progress, if the client asked for it; never waits. Values must rise. A notice for which the output has
    /// no room is dropped: answers come first (2025-11-25, progress).
    void progress(double value, std::optional<double> total = {}, std::string message = {});
    /// The same with further members, for relays.
    void progress(comcp::progress now);

    /// Sends a log message to the client, if it is at or above the level that the client set (info before that); never
    /// waits, and gives way to answers like progress. Must not hold secrets (G-43).
    void log(log_level level, std::string_view text, std::string logger = {});
    void log_value(log_level level, json::value data, std::string logger = {});

    /// Ends the connection on which the client waits, without ending the call: the client comes back, after `retry` or
    /// what the service says (`http_service_options::retry`), and gets what followed and the result. For long calls, so
    /// that no connection stands open for them; never waits.
    ///
    /// Nothing happens where the client could not come back: not over HTTP, before 2025-11-25, without resumption, and
    /// for a client that takes no stream (2025-11-25, transports).
    void close_stream(std::optional<duration> retry = {});

    /// The client gave the call up, or the session ended: its result goes nowhere. A coroutine is also cancelled.
    bool cancelled() const;

    /// The revision that was negotiated, and who the client says it is (unverified).
    revision version() const;
    const identity& client() const;
    const client_capabilities& capabilities() const;

    /// Who the host's authorization says the client is (HTTP); empty: nobody in particular.
    const std::string& principal() const;

    /// The request's id as text, for logs.
    std::string request_id() const;
    /// The text of `arguments` as it was received, when the server keeps it (`server_options::keep_source`); else
    /// empty.
    const std::string& arguments_source() const;
    /// `_meta` of the request.
    const json::object& meta() const;

    // ---- questions to the client. They go out while the call is served, and are cancelled with it.
    //
    // *Errors* of all: errc::unsupported, not sent, when the client did not declare what is needed or its revision
    // lacks it; errc::timed_out after `limits::server_request` (60 s) or the time of the options; errc::refused with
    // the client's error; errc::invalid_message when the answer cannot be what was asked for; otherwise as every
    // request. *Cancellation*: the client is told.

    /// Asks for the client's roots (2025-11-25, roots). They are as the client said: `check_root` tells which are
    /// sound.
    task<root_list> list_roots(request_options options = {});
    /// How often the client has said that its roots changed: those that were got at an older count may be stale.
    std::uint64_t roots_changes() const;

    /// Asks the client's model (2025-11-25, sampling). *Errors*: errc::invalid_argument, not sent, when tool uses and
    /// their results do not fit together (H-14).
    task<sampling_result> sample(sampling_request asked, request_options options = {});
    /// The same with params and result as the specification has them, not converted: for relays. *Errors*:
    /// errc::invalid_argument, not sent, for a number that is not finite; errc::invalid_message for a result that lacks
    /// what it must have.
    task<json::object> sample(json::object params);

    /// Asks the user, with a form or by a URL (2025-11-25, elicitation). What is accepted fits the form. Not for
    /// secrets: those need a URL (H-25). *Errors*: errc::invalid_argument, not sent, when the schema is no form.
    task<elicitation_result> elicit(elicitation_request asked, request_options options = {});
    /// The same as for `sample`. *Errors*: also errc::invalid_argument, not sent, for params that lack what they must
    /// have; what is accepted fits the form.
    task<json::object> elicit(json::object params);
    /// A form made of a struct: `const auto got = co_await ctx.elicit<booking>("For when?"); if (got) use(got->day);`
    template <form_struct T>
    task<form_answer<T>> elicit(std::string message, request_options options = {})
    {
        elicitation_request asked = elicitation_request::form(std::move(message), form_schema_of<T>());
        const elicitation_result got = co_await elicit(std::move(asked), std::move(options));
        co_return read_form_answer<T>(got).value();
    }
    /// Sends the user to a URL (since 2025-11-25). That it is accepted means that it is opened, not what is done there;
    /// once that is known, `elicitation_complete(id)` may tell the client.
    task<elicitation_result> elicit_url(std::string message, std::string url, std::string id,
                                        request_options options = {});
    /// Tells this client that what was asked for at a URL is done (2025-11-25, elicitation); older ones are not told.
    /// Also after the call has ended, and on any thread.
    void elicitation_complete(std::string id) const;

    /// For the library: what belongs to the call's arguments.
    void attach(std::shared_ptr<const std::string> source, std::shared_ptr<const json::object> meta,
                bool owes_structure);
    /// For the library: the handler does not run on the session's executor.
    bool elsewhere() const { return elsewhere_; }
    /// For the library: the call's tool declared an output schema.
    bool owes_structure() const { return owes_structure_; }
    /// For the library.
    const detail::handler_environment& environment() const { return *environment_; }
    /// For the library.
    const std::shared_ptr<detail::inbound>& request() const { return request_; }

private:
    using write_params = std::function<void(std::string& out, const progress_token* token)>;

    void require(std::string_view capability) const;
    task<json_result> ask(std::string_view what, write_params write, request_options options) const;

    std::shared_ptr<const detail::handler_environment> environment_;
    std::shared_ptr<detail::inbound> request_;
    std::shared_ptr<const std::string> source_; // null: none
    std::shared_ptr<const json::object> meta_;
    bool elsewhere_;
    bool owes_structure_ = false;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/context.ipp>
#endif
