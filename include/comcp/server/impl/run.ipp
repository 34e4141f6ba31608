// SPDX-License-Identifier: MIT
//
// Running a server as a program: see server/run.hpp.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/tell.hpp>
#include <comcp/server/run.hpp>

#include <exception>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL int run_served(task<fault> session)
{
    asio::io_context io(1);
    int status = 0;
    asio::co_spawn(io, std::move(session), [&](std::exception_ptr failure, const fault& why) {
        try {
            if (failure) std::rethrow_exception(failure);
            if (why.code && why.code != errc::closed) status = tell_failure(why.text); // closed: by the host itself
        } catch (const std::exception& e) {
            status = tell_failure(e.what());
        } catch (...) {
            status = tell_failure("unknown exception");
        }
        io.stop(); // whatever the host still has on this loop, the client is gone
    });
    io.run();
    return status;
}

} // namespace comcp::inline COMCP_ABI::detail
