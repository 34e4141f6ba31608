// SPDX-License-Identifier: MIT
// A stream of requests gives the same events in one piece and in pieces of any sizes; a head that was read is printed
// and read again as the same head. The first byte of the input seeds the sizes and chooses the limits.
#include "../unit/http/events.hpp"
#include "pieces.hpp"

#include <comcp/http/print.hpp>
#include <comcp/http/request_parser.hpp>

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

std::vector<std::string> events(std::string_view stream, const http_limits& limits, unsigned seed)
{
    http_test::recorder<http::request_parser> recorder(24, limits);
    fuzz::in_pieces(stream, seed, [&](std::string_view piece) { recorder.feed(piece); });
    return recorder.lines;
}

void check_again(const http::request_head& head)
{
    http::request_head own = head;
    own.fields.clear();
    for (const http::field& item : head.fields) {
        if (!http::is_reserved_field(item.name)) own.fields.add(item.name, item.value);
    }
    std::string text;
    const auto printed = http::print(text, own);
    require(printed.has_value() == (head.target != "*"));
    if (!printed) return;
    http::request_parser parser;
    const http::parse_step step = parser.step(text);
    if (step.what ==
        http::parse_step::kind::failed) { // only for want of room: the host may be longer in its usual form
        require(parser.error().status == 414 || parser.error().status == 431);
        return;
    }
    require(step.what == http::parse_step::kind::head && step.used == text.size());
    const http::request_head& again = parser.head();
    require(again.method == head.method && again.target == head.target && again.host == head.host);
    const bool says_none = head.body == http::framing::none() && again.body == http::framing::bytes(0);
    require(again.body == head.body || says_none);
    require(again.expects_continue == head.expects_continue && again.keep_alive == head.keep_alive);
    http::fields rest = again.fields;
    for (const char* name : {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect"}) rest.erase(name);
    require(rest == own.fields);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::run(data, size, [](std::string_view stream, unsigned first) {
        http_limits limits;
        if (first % 2 == 1) {
            limits.line = 32;
            limits.fields = 100;
            limits.field_count = 4;
        }
        require(events(stream, limits, 0) == events(stream, limits, first + 1U));

        http::request_parser parser(limits);
        if (parser.step(stream).what == http::parse_step::kind::head) check_again(parser.head());
    });
}
