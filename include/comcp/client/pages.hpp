// SPDX-License-Identifier: MIT
//
// All pages of a list. Cursors are opaque and tested for presence, not for truth: an empty string is a cursor like any
// other. A server that repeats a cursor, or never ends, gives a list that says it is not complete.
#pragma once

#include <comcp/client/listing.hpp>
#include <comcp/json/value.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Collects pages into a list and decides when to stop. Pure: no I/O.
class tool_pages
{
public:
    tool_pages(std::size_t most_pages, std::size_t most_tools) : most_pages_(most_pages), most_tools_(most_tools) {}

    /// Reads one page out of a message's memory. A fault says that it is no page at all.
    std::optional<fault> add(const json::object& result)
    {
        next_.reset();
        const json::array* items = array_member(result, "tools");
        if (!items) return fail(errc::invalid_message, "the list of tools is not an array");
        ++pages_;
        for (const json::value& item : *items) {
            if (list_.tools.size() >= most_tools_) {
                stop("more than " + std::to_string(most_tools_) + " tools");
                return std::nullopt;
            }
            result_of(item);
        }
        // Present, not true: "" is a cursor (2026-07-28, pagination; F-3).
        if (const auto cursor = string_member(result, "nextCursor")) {
            if (!seen_.emplace(*cursor).second) stop("the server repeated a cursor");
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
    tool_list take() { return std::move(list_); }

private:
    void result_of(const json::value& item)
    {
        auto read = read_tool(item);
        if (!read) {
            if (list_.problems.size() < 100) list_.problems.push_back(read.error().text);
        } else if (names_.insert(read->name).second) {
            list_.tools.push_back(std::move(*read));
        }
    }

    std::size_t most_pages_;
    std::size_t most_tools_;
    std::size_t pages_ = 0;
    tool_list list_;
    std::optional<std::string> next_;
    std::unordered_set<std::string> seen_;
    std::unordered_set<std::string> names_;
};

} // namespace comcp::inline COMCP_ABI::detail
