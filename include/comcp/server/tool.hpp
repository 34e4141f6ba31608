// SPDX-License-Identifier: MIT
//
// From a C++ callable to a tool: its arguments are bound and checked, its return value becomes the result, and both
// schemas are made from their types. Here are only the few functions that each handler's type needs of its own; what is
// done with them is in tool_entry.hpp.
#pragma once

#include <comcp/json/bind.hpp>
#include <comcp/json/schema.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/task.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A plain function that may take long: it runs on the host's executor (`server.handlers_on`), never on the session's.
template <class F>
struct blocking_function
{
    F function;
};

/// Marks a plain function as blocking: `server.tool("crunch", "...", comcp::blocking([](args a) { ... }))`.
template <class F>
blocking_function<std::decay_t<F>> blocking(F&& function)
{
    return {std::forward<F>(function)};
}

namespace detail
{

template <class T>
struct is_task : std::false_type
{
    using value_type = T;
};
template <class T>
struct is_task<task<T>> : std::true_type
{
    using value_type = T;
};

// ---- what a handler returns ----------------------------------------------------------------------------------------

template <class R>
concept text_like = std::convertible_to<const R&, std::string_view>;

template <class R>
void send_return(const reply& to, const R& value)
{
    if constexpr (text_like<R>) {
        to.send_text(value);
    } else if constexpr (std::same_as<R, tool_result>) {
        to.send_result(value);
    } else if constexpr (std::same_as<R, content>) {
        tool_result made;
        made.content.push_back(value);
        to.send_result(made);
    } else if constexpr (std::same_as<R, std::vector<content>>) {
        tool_result made;
        made.content = value;
        to.send_result(made);
    } else if constexpr (std::same_as<R, json::object> || described_struct<R>) {
        std::string text;
        write_json(text, value);
        to.send_structured(text);
    } else if constexpr (std::same_as<R, json::value> || std::same_as<R, raw_json>) {
        // Of any type: what is not an object is wrapped for these revisions.
        std::string text;
        write_json(text, value);
        if (text.starts_with('{')) return to.send_structured(text);
        tool_result made;
        if constexpr (std::same_as<R, json::value>) made.structured = value;
        else made.content.push_back(content::text(text));
        to.send_result(made);
    } else {
        static_assert(std::is_arithmetic_v<R>,
                      "a tool returns text, content, a tool_result, JSON, a number, or a struct described with "
                      "BOOST_DESCRIBE_STRUCT");
        std::string text;
        write_json(text, value);
        to.send_text(text);
    }
}

// ---- what a handler takes ------------------------------------------------------------------------------------------

template <class F>
struct signature : signature<decltype(&F::operator())>
{};
template <class R, class... A>
struct signature<R (*)(A...)>
{
    using result = R;
    using parameters = std::tuple<std::decay_t<A>...>;
    static constexpr std::size_t count = sizeof...(A);
};
template <class C, class R, class... A>
struct signature<R (C::*)(A...) const> : signature<R (*)(A...)>
{};
template <class C, class R, class... A>
struct signature<R (C::*)(A...)> : signature<R (*)(A...)>
{};
template <class F>
struct signature<blocking_function<F>> : signature<F>
{};

struct no_arguments
{};

template <class F>
struct handler_traits
{
    using signature_type = signature<F>;
    using parameters = typename signature_type::parameters;
    static constexpr std::size_t count = signature_type::count;
    static_assert(count <= 2, "a handler takes (Args), (Args, comcp::context&), (comcp::context&) or nothing");

    template <std::size_t I>
    static constexpr bool is_context()
    {
        if constexpr (I < count) return std::same_as<std::tuple_element_t<I, parameters>, context>;
        else return false;
    }
    static constexpr bool takes_arguments = count != 0 && !is_context<0>();
    static constexpr bool takes_context = is_context<0>() || is_context<1>();
    static_assert(count != 2 || is_context<1>(), "the second parameter of a handler is comcp::context&");

    static auto arguments_type()
    {
        if constexpr (takes_arguments) return std::type_identity<std::tuple_element_t<0, parameters>>();
        else return std::type_identity<no_arguments>();
    }
    using arguments = typename decltype(arguments_type())::type;
    using returned = typename signature_type::result;
    static constexpr bool is_coroutine = is_task<returned>::value;
    using value_type = typename is_task<returned>::value_type;

    template <class Function>
    static decltype(auto) invoke(Function& function, arguments& given, context* ctx)
    {
        if constexpr (takes_arguments && takes_context) return function(std::move(given), *ctx);
        else if constexpr (takes_arguments) return function(std::move(given));
        else if constexpr (takes_context) return function(*ctx);
        else return function();
    }
};

// ---- a handler, erased ---------------------------------------------------------------------------------------------

/// A described struct as the arguments of a tool.
struct argument_type
{
    const struct_facts& (*facts)();
    const bind_function* bind;
    const schema_function* schema;
};

/// What there is to know of a handler's type. One of `answer` and `start` is there.
struct handler_type
{
    bool blocking;
    bool takes_context;
    const object_type* given;        ///< its arguments as an object
    const argument_type* described;  ///< null: none, or `json::object`
    bool raw;                        ///< takes `json::object`, checked to be one only: the schema is written by hand
    json::object (*output_schema)(); ///< null: the result is no described struct
    void (*destroy)(void* function);

    /// Calls a plain function and sends what it returns. What the handler throws passes through.
    void (*answer)(void* function, void* arguments, context* ctx, const reply& to);
    /// Makes the coroutine that does the same and lets nothing escape.
    task<void> (*start)(const std::shared_ptr<void>& function, void* arguments, const wire::codec& codec, context ctx,
                        bool elsewhere);
};

struct erased_handler
{
    std::shared_ptr<void> function;
    const handler_type* type;
};

template <class Args>
inline constexpr argument_type argument_type_of{&facts_of<Args>,
                                                layout<Args>::template apply<bind_table>::functions.data(),
                                                layout<Args>::template apply<schema_table>::functions.data()};

template <class R>
json::object output_schema_of()
{
    return schema_of<R>(notes(), schema_use::result);
}

template <class F>
void answer_plain(void* function, void* arguments, context* ctx, const reply& to)
{
    using traits = handler_traits<F>;
    auto& given = *static_cast<typename traits::arguments*>(arguments);
    if constexpr (std::is_void_v<typename traits::returned>) {
        traits::invoke(*static_cast<F*>(function), given, ctx);
        to.send_nothing();
    } else {
        const auto value = traits::invoke(*static_cast<F*>(function), given, ctx);
        send_return(to, value);
    }
}

/// Everything that the handler needs stands in this frame: the function, the arguments and the context.
template <class F>
task<void> run_coroutine(std::shared_ptr<void> function, typename handler_traits<F>::arguments given,
                         const wire::codec& codec, context ctx, bool elsewhere)
{
    using traits = handler_traits<F>;
    const reply to(codec, ctx, elsewhere); // codecs live for ever
    if (ctx.cancelled()) co_return;        // given up while it waited for the host's executor
    try {
        if constexpr (std::is_void_v<typename traits::value_type>) {
            co_await traits::invoke(*static_cast<F*>(function.get()), given, &ctx);
            to.send_nothing();
        } else {
            const auto value = co_await traits::invoke(*static_cast<F*>(function.get()), given, &ctx);
            send_return(to, value);
        }
    } catch (...) {
        to.send_exception();
    }
}

template <class F>
task<void> start_coroutine(const std::shared_ptr<void>& function, void* arguments, const wire::codec& codec,
                           context ctx, bool elsewhere)
{
    auto& given = *static_cast<typename handler_traits<F>::arguments*>(arguments);
    return run_coroutine<F>(function, std::move(given), codec, std::move(ctx), elsewhere);
}

template <class F>
constexpr handler_type make_handler_type(bool blocking)
{
    using traits = handler_traits<F>;
    using arguments = typename traits::arguments;
    handler_type made{};
    made.blocking = blocking;
    made.takes_context = traits::takes_context;
    made.given = &object_type_of<arguments>;
    made.raw = std::same_as<arguments, json::object>;
    if constexpr (!std::same_as<arguments, json::object> && traits::takes_arguments)
        made.described = &argument_type_of<arguments>;
    if constexpr (argument_struct<typename traits::value_type>)
        made.output_schema = &output_schema_of<typename traits::value_type>;
    made.destroy = [](void* function) { delete static_cast<F*>(function); };
    if constexpr (traits::is_coroutine) made.start = &start_coroutine<F>;
    else made.answer = &answer_plain<F>;
    return made;
}

template <class F, bool Blocking>
inline constexpr handler_type handler_type_of = make_handler_type<F>(Blocking);

inline erased_handler adopt_handler(void* function, const handler_type& type)
{
    return {std::shared_ptr<void>(function, type.destroy), &type};
}

template <class F>
erased_handler erase_handler(F function)
{
    return adopt_handler(new F(std::move(function)), handler_type_of<F, false>);
}

template <class F>
erased_handler erase_handler(blocking_function<F> marked)
{
    return adopt_handler(new F(std::move(marked.function)), handler_type_of<F, true>);
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
