// SPDX-License-Identifier: MIT
//
// From a C++ callable to a tool: its arguments are bound and checked, its return value becomes the result, and both
// schemas are made from their types. Which executor a handler runs on is decided here, once per call.
#pragma once

#include <comcp/json/bind.hpp>
#include <comcp/json/schema.hpp>
#include <comcp/server/tool_entry.hpp>

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
{};
template <class T>
struct is_task<task<T>> : std::true_type
{
    using value_type = T;
};

// ---- what a handler returns ----------------------------------------------------------------------------------------

template <class R>
concept text_like = std::convertible_to<const R&, std::string_view>;

/// A value that becomes `structuredContent` and a text copy of it (F-8).
inline void write_structured(const reply& to, std::string_view text, std::string& out)
{
    write_string(out += R"({"content":[{"type":"text","text":)", text);
    out += "}]";
    if (to.at() >= revision::r2025_06_18) (out += R"(,"structuredContent":)") += text;
    out += '}';
}

template <class R>
void write_return(const reply& to, const R& value, std::string& out)
{
    if constexpr (text_like<R>) {
        to.codec().write_text_result(out, value, false, to.at());
    } else if constexpr (std::same_as<R, tool_result>) {
        to.codec().write_tool_result(out, value, to.at());
    } else if constexpr (std::same_as<R, content>) {
        tool_result made;
        made.content.push_back(value);
        to.codec().write_tool_result(out, made, to.at());
    } else if constexpr (std::same_as<R, std::vector<content>>) {
        tool_result made;
        made.content = value;
        to.codec().write_tool_result(out, made, to.at());
    } else if constexpr (std::same_as<R, json::object> || described_struct<R>) {
        std::string text;
        write_json(text, value);
        write_structured(to, text, out);
    } else if constexpr (std::same_as<R, json::value> || std::same_as<R, raw_json>) {
        // Of any type: what is not an object is wrapped for these revisions.
        std::string text;
        write_json(text, value);
        if (text.starts_with('{')) return write_structured(to, text, out);
        tool_result made;
        if constexpr (std::same_as<R, json::value>) made.structured = value;
        else made.content.push_back(content::text(text));
        to.codec().write_tool_result(out, made, to.at());
    } else {
        static_assert(std::is_arithmetic_v<R>,
                      "a tool returns text, content, a tool_result, JSON, a number, or a struct described with "
                      "BOOST_DESCRIBE_STRUCT");
        std::string text;
        write_json(text, value);
        to.codec().write_text_result(out, text, false, to.at());
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

    template <class Function>
    static decltype(auto) invoke(Function& function, arguments& given, context* ctx)
    {
        if constexpr (takes_arguments && takes_context) return function(std::move(given), *ctx);
        else if constexpr (takes_arguments) return function(std::move(given));
        else if constexpr (takes_context) return function(*ctx);
        else return function();
    }
};

/// The arguments of a raw tool are only checked to be an object: its schema is written by hand.
template <class Args>
inline constexpr bool is_raw = std::same_as<Args, json::object>;

template <class F>
class tool_of final : public tool_entry
{
    static constexpr bool is_blocking = requires(F& f) { f.function; };
    using traits = handler_traits<F>;
    using arguments = typename traits::arguments;
    using returned = typename traits::returned;

public:
    tool_of(comcp::tool described, F handler)
        : tool_entry(std::move(described)),
          handler_(std::make_shared<F>(std::move(handler)))
    {
        make_schemas();
    }

    std::shared_ptr<tool_entry> copy() const override { return std::make_shared<tool_of>(*this); }

    bool blocks() const override { return is_blocking; }

    void describe(std::string name, field note) override
    {
        if constexpr (!is_raw<arguments> && traits::takes_arguments) {
            notes changed = notes_;
            changed.add(std::move(name), std::move(note));
            check_notes<arguments>(changed).value();
            notes_ = std::move(changed);
            info.input_schema = schema_of<arguments>(notes_);
        } else {
            throw_fault(fail(errc::invalid_argument, "tool \"" + info.name + "\" has no described arguments"));
        }
    }

    void call(const std::shared_ptr<const tool_entry>& self, const tool_call& call) const override
    {
        arguments given{};
        if constexpr (is_raw<arguments>) {
            given = json::object(call.arguments.get_object(), json::storage_ptr()); // owns its memory
        } else if constexpr (traits::takes_arguments) {
            bind_errors errors;
            if (!bind(call.arguments, given, errors, &notes_)) return refuse(call, errors);
        }
        if (call.elsewhere) return run_elsewhere(self, call, std::move(given));
        if constexpr (is_blocking) {
            call.owner->answer_error(&call.request.id, call.route, rpc_code::internal_error,
                                     "this server has no executor for blocking handlers");
        } else if constexpr (traits::is_coroutine) {
            run_coroutine(self, call, std::move(given));
        } else {
            run_inline(call, given);
        }
    }

private:
    void make_schemas()
    {
        if constexpr (!is_raw<arguments>) {
            if constexpr (traits::takes_arguments) {
                check_notes<arguments>().value();
                info.input_schema = schema_of<arguments>();
            } else {
                info.input_schema["type"] = "object";
                info.input_schema["properties"].emplace_object();
                info.input_schema["additionalProperties"] = false;
            }
        }
        if constexpr (traits::is_coroutine) make_output_schema<typename is_task<returned>::value_type>();
        else make_output_schema<returned>();
    }

    template <class R>
    void make_output_schema()
    {
        if constexpr (argument_struct<R>) info.output_schema = schema_of<R>(notes(), schema_use::result);
    }

    /// Bad arguments are the model's mistake and are told to it, all at once (2025-11-25, tools: F-14).
    static void refuse(const tool_call& call, const bind_errors& errors)
    {
        call.now().send_error_text("invalid arguments:\n" + errors.text());
    }

    // ---- the three ways to run

    /// A short plain function, in the reader's turn: nothing can interleave, so nothing is kept for it.
    void run_inline(const tool_call& call, arguments& given) const
    {
        if constexpr (traits::takes_context) {
            const auto admitted = call.admit();
            if (!admitted) return;
            context ctx = call.make_context(admitted, false);
            answer_with(reply(call.owner->codec(), ctx), given, &ctx, false);
        } else {
            answer_with(call.now(), given, nullptr, false);
        }
    }

    void answer_with(const reply& to, arguments& given, context* ctx, bool elsewhere) const
    {
        try {
            if constexpr (std::is_void_v<returned>) {
                traits::invoke(function(), given, ctx);
                to.send([](std::string& out) { out += R"({"content":[]})"; }, elsewhere);
            } else {
                const auto value = traits::invoke(function(), given, ctx);
                to.send([&](std::string& out) { write_return(to, value, out); }, elsewhere);
            }
        } catch (...) {
            to.send_exception(elsewhere);
        }
    }

    void run_coroutine(const std::shared_ptr<const tool_entry>& self, const tool_call& call, arguments given) const
    {
        const auto admitted = call.admit();
        if (!admitted) return;
        call.owner->spawn(admitted, coroutine(self, call.owner, call.owner->codec(), std::move(given),
                                              call.make_context(admitted, false), false));
    }

    void run_elsewhere(const std::shared_ptr<const tool_entry>& self, const tool_call& call, arguments given) const
    {
        const auto admitted = call.admit();
        if (!admitted) return;
        call.owner->spawn_on(
            call.elsewhere, admitted,
            coroutine(self, nullptr, call.owner->codec(), std::move(given), call.make_context(admitted, true), true));
    }

    /// Everything that the handler needs stands in this frame: the entry, the arguments, the context, and (on the
    /// session's own executor) the session.
    static task<void> coroutine(std::shared_ptr<const tool_entry> self, [[maybe_unused]] std::shared_ptr<session> owner,
                                const wire::codec& codec, arguments given, context ctx, bool elsewhere)
    {
        const reply to(codec, ctx); // codecs live for ever
        const auto& entry = static_cast<const tool_of&>(*self);
        if (ctx.cancelled()) co_return; // given up while it waited for the host's executor
        if constexpr (!traits::is_coroutine) {
            entry.answer_with(to, given, &ctx, elsewhere);
            co_return;
        } else {
            try {
                if constexpr (std::is_void_v<typename is_task<returned>::value_type>) {
                    co_await traits::invoke(entry.function(), given, &ctx);
                    to.send([](std::string& out) { out += R"({"content":[]})"; }, elsewhere);
                } else {
                    const auto value = co_await traits::invoke(entry.function(), given, &ctx);
                    to.send([&](std::string& out) { write_return(to, value, out); }, elsewhere);
                }
            } catch (...) {
                to.send_exception(elsewhere);
            }
        }
    }

    auto& function() const
    {
        if constexpr (is_blocking) return handler_->function;
        else return *handler_;
    }

    std::shared_ptr<F> handler_;
    notes notes_;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI
