// SPDX-License-Identifier: MIT
//
// The seam between the neutral model and the eras of the wire: which methods exist, what a closed exchange means, and
// how things are written. One instance per era; everything that differs between revisions is asked here. Not for the
// JSON-RPC envelope (rpc/), nor for reading: readers take every revision's form (protocol/).
#pragma once

#include <comcp/protocol/completion.hpp>
#include <comcp/protocol/elicitation.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/protocol/prompts.hpp>
#include <comcp/protocol/resources.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/roots.hpp>
#include <comcp/protocol/sampling.hpp>
#include <comcp/protocol/tools.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::wire
{

/// Who sends a message.
enum class sender : std::uint8_t {
    client,
    server,
    either,
};

enum class kind : std::uint8_t {
    request,
    notification,
};

/// One row of an era's table of methods.
struct method_info
{
    std::string_view name;
    wire::kind kind;
    wire::sender sender;
    revision since; ///< the first revision that has it
    revision until; ///< the last one
    /// What must be declared: by the receiver of a request, by the sender of a notification. Empty: nothing.
    std::string_view capability;
    std::string_view part; ///< a flag inside of the capability; empty: none
};

/// What goes into the `_meta` of a request. Both may be null, and must outlive the writing.
struct request_meta
{
    const progress_token* token = nullptr;
    const json::object* members = nullptr; ///< a `progressToken` in it gives way to `token`

    constexpr request_meta() noexcept = default;
    constexpr request_meta(const progress_token* its_token, const json::object* its_members = nullptr) noexcept
        : token(its_token),
          members(its_members)
    {}
};

/// One era. Functions append JSON text on one line to `out`; optional members that are not set are never written.
class codec
{
public:
    codec(const codec&) = delete;
    codec& operator=(const codec&) = delete;

    /// The row of a method that `from` may send, or null: then it is -32601 (or ignored, for a notification).
    virtual const method_info* find(sender from, kind what, std::string_view method, revision at) const noexcept = 0;

    /// Whether a JSON array of messages is taken.
    virtual bool receives_batches(revision at) const noexcept = 0;
    /// Whether a peer that closes an exchange (an HTTP response stream) thereby cancels its request.
    virtual bool close_cancels(revision at) const noexcept = 0;
    /// The HTTP status that an error answer has (E-16).
    virtual int http_status(std::int64_t code, revision at) const noexcept = 0;
    /// Whether an error that answers an unreadable request has `"id":null`; else it has no id.
    virtual bool null_error_id(revision at) const noexcept = 0;

    /// The code of the error that says that a resource does not exist (G-5).
    virtual int resource_not_found_code(revision at) const noexcept = 0;

    // ---- params. Those that return a result write nothing when the revision cannot say it: the fault is
    // ---- `errc::unsupported`, or `errc::invalid_argument` when no revision could.

    /// Params of tools/call. `arguments` is the text of an object, or empty for none.
    virtual void write_call_params(std::string& out, std::string_view tool, std::string_view arguments,
                                   const request_meta& meta, revision at) const = 0;
    /// Params of resources/read, subscribe and unsubscribe, and of notifications/resources/updated.
    virtual void write_uri_params(std::string& out, std::string_view uri, const request_meta& meta,
                                  revision at) const = 0;
    /// Params of prompts/get. `arguments` is the text of an object of strings, or empty for none.
    virtual void write_prompt_params(std::string& out, std::string_view prompt, std::string_view arguments,
                                     const request_meta& meta, revision at) const = 0;
    /// Params of completion/complete. The token joins the request's own `meta`, here and in the two that follow.
    virtual void write_completion_params(std::string& out, const completion_request& request,
                                         const progress_token* token, revision at) const = 0;
    /// Params of sampling/createMessage. Before 2025-11-25 a message has one block: a longer one becomes several, and
    /// there are no tools, which is a fault.
    virtual result<void> write_sampling_params(std::string& out, const sampling_request& request,
                                               const progress_token* token, revision at) const = 0;
    /// Params of elicitation/create. A fault before 2025-06-18, for mode url before 2025-11-25, and for a schema that
    /// is no form of the revision (`form_schema_for`).
    virtual result<void> write_elicitation_params(std::string& out, const elicitation_request& request,
                                                  const progress_token* token, revision at) const = 0;
    /// Params of notifications/elicitation/complete.
    virtual void write_elicitation_complete_params(std::string& out, std::string_view id, revision at) const = 0;
    /// Params of notifications/cancelled; an empty reason is left out.
    virtual void write_cancelled_params(std::string& out, const rpc::id& request, std::string_view reason,
                                        revision at) const = 0;
    /// Params of notifications/progress.
    virtual void write_progress_params(std::string& out, const progress_token& token, const progress& now,
                                       revision at) const = 0;
    /// Params of notifications/message.
    virtual void write_log_params(std::string& out, const log_message& message, revision at) const = 0;

    // ---- items and results. False when a number was NaN or infinite, which JSON has no word for: then there is null
    // ---- in its place.

    /// One item of a list of tools.
    virtual bool write_tool(std::string& out, const tool& item, revision at) const = 0;
    /// One content block.
    virtual bool write_content(std::string& out, const content& block, revision at) const = 0;
    /// The result of tools/call.
    virtual bool write_tool_result(std::string& out, const tool_result& value, revision at) const = 0;
    /// The result of tools/call that is one text block.
    virtual void write_text_result(std::string& out, std::string_view text, bool is_error, revision at) const = 0;
    /// One item of a list of resources.
    virtual bool write_resource(std::string& out, const resource& item, revision at) const = 0;
    /// One item of a list of resource templates.
    virtual bool write_resource_template(std::string& out, const resource_template& item, revision at) const = 0;
    /// One of the contents of a resource.
    virtual bool write_resource_contents(std::string& out, const resource_contents& item, revision at) const = 0;
    /// The result of resources/read.
    virtual bool write_resource_result(std::string& out, const resource_result& value, revision at) const = 0;
    /// One item of a list of prompts.
    virtual bool write_prompt(std::string& out, const prompt& item, revision at) const = 0;
    /// The result of prompts/get.
    virtual bool write_prompt_result(std::string& out, const prompt_result& value, revision at) const = 0;
    /// The result of completion/complete: at most 100 values.
    virtual bool write_completion(std::string& out, const completion& value, revision at) const = 0;
    /// The result of roots/list.
    virtual bool write_roots(std::string& out, const root_list& roots, revision at) const = 0;
    /// The result of sampling/createMessage. Before 2025-11-25 it has one block: several become one text.
    virtual bool write_sampling_result(std::string& out, const sampling_result& value, revision at) const = 0;
    /// The result of elicitation/create: only an accepted form has content.
    virtual bool write_elicitation_result(std::string& out, const elicitation_result& value, elicitation_mode asked,
                                          revision at) const = 0;

protected:
    codec() = default;
    ~codec() = default;
};

} // namespace comcp::inline COMCP_ABI::wire
