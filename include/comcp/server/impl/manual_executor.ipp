// SPDX-License-Identifier: MIT
//
// An executor that the host pumps: see server/manual_executor.hpp.
#pragma once

#include <comcp/server/manual_executor.hpp>

#include <cstddef>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL manual_executor::manual_executor() : io_(1) {}

COMCP_DECL executor manual_executor::executor() { return io_.get_executor(); }

COMCP_DECL std::size_t manual_executor::pump(std::size_t max)
{
    io_.restart();
    std::size_t done = 0;
    while (done < max && io_.poll_one() != 0) ++done;
    return done;
}

} // namespace comcp::inline COMCP_ABI
