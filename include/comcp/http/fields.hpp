// SPDX-License-Identifier: MIT
//
// The fields (headers) of an HTTP message: an ordered list of names and values, found without regard to case, and the
// lists that stand inside values. Two allocations for the whole list. Nothing is judged when a field is added: the
// parser has judged before, and print.hpp judges before it writes.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

/// One field. As the element of `fields` it is valid until those change.
struct field
{
    std::string_view name;
    std::string_view value;

    friend bool operator==(const field&, const field&) = default;
};

/// Takes the next item off a list: `rest` becomes what follows it. Separators in quoted strings do not count, blanks
/// around items are left out, empty items are skipped (RFC 9110 section 5.6.1). False at the end.
constexpr bool next_item(std::string_view& rest, std::string_view& item, char separator = ',') noexcept
{
    while (!rest.empty()) {
        bool quoted = false;
        std::size_t end = 0;
        for (; end < rest.size() && (quoted || rest[end] != separator); ++end) {
            if (rest[end] == '"') quoted = !quoted;
            if (quoted && rest[end] == '\\' && end + 1 < rest.size()) ++end;
        }
        item = trim(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!item.empty()) return true;
    }
    return false;
}

/// Fields in the order in which they were added. Names keep their case and are compared without it.
class fields
{
    struct entry
    {
        std::size_t at;
        std::size_t name_size;
        std::size_t value_size;
    };

public:
    class const_iterator
    {
    public:
        using value_type = field;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::forward_iterator_tag;

        const_iterator() = default;
        field operator*() const { return (*list_)[index_]; }
        const_iterator& operator++()
        {
            ++index_;
            return *this;
        }
        const_iterator operator++(int) { return {list_, index_++}; }
        friend bool operator==(const const_iterator&, const const_iterator&) = default;

    private:
        friend fields;
        const_iterator(const fields* list, std::size_t index) : list_(list), index_(index) {}

        const fields* list_ = nullptr;
        std::size_t index_ = 0;
    };

    fields() = default;
    fields(std::initializer_list<field> list)
    {
        for (const field& item : list) add(item.name, item.value);
    }

    std::size_t size() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, entries_.size()}; }

    field operator[](std::size_t index) const { return {name_of(entries_[index]), value_of(entries_[index])}; }

    /// The value of the first field of that name.
    std::optional<std::string_view> find(std::string_view name) const
    {
        const std::size_t index = next(name, 0);
        if (index == size()) return std::nullopt;
        return value_of(entries_[index]);
    }

    /// Whether there are fields of that name, whether there is just one, and the value of the first one.
    struct named
    {
        std::size_t count = 0;
        std::string_view value;

        explicit operator bool() const noexcept { return count != 0; }
    };
    named look_for(std::string_view name) const
    {
        named out;
        for (std::size_t i = next(name, 0); i != size(); i = next(name, i + 1))
            if (out.count++ == 0) out.value = value_of(entries_[i]);
        return out;
    }

    /// The values of all fields of that name, in order.
    std::vector<std::string_view> find_all(std::string_view name) const
    {
        std::vector<std::string_view> values;
        for (std::size_t i = next(name, 0); i != size(); i = next(name, i + 1)) values.push_back((*this)[i].value);
        return values;
    }

    bool has(std::string_view name) const { return next(name, 0) != size(); }

    std::size_t count(std::string_view name) const
    {
        std::size_t found = 0;
        for (std::size_t i = next(name, 0); i != size(); i = next(name, i + 1)) ++found;
        return found;
    }

    /// The items of all fields of that name as one list (RFC 9110 section 5.3).
    std::vector<std::string_view> items(std::string_view name) const
    {
        std::vector<std::string_view> found;
        std::string_view item;
        for (std::size_t i = next(name, 0); i != size(); i = next(name, i + 1)) {
            for (std::string_view rest = (*this)[i].value; next_item(rest, item);) found.push_back(item);
        }
        return found;
    }

    /// Whether one of those items is `token`, in any case: `lists("Connection", "close")`.
    bool lists(std::string_view name, std::string_view token) const
    {
        std::string_view item;
        for (std::size_t i = next(name, 0); i != size(); i = next(name, i + 1)) {
            for (std::string_view rest = (*this)[i].value; next_item(rest, item);) {
                if (equal_ignoring_case(item, token)) return true;
            }
        }
        return false;
    }

    /// Adds a field at the end. Blanks at both ends of the value are no part of it.
    void add(std::string_view name, std::string_view value)
    {
        value = trim(value);
        if (entries_.capacity() == 0) entries_.reserve(8); // what most messages have
        const entry added{text_.size(), name.size(), value.size()};
        name_sizes_ |= size_bit(name.size());
        const std::size_t wanted = text_.size() + name.size() + value.size();
        if (wanted > text_.capacity()) {
            std::string grown; // name and value may be parts of the text
            grown.reserve(std::max({wanted, text_.capacity() * 2, std::size_t(384)}));
            grown.append(text_).append(name).append(value);
            text_ = std::move(grown);
        } else {
            text_.append(name).append(value);
        }
        entries_.push_back(added);
    }

    /// Replaces all fields of that name by one, at the end.
    void set(std::string_view name, std::string_view value)
    {
        add(name, value);
        const std::string kept((*this)[size() - 1].name);
        for (std::size_t i = next(kept, 0); i != size() - 1; i = next(kept, i)) remove(i);
    }

    /// Removes all fields of that name, and says how many there were.
    std::size_t erase(std::string_view name)
    {
        const std::string kept(name);
        const std::size_t before = size();
        for (std::size_t i = next(kept, 0); i != size(); i = next(kept, i)) remove(i);
        return before - size();
    }

    /// Removes all fields. Memory beyond `most` bytes is given back, less is kept for the next ones.
    void clear(std::size_t most = static_cast<std::size_t>(-1))
    {
        text_.clear();
        entries_.clear();
        name_sizes_ = 0;
        if (memory() <= most) return;
        std::string().swap(text_); // an assignment would keep the memory
        std::vector<entry>().swap(entries_);
    }

    /// Bytes that are held, used or not.
    std::size_t memory() const noexcept { return text_.capacity() + entries_.capacity() * sizeof(entry); }

    /// Equal names (in any case) and values in equal order.
    friend bool operator==(const fields& a, const fields& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const field& x, const field& y) {
            return x.value == y.value && equal_ignoring_case(x.name, y.name);
        });
    }

private:
    // The first field of that name at or after `index`; size() when there is none.
    std::size_t next(std::string_view name, std::size_t index) const
    {
        if ((name_sizes_ & size_bit(name.size())) == 0) return size(); // most of what is asked for is not there
        for (const std::size_t end = size(); index < end; ++index) {
            if (same_name(name_of(entries_[index]), name)) break;
        }
        return index;
    }

    std::string_view name_of(const entry& of) const { return {text_.data() + of.at, of.name_size}; }
    std::string_view value_of(const entry& of) const { return {text_.data() + of.at + of.name_size, of.value_size}; }

    void remove(std::size_t index)
    {
        const entry gone = entries_[index];
        text_.erase(gone.at, gone.name_size + gone.value_size);
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
        for (std::size_t i = index; i < size(); ++i) entries_[i].at -= gone.name_size + gone.value_size;
    }

    static constexpr std::uint64_t size_bit(std::size_t name_size) { return std::uint64_t(1) << (name_size % 64); }

    std::string text_; // names and values, one after the other
    std::vector<entry> entries_;
    std::uint64_t name_sizes_ = 0; // of the fields that are or were there: a bit for each
};

} // namespace comcp::inline COMCP_ABI::http
