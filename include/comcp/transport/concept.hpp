// SPDX-License-Identifier: MIT
//
// The contract between a session and what carries its messages. A transport moves whole JSON-RPC messages and looks
// into none: what is a request, what a revision allows, and what a closed stream means is decided by the session.
//
// An *exchange* is what an answer belongs to: the whole pipe on stdio (always `pipe_exchange`), one POST, GET stream or
// listen on HTTP. A server answers by exchange, a client correlates by id inside one.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/limits.hpp>
#include <comcp/result.hpp>
#include <comcp/rpc/oversize.hpp>
#include <comcp/task.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI
{

enum class exchange_id : std::uint64_t {};

/// The one exchange of a transport that is a single stream in each direction.
inline constexpr exchange_id pipe_exchange{0};

/// What a transport knows about a message besides its text. Empty on stdio.
struct message_facts
{
    std::vector<std::pair<std::string, std::string>> fields; ///< HTTP header fields
    std::string peer;                                        ///< address of the peer
    std::string principal;                                   ///< who the host's authorization says it is
};

/// One thing that happened on a transport. Views are valid until the next `receive`.
struct transport_event
{
    enum class kind {
        message,         ///< `text` is one whole message
        oversized,       ///< a message beyond the limit was skipped; `skipped` says what could be learnt of it
        exchange_failed, ///< what we sent on it did not get through, or was refused; `why` says how, with its outcome
        exchange_closed, ///< the peer ended the exchange; a client then says `resume`, `complete` or `abandon`
        closed,          ///< nothing will come any more; an empty `why` is an orderly end of input
    };

    kind what = kind::message;
    exchange_id exchange = pipe_exchange; ///< a client's request: the number that the session chose
    std::string_view text;
    const message_facts* facts = nullptr;
    rpc::oversize_facts skipped;
    fault why;
};

/// All events that were complete in what was read at once.
using transport_batch = std::vector<transport_event>;

/// What an outgoing message is and where it belongs.
struct send_hint
{
    enum class kind : std::uint8_t {
        notification,
        request,
        answer, ///< completes the exchange
    };

    /// The exchange that is answered, or the one that a server's request or notification relates to. A request of a
    /// client opens one: the session chooses its number, never that of the pipe.
    exchange_id exchange = pipe_exchange;
    kind what = kind::notification;
    int status = 200; ///< of an answer, where the transport has such a thing (HTTP)
};

/// Erased per session: one virtual call per batch is nothing beside a write.
///
/// Thread rule: everything on the session's executor. Destroying a transport closes it at once.
class transport
{
public:
    transport() = default;
    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;
    virtual ~transport() = default;

    /// Opens it (starts the process, connects). *Errors*: `comcp::error`, outcome not_sent.
    virtual task<void> open() = 0;

    /// Writes what was queued, waits until something has happened, and fills `batch` with all of it (cleared first).
    /// After `closed` it is not called again. Only one receive at a time.
    virtual task<void> receive(transport_batch& batch) = 0;

    /// Starts a message: append its text, one line of JSON, to the returned string, then `commit`. Nothing else may
    /// happen on the transport in between, and what was in the string before stays untouched.
    virtual std::string& begin(const send_hint& hint) = 0;
    /// Queues what was appended since `begin`. Never waits; written at the next `receive` or, outside of one, in the
    /// same turn of the executor.
    virtual void commit() = 0;
    /// Writes what is queued as far as that is possible without waiting.
    virtual void flush() = 0;

    /// Bytes accepted and not yet written.
    virtual std::size_t queued() const = 0;
    /// Total of bytes written so far: does not move while the peer does not read.
    virtual std::uint64_t written() const = 0;
    /// The error that ended writing, if any: what is queued is then gone.
    virtual std::error_code write_error() const = 0;
    /// Called in place, from a write, when `queued()` went down. One listener, without ownership.
    virtual void on_drained(void (*call)(void*), void* argument) = 0;

    /// Gives one exchange up: nothing more is sent or reported for it.
    virtual void abandon(exchange_id exchange) = 0;
    /// Nothing more is owed on an exchange: at a server, what came needs no answer; at a client, the answer is there.
    virtual void complete(exchange_id) {}
    /// The peer's connection for an exchange ends, the exchange does not: the peer comes back for the rest, after
    /// `retry` if that is given. Nothing happens where that is impossible.
    virtual void close_stream(exchange_id, std::optional<duration> /*retry*/) {}
    /// An exchange of ours was closed by the peer while its request is unanswered: goes on with it elsewhere if that
    /// is possible. False: it is lost.
    virtual bool resume(exchange_id) { return false; }

    /// Bytes accepted and not yet written of one exchange; what may be dropped asks this.
    virtual std::size_t queued_on(exchange_id) const { return queued(); }

    /// Whether a request of ours that relates to the exchange can reach the peer, now or later.
    virtual bool can_ask(exchange_id) const { return true; }

    /// The revision that is spoken from now on: HTTP repeats it in every request (E-42).
    virtual void negotiated(std::string_view) {}
    /// A client that is ready hears from now on what its server says outside of exchanges.
    virtual void listen() {}

    /// Orderly end: no further message, what is queued is written, then the stream ends (and a child is waited for).
    /// *Cancellation*: any; the transport can then only be closed.
    virtual task<void> finish() = 0;
    /// Ends it at once; a pending `receive` reports `closed` by a post.
    virtual void close() noexcept = 0;
    /// The execution context ends: let go of descriptors and timers. Nothing is called afterwards.
    virtual void context_gone() noexcept = 0;
};

} // namespace comcp::inline COMCP_ABI
