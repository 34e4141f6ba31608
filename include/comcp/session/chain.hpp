// SPDX-License-Identifier: MIT
//
// What a session keeps while messages are on their way through its middleware. A session without middleware has none
// of this. For hosts: session/middleware.hpp.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/rpc/parse.hpp>
#include <comcp/session/deadlines.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/session/middleware.hpp>
#include <comcp/session/wait_list.hpp>
#include <comcp/transport/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class pending_call;

/// A notification that waits for its turn.
struct waiting_notice
{
    std::string method;
    std::string params;
    send_hint hint;                   ///< outbound
    std::optional<std::string> about; ///< inbound progress: its token, as JSON
};

/// Notifications of one direction: one at a time and in order.
struct notice_line
{
    explicit notice_line(parking_lot& lot) : moved(lot) {}

    std::deque<waiting_notice> waiting;
    /// Whether progress of the call with this id waits, or passes.
    bool tells_of(std::string_view id) const
    {
        if (passing == id) return true;
        for (const waiting_notice& each : waiting)
            if (each.about == id) return true;
        return false;
    }

    std::optional<std::string> passing; ///< the `about` of the one that is passing
    std::size_t bytes = 0;              ///< of `waiting`
    wait_list moved;                    ///< those that go after what was begun before them
    bool running = false;
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
};

class outbound_run;

struct session_chain
{
    session_chain(std::shared_ptr<const middleware_chain> of, parking_lot& lot)
        : parts(std::move(of)),
          inbound(lot),
          outbound(lot)
    {}

    notice_line& line(direction way) { return way == direction::inbound ? inbound : outbound; }

    std::shared_ptr<const middleware_chain> parts;
    notice_line inbound;
    notice_line outbound;
    std::size_t doubled = 0; ///< requests of the peer that are on their way and whose handler runs
    std::vector<outbound_run*> calls;
    /// For messages that are read a second time; the session's own is in use then. Null while it is in use itself.
    std::unique_ptr<rpc::parser> parser;
};

#if !defined(COMCP_BENCH_NO_MIDDLEWARE)
using chain_slot = std::unique_ptr<session_chain>;
#else
/// A session that cannot have middleware, for the benchmark that measures what the question costs.
class chain_slot
{
public:
    chain_slot& operator=(std::unique_ptr<session_chain>) { return *this; }
    explicit constexpr operator bool() const { return false; }
    session_chain* operator->() const { return nullptr; }
};
#endif

/// A request of the peer. The last part hands it to the role, whose answer is gathered instead of written.
class request_run final : public chain_run
{
public:
    request_run(std::shared_ptr<session> owner, std::shared_ptr<inbound> request);

private:
    task<middleware_reply> arrive(middleware_message message) override;

    std::shared_ptr<session> session_;
    std::shared_ptr<inbound> request_;
};

/// A notification of either direction.
class notice_run final : public chain_run
{
public:
    notice_run(std::shared_ptr<session> owner, send_hint hint);

private:
    task<middleware_reply> arrive(middleware_message message) override;

    std::shared_ptr<session> session_;
    send_hint hint_;
};

/// A request of ours. The caller waits for `ended`; the chain runs beside it, because its time may be over, or the
/// caller gone, while a part waits for something else.
class outbound_run final : public chain_run, public std::enable_shared_from_this<outbound_run>
{
public:
    outbound_run(std::shared_ptr<session> owner, pending_call& call, call_timeouts times);
    ~outbound_run() override { leave(); }

    void end();
    void end(fault why);
    /// The caller goes: nothing of it is touched any more.
    void leave();
    std::int64_t id() const { return id_; }
    /// Progress for the caller, also when the answer came in the meantime.
    void progressed(const progress& notice);

    middleware_reply reply;
    std::optional<fault> failed;
    bool sent = false;
    bool over = false;
    waiter ended;
    /// On its own: the session holds it too, and must not hold what holds the session.
    std::shared_ptr<asio::cancellation_signal> signal = std::make_shared<asio::cancellation_signal>();

private:
    friend class relayed_call;
    struct wake_relayed;

    task<middleware_reply> arrive(middleware_message message) override;
    void give_up_relayed();
    void expired();

    std::shared_ptr<session> session_;
    pending_call* call_;              // in the caller's frame; null when it has left
    pending_call* relayed_ = nullptr; // the request at the end of the chain
    std::int64_t id_;
    exchange_id related_;
    call_timeouts times_;
    outcome fate_ = outcome::unknown; // once it was sent
    owned_deadline<outbound_run, &outbound_run::expired> total_{*this};
};

} // namespace comcp::inline COMCP_ABI::detail
