// SPDX-License-Identifier: MIT
//
// Which members of a struct must be given, and what the others are when they are not. The schema says it to a peer and
// the binder does it, so both ask here.
#pragma once

#include <comcp/detail/erased_object.hpp>
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

/// What binder and schema know of a struct besides the types of its members.
///
/// The rule: a member may be left out when it is a `std::optional`, or when a default-constructed struct has it with a
/// value other than a value-initialised one (`int times = 3;`), which then is the default. Every other member is
/// required, so `int times = 0;` is: nothing tells it from `int times;`.
struct struct_facts
{
    struct_facts(const object_type& type, std::span<const member_info> its_members, const member_traits* traits,
                 const notes& its_notes);
    struct_facts(const struct_facts&) = delete;
    ~struct_facts();

    std::span<const member_info> members;
    const notes& beside;
    std::vector<member_default> defaults; ///< in the order of the members
};

/// Found once for each struct.
template <argument_struct T>
const struct_facts& facts_of()
{
    static const struct_facts found(object_type_of<T>, layout<T>::members,
                                    layout<T>::template apply<traits_table>::traits.data(), notes_beside<T>());
    return found;
}

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/defaults.ipp>
#endif
