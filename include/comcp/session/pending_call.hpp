// SPDX-License-Identifier: MIT
//
// One request of ours while it waits for its answer. It belongs to the coroutine that waits, is found by its id, and
// ends exactly once: answered, failed, timed out, cancelled, or with its session.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/result.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/session/deadlines.hpp>
#include <comcp/transport/concept.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

class session;
class pending_call;

/// Finds pending calls by id without allocating: a fixed table of chains through the calls themselves. Ids count up, so
/// the chains stay short as long as the calls in flight are bounded.
class call_table
{
public:
    inline void add(pending_call& call);
    inline void remove(pending_call& call);
    inline pending_call* find(std::int64_t id) const;
    inline pending_call* any() const;
    std::size_t size() const { return size_; }

private:
    std::array<pending_call*, 32> chains_{}; // small: every session has one
    std::size_t size_ = 0;
};

class pending_call
{
public:
    pending_call(parking_lot& lot, std::string_view method) : done_(lot), method_(method) {}
    pending_call(const pending_call&) = delete;
    pending_call& operator=(const pending_call&) = delete;
    virtual ~pending_call()
    {
        if (table_) table_->remove(*this);
    }

    std::string_view method() const { return method_; }
    std::int64_t id() const { return id_ != 0 ? id_ : wanted_id_; }
    /// A server's request belongs to the exchange of the request that it serves (B-18).
    void relates_to(exchange_id exchange) { related_ = exchange; }

    /// Begun, and neither sent nor failed: the output has no room.
    bool waits_for_room() const { return id_ == 0 && !failed_; }
    bool sent() const { return id_ != 0; }

protected:
    /// Appends the params object. The call's id also serves as its progress token.
    virtual void write_params(std::string& out) const = 0;
    /// Copies what is wanted out of the result, whose memory ends with this call. A fault says that it is malformed.
    virtual std::optional<fault> read_result(const rpc::message& answer) = 0;
    /// Progress of the peer. Called in place.
    virtual void on_progress(const progress&) {}

private:
    friend class session;
    friend class call_table;
    friend class outbound_run;
    friend class relayed_call;

    /// What ends the call; the first one counts.
    void end()
    {
        if (table_) table_->remove(*this);
        total_.clear();
        idle_.clear();
        done_.complete();
    }
    void end(fault why)
    {
        failed_ = std::move(why);
        end();
    }
    void expired();

    waiter done_;
    std::string_view method_;
    std::int64_t id_ = 0;
    std::int64_t wanted_id_ = 0; // chosen before it is sent
    exchange_id related_ = pipe_exchange;
    session* session_ = nullptr;
    call_table* table_ = nullptr;
    pending_call* next_ = nullptr;
    duration idle_after_ = no_limit;
    owned_deadline<pending_call, &pending_call::expired> total_{*this};
    owned_deadline<pending_call, &pending_call::expired> idle_{*this};
    std::string_view given_up_because_ = "cancelled by the caller";
    std::optional<fault> failed_;
};

inline void call_table::add(pending_call& call)
{
    pending_call*& chain = chains_[static_cast<std::size_t>(call.id_) % chains_.size()];
    call.next_ = chain;
    chain = &call;
    call.table_ = this;
    ++size_;
}

inline void call_table::remove(pending_call& call)
{
    pending_call** link = &chains_[static_cast<std::size_t>(call.id_) % chains_.size()];
    while (*link != &call) link = &(*link)->next_;
    *link = call.next_;
    call.table_ = nullptr;
    --size_;
}

inline pending_call* call_table::find(std::int64_t id) const
{
    if (id < 0) return nullptr;
    pending_call* call = chains_[static_cast<std::size_t>(id) % chains_.size()];
    while (call && call->id_ != id) call = call->next_;
    return call;
}

inline pending_call* call_table::any() const
{
    if (size_ == 0) return nullptr;
    for (pending_call* call : chains_)
        if (call) return call;
    return nullptr;
}

} // namespace comcp::inline COMCP_ABI::detail
