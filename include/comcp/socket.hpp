// SPDX-License-Identifier: MIT
//
// Clients and servers that speak lines over sockets, TCP or Unix, as on stdio.
#pragma once

#include <comcp/client/client.hpp>
#include <comcp/server/manual_executor.hpp>
#include <comcp/server/run_lines.hpp>
#include <comcp/server/server.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/line_socket.hpp>
#include <comcp/version.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
