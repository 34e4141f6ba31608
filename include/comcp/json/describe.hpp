// SPDX-License-Identifier: MIT
//
// What the JSON layer knows about user structs and enums: their Boost.Describe members in the order of declaration,
// those of bases first, and the notes (descriptions, ranges) that stand beside them. Writing, schema and binder work on
// the plain tables of this header, so that a further struct costs the compiler a few small functions and no loops.
#pragma once

#include <comcp/result.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A struct with BOOST_DESCRIBE_STRUCT (or BOOST_DESCRIBE_CLASS): its public data members are its JSON members.
template <class T>
concept described_struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

/// An enum with BOOST_DESCRIBE_ENUM or BOOST_DEFINE_ENUM: its enumerators' names are its JSON strings.
template <class T>
concept described_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

/// What a tool can take as its arguments: a described struct whose default-constructed object gives the defaults.
template <class T>
concept argument_struct = described_struct<T> && std::default_initializable<T>;

/// A note on one member: what it means and what values it may have. For a member that is optional it speaks of the
/// value inside. `field("How often").minimum(1).maximum(10)`.
class field
{
public:
    field() = default;
    explicit field(std::string description) : description_(std::move(description)) {}

    field& description(std::string text)
    {
        description_ = std::move(text);
        return *this;
    }
    /// A short name for people.
    field& title(std::string text)
    {
        title_ = std::move(text);
        return *this;
    }
    /// The least value of a number.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    field& minimum(Number value)
    {
        minimum_ = value;
        return *this;
    }
    /// The greatest value of a number.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    field& maximum(Number value)
    {
        maximum_ = value;
        return *this;
    }
    /// The least length of a string, in code points.
    field& min_length(std::uint64_t value)
    {
        min_length_ = value;
        return *this;
    }
    /// The greatest length of a string, in code points.
    field& max_length(std::uint64_t value)
    {
        max_length_ = value;
        return *this;
    }

    /// The format of a string, such as "email", "uri", "date" or "date-time". A hint: the binder does not check it.
    field& format(std::string name)
    {
        format_ = std::move(name);
        return *this;
    }

    const std::string& description() const noexcept { return description_; }
    const std::string& title() const noexcept { return title_; }
    const std::string& format() const noexcept { return format_; }
    const json::value& minimum() const noexcept { return minimum_; } ///< null when there is none
    const json::value& maximum() const noexcept { return maximum_; } ///< null when there is none
    std::optional<std::uint64_t> min_length() const noexcept { return min_length_; }
    std::optional<std::uint64_t> max_length() const noexcept { return max_length_; }

private:
    std::string description_;
    std::string title_;
    std::string format_;
    json::value minimum_;
    json::value maximum_;
    std::optional<std::uint64_t> min_length_;
    std::optional<std::uint64_t> max_length_;
};

/// Notes on the members of one struct. They come from an overload beside the struct, found by its argument,
/// `comcp::notes schema_notes(const greet_args*)`, and from the registration of a tool, which comes first.
class notes
{
public:
    notes& add(std::string name, field note);

    /// The latest note on a member, or null.
    const field* find(std::string_view name) const noexcept;

    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }

private:
    std::vector<std::pair<std::string, field>> entries_;
};

namespace detail
{

struct member_info
{
    std::string_view name;
    void* (*address)(void* object) noexcept;
};

struct enumerator_info
{
    std::string_view name;
    std::uint64_t value;
};

template <class T, class Descriptor>
void* member_address(void* object) noexcept
{
    return std::addressof(static_cast<T*>(object)->*Descriptor::pointer);
}

template <class T, class List>
struct layout_from;

template <class T, template <class...> class List, class... Descriptor>
struct layout_from<T, List<Descriptor...>>
{
    static constexpr std::array<member_info, sizeof...(Descriptor)> members{
        member_info{Descriptor::name, &member_address<T, Descriptor>}...};

    /// Makes a table of one entry for each member's type: `Table<M...>`.
    template <template <class...> class Table>
    using apply = Table<std::remove_reference_t<decltype(std::declval<T&>().*Descriptor::pointer)>...>;
};

/// The members of a struct. `members` and every table made by `apply` have the same order.
template <described_struct T>
using layout =
    layout_from<T, boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>>;

template <class List>
struct enumerators_from;

template <template <class...> class List, class... Descriptor>
struct enumerators_from<List<Descriptor...>>
{
    static constexpr std::array<enumerator_info, sizeof...(Descriptor)> all{
        enumerator_info{Descriptor::name, static_cast<std::uint64_t>(Descriptor::value)}...};
};

template <described_enum E>
using enumerators = enumerators_from<boost::describe::describe_enumerators<E>>;

const notes& no_notes() noexcept;

/// The notes that stand beside a struct; made once.
template <class T>
const notes& notes_beside()
{
    if constexpr (requires(const T* object) { notes(schema_notes(object)); }) {
        static const notes found = schema_notes(static_cast<const T*>(nullptr));
        return found;
    } else {
        return no_notes();
    }
}

result<void> check_notes(std::span<const member_info> members, const notes& extra, const notes& beside);

} // namespace detail

/// Checks that every note speaks of a member that exists: those given, and those beside the struct. The fault is
/// `errc::invalid_argument` and names the first that does not.
template <described_struct T>
result<void> check_notes(const notes& extra = {})
{
    return detail::check_notes(detail::layout<T>::members, extra, detail::notes_beside<T>());
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/describe.ipp>
#endif
