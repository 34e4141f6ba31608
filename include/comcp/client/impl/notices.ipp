// SPDX-License-Identifier: MIT
//
// How notices reach the host: see client/notices.hpp.
#pragma once

#include <comcp/client/notices.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void notice_pump::progressed(session& owner, const std::shared_ptr<progress_state>& to, progress notice)
{
    if (is_done(to->handler, notice)) return;
    const bool waits = to->newest.has_value();
    to->newest = std::move(notice);
    if (waits) return; // coalesced: its place in the queue stays
    entry made(kind::progress);
    made.call = to;
    enqueue(owner, std::move(made));
}

COMCP_DECL void notice_pump::logged(session& owner, log_message notice)
{
    if (is_done(to_.log, notice)) return;
    entry made(kind::log);
    made.log = std::move(notice);
    enqueue(owner, std::move(made));
}

COMCP_DECL void notice_pump::updated(session& owner, std::string uri)
{
    if (!is_done(to_.resource_updated, uri) && !waits(kind::updated, uri))
        enqueue(owner, entry(kind::updated, std::move(uri)));
}

COMCP_DECL void notice_pump::elicited(session& owner, std::string id)
{
    if (!is_done(to_.elicitation_complete, id)) enqueue(owner, entry(kind::elicited, std::move(id)));
}

COMCP_DECL void notice_pump::changed(session& owner, kind which)
{
    if (!is_done(handler_of(which)) && !waits(which, {})) enqueue(owner, entry(which));
}

COMCP_DECL const notice_handler<>& notice_pump::handler_of(kind changed_list) const
{
    return changed_list == kind::tools_changed       ? to_.tools_changed
           : changed_list == kind::resources_changed ? to_.resources_changed
                                                     : to_.prompts_changed;
}

COMCP_DECL void notice_pump::enqueue(session& owner, entry notice)
{
    if (notice.counts()) {
        if (waiting_ >= most_) return owner.count_dropped_notice();
        ++waiting_;
    }
    queue_.push_back(std::move(notice));
    if (running_) return;
    running_ = true;
    owner.spawn_beside(run(shared_from_this()));
}

COMCP_DECL task<void> notice_pump::delivery(entry notice) const
{
    switch (notice.what) {
    case kind::progress: break;
    case kind::log: return deliver(to_.log, std::move(*notice.log));
    case kind::updated: return deliver(to_.resource_updated, std::move(notice.text));
    case kind::elicited: return deliver(to_.elicitation_complete, std::move(notice.text));
    default: return deliver(handler_of(notice.what));
    }
    progress newest = std::move(*notice.call->newest);
    notice.call->newest.reset();
    return deliver(notice.call->handler, std::move(newest));
}

COMCP_DECL task<void> notice_pump::run(std::shared_ptr<notice_pump> self)
{
    while (!self->queue_.empty()) {
        entry next = std::move(self->queue_.front());
        self->queue_.pop_front();
        if (next.counts()) --self->waiting_;
        if (next.call && (next.call->ended || !next.call->newest)) continue;
        try {
            auto delivered = self->delivery(std::move(next));
            co_await std::move(delivered);
        } catch (...) {
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) break;
    }
    self->queue_.clear();
    self->waiting_ = 0;
    self->running_ = false;
}

} // namespace comcp::inline COMCP_ABI::detail
