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

COMCP_DECL sampling_request sampling_question::read(const json::object& params, const client_context& of)
{
    auto asked = read_sampling_request(params);
    if (!asked) refuse_params(asked.error());
    refuse_params(check_sampling(*asked, of.declared()));
    return std::move(*asked);
}

COMCP_DECL void sampling_question::check(const json::object& params, const client_context& of)
{
    const bool tools = params.contains("tools") || params.contains("toolChoice");
    if (tools && !of.declared().has("sampling", "tools")) // H-13, also when the rest cannot be read
        refuse_params(fail(errc::unsupported, "tools in sampling were not declared"));
    if (const auto asked = read_sampling_request(params)) refuse_params(check_sampling(*asked, of.declared()));
}

COMCP_DECL std::string sampling_question::write(const request&, result given, const client_context& of)
{
    std::string text;
    wire::legacy_codec().write_sampling_result(text, given, of.version());
    return text;
}

COMCP_DECL elicitation_request elicitation_question::read(const json::object& params, const client_context& of)
{
    auto asked = read_elicitation_request(params);
    if (!asked) refuse_params(asked.error());
    refuse_params(check_elicitation(*asked, of.declared()));
    return std::move(*asked);
}

COMCP_DECL void elicitation_question::check(const json::object& params, const client_context& of)
{
    if (const auto asked = read_elicitation_request(params)) refuse_params(check_elicitation(*asked, of.declared()));
}

COMCP_DECL std::string elicitation_question::write(const request& asked, result given, const client_context& of)
{
    if (asked.mode == elicitation_mode::form && given.accepted()) {
        fill_defaults(asked.requested_schema, given.content);
        const auto problems = check_form(asked.requested_schema, given.content);
        if (!problems.empty()) {
            std::string why = "the answer does not fit the form";
            for (const std::string& each : problems) why += "; " + each;
            throw request_error(rpc_code::internal_error, why);
        }
    }
    std::string text;
    wire::legacy_codec().write_elicitation_result(text, given, asked.mode, of.version());
    return text;
}

} // namespace comcp::inline COMCP_ABI::detail
