// SPDX-License-Identifier: MIT
//
// The chunked transfer coding (RFC 9112 section 7.1): a decoder that gives the data as views into its input, and what
// writes chunks. Extensions are judged, bounded and ignored; trailer fields too.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/line.hpp>
#include <comcp/http/message.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// "No limit" for a body, spelled out: for an event stream, each event of which has its own.
inline constexpr std::uint64_t unlimited_body = std::numeric_limits<std::uint64_t>::max();

namespace detail
{

/// The number of leading characters that can stand in a token.
constexpr std::size_t token_size(std::string_view text) noexcept
{
    std::size_t size = 0;
    while (size < text.size() && is(text[size], token_char)) ++size;
    return size;
}

/// The size of the quoted string in front of `text`, with its quotes; 0 when there is none.
constexpr std::size_t quoted_size(std::string_view text) noexcept
{
    if (!text.starts_with('"')) return 0;
    for (std::size_t i = 1; i < text.size() && is(text[i], value_char); ++i) {
        if (text[i] == '"') return i + 1;
        if (text[i] == '\\' && (++i == text.size() || !is(text[i], value_char))) return 0;
    }
    return 0;
}

/// `*( ";" name [ "=" value ] )`. The blanks that RFC 9112 lets a reader bear are refused: nobody writes them.
constexpr bool valid_chunk_extensions(std::string_view text) noexcept
{
    while (!text.empty()) {
        if (text[0] != ';') return false;
        text.remove_prefix(1);
        const std::size_t name = token_size(text);
        if (name == 0) return false;
        text.remove_prefix(name);
        if (!text.starts_with('=')) continue;
        text.remove_prefix(1);
        const std::size_t value = std::max(token_size(text), quoted_size(text));
        if (value == 0) return false;
        text.remove_prefix(value);
    }
    return true;
}

} // namespace detail

/// Chunks in, data out. Where the input is cut makes no difference to the data and to the end.
class chunked_decoder
{
public:
    /// `limit` is that of the data, in bytes.
    explicit chunked_decoder(const http_limits& limits = {}, std::uint64_t limit = unlimited_body)
        : extensions_most_(limits.line),
          limit_(limit),
          trailer_(limits)
    {}

    /// The limit of all data, in bytes. A chunk that would pass it fails before its data is given: 413.
    void limit(std::uint64_t bytes) noexcept { limit_ = bytes; }

    /// Never says `head`.
    parse_step step(std::string_view input)
    {
        std::string_view rest = input;
        std::string_view data;
        const parse_step::kind what = advance(rest, data);
        return {what, input.size() - rest.size(), data};
    }

    const parse_error& error() const noexcept { return error_; }

    /// Ready for the next body, with the same limit.
    void reset()
    {
        state_ = state::size;
        extensions_ = 0;
        left_ = received_ = 0;
        error_ = {};
        lines_.clear();
        trailer_.clear();
    }

private:
    enum class state : std::uint8_t {
        size,
        data,
        data_cr,
        data_lf,
        trailer,
        done,
        failed,
    };
    using kind = parse_step::kind;

    static constexpr std::size_t most_digits = 16; // what an uint64_t holds

    kind advance(std::string_view& input, std::string_view& data)
    {
        for (;;) {
            switch (state_) {
            case state::size:
                if (const std::optional<kind> end = read_size(input)) return *end;
                break;
            case state::data:
                if (input.empty()) return kind::need_more;
                data = input.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size())));
                input.remove_prefix(data.size());
                left_ -= data.size();
                if (left_ == 0) state_ = state::data_cr;
                return kind::body;
            case state::data_cr:
            case state::data_lf:
                if (input.empty()) return kind::need_more;
                if (input[0] != (state_ == state::data_cr ? '\r' : '\n')) {
                    return fail_with({400, "the data of a chunk is not followed by CRLF"});
                }
                input.remove_prefix(1);
                state_ = state_ == state::data_cr ? state::data_lf : state::size;
                break;
            case state::trailer:
                if (const std::optional<kind> end = read_trailer(input)) return *end;
                break;
            case state::done: return kind::done;
            case state::failed: return kind::failed;
            }
        }
    }

    std::optional<kind> read_size(std::string_view& input)
    {
        std::string_view line;
        switch (lines_.take(input, most_digits + extensions_most_ - extensions_, line)) {
        case detail::crlf_lines::got::more: return kind::need_more;
        case detail::crlf_lines::got::too_long: return fail_with({400, "chunk extensions are over the limit"});
        case detail::crlf_lines::got::bad_end: return fail_with({400, "a chunk's size line ends without CR"});
        case detail::crlf_lines::got::line: break;
        }
        std::size_t digits = 0;
        std::uint64_t size = 0;
        for (; digits < line.size() && detail::hex_value(line[digits]) < 16; ++digits) {
            if (digits == most_digits) return fail_with({400, "a chunk's size has more than 16 digits"});
            size = size << 4U | detail::hex_value(line[digits]);
        }
        if (digits == 0) return fail_with({400, "a chunk's size is not a hexadecimal number"});
        const std::string_view extensions = line.substr(digits);
        if (extensions.size() > extensions_most_ - extensions_) {
            return fail_with({400, "chunk extensions are over the limit"});
        }
        extensions_ += extensions.size();
        if (!detail::valid_chunk_extensions(extensions)) return fail_with({400, "bad chunk extensions"});
        if (size > limit_ - std::min(received_, limit_)) return fail_with({413, "the body is over the limit"});
        received_ += size;
        left_ = size;
        state_ = size == 0 ? state::trailer : state::data;
        return std::nullopt;
    }

    std::optional<kind> read_trailer(std::string_view& input)
    {
        field item;
        switch (trailer_.take(lines_, input, item, error_)) {
        case detail::field_lines::got::more: return kind::need_more;
        case detail::field_lines::got::failed: return fail_with(error_);
        case detail::field_lines::got::end:
            lines_.clear();
            state_ = state::done;
            return std::nullopt;
        case detail::field_lines::got::field: break;
        }
        // RFC 9110 section 6.5.1: what frames or routes a message has no place here.
        for (const std::string_view name :
             {"Content-Length", "Transfer-Encoding", "Host", "Connection", "Proxy-Connection", "Upgrade"}) {
            if (equal_ignoring_case(item.name, name)) return fail_with({400, "a trailer field belongs into the head"});
        }
        return std::nullopt;
    }

    kind fail_with(const parse_error& error)
    {
        error_ = error;
        state_ = state::failed;
        return kind::failed;
    }

    state state_ = state::size;
    std::size_t extensions_most_;
    std::size_t extensions_ = 0; // bytes of them so far
    std::uint64_t limit_;
    std::uint64_t received_ = 0; // of data, announced
    std::uint64_t left_ = 0;     // of the chunk
    parse_error error_;
    detail::crlf_lines lines_;
    detail::field_lines trailer_;
};

/// Begins a chunk whose size is not known yet, at the end of `out`; append the data, then call `end_chunk` with what
/// this returned.
inline std::size_t begin_chunk(std::string& out)
{
    out += "00000000\r\n";
    return out.size();
}

/// Ends a chunk that begins at `begun`. Without data there is no chunk: it would end the body. At most 4 GiB - 1.
inline void end_chunk(std::string& out, std::size_t begun)
{
    std::size_t size = out.size() - begun;
    if (size == 0) {
        out.resize(begun - 10);
        return;
    }
    for (std::size_t i = 3; size != 0; ++i, size >>= 4U) out[begun - i] = "0123456789abcdef"[size & 15U];
    out += "\r\n";
}

/// Writes a chunk with that data; nothing when there is none.
inline void append_chunk(std::string& out, std::string_view data)
{
    const std::size_t begun = begin_chunk(out);
    out += data;
    end_chunk(out, begun);
}

/// What ends a chunked body.
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

} // namespace comcp::inline COMCP_ABI::http
