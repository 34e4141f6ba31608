// SPDX-License-Identifier: MIT
//
// Everything. Programs that only speak stdio can include <comcp/stdio.hpp> instead.
#pragma once

#include <comcp/http.hpp>
#include <comcp/middleware.hpp>
#include <comcp/socket.hpp>
#include <comcp/stdio.hpp>
#include <comcp/transport/bridge.hpp>
#include <comcp/transport/memory.hpp>
