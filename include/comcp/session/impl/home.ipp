// SPDX-License-Identifier: MIT
//
// The way back to a session's executor: see session/home.hpp.
#pragma once

#include <comcp/session/home.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void home::post(std::function<void()> work)
{
    const std::lock_guard lock(mutex_);
    if (executor_) asio::post(executor_, std::move(work));
}

COMCP_DECL comcp::executor home::where() const
{
    const std::lock_guard lock(mutex_);
    return executor_;
}

COMCP_DECL void home::leave()
{
    const std::lock_guard lock(mutex_);
    executor_ = comcp::executor();
}

} // namespace comcp::inline COMCP_ABI::detail
