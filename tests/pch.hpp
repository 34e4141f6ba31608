// SPDX-License-Identifier: MIT
// The precompiled header of the test programs: only headers of other projects, or ones that change rarely.
#pragma once

#if __has_include(<comcp/asio.hpp>)
#include <comcp/asio.hpp>
#endif

#include <boost/json.hpp>

#include "catch.hpp"
