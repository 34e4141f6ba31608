// SPDX-License-Identifier: MIT
//
// What a program of the library says on stderr, one line at a time. Not a log.
#pragma once

#include <comcp/detail/sigpipe.hpp>

#include <unistd.h>

#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// Whoever read stderr may be gone: no SIGPIPE.
inline void tell(std::string_view what)
{
    std::string line = "comcp: ";
    line.append(what).append(1, '\n');
    const iovec piece{line.data(), line.size()};
    static_cast<void>(write_without_sigpipe(STDERR_FILENO, &piece, 1));
}

/// Says why a program ends, and gives its exit status.
inline int tell_failure(std::string_view why)
{
    tell(why);
    return 1;
}

} // namespace comcp::inline COMCP_ABI::detail
