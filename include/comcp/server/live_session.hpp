// SPDX-License-Identifier: MIT
//
// One live session of a server as others reach it, from any thread: to wake it after a change, to end it, and what it
// has subscribed to.
#pragma once

#include <comcp/session/home.hpp>
#include <comcp/session/session.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// Thread rule: any thread.
class live_session : public std::enable_shared_from_this<live_session>
{
public:
    explicit live_session(session& of) : home_(of.home()), owner_(of.weak_from_this()) {}

    /// Runs `work(session&)` on the session's executor, or never.
    template <class Work>
    void post(Work work)
    {
        home_->post([weak = owner_, work = std::move(work)] {
            if (auto owner = weak.lock()) work(*owner);
        });
    }

    /// Tells the role that something has changed that it shares with others. Changes that come together are one.
    void wake()
    {
        if (woken_.exchange(true)) return;
        post([self = shared_from_this()](session& owner) {
            self->woken_.store(false); // first: what changes from now on is told again
            owner.tell_role(role_event::changed);
        });
    }

    bool ended() const { return owner_.expired(); }

private:
    friend class subscription_table;

    struct subscription
    {
        bool updated = false; // and not told yet
    };

    std::shared_ptr<home> home_;
    std::weak_ptr<session> owner_;
    std::atomic<bool> woken_{false};
    // Guarded by the table:
    std::map<std::string, subscription, std::less<>> wanted_;
    std::deque<std::string> updated_; // in the order of the first update that was not told
};

/// Who has subscribed to what. An update waits at each subscriber, once for each URI, until it is told.
///
/// Thread rule: any thread.
class subscription_table
{
public:
    /// False when the session has `most` others already.
    bool add(const std::shared_ptr<live_session>& by, std::string_view uri, std::size_t most);
    void remove(live_session& by, std::string_view uri);
    void remove_all(live_session& by);
    std::vector<std::string> of(const live_session& by) const;

    /// A resource has changed: wakes its subscribers.
    void updated(std::string_view uri);
    /// The next update to tell.
    std::optional<std::string> take_updated(live_session& by);
    bool has_updated(const live_session& by) const;

private:
    void forget(live_session& by, std::string_view uri);

    mutable std::mutex mutex_;
    std::map<std::string, std::vector<std::shared_ptr<live_session>>, std::less<>> by_uri_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/live_session.ipp>
#endif
