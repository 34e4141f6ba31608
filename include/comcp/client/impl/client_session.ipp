// SPDX-License-Identifier: MIT
//
// What a client does with the messages of its server, and how notices reach the host: see client/client_session.hpp and
// client/notices.hpp.
#pragma once

#include <comcp/client/client_session.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL client_capabilities client_session::capabilities(const client_options& options)
{
    client_capabilities declared;
    if (options.offered_roots()) declared.declare("roots", "listChanged");
    if (options.sampling()) declared.declare("sampling");
    if (options.elicitation()) declared.declare("elicitation");
    return declared;
}

COMCP_DECL void client_session::on_request(const rpc::message& request, const answer_route& route)
{
    if (request.method == method::ping)
        return session_.answer(request.id, route, [](std::string& out) { out += "{}"; });
    if (request.method == method::roots_list && roots_)
        return session_.answer(request.id, route, [this](std::string& out) { write_roots(out, *roots_); });
    if (request.method == method::sampling_create_message && options_->sampling())
        return run(request, route, options_->sampling());
    if (request.method == method::elicitation_create && options_->elicitation())
        return run(request, route, options_->elicitation());
    session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method");
}

COMCP_DECL void client_session::on_notification(const rpc::message& notice)
{
    if (notice.method == method::message && notice.params)
        return notices_->logged(session_, read_log_message(*notice.params));
    if (notice.method == method::tools_list_changed && options_->tools_changed()) {
        try {
            options_->tools_changed()();
        } catch (...) { // a callback's own failure
        }
    }
}

COMCP_DECL void client_session::run(const rpc::message& request, const answer_route& route,
                                    const client_options::request_handler& handler)
{
    const auto admitted = session_.admit(request, route);
    if (!admitted) return;
    json::object params;
    if (request.params) params = json::object(*request.params, json::storage_ptr()); // owns its memory
    session_.spawn(admitted, answer(session_.shared_from_this(), admitted, handler, std::move(params)));
}

COMCP_DECL task<void> client_session::answer(std::shared_ptr<session> owner, std::shared_ptr<inbound> request,
                                             client_options::request_handler handler, json::object params)
{
    try {
        const json::object result = co_await handler(std::move(params));
        owner->answer(*request, [&](std::string& out) { write_value(out, result); });
    } catch (const request_error& refused) {
        owner->answer_error(*request, refused.code(), refused.what());
    } catch (...) {
        owner->answer_error(*request, rpc_code::internal_error, "the client's handler failed");
    }
}

COMCP_DECL void notice_pump::progressed(session& owner, const std::shared_ptr<progress_state>& to, progress notice)
{
    if (to->handler.is_plain() && !running_) return call_plain(to->handler, notice);
    const bool waits = to->newest.has_value();
    to->newest = std::move(notice);
    if (waits) return; // coalesced: its place in the queue stays
    queue_.push_back({to, std::nullopt});
    start(owner);
}

COMCP_DECL void notice_pump::logged(session& owner, log_message notice)
{
    if (!log_) return;
    if (log_.is_plain() && !running_) return call_plain(log_, notice);
    if (waiting_logs_ >= most_logs_) return owner.count_dropped_notice();
    ++waiting_logs_;
    queue_.push_back({nullptr, std::move(notice)});
    start(owner);
}

COMCP_DECL void notice_pump::start(session& owner)
{
    if (running_) return;
    running_ = true;
    owner.spawn_beside(run(shared_from_this()));
}

COMCP_DECL task<void> notice_pump::run(std::shared_ptr<notice_pump> self)
{
    while (!self->queue_.empty()) {
        entry next = std::move(self->queue_.front());
        self->queue_.pop_front();
        if (next.log) --self->waiting_logs_;
        try {
            if (next.log) {
                co_await deliver(self->log_, std::move(*next.log));
            } else if (!next.call->ended && next.call->newest) {
                progress newest = std::move(*next.call->newest);
                next.call->newest.reset();
                co_await deliver(next.call->handler, std::move(newest));
            }
        } catch (...) {
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) break;
    }
    self->queue_.clear();
    self->waiting_logs_ = 0;
    self->running_ = false;
}

} // namespace comcp::inline COMCP_ABI::detail
