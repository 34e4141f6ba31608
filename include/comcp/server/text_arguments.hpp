// SPDX-License-Identifier: MIT
//
// Arguments that come as texts: the variables of a URI and the arguments of a prompt. They are bound to a described
// struct, whose members may be numbers and the like all the same, or handed over as a map.
#pragma once

#include <comcp/json/bind.hpp>
#include <comcp/protocol/uri_template.hpp>
#include <comcp/server/tool.hpp>

#include <concepts>
#include <map>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Names and values, decoded.
using text_map = uri_variables;

/// How a handler's argument is made of texts. At most one of both is there.
struct text_arguments
{
    const argument_type* described = nullptr;
    void (*copy)(const text_map& from, void* to) = nullptr; ///< a map
};

template <class Map>
void copy_texts(const text_map& from, void* to)
{
    auto& map = *static_cast<Map*>(to);
    for (const auto& [name, value] : from) map.emplace(name, value);
}

template <class Arguments>
constexpr text_arguments text_arguments_of()
{
    text_arguments made;
    if constexpr (argument_struct<Arguments>) {
        made.described = &argument_type_of<Arguments>;
    } else if constexpr (string_map<Arguments>) {
        static_assert(std::same_as<typename Arguments::mapped_type, std::string>, "a map of texts holds strings");
        made.copy = &copy_texts<Arguments>;
    }
    return made;
}

/// Fills `to`. A text is bound as it is where that fits, else as the number or truth value that it spells. Names that
/// the struct does not have are passed over.
void bind_texts(const text_map& from, const text_arguments& how, void* to, bind_errors& errors);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/text_arguments.ipp>
#endif
