// SPDX-License-Identifier: MIT
//
// One POST, or one stream of a GET, on its way: a session's transport writes into it on one side, and what answers the
// HTTP request reads out of it on the other. It knows heads and bytes, and no message.
//
// Thread rule: the session's executor, both sides. It may outlive its transport and the execution context.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/http/budget.hpp>
#include <comcp/limits.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

class exchange;

/// Whoever writes into exchanges: the transport of their session.
class exchange_writer
{
public:
    /// Empty once the execution context is gone.
    virtual const comcp::executor& wakes_on() const = 0;
    /// The reader of an exchange left.
    virtual void on_left(exchange& from) = 0;
    /// A reader has taken what was queued.
    virtual void on_taken(std::size_t bytes) = 0;

protected:
    ~exchange_writer() = default;
};

/// What an exchange is answered with.
enum class exchange_head : std::uint8_t {
    undecided, ///< nothing was sent yet: everything is possible (E-17)
    accepted,  ///< what came needs no answer: 202
    answer,    ///< one JSON text and its status
    stream,    ///< server-sent events
    lost,      ///< the session ended before there was an answer: it may have run
};

/// What the client takes and its server can send.
struct exchange_form
{
    bool json = true;
    bool stream = true;
    bool resumable = false; ///< events of the stream get ids
};

class exchange : public std::enable_shared_from_this<exchange>
{
public:
    exchange(std::shared_ptr<comcp::detail::parking_lot> lot, exchange_form form)
        : lot_(std::move(lot)),
          ready_(*lot_),
          form_(form)
    {}
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    virtual ~exchange() = default;

    exchange_head head() const { return head_; }
    /// Of an answer.
    int status() const { return status_; }
    /// The text of an answer, once.
    std::string take_text() { return std::move(out_); }

    /// The reader that an exchange begins with: the POST itself.
    static constexpr std::uint32_t first_reader = 1;

    /// Suspends until the head is decided. *Errors*: errc::cancelled.
    static task<void> wait_head(std::shared_ptr<exchange> self);

    /// Waits for bytes of the stream and appends them; false at its end, and for a reader that is to go: another came
    /// in its place, or it shall come back later.
    /// A comment is sent whenever nothing else was for `keep_alive` (E-15). *Errors*: errc::cancelled.
    static task<bool> next(std::shared_ptr<exchange> self, std::uint32_t reader, duration keep_alive, std::string& out);

    /// The reader goes. A stream that can be resumed lives on, and its later events are kept.
    void leave(std::uint32_t reader);

    /// What is owed on it, for a journal of its stream (http/event_store.hpp).
    void owes(std::string what) { owes_ = std::move(what); }

    /// What the request holds of the service's memory; given back when the exchange is over.
    void count(budget_share body) { body_ = std::move(body); }

private:
    friend class session_transport; // the writer

    bool read() const { return reader_ != 0 && !parting_; }

    /// The connection of the reader ends behind what is already written; what follows is kept for the next.
    void part();

    /// A new reader in the place of the old one, which is woken to its end.
    std::uint32_t attach(budget_share slot);
    void detach();

    void decide(exchange_head head);
    void finish();
    /// Resumes the reader by a post: it never runs inside the session.
    void wake();

    void keep_awake(duration interval);
    void on_silence(duration interval);

    std::shared_ptr<comcp::detail::parking_lot> lot_;
    comcp::detail::waiter ready_;
    exchange_writer* owner_ = nullptr; // while the session may write
    exchange_id id_ = pipe_exchange;
    exchange_form form_;
    exchange_head head_ = exchange_head::undecided;
    bool ended_ = false;        // nothing is written any more
    bool keeps_unread_ = false; // what was not read waits for the next reader
    bool parting_ = false;      // the reader gets what is there and nothing more
    bool waking_ = false;
    int status_ = 200;
    std::uint32_t reader_ = first_reader; // 0: nobody
    std::uint32_t last_reader_ = first_reader;
    std::uint64_t kept_ = 0; // its stream in the event store; 0: none
    std::string owes_;
    std::string out_;
    budget_share body_;
    budget_share output_; // what `out_` holds of a stream
    budget_share slot_;   // one of the service's streams
    std::unique_ptr<timer> silence_;
    time_point spoke_{};
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/exchange.ipp>
#endif
