// SPDX-License-Identifier: MIT
//
// The last bytes of a text that may be endless, and how they are quoted in an error. Not a log: what is older is gone.
#pragma once

#include <comcp/detail/utf8.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// Keeps the last `capacity` bytes; holds at most twice as many, so that each byte is moved once on average.
class output_tail
{
public:
    explicit output_tail(std::size_t capacity) : capacity_(capacity) {}

    void append(std::string_view more)
    {
        if (more.size() > capacity_) more.remove_prefix(more.size() - capacity_);
        if (kept_.size() + more.size() > 2 * capacity_) kept_.erase(0, kept_.size() - (capacity_ - more.size()));
        kept_ += more;
    }

    std::string_view text() const
    {
        const std::string_view all(kept_);
        return all.substr(all.size() > capacity_ ? all.size() - capacity_ : 0);
    }

private:
    std::size_t capacity_;
    std::string kept_;
};

/// The end of `text` as one line that is safe in a log or on a terminal: at most about `most` bytes, whole lines where
/// possible, line ends shown as " | ", control characters and broken UTF-8 as "?".
inline std::string quote_tail(std::string_view text, std::size_t most)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    std::string made;
    if (text.size() > most) {
        text.remove_prefix(text.size() - most);
        const auto line = text.find('\n');
        if (line != std::string_view::npos) text.remove_prefix(line + 1);
        else
            while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) text.remove_prefix(1);
        made = "... ";
    }
    while (!text.empty()) {
        const std::size_t length = code_point_length(text);
        const std::string_view point = text.substr(0, length);
        text.remove_prefix(length);
        const auto lead = static_cast<unsigned char>(point[0]);
        const bool c1 = lead == 0xC2 && static_cast<unsigned char>(point.back()) < 0xA0; // U+0080 to U+009F
        if (point == "\n") made += " | ";
        else if (point == "\t") made += ' ';
        else if (point == "\r" && text.starts_with('\n')) continue;
        else if (lead < 0x20 || lead == 0x7F || (length == 1 && lead >= 0x80) || (length == 2 && c1)) made += '?';
        else made += point;
    }
    return made;
}

} // namespace comcp::inline COMCP_ABI::detail
