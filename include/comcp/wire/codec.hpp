// SPDX-License-Identifier: MIT
//
// The seam between the neutral model and the eras of the wire: which methods exist, what a closed exchange means, and
// how things are written. One instance per era; everything that differs between revisions is asked here. Not for the
// JSON-RPC envelope (rpc/), nor for reading: readers take every revision's form (protocol/).
#pragma once

#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/tools.hpp>

#include <cstdint>
#include <string>
#include <string_view>

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

    /// Params of tools/call. `arguments` is the text of an object, or empty for none; `token` may be null.
    virtual void write_call_params(std::string& out, std::string_view tool, std::string_view arguments,
                                   const progress_token* token, revision at) const = 0;
    /// Params of notifications/cancelled; an empty reason is left out.
    virtual void write_cancelled_params(std::string& out, const rpc::id& request, std::string_view reason,
                                        revision at) const = 0;
    /// Params of notifications/progress.
    virtual void write_progress_params(std::string& out, const progress_token& token, const progress& now,
                                       revision at) const = 0;
    /// Params of notifications/message.
    virtual void write_log_params(std::string& out, const log_message& message, revision at) const = 0;

    /// One item of a list of tools.
    virtual void write_tool(std::string& out, const tool& item, revision at) const = 0;
    /// One content block.
    virtual void write_content(std::string& out, const content& block, revision at) const = 0;
    /// The result of tools/call.
    virtual void write_tool_result(std::string& out, const tool_result& value, revision at) const = 0;
    /// The result of tools/call that is one text block.
    virtual void write_text_result(std::string& out, std::string_view text, bool is_error, revision at) const = 0;

protected:
    codec() = default;
    ~codec() = default;
};

} // namespace comcp::inline COMCP_ABI::wire
