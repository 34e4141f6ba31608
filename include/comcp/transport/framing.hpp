// SPDX-License-Identifier: MIT
//
// Cuts a stream of bytes into lines, one message each, before anything is decoded. A pure
// machine: whoever reads puts bytes in and takes frames out. Not for checking that a line is JSON (rpc/parse.hpp).
#pragma once

#include <comcp/config.hpp>
#include <comcp/limits.hpp>
#include <comcp/rpc/scan.hpp>

#include <boost/throw_exception.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// One line that is not blank, without its line end.
struct frame
{
    /// The line was over the limit: it was skipped, and `facts` tells what is known of it.
    bool oversized = false;
    std::string_view text; ///< valid until the next `prepare()`
    rpc::oversize_facts facts;
};

/// Lines from chunks. Where the chunks are cut makes no difference to the frames.
class line_reader
{
public:
    explicit line_reader(std::size_t limit = limits{}.message) : limit_(limit) {}

    line_reader(const line_reader&) = delete;
    line_reader& operator=(const line_reader&) = delete;

    /// Space for the next read; never empty. All frames must have been taken with `next()` before.
    std::span<char> prepare()
    {
        make_room();
        return {block_.get() + end_, capacity_ - end_};
    }

    /// The first `size` bytes of the space were filled.
    void commit(std::size_t size) { end_ += size; }

    /// Takes the next complete line; false when more bytes are needed.
    bool next(frame& out)
    {
        if (!skip_mark(false)) return false;
        while (begin_ != end_) {
            const char* const from = block_.get() + scanned_;
            const void* const newline = std::memchr(from, '\n', end_ - scanned_);
            if (!newline) {
                scanned_ = end_;
                if (over_limit({block_.get() + begin_, end_ - begin_})) skip(end_ - begin_);
                return false;
            }
            const std::size_t size =
                scanned_ + static_cast<std::size_t>(static_cast<const char*>(newline) - from) - begin_;
            if (take(size, 1, out)) return true;
        }
        return false;
    }

    /// At the end of input: takes what stands there without a newline, which is a message like any other if it is
    /// whole.
    bool finish(frame& out)
    {
        skip_mark(true);
        return (skipping_ || begin_ != end_) && take(end_ - begin_, 0, out);
    }

    /// The bytes that are held and not yet taken.
    std::size_t buffered() const noexcept { return end_ - begin_; }

private:
    static constexpr std::size_t chunk = 64 * 1024;
    static constexpr std::size_t least_room = chunk / 2;
    static constexpr std::size_t keep_at_most = 256 * 1024;

    struct freed
    {
        void operator()(char* block) const noexcept { std::free(block); }
    };

    // A CR at the end does not count: a newline may follow it in the next chunk.
    bool over_limit(std::string_view line) const { return skipping_ || line.size() - line.ends_with('\r') > limit_; }

    // Takes a line of `size` bytes and its line end; false when it is blank.
    bool take(std::size_t size, std::size_t line_end, frame& out)
    {
        std::string_view line(block_.get() + begin_, size);
        if (over_limit(line)) {
            skip(size);
            begin_ += line_end;
            scanned_ = begin_;
            out.oversized = true;
            out.text = {};
            out.facts = scanner_.facts();
            if (last_skipped_ == '\r') --out.facts.bytes;
            skipping_ = false;
            return true;
        }
        begin_ += size + line_end;
        scanned_ = begin_;
        // 2025-11-25, transports: messages end with a newline. A CR before it comes from text-mode pipes (FRAME 1, 2).
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(" \t\r") == line.npos) return false;
        out.oversized = false;
        out.text = line;
        return true;
    }

    // Hands bytes of a line that is over the limit to the scanner instead of holding them.
    void skip(std::size_t size)
    {
        if (!skipping_) scanner_ = {};
        skipping_ = true;
        if (size == 0) return;
        scanner_.feed({block_.get() + begin_, size});
        last_skipped_ = block_[begin_ + size - 1];
        begin_ += size;
        scanned_ = begin_;
    }

    // Skips a byte order mark at the very start of the stream; false while it is not known whether there is one.
    bool skip_mark(bool ended)
    {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        if (started_) return true;
        const std::string_view head(block_.get(), std::min(end_, mark.size()));
        if (head.size() < mark.size() && mark.starts_with(head) && !ended) return false;
        started_ = true;
        if (head == mark) begin_ = scanned_ = mark.size();
        return true;
    }

    void make_room()
    {
        const std::size_t held = end_ - begin_;
        if (!block_ || (capacity_ > keep_at_most && held < least_room)) replace(held);
        if (held == 0) moved_to_front();
        // Back to the front also when that moves less than was taken: a stream of large messages would otherwise walk
        // through, and touch, a block as large as the limit.
        if (begin_ >= std::max(held, keep_at_most) || (begin_ != 0 && capacity_ - end_ < least_room)) {
            std::memmove(block_.get(), block_.get() + begin_, held);
            moved_to_front();
        }
        if (capacity_ - end_ >= least_room) return;
        const std::size_t wanted = std::min(capacity_ * 2, limit_ + chunk);
        if (wanted <= capacity_) return;
        char* const grown = static_cast<char*>(std::realloc(block_.get(), wanted));
        if (!grown) boost::throw_exception(std::bad_alloc());
        static_cast<void>(block_.release());
        block_.reset(grown);
        capacity_ = wanted;
    }

    // The first block, or a small one again after a large message, with the bytes that are held. Not from `new`, which
    // would fill it with zeros.
    void replace(std::size_t held)
    {
        std::unique_ptr<char[], freed> fresh(static_cast<char*>(std::malloc(chunk)));
        if (!fresh) boost::throw_exception(std::bad_alloc());
        if (held != 0) std::memcpy(fresh.get(), block_.get() + begin_, held);
        block_ = std::move(fresh);
        capacity_ = chunk;
        moved_to_front();
    }

    void moved_to_front()
    {
        scanned_ -= begin_;
        end_ -= begin_;
        begin_ = 0;
    }

    std::size_t limit_;
    std::unique_ptr<char[], freed> block_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;   // of the line that is being read
    std::size_t scanned_ = 0; // up to here there is no newline in it
    std::size_t end_ = 0;
    bool started_ = false;  // the start of the stream is past
    bool skipping_ = false; // in a line that is over the limit
    char last_skipped_ = '\0';
    rpc::oversize_scanner scanner_;
};

} // namespace comcp::inline COMCP_ABI
