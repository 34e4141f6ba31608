// SPDX-License-Identifier: MIT
// What the fuzzers of stream parsers share: the same bytes in one piece, and in pieces of any sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz
{

inline void require(bool holds)
{
    if (!holds) std::abort();
}

/// The sizes of the pieces: with the seed 0 there is one piece, else each has 1 to 7 bytes.
class sizes
{
public:
    explicit sizes(unsigned seed) : seed_(seed) {}

    /// Of the next piece, where at most `left` bytes are left.
    std::size_t next(std::size_t left)
    {
        if (seed_ == 0) return left;
        seed_ = seed_ * 1103515245U + 12345U;
        return std::min<std::size_t>(left, 1 + (seed_ >> 16U) % 7);
    }

private:
    unsigned seed_;
};

/// Calls `feed` with each piece, which is gone afterwards, so that the sanitizer sees a read past its end or after it.
template <class Feed>
void in_pieces(std::string_view stream, unsigned seed, const Feed& feed)
{
    for (sizes of(seed); !stream.empty();) {
        const std::string piece(stream.substr(0, of.next(stream.size())));
        feed(piece);
        stream.remove_prefix(piece.size());
    }
}

/// The first byte of an input chooses how the rest is read; an empty input is none.
template <class Check>
int run(const std::uint8_t* data, std::size_t size, const Check& check)
{
    if (size != 0) check(std::string_view(reinterpret_cast<const char*>(data + 1), size - 1), unsigned{data[0]});
    return 0;
}

} // namespace fuzz
