// SPDX-License-Identifier: MIT
// A stream gives the same events in one read and in reads of any sizes, holds no more than the limit, and what is
// written as an event is read back. The first byte of the input seeds the sizes.
#include "pieces.hpp"

#include <comcp/http/sse.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace
{

std::string print(const comcp::http::sse_event& got)
{
    std::string out = std::string(got.type) + '|' + std::string(got.data) + '|' + std::string(got.id);
    if (got.has_id) out += '#';
    if (got.blank()) out += '_';
    if (!got.oversized) return out;
    out += '!' + std::to_string(got.facts.bytes);
    if (got.facts.id_known) got.facts.id.write(out);
    return out;
}

std::vector<std::string> events(std::string_view stream, std::size_t limit, unsigned seed)
{
    comcp::http::sse_parser parser(limit);
    comcp::http::sse_event got;
    std::vector<std::string> out;
    fuzz::in_pieces(stream, seed, [&](std::string_view piece) {
        parser.feed(piece);
        while (parser.next(got)) out.push_back(print(got));
        fuzz::require(parser.buffered() <= limit);
    });
    out.push_back(std::string(parser.last_event_id()));
    if (parser.retry()) out.push_back(std::to_string(parser.retry()->count()));
    return out;
}

void read_back(std::string_view data)
{
    std::string bytes;
    comcp::http::write_sse_priming(bytes, "1");
    comcp::http::write_sse_keep_alive(bytes);
    comcp::http::write_sse_event(bytes, data, "2", "x");

    comcp::http::sse_parser parser;
    comcp::http::sse_event got;
    parser.feed(bytes);
    if (!parser.next(got) || !got.blank() || got.id != "1") std::abort();
    if (!parser.next(got) || got.type != "x" || got.id != "2") std::abort();
    std::string want;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (data[i] == '\r' && i + 1 < data.size() && data[i + 1] == '\n') continue;
        want += data[i] == '\r' ? '\n' : data[i];
    }
    if (got.data != want || parser.next(got)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::run(data, size, [](std::string_view stream, unsigned first) {
        for (const std::size_t limit : {std::size_t(4), std::size_t(30), std::size_t(100'000)}) {
            if (events(stream, limit, 0) != events(stream, limit, first + 1U)) std::abort();
        }
        read_back(stream);
    });
}
