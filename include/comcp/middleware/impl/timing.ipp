// SPDX-License-Identifier: MIT
//
// See middleware/timing.hpp.
#pragma once

#include <comcp/middleware/timing.hpp>
#include <comcp/timer.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

using timing_sink = std::function<void(const message_timing&)>;

COMCP_DECL void tell_timing(const timing_sink& sink, message_timing& passed, message_end end, time_point now,
                            time_point began)
{
    try {
        passed.end = std::move(end);
        passed.took = now - began;
        sink(passed);
    } catch (...) { // the sink's own failure
    }
}

COMCP_DECL task<middleware_reply> pass_timed(std::shared_ptr<const timing_sink> sink, middleware_message message,
                                             middleware_next next)
{
    time_service& clock = time_of(co_await asio::this_coro::executor);
    const time_point began = clock.now();
    message_timing passed;
    passed.method = message.method;
    passed.way = message.way;
    passed.is_request = message.is_request;
    try {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        tell_timing(*sink, passed, message_end(reply), clock.now(), began);
        co_return reply;
    } catch (...) {
        tell_timing(*sink, passed, message_end(std::current_exception()), clock.now(), began);
        throw;
    }
}

struct timing_part
{
    std::shared_ptr<const timing_sink> sink;
    task<middleware_reply> operator()(middleware_message message, middleware_next next) const
    {
        return pass_timed(sink, std::move(message), std::move(next));
    }
};

} // namespace detail

COMCP_DECL middleware timing(std::function<void(const message_timing&)> sink)
{
    return detail::timing_part{std::make_shared<const detail::timing_sink>(std::move(sink))};
}

} // namespace comcp::inline COMCP_ABI
