// SPDX-License-Identifier: MIT
//
// One request of the peer while a handler works on it. It carries its id and the way its answer goes, and is answered
// at most once: the answer path is this object, never a table from ids to streams.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/rpc/id.hpp>
#include <comcp/session/home.hpp>
#include <comcp/transport/concept.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

class session;

/// Answers that are not written at once: those to a batch, gathered into one array and written when the last one is
/// there (2025-03-26, batching), or the one that middleware waits for.
struct gathered_answers
{
    std::string text;
    std::size_t missing = 0; ///< requests not yet answered or given up, plus one while the batch is being read
    exchange_id exchange = pipe_exchange;
    bool in_batch = true;
    bool for_chain = false;
    waiter* chain = nullptr; ///< the middleware's, while it waits
};

/// Where an answer goes.
struct answer_route
{
    exchange_id exchange = pipe_exchange;
    std::shared_ptr<gathered_answers> gathered;

    bool in_batch() const { return gathered && gathered->in_batch; }
    /// What is written goes into the array of a batch, and not to middleware first.
    bool joins_batch() const { return gathered && !gathered->for_chain; }
};

/// Thread rule: the session's executor, but for `cancelled` and for what `emit_on` says. Handlers on another executor
/// hold it, and reach everything else through the session's `home`.
class inbound
{
public:
    inbound(rpc::id id, answer_route route, std::size_t bytes)
        : id_(std::move(id)),
          route_(std::move(route)),
          bytes_(bytes)
    {}
    inbound(const inbound&) = delete;
    inbound& operator=(const inbound&) = delete;

    const rpc::id& id() const { return id_; }
    const answer_route& route() const { return route_; }
    /// The peer cancelled it, or its session ended. Any thread.
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    /// No answer was given and none is excluded yet.
    bool open() const { return session_ != nullptr; }
    session* owner() const { return session_; }
    /// Counts bytes that are kept for it beside its own text; before its handler runs.
    void holds(std::size_t more) { bytes_ += more; }

    std::optional<progress_token> token; ///< asked for by the peer
    std::optional<double> last_progress;

private:
    friend class session;
    friend class inbound_table;
    friend struct handler_worker;

    void emit(const std::shared_ptr<inbound>& self)
    {
        cancelled_.store(true, std::memory_order_relaxed);
        // A handler on a foreign executor is cancelled there, since only there its coroutine is at rest.
        if (foreign_) asio::post(foreign_, [self] { self->foreign_signal_.emit(asio::cancellation_type::terminal); });
        else if (worker_signal_) worker_signal_->emit(asio::cancellation_type::terminal);
    }

    rpc::id id_;
    answer_route route_;
    std::size_t bytes_;
    asio::cancellation_signal* worker_signal_ = nullptr; // while a coroutine of the session works on it
    asio::cancellation_signal foreign_signal_;           // lives until the foreign coroutine has ended
    executor foreign_;
    std::atomic<bool> cancelled_{false};
    session* session_ = nullptr; // set while in flight
    bool running_ = false;       // a coroutine works on it
    bool answered_ = false;
    std::shared_ptr<inbound> self_; // while in flight, held by the table
    inbound* next_ = nullptr;
};

/// The requests in flight by id, chained through themselves: nothing is allocated or copied for it. The chains are
/// bounded by the limit of requests in flight. An id is unique in its session, on whatever exchange it came.
class inbound_table
{
public:
    void add(std::shared_ptr<inbound> request)
    {
        inbound*& chain = chain_of(request->id_);
        request->next_ = chain;
        chain = request.get();
        chain->self_ = std::move(request);
    }

    inbound* find(const rpc::id& id) const
    {
        inbound* found = const_cast<inbound_table*>(this)->chain_of(id);
        while (found && !(found->id_ == id)) found = found->next_;
        return found;
    }

    std::shared_ptr<inbound> remove(inbound& request)
    {
        inbound** link = &chain_of(request.id_);
        while (*link != &request) link = &(*link)->next_;
        *link = request.next_;
        return std::move(request.self_);
    }

    inbound* any() const
    {
        for (inbound* chain : chains_)
            if (chain) return chain;
        return nullptr;
    }

private:
    inbound*& chain_of(const rpc::id& id) { return chains_[id.hash() % chains_.size()]; }

    std::array<inbound*, 32> chains_{}; // small: every session has one
};

} // namespace comcp::inline COMCP_ABI::detail
