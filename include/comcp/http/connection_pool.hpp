// SPDX-License-Identifier: MIT
//
// The connections of a client that wait for their next request. The one that was used last goes first, so that what is
// too much stays idle and expires. It opens none.
#pragma once

#include <comcp/http/client_connection.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

/// Thread rule: the executor of the connections.
class connection_pool
{
public:
    /// Keeps at most `most` connections, each for at most `idle`.
    connection_pool(std::size_t most, duration idle) : most_(most), idle_(idle) {}

    /// A connection to `to` that is open as far as can be known, or null. Those that are not are cut.
    std::shared_ptr<client_connection> take(const origin& to)
    {
        for (std::size_t i = waiting_.size(); i-- != 0;) {
            if (waiting_[i].connection->origin() != to) continue;
            const std::shared_ptr<client_connection> found = std::move(waiting_[i].connection);
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
            if (found->usable()) return found;
            found->cut();
            i = std::min(i, waiting_.size());
        }
        return nullptr;
    }

    /// Keeps a connection.
    void put(std::shared_ptr<client_connection> connection, time_point now)
    {
        if (most_ == 0) connection->cut();
        else if (waiting_.size() >= most_) cut_first();
        if (connection->closed()) return;
        waiting_.push_back({std::move(connection), comcp::detail::deadline_after(now, idle_)});
    }

    /// Cuts what is too old, and says after what time the next one is; `no_limit` when there is none.
    duration expire(time_point now)
    {
        while (!waiting_.empty() && waiting_.front().until <= now) cut_first();
        const bool never = waiting_.empty() || waiting_.front().until == time_point::max();
        return never ? no_limit : waiting_.front().until - now;
    }

    /// A connection was closed.
    void forget(const client_connection& gone)
    {
        std::erase_if(waiting_, [&](const entry& each) { return each.connection.get() == &gone; });
    }
    void cut_all()
    {
        while (!waiting_.empty()) cut_first();
    }
    /// The execution context ends.
    void drop_all() { waiting_.clear(); }

    std::size_t size() const { return waiting_.size(); }

private:
    struct entry
    {
        std::shared_ptr<client_connection> connection;
        time_point until;
    };

    void cut_first()
    {
        const std::shared_ptr<client_connection> oldest = std::move(waiting_.front().connection);
        waiting_.erase(waiting_.begin());
        oldest->cut();
    }

    std::size_t most_;
    duration idle_;
    std::vector<entry> waiting_; // in the order in which they became idle
};

} // namespace comcp::inline COMCP_ABI::http
