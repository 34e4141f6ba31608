// SPDX-License-Identifier: MIT
//
// Who has subscribed to what: see server/live_session.hpp.
#pragma once

#include <comcp/server/live_session.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL bool subscription_table::add(const std::shared_ptr<live_session>& by, std::string_view uri, std::size_t most)
{
    const std::lock_guard lock(mutex_);
    if (by->wanted_.contains(uri)) return true;
    if (by->wanted_.size() >= most) return false;
    by->wanted_.emplace(uri, live_session::subscription());
    auto at = by_uri_.find(uri);
    if (at == by_uri_.end()) at = by_uri_.emplace(uri, std::vector<std::shared_ptr<live_session>>()).first;
    at->second.push_back(by);
    return true;
}

COMCP_DECL void subscription_table::forget(live_session& by, std::string_view uri)
{
    const auto at = by_uri_.find(uri);
    if (at == by_uri_.end()) return;
    std::erase_if(at->second, [&](const auto& each) { return each.get() == &by; });
    if (at->second.empty()) by_uri_.erase(at);
}

COMCP_DECL void subscription_table::remove(live_session& by, std::string_view uri)
{
    const std::lock_guard lock(mutex_);
    const auto at = by.wanted_.find(uri);
    if (at == by.wanted_.end()) return;
    if (at->second.updated) std::erase(by.updated_, at->first);
    by.wanted_.erase(at);
    forget(by, uri);
}

COMCP_DECL void subscription_table::remove_all(live_session& by)
{
    const std::lock_guard lock(mutex_);
    for (const auto& [uri, state] : by.wanted_) forget(by, uri);
    by.wanted_.clear();
    by.updated_.clear();
}

COMCP_DECL std::vector<std::string> subscription_table::of(const live_session& by) const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string> uris;
    for (const auto& [uri, state] : by.wanted_) uris.push_back(uri);
    return uris;
}

COMCP_DECL void subscription_table::updated(std::string_view uri)
{
    const std::lock_guard lock(mutex_);
    const auto at = by_uri_.find(uri);
    if (at == by_uri_.end()) return;
    for (const auto& each : at->second) {
        if (std::exchange(each->wanted_.find(uri)->second.updated, true)) continue;
        each->updated_.emplace_back(uri);
        each->wake();
    }
}

COMCP_DECL std::optional<std::string> subscription_table::take_updated(live_session& by)
{
    const std::lock_guard lock(mutex_);
    if (by.updated_.empty()) return std::nullopt;
    std::string uri = std::move(by.updated_.front());
    by.updated_.pop_front();
    by.wanted_.find(uri)->second.updated = false;
    return uri;
}

COMCP_DECL bool subscription_table::has_updated(const live_session& by) const
{
    const std::lock_guard lock(mutex_);
    return !by.updated_.empty();
}

} // namespace comcp::inline COMCP_ABI::detail
