// SPDX-License-Identifier: MIT
//
// Delivers progress and log notices to the host, one at a time and in order, without ever holding up an answer. What a
// slow callback leaves waiting is bounded: one notice per call (the newest), and a fixed number of log messages.
#pragma once

#include <comcp/client/options.hpp>
#include <comcp/session/session.hpp>

#include <deque>
#include <memory>
#include <optional>
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
    notice_pump(notice_handler<log_message> log, std::size_t most) : log_(std::move(log)), most_logs_(most) {}

    void progressed(session& owner, const std::shared_ptr<progress_state>& to, progress notice);

    void logged(session& owner, log_message notice);

    /// The call has ended: what still waits for its callback is dropped.
    void forget(progress_state& of)
    {
        of.ended = true;
        if (of.newest) std::erase_if(queue_, [&](const entry& each) { return each.call.get() == &of; });
        of.newest.reset();
    }

private:
    struct entry
    {
        std::shared_ptr<progress_state> call;
        std::optional<log_message> log;
    };

    /// A callback that throws has only itself to blame: its notice is done.
    template <class Notice>
    static void call_plain(const notice_handler<Notice>& handler, const Notice& notice)
    {
        try {
            handler.call(notice);
        } catch (...) {
        }
    }

    void start(session& owner);

    static task<void> run(std::shared_ptr<notice_pump> self);

    template <class Notice>
    static task<void> deliver(notice_handler<Notice> handler, Notice notice)
    {
        if (handler.is_plain()) handler.call(notice);
        else co_await handler.call_slow(std::move(notice));
    }

    notice_handler<log_message> log_;
    std::size_t most_logs_;
    std::deque<entry> queue_;
    std::size_t waiting_logs_ = 0;
    bool running_ = false;
};

} // namespace comcp::inline COMCP_ABI::detail
