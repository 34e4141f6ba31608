// SPDX-License-Identifier: MIT
//
// How questions are read, judged and answered: see client/asked.hpp.
#pragma once

#include <comcp/client/asked.hpp>
#include <comcp/wire/legacy.hpp>

#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

inline void refuse_params(const std::optional<fault>& why)
{
    if (why) throw request_error(rpc_code::invalid_params, why->text);
}

COMCP_DECL void refuse_not_finite()
{
    throw request_error(rpc_code::internal_error, "a number of the answer is not finite");
}

COMCP_DECL sampling_request sampling_question::read(const json::object& params, const client_context& of)
{
    auto asked = read_sampling_request(params);
    if (!asked) refuse_params(asked.error());
    refuse_params(check_sampling(*asked, of.declared()));
    return std::move(*asked);
}

/// What a handler answered is not what the server must get.
inline void refuse_answer(const std::string& why) { throw request_error(rpc_code::internal_error, why); }

COMCP_DECL sampling_request sampling_question::check(const json::object& params, const client_context& of)
{
    const bool tools = params.contains("tools") || params.contains("toolChoice");
    if (tools && !of.declared().has("sampling", "tools")) // H-13, also when the rest cannot be read
        refuse_params(fail(errc::unsupported, "tools in sampling were not declared"));
    auto asked = read_sampling_request(params);
    if (!asked) return {};
    refuse_params(check_sampling(*asked, of.declared()));
    return std::move(*asked);
}

COMCP_DECL void sampling_question::check_answer(const request&, const json::object& given)
{
    if (const auto read = read_sampling_result(given); !read) refuse_answer(read.error().text);
}

COMCP_DECL std::string sampling_question::write(const request&, result given, const client_context& of)
{
    if (given.model.empty()) refuse_answer("the answer names no model");
    std::string text;
    if (!wire::legacy_codec().write_sampling_result(text, given, of.version())) refuse_not_finite();
    return text;
}

COMCP_DECL elicitation_request elicitation_question::read(const json::object& params, const client_context& of)
{
    auto asked = read_elicitation_request(params);
    if (!asked) refuse_params(asked.error());
    refuse_params(check_elicitation(*asked, of.declared()));
    return std::move(*asked);
}

COMCP_DECL elicitation_request elicitation_question::check(const json::object& params, const client_context& of)
{
    return read(params, of);
}

inline void check_form_answer(const json::object& schema, const json::object& content)
{
    const auto problems = check_form(schema, content);
    if (problems.empty()) return;
    std::string why = "the answer does not fit the form";
    for (const std::string& each : problems) why += "; " + each;
    refuse_answer(why);
}

COMCP_DECL void elicitation_question::check_answer(const request& asked, const json::object& given)
{
    const auto read = read_elicitation_result(given);
    if (!read) return refuse_answer(read.error().text);
    if (asked.mode == elicitation_mode::form && read->accepted())
        check_form_answer(asked.requested_schema, read->content);
}

COMCP_DECL std::string elicitation_question::write(const request& asked, result given, const client_context& of)
{
    if (asked.mode == elicitation_mode::form && given.accepted()) {
        fill_defaults(asked.requested_schema, given.content);
        check_form_answer(asked.requested_schema, given.content);
    }
    std::string text;
    if (!wire::legacy_codec().write_elicitation_result(text, given, asked.mode, of.version())) refuse_not_finite();
    return text;
}

} // namespace comcp::inline COMCP_ABI::detail
