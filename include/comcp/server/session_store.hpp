// SPDX-License-Identifier: MIT
//
// Where the sessions of an HTTP service are kept so that another process can go on with them: a file system, a
// database, Redis. The host writes one; without one, sessions live and die with their process. A store keeps texts as
// it is given them and understands none.
#pragma once

#include <comcp/http/event_store.hpp>
#include <comcp/task.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// Whose record a save replaces.
enum class session_save {
    take,  ///< anybody's: the process now goes on with the session
    renew, ///< its own, or none; the record of another owner stays as it is
};

/// What is kept of one stream of a session.
struct stored_stream
{
    std::string owes;               ///< as `stream_change::opened` gave it
    bool finished = false;          ///< nothing follows
    std::uint64_t last = 0;         ///< the number of the last event
    std::deque<std::string> events; ///< the last of all; the last one has the number `last`

    /// Makes a change that is none of `dropped`: for stores that keep streams whole.
    void apply(http::stream_change change)
    {
        switch (change.what) {
        case http::stream_change::kind::opened: owes = std::move(change.text); break;
        case http::stream_change::kind::kept:
            if (change.sequence <= last) break;              // it came before
            if (change.sequence != last + 1) events.clear(); // a gap: what was before leads nowhere
            last = change.sequence;
            events.push_back(std::move(change.text));
            while (!events.empty() && last - events.size() + 1 < change.first) events.pop_front();
            break;
        case http::stream_change::kind::finished: finished = true; break;
        case http::stream_change::kind::dropped: break;
        }
    }
};

/// Set with `http_service_options::sessions(store)`.
///
/// Ids, owners and names of streams are of A-Z a-z 0-9 - _ and at most 64 characters, so that they may be keys or names
/// of files. A session has one owner, the process that saved it last: where two save at once, the last writer wins.
/// What throws, or takes longer than `http_service_limits::store_time`, has failed: the service then goes on without
/// the store as far as that is possible.
///
/// For one session a service calls one operation after another, but for the two that load: none begins before the one
/// before has ended, also if that took too long. So nothing that comes late undoes what is newer. Meanwhile the session
/// goes on where it is and is not saved; where it is not, it is answered with 503. What was asked owns all it was
/// given.
///
/// A record is saved again after half of `session_idle` at the latest while the session is in use. So a store may drop
/// what was not saved for much longer than `session_idle`: its process has died. The same of a stream that did not
/// change for so long.
///
/// *Cancellation*: terminal, when the time is over. An operation may heed it or not, but must end. Thread rule: called
/// on several executors of the context at once unless the service is single-threaded. It outlives the service and what
/// it has begun there.
class session_store
{
public:
    session_store() = default;
    session_store(const session_store&) = delete;
    session_store& operator=(const session_store&) = delete;
    virtual ~session_store() = default;

    /// The record of a session; nothing when there is none.
    virtual task<std::optional<std::string>> load(std::string session) = 0;
    /// Keeps the record, whole or not at all.
    virtual task<void> save(std::string session, std::string owner, std::string record, session_save how) = 0;
    /// Forgets the session and its streams, if it has this owner; in any case when `owner` is empty.
    virtual task<void> erase(std::string session, std::string owner) = 0;

    /// Keeps what became of the session's streams, in this order; ignores changes of what it does not know: a session,
    /// or a stream that was not opened. The service decides how much is kept, within `stored_events` and
    /// `stored_bytes`, and says with each event what may be forgotten.
    ///
    /// When it fails, part of it may have been done: changes may then come again, and what is kept already is ignored
    /// (`stored_stream::apply` does that). A message that cannot be kept ends its stream in the store; other streams,
    /// and that it began, are told again.
    virtual task<void> append(std::string session, std::vector<http::stream_change> changes) = 0;
    /// What is kept of one stream of this session; nothing when that is not known.
    virtual task<std::optional<stored_stream>> load_stream(std::string session, std::string stream) = 0;
};

} // namespace comcp::inline COMCP_ABI
