// SPDX-License-Identifier: MIT
//
// One page of a list. Cursors say after which entry to go on, so they hold for ever and for every session: what is
// added or removed between two pages neither repeats nor hides anything else. Pure.
#pragma once

#include <comcp/server/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

struct page_limits
{
    std::size_t items;
    std::size_t bytes; ///< the item that reaches it is the last
};

/// Opaque for clients.
std::string write_cursor(entry_kind kind, std::uint64_t after);

/// Nothing when it was never given out for this list.
std::optional<std::uint64_t> read_cursor(entry_kind kind, std::string_view text, const entry_set& list);

/// Appends the result of a list method: what follows on the entry of number `after`, at least one entry if there is
/// any, and the cursor of the next page if there is more.
void write_page(std::string& out, std::string_view member, entry_kind kind, const entry_set& list, std::uint64_t after,
                const page_limits& limits, const wire::codec& codec, revision at);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/listing.ipp>
#endif
