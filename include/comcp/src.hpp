// SPDX-License-Identifier: MIT
//
// The compiled part: included in exactly one file of a program, which then links neither Boost.JSON's library nor
// comcp::src. With COMCP_SEPARATE defined for the whole program, this is also where comcp's own bodies are compiled.
#pragma once

#include <comcp/comcp.hpp>

#if defined(COMCP_SEPARATE)
#include <comcp/client/impl/client.ipp>
#include <comcp/client/impl/client_session.ipp>
#include <comcp/detail/impl/task.ipp>
#include <comcp/detail/impl/timer.ipp>
#include <comcp/server/impl/context.ipp>
#include <comcp/server/impl/run.ipp>
#include <comcp/server/impl/server.ipp>
#include <comcp/server/impl/server_session.ipp>
#include <comcp/server/impl/tool_entry.ipp>
#include <comcp/session/impl/home.ipp>
#include <comcp/session/impl/session_calls.ipp>
#include <comcp/session/impl/session_life.ipp>
#include <comcp/session/impl/session_reading.ipp>
#include <comcp/transport/impl/child_transport.ipp>
#include <comcp/transport/impl/stdio.ipp>
#endif

#include <boost/json/src.hpp>
