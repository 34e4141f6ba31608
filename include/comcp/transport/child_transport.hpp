// SPDX-License-Identifier: MIT
//
// The client's side of stdio: starts a server as a child process and talks over its pipes. The end of the child is told
// with its exit status and its last words on stderr.
#pragma once

#include <comcp/transport/child_process.hpp>
#include <comcp/transport/concept.hpp>

#include <memory>

namespace comcp::inline COMCP_ABI
{

/// A transport that starts the process when it is opened, on the executor of the coroutine that opens it. Finishing it
/// ends the child by the ladder (end of input, SIGTERM, SIGKILL); closing or destroying it kills the whole process
/// group and reaps the child.
///
/// *Errors* of opening: errc::not_found, errc::spawn_failed, errc::invalid_argument; the text names the program.
std::unique_ptr<transport> make_child_transport(child_process what, const limits& bounds = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/child_transport.ipp>
#endif
