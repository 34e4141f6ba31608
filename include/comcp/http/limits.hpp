// SPDX-License-Identifier: MIT
//
// How large the head of an HTTP message may be, and what the chunks of a body may carry beside data. Not for bodies
// (their limit is set for each message) and not for time.
#pragma once

#include <comcp/config.hpp>

#include <cstddef>

namespace comcp::inline COMCP_ABI
{

/// Sizes are bytes. Line ends count only where it is said.
struct http_limits
{
    /// The first line of a message without its line end; beyond it 414. All chunk extensions of one body together.
    std::size_t line = 8 * 1024;
    /// All field lines of a head with their line ends, and once more those of the trailer. Beyond it 431.
    std::size_t fields = 64 * 1024;
    /// Field lines of a head, and once more those of the trailer. Beyond it 431.
    std::size_t field_count = 100;
};

} // namespace comcp::inline COMCP_ABI
