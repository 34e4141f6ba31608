// SPDX-License-Identifier: MIT
//
// What a handler can do: see server/context.hpp.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/error.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/methods.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/question.hpp>
#include <comcp/session/session.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// Nothing was sent.
[[noreturn]] inline void refuse_to_send(fault why)
{
    why.fate = outcome::not_sent;
    throw error(std::move(why));
}

/// What the client answered, or the error that it is no such answer.
template <class T>
T received(result<T> read)
{
    if (read) return std::move(*read);
    fault why = std::move(read).error();
    why.fate = outcome::completed;
    throw error(std::move(why));
}

/// 2025-11-25, elicitation: what the client says that the user accepted must fit the form (H-27).
inline void check_answer(const json::object& schema, const json::object& content)
{
    const std::vector<std::string> problems = check_form(schema, content);
    if (problems.empty()) return;
    std::string text = "the answer does not fit the form:";
    for (const std::string& each : problems) (text += "\n") += each;
    fault why = fail(errc::invalid_message, std::move(text));
    why.fate = outcome::completed;
    throw error(std::move(why));
}

inline result<void> write_question(std::string& out, const wire::codec& codec, const sampling_request& asked,
                                   const progress_token* token, revision at)
{
    return codec.write_sampling_params(out, asked, token, at);
}

inline result<void> write_question(std::string& out, const wire::codec& codec, const elicitation_request& asked,
                                   const progress_token* token, revision at)
{
    return codec.write_elicitation_params(out, asked, token, at);
}

/// Params that a revision writes in its own way. *Errors*: what it cannot say.
template <class Request>
params_writer typed_params(const wire::codec& codec, Request asked, revision at)
{
    std::string text; // without a token, to know now whether it can be written
    if (auto written = write_question(text, codec, asked, nullptr, at); !written)
        refuse_to_send(std::move(written).error());
    return
        [&codec, asked = std::move(asked), at, text = std::move(text)](std::string& out, const progress_token* token) {
            if (!token) out += text;
            else if (!write_question(out, codec, asked, token, at)) out += text;
        };
}

/// Params as they are; no progress is asked for.
inline params_writer given_params(json::object params)
{
    std::string text;
    if (!write_value(text, params))
        refuse_to_send(fail(errc::invalid_argument, "a number in the params is not finite"));
    return [text = std::move(text)](std::string& out, const progress_token*) { out += text; };
}

inline params_writer no_params()
{
    return [](std::string& out, const progress_token* token) {
        if (!token) return void(out += "{}");
        token->write(out += R"({"_meta":{"progressToken":)");
        out += "}}";
    };
}

} // namespace detail

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
    comcp::progress now;
    now.value = value;
    now.total = total;
    now.message = std::move(message);
    progress(std::move(now));
}

COMCP_DECL void context::progress(comcp::progress notice)
{
    if (!request_->token || !std::isfinite(notice.value)) return; // JSON has no word for what is not finite
    if (notice.total && !std::isfinite(*notice.total)) notice.total.reset();
    detail::on_session(*environment_, request_, elsewhere_,
                       [request = request_, notice = std::move(notice)](detail::session& owner) {
                           owner.notify_progress(*request, notice.value, [&](std::string& out) {
                               owner.codec().write_progress_params(out, *request->token, notice, owner.spoken());
                           });
                       });
}

COMCP_DECL void context::close_stream(std::optional<duration> retry)
{
    detail::on_session(*environment_, request_, elsewhere_,
                       [request = request_, retry](detail::session& owner) { owner.close_stream(*request, retry); });
}

COMCP_DECL void context::log(log_level level, std::string_view text, std::string logger)
{
    if (level < environment_->log->least.load(std::memory_order_relaxed)) return; // before the text is copied
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

COMCP_DECL std::uint64_t context::roots_changes() const
{
    return environment_->roots_changes->load(std::memory_order_relaxed);
}

COMCP_DECL task<root_list> context::list_roots(request_options options)
{
    require("roots");
    write_params write = detail::no_params();
    const json_result answer = co_await ask(method::roots_list, std::move(write), std::move(options));
    if (!array_member(answer.value, "roots")) { // no list is not an empty one
        fault why = fail(errc::invalid_message, "the client's roots are not a list");
        why.fate = outcome::completed;
        throw error(std::move(why));
    }
    co_return read_roots(answer.value);
}

COMCP_DECL task<sampling_result> context::sample(sampling_request asked, request_options options)
{
    if (auto wrong = check_sampling(asked, capabilities())) detail::refuse_to_send(std::move(*wrong));
    write_params write = detail::typed_params<sampling_request>(*environment_->codec, std::move(asked), version());
    const json_result answer = co_await ask(method::sampling_create_message, std::move(write), std::move(options));
    co_return detail::received(read_sampling_result(answer.value));
}

COMCP_DECL task<elicitation_result> context::elicit(elicitation_request asked, request_options options)
{
    if (auto wrong = check_elicitation(asked, capabilities())) detail::refuse_to_send(std::move(*wrong));
    const bool form = asked.mode == elicitation_mode::form;
    const json::object schema = asked.requested_schema;
    write_params write = detail::typed_params<elicitation_request>(*environment_->codec, std::move(asked), version());
    const json_result answer = co_await ask(method::elicitation_create, std::move(write), std::move(options));
    elicitation_result got = detail::received(read_elicitation_result(answer.value));
    if (form && got.accepted()) detail::check_answer(schema, got.content);
    co_return got;
}

COMCP_DECL task<elicitation_result> context::elicit_url(std::string message, std::string url, std::string id,
                                                        request_options options)
{
    return elicit(elicitation_request::url_mode(std::move(message), std::move(url), std::move(id)), std::move(options));
}

COMCP_DECL task<json::object> context::sample(json::object params)
{
    require("sampling");
    const bool tools = params.contains("tools") || params.contains("toolChoice");
    if (tools && !capabilities().has("sampling", "tools")) // H-13
        detail::refuse_to_send(fail(errc::unsupported, "the client did not declare tools in sampling"));
    write_params write = detail::given_params(std::move(params));
    json_result answer = co_await ask(method::sampling_create_message, std::move(write), request_options());
    detail::received(read_sampling_result(answer.value));
    co_return std::move(answer.value);
}

COMCP_DECL task<json::object> context::elicit(json::object params)
{
    require("elicitation");
    auto as = read_elicitation_request(params);
    if (!as) detail::refuse_to_send(std::move(as).error());
    const bool form = as->mode == elicitation_mode::form;
    const revision since = form ? revision::r2025_06_18 : revision::r2025_11_25;
    if (version() < since) detail::refuse_to_send(fail(errc::unsupported, "the revision of the session lacks it"));
    if (auto wrong = check_elicitation(*as, capabilities())) detail::refuse_to_send(std::move(*wrong)); // H-20
    write_params write = detail::given_params(std::move(params));
    json_result answer = co_await ask(method::elicitation_create, std::move(write), request_options());
    const elicitation_result got = detail::received(read_elicitation_result(answer.value));
    if (form && got.accepted()) detail::check_answer(as->requested_schema, got.content);
    co_return std::move(answer.value);
}

COMCP_DECL void context::elicitation_complete(std::string id) const
{
    if (version() < revision::r2025_11_25) return;
    environment_->home->post([weak = environment_->owner, request = request_, id = std::move(id), at = version()] {
        const auto session = weak.lock();
        if (!session) return;
        const exchange_id on = request->open() ? request->route().exchange : pipe_exchange;
        session->notify(
            method::elicitation_complete,
            [&](std::string& out) { session->codec().write_elicitation_complete_params(out, id, at); }, send_hint{on});
    });
}

COMCP_DECL void context::require(std::string_view capability) const
{
    if (!capabilities().has(capability))
        detail::refuse_to_send(
            fail(errc::unsupported, "the client did not declare \"" + std::string(capability) + "\""));
}

COMCP_DECL task<json_result> context::ask(std::string_view what, write_params write, request_options options) const
{
    // A request of ours belongs to the call that it serves: it ends with it (B-18).
    const executor here = co_await asio::this_coro::executor;
    std::shared_ptr<detail::progress_relay> relay;
    if (options.progress_handler())
        relay = std::make_shared<detail::progress_relay>(options.progress_handler(), elsewhere_ ? here : executor());
    const detail::end_of_relay guard(relay);
    task<json_result> operation;
    executor home; // a context that is kept outlives the execution context, so it holds none
    if (auto owner = environment_->owner.lock()) {
        const duration within = options.total().value_or(environment_->server_request);
        home = owner->executor();
        operation = detail::ask_client(std::move(owner), what, std::move(write), within, environment_->keep_source,
                                       request_, relay);
    } else {
        detail::refuse_to_send(fail(errc::closed, "the session has ended"));
    }
    if (!elsewhere_) co_return co_await std::move(operation);
    co_return co_await detail::on_executor(std::move(home), std::move(operation));
}

COMCP_DECL void context::attach(std::shared_ptr<const std::string> source, std::shared_ptr<const json::object> meta,
                                bool owes_structure)
{
    source_ = std::move(source);
    meta_ = std::move(meta);
    owes_structure_ = owes_structure;
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
