// SPDX-License-Identifier: MIT
//
// What a handler can do: see server/context.hpp.
#pragma once

#include <comcp/server/context.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL void context::progress(double value, std::optional<double> total, std::string message)
{
    comcp::progress notice;
    notice.value = value;
    notice.total = total;
    notice.message = std::move(message);
    on_session([request = request_, notice = std::move(notice)](detail::session& owner) {
        if (!request->token) return;
        owner.notify_progress(*request, notice.value, [&](std::string& out) {
            owner.codec().write_progress_params(out, *request->token, notice, owner.spoken());
        });
    });
}

COMCP_DECL void context::log(log_level level, std::string_view text, std::string logger)
{
    log_value(level, json::value(json::string_view(text.data(), text.size())), std::move(logger));
}

COMCP_DECL void context::log_value(log_level level, json::value data, std::string logger)
{
    if (level < environment_->log->least.load(std::memory_order_relaxed)) return;
    log_message message;
    message.level = level;
    message.logger = std::move(logger);
    message.data = std::move(data);
    on_session([message = std::move(message)](detail::session& owner) {
        if (!owner.room_for_notices()) return owner.count_dropped_notice();
        owner.notify(method::message, [&](std::string& out) {
            owner.codec().write_log_params(out, message, owner.spoken());
        });
    });
}

COMCP_DECL task<std::vector<root>> context::list_roots()
{
    const json_result answer = co_await request("roots", method::roots_list, "{}");
    co_return read_roots(answer.value);
}

COMCP_DECL task<json::object> context::sample(json::object params)
{
    std::string text;
    write_value(text, params);
    json_result answer = co_await request("sampling", method::sampling_create_message, std::move(text));
    co_return std::move(answer.value);
}

COMCP_DECL task<json::object> context::elicit(json::object params)
{
    std::string text;
    write_value(text, params);
    json_result answer = co_await request("elicitation", method::elicitation_create, std::move(text));
    co_return std::move(answer.value);
}

COMCP_DECL void context::attach(std::shared_ptr<const std::string> source, std::shared_ptr<const json::object> meta)
{
    if (source) source_ = std::move(source);
    if (meta) meta_ = std::move(meta);
}

COMCP_DECL task<json_result> context::request(std::string_view capability, std::string_view what, std::string params)
{
    if (!environment_->peer->capabilities.has(capability))
        throw error(fail(errc::unsupported, "the client did not declare \"" + std::string(capability) + "\""));
    // A request of ours belongs to the call that it serves: it ends with it (B-18).
    const auto owner = environment_->owner.lock();
    if (!owner) throw error(fail(errc::closed, "the session has ended"));
    const call_timeouts times{environment_->server_request, environment_->server_request};
    auto operation = detail::request_raw(owner, std::string(what), std::move(params), times, environment_->keep_source);
    if (!elsewhere_) co_return co_await std::move(operation);
    co_return co_await detail::on_executor(environment_->session_executor, std::move(operation));
}

COMCP_DECL std::shared_ptr<const std::string> context::no_source()
{
    static const auto none = std::make_shared<const std::string>();
    return none;
}

COMCP_DECL std::shared_ptr<const json::object> context::no_meta()
{
    static const auto none = std::make_shared<const json::object>();
    return none;
}

} // namespace comcp::inline COMCP_ABI
