// SPDX-License-Identifier: MIT
//
// The messages of a session's streams that a client can ask for again after its connection broke (2025-11-25,
// transports: resumability and redelivery). One store belongs to one session, so no other session's messages are in
// it. Bounded: the oldest give way, and who asks for them is told so. It decides no HTTP status and writes no event.
#pragma once

#include <comcp/config.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

/// How much one store keeps. Bytes are those of the messages plus 64 for each.
struct event_store_limits
{
    std::size_t events = 1000;                   ///< of one stream
    std::size_t stream_bytes = 4 * 1024 * 1024;  ///< of one stream
    std::size_t session_bytes = 8 * 1024 * 1024; ///< of all streams together
    std::size_t finished_streams = 64;           ///< that are kept after their last message
};

/// A place in a stream: behind the message with this number, which counts from 1.
struct event_position
{
    std::uint64_t stream = 0;
    std::uint64_t sequence = 0;

    bool operator==(const event_position&) const = default;
};

/// What a client gets that resumes.
enum class replay_state {
    found,     ///< `events` follow what it has seen; there may be none
    malformed, ///< the id is none of this session's store
    unknown,   ///< there is no such stream, or it is no longer kept, or it never gave this id
    gone,      ///< messages behind the id were already dropped, so that a replay would have a gap
};

struct stored_event
{
    std::string id;
    std::string_view message; ///< valid until the store is changed
};

struct replay
{
    replay_state state = replay_state::malformed;
    std::uint64_t stream = 0;
    bool finished = false; ///< the stream had its last message: it ends behind the events
    std::vector<stored_event> events;
};

namespace detail
{

// A '-' and a number as we write it: two texts never stand for the same place.
inline bool take_number(std::string_view& text, std::uint64_t& out)
{
    if (!text.starts_with('-')) return false;
    text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const auto size = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || (size > 1 && text.front() == '0')) return false;
    text.remove_prefix(size);
    return true;
}

} // namespace detail

/// The two parts of the id of an event: the name of its stream, and its number there. Nothing for what is no such id.
struct event_id_parts
{
    std::string_view stream;
    std::uint64_t sequence = 0;
};

inline std::optional<event_id_parts> split_event_id(std::string_view id)
{
    const std::size_t at = id.rfind('-');
    if (at == id.npos || at == 0) return std::nullopt;
    event_id_parts out;
    out.stream = id.substr(0, at);
    id.remove_prefix(at);
    if (!detail::take_number(id, out.sequence) || !id.empty()) return std::nullopt;
    return out;
}

/// One step in the life of a stream, for whoever keeps it elsewhere as well.
struct stream_change
{
    enum class kind {
        opened,   ///< `text`: what the stream owes, as it was given
        kept,     ///< `text`: the message with the number `sequence`; what is before `first` is kept no longer
        finished, ///< it had its last message
        dropped,  ///< nothing of it is kept any more
    };

    kind what = kind::opened;
    std::string stream; ///< its name
    std::uint64_t sequence = 0;
    std::uint64_t first = 0;
    std::string text;
};

/// Is told of every change of a store, in order.
class stream_journal
{
public:
    virtual void note(stream_change change) = 0;

protected:
    ~stream_journal() = default;
};

/// A store whose state is elsewhere, in a database, can stand in for the one below.
template <class T>
concept event_store = requires(T& store, std::uint64_t stream, std::string_view text) {
    { store.open() } -> std::same_as<std::uint64_t>;
    { store.append(stream, text) } -> std::same_as<std::string>;
    { store.finish(stream) };
    { store.drop(stream) };
    { store.replay_after(text) } -> std::same_as<replay>;
};

/// The store in memory. Not safe for threads: it belongs to its session.
///
/// An id is `tag-stream-sequence`, so it names its stream (E-35), and a tag that no other session has makes the ids of
/// other sessions malformed here. Give a short random token without a '-'; ids are visible, so not the session id.
class memory_event_store
{
public:
    explicit memory_event_store(std::string tag, event_store_limits bounds = {}) : tag_(std::move(tag)), limits_(bounds)
    {}

    /// Tells of all changes from now on; null: nobody. Without ownership.
    void report_to(stream_journal* journal) { journal_ = journal; }

    /// A new stream. The caller bounds how many are open. What it owes is only passed on.
    std::uint64_t open(std::string_view owes = {})
    {
        streams_.try_emplace(++last_stream_);
        tell(stream_change::kind::opened, last_stream_, owes);
        return last_stream_;
    }

    /// Keeps a message, also while nobody is connected, and gives its id. An empty message, such as the priming event,
    /// takes an id and is not replayed. Of a stream that is not open nothing is kept.
    std::string append(std::uint64_t stream, std::string_view message)
    {
        const auto found = streams_.find(stream);
        if (found == streams_.end()) return write_id({stream, 0});
        kept& s = found->second;
        ++s.last;
        // What is over the bound alone would be dropped again at once, so it is not copied.
        const bool fits = cost(message) <= std::min(limits_.stream_bytes, limits_.session_bytes);
        if (fits) {
            s.messages.emplace_back(message);
            s.bytes += cost(message);
            bytes_ += cost(message);
            while (s.messages.size() > limits_.events || s.bytes > limits_.stream_bytes) drop_oldest(s);
        } else {
            drop_all(s);
        }
        const std::string id = write_id({stream, s.last});
        if (journal_) tell_kept(stream, s, fits ? message : std::string_view());
        keep_budget();
        return id;
    }

    /// The stream had its last message. It is kept until newer ones need the room, because the client may have missed
    /// just that message.
    void finish(std::uint64_t stream)
    {
        const auto found = streams_.find(stream);
        if (found == streams_.end() || found->second.finished) return;
        found->second.finished = true;
        tell(stream_change::kind::finished, stream);
        finished_.push_back(stream);
        while (finished_.size() > limits_.finished_streams) drop(finished_.front());
    }

    /// Forgets a stream at once.
    void drop(std::uint64_t stream)
    {
        const auto found = streams_.find(stream);
        if (found == streams_.end()) return;
        bytes_ -= found->second.bytes;
        streams_.erase(found);
        std::erase(finished_, stream);
        tell(stream_change::kind::dropped, stream);
    }

    /// What followed the event on its own stream. The id is a peer's: any text is allowed.
    replay replay_after(std::string_view id) const
    {
        replay out;
        const std::optional<event_position> from = parse_id(id);
        if (!from) return out;
        out.stream = from->stream;
        const auto found = streams_.find(from->stream);
        if (found == streams_.end() || from->sequence > found->second.last) {
            out.state = replay_state::unknown;
            return out;
        }
        const kept& s = found->second;
        const std::uint64_t first = s.last - s.messages.size() + 1;
        if (from->sequence + 1 < first) {
            out.state = replay_state::gone;
            return out;
        }
        out.state = replay_state::found;
        out.finished = s.finished;
        for (std::uint64_t n = from->sequence + 1; n <= s.last; ++n) {
            const std::string& message = s.messages[static_cast<std::size_t>(n - first)];
            if (!message.empty()) out.events.push_back({write_id({from->stream, n}), message});
        }
        return out;
    }

    std::size_t bytes() const noexcept { return bytes_; }
    std::size_t streams() const noexcept { return streams_.size(); }

private:
    struct kept
    {
        std::deque<std::string> messages; // the last one has the number `last`
        std::uint64_t last = 0;
        std::size_t bytes = 0;
        bool finished = false;
    };

    static std::size_t cost(std::string_view message) noexcept { return message.size() + 64; }

    std::string name_of(std::uint64_t stream) const { return tag_ + '-' + std::to_string(stream); }

    std::string write_id(event_position at) const { return name_of(at.stream) + '-' + std::to_string(at.sequence); }

    void tell(stream_change::kind what, std::uint64_t stream, std::string_view text = {})
    {
        if (journal_) journal_->note({what, name_of(stream), 0, 0, std::string(text)});
    }

    void tell_kept(std::uint64_t stream, const kept& s, std::string_view message)
    {
        const std::uint64_t first = s.last - s.messages.size() + 1;
        journal_->note({stream_change::kind::kept, name_of(stream), s.last, first, std::string(message)});
    }

    std::optional<event_position> parse_id(std::string_view id) const
    {
        if (!id.starts_with(tag_)) return std::nullopt;
        id.remove_prefix(tag_.size());
        event_position at;
        if (!detail::take_number(id, at.stream) || !detail::take_number(id, at.sequence) || !id.empty())
            return std::nullopt;
        return at;
    }

    void drop_oldest(kept& s)
    {
        const std::size_t size = cost(s.messages.front());
        s.messages.pop_front();
        s.bytes -= size;
        bytes_ -= size;
    }

    void drop_all(kept& s)
    {
        bytes_ -= s.bytes;
        s.bytes = 0;
        s.messages.clear();
    }

    // Finished streams go first, the one that finished first of all; then the oldest messages of the largest stream,
    // so that a talkative stream does not cost the others theirs.
    void keep_budget()
    {
        while (bytes_ > limits_.session_bytes && !finished_.empty()) drop(finished_.front());
        while (bytes_ > limits_.session_bytes) {
            drop_oldest(std::ranges::max_element(streams_, {}, [](const auto& s) { return s.second.bytes; })->second);
        }
    }

    std::string tag_;
    event_store_limits limits_;
    stream_journal* journal_ = nullptr;
    std::map<std::uint64_t, kept> streams_;
    std::deque<std::uint64_t> finished_; // in the order in which they finished
    std::uint64_t last_stream_ = 0;
    std::size_t bytes_ = 0;
};

static_assert(event_store<memory_event_store>);

} // namespace comcp::inline COMCP_ABI::http
