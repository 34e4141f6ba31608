// SPDX-License-Identifier: MIT
//
// How a page is written: see server/listing.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/server/listing.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace comcp::inline COMCP_ABI::detail
{

inline char letter_of(entry_kind kind) { return "trmp"[static_cast<std::size_t>(kind)]; }

COMCP_DECL std::string write_cursor(entry_kind kind, std::uint64_t after)
{
    return letter_of(kind) + std::to_string(after);
}

COMCP_DECL std::optional<std::uint64_t> read_cursor(entry_kind kind, std::string_view text, const entry_set& list)
{
    if (!text.starts_with(letter_of(kind))) return std::nullopt;
    text.remove_prefix(1);
    std::uint64_t after = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), after);
    const bool canonical = failed == std::errc() && end == text.data() + text.size() && !text.starts_with('0');
    if (!canonical || after > list.last_number()) return std::nullopt;
    return after;
}

COMCP_DECL void write_page(std::string& out, std::string_view member, entry_kind kind, const entry_set& list,
                           std::uint64_t after, const page_limits& limits, const wire::codec& codec, revision at)
{
    append_all(out, {"{\"", member, "\":["});
    const std::size_t start = out.size();
    std::size_t items = 0;
    std::uint64_t last = 0;
    bool more = false;
    for (const entry_ptr& each : list.all()) {
        if (!each->enabled || each->number <= after) continue;
        if (items != 0 && (items >= limits.items || out.size() - start >= limits.bytes)) {
            more = true;
            break;
        }
        if (items++ != 0) out += ',';
        each->write(out, codec, at);
        last = each->number;
    }
    out += ']';
    if (more) write_string(out += R"(,"nextCursor":)", write_cursor(kind, last));
    out += '}';
}

} // namespace comcp::inline COMCP_ABI::detail
