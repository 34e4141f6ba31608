// SPDX-License-Identifier: MIT
//
// The server's side of stdio: this process's own stdin and stdout. While it is open, the rest of the process cannot
// disturb the stream: a stray print goes to stderr, and a stray read finds an empty stdin.
#pragma once

#include <comcp/transport/concept.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI
{

/// The process's stdin and stdout as a transport; at most one at a time in a process. Closing it gives both descriptors
/// back with the flags that they had.
///
/// *Errors* of opening: errc::not_found when stdin, stdout or stderr is not open.
std::unique_ptr<transport> make_stdio_transport(const limits& bounds = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/stdio.ipp>
#endif
