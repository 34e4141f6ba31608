// SPDX-License-Identifier: MIT
//
// The middleware that the library brings. What a part is: session/middleware.hpp.
#pragma once

#include <comcp/middleware/concurrency_limit.hpp>
#include <comcp/middleware/log_messages.hpp>
#include <comcp/middleware/rate_limit.hpp>
#include <comcp/middleware/redact.hpp>
#include <comcp/middleware/timing.hpp>
