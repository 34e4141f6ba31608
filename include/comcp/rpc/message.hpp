// SPDX-License-Identifier: MIT
//
// A JSON-RPC message as it was read: views into the parser that read it (parse.hpp), valid until its next parse. Not
// for building messages: those are written as text (print.hpp).
#pragma once

#include <comcp/config.hpp>
#include <comcp/rpc/id.hpp>

#include <boost/json/object.hpp>

#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::rpc
{

/// One request, notification or response.
struct message
{
    enum class kind { request, notification, result, error };

    kind type = kind::notification;
    /// Every request and result has an id; an error may come without one, when the peer could not read ours.
    bool has_id = false;
    rpc::id id;
    std::string_view method;
    const json::object* params = nullptr; ///< null when absent or null
    /// `params` was neither an object nor null: a request is to be answered with -32602.
    bool bad_params = false;
    const json::object* result = nullptr;
    const json::object* error = nullptr; ///< has an integer `code` and a string `message`
    std::string_view text;               ///< the whole message as it was received
};

/// What a text turned out to be.
struct parsed
{
    enum class status {
        message,  ///< `msg` is good
        batch,    ///< an array of messages, each judged by itself in `elements`
        not_json, ///< -32700
        too_deep, ///< nested deeper than the limit: -32700
        invalid,  ///< JSON, but no JSON-RPC message: -32600
    };

    status state = status::not_json;
    message msg;
    std::vector<parsed> elements;
    std::string_view why; ///< for a person, when the state is not `message` or `batch`
    /// An invalid message reveals a valid id, by which it can be answered or fails the call that it answers.
    bool id_known = false;
    rpc::id id;
    /// An object with `"jsonrpc":"2.0"`. Without it, a client takes the text for noise on the stream.
    bool has_jsonrpc = false;
    /// There is a `method`, of whatever type.
    bool has_method = false;
    /// There is a `result` or an `error`, be it null, and no `method`: an answer, however malformed.
    bool is_answer = false;
};

} // namespace comcp::inline COMCP_ABI::rpc
