// SPDX-License-Identifier: MIT
//
// How an HTTP service uses its session store: what is written, in which order, and who waits for it. One keeper for a
// service, one kept_session for each session. What another process's session is made into is http_core's business.
#pragma once

#include <comcp/http/budget.hpp>
#include <comcp/http/event_store.hpp>
#include <comcp/limits.hpp>
#include <comcp/server/session_record.hpp>
#include <comcp/server/session_store.hpp>
#include <comcp/session/home.hpp>
#include <comcp/session/session.hpp>
#include <comcp/session/wait_list.hpp>
#include <comcp/task.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class kept_session;

/// Thread rule: any thread, but for what is said to be on the keeper's executor.
class session_keeper final : public std::enable_shared_from_this<session_keeper>, private parked
{
public:
    struct settings
    {
        duration each = no_limit;             ///< one operation of the store
        duration renew = no_limit;            ///< a record that is older is saved again
        std::size_t queue = 0;                ///< bytes of events of one session that wait to be written
        std::shared_ptr<http::budget> memory; ///< the same of all sessions
    };

    session_keeper(session_store& in, comcp::executor ex, std::string owner, settings with);
    ~session_keeper();

    session_store& store;
    const std::string owner; ///< this process, among those that share the store
    const settings with;

    /// What a session is that is not here, before the store is asked.
    enum class absence {
        unknown, ///< the store knows
        deleted, ///< its client ended it: it is about to leave the store, and is not found there any more
        unsure,  ///< this process lets go of it, perhaps not as the last, or still writes it: the store does not know
    };
    absence absent(std::string_view id) const;
    void begin_erase(const std::string& id, bool deleted);
    void end_erase(const std::string& id);
    /// An operation of the session's goes on though its time is over.
    void begin_late(const std::string& id);
    void end_late(const std::string& id);
    /// Waits until the session has left the store. *Errors*: it could not be erased, or not soon.
    static task<result<void>> erased(std::shared_ptr<session_keeper> self, std::shared_ptr<kept_session> which);

    /// Work that is to be waited for.
    void begin_work() { ++working_; }
    void end_work();
    /// Waits until none is left. On the keeper's executor.
    static task<void> idle(std::shared_ptr<session_keeper> self);
    /// What is under way is the last.
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }

    const comcp::executor& executor() const { return executor_; }

private:
    void wake();
    void drop() override;

    comcp::executor executor_;
    std::shared_ptr<parking_lot> lot_;
    std::shared_ptr<detail::home> home_;
    wait_list quiet_;
    bool context_gone_ = false;
    std::atomic<std::size_t> working_{0};
    std::atomic<bool> stopped_{false};
    mutable std::mutex mutex_;
    std::map<std::string, bool, std::less<>> erasing_; // whether the client ended it
    std::set<std::string, std::less<>> late_;
};

/// Takes part in a keeper's work for a scope.
class keeper_work
{
public:
    explicit keeper_work(std::shared_ptr<session_keeper> of) : of_(std::move(of)) { of_->begin_work(); }
    keeper_work(const keeper_work&) = delete;
    keeper_work& operator=(const keeper_work&) = delete;
    ~keeper_work() { of_->end_work(); }

private:
    std::shared_ptr<session_keeper> of_;
};

/// One session as the store is to know it. Thread rule: the session's executor, but for what says otherwise.
class kept_session final : public kept_state,
                           public http::stream_journal,
                           public std::enable_shared_from_this<kept_session>
{
public:
    explicit kept_session(std::shared_ptr<session_keeper> by) : keeper_(std::move(by)) {}

    void serve(const std::shared_ptr<session>& owner) { owner_ = owner; }

    /// Saves it for the first time, and waits for that. A failure is tried again when the session is used again.
    static task<void> begin(std::shared_ptr<kept_session> self);
    void changed() override;
    /// The session is in use.
    void renew();
    void note(http::stream_change change) override;
    /// The session is over. `anybodys`: also if another process goes on with it.
    void erase(bool anybodys);

    /// A stream of another process. *Errors*: those of the store.
    static task<result<std::optional<stored_stream>>> load_stream(std::shared_ptr<kept_session> self,
                                                                  std::string stream);

    /// The session leaves: after this nobody finds it in the store. Any thread.
    void begin_erase(bool deleted);
    enum class erasure {
        none,
        begun,
        done,
        failed,
    };
    erasure erased() const { return erasure_; }

private:
    class writer;
    class late_guard;
    struct writer_ended
    {
        void operator()(std::exception_ptr) const {}
    };

    using changes = std::vector<http::stream_change>;

    bool take(const http::stream_change& change);
    void write_later();
    /// Writes until nothing is left to write, or only the record as it is now.
    static task<void> write(std::shared_ptr<kept_session> self, bool only_record = false);
    /// What is left to write now.
    bool goes_on() const;
    /// One operation of the store within its time. *Errors*: the store's, errc::timed_out; it may go on then.
    static task<result<void>> ask(std::shared_ptr<kept_session> self, task<void> work);
    static task<void> alone(std::shared_ptr<kept_session> self, task<void> work);
    static task<result<void>> append(std::shared_ptr<kept_session> self, changes batch);
    /// Appends a batch; where that fails, what is left of it, stream by stream.
    static task<void> keep(std::shared_ptr<kept_session> self, changes batch);
    void lost(changes of_one_stream);
    void end_erase(bool worked);

    std::shared_ptr<session_keeper> keeper_;
    std::weak_ptr<session> owner_;
    std::atomic<erasure> erasure_{erasure::none};

    bool writing_ = false;
    int asked_ = 0; // operations of the store that have not ended; no other begins before
    bool erase_ = false;
    bool erase_anybodys_ = false;
    bool unsaved_ = false;                     // the last save failed
    session_save failed_ = session_save::take; // which it was
    std::optional<session_save> save_;
    time_point saved_{};
    std::map<std::string, bool, std::less<>> streams_; // whether what follows on it is still taken
    changes queue_;
    http::budget_share queued_;
    changes owed_; // beginnings and ends of streams that the store could not keep yet
    http::budget_share owed_bytes_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/session_keeper.ipp>
#endif
