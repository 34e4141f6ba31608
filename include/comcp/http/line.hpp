// SPDX-License-Identifier: MIT
//
// The lines of HTTP: cut at CRLF out of chunks, and field lines split into name and value. Copies only lines that a
// chunk boundary cuts. For the parsers beside it; lines of stdio and of event streams have other rules.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/message.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

/// What the parsers keep for the next message instead of giving it back, for each of their buffers.
inline constexpr std::size_t keep_at_most = 1024;

class crlf_lines
{
public:
    enum class got {
        line,
        more,     // all input was taken
        too_long, // the line, without its end, is over the limit
        bad_end,  // LF without CR
    };

    /// Takes a line off `input`; `line` is it without its end, and valid until the next call.
    got take(std::string_view& input, std::size_t limit, std::string_view& line)
    {
        if (given_) clear();
        const std::size_t newline = input.find('\n');
        const std::string_view piece = input.substr(0, newline);
        const char last = !piece.empty() ? piece.back() : !cut_.empty() ? cut_.back() : '\0';
        const bool cr = last == '\r';
        // Judged before the piece is kept. A CR at the end may belong to the line end.
        const std::size_t size = cut_.size() + piece.size() - (cr ? 1 : 0);
        if (size > limit) return got::too_long;
        if (newline == input.npos || !cut_.empty()) cut_ += piece;
        input.remove_prefix(newline == input.npos ? piece.size() : piece.size() + 1);
        if (newline == input.npos) return got::more;
        if (!cr) return got::bad_end;
        given_ = true;
        line = (cut_.empty() ? piece : std::string_view(cut_)).substr(0, size);
        return got::line;
    }

    /// A part of a line has come.
    bool begun() const noexcept { return !given_ && !cut_.empty(); }

    /// Forgets the line that was begun or given.
    void clear()
    {
        given_ = false;
        cut_.clear();
        if (cut_.capacity() > keep_at_most) std::string().swap(cut_); // an assignment would keep the memory
    }

private:
    std::string cut_;    // the begin of a line whose end has not come yet
    bool given_ = false; // the line of the last call may lie in cut_
};

/// `HTTP/1.1` or `HTTP/1.0`.
inline parse_error read_version(std::string_view text, version& out)
{
    constexpr std::string_view name = "HTTP/";
    const bool looks_right =
        text.size() == 8 && text.starts_with(name) && is_digit(text[5]) && text[6] == '.' && is_digit(text[7]);
    if (!looks_right) return {400, "not an HTTP version"};
    if (text[5] != '1' || text[7] > '1') return {505, "an HTTP version other than 1.1 and 1.0"};
    out = text[7] == '1' ? version::http_1_1 : version::http_1_0;
    return {};
}

/// Splits a field line. The text says what is wrong with it; it is empty for a good line.
inline std::string_view split_field(std::string_view line, field& out)
{
    if (is_blank(line.front())) return "a field is continued on a second line";
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return "a field line has no colon";
    out = {line.substr(0, colon), trim(line.substr(colon + 1))};
    if (!valid_name(out.name)) return "a field name has a blank or another character that is not allowed";
    if (!valid_value(out.value)) return "a field value has a control character";
    // Some parsers take a tab at the end as a part of the value, and then find no length and no coding.
    if ((equal_ignoring_case(out.name, "Content-Length") || equal_ignoring_case(out.name, "Transfer-Encoding")) &&
        line.find('\t', colon) != line.npos) {
        return "a tab beside Content-Length or Transfer-Encoding";
    }
    return {};
}

/// Field lines up to the empty line that ends them, within the limits.
class field_lines
{
public:
    explicit field_lines(const http_limits& limits) : limits_(limits) {}

    enum class got {
        field, // valid until the next call
        end,   // the empty line was taken
        more,
        failed,
    };

    got take(crlf_lines& lines, std::string_view& input, field& out, parse_error& error)
    {
        constexpr std::size_t line_end = 2;
        const std::size_t left = limits_.fields - size_;
        std::string_view line;
        switch (lines.take(input, left > line_end ? left - line_end : 0, line)) {
        case crlf_lines::got::more: return got::more;
        case crlf_lines::got::too_long: error = {431, "the fields are over the limit"}; return got::failed;
        case crlf_lines::got::bad_end: error = {400, "a line ends without CR"}; return got::failed;
        case crlf_lines::got::line: break;
        }
        if (line.empty()) return got::end;
        if (count_ == limits_.field_count) {
            error = {431, "there are too many fields"};
            return got::failed;
        }
        ++count_;
        size_ += line.size() + line_end;
        const std::string_view wrong = split_field(line, out);
        if (wrong.empty()) return got::field;
        error = {400, wrong};
        return got::failed;
    }

    void clear() noexcept { size_ = count_ = 0; }

private:
    http_limits limits_;
    std::size_t size_ = 0;
    std::size_t count_ = 0;
};

/// The lines of a head: one that begins it, and fields up to the empty line.
class head_lines
{
public:
    /// That many empty lines before the first one are skipped.
    explicit head_lines(const http_limits& limits, int empty_lines = 0)
        : most_(limits.line),
          most_empty_(empty_lines),
          fields_(limits)
    {}

    enum class got {
        end, // the empty line was taken
        more,
        failed,
    };

    /// Adds the fields to `into` as they come. `read_first(line)` says what is wrong with the first line, `too_long`
    /// what is wrong with one over its limit.
    template <class ReadFirst>
    got take(std::string_view& input, fields& into, parse_error& error, const parse_error& too_long,
             const ReadFirst& read_first)
    {
        while (!begun_) {
            std::string_view line;
            switch (lines_.take(input, most_, line)) {
            case crlf_lines::got::more: return got::more;
            case crlf_lines::got::too_long: error = too_long; return got::failed;
            case crlf_lines::got::bad_end: error = {400, "a line ends without CR"}; return got::failed;
            case crlf_lines::got::line: break;
            }
            if (line.empty() && empty_ < most_empty_) {
                ++empty_;
                continue;
            }
            error = read_first(line);
            if (error) return got::failed;
            begun_ = true;
        }
        for (field item;;) {
            switch (fields_.take(lines_, input, item, error)) {
            case field_lines::got::field: into.add(item.name, item.value); break;
            case field_lines::got::more: return got::more;
            case field_lines::got::failed: return got::failed;
            case field_lines::got::end: lines_.clear(); return got::end;
            }
        }
    }

    /// A byte of the head has come, skipped lines apart.
    bool begun() const noexcept { return begun_ || lines_.begun(); }

    void clear()
    {
        begun_ = false;
        empty_ = 0;
        lines_.clear();
        fields_.clear();
    }

private:
    std::size_t most_;
    int most_empty_;
    int empty_ = 0;
    bool begun_ = false;
    crlf_lines lines_;
    field_lines fields_;
};

/// Empties a head for the next message; of its memory a little is kept.
template <class Head>
void empty_head(Head& head)
{
    fields kept = std::exchange(head, Head()).fields;
    kept.clear(2 * keep_at_most);
    head.fields = std::move(kept);
}

} // namespace comcp::inline COMCP_ABI::http::detail
