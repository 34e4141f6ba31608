// SPDX-License-Identifier: MIT
//
// Running a server as a program: see server/run.hpp.
#pragma once

#include <comcp/server/run.hpp>

#include <cstdio>
#include <exception>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL int run_served(task<fault> session)
{
    asio::io_context io(1);
    int status = 0;
    asio::co_spawn(io, std::move(session), [&](std::exception_ptr failure, fault) {
        if (failure) {
            status = 1;
            try {
                std::rethrow_exception(failure);
            } catch (const std::exception& e) {
                std::fprintf(stderr, "comcp: %s\n", e.what());
            } catch (...) {
                std::fprintf(stderr, "comcp: unknown exception\n");
            }
        }
        io.stop(); // whatever the host still has on this loop, the client is gone
    });
    io.run();
    return status;
}

} // namespace comcp::inline COMCP_ABI::detail
