// SPDX-License-Identifier: MIT
// A stream of responses gives the same events in one piece and in pieces of any sizes; a head that was read is printed
// and read again as the same head. The first byte of the input seeds the sizes and chooses limits and method.
#include "../unit/http/events.hpp"
#include "pieces.hpp"

#include <comcp/http/print.hpp>
#include <comcp/http/response_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace
{

using namespace comcp;
using fuzz::require;

std::vector<std::string> events(std::string_view stream, const http_limits& limits, std::string_view method,
                                unsigned seed)
{
    http_test::recorder<http::response_parser> recorder(24, limits, method);
    fuzz::in_pieces(stream, seed, [&](std::string_view piece) { recorder.feed(piece); });
    recorder.eof();
    return recorder.lines;
}

void check_again(const http::response_head& head)
{
    http::response_head own = head;
    own.fields.clear();
    for (const http::field& item : head.fields) {
        if (!http::is_reserved_field(item.name)) own.fields.add(item.name, item.value);
    }
    std::string text;
    require(http::print(text, own).has_value());
    http::response_parser parser;
    const http::parse_step step = parser.step(text);
    if (step.what == http::parse_step::kind::failed) { // only for want of room: a reason was added, or a field
        require(parser.error().status == 431);
        return;
    }
    require(step.what == http::parse_step::kind::head && step.used == text.size());
    const http::response_head& again = parser.head();
    require(again.status == head.status && again.keep_alive == head.keep_alive);
    require(head.reason.empty() || again.reason == head.reason);
    const bool says_none = head.body == http::framing::none() && again.body == http::framing::bytes(0);
    require(again.body == head.body || says_none);
    http::fields rest = again.fields;
    for (const char* name : {"Content-Length", "Transfer-Encoding", "Connection"}) rest.erase(name);
    require(rest == own.fields);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::run(data, size, [](std::string_view stream, unsigned first) {
        http_limits limits;
        if (first % 2 == 1) {
            limits.line = 24;
            limits.fields = 100;
            limits.field_count = 4;
        }
        const std::string_view method = first % 8 < 2 ? "HEAD" : "POST";
        require(events(stream, limits, method, 0) == events(stream, limits, method, first + 1U));

        http::response_parser parser(limits, method);
        if (parser.step(stream).what == http::parse_step::kind::head) check_again(parser.head());
    });
}
