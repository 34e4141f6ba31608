// SPDX-License-Identifier: MIT
//
// All that a server offers of one kind, as immutable snapshots: a change makes a new snapshot and replaces the old one
// whole, so any number of sessions on any threads read without a lock while the host adds, changes and removes.
#pragma once

#include <comcp/server/entry.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

using entry_ptr = std::shared_ptr<const entry>;

/// Everything of one kind at one moment, in the order of registration.
class entry_set
{
public:
    /// Builds the index; called once, before the set is shared. `last` is the highest number that was ever given.
    explicit entry_set(std::vector<entry_ptr> entries = {}, std::uint64_t last = 0);

    const std::vector<entry_ptr>& all() const { return entries_; }
    std::uint64_t last_number() const { return last_; }

    /// What may be used under this key; null when there is none or it is switched off.
    const entry_ptr* find(std::string_view key) const
    {
        const auto at = by_key_.find(key);
        return at == by_key_.end() || !entries_[at->second]->enabled ? nullptr : &entries_[at->second];
    }
    bool contains(std::string_view key) const { return by_key_.contains(key); }
    /// Something of one is completed.
    bool completes() const { return completes_; }

private:
    std::vector<entry_ptr> entries_;
    std::unordered_map<std::string_view, std::size_t> by_key_; // views of the entries' own keys
    std::uint64_t last_;
    bool completes_ = false;
};

/// Whether a client of this revision sees the same list in both.
bool same_list(const entry_set& left, const entry_set& right, const wire::codec& codec, revision at);

/// Thread rule: any thread.
class registry
{
public:
    using on_change = std::function<void()>;

    explicit registry(entry_kind kind) : kind_(kind) {}

    /// Called after every change, on the thread that made it.
    void listen(on_change listener);

    std::shared_ptr<const entry_set> snapshot() const;
    /// Moves with every change, so that a reader takes the lock only when there is something new.
    std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

    /// *Errors*: errc::invalid_argument when the key is empty or taken.
    void add(std::shared_ptr<entry> made);

    /// False when there is no such entry. Calls that run are not disturbed.
    bool remove(std::string_view key);

    /// Replaces an entry by a changed copy; does nothing when there is no such entry. `change(entry&)` may throw.
    template <class Change>
    void edit(std::string_view key, Change change)
    {
        publish([&](std::vector<entry_ptr>& entries) {
            for (entry_ptr& each : entries) {
                if (each->key() != key) continue;
                auto changed = each->copy();
                change(*changed);
                each = std::move(changed);
                return true;
            }
            return false;
        });
    }

private:
    template <class Change>
    bool publish(Change make)
    {
        on_change tell;
        {
            const std::lock_guard lock(mutex_);
            auto entries = current_->all();
            if (!make(entries)) return false;
            current_ = std::make_shared<const entry_set>(std::move(entries), last_);
            version_.fetch_add(1, std::memory_order_release);
            tell = listener_;
        }
        if (tell) tell();
        return true;
    }

    entry_kind kind_;
    mutable std::mutex mutex_;
    std::shared_ptr<const entry_set> current_ = std::make_shared<const entry_set>();
    std::uint64_t last_ = 0;
    std::atomic<std::uint64_t> version_{1};
    on_change listener_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/registry.ipp>
#endif
