// SPDX-License-Identifier: MIT
//
// All pages of a list. Cursors are opaque and tested for presence, not for truth: an empty string is a cursor like any
// other. A server that repeats a cursor, or never ends, gives a list that says it is not complete.
#pragma once

#include <comcp/client/listing.hpp>
#include <comcp/json/value.hpp>
#include <comcp/limits.hpp>
#include <comcp/protocol/methods.hpp>
#include <comcp/protocol/read.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// How a list is asked for: its method, the member with its items, and how one is read.
template <class Item>
struct list_traits;

template <>
struct list_traits<tool>
{
    static constexpr std::string_view method = method::tools_list;
    static constexpr std::string_view member = "tools";
    static result<tool> read(const json::value& from) { return read_tool(from); }
};

template <>
struct list_traits<resource>
{
    static constexpr std::string_view method = method::resources_list;
    static constexpr std::string_view member = "resources";
    static result<resource> read(const json::value& from) { return read_resource(from); }
};

template <>
struct list_traits<resource_template>
{
    static constexpr std::string_view method = method::resources_templates_list;
    static constexpr std::string_view member = "resourceTemplates";
    static result<resource_template> read(const json::value& from) { return read_resource_template(from); }
};

template <>
struct list_traits<prompt>
{
    static constexpr std::string_view method = method::prompts_list;
    static constexpr std::string_view member = "prompts";
    static result<prompt> read(const json::value& from) { return read_prompt(from); }
};

/// Collects pages into a list and decides when to stop. Pure: no I/O.
template <class Item>
class page_collector
{
    using traits = list_traits<Item>;

public:
    explicit page_collector(const limits& most)
        : most_pages_(most.pages),
          most_items_(most.items),
          most_bytes_(most.list_bytes)
    {}

    /// Reads one page out of a message's memory, whose text has `size` bytes. A fault says that it is no page at all.
    std::optional<fault> add(const json::object& result, std::size_t size)
    {
        next_.reset();
        const json::array* items = array_member(result, traits::member);
        if (!items) return fail(errc::invalid_message, std::string(traits::member) + " is not an array");
        ++pages_;
        if (size > most_bytes_ - bytes_) {
            stop("more than " + std::to_string(most_bytes_) + " bytes of " + std::string(traits::member));
            return std::nullopt;
        }
        bytes_ += size;
        for (const json::key_value_pair& each : detail::unknown_members(result, {traits::member, "nextCursor"}))
            list_.extra[each.key()] = each.value();
        for (const json::value& item : *items) {
            if (list_.items.size() >= most_items_) {
                stop("more than " + std::to_string(most_items_) + " " + std::string(traits::member));
                return std::nullopt;
            }
            add_item(item);
        }
        // Present, not true: "" is a cursor (2026-07-28, pagination; F-3).
        if (const auto cursor = string_member(result, "nextCursor")) {
            if (cursor->size() > longest_cursor) stop("a cursor of " + std::to_string(cursor->size()) + " bytes");
            else if (!seen_.emplace(*cursor).second) stop("the server repeated a cursor");
            else if (pages_ >= most_pages_) stop("more than " + std::to_string(most_pages_) + " pages");
            else next_ = std::string(*cursor);
        }
        return std::nullopt;
    }

    /// The cursor of the page to ask for; nothing when the list is done.
    const std::optional<std::string>& next() const { return next_; }
    std::size_t pages() const { return pages_; }
    void stop(std::string why)
    {
        next_.reset();
        list_.complete = false;
        list_.why_partial = std::move(why);
    }
    list_of<Item> take() { return std::move(list_); }

private:
    static constexpr std::size_t longest_cursor = 64 * 1024; // all of them are kept

    void add_item(const json::value& item)
    {
        auto read = traits::read(item);
        if (!read) {
            if (list_.problems.size() < 100) list_.problems.push_back(read.error().text);
        } else if (keys_.emplace(key_of(*read)).second) {
            list_.items.push_back(std::move(*read));
        }
    }

    std::size_t most_pages_;
    std::size_t most_items_;
    std::size_t most_bytes_;
    std::size_t pages_ = 0;
    std::size_t bytes_ = 0; // of their text
    list_of<Item> list_;
    std::optional<std::string> next_;
    std::unordered_set<std::string> seen_;
    std::unordered_set<std::string> keys_;
};

} // namespace comcp::inline COMCP_ABI::detail
