// SPDX-License-Identifier: MIT
//
// Clients and servers over stdio: all that a program needs to start servers as child processes, or to be one.
#pragma once

#include <comcp/client/client.hpp>
#include <comcp/server/manual_executor.hpp>
#include <comcp/server/run.hpp>
#include <comcp/server/server.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/child_process.hpp>
#include <comcp/transport/stdio.hpp>
#include <comcp/version.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
