// SPDX-License-Identifier: MIT
//
// Server-sent events: a reader that cuts a stream of bytes into events, and functions that write them. The reader is
// the algorithm of the WHATWG (HTML, server-sent events, "interpreting an event stream") made incremental. Bytes in,
// events out: it opens and reopens no connection, and does not look into the data.
#pragma once

#include <comcp/config.hpp>
#include <comcp/limits.hpp>
#include <comcp/rpc/scan.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// One event that has data, even if the data is empty. The views are valid until the next call of the parser, those
/// into the chunk also no longer than the chunk.
struct sse_event
{
    std::string_view type;     ///< "message" when the stream names none; cut to 256 bytes
    std::string_view data;     ///< the data lines, joined by LF; empty when oversized
    std::string_view id;       ///< the id that a resume after this event sends, whichever event brought it
    bool has_id = false;       ///< this event itself brought an id
    bool oversized = false;    ///< the data was over the limit and skipped
    rpc::oversize_facts facts; ///< when oversized: what is known of the message

    /// The data holds no message: it is empty, or only white space. Such an event only brings an id (2025-11-25,
    /// transports: the priming event) and must not be parsed as JSON (E-37).
    bool blank() const noexcept { return !oversized && data.find_first_not_of(" \t\r\n") == data.npos; }
};

/// Events from chunks. Where the chunks are cut makes no difference to the events.
///
///     parser.feed(chunk);
///     while (parser.next(event)) ...
///
/// What the stream does not finish with a blank line is no event. Memory: the data of one event, up to the limit.
class sse_parser
{
public:
    /// `limit` bounds the data of one event in bytes; a larger one is skipped while it is read.
    explicit sse_parser(std::size_t limit = limits{}.message) : limit_(limit) {}

    /// Takes the next bytes of the stream, which stay where they are until `next()` is false.
    void feed(std::string_view chunk)
    {
        chunk_ = chunk;
        at_ = 0;
        newline_ = find('\n');
        carriage_return_ = find('\r');
    }

    /// Takes the next complete event; false when more bytes are needed.
    bool next(sse_event& out)
    {
        if (given_) clear_event();
        while (at_ != chunk_.size()) {
            if (after_carriage_return_) { // CR LF is one line end, also when it is cut in two
                after_carriage_return_ = false;
                if (chunk_[at_] == '\n') {
                    ++at_;
                    continue;
                }
            }
            if (part_ == part::name) read_name();
            else read_value();
            if (!line_ended_) continue;
            line_ended_ = false;
            if (end_line() && has_data_) {
                give(out);
                return true;
            }
        }
        hold();
        return false;
    }

    /// The id that a resume sends as `Last-Event-ID`; empty when there is none. It changes when an event ends, with
    /// data or without (E-37). Of any bytes but NUL, CR and LF, at most 4,096: a longer one is ignored.
    std::string_view last_event_id() const noexcept { return last_id_; }

    /// The reconnection time that the stream asked for last, at most one hour.
    std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

    /// A new connection goes on with the same logical stream: an unfinished event is dropped, the id and the
    /// reconnection time stay.
    void restart()
    {
        const std::string id = last_id_;
        const std::optional<std::chrono::milliseconds> retry = retry_;
        *this = sse_parser(limit_);
        last_id_ = next_id_ = id;
        retry_ = retry;
    }

    /// The bytes of an unfinished event that are held.
    std::size_t buffered() const noexcept { return view_.size() + data_.size(); }

private:
    static constexpr std::size_t type_limit = 256;
    static constexpr std::size_t id_limit = 4096;
    static constexpr std::size_t keep_at_most = 256 * 1024;
    static constexpr std::uint32_t longest_retry = 60 * 60 * 1000;
    static constexpr std::string_view mark = "\xEF\xBB\xBF";

    enum class part { name, space, value };

    enum class field { ignored, data, event, id, retry };

    std::size_t find(char what) const noexcept { return std::min(chunk_.find(what, at_), chunk_.size()); }

    // The end of the line within the chunk. Both positions are kept while they lie ahead, so that each byte is looked
    // at once even if the lines end with the other character.
    std::size_t line_end() noexcept
    {
        if (newline_ < at_) newline_ = find('\n');
        if (carriage_return_ < at_) carriage_return_ = find('\r');
        return std::min(newline_, carriage_return_);
    }

    void take_line_end()
    {
        after_carriage_return_ = chunk_[at_] == '\r';
        ++at_;
        line_ended_ = true;
    }

    // The name may be cut by the end of the chunk. What is longer than a known name with a byte order mark is unknown.
    void read_name()
    {
        while (at_ != chunk_.size()) {
            const char c = chunk_[at_];
            if (c == '\n' || c == '\r') {
                begin_field();
                empty_line_ = part_ == part::name;
                return take_line_end();
            }
            if (c == ':') {
                begin_field();
                part_ = field_ == field::ignored ? part::value : part::space;
                ++at_;
                return;
            }
            if (name_size_ == name_.size()) {
                field_ = field::ignored;
                part_ = part::value;
                return;
            }
            name_[name_size_++] = c;
            ++at_;
        }
    }

    // Leaves `part_` at `name` when there is no name at all: a comment, or an empty line.
    void begin_field()
    {
        std::string_view name(name_.data(), name_size_);
        if (first_line_ && name.starts_with(mark)) name.remove_prefix(mark.size());
        field_ = name == "data"    ? field::data
                 : name == "id"    ? field::id
                 : name == "event" ? field::event
                 : name == "retry" ? field::retry
                                   : field::ignored;
        if (!name.empty()) part_ = part::value;
        if (field_ == field::data) {
            if (has_data_) add_data("\n");
            has_data_ = true;
        }
    }

    void read_value()
    {
        if (part_ == part::space) {
            part_ = part::value;
            if (chunk_[at_] == ' ') {
                ++at_;
                return;
            }
        }
        const std::size_t end = line_end();
        const std::string_view piece = chunk_.substr(at_, end - at_);
        at_ = end;
        if (field_ == field::data) add_data(piece);
        else if (field_ != field::ignored) add_value(piece);
        if (end != chunk_.size()) take_line_end();
    }

    // A value that is too long is kept with one byte too many.
    void add_value(std::string_view piece)
    {
        const std::size_t room = (field_ == field::event ? type_limit : id_limit + 1) - value_.size();
        value_.append(piece.substr(0, room));
    }

    void add_data(std::string_view piece)
    {
        if (skipping_) return scanner_.feed(piece);
        if (piece.size() > limit_ - buffered()) {
            skipping_ = true;
            scanner_ = {};
            scanner_.feed(view_);
            scanner_.feed(data_);
            scanner_.feed(piece);
            view_ = {};
            std::string().swap(data_);
        } else if (buffered() == 0) {
            view_ = piece;
        } else {
            hold();
            data_.append(piece);
        }
    }

    // The chunk goes away, or a second piece follows: copies what was only pointed at.
    void hold()
    {
        data_.append(view_);
        view_ = {};
    }

    // True when the line was empty, which ends the event.
    bool end_line()
    {
        const bool ends_event = empty_line_;
        if (ends_event) {
            if (has_id_) last_id_ = next_id_;
            if (!has_data_) clear_event();
        } else if (field_ == field::event) {
            type_ = value_;
        } else if (field_ == field::id && value_.size() <= id_limit && value_.find('\0') == value_.npos) {
            next_id_ = value_;
            has_id_ = true;
        } else if (field_ == field::retry) {
            read_retry();
        }
        value_.clear();
        name_size_ = 0;
        part_ = part::name;
        field_ = field::ignored;
        empty_line_ = false;
        first_line_ = false;
        return ends_event;
    }

    void read_retry()
    {
        if (value_.empty() || value_.find_first_not_of("0123456789") != value_.npos) return;
        std::uint32_t value = 0;
        for (const char digit : value_) {
            value = std::min(longest_retry, value * 10 + static_cast<std::uint32_t>(digit - '0'));
        }
        retry_ = std::chrono::milliseconds(value);
    }

    void give(sse_event& out)
    {
        out.type = type_.empty() ? std::string_view("message") : std::string_view(type_);
        out.data = data_.empty() ? view_ : std::string_view(data_);
        out.id = last_id_;
        out.has_id = has_id_;
        out.oversized = skipping_;
        if (skipping_) out.facts = scanner_.facts();
        given_ = true;
    }

    void clear_event()
    {
        given_ = false;
        has_data_ = false;
        has_id_ = false;
        skipping_ = false;
        type_.clear();
        view_ = {};
        if (data_.capacity() > keep_at_most) std::string().swap(data_);
        data_.clear();
    }

    std::size_t limit_;

    std::string_view chunk_;
    std::size_t at_ = 0;
    std::size_t newline_ = 0;         // the next one at or behind `at_`, or one that is past and looked for again
    std::size_t carriage_return_ = 0; // likewise
    bool after_carriage_return_ = false;

    // The line.
    part part_ = part::name;
    field field_ = field::ignored;
    bool first_line_ = true;
    bool empty_line_ = false;
    bool line_ended_ = false;
    std::array<char, mark.size() + 5> name_{};
    std::size_t name_size_ = 0;
    std::string value_; // of a field other than data

    // The event.
    bool given_ = false; // to the caller, who still looks at it
    bool has_data_ = false;
    bool has_id_ = false;
    bool skipping_ = false; // its data is over the limit
    std::string type_;
    std::string_view view_; // the data while it is one piece of the chunk; else it is in `data_`
    std::string data_;
    rpc::oversize_scanner scanner_;

    // The stream.
    std::string next_id_; // takes effect at the end of the event
    std::string last_id_;
    std::optional<std::chrono::milliseconds> retry_;
};

/// Begins an event whose data, one line, the caller appends: JSON as comcp writes it has no line end in it. An empty
/// id or type writes no such field; neither may hold CR, LF or NUL. `end_sse_event` must follow.
inline void begin_sse_event(std::string& out, std::string_view id = {}, std::string_view type = {})
{
    if (!id.empty()) out.append("id: ").append(id) += '\n';
    if (!type.empty()) out.append("event: ").append(type) += '\n';
    out += "data: ";
}

inline void end_sse_event(std::string& out) { out += "\n\n"; }

/// Writes an event with any data. Its lines, which CR, LF or CR LF end, arrive joined by LF.
inline void write_sse_event(std::string& out, std::string_view data, std::string_view id = {},
                            std::string_view type = {})
{
    begin_sse_event(out, id, type);
    for (std::size_t at; (at = data.find_first_of("\r\n")) != data.npos;) {
        out.append(data.substr(0, at)).append("\ndata: ");
        data.remove_prefix(at + (data.substr(at).starts_with("\r\n") ? 2 : 1));
    }
    out += data;
    end_sse_event(out);
}

/// Writes the reconnection time that the peer should keep. Between events; not an event.
/// 2025-11-25, transports: a server should send it before it closes a connection whose stream goes on (E-36).
inline void write_sse_retry(std::string& out, std::chrono::milliseconds time)
{
    out.append("retry: ").append(std::to_string(std::max<std::chrono::milliseconds::rep>(time.count(), 0))) += "\n\n";
}

/// Writes an event with an id and empty data, so that the peer can resume from the very start of the stream.
/// 2025-11-25, transports: sent at once when a stream opens; only to peers of that revision, others choke on it (E-37).
inline void write_sse_priming(std::string& out, std::string_view id) { write_sse_event(out, {}, id); }

/// Writes a comment, which every peer ignores, so that nobody between takes the connection for dead. Between events.
inline void write_sse_keep_alive(std::string& out) { out += ": keep-alive\n\n"; }

} // namespace comcp::inline COMCP_ABI::http
