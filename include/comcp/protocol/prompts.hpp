// SPDX-License-Identifier: MIT
//
// Prompts: templates of messages that a person chooses. Readers take what is in the field: a bad prompt is a fault of
// that prompt alone, and any result can be read. Not for how a revision writes them (wire/).
#pragma once

#include <comcp/protocol/content.hpp>
#include <comcp/protocol/role.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// An argument of a prompt; its value is a string. What is empty was not given.
class prompt_argument
{
public:
    std::string name;
    std::string title; ///< for people, since 2025-06-18
    std::string description;
    bool required = false;
    json::object extra; ///< members that the specification does not name

    prompt_argument() = default;
    explicit prompt_argument(std::string called, std::string meaning = {}, bool needed = false)
        : name(std::move(called)),
          description(std::move(meaning)),
          required(needed)
    {}
};

/// A prompt as a server offers it. What is empty was not given.
class prompt
{
public:
    std::string name;
    std::string title; ///< for people, since 2025-06-18
    std::string description;
    std::vector<prompt_argument> arguments;
    std::vector<icon> icons; ///< since 2025-11-25
    json::object meta;       ///< `_meta`
    json::object extra;      ///< members that the specification does not name

    prompt() = default;
    explicit prompt(std::string called, std::string meaning = {})
        : name(std::move(called)),
          description(std::move(meaning))
    {}

    /// What a person should see.
    const std::string& display_name() const noexcept { return title.empty() ? name : title; }
};

/// Arguments of a prompt beyond this count are dropped by the reader.
inline constexpr std::size_t max_prompt_arguments = 1000;

/// Reads one item of a list of prompts. A fault means that it cannot be asked for: it is no object, or has no name.
/// Arguments without a name are left out.
result<prompt> read_prompt(const json::value& from);

/// One message: who speaks, and one block.
class prompt_message
{
public:
    comcp::role role = comcp::role::user;
    comcp::content content;
    json::object extra; ///< members that the specification does not name

    prompt_message() = default;
    prompt_message(comcp::role who, comcp::content what) : role(who), content(std::move(what)) {}

    static prompt_message user(std::string text) { return {comcp::role::user, comcp::content::text(std::move(text))}; }
    static prompt_message assistant(std::string text)
    {
        return {comcp::role::assistant, comcp::content::text(std::move(text))};
    }
};

/// What prompts/get gave.
class prompt_result
{
public:
    std::string description; ///< empty when it was not given
    std::vector<prompt_message> messages;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name
    /// What was malformed, one sentence each; empty for a sound result.
    std::vector<std::string> oddities;
    /// The whole result as it was received, when it was kept.
    std::string source;

    prompt_result() = default;
    explicit prompt_result(prompt_message only) { messages.push_back(std::move(only)); }
    explicit prompt_result(std::vector<prompt_message> all) : messages(std::move(all)) {}
};

/// Reads a result of prompts/get. Never fails: what is odd is kept where it can be, and named in `oddities`. Messages
/// beyond `max_content_blocks` are dropped. Give `source`, the text of the same object, to keep it.
prompt_result read_prompt_result(const json::object& from, std::string_view source = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/prompts.ipp>
#endif
