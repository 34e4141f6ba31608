// SPDX-License-Identifier: MIT
//
// See middleware/log_messages.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/middleware/log_messages.hpp>
#include <comcp/middleware/message_end.hpp>
#include <comcp/timer.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

struct message_log
{
    std::function<void(std::string_view)> sink;
    log_messages_options options;
};

COMCP_DECL std::string milliseconds_text(duration took)
{
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    std::string fraction = std::to_string(microseconds % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return std::to_string(microseconds / 1000) + '.' + fraction + "ms";
}

COMCP_DECL std::string begin_line(const middleware_message& message, const log_messages_options& options)
{
    std::string line = message.way == direction::inbound ? "inbound " : "outbound ";
    line += message.is_request ? "request " : "notification ";
    line += log_text(message.method);
    if (message.is_request && message.id.size() > 60) line += " id=" + log_text(message.id, 60);
    else if (message.is_request) append_log_text(line += " id=", message.id, std::string::npos);
    line += " peer=" + log_text(message.peer);
    if (!message.principal.empty()) line += " principal=" + log_text(message.principal);
    if (options.with_params() && !message.params.empty()) line += " params=" + options.how().apply(message.params);
    return line;
}

COMCP_DECL void end_line(const message_log& log, std::string& line, const message_end& end, duration took,
                         const middleware_reply* reply)
{
    try {
        line += ' ' + milliseconds_text(took) + ' ';
        line += to_string(end.what);
        if (end.what == message_end::kind::error) line += ' ' + std::to_string(end.code);
        if (!end.text.empty()) line += ' ' + log_text(end.text);
        if (reply && log.options.with_results()) {
            std::string text = reply->result;
            if (reply->error) write_value(text, reply->error->data);
            line += " result=" + log.options.how().apply(text);
        }
        log.sink(line);
    } catch (...) { // the sink's own failure
    }
}

COMCP_DECL task<middleware_reply> pass_logged(std::shared_ptr<const message_log> log, middleware_message message,
                                              middleware_next next)
{
    time_service& clock = time_of(co_await asio::this_coro::executor);
    const time_point began = clock.now();
    std::string line = begin_line(message, log->options);
    try {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        end_line(*log, line, message_end(reply), clock.now() - began, &reply);
        co_return reply;
    } catch (...) {
        end_line(*log, line, message_end(std::current_exception()), clock.now() - began, nullptr);
        throw;
    }
}

struct logging_part
{
    std::shared_ptr<const message_log> log;
    task<middleware_reply> operator()(middleware_message message, middleware_next next) const
    {
        return pass_logged(log, std::move(message), std::move(next));
    }
};

} // namespace detail

COMCP_DECL middleware log_messages(std::function<void(std::string_view)> sink, log_messages_options options)
{
    auto log = std::make_shared<detail::message_log>();
    log->sink = std::move(sink);
    log->options = std::move(options);
    return detail::logging_part{std::move(log)};
}

} // namespace comcp::inline COMCP_ABI
