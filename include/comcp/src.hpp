// SPDX-License-Identifier: MIT
//
// The compiled part: included in exactly one file of a program, which then links neither Boost.JSON's library nor
// comcp::src. With COMCP_SEPARATE defined for the whole program, this is also where comcp's own bodies are compiled.
#pragma once

#include <comcp/comcp.hpp>

#if defined(COMCP_SEPARATE)
#include <comcp/client/impl/answer.ipp>
#include <comcp/client/impl/asked.ipp>
#include <comcp/client/impl/client_connect.ipp>
#include <comcp/client/impl/client_context.ipp>
#include <comcp/client/impl/client_operations.ipp>
#include <comcp/client/impl/client_session.ipp>
#include <comcp/client/impl/notices.ipp>
#include <comcp/detail/impl/environment.ipp>
#include <comcp/detail/impl/task.ipp>
#include <comcp/detail/impl/timer.ipp>
#include <comcp/detail/impl/waiter.ipp>
#include <comcp/http/impl/client_connection.ipp>
#include <comcp/http/impl/client_exchange.ipp>
#include <comcp/http/impl/client_hub.ipp>
#include <comcp/http/impl/client_transport.ipp>
#include <comcp/http/impl/connection.ipp>
#include <comcp/http/impl/connection_input.ipp>
#include <comcp/http/impl/connector.ipp>
#include <comcp/http/impl/exchange.ipp>
#include <comcp/http/impl/listener.ipp>
#include <comcp/http/impl/session_transport.ipp>
#include <comcp/http/impl/sse_hub.ipp>
#include <comcp/http/impl/sse_transport.ipp>
#include <comcp/json/impl/bind.ipp>
#include <comcp/json/impl/defaults.ipp>
#include <comcp/json/impl/describe.ipp>
#include <comcp/json/impl/schema.ipp>
#include <comcp/json/impl/source.ipp>
#include <comcp/json/impl/value.ipp>
#include <comcp/json/impl/write.ipp>
#include <comcp/policy/impl/output_cap.ipp>
#include <comcp/policy/impl/timeouts.ipp>
#include <comcp/protocol/impl/completion.ipp>
#include <comcp/protocol/impl/content.ipp>
#include <comcp/protocol/impl/elicitation.ipp>
#include <comcp/protocol/impl/flatten.ipp>
#include <comcp/protocol/impl/form.ipp>
#include <comcp/protocol/impl/icon.ipp>
#include <comcp/protocol/impl/logging.ipp>
#include <comcp/protocol/impl/prompts.ipp>
#include <comcp/protocol/impl/read.ipp>
#include <comcp/protocol/impl/resources.ipp>
#include <comcp/protocol/impl/roots.ipp>
#include <comcp/protocol/impl/sampling.ipp>
#include <comcp/protocol/impl/tools.ipp>
#include <comcp/protocol/impl/uri_template.ipp>
#include <comcp/rpc/impl/id.ipp>
#include <comcp/server/impl/context.ipp>
#include <comcp/server/impl/http_old_sse.ipp>
#include <comcp/server/impl/http_service.ipp>
#include <comcp/server/impl/manual_executor.ipp>
#include <comcp/server/impl/reply.ipp>
#include <comcp/server/impl/run.ipp>
#include <comcp/server/impl/run_http.ipp>
#include <comcp/server/impl/run_lines.ipp>
#include <comcp/server/impl/server.ipp>
#include <comcp/server/impl/server_session.ipp>
#include <comcp/server/impl/session_table.ipp>
#include <comcp/server/impl/tool_entry.ipp>
#include <comcp/session/impl/home.ipp>
#include <comcp/session/impl/session_calls.ipp>
#include <comcp/session/impl/session_life.ipp>
#include <comcp/session/impl/session_reading.ipp>
#include <comcp/transport/impl/acceptor.ipp>
#include <comcp/transport/impl/bridge.ipp>
#include <comcp/transport/impl/byte_bridge.ipp>
#include <comcp/transport/impl/child_transport.ipp>
#include <comcp/transport/impl/connect.ipp>
#include <comcp/transport/impl/message_bridge.ipp>
#include <comcp/transport/impl/socket_transport.ipp>
#include <comcp/transport/impl/stdio.ipp>
#include <comcp/wire/impl/capabilities.ipp>
#include <comcp/wire/impl/handshake.ipp>
#include <comcp/wire/impl/legacy.ipp>
#include <comcp/wire/impl/legacy_content.ipp>
#include <comcp/wire/impl/legacy_requests.ipp>
#endif

#include <boost/json/src.hpp>
