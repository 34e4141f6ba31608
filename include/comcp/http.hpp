// SPDX-License-Identifier: MIT
//
// Clients and servers over Streamable HTTP: a client by URL, and the service behind an HTTP server of one's own.
#pragma once

#include <comcp/client/client.hpp>
#include <comcp/http/streamable_http.hpp>
#include <comcp/server/http_service.hpp>
#include <comcp/server/manual_executor.hpp>
#include <comcp/server/run_http.hpp>
#include <comcp/server/server.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/version.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
