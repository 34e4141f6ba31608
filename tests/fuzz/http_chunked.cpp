// SPDX-License-Identifier: MIT
// A chunked body gives the same data, the same end and the same error in one piece and in pieces of any sizes; data
// that was read is written and read again. The first byte of the input seeds the sizes.
#include "pieces.hpp"

#include <comcp/http/chunked.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace
{

using namespace comcp;
using fuzz::require;
using kind = http::parse_step::kind;

struct decoded
{
    kind end = kind::need_more;
    std::string data;
    std::string_view error;
    std::size_t used = 0; // when it is done

    bool operator==(const decoded&) const = default;
};

decoded decode(std::string_view input, const http_limits& limits, unsigned seed)
{
    constexpr std::uint64_t limit = 64;
    http::chunked_decoder decoder(limits, limit);
    decoded out;
    std::size_t used = 0;
    fuzz::sizes sizes(seed);
    while (true) {
        const std::string copy(input.substr(0, sizes.next(input.size()))); // so that the sanitizer sees its end
        const http::parse_step step = decoder.step(copy);
        require(step.used <= copy.size() && step.body.size() <= step.used);
        out.data += step.body;
        require(out.data.size() <= limit);
        used += step.used;
        input.remove_prefix(step.used);
        if (step.what == kind::body || (step.what == kind::need_more && !input.empty())) continue;
        out.end = step.what;
        if (step.what == kind::failed) out.error = decoder.error().text;
        if (step.what == kind::done) out.used = used;
        return out;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::run(data, size, [](std::string_view input, unsigned first) {
        http_limits limits;
        if (first % 2 == 1) {
            limits.line = 8;
            limits.fields = 24;
            limits.field_count = 2;
        }
        const decoded whole = decode(input, limits, 0);
        require(whole == decode(input, limits, first + 1U));

        std::string written;
        for (std::size_t at = 0; at < whole.data.size(); at += 5) {
            http::append_chunk(written, std::string_view(whole.data).substr(at, 5));
        }
        written += http::last_chunk;
        const decoded again = decode(written, {}, 0);
        require(again.end == kind::done && again.data == whole.data && again.used == written.size());
    });
}
