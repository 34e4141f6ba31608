// SPDX-License-Identifier: MIT
//
// Running one coroutine to its end, and what a coroutine asks about itself: see task.hpp.
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

namespace detail
{

COMCP_DECL task<bool> was_cancelled()
{
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
