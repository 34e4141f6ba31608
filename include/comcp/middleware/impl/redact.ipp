// SPDX-License-Identifier: MIT
//
// See middleware/redact.hpp.
#pragma once

#include <comcp/detail/utf8.hpp>
#include <comcp/middleware/redact.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

COMCP_DECL char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
COMCP_DECL bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A key as it is compared.
COMCP_DECL std::string plain_key(std::string_view name)
{
    std::string out;
    for (const char c : name)
        if (c != '-' && c != '_' && c != ' ') out += lower(c);
    return out;
}

COMCP_DECL bool is_token_character(char c)
{
    const char l = lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

/// How many characters of a token begin at `at`.
COMCP_DECL std::size_t token_length(std::string_view text, std::size_t at)
{
    std::size_t end = at;
    while (end < text.size() && is_token_character(text[end])) ++end;
    return end - at;
}

/// Whether `mark`, in lower case, stands at `at` with a token of some length behind it.
COMCP_DECL bool marks_token(std::string_view text, std::size_t at, std::string_view mark, std::size_t length)
{
    if (text.size() - at < mark.size()) return false;
    for (std::size_t i = 0; i < mark.size(); ++i)
        if (lower(text[at + i]) != mark[i]) return false;
    return token_length(text, at + mark.size()) >= length;
}

COMCP_DECL bool looks_secret(std::string_view text)
{
    constexpr std::pair<std::string_view, std::size_t> marks[] = {
        {"bearer ", 8}, {"basic ", 16}, {"eyj", 30},   {"sk-", 16},   {"ghp_", 20},
        {"gho_", 20},   {"ghs_", 20},   {"xoxb-", 16}, {"xoxp-", 16}, {"github_pat_", 20},
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (at != 0 && is_token_character(text[at - 1]) && text[at - 1] != '=') continue; // inside of a word
        for (const auto& [mark, length] : marks)
            if (marks_token(text, at, mark, length)) return true;
    }
    return false;
}

/// One code point, or what stands for it in a log.
COMCP_DECL void append_log_character(std::string& out, std::string_view point)
{
    static constexpr char digits[] = "0123456789abcdef";
    const auto hex = [&](unsigned byte) {
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    };
    const auto first = static_cast<unsigned char>(point[0]);
    if (point.size() == 1) {
        if (first == '\n') out += "\\n";
        else if (first == '\r') out += "\\r";
        else if (first == '\t') out += "\\t";
        else if (first < 0x20 || first >= 0x7f) hex((out += "\\x", first)); // invalid UTF-8 too
        else out += point[0];
        return;
    }
    // C1 controls, and what terminals and viewers take for the end of a line or for a change of direction.
    const auto second = static_cast<unsigned char>(point[1]);
    const auto third = point.size() > 2 ? static_cast<unsigned char>(point[2]) : 0U;
    const bool c1 = first == 0xC2 && second < 0xA0;
    const bool general =
        first == 0xE2 && second == 0x80 && ((third >= 0xA8 && third <= 0xAE) || third == 0x8E || third == 0x8F);
    const bool isolate = first == 0xE2 && second == 0x81 && third >= 0xA6 && third <= 0xA9;
    if (c1) {
        out += "\\u00";
        hex(second);
    } else if (general || isolate) {
        out += "\\u20";
        hex(((second & 3U) << 6U) | (third & 63U));
    } else {
        out += point;
    }
}

/// Appends until `most` bytes are there; false when it had to stop.
COMCP_DECL bool append_log_text(std::string& out, std::string_view text, std::size_t most)
{
    while (!text.empty()) {
        if (out.size() >= most) return false;
        const std::size_t length = code_point_length(text);
        append_log_character(out, text.substr(0, length));
        text.remove_prefix(length);
    }
    return true;
}

/// Reads JSON, or what is taken for it, from left to right.
class redacting
{
public:
    redacting(const redaction& what, std::string_view json, std::size_t most, std::size_t depth)
        : what_(what),
          json_(json),
          most_(most),
          deepest_(depth)
    {}

    std::string run()
    {
        bool whole = true;
        while (whole && at_ < json_.size()) {
            const char c = json_[at_];
            if (c == '"') whole = string();
            else if (c == '{' || c == '[') whole = open();
            else whole = copy(c);
        }
        if (!whole) out_ += "... (" + std::to_string(json_.size()) + " bytes)";
        return std::move(out_);
    }

private:
    bool copy(char c)
    {
        if ((c == '}' || c == ']') && depth_ != 0) --depth_;
        const std::size_t length = is_json_space(c) ? 1 : code_point_length(json_.substr(at_));
        if (is_json_space(c)) { // between tokens: one space for all of it
            if (out_.size() >= most_) return false;
            if (!out_.empty() && out_.back() != ' ') out_ += ' ';
        } else if (!append_log_text(out_, json_.substr(at_, length), most_)) {
            return false;
        }
        at_ += length;
        return true;
    }

    bool open()
    {
        if (depth_ == deepest_) {
            const char closes = json_[at_] == '{' ? '}' : ']';
            const std::string_view left_out = json_[at_] == '{' ? "{..." : "[...";
            at_ = end_of_value(at_);
            return append_log_text(out_, left_out, most_) && (out_ += closes, true);
        }
        ++depth_;
        return append_log_text(out_, json_.substr(at_++, 1), most_);
    }

    /// A key, with its value when that is secret, or a string.
    bool string()
    {
        const std::size_t end = end_of_string(at_);
        const std::string_view source = json_.substr(at_, end - at_);
        std::size_t next = end;
        while (next < json_.size() && is_json_space(json_[next])) ++next;
        const bool is_key = next < json_.size() && json_[next] == ':';
        at_ = end;
        if (!is_key) {
            const bool hide = looks_secret(decoded(source.substr(0, most_ + 4096)));
            return append_log_text(out_, hide ? std::string_view("\"[secret]\"") : source, most_);
        }
        const std::string name = decoded(source);
        if (!append_log_text(out_, looks_secret(name) ? std::string_view("\"[secret]\"") : source, most_)) return false;
        if (!what_.is_secret_key(name)) return true;
        at_ = next + 1;
        while (at_ < json_.size() && is_json_space(json_[at_])) ++at_;
        at_ = end_of_value(at_);
        return append_log_text(out_, ":\"[secret]\"", most_);
    }

    std::size_t end_of_string(std::size_t at) const
    {
        for (++at; at < json_.size(); ++at) {
            if (json_[at] == '\\') ++at;
            else if (json_[at] == '"') return at + 1;
        }
        return json_.size();
    }

    std::size_t end_of_value(std::size_t at) const
    {
        std::size_t open = 0;
        for (; at < json_.size();) {
            const char c = json_[at];
            if (c == '"') {
                at = end_of_string(at);
                if (open == 0) return at;
                continue;
            }
            if (c == '{' || c == '[') {
                ++open;
            } else if (c == '}' || c == ']') {
                if (open == 0) return at; // that of the object around it
                if (--open == 0) return at + 1;
            } else if (open == 0 && c == ',') {
                return at;
            }
            ++at;
        }
        return json_.size();
    }

    /// The text that a string means; what is not ASCII does not matter here.
    static std::string decoded(std::string_view source)
    {
        std::string out;
        for (std::size_t i = 1; i < source.size(); ++i) {
            char c = source[i];
            if (c == '"') break;
            if (c == '\\' && i + 1 < source.size()) {
                c = source[++i];
                if (c == 'u') {
                    const unsigned value = four_digits(source.substr(i + 1));
                    i += std::min<std::size_t>(4, source.size() - i - 1);
                    c = value < 0x80 ? static_cast<char>(value) : '?';
                } else if (c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f') {
                    c = ' ';
                }
            }
            out += c;
        }
        return out;
    }

    static unsigned four_digits(std::string_view text)
    {
        unsigned value = 0;
        for (std::size_t i = 0; i < 4 && i < text.size(); ++i) {
            const char c = lower(text[i]);
            const bool digit = c >= '0' && c <= '9';
            if (!digit && !(c >= 'a' && c <= 'f')) return 0xffff;
            value = value * 16 + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
        }
        return value;
    }

    const redaction& what_;
    std::string_view json_;
    std::size_t most_;
    std::size_t deepest_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::string out_;
};

} // namespace detail

COMCP_DECL redaction::redaction()
    : keys_{"authorization", "token",  "password",   "passwd",    "passphrase", "secret",
            "apikey",        "cookie", "privatekey", "accesskey", "credential", "credentials"}
{}

COMCP_DECL redaction& redaction::key(std::string_view name)
{
    std::string plain = detail::plain_key(name);
    if (!plain.empty()) keys_.push_back(std::move(plain));
    return *this;
}

COMCP_DECL redaction& redaction::most(std::size_t bytes)
{
    most_ = bytes;
    return *this;
}

COMCP_DECL redaction& redaction::depth(std::size_t levels)
{
    depth_ = levels;
    return *this;
}

COMCP_DECL std::string redaction::apply(std::string_view json) const
{
    return detail::redacting(*this, json, most_, depth_).run();
}

COMCP_DECL bool redaction::is_secret_key(std::string_view name) const
{
    const std::string plain = detail::plain_key(name);
    if (plain == "progresstoken") return false;
    return std::any_of(keys_.begin(), keys_.end(), [&](const std::string& each) { return plain.ends_with(each); });
}

COMCP_DECL std::string log_text(std::string_view text, std::size_t most)
{
    std::string out = "\"";
    while (!text.empty() && out.size() <= most) {
        const std::size_t length = detail::code_point_length(text);
        if (text[0] == '"' || text[0] == '\\') out += '\\';
        detail::append_log_character(out, text.substr(0, length));
        text.remove_prefix(length);
    }
    return out + (text.empty() ? "\"" : "\"...");
}

} // namespace comcp::inline COMCP_ABI
