// SPDX-License-Identifier: MIT
//
// What a client does with the messages of its server: see client/client_session.hpp.
#pragma once

#include <comcp/client/client_session.hpp>
#include <comcp/session/progress_token.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL client_session::client_session(session& owner, std::shared_ptr<const client_options> options,
                                          std::optional<root_list> roots)
    : session_(owner),
      options_(std::move(options)),
      notices_(std::make_shared<notice_pump>(options_->notices(), options_->limits.notices)),
      roots_(std::move(roots))
{
    auto beginning = std::make_shared<agreement>();
    beginning->declared = capabilities();
    agreed_ = std::move(beginning);
}

COMCP_DECL void client_session::agree(wire::initialize_result server)
{
    auto agreed = std::make_shared<agreement>(*agreed_);
    agreed->server = std::move(server);
    agreed_ = std::move(agreed);
}

COMCP_DECL client_capabilities client_session::capabilities() const
{
    json::object all;
    if (roots_) all["roots"].emplace_object()["listChanged"] = true;
    if (options_->sampling()) {
        json::object& parts = all["sampling"].emplace_object();
        if (options_->allows_sampling_context()) parts["context"].emplace_object();
        if (options_->allows_sampling_tools()) parts["tools"].emplace_object();
    }
    // Forms alone are an empty object, which every revision knows: there are servers that refuse its newer members
    // (SHAPE 40).
    if (options_->form_elicitation() || options_->url_elicitation()) {
        json::object& modes = all["elicitation"].emplace_object();
        if (options_->url_elicitation()) {
            if (options_->form_elicitation()) modes["form"].emplace_object();
            modes["url"].emplace_object();
        }
    }
    return client_capabilities(all);
}

COMCP_DECL void client_session::on_request(const rpc::message& request, const answer_route& route)
{
    if (request.method == method::ping)
        return session_.answer(request.id, route, [](std::string& out) { out += "{}"; });
    if (!session_.codec().find(wire::sender::server, wire::kind::request, request.method, session_.spoken()))
        return session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method"); // B-6
    if (request.method == method::roots_list && roots_)
        return session_.answer(request.id, route, [this](std::string& out) {
            if (!session_.codec().write_roots(out, *roots_, session_.spoken())) refuse_not_finite();
        });
    if (request.method == method::sampling_create_message && options_->sampling())
        return ask(request, route, options_->sampling());
    if (request.method == method::elicitation_create && (options_->form_elicitation() || options_->url_elicitation()))
        return elicit(request, route);
    session_.answer_error(&request.id, route, rpc_code::method_not_found, "no such method");
}

COMCP_DECL void client_session::elicit(const rpc::message& request, const answer_route& route)
{
    const json::value* const mode = request.params ? member(*request.params, "mode") : nullptr;
    const question_handler* handler = nullptr;
    if (!mode || *mode == "form") handler = &options_->form_elicitation();
    else if (*mode == "url") handler = &options_->url_elicitation();
    if (handler == &options_->url_elicitation() && *handler)
        urls_.add(string_member(*request.params, "elicitationId").value_or(""));
    if (handler && *handler) return ask(request, route, *handler);
    session_.answer_error(&request.id, route, rpc_code::invalid_params, "this mode was not declared");
}

COMCP_DECL void client_session::ask(const rpc::message& request, const answer_route& route,
                                    const question_handler& handler)
{
    const auto admitted = session_.admit(request, route);
    if (!admitted) return;
    admitted->token = progress_token_of(request);
    json::object params; // owns its memory
    json::object meta;
    if (request.params) {
        params = json::object(*request.params, json::storage_ptr());
        if (const json::object* sent = object_member(params, "_meta")) meta = *sent;
    }
    client_context context(agreed_, admitted, std::move(meta));
    session_.spawn(admitted,
                   answer(session_.shared_from_this(), admitted, handler, std::move(params), std::move(context)));
}

struct write_text
{
    const std::string& text;
    void operator()(std::string& out) const { out += text; }
};

COMCP_DECL task<void> client_session::answer(std::shared_ptr<session> owner, std::shared_ptr<inbound> request,
                                             question_handler handler, json::object params, client_context context)
{
    try {
        auto answering = handler(std::move(params), context);
        const std::string result = co_await std::move(answering);
        owner->answer(*request, write_text{result});
    } catch (const request_error& refused) {
        owner->answer_error(*request, refused.code(), refused.what());
    } catch (...) {
        owner->answer_error(*request, rpc_code::internal_error, "the client's handler failed");
    }
}

COMCP_DECL void client_session::on_notification(const rpc::message& notice)
{
    if (!session_.codec().find(wire::sender::server, wire::kind::notification, notice.method, session_.spoken()))
        return; // not in this revision
    if (notice.method == method::tools_list_changed) return notices_->tools_changed(session_);
    if (notice.method == method::resources_list_changed) return notices_->resources_changed(session_);
    if (notice.method == method::prompts_list_changed) return notices_->prompts_changed(session_);
    if (!notice.params) return;
    if (notice.method == method::message) return notices_->logged(session_, read_log_message(*notice.params));
    if (notice.method == method::resources_updated) {
        const auto uri = string_member(*notice.params, "uri");
        return uri ? notices_->updated(session_, std::string(*uri)) : void();
    }
    if (notice.method == method::elicitation_complete) {
        std::string id = read_elicitation_complete(*notice.params);
        if (urls_.take(id)) notices_->elicited(session_, std::move(id));
    }
}

COMCP_DECL void client_session::missed(const std::vector<std::string>& subscribed)
{
    notices_->tools_changed(session_);
    notices_->resources_changed(session_);
    notices_->prompts_changed(session_);
    for (const std::string& uri : subscribed) notices_->updated(session_, uri);
}

} // namespace comcp::inline COMCP_ABI::detail
