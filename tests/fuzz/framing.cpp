// SPDX-License-Identifier: MIT
// A stream gives the same frames in one read and in reads of any sizes. The first byte of the input seeds the sizes.
#include "pieces.hpp"

#include <comcp/transport/framing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace
{

std::string print(const comcp::frame& got)
{
    if (!got.oversized) return "=" + std::string(got.text);
    std::string out = "!" + std::to_string(got.facts.bytes) + (got.facts.object ? "o" : "");
    if (got.facts.id_present) out += "i";
    if (got.facts.id_known) got.facts.id.write(out);
    if (got.facts.has_method) out += "m" + got.facts.method;
    if (got.facts.has_result) out += "r";
    if (got.facts.has_error) out += "e";
    return out;
}

std::vector<std::string> frames(std::string_view stream, std::size_t limit, unsigned seed)
{
    comcp::line_reader reader(limit);
    comcp::frame got;
    std::vector<std::string> out;
    fuzz::sizes sizes(seed);
    while (!stream.empty()) {
        const std::span<char> space = reader.prepare();
        const std::size_t size = sizes.next(std::min(space.size(), stream.size()));
        if (space.empty()) std::abort();
        std::memcpy(space.data(), stream.data(), size);
        reader.commit(size);
        stream.remove_prefix(size);
        while (reader.next(got)) out.push_back(print(got));
        if (reader.buffered() > limit + 1) std::abort();
    }
    if (reader.finish(got)) out.push_back(print(got));
    if (reader.buffered() != 0) std::abort();
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::run(data, size, [](std::string_view stream, unsigned first) {
        for (const std::size_t limit : {std::size_t(4), std::size_t(16), std::size_t(200)}) {
            if (frames(stream, limit, 0) != frames(stream, limit, first + 1U)) std::abort();
        }
    });
}
