// SPDX-License-Identifier: MIT
//
// The environment of a child, computed once as data: the same value is used to look its program up and to start it.
// Not for reading or changing the environment of this process.
#pragma once

#include <comcp/config.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

using environment = std::map<std::string, std::string, std::less<>>;

/// A variable that the host declared for a child, or (without a value) took away.
struct environment_change
{
    std::string name;
    std::optional<std::string> value;
};

/// What a child gets. `parent` is a list like `environ`, ended by a null pointer; `everything` passes all of it.
environment child_environment(const char* const* parent, bool everything,
                              const std::vector<environment_change>& changes);

/// As `execve` wants it: `NAME=value`.
std::vector<std::string> environment_strings(const environment& from);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/detail/impl/environment.ipp>
#endif
