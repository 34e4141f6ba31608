// SPDX-License-Identifier: MIT
//
// What a handler can do: see server/context.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/methods.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/session/raw_call.hpp>
#include <comcp/session/session.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL context::context(std::shared_ptr<const detail::handler_environment> environment,
                            std::shared_ptr<detail::inbound> request, bool elsewhere)
    : environment_(std::move(environment)),
      request_(std::move(request)),
      elsewhere_(elsewhere)
{}

COMCP_DECL bool context::cancelled() const { return request_->cancelled(); }
COMCP_DECL revision context::version() const { return environment_->peer->version; }
COMCP_DECL const identity& context::client() const { return environment_->peer->client; }
COMCP_DECL const client_capabilities& context::capabilities() const { return environment_->peer->capabilities; }
COMCP_DECL std::string context::request_id() const { return std::string(request_->id().text()); }

COMCP_DECL void context::progress(double value, std::optional<double> total, std::string message)
{
    if (!std::isfinite(value)) return; // JSON has no word for it
    comcp::progress notice;
    notice.value = value;
    if (total && std::isfinite(*total)) notice.total = total;
    notice.message = std::move(message);
    detail::on_session(*environment_, request_, elsewhere_,
                       [request = request_, notice = std::move(notice)](detail::session& owner) {
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
    const exchange_id exchange = request_->route().exchange;
    detail::on_session(*environment_, request_, elsewhere_,
                       [message = std::move(message), exchange](detail::session& owner) {
                           if (!owner.room_for_notices(exchange)) return owner.count_dropped_notice();
                           owner.notify(
                               method::message,
                               [&](std::string& out) { owner.codec().write_log_params(out, message, owner.spoken()); },
                               send_hint{exchange});
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
    source_ = std::move(source);
    meta_ = std::move(meta);
}

COMCP_DECL task<json_result> context::request(std::string_view capability, std::string_view what, std::string params)
{
    if (!environment_->peer->capabilities.has(capability))
        throw error(fail(errc::unsupported, "the client did not declare \"" + std::string(capability) + "\""));
    // A request of ours belongs to the call that it serves: it ends with it (B-18).
    task<json_result> operation;
    executor home; // a context that is kept outlives the execution context, so it holds none
    if (const auto owner = environment_->owner.lock()) {
        const call_timeouts times{environment_->server_request, environment_->server_request};
        operation = detail::request_raw(owner, std::string(what), std::move(params), times, environment_->keep_source,
                                        request_->route().exchange);
        home = owner->executor();
    } else {
        throw error(fail(errc::closed, "the session has ended"));
    }
    if (!elsewhere_) co_return co_await std::move(operation);
    co_return co_await detail::on_executor(std::move(home), std::move(operation));
}

COMCP_DECL const std::string& context::arguments_source() const
{
    static const std::string none;
    return source_ ? *source_ : none;
}

COMCP_DECL const std::string& context::principal() const { return environment_->principal; }

COMCP_DECL const json::object& context::meta() const
{
    static const json::object none;
    return meta_ ? *meta_ : none;
}

} // namespace comcp::inline COMCP_ABI
