// SPDX-License-Identifier: MIT
//
// Cutting and refusing: see policy/output_cap.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/policy/output_cap.hpp>

#include <cstddef>
#include <string>

namespace comcp::inline COMCP_ABI::policy
{

COMCP_DECL code_point_limit::code_point_limit(std::size_t limit) : limit_(limit)
{
    if (limit == 0) throw_fault(fail(errc::invalid_argument, "an output cap must be above zero"));
}

COMCP_DECL result<std::string> truncate::apply(std::string text) const
{
    if (text.size() <= limit()) return text; // never more code points than bytes: the usual case costs nothing
    const std::size_t total = detail::count_code_points(text);
    if (total <= limit()) return text;

    // The marker is longest when it names the cap itself, so that length is always enough.
    const std::size_t room = marker(limit(), total).size();
    if (room >= limit()) { // a cap too small for the marker: one sign stands for it
        text.resize(detail::code_point_offset(text, limit() - 1));
        text += "\u2026";
        return text;
    }
    const std::size_t shown = limit() - room;
    text.resize(detail::code_point_offset(text, shown));
    text += marker(shown, total);
    return text;
}

COMCP_DECL std::string truncate::marker(std::size_t shown, std::size_t total)
{
    return "\n[cut: " + std::to_string(shown) + " of " + std::to_string(total) + " characters shown]";
}

COMCP_DECL result<std::string> reject::apply(std::string text) const
{
    if (text.size() <= limit()) return text;
    const std::size_t total = detail::count_code_points(text);
    if (total <= limit()) return text;
    return fail(errc::too_large, "the result's text has " + std::to_string(total) +
                                     " characters, and the output cap is " + std::to_string(limit()));
}

} // namespace comcp::inline COMCP_ABI::policy
