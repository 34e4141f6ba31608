// SPDX-License-Identifier: MIT
//
// From a C++ callable to a resource: it is called with the URI, or with the variables of a template, and what it
// returns becomes the contents. What is done with it is in resource_entry.hpp.
#pragma once

#include <comcp/protocol/resources.hpp>
#include <comcp/server/handler.hpp>
#include <comcp/server/text_arguments.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// Bytes that a resource's handler returns, sent as base64. With an empty type the resource's own is used.
struct blob
{
    std::string bytes;
    std::string mime_type;
};

namespace detail
{

/// What is read. Contents that do not say so themselves are of this URI and type.
struct resource_target
{
    std::string uri;
    std::string mime_type;
};

template <class Arguments>
struct resource_given
{
    resource_target target;
    Arguments arguments;
};

void send_contents(const reply& to, const resource_target& target, std::vector<resource_contents> contents);
void send_text_contents(const reply& to, const resource_target& target, std::string_view text);
void send_blob(const reply& to, const resource_target& target, const blob& value);

struct resource_use
{
    template <class F>
    using traits = handler_traits<F>;
    template <class F>
    using given = resource_given<typename handler_traits<F>::arguments>;

    template <class F>
    static decltype(auto) invoke(F& function, given<F>& all, context* ctx)
    {
        return handler_traits<F>::invoke(function, all.arguments, ctx);
    }
    template <class Given, class R>
    static void send(const Given& all, R& value, const reply& to)
    {
        if constexpr (text_like<R>) {
            send_text_contents(to, all.target, value);
        } else if constexpr (std::same_as<R, blob>) {
            send_blob(to, all.target, value);
        } else if constexpr (std::same_as<R, resource_contents>) {
            std::vector<resource_contents> only;
            only.push_back(std::move(value));
            send_contents(to, all.target, std::move(only));
        } else if constexpr (std::same_as<R, std::vector<resource_contents>>) {
            send_contents(to, all.target, std::move(value));
        } else {
            static_assert(std::same_as<R, resource_result>,
                          "a resource returns text, comcp::blob, comcp::resource_contents (or a vector of them), or a "
                          "comcp::resource_result");
            to.send_resource(value);
        }
    }
    template <class Given>
    static void fail(const Given& all, const reply& to)
    {
        to.send_exception("the resource could not be read", all.target.uri);
    }
};

/// A resource's handler, and where the parts of what it is given are.
struct resource_handler
{
    erased_handler run;
    resource_target& (*target)(void* given);
    void* (*arguments)(void* given);
    bool takes_uri; ///< the arguments are the URI
    text_arguments texts;
};

template <class Given>
resource_target& target_of(void* given)
{
    return static_cast<Given*>(given)->target;
}

template <class Given>
void* arguments_of(void* given)
{
    return &static_cast<Given*>(given)->arguments;
}

template <class F>
resource_handler make_resource_handler(F function)
{
    using traits = handler_traits<typename unmarked<F>::type>;
    using arguments = typename traits::arguments;
    using given = resource_given<arguments>;
    static_assert(!traits::takes_arguments || std::same_as<arguments, std::string> || argument_struct<arguments> ||
                      string_map<arguments>,
                  "a resource's handler takes its URI as a std::string; that of a template may take a described struct "
                  "or comcp::uri_variables instead");
    resource_handler made{};
    made.target = &target_of<given>;
    made.arguments = &arguments_of<given>;
    made.takes_uri = std::same_as<arguments, std::string>;
    made.texts = text_arguments_of<arguments>();
    made.run = erase_handler<resource_use>(std::move(function));
    return made;
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
