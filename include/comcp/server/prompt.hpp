// SPDX-License-Identifier: MIT
//
// From a C++ callable to a prompt or to a completer: what it is called with, and what becomes of what it returns. What
// is done with them is in prompt_entry.hpp and completers.hpp.
#pragma once

#include <comcp/protocol/completion.hpp>
#include <comcp/protocol/prompts.hpp>
#include <comcp/server/handler.hpp>
#include <comcp/server/text_arguments.hpp>

#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// The arguments that a person has filled in already (since 2025-06-18).
using completion_context = std::map<std::string, std::string, std::less<>>;

namespace detail
{

struct prompt_use
{
    template <class F>
    using traits = handler_traits<F>;
    template <class F>
    using given = typename handler_traits<F>::arguments;

    template <class F>
    static decltype(auto) invoke(F& function, given<F>& arguments, context* ctx)
    {
        return handler_traits<F>::invoke(function, arguments, ctx);
    }
    template <class Arguments, class R>
    static void send(const Arguments&, const R& value, const reply& to)
    {
        if constexpr (text_like<R>) {
            to.send_prompt(prompt_result(prompt_message::user(std::string(value))));
        } else if constexpr (std::same_as<R, content>) {
            to.send_prompt(prompt_result(prompt_message(role::user, value)));
        } else if constexpr (std::same_as<R, prompt_message> || std::same_as<R, std::vector<prompt_message>>) {
            to.send_prompt(prompt_result(value));
        } else {
            static_assert(std::same_as<R, prompt_result>,
                          "a prompt returns text or content (a message of the user), comcp::prompt_message, a vector "
                          "of them, or a comcp::prompt_result");
            to.send_prompt(value);
        }
    }
    template <class Arguments>
    static void fail(const Arguments&, const reply& to)
    {
        to.send_exception("the prompt failed");
    }
};

struct prompt_handler
{
    erased_handler run;
    text_arguments texts;
};

template <class F>
prompt_handler make_prompt_handler(F function)
{
    using traits = handler_traits<typename unmarked<F>::type>;
    using arguments = typename traits::arguments;
    static_assert(!traits::takes_arguments || argument_struct<arguments> || string_map<arguments>,
                  "a prompt's handler takes a described struct or a map from names to strings");
    return {erase_handler<prompt_use>(std::move(function)), text_arguments_of<arguments>()};
}

// ---- completers ----------------------------------------------------------------------------------------------------

struct completion_given
{
    std::string value;
    completion_context others;
};

void send_completion(const reply& to, completion value);

/// A callable of `(std::string)` or `(std::string, completion_context)`, each with `context&` behind it or not.
template <class F>
struct completer_traits
{
    using parameters = typename signature<F>::parameters;
    static constexpr std::size_t count = signature<F>::count;

    template <std::size_t I, class T>
    static constexpr bool is()
    {
        if constexpr (I < count) return std::same_as<std::tuple_element_t<I, parameters>, T>;
        else return false;
    }
    static constexpr bool takes_others = is<1, completion_context>();
    static constexpr bool takes_context = is<count - 1, context>();
    static_assert(is<0, std::string>() && count == 1 + takes_others + takes_context,
                  "a completer takes (std::string), (std::string, comcp::completion_context), and comcp::context& as "
                  "its last parameter or not");
};

struct completion_use
{
    template <class F>
    using traits = completer_traits<F>;
    template <class F>
    using given = completion_given;

    template <class F>
    static decltype(auto) invoke(F& function, completion_given& all, context* ctx)
    {
        if constexpr (traits<F>::takes_others && traits<F>::takes_context)
            return function(std::move(all.value), std::move(all.others), *ctx);
        else if constexpr (traits<F>::takes_others) return function(std::move(all.value), std::move(all.others));
        else if constexpr (traits<F>::takes_context) return function(std::move(all.value), *ctx);
        else return function(std::move(all.value));
    }
    template <class R>
    static void send(const completion_given&, const R& value, const reply& to)
    {
        static_assert(std::same_as<R, std::vector<std::string>> || std::same_as<R, completion>,
                      "a completer returns std::vector<std::string> or comcp::completion");
        send_completion(to, completion(value));
    }
    static void fail(const completion_given&, const reply& to) { to.send_exception("the completion failed"); }
};

/// Of a fixed choice, what begins with the text that was typed.
struct fixed_choice
{
    std::vector<std::string> words;
    std::vector<std::string> operator()(std::string typed) const
    {
        std::vector<std::string> found;
        for (const std::string& each : words)
            if (each.starts_with(typed)) found.push_back(each);
        return found;
    }
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI
