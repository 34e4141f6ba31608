// SPDX-License-Identifier: MIT
//
// The way back to a session's executor for code that runs elsewhere (handlers on the host's executor, registry changes
// from any thread). Safe when the session, or even its io_context, is gone: what is posted then is dropped.
#pragma once

#include <comcp/asio.hpp>

#include <functional>
#include <mutex>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Thread rule: any thread.
class home
{
public:
    explicit home(comcp::executor ex) : executor_(std::move(ex)) {}

    /// Runs `work` on the session's executor, or never.
    void post(std::function<void()> work);

    /// The session's executor; empty once the context is about to end.
    comcp::executor where() const;

    /// The context is about to end.
    void leave();

private:
    mutable std::mutex mutex_;
    comcp::executor executor_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/session/impl/home.ipp>
#endif
