// SPDX-License-Identifier: MIT
//
// From a C++ callable to a handler of one type. Here are only the few functions that each callable needs of its own,
// for whatever it is a handler of; a *use* (`tool_use` and its like) says what it is called with and where its result
// goes. How one is run is in handler_call.hpp.
#pragma once

#include <comcp/detail/erased_object.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/task.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

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

template <class R>
concept text_like = std::convertible_to<const R&, std::string_view>;

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

/// What there is to know of a callable of `(Args)`, `(Args, context&)`, `(context&)` or nothing.
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

/// What there is to know of a handler's type. One of `answer` and `start` is there.
struct handler_type
{
    bool blocking;
    bool takes_context;
    const object_type* given; ///< what it is called with
    void (*destroy)(void* function);

    /// Calls a plain function and sends what it returns. What the handler throws passes through.
    void (*answer)(void* function, void* given, context* ctx, const reply& to);
    /// Makes the coroutine that does the same and lets nothing escape.
    task<void> (*start)(const std::shared_ptr<void>& function, void* given, context ctx);
    /// Sends the current exception, which a handler threw.
    void (*fail)(const void* given, const reply& to);
};

struct erased_handler
{
    std::shared_ptr<void> function;
    const handler_type* type = nullptr;
};

// A use has:
//   given<F>                          what `F` is called with, made by default and filled by the entry
//   traits<F>::takes_context
//   invoke<F>(function, given, ctx)
//   send(given, value, reply)         what it returned
//   send(given, reply)                where it may return nothing
//   fail(given, reply)                what it threw

template <class Use, class F>
void answer_plain(void* function, void* arguments, context* ctx, const reply& to)
{
    auto& given = *static_cast<typename Use::template given<F>*>(arguments);
    if constexpr (std::is_void_v<typename signature<F>::result>) {
        Use::template invoke<F>(*static_cast<F*>(function), given, ctx);
        Use::send(given, to);
    } else {
        auto value = Use::template invoke<F>(*static_cast<F*>(function), given, ctx);
        Use::send(given, value, to);
    }
}

/// Everything that the handler needs stands in this frame: the function, the arguments and the context.
template <class Use, class F>
task<void> run_coroutine(std::shared_ptr<void> function, typename Use::template given<F> given, context ctx)
{
    const reply to(ctx);
    if (ctx.cancelled()) co_return; // given up while it waited for the host's executor
    try {
        if constexpr (std::is_void_v<typename is_task<typename signature<F>::result>::value_type>) {
            co_await Use::template invoke<F>(*static_cast<F*>(function.get()), given, &ctx);
            Use::send(given, to);
        } else {
            auto value = co_await Use::template invoke<F>(*static_cast<F*>(function.get()), given, &ctx);
            Use::send(given, value, to);
        }
    } catch (...) {
        Use::fail(given, to);
    }
}

template <class Use, class F>
task<void> start_coroutine(const std::shared_ptr<void>& function, void* arguments, context ctx)
{
    auto& given = *static_cast<typename Use::template given<F>*>(arguments);
    return run_coroutine<Use, F>(function, std::move(given), std::move(ctx));
}

template <class Use, class F>
void send_failure_of(const void* given, const reply& to)
{
    Use::fail(*static_cast<const typename Use::template given<F>*>(given), to);
}

template <class F>
void destroy_function(void* function)
{
    delete static_cast<F*>(function);
}

template <class Use, class F>
constexpr handler_type make_handler_type(bool blocking)
{
    handler_type made{};
    made.blocking = blocking;
    made.takes_context = Use::template traits<F>::takes_context;
    made.given = &object_type_of<typename Use::template given<F>>;
    made.destroy = &destroy_function<F>;
    if constexpr (is_task<typename signature<F>::result>::value) made.start = &start_coroutine<Use, F>;
    else made.answer = &answer_plain<Use, F>;
    made.fail = &send_failure_of<Use, F>;
    return made;
}

template <class Use, class F, bool Blocking>
inline constexpr handler_type handler_type_of = make_handler_type<Use, F>(Blocking);

inline erased_handler adopt_handler(void* function, const handler_type& type)
{
    return {std::shared_ptr<void>(function, type.destroy), &type};
}

template <class Use, class F>
erased_handler erase_handler(F function)
{
    return adopt_handler(new F(std::move(function)), handler_type_of<Use, F, false>);
}

template <class Use, class F>
erased_handler erase_handler(blocking_function<F> marked)
{
    return adopt_handler(new F(std::move(marked.function)), handler_type_of<Use, F, true>);
}

/// The callable without its mark.
template <class F>
struct unmarked
{
    using type = F;
};
template <class F>
struct unmarked<blocking_function<F>>
{
    using type = F;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI
