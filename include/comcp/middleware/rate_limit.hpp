// SPDX-License-Identifier: MIT
//
// Middleware: so many requests a second, and no more. Not for how many run at once: that is concurrency_limit.hpp.
//
//     server.use(comcp::rate_limit(50, 10).each_principal());
#pragma once

#include <comcp/limits.hpp>
#include <comcp/session/middleware.hpp>
#include <comcp/task.hpp>

#include <cstddef>
#include <memory>

namespace comcp::inline COMCP_ABI
{

namespace detail
{
class rate_state;
}

/// A bucket of tokens. A request of the peer that finds none is refused as `-32603` "too many requests" with
/// `data.retryable`; one of ours waits for its token, within its own deadline, first come first served. `ping`,
/// `initialize` and notifications pass free. Copies share the bucket, so all sessions of a server do. Any thread.
class rate_limit
{
public:
    /// `burst` requests at once, then one each `1 / per_second` seconds.
    ///
    /// *Errors*: errc::invalid_argument when either is not above zero.
    explicit rate_limit(double per_second, std::size_t burst = 1);

    /// A bucket for each principal (who the host's authorization says the peer is), at most `most` of them: beyond that
    /// the principals that were not seen before share one.
    rate_limit& each_principal(std::size_t most = 1024);

    task<middleware_reply> operator()(middleware_message message, middleware_next next) const;

private:
    std::shared_ptr<detail::rate_state> state_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/rate_limit.ipp>
#endif
