// SPDX-License-Identifier: MIT
// The one unit that has the compiled parts.
#define COMCP_IMPLEMENTATION
#include <comcp/comcp.hpp>
// A second time, behind a line that clang-format does not take for a duplicate to remove.
#include <comcp/comcp.hpp>

int second();

int main() { return boost::json::parse("[1,2]").as_array().size() == 2 ? second() : 1; }
