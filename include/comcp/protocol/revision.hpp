// SPDX-License-Identifier: MIT
//
// The revisions of the specification that begin with a handshake, in order. Not for what differs between them: that is
// decided in wire/ alone.
#pragma once

#include <comcp/config.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// A dated revision of the specification; a later one compares greater.
enum class revision {
    r2024_11_05,
    r2025_03_26,
    r2025_06_18,
    r2025_11_25,
};

inline constexpr std::array all_revisions = {revision::r2024_11_05, revision::r2025_03_26, revision::r2025_06_18,
                                             revision::r2025_11_25};

/// The newest revision that is negotiated by `initialize`.
inline constexpr revision latest_legacy = revision::r2025_11_25;

/// The text on the wire, such as "2025-11-25".
constexpr std::string_view to_string(revision value) noexcept
{
    constexpr std::string_view names[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    return names[static_cast<std::size_t>(value)];
}

/// Exact match only: version strings are opaque (B-5).
constexpr std::optional<revision> parse_revision(std::string_view text) noexcept
{
    for (revision r : all_revisions) {
        if (to_string(r) == text) return r;
    }
    return std::nullopt;
}

} // namespace comcp::inline COMCP_ABI
