// SPDX-License-Identifier: MIT
//
// Looking for notes: see json/describe.hpp.
#pragma once

#include <comcp/json/describe.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL notes& notes::add(std::string name, field note)
{
    entries_.emplace_back(std::move(name), std::move(note));
    return *this;
}

COMCP_DECL const field* notes::find(std::string_view name) const noexcept
{
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at) {
        if (at->first == name) return &at->second;
    }
    return nullptr;
}

namespace detail
{

COMCP_DECL const notes& no_notes() noexcept
{
    static const notes none;
    return none;
}

/// The first note on a member that does not exist.
inline const std::string* stray_note(std::span<const member_info> members, const notes& all) noexcept
{
    for (const auto& [name, note] : all) {
        bool known = false;
        for (const member_info& member : members) known = known || member.name == name;
        if (!known) return &name;
    }
    return nullptr;
}

COMCP_DECL result<void> check_notes(std::span<const member_info> members, const notes& extra, const notes& beside)
{
    const std::string* stray = stray_note(members, extra);
    if (!stray) stray = stray_note(members, beside);
    if (stray) return fail(errc::invalid_argument, "a note for the member \"" + *stray + "\", which does not exist");
    return {};
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
