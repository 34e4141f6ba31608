// SPDX-License-Identifier: MIT
//
// Handlers of a server's questions (sampling, elicitation) with their type erased: typed ones, which get and give
// values of the model, and raw ones, which pass JSON on as it is, for relays. What a client did not declare reaches
// neither. Not for deciding which handler is asked: client_session.hpp does that.
#pragma once

#include <comcp/client/client_context.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/elicitation.hpp>
#include <comcp/protocol/sampling.hpp>
#include <comcp/session/request_error.hpp>
#include <comcp/task.hpp>

#include <boost/json/object.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Takes the params, gives the text of the result, or throws what the server is to be told. The context is the
/// caller's.
using question_handler = std::function<task<std::string>(json::object, client_context&)>;

/// JSON has no word for NaN and the infinities, and null would be something else. *Errors*: request_error (-32603).
[[noreturn]] void refuse_not_finite();

// The two kinds of questions. `read` and `check` throw request_error (-32602) for what the client did not declare or
// what breaks the rules, and for what cannot be read; but a relay may get a sampling_question that we cannot read.
// `check_answer` throws request_error (-32603) for an answer that lacks what it must have.

struct sampling_question
{
    using request = sampling_request;
    using result = sampling_result;
    static request read(const json::object& params, const client_context& of);
    static request check(const json::object& params, const client_context& of);
    static void check_answer(const request& asked, const json::object& given);
    static std::string write(const request& asked, result given, const client_context& of);
};

struct elicitation_question
{
    using request = elicitation_request;
    using result = elicitation_result;
    static request read(const json::object& params, const client_context& of);
    static request check(const json::object& params, const client_context& of);
    static void check_answer(const request& asked, const json::object& given);
    /// Fills what the user left out with the defaults of the form, and throws request_error (-32603) when the answer
    /// does not fit it.
    static std::string write(const request& asked, result given, const client_context& of);
};

template <class F, class Request>
concept answers = std::invocable<F&, Request, client_context&> || std::invocable<F&, Request>;

// What a handler takes by reference lives in the frame of the coroutine below that runs it; so does the handler itself,
// since a lambda's captures are no part of the coroutine that it makes.

template <class F, class Request>
auto ask_handler(F& handler, Request&& asked, client_context& of)
{
    if constexpr (std::invocable<F&, Request, client_context&>) return handler(std::forward<Request>(asked), of);
    else return handler(std::forward<Request>(asked));
}

template <class Question, class F>
task<std::string> answer_typed(std::shared_ptr<F> handler, json::object params, client_context& of)
{
    const typename Question::request asked = Question::read(params, of);
    params.clear();
    using returned = decltype(ask_handler(*handler, asked, of));
    if constexpr (std::same_as<returned, task<typename Question::result>>) {
        returned answering = ask_handler(*handler, asked, of);
        typename Question::result given = co_await std::move(answering);
        co_return Question::write(asked, std::move(given), of);
    } else {
        static_assert(std::convertible_to<returned, typename Question::result>,
                      "a handler of a server's question returns the result, or a task of it");
        co_return Question::write(asked, ask_handler(*handler, asked, of), of);
    }
}

template <class Question, class F>
task<std::string> answer_raw(std::shared_ptr<F> handler, json::object params, client_context& of)
{
    const typename Question::request asked = Question::check(params, of);
    using returned = decltype(ask_handler(*handler, std::move(params), of));
    static_assert(std::same_as<returned, task<json::object>>, "a raw handler returns task<json::object>");
    returned answering = ask_handler(*handler, std::move(params), of);
    const json::object given = co_await std::move(answering);
    Question::check_answer(asked, given);
    std::string text;
    if (!write_value(text, given)) refuse_not_finite();
    co_return text;
}

/// A handler of `(Request)`, `(Request, client_context&)`, or the same with `json::object`.
template <class Question, class F>
question_handler erase_question_handler(F handler)
{
    using request = const typename Question::request&;
    static_assert(answers<F, request> || answers<F, json::object>,
                  "a handler takes the typed request or json::object, and perhaps a client_context&");
    auto kept = std::make_shared<F>(std::move(handler));
    if constexpr (answers<F, request>) {
        return [kept](json::object params, client_context& of) {
            return answer_typed<Question>(kept, std::move(params), of);
        };
    } else {
        return [kept](json::object params, client_context& of) {
            return answer_raw<Question>(kept, std::move(params), of);
        };
    }
}

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/asked.ipp>
#endif
