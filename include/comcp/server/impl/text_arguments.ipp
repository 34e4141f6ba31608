// SPDX-License-Identifier: MIT
//
// How texts become arguments: see server/text_arguments.hpp.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/server/text_arguments.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// The text as JSON: a string if the member takes one.
inline json::value value_for(const std::string& text, const bind_function bind, void* member)
{
    json::value value(json::string_view(text.data(), text.size()));
    bind_errors trial;
    bind(value, member, bind_scope{trial});
    if (trial.empty()) return value;
    auto spelt = parse_json(text, 1);
    if (spelt && (spelt->is_number() || spelt->is_bool())) return std::move(*spelt);
    return value;
}

COMCP_DECL void bind_texts(const text_map& from, const text_arguments& how, void* to, bind_errors& errors)
{
    if (how.copy) return how.copy(from, to);
    if (!how.described) return;
    const struct_facts& facts = how.described->facts();
    json::value object(json::object_kind);
    for (std::size_t index = 0; index < facts.members.size(); ++index) {
        const member_info& member = facts.members[index];
        const auto found = from.find(member.name);
        if (found == from.end()) continue;
        object.get_object()[json::string_view(member.name.data(), member.name.size())] =
            value_for(found->second, how.described->bind[index], member.address(to));
    }
    bind_members(object, to, facts, how.described->bind, bind_scope{errors});
}

} // namespace comcp::inline COMCP_ABI::detail
