// SPDX-License-Identifier: MIT
#include <comcp/comcp.hpp>
// A second time: see first.cpp.
#include <comcp/comcp.hpp>

int second();

int second() { return boost::json::serialize(boost::json::array{1, 2}) == "[1,2]" ? 0 : 1; }
