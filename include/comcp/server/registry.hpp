// SPDX-License-Identifier: MIT
//
// What a server offers, as immutable snapshots: a change makes a new snapshot and replaces the old one whole, so any
// number of sessions on any threads read without a lock while the host adds, changes and removes tools.
#pragma once

#include <comcp/error.hpp>
#include <comcp/server/tool_entry.hpp>

#include <algorithm>
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

/// All tools at one moment, in the order of their registration.
class tool_set
{
public:
    const std::vector<std::shared_ptr<const tool_entry>>& all() const { return entries_; }

    /// The tool that may be called under this name; null when there is none or it is switched off.
    const std::shared_ptr<const tool_entry>* find(std::string_view name) const
    {
        const auto at = by_name_.find(name);
        if (at == by_name_.end() || !entries_[at->second]->enabled) return nullptr;
        return &entries_[at->second];
    }

    const std::shared_ptr<const tool_entry>* find_any(std::string_view name) const
    {
        const auto at = by_name_.find(name);
        return at == by_name_.end() ? nullptr : &entries_[at->second];
    }

    /// Builds the index; called once, before the set is shared.
    explicit tool_set(std::vector<std::shared_ptr<const tool_entry>> entries = {}) : entries_(std::move(entries))
    {
        for (std::size_t i = 0; i < entries_.size(); ++i) by_name_.emplace(entries_[i]->info.name, i);
    }

private:
    std::vector<std::shared_ptr<const tool_entry>> entries_;
    std::unordered_map<std::string_view, std::size_t> by_name_; // views of the entries' own names
};

/// Thread rule: any thread.
class tool_registry
{
public:
    using on_change = std::function<void()>;

    /// Called after every change of what clients can see, on the thread that made it.
    void listen(on_change listener);

    std::shared_ptr<const tool_set> snapshot() const;
    /// Moves with every change, so that a reader takes the lock only when there is something new.
    std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

    /// *Errors*: errc::invalid_argument when the name is empty or taken.
    void add(std::shared_ptr<const tool_entry> entry);

    /// False when there is no such tool. Calls that run are not disturbed.
    bool remove(std::string_view name);

    /// Replaces a tool by a changed copy; does nothing when there is no such tool or `edit` returned false.
    template <class Edit>
    void edit(std::string_view name, Edit edit)
    {
        change([&](std::vector<std::shared_ptr<const tool_entry>>& entries) {
            for (auto& each : entries) {
                if (each->info.name != name) continue;
                auto changed = std::make_shared<tool_entry>(*each);
                if (!edit(*changed)) return false;
                each = std::move(changed);
                return true;
            }
            return false;
        });
    }

private:
    template <class Change>
    bool change(Change make)
    {
        on_change tell;
        {
            const std::lock_guard lock(mutex_);
            auto entries = current_->all();
            if (!make(entries)) return false;
            current_ = std::make_shared<const tool_set>(std::move(entries));
            version_.fetch_add(1, std::memory_order_release);
            tell = listener_;
        }
        if (tell) tell();
        return true;
    }

    mutable std::mutex mutex_;
    std::shared_ptr<const tool_set> current_ = std::make_shared<const tool_set>();
    std::atomic<std::uint64_t> version_{1};
    on_change listener_;
};

} // namespace comcp::inline COMCP_ABI::detail
