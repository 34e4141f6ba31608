// SPDX-License-Identifier: MIT
//
// Looks at a message that is over the size limit while it is skipped, so that it can still be answered by its id or
// fail the one call that it answers. Keeps the members of the envelope that matter and nothing of the rest, whatever
// the size. Does not check the message: of a broken one the facts are what was seen until it broke.
#pragma once

#include <comcp/config.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/rpc/id.hpp>
#include <comcp/rpc/oversize.hpp>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::rpc
{

/// Reads a message in chunks of any size.
class oversize_scanner
{
public:
    void feed(std::string_view chunk)
    {
        facts_.bytes += chunk.size();
        const char* at = chunk.data();
        const char* const end = at + chunk.size();
        while (at != end) at = quoted_ ? inside_string(at, end) : depth_ > 1 ? nested(at, end) : envelope(at, end);
    }

    const oversize_facts& facts() const noexcept { return facts_; }

private:
    static constexpr std::size_t id_limit = 256;
    static constexpr std::size_t method_limit = 128;
    static constexpr std::size_t key_limit = 40; // "method" with each letter as \u006d has 36 bytes

    // Where the scan is in the outermost object; deeper there are only strings and brackets.
    enum class place { start, key, colon, value, after_value, end };

    enum class field { other, id, method, result, error };

    // From within a string to behind its closing quote or to the end of the chunk.
    const char* inside_string(const char* at, const char* end)
    {
        const char* const begin = at;
        if (escaped_) {
            escaped_ = false;
            ++at;
        }
        // Each byte is looked at once for a quote and once for a backslash, however many of them there are.
        while (at != end) {
            const char* const quote = find(at, end, '"');
            const char* backslash = find(at, quote, '\\');
            while (backslash != quote) {
                if (backslash + 1 == end) { // the escaped byte is in the next chunk
                    escaped_ = true;
                    keep(begin, end);
                    return end;
                }
                at = backslash + 2;
                if (at > quote) break; // that quote was escaped
                backslash = find(at, quote, '\\');
            }
            if (backslash != quote) continue;
            at = quote;
            if (at == end) break;
            ++at;
            quoted_ = false;
            keep(begin, at);
            if (depth_ == 1) string_ended();
            return at;
        }
        keep(begin, end);
        return end;
    }

    // Inside a member's object or array: only strings and brackets matter.
    const char* nested(const char* at, const char* end)
    {
        for (; at != end; ++at) {
            switch (*at) {
            case '"': quoted_ = true; return at + 1;
            case '{':
            case '[': ++depth_; break;
            case '}':
            case ']':
                if (--depth_ == 1) return at + 1;
                break;
            default: break;
            }
        }
        return end;
    }

    // One byte between the members of the outermost object, or before it.
    const char* envelope(const char* at, const char* end)
    {
        const char c = *at;
        const bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (scalar_ && (space || c == ',' || c == '}')) scalar_ended();
        if (space) return at + 1;
        switch (place_) {
        case place::start:
            facts_.object = c == '{';
            depth_ = 1;
            place_ = facts_.object ? place::key : place::end;
            break;
        case place::key:
            if (c == '"') begin_string(key_limit);
            else if (c == '}') place_ = place::end;
            break;
        case place::colon:
            if (c == ':') place_ = place::value;
            break;
        case place::value: value_begins(c); break;
        case place::after_value:
            if (scalar_) keep(at, at + 1);
            else if (c == ',') place_ = place::key;
            else if (c == '}') place_ = place::end;
            break;
        case place::end: return end; // no JSON, or behind it
        }
        return at + 1;
    }

    void value_begins(char c)
    {
        const bool null = c == 'n';
        place_ = place::after_value;
        switch (field_) {
        case field::id:
            facts_.id_present = true;
            facts_.id_known = false;
            break;
        case field::method:
            facts_.has_method = c == '"';
            facts_.method.clear();
            break;
        case field::result: facts_.has_result = !null; break;
        case field::error: facts_.has_error = !null; break;
        case field::other: break;
        }
        if (c == '"') {
            begin_string(field_ == field::id ? id_limit : field_ == field::method ? method_limit : 0);
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else {
            scalar_ = true;
            begin_text(field_ == field::id ? id_limit : 0);
            keep(&c, &c + 1);
        }
    }

    void begin_text(std::size_t room)
    {
        text_.clear();
        room_ = room;
        fits_ = room != 0;
    }

    void begin_string(std::size_t room)
    {
        quoted_ = true;
        begin_text(room == 0 ? 0 : room + 2); // with its quotes
        text_ = '"';
    }

    void keep(const char* from, const char* to)
    {
        if (!fits_) return;
        const auto size = static_cast<std::size_t>(to - from);
        fits_ = text_.size() + size <= room_;
        if (fits_) text_.append(from, size);
    }

    // A string of the envelope, kept with its quotes if it had room.
    void string_ended()
    {
        std::optional<std::string> text;
        if (fits_) {
            // Boost.JSON checks what we would send back: escapes, control characters, UTF-8.
            if (auto value = parse_json(text_, 1)) text.emplace(value->get_string().data(), value->get_string().size());
        }
        if (place_ == place::key) {
            place_ = place::colon;
            field_ = !text               ? field::other
                     : *text == "id"     ? field::id
                     : *text == "method" ? field::method
                     : *text == "result" ? field::result
                     : *text == "error"  ? field::error
                                         : field::other;
        } else if (field_ == field::id && text) {
            facts_.id = rpc::id::string(*std::move(text));
            facts_.id_known = true;
        } else if (field_ == field::method && text) {
            facts_.method = *std::move(text);
        }
        fits_ = false;
    }

    void scalar_ended()
    {
        scalar_ = false;
        if (field_ != field::id || !fits_) return;
        if (std::optional<rpc::id> number = rpc::id::from_number(text_)) {
            facts_.id = *std::move(number);
            facts_.id_known = true;
        }
        fits_ = false;
    }

    static const char* find(const char* from, const char* to, char what)
    {
        const void* const found = std::memchr(from, what, static_cast<std::size_t>(to - from));
        return found ? static_cast<const char*>(found) : to;
    }

    oversize_facts facts_;
    std::size_t depth_ = 0;
    place place_ = place::start;
    field field_ = field::other;
    bool quoted_ = false;
    bool escaped_ = false; // the chunk ended behind a backslash
    bool scalar_ = false;  // in a number or word of the outermost object
    bool fits_ = false;
    std::size_t room_ = 0;
    std::string text_; // the key or value that is being read, as far as it matters
};

} // namespace comcp::inline COMCP_ABI::rpc
