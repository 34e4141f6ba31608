// SPDX-License-Identifier: MIT
//
// Roots: the places that a client tells a server to work in. Guidance, not access control (2025-11-25, roots).
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/protocol/read.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// `uri` is a `file://` URI; `name` may be empty.
struct root
{
    std::string uri;
    std::string name;
    json::object meta;  ///< `_meta` (since 2025-06-18)
    json::object extra; ///< members that the specification does not name

    root() = default;
    explicit root(std::string where, std::string shown = {}) : uri(std::move(where)), name(std::move(shown)) {}
};

/// The result of roots/list: a list with what stands beside it.
class root_list : public std::vector<root>
{
public:
    json::object meta;  ///< `_meta` of the result
    json::object extra; ///< members of the result that the specification does not name

    using std::vector<root>::vector;
    root_list(std::vector<root> places) : std::vector<root>(std::move(places)) {}
};

/// What is wrong with a root (`errc::invalid_argument`); nothing when it is sound: a `file://` URI without dot
/// segments, escaped or not (2025-11-25, roots, security).
std::optional<fault> check_root(const root& place);

/// Further roots of one list are dropped by the reader.
inline constexpr std::size_t max_roots = 1000;

/// Reads the result of roots/list. Entries without a uri are left out.
root_list read_roots(const json::object& from);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/roots.ipp>
#endif
