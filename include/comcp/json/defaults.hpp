// SPDX-License-Identifier: MIT
//
// Which members of a struct must be given, and what the others are when they are not. The schema says it to a peer and
// the binder does it, so both ask here.
#pragma once

#include <comcp/json/describe.hpp>
#include <comcp/json/write.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

struct member_default
{
    bool optional; ///< a `std::optional`
    bool required;
    std::string text; ///< the default as JSON; empty when there is none
};

struct member_traits
{
    bool optional;
    write_function write;
    void (*write_blank)(std::string& out); ///< writes a value-initialised value of the member's type
};

template <class Member>
void write_blank(std::string& out)
{
    write_erased<Member>(out, std::addressof(static_cast<const Member&>(Member{})));
}

template <class... Member>
struct traits_table
{
    static constexpr std::array<member_traits, sizeof...(Member)> traits{
        member_traits{is_optional<Member>, &write_erased<Member>, &write_blank<Member>}...};
};

inline std::vector<member_default> find_defaults(const void* object, std::span<const member_info> members,
                                                 const member_traits* traits)
{
    std::vector<member_default> found;
    for (std::size_t index = 0; index < members.size(); ++index) {
        std::string text;
        std::string blank;
        traits[index].write(text, members[index].address(const_cast<void*>(object)));
        traits[index].write_blank(blank);
        if (text == blank) text.clear();
        const bool optional = traits[index].optional;
        found.push_back({optional, text.empty() && !optional, text});
    }
    return found;
}

/// The rule: a member may be left out when it is a `std::optional`, or when a default-constructed struct has it with a
/// value other than a value-initialised one (`int times = 3;`), which then is the default. Every other member is
/// required, so `int times = 0;` is: nothing tells it from `int times;`. Found once for each struct.
template <argument_struct T>
std::span<const member_default> defaults_of()
{
    static const std::vector<member_default> found = [] {
        const T object{};
        return find_defaults(std::addressof(object), layout<T>::members,
                             layout<T>::template apply<traits_table>::traits.data());
    }();
    return found;
}

} // namespace comcp::inline COMCP_ABI::detail
