// SPDX-License-Identifier: MIT
//
// A JSON-RPC peer over one transport: reads and dispatches, correlates answers, bounds and cancels, and ends once. It
// knows requests and notifications in general; what a method means is the role's business (client/, server/), and what
// an era allows the codec's.
//
// Ownership: handles, frames and completion handlers hold the session by shared_ptr; the session holds no coroutine and
// no handler of its own. A handle that dies calls `abandon`, which never waits; `close` joins everything.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/json/write.hpp>
#include <comcp/observer.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/protocol/methods.hpp>
#include <comcp/rpc/parse.hpp>
#include <comcp/rpc/print.hpp>
#include <comcp/session/chain.hpp>
#include <comcp/session/handler_worker.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/session/pending_call.hpp>
#include <comcp/session/role.hpp>
#include <comcp/session/statistics.hpp>
#include <comcp/session/wait_list.hpp>
#include <comcp/transport/concept.hpp>
#include <comcp/wire/legacy.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class session final : public std::enable_shared_from_this<session>, private parked
{
public:
    session(comcp::executor ex, std::unique_ptr<transport> wire, const limits& bounds, observer_ref watch)
        : limits_(bounds),
          executor_(ex),
          lot_(make_parking_lot(ex)),
          home_(std::make_shared<detail::home>(ex)),
          deadlines_(ex),
          parser_(bounds.depth),
          observer_(watch),
          drained_(*lot_),
          quiet_(*lot_),
          finished_waiters_(*lot_),
          wire_(std::move(wire))
    {
        lot_->link(*this);
    }

    ~session()
    {
        while (inbound* left = inbound_.any()) release(*left);
        home_->leave(); // the io_context may end before those who know the way
        if (!context_gone_) lot_->unlink(*this);
    }

    void set_role(std::unique_ptr<session_role> role) { role_ = std::move(role); }

    /// Middleware around every message from now on; before `start`.
    void set_chain(std::shared_ptr<const middleware_chain> parts)
    {
        if (parts && !parts->empty()) chain_ = std::make_unique<session_chain>(std::move(parts), *lot_);
    }
    bool has_chain() const { return static_cast<bool>(chain_); }

    void tell_role(role_event what) { role_->on_event(what); }
    /// Our requests are numbered from behind this; before the first one.
    void number_from(std::int64_t last) { last_id_ = last; }
    /// Keeps what the session only refers to.
    void keep_alive(std::shared_ptr<const void> what) { kept_ = std::move(what); }

    /// What is spoken from now on. Before that, the newest revision of the handshake era is written and no batch taken.
    void speak(revision negotiated);
    revision spoken() const { return revision_; }
    bool negotiated() const { return negotiated_; }
    const wire::codec& codec() const { return wire::legacy_codec(); }

    const comcp::executor& executor() const { return executor_; }
    const std::shared_ptr<detail::home>& home() const { return home_; }
    const limits& bounds() const { return limits_; }
    time_point now() const { return deadlines_.now(); }
    parking_lot& lot() { return *lot_; }
    session_statistics statistics() const { return statistics_; }
    observer_ref observer() const { return observer_; }
    bool open() const { return state_ == state::open; }
    /// Why it ended; empty while it has not, and after an orderly end.
    const fault& why_ended() const { return why_ended_; }

    // ---- life ------------------------------------------------------------------------------------------------------

    /// Opens the transport and starts reading. *Errors*: those of the transport, outcome not_sent.
    static task<void> start(std::shared_ptr<session> self);

    /// Ends in order: calls fail as closed, handlers are cancelled (or, after the end of input of a server, left to
    /// finish within the close deadline), queued output is written, the transport finishes, everything is joined.
    static task<void> close(std::shared_ptr<session> self);

    /// Waits until the session has ended, whoever ended it.
    static task<void> wait_ended(std::shared_ptr<session> self);

    /// From now on the transport tells what the server says outside of requests. Of a client that is ready.
    void listen() { wire_->listen(); }

    /// Another session took its place: it ends when its last call has.
    void retire()
    {
        retired_ = true;
        leave_if_retired();
    }

    /// Begins what `close` waits for. A session that is closing already only stops waiting for handlers to finish,
    /// unless they are still to.
    void begin_close(fault why, bool let_handlers_finish);

    /// The handle dies: ends at once, without waiting and without resuming anybody in place.
    void abandon(fault why);

    // ---- our requests and notifications ----------------------------------------------------------------------------

    /// Sends one request and waits until it ends; `call` stands in the caller's frame.
    ///
    /// *Cancellation*: before it is sent: not_sent. Later: the peer is told with `notifications/cancelled` (unless it
    /// is `initialize`, B-2), a late answer is dropped, the outcome is unknown.
    static task<void> perform(std::shared_ptr<session> self, pending_call& call, call_timeouts times);

    // The steps of `perform` without middleware, in this order, for the operation that is called most: a frame less for
    // each call.

    /// Sends it when there is room. `caller` is the state of the coroutine that will wait; the time counts from `now`.
    void begin(pending_call& call, call_timeouts times, const asio::cancellation_state& caller, time_point now);
    /// Only for a call that waits for room: afterwards it was sent or has failed.
    static task<void> wait_for_room(std::shared_ptr<session> self, pending_call& call);
    /// Only for a call that was sent.
    task<void> wait_for_answer(pending_call& call) { return call.done_.wait(cancel_call{this, &call}); }
    /// *Errors*: those of the call.
    static void finish(pending_call& call);

    /// Queues a notification; `write_params` appends the params object. Dropped when the session is not open.
    template <class WriteParams>
    void notify(std::string_view method, WriteParams write_params, const send_hint& hint = {})
    {
        if (state_ != state::open && state_ != state::draining) return;
        if (chain_) {
            std::string params;
            write_params(params);
            return pass_notice(direction::outbound, std::string(method), std::move(params), hint);
        }
        std::string& out = begin_message(hint);
        out += R"({"jsonrpc":"2.0","method":")";
        out += method; // names of the specification: nothing to escape
        out += R"(","params":)";
        write_params(out);
        out += '}';
        end_message(out);
    }
    void notify(std::string_view method);

    /// Whether notices that may be dropped (progress, log) still have room beside the answers.
    bool room_for_notices(exchange_id on) const { return wire_->queued_on(on) < limits_.stream_buffer / 2; }
    void count_dropped_notice();

    // ---- answers to the peer's requests ----------------------------------------------------------------------------

    /// Writes a result straight into the output. An exception of `write_result` becomes an internal error.
    template <class WriteResult>
    void answer(const rpc::id& id, const answer_route& route, WriteResult&& write_result)
    {
        if (state_ == state::ended) return;
        std::string& out = begin_answer(route);
        const std::size_t start = out.size();
        try {
            rpc::begin_result(out, id);
            write_result(out);
            rpc::end_message(out);
        } catch (...) {
            out.resize(start);
            rpc::write_error(out, &id, rpc_code::internal_error, "the result could not be written");
        }
        if (route.joins_batch() && !fits_batches(out.size() - start)) refuse_in_batch(out, start, id);
        end_answer(out, route);
    }

    void answer_error(const rpc::id* id, const answer_route& route, std::int64_t code, std::string_view message,
                      std::string_view data = {});

    /// Takes a request in for a handler that answers later. Null when it was refused (and answered): too many are in
    /// flight.
    std::shared_ptr<inbound> admit(const rpc::message& request, const answer_route& route);

    /// Answers an admitted request, unless it was cancelled or answered already.
    template <class WriteResult>
    void answer(inbound& request, WriteResult&& write_result)
    {
        if (!request.session_) return;
        const auto keep = release_answered(request);
        answer(request.id_, request.route_, std::forward<WriteResult>(write_result));
    }
    void answer_error(inbound& request, std::int64_t code, std::string_view message, std::string_view data = {});

    /// The connection on which the answer is waited for ends; the peer is to come back for it
    /// (transport::close_stream).
    void close_stream(const inbound& request, std::optional<duration> retry)
    {
        if (request.session_) wire_->close_stream(request.route_.exchange, retry);
    }

    /// Runs a handler's coroutine on the session's own executor. `body` answers the request and lets nothing escape.
    /// The session lives as long as it runs.
    void spawn(std::shared_ptr<inbound> request, task<void> body);

    /// Runs it on another executor of the host, in a strand of its own. `body` reaches the session through `home` only.
    void spawn_on(const comcp::executor& elsewhere, const std::shared_ptr<inbound>& request, task<void> body);

    /// Runs a coroutine of the role beside the handlers: cancelled when the session ends, and joined by `close`.
    void spawn_beside(task<void> body);

    /// Progress of a request that asked for it. Values must rise (A-21); what does not rise, or has no room, is
    /// dropped.
    template <class WriteParams>
    void notify_progress(inbound& request, double value, WriteParams write_params)
    {
        if (!request.session_ || !request.token) return;
        if (request.last_progress && !(value > *request.last_progress)) return;
        if (!room_for_notices(request.route_.exchange)) return count_dropped_notice();
        request.last_progress = value;
        notify(method::progress, std::move(write_params), send_hint{request.route_.exchange});
    }

private:
    friend class pending_call;
    friend class request_run;
    friend class notice_run;
    friend class outbound_run;

    enum class state {
        opening,
        open,
        draining, ///< no new input; answers still go out
        ended,
    };

    // Completion handlers are classes, not lambdas: what they own is plain to see.
    struct ended_reading
    {
        explicit ended_reading(std::shared_ptr<session> of) : self(std::move(of)) {}
        void operator()(std::exception_ptr failure) const
        {
            self->reading_ = false;
            if (failure) self->begin_close(fault(errc::peer_gone, "reading failed: " + text_of(failure)), false);
            self->quiet_.wake_all();
        }
        std::shared_ptr<session> self;
    };
    struct worker_ended
    {
        worker_ended(std::shared_ptr<session> of, std::shared_ptr<handler_worker> who)
            : self(std::move(of)),
              worker(std::move(who))
        {}
        void operator()(std::exception_ptr) const
        {
            if (--self->workers_ == 0) self->quiet_.wake_all();
        }
        std::shared_ptr<session> self;
        std::shared_ptr<handler_worker> worker;
    };
    struct foreign_handler_ended
    {
        foreign_handler_ended(std::shared_ptr<detail::home> to, std::weak_ptr<session> of,
                              std::shared_ptr<inbound> what)
            : home(std::move(to)),
              self(std::move(of)),
              request(std::move(what))
        {}
        void operator()(std::exception_ptr) const
        {
            home->post([weak = self, done = request] {
                if (auto owner = weak.lock()) owner->on_handler_ended(*done);
            });
        }
        std::shared_ptr<detail::home> home;
        std::weak_ptr<session> self;
        std::shared_ptr<inbound> request;
    };
    struct beside_ended
    {
        beside_ended(std::shared_ptr<session> of, std::shared_ptr<asio::cancellation_signal> whose)
            : self(std::move(of)),
              signal(std::move(whose))
        {}
        void operator()(std::exception_ptr) const
        {
            std::erase(self->beside_, signal);
            self->quiet_.wake_all();
        }
        std::shared_ptr<session> self;
        std::shared_ptr<asio::cancellation_signal> signal;
    };
    struct joined
    {
        explicit joined(std::shared_ptr<session> of) : self(std::move(of)) {}
        void operator()(std::exception_ptr) const
        {
            self->finished_ = true;
            self->finished_waiters_.wake_all();
        }
        std::shared_ptr<session> self;
    };
    struct room_guard
    {
        room_guard(session& in, pending_call& call) : self(in), waiting(&call) {}
        ~room_guard() { std::erase(self.waiting_for_room_, waiting); }
        room_guard(const room_guard&) = delete;
        session& self;
        pending_call* waiting;
    };

    /// What a cancellation does to a call that waits.
    struct cancel_call
    {
        session* self;
        pending_call* call;
        void operator()() const { self->cancel(*call); }
    };

    static std::string text_of(std::exception_ptr failure);

    // ---- reading ---------------------------------------------------------------------------------------------------

    static task<void> read(std::shared_ptr<session> self);

    /// Reading pauses while output is queued and answers plus held requests are over the budget. Never for our own
    /// requests: their answers are what makes room. Never with an empty queue: a handler may wait for the peer.
    bool must_pause();

    void on_event(transport_event& event);

    /// What we sent on an exchange failed, or the peer closed the exchange.
    void on_exchange_failed(transport_event& event);
    void on_exchange_closed(exchange_id exchange);
    /// The request of ours that opened the exchange, while it waits.
    pending_call* caller_on(exchange_id exchange) const;

    /// Every inbound message passes here.
    void on_text(std::string_view text, exchange_id exchange);

    void on_batch(const rpc::parsed& read, exchange_id exchange);

    bool wants_answer(const rpc::parsed& element) const;

    void on_parsed(const rpc::parsed& read, std::string_view text, const answer_route& route);

    /// The message was neither a request nor what an error answers.
    void no_answer_due(const answer_route& route);

    /// Whether the peer's role may ask for it in this revision.
    bool knows(std::string_view method) const;

    void on_unreadable(const rpc::parsed& read, std::string_view text, const answer_route& route);

    void note_bad(std::string_view why, std::string_view text);

    void on_oversized(const rpc::oversize_facts& facts, exchange_id exchange);

    void on_notification(const rpc::message& message);
    void take_notification(const rpc::message& message);

    /// The peer cancels a request of its own. Unknown or malformed: ignored (I-2).
    void on_cancelled(const rpc::message& message);

    void on_progress(const rpc::message& message);

    /// An id or token among the params, exact also for an integer that no integer type holds.
    static std::optional<rpc::id> id_param(const rpc::message& message, std::string_view name);

    // ---- middleware ------------------------------------------------------------------------------------------------

    middleware_message describe(direction way, std::string method) const;
    /// Every inbound request passes here, when there is middleware.
    void pass_request(const rpc::message& request, const answer_route& route);
    static task<void> answer_through_chain(std::shared_ptr<session> self, std::shared_ptr<inbound> request,
                                           middleware_message message);
    /// Every notification of either direction passes here, when there is middleware.
    void pass_notice(direction way, std::string method, std::string params, const send_hint& hint);
    static task<void> pass_notices(std::shared_ptr<session> self, direction way);
    static task<void> perform_in_chain(std::shared_ptr<session> self, pending_call& call, call_timeouts times);
    /// The call of ours with this id, also when its answer is on its way to it.
    outbound_run* find_run(const rpc::id& id) const;
    static task<void> run_outbound(std::shared_ptr<outbound_run> run, middleware_message message);
    static task<void> perform_directly(std::shared_ptr<session> self, pending_call& call, call_timeouts times);
    /// Waits until the notices that were begun before have passed: no answer and no request overtakes them.
    static task<void> wait_for_notices(std::shared_ptr<session> self, direction way);
    static task<void> abandon_after_notices(std::shared_ptr<session> self, exchange_id exchange);
    /// Reads a message again that was read or made before, and hands it to `use`; false when it is none.
    template <class Use>
    bool read_again(const std::string& text, Use use);

    // ---- answers ---------------------------------------------------------------------------------------------------

    /// Ends a call with what came for it, which was no answer to use.
    void end_answered(pending_call& call, fault why);

    void leave_if_retired();

    /// The call with this id; a string is taken for the number that it spells, since some peers answer 1 with "1".
    pending_call* find(const rpc::id& id) const;

    /// Whether what came there may end the call. 2025-11-25, transports: the stream of a POST has the answer to its
    /// request. What a client hears on none in particular (a pipe, the old HTTP+SSE, the GET stream) may answer any.
    bool answers_on(const pending_call& call, exchange_id on) const;

    void on_answer(const rpc::message& message, exchange_id exchange);

    fault refusal(const json::object& object);
    static fault refused_with(rpc_error peer);

    /// The peer could not read the id. It belongs to the call of its exchange, or to the only one in flight, or to
    /// nobody (ID 33, SHAPE 42).
    void on_error_without_id(const rpc::message& message, exchange_id exchange);

    // ---- writing ---------------------------------------------------------------------------------------------------

    std::string& begin_message(const send_hint& hint);

    /// Every outbound message passes here.
    void end_message(std::string& out);

    std::string& begin_answer(const answer_route& route, int status = 200);

    void end_answer(std::string& out, const answer_route& route);

    void answer_gathered(const answer_route& route);
    bool fits_batches(std::size_t answer) const { return batch_bytes_ + answer <= limits_.message; }
    static void refuse_in_batch(std::string& out, std::size_t start, const rpc::id& id);
    void give_up_answer(inbound& request);
    void give_up_gathered(const rpc::id& id, const gathered_answers& answers);
    /// The handler whose answer is gathered there, while it is in flight.
    inbound* handler_of(const rpc::id& id, const gathered_answers& answers) const;
    bool handler_runs(const rpc::id& id, const gathered_answers& answers) const;

    void try_to_send(pending_call& call, const asio::cancellation_state& caller, bool waited);

    void send_request(pending_call& call);

    /// A client's request opens an exchange of its own, numbered like the request; a server's goes on one that is.
    exchange_id exchange_of(const pending_call& call) const
    {
        return role_->serves() ? call.related_ : static_cast<exchange_id>(call.id_);
    }

    void tell_cancelled(const pending_call& call, std::string_view reason);
    void give_up(const pending_call& call, std::string_view reason);

    /// Runs inside a cancellation: nothing here waits or resumes anybody.
    void cancel(pending_call& call);

    void on_deadline(pending_call& call);

    // ---- room ------------------------------------------------------------------------------------------------------

    bool room() const { return calls_.size() < limits_.in_flight && wire_->queued() < limits_.stream_buffer; }

    void offer_room();

    void on_drained();

    /// Looks now and then whether the output moves, which costs a message nothing. A stream that stands still is cut
    /// after the limit, at most an eighth of it later.
    void watch_output();
    void on_stall();

    void on_broken();

    // ---- handlers --------------------------------------------------------------------------------------------------

    /// Requests of the peer that are not answered yet and that something works on.
    std::size_t in_flight() const;
    /// A further one is refused; a ping never is.
    bool no_room_for(const rpc::message& request) const;

    void count_handler(inbound& request);

    static task<void> work(std::shared_ptr<session> self, handler_worker& me);

    void dismiss_idle_workers();

    void on_handler_ended(inbound& request);

    /// Takes a request out of flight: it can be neither answered nor cancelled any more.
    std::shared_ptr<inbound> release(inbound& request);
    std::shared_ptr<inbound> release_answered(inbound& request);
    void cancel_handlers();

    // ---- the end ---------------------------------------------------------------------------------------------------

    fault why_not_open() const;
    fault not_open() const;

    /// The input ended. A server still answers what it is working on; a client has lost its peer.
    void on_closed(fault why);

    void end(fault why);

    /// Ends every call that waits, in place: never from a destructor.
    void fail_calls();

    static task<void> shut_down(std::shared_ptr<session> self, fault why);

    static task<void> finish_transport(std::shared_ptr<session> self);

    void on_close_deadline();

    void drop() override;

    limits limits_;
    comcp::executor executor_;
    std::shared_ptr<parking_lot> lot_;
    std::shared_ptr<detail::home> home_;
    deadline_queue deadlines_;
    rpc::parser parser_;
    observer_ref observer_;
    session_statistics statistics_;
    revision revision_ = latest_legacy;
    bool negotiated_ = false;

    state state_ = state::opening;
    fault why_ended_;
    bool closing_ = false;
    bool hurried_ = false; // handlers are not waited for any more
    bool retired_ = false;
    bool finished_ = false;
    bool reading_ = false;
    bool context_gone_ = false;

    call_table calls_;
    std::int64_t last_id_ = 0; // ids start at 1 (A-3)
    std::deque<pending_call*> waiting_for_room_;

    inbound_table inbound_;
    std::vector<std::shared_ptr<asio::cancellation_signal>> beside_;
    std::size_t workers_ = 0;
    std::vector<handler_worker*> idle_workers_; // the last that became idle is taken first: its memory is still warm
    std::size_t handlers_ = 0;
    std::size_t answered_handlers_ = 0; // of these, answered and about to end
    std::size_t held_bytes_ = 0;
    std::size_t answer_bytes_ = 0; // queued since the output was last empty
    std::size_t batch_bytes_ = 0;  // gathered for batches that miss an answer
    std::size_t message_start_ = 0;

    waiter drained_;             // the paused reader
    wait_list quiet_;            // the closing coroutine: handlers, output, reader
    wait_list finished_waiters_; // close() and wait_ended()

    static constexpr int stall_checks = 8; // in the time of the limit
    std::uint64_t stall_mark_ = 0;
    int idle_checks_ = 0; // one after another that found nothing moved
    bool stuck_ = false;  // the peer did not read for so long that nothing more is written
    owned_deadline<session, &session::on_stall> stall_{*this};
    owned_deadline<session, &session::on_broken> broken_{*this};
    owned_deadline<session, &session::on_close_deadline> close_by_{*this};

    std::shared_ptr<const void> kept_;
    chain_slot chain_;
    std::unique_ptr<session_role> role_;
    std::unique_ptr<transport> wire_; // last: everything above may still be asked while it dies
};

/// Ends a session when the coroutine that it belongs to ends, however it ends.
class abandon_on_exit
{
public:
    explicit abandon_on_exit(std::shared_ptr<session> of) : session_(std::move(of)) {}
    abandon_on_exit(const abandon_on_exit&) = delete;
    abandon_on_exit& operator=(const abandon_on_exit&) = delete;
    ~abandon_on_exit() { session_->abandon(fault(errc::closed, "the session was given up")); }

private:
    std::shared_ptr<session> session_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/session/impl/session_calls.ipp>
#include <comcp/session/impl/session_chain.ipp>
#include <comcp/session/impl/session_life.ipp>
#include <comcp/session/impl/session_reading.ipp>
#endif
