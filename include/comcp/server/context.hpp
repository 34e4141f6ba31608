// SPDX-License-Identifier: MIT
//
// What a handler can do besides returning a result: report progress, log, ask the client, see whether it was cancelled.
// The same on every executor: a context works on the session's own and on the host's (`handlers_on`).
#pragma once

#include <comcp/json/result.hpp>
#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/roots.hpp>
#include <comcp/task.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

    /// Sends a log message to the client, if it is at or above the level that the client set (info before that); never
    /// waits, and gives way to answers like progress. Must not hold secrets (G-43).
    void log(log_level level, std::string_view text, std::string logger = {});
    void log_value(log_level level, json::value data, std::string logger = {});

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

    /// Asks the client for its roots (2025-11-25, roots).
    ///
    /// *Errors*: errc::unsupported, not sent, when the client did not declare them; otherwise as every request.
    /// *Cancellation*: the client is told.
    task<std::vector<root>> list_roots();

    /// Asks the client's model (2025-11-25, sampling). `params` and the result are those of the specification.
    task<json::object> sample(json::object params);

    /// Asks the user through the client (2025-11-25, elicitation). `params` and the result are those of the
    /// specification.
    task<json::object> elicit(json::object params);

    /// For the library: what belongs to the call's arguments.
    void attach(std::shared_ptr<const std::string> source, std::shared_ptr<const json::object> meta);
    /// For the library.
    const detail::handler_environment& environment() const { return *environment_; }
    /// For the library.
    const std::shared_ptr<detail::inbound>& request() const { return request_; }

private:
    task<json_result> request(std::string_view capability, std::string_view what, std::string params);

    std::shared_ptr<const detail::handler_environment> environment_;
    std::shared_ptr<detail::inbound> request_;
    std::shared_ptr<const std::string> source_; // null: none
    std::shared_ptr<const json::object> meta_;
    bool elsewhere_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/context.ipp>
#endif
