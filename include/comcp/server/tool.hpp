// SPDX-License-Identifier: MIT
//
// From a C++ callable to a tool: its arguments are bound and checked, its return value becomes the result, and both
// schemas are made from their types. What is done with them is in tool_entry.hpp.
#pragma once

#include <comcp/json/bind.hpp>
#include <comcp/json/schema.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/handler.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

template <class R>
void send_return(const reply& to, R& value)
{
    if constexpr (text_like<R>) {
        to.send_text(value);
    } else if constexpr (std::same_as<R, tool_result>) {
        to.send_result(value);
    } else if constexpr (std::same_as<R, content>) {
        tool_result made;
        made.content.push_back(std::move(value));
        to.send_result(made);
    } else if constexpr (std::same_as<R, std::vector<content>>) {
        tool_result made;
        made.content = std::move(value);
        to.send_result(made);
    } else if constexpr (std::same_as<R, json::object> || described_struct<R>) {
        std::string text;
        if (!write_json(text, value)) return to.send_not_finite();
        to.send_structured(text);
    } else if constexpr (std::same_as<R, json::value> || std::same_as<R, raw_json>) {
        // Of any type: what is not an object is wrapped for these revisions.
        std::string text;
        if (!write_json(text, value)) return to.send_not_finite();
        if (text.starts_with('{')) return to.send_structured(text);
        tool_result made;
        if constexpr (std::same_as<R, json::value>) made.structured = std::move(value);
        else made.content.push_back(content::text(text));
        to.send_result(made);
    } else {
        static_assert(std::is_arithmetic_v<R>,
                      "a tool returns text, content, a tool_result, JSON, a number, or a struct described with "
                      "BOOST_DESCRIBE_STRUCT");
        std::string text;
        if (!write_json(text, value)) return to.send_not_finite();
        to.send_text(text);
    }
}

/// A described struct as the arguments of a handler.
struct argument_type
{
    const struct_facts& (*facts)();
    const bind_function* bind;
    const schema_function* schema;
};

template <class Args>
inline constexpr argument_type argument_type_of{&facts_of<Args>,
                                                layout<Args>::template apply<bind_table>::functions.data(),
                                                layout<Args>::template apply<schema_table>::functions.data()};

struct tool_use
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
    template <class Arguments>
    static void send(const Arguments&, const reply& to)
    {
        to.send_nothing();
    }
    template <class Arguments, class R>
    static void send(const Arguments&, R& value, const reply& to)
    {
        send_return(to, value);
    }
    template <class Arguments>
    static void fail(const Arguments&, const reply& to)
    {
        to.send_tool_exception();
    }
};

template <class R>
json::object output_schema_of()
{
    return schema_of<R>(notes(), schema_use::result);
}

/// A tool's handler, and what its types say of its schemas.
struct tool_handler
{
    erased_handler run;
    const argument_type* described;  ///< null: none, or `json::object`
    bool raw;                        ///< takes `json::object`, checked to be one only: the schema is written by hand
    json::object (*output_schema)(); ///< null: the result is no described struct
};

template <class F>
tool_handler make_tool_handler(F function)
{
    using callable = typename unmarked<F>::type;
    using arguments = typename handler_traits<callable>::arguments;
    using returned = typename is_task<typename signature<callable>::result>::value_type;
    tool_handler made{};
    made.raw = std::same_as<arguments, json::object>;
    if constexpr (!std::same_as<arguments, json::object> && handler_traits<callable>::takes_arguments)
        made.described = &argument_type_of<arguments>;
    if constexpr (argument_struct<returned>) made.output_schema = &output_schema_of<returned>;
    made.run = erase_handler<tool_use>(std::move(function));
    return made;
}

} // namespace comcp::inline COMCP_ABI::detail
