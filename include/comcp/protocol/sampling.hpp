// SPDX-License-Identifier: MIT
//
// Sampling: a server asks the client's model to go on with a conversation. The model of request and result, and the
// rules that both sides check. Not the model itself, and not a person's consent: a callback of the host has both.
#pragma once

#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/content.hpp>
#include <comcp/protocol/role.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace rpc_code
{
/// A person refused a request for sampling (up to 2025-11-25).
inline constexpr int user_rejected = -1;
} // namespace rpc_code

/// One message of the conversation. More than one block exists since 2025-11-25.
class sampling_message
{
public:
    comcp::role role = comcp::role::user;
    std::vector<comcp::content> content;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name

    sampling_message() = default;
    sampling_message(comcp::role who, comcp::content what) : role(who) { content.push_back(std::move(what)); }
    sampling_message(comcp::role who, std::vector<comcp::content> what) : role(who), content(std::move(what)) {}

    static sampling_message user(std::string text)
    {
        return {comcp::role::user, comcp::content::text(std::move(text))};
    }
    static sampling_message assistant(std::string text)
    {
        return {comcp::role::assistant, comcp::content::text(std::move(text))};
    }
};

/// What a model may be called: its name, or a part of it.
class model_hint
{
public:
    std::string name;
    json::object extra; ///< members that the specification does not name

    model_hint() = default;
    model_hint(std::string wanted) : name(std::move(wanted)) {}
    model_hint(const char* wanted) : name(wanted) {}
};

/// Which model is wanted; priorities are from 0 to 1. The client decides.
class model_preferences
{
public:
    std::vector<model_hint> hints; ///< the best first
    std::optional<double> cost_priority;
    std::optional<double> speed_priority;
    std::optional<double> intelligence_priority;
    json::object extra; ///< members that the specification does not name

    model_preferences() = default;
};

/// Further hints of one request are dropped by the reader.
inline constexpr std::size_t max_model_hints = 1000;

/// Which servers' context the client should add. All but `none` need the client's sampling.context.
enum class include_context {
    none,
    this_server,
    all_servers,
};

/// Whether the model uses tools: as it likes, at least one, or none.
enum class tool_choice {
    automatic,
    required,
    none,
};

constexpr std::string_view to_string(include_context value) noexcept
{
    return value == include_context::none          ? "none"
           : value == include_context::this_server ? "thisServer"
                                                   : "allServers";
}

constexpr std::string_view to_string(tool_choice value) noexcept
{
    return value == tool_choice::automatic ? "auto" : value == tool_choice::required ? "required" : "none";
}

/// The params of sampling/createMessage. What is empty was not given.
class sampling_request
{
public:
    std::vector<sampling_message> messages;
    std::int64_t max_tokens = 0; ///< the most that the model may write; required
    std::optional<model_preferences> preferences;
    std::string system_prompt;
    std::optional<comcp::include_context> include_context;
    std::optional<double> temperature;
    std::vector<std::string> stop_sequences;
    std::optional<json::object> metadata; ///< for the provider of the model
    std::vector<tool> tools;              ///< since 2025-11-25
    std::optional<comcp::tool_choice> tool_choice;
    json::object tool_choice_extra; ///< members of `toolChoice` that the specification does not name
    json::object meta;              ///< `_meta`
    json::object extra;             ///< members that the specification does not name
    /// What was malformed and could be passed over, one sentence each.
    std::vector<std::string> oddities;

    sampling_request() = default;
    sampling_request(std::vector<sampling_message> conversation, std::int64_t most_tokens)
        : messages(std::move(conversation)),
          max_tokens(most_tokens)
    {}
    /// One question of the user.
    sampling_request(std::string question, std::int64_t most_tokens) : max_tokens(most_tokens)
    {
        messages.push_back(sampling_message::user(std::move(question)));
    }
};

/// What the model wrote.
class sampling_result
{
public:
    comcp::role role = comcp::role::assistant;
    std::vector<comcp::content> content;
    std::string model;       ///< its name
    std::string stop_reason; ///< "endTurn", "stopSequence", "maxTokens", "toolUse" or another; empty: not known
    json::object meta;       ///< `_meta`
    json::object extra;      ///< members that the specification does not name
    /// What was malformed and could be passed over, one sentence each.
    std::vector<std::string> oddities;

    sampling_result() = default;
    sampling_result(std::string text, std::string model_name, std::string why_stopped = "endTurn")
        : model(std::move(model_name)),
          stop_reason(std::move(why_stopped))
    {
        content.push_back(comcp::content::text(std::move(text)));
    }
};

/// Reads what a server asks for. The fault is for -32602: no array of messages, or no maxTokens of at least 0. Messages
/// beyond `max_content_blocks` are a fault too, because a conversation with a hole means something else.
result<sampling_request> read_sampling_request(const json::object& from);

/// Reads what a client answered. A fault when it has no role, no model or no content, or a block that lacks what its
/// type requires. A plain string in place of a block is taken for a text, and blocks of other types are kept.
result<sampling_result> read_sampling_result(const json::object& from);

/// The rules of a request, for the server before it sends and for the client before it asks its model (2025-11-25,
/// sampling). Nothing when all hold, else a fault:
/// `errc::unsupported` when the client lacks sampling, or sampling.tools although the request has tools, a choice of
/// tools, or blocks of them; `errc::invalid_argument` when the blocks do not fit together: each tool use of an
/// assistant message needs its result in the next message, which is the user's and consists of results only.
/// A client answers both with -32602.
std::optional<fault> check_sampling(const sampling_request& request, const client_capabilities& peer);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/sampling.ipp>
#endif
