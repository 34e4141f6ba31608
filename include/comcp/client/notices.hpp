// SPDX-License-Identifier: MIT
//
// Delivers notices to the host, one at a time and in order, without ever holding up an answer. What a slow callback
// leaves waiting is bounded: of progress one notice for each call (the newest), of updates one for each resource, of
// changed lists one for each list, and of all but progress and lists a fixed number.
#pragma once

#include <comcp/client/options.hpp>
#include <comcp/session/session.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// The progress of one call on its way to its callback.
struct progress_state
{
    explicit progress_state(notice_handler<progress> to) : handler(std::move(to)) {}
    notice_handler<progress> handler;
    std::optional<progress> newest; ///< waits for the pump
    bool ended = false;             ///< the call is over: nothing is delivered any more
};

class notice_pump : public std::enable_shared_from_this<notice_pump>
{
public:
    notice_pump(notice_handlers to, std::size_t most) : to_(std::move(to)), most_(most) {}

    void progressed(session& owner, const std::shared_ptr<progress_state>& to, progress notice);
    void logged(session& owner, log_message notice);
    void updated(session& owner, std::string uri);
    void elicited(session& owner, std::string id);
    void tools_changed(session& owner) { changed(owner, kind::tools_changed); }
    void resources_changed(session& owner) { changed(owner, kind::resources_changed); }
    void prompts_changed(session& owner) { changed(owner, kind::prompts_changed); }

    /// The call has ended: what still waits for its callback is dropped.
    void forget(progress_state& of)
    {
        of.ended = true;
        if (of.newest) std::erase_if(queue_, [&](const entry& each) { return each.call.get() == &of; });
        of.newest.reset();
    }

private:
    enum class kind {
        progress,
        log,
        updated,
        elicited,
        tools_changed,
        resources_changed,
        prompts_changed,
    };

    struct entry
    {
        explicit entry(kind of, std::string about = {}) : what(of), text(std::move(about)) {}
        kind what;
        std::string text;                     ///< a URI, or the id of an elicitation
        std::optional<log_message> log;       ///< of kind::log
        std::shared_ptr<progress_state> call; ///< of kind::progress
        bool counts() const { return what == kind::log || what == kind::updated || what == kind::elicited; }
    };

    /// Nobody wants the notice, or it was delivered in place.
    template <class... Notice>
    bool is_done(const notice_handler<Notice...>& handler, const Notice&... notice) const
    {
        if (!handler) return true;
        if (!handler.is_plain() || running_) return false;
        call_plain(handler, notice...);
        return true;
    }

    /// A callback that throws has only itself to blame: its notice is done.
    template <class... Notice>
    static void call_plain(const notice_handler<Notice...>& handler, const Notice&... notice)
    {
        try {
            handler.call(notice...);
        } catch (...) {
        }
    }

    void changed(session& owner, kind which);
    const notice_handler<>& handler_of(kind changed_list) const;

    bool waits(kind what, std::string_view about) const
    {
        return std::any_of(queue_.begin(), queue_.end(),
                           [&](const entry& each) { return each.what == what && each.text == about; });
    }

    void enqueue(session& owner, entry notice);
    static task<void> run(std::shared_ptr<notice_pump> self);
    task<void> delivery(entry notice) const;

    template <class... Notice>
    static task<void> deliver(notice_handler<Notice...> handler, Notice... notice)
    {
        if (handler.is_plain()) handler.call(notice...);
        else co_await handler.call_slow(notice...);
    }

    notice_handlers to_;
    std::size_t most_;
    std::deque<entry> queue_;
    std::size_t waiting_ = 0; // of those that count
    bool running_ = false;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/client/impl/notices.ipp>
#endif
