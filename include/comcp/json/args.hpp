// SPDX-License-Identifier: MIT
//
// Ad-hoc arguments of a call, held as the text of a JSON object. A class with constructors, because g++ 12 rejects
// braces inside of a co_await expression. Not a JSON value: nothing can be read out of it.
#pragma once

#include <comcp/json/describe.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/write.hpp>

#include <boost/json/object.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// `args("name", "Ada", "times", 3)`, `args(described_struct)`, `args().add("name", "Ada")`. Values are whatever
/// `write_json` takes; a member that is set twice has the last value, at its first place.
class args
{
public:
    /// No arguments: an empty object.
    args() : text_("{}") {}

    /// Keys and values by turns.
    template <std::convertible_to<std::string_view> Key, class Value, class... Rest>
        requires(sizeof...(Rest) % 2 == 0)
    args(const Key& key, const Value& value, const Rest&... rest)
    {
        text_ += '{';
        write_string(text_, key);
        text_ += ':';
        write_json(text_, value);
        text_ += '}';
        if constexpr (sizeof...(Rest) != 0) add_all(rest...);
    }

    /// The members of a described struct; empty optionals are left out.
    template <described_struct Struct>
    explicit args(const Struct& members)
    {
        write_json(text_, members);
    }

    explicit args(const json::object& members) { write_value(text_, members); }

    /// Takes a text as it is. It must be that of a JSON object on one line.
    explicit args(raw_json object) noexcept : text_(std::move(object).text()) {}

    /// Sets a member.
    template <class Value>
    args& add(std::string_view key, const Value& value)
    {
        if (text_.size() > 2 && member_source(text_, key)) {
            std::string written;
            write_json(written, value);
            replace(key, written);
            return *this;
        }
        text_.resize(text_.rfind('}'));
        if (text_.find('"') != text_.npos) text_ += ','; // an object without a quote has no members
        write_string(text_, key);
        text_ += ':';
        write_json(text_, value);
        text_ += '}';
        return *this;
    }

    /// The object's text.
    const std::string& text() const& noexcept { return text_; }
    std::string text() && noexcept { return std::move(text_); }

private:
    template <class Value, class... Rest>
    void add_all(std::string_view key, const Value& value, const Rest&... rest)
    {
        add(key, value);
        if constexpr (sizeof...(Rest) > 0) add_all(rest...);
    }

    void replace(std::string_view key, std::string_view written)
    {
        const auto old = member_source(text_, key);
        text_.replace(static_cast<std::size_t>(old->data() - text_.data()), old->size(), written);
    }

    std::string text_;
};

} // namespace comcp::inline COMCP_ABI
