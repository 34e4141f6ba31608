// SPDX-License-Identifier: MIT
// main() of a test program. Built without the precompiled header, which would hide the line below from Catch2.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <csignal>

int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN); // a peer that went away is an error code here, as in a server
    return Catch::Session().run(argc, argv);
}
