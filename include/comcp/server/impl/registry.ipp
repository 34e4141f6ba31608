// SPDX-License-Identifier: MIT
//
// What a server offers, as snapshots: see server/registry.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/server/registry.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL entry_set::entry_set(std::vector<entry_ptr> entries, std::uint64_t last)
    : entries_(std::move(entries)),
      last_(last)
{
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        by_key_.emplace(entries_[i]->key(), i);
        completes_ = completes_ || entries_[i]->completes();
    }
}

COMCP_DECL bool same_list(const entry_set& left, const entry_set& right, const wire::codec& codec, revision at)
{
    const auto next_listed = [](const entry_set& in, std::size_t& index) -> const entry* {
        while (index < in.all().size() && !in.all()[index]->enabled) ++index;
        return index < in.all().size() ? in.all()[index++].get() : nullptr;
    };
    std::string left_text;
    std::string right_text;
    std::size_t left_index = 0;
    std::size_t right_index = 0;
    for (;;) {
        const entry* one = next_listed(left, left_index);
        const entry* other = next_listed(right, right_index);
        if (one == other) {
            if (one) continue;
            return true;
        }
        if (!one || !other) return false;
        left_text.clear();
        right_text.clear();
        one->write(left_text, codec, at);
        other->write(right_text, codec, at);
        if (left_text != right_text) return false;
    }
}

COMCP_DECL void registry::listen(on_change listener)
{
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
}

COMCP_DECL std::shared_ptr<const entry_set> registry::snapshot() const
{
    const std::lock_guard lock(mutex_);
    return current_;
}

COMCP_DECL void registry::add(std::shared_ptr<entry> made)
{
    publish([&](std::vector<entry_ptr>& entries) {
        static constexpr std::string_view nouns[] = {"tool", "resource", "resource template", "prompt"};
        const std::string noun(nouns[static_cast<std::size_t>(kind_)]);
        if (made->key().empty()) throw error(fail(errc::invalid_argument, "a " + noun + " needs a name"));
        if (current_->contains(made->key()))
            throw error(fail(errc::invalid_argument, "there is a " + noun + " \"" + made->key() + "\" already"));
        made->number = ++last_;
        entries.push_back(std::move(made));
        return true;
    });
}

COMCP_DECL bool registry::remove(std::string_view key)
{
    return publish([&](std::vector<entry_ptr>& entries) {
        return std::erase_if(entries, [&](const entry_ptr& each) { return each->key() == key; }) != 0;
    });
}

} // namespace comcp::inline COMCP_ABI::detail
