// SPDX-License-Identifier: MIT
//
// How defaults are found: see json/defaults.hpp.
#pragma once

#include <comcp/json/defaults.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL struct_facts::struct_facts(const object_type& type, std::span<const member_info> its_members,
                                      const member_traits* traits, const notes& its_notes)
    : members(its_members),
      beside(its_notes)
{
    erased_object object(type);
    for (std::size_t index = 0; index < members.size(); ++index) {
        std::string text;
        std::string blank;
        traits[index].write(text, members[index].address(object.get()));
        traits[index].write_blank(blank);
        if (text == blank) text.clear();
        const bool optional = traits[index].optional;
        defaults.push_back({optional, text.empty() && !optional, text});
    }
}

COMCP_DECL struct_facts::~struct_facts() = default;

} // namespace comcp::inline COMCP_ABI::detail
