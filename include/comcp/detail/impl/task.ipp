// SPDX-License-Identifier: MIT
//
// Running one coroutine to its end: see task.hpp.
#pragma once

#include <comcp/task.hpp>

#include <cstdio>
#include <exception>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL int run(task<void> main)
{
    asio::io_context io(1);
    int status = 0;
    asio::co_spawn(io, std::move(main), [&status](std::exception_ptr failure) {
        if (!failure) return;
        status = 1;
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "error: %s\n", e.what());
        } catch (...) {
            std::fprintf(stderr, "error: unknown exception\n");
        }
    });
    io.run();
    return status;
}

} // namespace comcp::inline COMCP_ABI
