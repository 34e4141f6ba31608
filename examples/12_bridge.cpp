// SPDX-License-Identifier: MIT
//
// For hosts that can only start processes: joins stdin and stdout with an application that runs already.
// ctest: --help
#include <comcp/transport/bridge.hpp>

#include <cstdio>
#include <cstring>

constexpr const char* usage = "usage: 12_bridge WHERE\n"
                              "  unix:/run/app.sock               lines over a Unix socket\n"
                              "  tcp:localhost:7000               lines over TCP\n"
                              "  http://localhost:8080/mcp        Streamable HTTP\n"
                              "  http://unix:/run/app.sock:/mcp   the same over a Unix socket\n";

int main(int argc, char** argv)
{
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (argc != 2 || argv[1][0] == '-') {
        std::fputs(usage, stderr);
        return 2;
    }
    return comcp::run_bridge(argv[1]);
}
