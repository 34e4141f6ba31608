// SPDX-License-Identifier: MIT
//
// Joins a host that speaks lines with an application that is reached by exchanges (HTTP): each message of one side goes
// to the other with its text as it is. Of a message it only knows what the transports must be told: which exchange it
// opens or answers, and what was negotiated. Not for two byte streams, which need none of this (byte_bridge.hpp).
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/limits.hpp>
#include <comcp/result.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/rpc/parse.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// The host's end of input is the orderly end: answers that are owed have the close limit to come. Every request of the
/// host is answered once, if need be with an error of the bridge: an answer is relayed only while its exchange owes it.
/// An application that cannot be reached any more, or that forgot the session, ends the bridge, and so does a host that
/// has taken nothing for the stall limit while the buffer is full.
///
/// Thread rule: one executor.
class message_bridge : public std::enable_shared_from_this<message_bridge>
{
public:
    message_bridge(const executor& ex, std::unique_ptr<transport> host, std::unique_ptr<transport> app,
                   const limits& bounds);

    /// Runs it to its end. *Result*: why it ended; empty after an orderly end. *Errors*: those of opening.
    /// *Cancellation*: terminal, until it has begun.
    static task<fault> run(std::shared_ptr<message_bridge> self);
    /// Both sides are open, and it ends with `stop`.
    bool begun() const { return begun_; }
    /// Ends it in order, without waiting for answers.
    void stop();

private:
    /// A message of the host that asks for something, while it is not answered.
    struct call
    {
        std::vector<rpc::id> ids; // of a batch several
        std::size_t bytes = 0;
        bool initialize = false;
    };
    using calls = std::unordered_map<std::uint64_t, call>;
    struct pump_ended;
    struct wake_up;
    struct time_up;
    struct not_read;

    static task<void> from_host(std::shared_ptr<message_bridge> self);
    static task<void> from_app(std::shared_ptr<message_bridge> self);
    static void on_host_drained(void* self);

    void on_host(transport_event& event);
    void relay_to_app(std::string_view text);
    void send_to_app(std::string_view text, const send_hint& hint);
    void cancel(const rpc::message& notice);

    void on_app(transport_event& event);
    void relay_to_host(std::string_view text, exchange_id on);
    bool passes(const rpc::parsed& read, exchange_id on);
    bool passes_answer(const rpc::message& said, exchange_id on);
    std::optional<rpc::id> take_owed(exchange_id on, const rpc::id& answered);
    void settle(exchange_id on);
    void send_to_host(std::string_view text);
    void refuse_to_app(const rpc::id& id, std::string_view why);
    void on_unread(const rpc::oversize_facts& facts, exchange_id on, std::string_view why);
    void on_failed(exchange_id on, const fault& why);
    void on_closed(exchange_id on);

    void answer_error(const rpc::id* id, std::int64_t code, std::string_view why, std::string_view data = {});
    void fail_call(calls::iterator which, std::string_view why);
    void fail_all(std::string_view why);
    void end(fault why);
    void wake();
    void watch_host();

    bool host_is_behind() const { return host_->queued() >= limits_.stream_buffer; }
    bool over() const { return why_ || (input_over_ && (calls_.empty() || late_)); }

    limits limits_;
    executor executor_;
    std::shared_ptr<parking_lot> lot_;
    std::unique_ptr<transport> host_;
    std::unique_ptr<transport> app_;
    rpc::parser from_host_;
    rpc::parser from_app_;
    calls calls_; // by the number of the exchange
    std::uint64_t last_call_ = 0;
    std::size_t held_ = 0; // bytes of them
    std::optional<fault> why_;
    bool input_over_ = false;
    bool late_ = false; // nothing more is waited for
    bool listening_ = false;
    bool leaving_ = false; // the pumps stop
    bool begun_ = false;
    int pumps_ = 0;
    timer clock_;
    timer stall_;         // while the host is behind
    waiter changed_;      // the running coroutine
    waiter host_taken_;   // the pump from the host
    waiter answer_taken_; // the pump from the application
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/message_bridge.ipp>
#endif
