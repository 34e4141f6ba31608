// SPDX-License-Identifier: MIT
//
// The sessions of an HTTP service: who is who, who may use which, and which one gives way. It owns them. What a session
// does with a request is none of its business.
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/http/session_transport.hpp>
#include <comcp/result.hpp>
#include <comcp/server/session_keeper.hpp>
#include <comcp/session/session.hpp>
#include <comcp/session/wait_list.hpp>
#include <comcp/timer.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class session_table;

/// A session that has left the table, or is about to.
struct leaving_session
{
    std::shared_ptr<session> owner;
    std::shared_ptr<kept_session> kept;
};

/// Begins to end a session in order, from wherever one is, and to erase it if it is kept. Null: nothing.
void begin_to_end(const leaving_session& which, std::string why, bool deleted = false);

/// One session as the table knows it. Everything but `id` and `principal` is guarded by the table.
struct table_entry
{
    std::string id; ///< empty: it has none, and ends with its last lease
    std::string principal;
    std::shared_ptr<session> owner; // empty once it has left the table
    std::shared_ptr<kept_session> kept;
    http::session_transport* wire = nullptr;
    std::size_t active = 0;
    bool used = false; // by a second request
    time_point since{};
    std::list<std::shared_ptr<table_entry>>::iterator at;
};

/// Keeps a session busy: a call, or an open stream. Does not own it. May end on any thread.
class session_lease
{
public:
    enum class kind {
        call,
        stream,
    };

    session_lease() = default;
    session_lease(std::shared_ptr<session_table> in, std::shared_ptr<table_entry> of, kind what)
        : table_(std::move(in)),
          entry_(std::move(of)),
          kind_(what)
    {}
    session_lease(session_lease&& other) noexcept = default;
    session_lease& operator=(session_lease&& other) noexcept
    {
        if (this == &other) return *this;
        release();
        table_ = std::move(other.table_);
        entry_ = std::move(other.entry_);
        kind_ = other.kind_;
        return *this;
    }
    ~session_lease() { release(); }

    explicit operator bool() const { return entry_ != nullptr; }
    const std::shared_ptr<table_entry>& entry() const { return entry_; }
    void release();

private:
    std::shared_ptr<session_table> table_;
    std::shared_ptr<table_entry> entry_;
    kind kind_ = kind::call;
};

/// Thread rule: any thread, but for what is said to be on the table's executor.
class session_table final : public std::enable_shared_from_this<session_table>, private parked
{
public:
    /// `most` sessions with an id; one that is idle for `idle` ends. `ex` is a strand where several threads run it.
    session_table(comcp::executor ex, std::size_t most, duration idle, random_source random = ::getrandom);
    ~session_table();

    /// A session in use.
    struct in_use
    {
        std::shared_ptr<session> owner;
        http::session_transport* wire = nullptr;
        std::shared_ptr<kept_session> kept;
        session_lease lease;

        explicit operator bool() const { return owner != nullptr; }
    };

    /// Takes a session in that has no id yet. An empty lease: there are too many of these, or the table has ended.
    session_lease adopt(std::shared_ptr<session> owner, http::session_transport* wire, std::string principal,
                        std::shared_ptr<kept_session> kept = nullptr);
    /// Gives it an id. At the cap the one that was idle for longest ends, those that never sent a second request first.
    /// *Errors*: errc::busy when none can give way; those of the system's random numbers.
    result<std::string> name(const session_lease& lease);
    /// Gives it the id that it had in another process, for which there must be no session here.
    result<std::string> name(const session_lease& lease, std::string id);
    /// The session with this id, when it is this principal's (K-9).
    in_use find(std::string_view id, std::string_view principal, session_lease::kind use);
    bool knows(std::string_view id, std::string_view principal) const;
    /// Removes a session and begins to end it; false when there is no such session of this principal.
    bool remove(std::string_view id, std::string_view principal);
    /// What is kept of it elsewhere; null where nothing is.
    std::shared_ptr<kept_session> kept(std::string_view id, std::string_view principal) const;
    /// The session ended by itself.
    void forget(std::string_view id);

    /// Removes all, without ending them.
    std::vector<std::shared_ptr<session>> take_all();
    /// Sessions with an id.
    std::size_t size() const;

    /// Waits until no call is left, or until `within` has passed. On the table's executor.
    static task<void> calls_ended(std::shared_ptr<session_table> self, duration within);

    const comcp::executor& executor() const { return executor_; }

private:
    friend class session_lease;
    using entries = std::list<std::shared_ptr<table_entry>>;

    void release(table_entry& entry, session_lease::kind use);
    table_entry* find_entry(std::string_view id, std::string_view principal) const;
    /// Takes an entry out; what is returned is destroyed outside of the lock.
    leaving_session take_out(table_entry& entry);
    /// The same for a session that is not to be found elsewhere either: at all if its client ended it, else unless
    /// another process has it.
    leaving_session take_out_for_good(table_entry& entry, bool deleted = false);
    entries& idle_list(const table_entry& entry) { return entry.used ? used_ : fresh_; }

    void watch();
    void unwatch();
    void unwatch_later();
    void sweep();
    void drop() override;

    comcp::executor executor_;
    std::shared_ptr<parking_lot> lot_;
    std::shared_ptr<detail::home> home_;
    std::size_t most_;
    duration idle_;
    random_source random_;
    timer timer_;
    wait_list quiet_;
    bool context_gone_ = false;

    mutable std::mutex mutex_;
    std::unordered_map<std::string_view, std::shared_ptr<table_entry>> by_id_; // views of the entries' own ids
    std::size_t nameless_ = 0; // without an id: at most as many as with one
    bool ended_ = false;       // nothing is taken in any more
    entries active_;
    bool keeps_ = false; // sessions are kept outside of the process too
    entries fresh_;      // idle, the longest in front: those that never sent a second request, and
    entries used_;       // those that did
    std::size_t calls_ = 0;
    bool watched_ = false;
    bool draining_ = false;
};

inline void session_lease::release()
{
    if (!entry_) return;
    table_->release(*entry_, kind_);
    entry_.reset();
    table_.reset();
}

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/session_table.ipp>
#endif
