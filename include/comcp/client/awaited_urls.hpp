// SPDX-License-Identifier: MIT
//
// The elicitations by URL whose end a server may tell of: those that it has asked for in this session, by a request or
// by the error -32042. Not for whether the user went there: nobody tells a client that.
#pragma once

#include <comcp/protocol/elicitation.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// The newest ids, each once.
class awaited_urls
{
public:
    static constexpr std::size_t max_ids = 256;
    static constexpr std::size_t max_id = 1024; ///< bytes; the end of one with a longer id is not told

    void add(std::string_view id)
    {
        if (id.empty() || id.size() > max_id || std::ranges::find(ids_, id) != ids_.end()) return;
        if (ids_.size() == max_ids) ids_.pop_front();
        ids_.emplace_back(id);
    }
    void add(const rpc_error& refused)
    {
        for (const elicitation_request& each : url_elicitations(refused)) add(each.elicitation_id);
    }
    /// Forgets an id; false when it was not awaited (2025-11-25, elicitation: ids that are unknown or were completed
    /// already must be ignored).
    bool take(std::string_view id)
    {
        const auto found = std::ranges::find(ids_, id);
        if (found == ids_.end()) return false;
        ids_.erase(found);
        return true;
    }

private:
    std::deque<std::string> ids_;
};

} // namespace comcp::inline COMCP_ABI::detail
