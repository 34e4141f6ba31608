// SPDX-License-Identifier: MIT
#include <comcp/rpc/parse.hpp>
#include <comcp/transport/framing.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace comcp;

namespace
{

// A frame as a line of text: `=` and the line, or `!` and what is known of one that was over the limit.
std::string print(const frame& got)
{
    if (!got.oversized) return "=" + std::string(got.text);
    std::string out = "!" + std::to_string(got.facts.bytes);
    if (got.facts.id_known) {
        out += " id=";
        got.facts.id.write(out);
    }
    if (got.facts.has_method) out += " method=" + got.facts.method;
    return out;
}

using lines = std::vector<std::string>;

void put(line_reader& reader, std::string_view bytes, lines& out)
{
    frame got;
    while (!bytes.empty()) {
        const std::span<char> space = reader.prepare();
        REQUIRE(!space.empty());
        const std::size_t size = std::min(space.size(), bytes.size());
        std::memcpy(space.data(), bytes.data(), size);
        reader.commit(size);
        bytes.remove_prefix(size);
        while (reader.next(got)) out.push_back(print(got));
    }
}

lines read(std::size_t limit, std::initializer_list<std::string_view> chunks)
{
    line_reader reader(limit);
    lines out;
    for (const std::string_view chunk : chunks) put(reader, chunk, out);
    frame got;
    if (reader.finish(got)) out.push_back(print(got));
    return out;
}

// The frames of a stream, which must be the same wherever it is cut.
lines frames(std::string_view stream, std::size_t limit = 64)
{
    const lines expected = read(limit, {stream});
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        const lines got = read(limit, {stream.substr(0, cut), stream.substr(cut)});
        if (got != expected) {
            INFO("cut at " << cut);
            CHECK(got == expected);
        }
    }
    line_reader reader(limit);
    lines got;
    for (const char& byte : stream) put(reader, {&byte, 1}, got);
    frame last;
    if (reader.finish(last)) got.push_back(print(last));
    CHECK(got == expected);
    return expected;
}

const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

} // namespace

TEST_CASE("lines end with LF or CR LF (FRAME 1, 2)")
{
    CHECK(frames(ping + "\n") == lines{"=" + ping});
    CHECK(frames(ping + "\r\n" + ping + "\n{}\r\n") == lines{"=" + ping, "=" + ping, "={}"});
    // One CR belongs to the line end; others are white space of the line.
    CHECK(frames("{}\r\r\n{\r}\n") == lines{"={}\r", "={\r}"});
    CHECK(read(64, {"{}\r", "\n"}) == lines{"={}"});
}

TEST_CASE("blank lines are skipped and are not the end of input (FRAME 13)")
{
    CHECK(frames("").empty());
    CHECK(frames("\n").empty());
    CHECK(frames("\n\r\n \t \n\r\r\n{}\n\n \n") == lines{"={}"});
    CHECK(frames("\n \r").empty());
}

TEST_CASE("a last line without a newline is a frame when the input ends")
{
    CHECK(frames("{}\n" + ping) == lines{"={}", "=" + ping});
    CHECK(frames(ping + "\r") == lines{"=" + ping});

    line_reader reader;
    lines out;
    put(reader, ping, out);
    CHECK(out.empty()); // not before
    CHECK(reader.buffered() == ping.size());
    frame got;
    CHECK(reader.finish(got));
    CHECK(got.text == ping);
    CHECK(reader.buffered() == 0);
    CHECK_FALSE(reader.finish(got));
}

TEST_CASE("a byte order mark is skipped at the start of the stream only")
{
    CHECK(frames("\xEF\xBB\xBF{}\n{}\n") == lines{"={}", "={}"});
    CHECK(frames("\xEF\xBB\xBF\n{}\n") == lines{"={}"});
    CHECK(frames("\xEF\xBB\xBF").empty());
    CHECK(frames("{}\n\xEF\xBB\xBF{}\n") == lines{"={}", "=\xEF\xBB\xBF{}"});
    CHECK(frames("\xEF\xBB\xBF\xEF\xBB\xBF{}\n") == lines{"=\xEF\xBB\xBF{}"});
    CHECK(frames("\xEF\xBB\n{}\n") == lines{"=\xEF\xBB", "={}"});
    CHECK(frames("\xEF") == lines{"=\xEF"});
    CHECK(frames("\xEF\xBB\xBF" + std::string(64, 'x') + "\n") == lines{"=" + std::string(64, 'x')});
}

TEST_CASE("a character that a read cuts stays whole (FRAME 6)")
{
    const std::string text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"a\xE2\x80\x94"
                             "b\"}}";
    CHECK(frames(text + "\n", 1000) == lines{"=" + text});
    const std::size_t dash = text.find('\xE2');
    const std::string line = text + "\n";
    const std::string_view stream = line;
    CHECK(read(1000, {stream.substr(0, dash + 1), stream.substr(dash + 1, 2), stream.substr(dash + 3)}) ==
          lines{"=" + text});
    rpc::parser parser;
    CHECK(parser.parse(text).msg.result->at("text") == "a\xE2\x80\x94"
                                                       "b");
}

TEST_CASE("the limit is of the line and not of the read (FRAME 9)")
{
    for (const char* end : {"\n", "\r\n"}) {
        for (const std::size_t limit : {std::size_t(40), std::size_t(300)}) {
            INFO("limit " << limit);
            const auto message = [&](std::size_t size) {
                std::string text = R"({"id":7,"method":"m","p":")";
                text.append(size - text.size() - 2, 'x');
                return text + "\"}";
            };
            const std::string after = std::string("{}") + end;
            CHECK(frames(message(limit - 1) + end + after, limit) == lines{"=" + message(limit - 1), "={}"});
            CHECK(frames(message(limit) + end + after, limit) == lines{"=" + message(limit), "={}"});
            CHECK(frames(message(limit + 1) + end + after, limit) ==
                  lines{"!" + std::to_string(limit + 1) + " id=7 method=m", "={}"});
            CHECK(frames(message(limit + 2) + end + after, limit) ==
                  lines{"!" + std::to_string(limit + 2) + " id=7 method=m", "={}"});
            CHECK(frames(message(3 * limit) + end + after, limit) ==
                  lines{"!" + std::to_string(3 * limit) + " id=7 method=m", "={}"});
        }
    }
    CHECK(frames(std::string(65, 'x')) == lines{"!65"});
    CHECK(frames(std::string(64, 'x') + "\r") == lines{"=" + std::string(64, 'x')});
    CHECK(frames(std::string(65, 'x') + "\r") == lines{"!65"});
    CHECK(frames(std::string(65, '\r') + "\n{}\n") == lines{"={}"});
    CHECK(frames(std::string(66, '\r') + "\n{}\n") == lines{"!65", "={}"});
}

TEST_CASE("two lines over the limit do not share what is known of them")
{
    const std::string pad(80, 'x');
    CHECK(frames(R"({"id":1,"p":")" + pad + "\"}\n" + R"({"method":"n","p":")" + pad + "\"}\n[" + pad + "]\n{}\n") ==
          lines{"!95 id=1", "!101 method=n", "!82", "={}"});
    CHECK(frames(R"({"p":{"id":3,"s":")" + pad + R"("},"\u0069d":"x"})" + "\n") == lines{"!115 id=\"x\""});
}

TEST_CASE("an id is found before and behind a member of many reads")
{
    const std::string pad(500000, 'x');
    for (const std::size_t step : {std::size_t(1000), std::size_t(65536), std::size_t(2000000)}) {
        line_reader reader(100000);
        lines out;
        const std::string stream =
            R"({"id":1,"p":")" + pad + "\"}\r\n" + R"({"p":")" + pad + R"(","id":2})" + "\n" + ping + "\n";
        for (std::size_t at = 0; at < stream.size(); at += step)
            put(reader, std::string_view(stream).substr(at, step), out);
        CHECK(out == lines{"!500015 id=1", "!500015 id=2", "=" + ping});
        CHECK(reader.buffered() == 0);
    }
}

TEST_CASE("a reader holds what it needs and gives it back")
{
    constexpr std::size_t limit = 4 * 1024 * 1024;
    line_reader reader(limit);
    lines out;
    CHECK(reader.prepare().size() == 64 * 1024);

    put(reader, std::string(limit, 'x'), out);
    CHECK(reader.buffered() == limit);
    CHECK(reader.prepare().size() + limit <= limit + 64 * 1024);
    put(reader, "\n", out);
    REQUIRE(out.size() == 1);
    CHECK(out[0].size() == limit + 1);
    CHECK(reader.buffered() == 0);
    CHECK(reader.prepare().size() == 64 * 1024);

    out.clear();
    put(reader, std::string(2 * limit, 'x'), out); // over the limit: not held any more
    CHECK(out.empty());
    CHECK(reader.buffered() == 0);
    CHECK(reader.prepare().size() == 64 * 1024);
    put(reader, "\n", out);
    CHECK(out == lines{"!" + std::to_string(2 * limit)});

    // A large block is also given back when a small beginning of the next line came with the end of the large one.
    put(reader, std::string(limit / 2, 'y'), out);
    put(reader, "\n{\"a\":", out);
    CHECK(reader.prepare().size() == 64 * 1024 - 5);
    put(reader, "1}\n", out);
    CHECK(out.back() == "={\"a\":1}");
}

TEST_CASE("many lines of one read are views into it until the next read")
{
    line_reader reader;
    std::string stream;
    for (int i = 0; i < 1000; ++i) stream += "{\"n\":" + std::to_string(i) + "}\n";
    const std::span<char> space = reader.prepare();
    REQUIRE(space.size() >= stream.size());
    std::memcpy(space.data(), stream.data(), stream.size());
    reader.commit(stream.size());
    std::vector<std::string_view> views;
    frame got;
    while (reader.next(got)) views.push_back(got.text);
    REQUIRE(views.size() == 1000);
    for (std::size_t i = 0; i < views.size(); ++i) REQUIRE(views[i] == "{\"n\":" + std::to_string(i) + "}");
}
