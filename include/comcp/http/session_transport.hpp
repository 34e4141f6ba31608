// SPDX-License-Identifier: MIT
//
// The transport of one session over Streamable HTTP, seen from the server: POSTs and GETs come in as exchanges, and
// every message of the session goes to the one it belongs to, as JSON or as an event of a stream. It decides no status
// of its own and knows neither ids of sessions nor who may use them: that is server/http_service.hpp.
#pragma once

#include <comcp/http/event_store.hpp>
#include <comcp/http/exchange.hpp>
#include <comcp/transport/concept.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

/// What all sessions of a service have in common.
struct session_transport_settings
{
    /// Bytes waiting on one stream beyond which its reader is cut off.
    std::size_t stream_buffer = limits{}.stream_buffer;
    event_store_limits store;
    /// Sent with the first event of a stream: when a client is to connect again.
    duration retry = std::chrono::seconds(1);
    std::shared_ptr<budget> memory;  ///< bytes of queued output; null: not counted
    std::shared_ptr<budget> kept;    ///< bytes of what is kept for resumption; null: not counted
    std::shared_ptr<budget> streams; ///< open streams; null: not counted
    /// Events get ids, and are kept for clients whose connection breaks.
    bool resumable = true;
    /// Clients can open a stream of their own (GET). Without it, what belongs to no POST goes nowhere.
    bool standalone = true;
    /// The old HTTP+SSE transport (2024-11-05): everything goes to the first stream that was opened, answers too, and
    /// the session ends with it. POSTs only bring messages.
    bool one_stream = false;
};

/// Thread rule: the session's executor.
class session_transport final : public transport, private exchange_writer
{
public:
    session_transport(executor ex, std::shared_ptr<const session_transport_settings> settings);
    ~session_transport() override;

    // ---- what the service does -------------------------------------------------------------------------------------

    const std::shared_ptr<comcp::detail::parking_lot>& lot() const { return lot_; }
    /// Any thread.
    bool one_stream() const { return settings_->one_stream; }

    /// Its HTTP server cannot stream: clients never open a stream of their own.
    void answer_once() { standalone_offered_ = false; }

    /// A POST came. When the session answers in place, the exchange is ready afterwards.
    void deliver(std::shared_ptr<exchange> posted, std::string body);

    /// A stream as a reader gets it.
    struct opened
    {
        replay_state state = replay_state::found;
        std::shared_ptr<exchange> stream; ///< set when found
        std::uint32_t reader = 0;
    };

    /// A GET came: a stream for what belongs to no POST. What waited while there was none comes first. When others are
    /// open, this one gets what comes from now on (E-33: every message goes to exactly one stream).
    opened open_stream(budget_share slot);

    /// A GET came with Last-Event-ID: what followed on that stream and, unless it has ended, what follows (E-35).
    opened resume_stream(std::string_view last_event_id, budget_share slot);

    /// The same for a stream of another process, of which this is left: its events, then `answer` unless that is
    /// empty. One that `goes_on` then becomes the client's own stream, the others end.
    opened replay_stream(const std::vector<stored_event>& events, std::string_view answer, bool goes_on,
                         budget_share slot);

    /// Tells somebody of what is kept for resumption, until the session ends: what it then leaves unfinished stays so.
    void report_to(std::shared_ptr<stream_journal> journal)
    {
        journal_ = std::move(journal);
        if (store_) store_->report_to(journal_.get());
    }

    /// Called once when the session is over.
    void on_closed(std::function<void()> call)
    {
        if (closed_) return call();
        on_closed_ = std::move(call);
    }

    // ---- what the session does -------------------------------------------------------------------------------------

    task<void> open() override;
    task<void> receive(transport_batch& batch) override;
    std::string& begin(const send_hint& hint) override;
    void commit() override;
    void flush() override {}
    /// A session over HTTP never stops reading: each stream is bounded by itself, bodies by the service's memory. Where
    /// all goes to one stream that is a pipe, and the session watches it as one.
    std::size_t queued() const override
    {
        return one_stream() && standalone_ && standalone_->read() ? standalone_->out_.size() : 0;
    }
    std::uint64_t written() const override { return taken_; }
    std::error_code write_error() const override { return {}; }
    void on_drained(void (*call)(void*), void* argument) override
    {
        drained_ = call;
        drained_argument_ = argument;
    }
    /// Requests that wait for the session to read on.
    std::size_t waiting() const { return inbox_.size(); }
    void abandon(exchange_id id) override;
    void complete(exchange_id id) override;
    void close_stream(exchange_id id, std::optional<duration> retry) override;
    /// An exchange that takes no notices is full.
    std::size_t queued_on(exchange_id id) const override;
    bool can_ask(exchange_id id) const override;
    void negotiated(std::string_view revision) override;
    task<void> finish() override;
    void close() noexcept override;
    void context_gone() noexcept override;

private:
    struct item
    {
        exchange_id exchange;
        std::string text;
    };

    /// What the waiting session is woken through; a wake-up that was posted may come after the transport has gone.
    struct mailbox
    {
        explicit mailbox(std::shared_ptr<comcp::detail::parking_lot> in) : lot(std::move(in)), arrived(*lot) {}
        std::shared_ptr<comcp::detail::parking_lot> lot;
        comcp::detail::waiter arrived;
    };

    enum class way {
        nowhere,
        json,
        event,
    };

    const executor& wakes_on() const override { return executor_; }
    void on_left(exchange& from) override;
    void on_taken(std::size_t bytes) override;

    std::shared_ptr<exchange> find(exchange_id id) const;
    void forget(exchange_id id);
    /// Where messages go that belong to no POST; null when there is no such place.
    std::shared_ptr<exchange> standalone();
    std::shared_ptr<exchange> make_standalone();
    /// A stream of which nothing more comes than what it is given.
    std::shared_ptr<exchange> make_ended() const;
    /// Whether a message other than the answer can go on it.
    bool carries(const exchange& on) const;
    /// Makes a stream of an undecided exchange; false when the service has no more.
    bool become_stream(exchange& on);
    void prime(exchange& on);
    void send_event(exchange& on, std::string_view text);
    void append_event(exchange& on, std::string_view id, std::string_view text);
    void end_exchange(exchange& on, exchange_head undecided);

    memory_event_store* store();
    std::string keep(exchange& on, std::string_view text);

    executor executor_;
    std::shared_ptr<comcp::detail::parking_lot> lot_;
    std::shared_ptr<mailbox> mailbox_;
    std::shared_ptr<const session_transport_settings> settings_;
    bool closed_ = false;
    bool primes_ = false;
    bool standalone_offered_;

    std::vector<item> inbox_;
    std::uint64_t taken_ = 0; // bytes that readers have got
    void (*drained_)(void*) = nullptr;
    void* drained_argument_ = nullptr;
    std::vector<item> handed_; // the session's until its next `receive`

    std::uint64_t last_id_ = 0;
    std::vector<std::shared_ptr<exchange>> open_;  // POSTs without their answer, in the order of their ids
    std::shared_ptr<exchange> standalone_;         // gets what belongs to no POST
    std::vector<std::shared_ptr<exchange>> quiet_; // streams that are open beside it

    std::shared_ptr<exchange> target_; // between begin and commit
    way way_ = way::nowhere;
    send_hint hint_;
    std::string scratch_;

    std::shared_ptr<stream_journal> journal_;
    std::unique_ptr<memory_event_store> store_;
    budget_share kept_bytes_;
    std::function<void()> on_closed_;
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/session_transport.ipp>
#endif
