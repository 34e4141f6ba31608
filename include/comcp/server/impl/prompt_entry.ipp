// SPDX-License-Identifier: MIT
//
// How prompts are made: see server/prompt_entry.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/error.hpp>
#include <comcp/server/prompt_entry.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL prompt_entry::prompt_entry(prompt described, prompt_handler handler)
    : info(std::move(described)),
      handler_(std::move(handler))
{
    if (!handler_.texts.described) return;
    const struct_facts& facts = handler_.texts.described->facts();
    for (std::size_t index = 0; index < facts.members.size(); ++index) {
        const std::string_view name = facts.members[index].name;
        prompt_argument* argument = find(name);
        if (!argument) argument = &info.arguments.emplace_back(std::string(name));
        argument->required = facts.defaults[index].required;
        const field* note = facts.beside.find(name);
        if (!note) continue;
        if (argument->title.empty()) argument->title = note->title();
        if (argument->description.empty()) argument->description = note->description();
    }
}

COMCP_DECL void prompt_entry::write(std::string& out, const wire::codec& codec, revision at) const
{
    codec.write_prompt(out, info, at);
}

COMCP_DECL void prompt_entry::get(const handler_call& call, const json::object& arguments) const
{
    // 2025-11-25, prompts: values are strings, and what is required must be there (G-21, G-22).
    const auto refuse = [&](std::string_view why) { call.now().send_error(rpc_code::invalid_params, why); };
    text_map texts;
    for (const json::key_value_pair& each : arguments) {
        if (each.value().is_null()) continue;
        const std::string_view name(each.key().data(), each.key().size());
        const json::string* text = each.value().if_string();
        if (!text) return refuse("the argument \"" + std::string(first_code_points(name, 64)) + "\" must be a string");
        texts.emplace(name, std::string_view(text->data(), text->size()));
    }
    for (const prompt_argument& each : info.arguments)
        if (each.required && !texts.contains(each.name)) return refuse("the argument \"" + each.name + "\" is missing");
    run_handler(handler_.run, call, [&](void* given) {
        bind_errors errors;
        bind_texts(texts, handler_.texts, given, errors);
        if (!errors.empty()) refuse("invalid arguments:\n" + errors.text());
        return errors.empty();
    });
}

COMCP_DECL prompt_argument* prompt_entry::find(std::string_view name)
{
    const auto found = std::ranges::find(info.arguments, name, &prompt_argument::name);
    return found == info.arguments.end() ? nullptr : &*found;
}

COMCP_DECL bool prompt_entry::complete(const handler_call& call, const completion_request& asked) const
{
    if (std::ranges::find(info.arguments, asked.argument, &prompt_argument::name) == info.arguments.end()) return false;
    completers_.complete(call, asked);
    return true;
}

COMCP_DECL void prompt_entry::set_completer(std::string argument, erased_handler completer)
{
    if (!find(argument))
        throw error(fail(errc::invalid_argument, "prompt \"" + info.name + "\" has no argument \"" + argument + "\""));
    completers_.set(std::move(argument), std::move(completer));
}

COMCP_DECL void prompt_entry::describe(std::string_view argument, std::string description, std::string title)
{
    prompt_argument* found = find(argument);
    if (!found)
        throw error(fail(errc::invalid_argument,
                         "prompt \"" + info.name + "\" has no argument \"" + std::string(argument) + "\""));
    found->description = std::move(description);
    if (!title.empty()) found->title = std::move(title);
}

} // namespace comcp::inline COMCP_ABI::detail
