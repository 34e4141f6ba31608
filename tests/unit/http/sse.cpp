// SPDX-License-Identifier: MIT
#include <comcp/http/sse.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using comcp::http::sse_event;
using comcp::http::sse_parser;

namespace
{

struct got
{
    std::string type;
    std::string data;
    std::string id;
    bool has_id = false;

    bool operator==(const got&) const = default;
};

struct stream
{
    std::vector<got> events;
    std::string last_id;
    long long retry = -1;

    bool operator==(const stream&) const = default;
};

// The text stands in parentheses when Catch prints it.
std::ostream& operator<<(std::ostream& out, const stream& s)
{
    for (const got& e : s.events) out << '[' << e.type << '|' << e.data << '|' << e.id << '|' << e.has_id << ']';
    return out << " last " << s.last_id << " retry " << s.retry;
}

// Feeds a copy of the chunk that dies at once, so that the sanitizer sees a view that is kept too long.
void feed(sse_parser& parser, std::string_view chunk, std::vector<got>& events)
{
    const auto copy = std::make_unique<char[]>(chunk.size() + 1);
    std::memcpy(copy.get(), chunk.data(), chunk.size());
    parser.feed({copy.get(), chunk.size()});
    sse_event event;
    while (parser.next(event)) {
        std::string data(event.data);
        if (event.oversized) data = "oversized " + std::to_string(event.facts.bytes);
        events.push_back({std::string(event.type), data, std::string(event.id), event.has_id});
    }
}

stream finish(const sse_parser& parser, std::vector<got> events)
{
    return {std::move(events), std::string(parser.last_event_id()), parser.retry() ? parser.retry()->count() : -1};
}

stream parse(std::string_view bytes, std::size_t limit = 1000)
{
    sse_parser parser(limit);
    std::vector<got> events;
    feed(parser, bytes, events);
    return finish(parser, std::move(events));
}

stream parse_bytewise(std::string_view bytes, std::size_t limit = 1000)
{
    sse_parser parser(limit);
    std::vector<got> events;
    for (std::size_t i = 0; i < bytes.size(); ++i) feed(parser, bytes.substr(i, 1), events);
    return finish(parser, std::move(events));
}

// In one piece, byte by byte, and cut in two at every point.
stream parse_all_ways(std::string_view bytes, std::size_t limit = 1000)
{
    const stream whole = parse(bytes, limit);
    CHECK(parse_bytewise(bytes, limit) == whole);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        sse_parser parser(limit);
        std::vector<got> events;
        feed(parser, bytes.substr(0, cut), events);
        feed(parser, bytes.substr(cut), events);
        CAPTURE(cut);
        CHECK(finish(parser, std::move(events)) == whole);
    }
    return whole;
}

got message(std::string data) { return {"message", std::move(data), "", false}; }

// The algorithm of the WHATWG once more, on the whole input and word for word, to compare with.
stream reference(std::string_view bytes)
{
    stream out;
    std::string data, type, id_buffer;
    bool has_id = false;
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    std::string line;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != '\r' && bytes[i] != '\n') {
            line += bytes[i];
            continue;
        }
        if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') ++i;
        if (line.empty()) {
            out.last_id = id_buffer;
            if (!data.empty()) {
                data.pop_back();
                out.events.push_back({type.empty() ? "message" : type, data, id_buffer, has_id});
            }
            data.clear();
            type.clear();
            has_id = false;
        } else {
            const std::size_t colon = line.find(':');
            const std::string field = line.substr(0, colon);
            std::string value = colon == line.npos ? "" : line.substr(colon + 1);
            if (value.starts_with(' ')) value.erase(0, 1);
            if (field == "event") {
                type = value;
            } else if (field == "data") {
                data += value + '\n';
            } else if (field == "id" && value.find('\0') == value.npos) {
                id_buffer = value;
                has_id = true;
            } else if (field == "retry" && !value.empty() &&
                       std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) {
                out.retry = value.size() > 8 ? 3'600'000 : std::min(std::stoll(value), 3'600'000LL);
            }
        }
        line.clear();
    }
    return out;
}

} // namespace

TEST_CASE("SSE 77: lines that end with CR LF give an event at once", "[sse]")
{
    const stream s = parse_all_ways("event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n");
    CHECK(s.events == std::vector{message(R"({"jsonrpc":"2.0","id":1,"result":{}})")});
}

TEST_CASE("SSE 78: LF, CR, CR LF and mixes of them end a line, and a lone CR does not wait for what follows", "[sse]")
{
    CHECK(parse_all_ways("data: {}\r\r").events == std::vector{message("{}")});
    CHECK(parse_all_ways("data: a\n\rdata: b\r\n\ndata: c\r\r\n").events ==
          std::vector{message("a"), message("b"), message("c")});
    CHECK(parse_all_ways("data: a\r\n\r\n\r\n\n\rdata: b\n\n").events == std::vector{message("a"), message("b")});
    CHECK(parse_all_ways("data: a\r\ndata: b\n\r\n").events == std::vector{message("a\nb")});
}

TEST_CASE("SSE 79: data lines are joined by LF", "[sse]")
{
    CHECK(parse_all_ways("data: {\"jsonrpc\":\"2.0\",\"id\":2,\ndata: \"result\":{}}\n\n").events ==
          std::vector{message("{\"jsonrpc\":\"2.0\",\"id\":2,\n\"result\":{}}")});
    CHECK(parse_all_ways("data: a\ndata\ndata:\ndata: b\n\n").events == std::vector{message("a\n\n\nb")});
    CHECK(parse_all_ways("data:\ndata: b\n\n").events == std::vector{message("\nb")});
}

TEST_CASE("SSE 80: the priming event brings its id and time, and is seen to hold no message", "[sse]")
{
    const stream s = parse_all_ways("id: 7\nretry: 500\ndata:\n\ndata: {}\n\n");
    CHECK(s.events == std::vector<got>{{"message", "", "7", true}, {"message", "{}", "7", false}});
    CHECK(s.last_id == "7");
    CHECK(s.retry == 500);
    CHECK(parse_all_ways("data: \n\n").events == std::vector{message("")});

    sse_event event;
    sse_parser parser;
    parser.feed("data: \n\ndata\n\ndata:  \ndata:\n\ndata: 0\n\n");
    for (bool blank : {true, true, true, false}) {
        REQUIRE(parser.next(event));
        CHECK(event.blank() == blank);
    }
    CHECK_FALSE(parser.next(event));
}

TEST_CASE("SSE 81: only CR and LF end a line", "[sse]")
{
    for (const std::string_view other :
         {"\xE2\x80\xA8"sv, "\xE2\x80\xA9"sv, "\xC2\x85"sv, "\x0B"sv, "\x0C"sv, "\0"sv}) {
        const std::string data = "{\"t\":\"x" + std::string(other) + "y\"}";
        CHECK(parse_all_ways("data: " + data + "\n\n").events == std::vector{message(data)});
    }
}

TEST_CASE("SSE 82: the type is decided at the end of the event, whatever the order of its fields", "[sse]")
{
    CHECK(parse_all_ways("data: /message?s=1\r\nevent: endpoint\r\n\r\ndata: x\r\n\r\n").events ==
          std::vector<got>{{"endpoint", "/message?s=1", "", false}, {"message", "x", "", false}});
    CHECK(parse_all_ways("event: a\nevent: b\ndata\n\nevent: c\n\ndata: x\n\nevent: d\nevent\ndata: y\n\n").events ==
          std::vector<got>{{"b", "", "", false}, {"message", "x", "", false}, {"message", "y", "", false}});
}

TEST_CASE("an event without data gives nothing but changes the id and the reconnection time", "[sse]")
{
    const stream s = parse_all_ways("id: 3\nevent: x\nretry: 20\n\n");
    CHECK(s.events.empty());
    CHECK(s.last_id == "3");
    CHECK(s.retry == 20);
}

TEST_CASE("an id counts from the end of its event, stays until the next one, and can be taken back", "[sse]")
{
    CHECK(parse_all_ways("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n").last_id == "1");
    const stream s = parse_all_ways("id: 1\ndata: a\n\nid\ndata: b\n\n");
    CHECK(s.events == std::vector<got>{{"message", "a", "1", true}, {"message", "b", "", true}});
    CHECK(s.last_id.empty());
}

TEST_CASE("an id with NUL or longer than 4,096 bytes is ignored", "[sse]")
{
    CHECK(parse_all_ways("id: 1\n\nid: 2\0003\n\n"sv).last_id == "1");
    const std::string longest(4096, 'x');
    CHECK(parse("id: " + longest + "\n\n").last_id == longest);
    CHECK(parse_bytewise("id: 1\n\nid: " + longest + "y\n\n").last_id == "1");
}

TEST_CASE("a reconnection time is digits only, and at most an hour", "[sse]")
{
    const std::vector<std::pair<std::string, long long>> cases = {
        {"retry: 500", 500},
        {"retry:0", 0},
        {"retry: 3600000", 3'600'000},
        {"retry: 3600001", 3'600'000},
        {"retry: 007", 7},
        {"retry", -1},
        {"retry: ", -1},
        {"retry: -1", -1},
        {"retry: 1.5", -1},
        {"retry: 1e3", -1},
        {"retry: 10 ", -1},
        {"retry:  10", -1},
        {"retry: 10 000", -1},
        {"Retry: 5", -1},
        {"retry: 99999999999999999999999", 3'600'000},
    };
    for (const auto& [line, want] : cases) {
        CAPTURE(line);
        CHECK(parse_all_ways(line + "\n").retry == want);
    }
}

TEST_CASE("comments and unknown fields are skipped, whatever their size", "[sse]")
{
    CHECK(parse_all_ways(": keep-alive\n\n:\n\n:data: x\n\nfoo: bar\nDATA: x\n data: y\ndata : z\n\n").events.empty());
    CHECK(parse_all_ways("data: a\n: between\nfoo\ndata: b\n\n").events == std::vector{message("a\nb")});

    sse_parser parser(10);
    std::vector<got> events;
    feed(parser, "data: a\n:", events);
    const std::string piece(100'000, 'c');
    for (int i = 0; i < 100; ++i) {
        feed(parser, piece, events);
        CHECK(parser.buffered() == 1);
    }
    feed(parser, "\n\n", events);
    CHECK(events == std::vector{message("a")});
}

TEST_CASE("one space behind the colon is not part of the value", "[sse]")
{
    CHECK(parse_all_ways("data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\ndata: a \n\ndata: a: b\n\n").events ==
          std::vector{message("a"), message("a"), message(" a"), message("\ta"), message("a "), message("a: b")});
}

TEST_CASE("one byte order mark at the start of the stream is skipped", "[sse]")
{
    CHECK(parse_all_ways("\xEF\xBB\xBF"
                         "data: a\n\n")
              .events == std::vector{message("a")});
    CHECK(parse_all_ways("\xEF\xBB\xBF"
                         "\xEF\xBB\xBF"
                         "data: a\n\ndata: b\n\n")
              .events == std::vector{message("b")});
    CHECK(parse_all_ways("\xEF\xBB"
                         "data: a\ndata: b\n\n")
              .events == std::vector{message("b")});
    CHECK(parse_all_ways("\n\xEF\xBB\xBF"
                         "data: a\n\n")
              .events.empty());
    CHECK(parse_all_ways("\xEF\xBB\xBF"
                         ": x\n"
                         "retry: 5\ndata: b\n\n")
              .retry == 5);
    CHECK(parse_all_ways("\xEF\xBB\xBF"
                         "event: e\ndata: b\n\n")
              .events == std::vector<got>{{"e", "b", "", false}});
}

TEST_CASE("an unfinished event is dropped", "[sse]")
{
    CHECK(parse_all_ways("data: a\n\ndata: b").events == std::vector{message("a")});
    CHECK(parse_all_ways("data: a\n").events.empty());
    CHECK(parse_all_ways("id: 5").last_id.empty());
}

TEST_CASE("after a restart the id and the time are kept, and the unfinished event is not", "[sse]")
{
    sse_parser parser;
    std::vector<got> events;
    feed(parser, "id: 1\nretry: 9\ndata: a\n\nid: 2\nevent: x\ndata: b\r", events);
    parser.restart();
    CHECK(parser.last_event_id() == "1");
    CHECK(parser.retry() == 9ms);
    CHECK(parser.buffered() == 0);
    feed(parser,
         "\xEF\xBB\xBF"
         "data: c\n\n",
         events);
    CHECK(events == std::vector<got>{{"message", "a", "1", true}, {"message", "c", "1", false}});
}

TEST_CASE("data at the limit is given, data over it is skipped, and the stream goes on", "[sse]")
{
    CHECK(parse_all_ways("data: 12345\n\n", 5).events == std::vector{message("12345")});
    CHECK(parse_all_ways("data: 12\ndata: 45\n\n", 5).events == std::vector{message("12\n45")});
    CHECK(parse_all_ways("id: 1\nevent: e\ndata: 123456\n\ndata: b\n\n", 5).events ==
          std::vector<got>{{"e", "oversized 6", "1", true}, {"message", "b", "1", false}});
    CHECK(parse_all_ways("data: 12\ndata: 456\n\n", 5).events == std::vector{message("oversized 6")});
    CHECK(parse_all_ways("data\ndata\ndata\ndata\n\ndata: x\n\n", 2).events ==
          std::vector{message("oversized 3"), message("x")});
}

TEST_CASE("of an oversized event the JSON-RPC id is known", "[sse]")
{
    const std::string bytes =
        "data: {\"jsonrpc\":\"2.0\",\"result\":{\"t\":\"" + std::string(100, 'x') + "\"},\ndata: \"id\":42}\n\n";
    for (std::size_t size : {std::size_t(1), std::size_t(7), bytes.size()}) {
        sse_parser parser(50);
        sse_event event;
        bool found = false;
        for (std::size_t at = 0; at < bytes.size(); at += size) {
            parser.feed(std::string_view(bytes).substr(at, size));
            while (parser.next(event)) {
                found = true;
                CHECK(event.oversized);
                CHECK(event.data.empty());
                CHECK_FALSE(event.blank());
                CHECK(event.facts.object);
                CHECK(event.facts.has_result);
                CHECK(event.facts.id_known);
                CHECK(event.facts.id == comcp::rpc::id(42));
                CHECK(event.facts.bytes == bytes.size() - 14);
            }
            CHECK(parser.buffered() <= 50);
        }
        CHECK(found);
    }
}

TEST_CASE("data that is one line of one chunk is not copied", "[sse]")
{
    const std::string chunk = "id: 1\ndata: first\n\ndata: second\ndata: third\n\n";
    sse_parser parser;
    sse_event event;
    parser.feed(chunk);
    REQUIRE(parser.next(event));
    CHECK(event.data == "first");
    CHECK(event.data.data() == chunk.data() + chunk.find("first"));
    REQUIRE(parser.next(event));
    CHECK(event.data == "second\nthird");
}

TEST_CASE("a type longer than 256 bytes is cut", "[sse]")
{
    const stream s = parse_bytewise("event: " + std::string(300, 'e') + "\ndata: x\n\n");
    CHECK(s.events == std::vector<got>{{std::string(256, 'e'), "x", "", false}});
}

TEST_CASE("generated streams give what the algorithm of the WHATWG gives, however they are cut", "[sse]")
{
    static constexpr std::string_view words[] = {
        "data", "data",         "data: ", "data:", "id: ", "id",    "event: ",  "event",       "retry: ", ":",
        ": ",   "\n",           "\n",     "\n\n",  "\r",   "\r\n",  "\r\n\r\n", " ",           "a",       "12",
        "{}",   "\xEF\xBB\xBF", "\0"sv,   "x:y",   "dat",  "datax", "i",        "\xE2\x80\xA8"};
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (int round = 0; round < 4000; ++round) {
        std::string bytes;
        for (std::size_t n = below(40); n != 0; --n) bytes += words[below(std::size(words))];
        CAPTURE(bytes);
        const stream want = reference(bytes);
        REQUIRE(parse(bytes) == want);
        REQUIRE(parse_bytewise(bytes) == want);
        sse_parser parser;
        std::vector<got> events;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = std::min(1 + below(12), bytes.size() - at);
            feed(parser, std::string_view(bytes).substr(at, size), events);
            at += size;
        }
        REQUIRE(finish(parser, std::move(events)) == want);
    }
}

TEST_CASE("writers give the exact bytes", "[sse]")
{
    const auto written = [](auto write) {
        std::string out = "|";
        write(out);
        return out;
    };
    using namespace comcp::http;
    CHECK(written([](std::string& o) { write_sse_event(o, "{}"); }) == "|data: {}\n\n");
    CHECK(written([](std::string& o) { write_sse_event(o, "{}", "a-1"); }) == "|id: a-1\ndata: {}\n\n");
    CHECK(written([](std::string& o) { write_sse_event(o, "/m", {}, "endpoint"); }) ==
          "|event: endpoint\ndata: /m\n\n");
    CHECK(written([](std::string& o) { write_sse_event(o, "a\r\nb\rc\n\nd"); }) ==
          "|data: a\ndata: b\ndata: c\ndata: \ndata: d\n\n");
    CHECK(written([](std::string& o) {
              begin_sse_event(o, "1");
              o += "{}";
              end_sse_event(o);
          }) == "|id: 1\ndata: {}\n\n");
    CHECK(written([](std::string& o) { write_sse_priming(o, "7"); }) == "|id: 7\ndata: \n\n");
    CHECK(written([](std::string& o) { write_sse_retry(o, 500ms); }) == "|retry: 500\n\n");
    CHECK(written([](std::string& o) { write_sse_retry(o, -5ms); }) == "|retry: 0\n\n");
    CHECK(written(write_sse_keep_alive) == "|: keep-alive\n\n");
}

TEST_CASE("what is written is read back", "[sse]")
{
    std::string bytes;
    comcp::http::write_sse_priming(bytes, "s-0");
    comcp::http::write_sse_keep_alive(bytes);
    comcp::http::write_sse_event(bytes, "{\"a\":1}", "s-1", "message");
    comcp::http::write_sse_retry(bytes, 250ms);
    comcp::http::write_sse_event(bytes, "\none\n two\n", "s-2");
    const stream s = parse_all_ways(bytes);
    CHECK(s.events == std::vector<got>{{"message", "", "s-0", true},
                                       {"message", "{\"a\":1}", "s-1", true},
                                       {"message", "\none\n two\n", "s-2", true}});
    CHECK(s.retry == 250);
}
