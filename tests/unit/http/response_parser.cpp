// SPDX-License-Identifier: MIT
#include <comcp/http/response_parser.hpp>

#include "catch.hpp"
#include "events.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace comcp;
using http::parse_step;
using http::response_parser;

namespace
{

using lines = std::vector<std::string>;
using recorder = http_test::recorder<response_parser>;

// What is read of a stream that then ends, which must be the same wherever it is cut.
lines read(std::string_view stream, std::string_view method = "POST", std::uint64_t body_limit = 1000,
           const http_limits& limits = {})
{
    recorder whole(body_limit, limits, method);
    whole.feed(stream);
    whole.eof();
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        recorder parts(body_limit, limits, method);
        parts.feed(stream.substr(0, cut));
        parts.feed(stream.substr(cut));
        parts.eof();
        if (parts.lines != whole.lines) {
            INFO("cut at " << cut);
            CHECK(parts.lines == whole.lines);
        }
    }
    recorder bytes(body_limit, limits, method);
    for (const char& byte : stream) bytes.feed({&byte, 1});
    bytes.eof();
    CHECK(bytes.lines == whole.lines);
    return whole.lines;
}

std::string end_of(std::string_view stream, std::string_view method = "POST", std::uint64_t body_limit = 1000)
{
    return read(stream, method, body_limit).back();
}

const std::string nothing_more = "failed 400 the connection ended before the response";
const std::string cut_off = "failed 400 the connection ended within the response";
const std::string not_a_line = "failed 400 not a status line: version, three digits and a reason";

} // namespace

TEST_CASE("A response with a length is read, and another one after it")
{
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
               "HTTP/1.1 202 \r\nContent-Length: 0\r\nconnection: close\r\n\r\n") ==
          lines{"1.1 200 OK", "Content-Type: application/json", "Content-Length: 2", "body: length 2", "done [{}]",
                "1.1 202 ", "Content-Length: 0", "connection: close", "body: length 0, close", "done []",
                nothing_more});
}

TEST_CASE("A chunked response ends with its last chunk and not with the connection")
{
    const std::string head = "HTTP/1.1 200 All is well\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHECK(read(head + "5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n") ==
          lines{"1.1 200 All is well", "Transfer-Encoding: chunked", "body: chunked", "done [hello]", nothing_more});
    CHECK(end_of(head + "5\r\nhello\r\n") == cut_off);
    CHECK(end_of(head + "5\r\nhell") == cut_off);
    CHECK(end_of(head + "5\r\nhello\r\n0\r\n") == cut_off);
}

TEST_CASE("A response without a length ends with the connection")
{
    CHECK(read("HTTP/1.1 200 OK\r\n\r\nall of\r\nit") ==
          lines{"1.1 200 OK", "body: until close, close", "done [all of\r\nit]"});
    CHECK(read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n") ==
          lines{"1.0 200 OK", "Connection: keep-alive", "body: until close, close", "done []"});
    CHECK(end_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell") == cut_off);
    CHECK(end_of("HTTP/1.1 200 OK\r\n") == cut_off);
    CHECK(end_of("H") == cut_off);
    CHECK(end_of("") == nothing_more);
}

TEST_CASE("The end of the connection may come together with the end of the message")
{
    response_parser parser;
    REQUIRE(parser.step("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n").what == parse_step::kind::head);
    REQUIRE(parser.step("x").what == parse_step::kind::body);
    CHECK(parser.eof().what == parse_step::kind::done); // without another step in between
    CHECK(parser.eof().what == parse_step::kind::done);
    CHECK(parser.step("").what == parse_step::kind::done);

    response_parser failed;
    CHECK(failed.eof().what == parse_step::kind::failed);
    CHECK(failed.eof().what == parse_step::kind::failed);
    CHECK(http::to_fault(failed.error()).code == errc::invalid_message);
}

TEST_CASE("Some responses have no body, whatever their fields say")
{
    const std::string length = "Content-Length: 5\r\n\r\n";
    CHECK(read("HTTP/1.1 200 OK\r\n" + length, "HEAD") ==
          lines{"1.1 200 OK", "Content-Length: 5", "body: none", "done []", nothing_more});
    CHECK(end_of("HTTP/1.1 200 OK\r\n" + length, "head") == cut_off); // another method
    for (const char* status : {"204", "304"}) {
        const std::string line = "HTTP/1.1 " + std::string(status) + " x\r\n";
        // Only 304 may tell the length of what it does not send. Else what comes next is not certain.
        const std::string body = status == std::string_view("304") ? "body: none" : "body: none, close";
        const lines with_length = read(line + length);
        CHECK((with_length[2] == body && with_length[3] == "done []"));
        const lines with_coding = read(line + "Transfer-Encoding: chunked\r\n\r\n");
        CHECK((with_coding[2] == body && with_coding[3] == "done []"));
        CHECK(read(line + "Content-Length: 0\r\n\r\n")[2] == "body: none");
        CHECK(read(line + "\r\n") == lines{"1.1 " + std::string(status) + " x", "body: none", "done []", nothing_more});
        // It must still be readable in one way only.
        CHECK(end_of(line + "Content-Length: x\r\n\r\n") == "failed 400 Content-Length is not a number");
    }
    response_parser parser({}, "HEAD");
    REQUIRE(parser.step("HTTP/1.1 200 OK\r\n" + length).what == parse_step::kind::head);
    REQUIRE(parser.step("").what == parse_step::kind::done);
    parser.reset("GET");
    REQUIRE(parser.step("HTTP/1.1 200 OK\r\n" + length).what == parse_step::kind::head);
    CHECK(parser.step("").what == parse_step::kind::need_more);
}

TEST_CASE("Provisional responses are skipped, up to eight of them")
{
    const auto provisional = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += i % 2 == 0 ? "HTTP/1.1 100 Continue\r\n\r\n" : "HTTP/1.1 103 Hints\r\nLink: x\r\nX: y\r\n\r\n";
        }
        return text + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    };
    CHECK(read(provisional(1)) == lines{"1.1 200 OK", "Content-Length: 1", "body: length 1", "done [x]", nothing_more});
    CHECK(read(provisional(8))[3] == "done [x]");
    CHECK(read(provisional(8) + provisional(8)).size() == 9); // they are counted for each response
    CHECK(read(provisional(9)) == lines{"failed 400 too many provisional responses"});
    CHECK(read("HTTP/1.1 199 x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 x\r\n\r\n")[2] == "done []");
    const std::string announced = "failed 400 a provisional response announces a body";
    CHECK(end_of("HTTP/1.1 100 x\r\nContent-Length: 5\r\n\r\n") == announced);
    CHECK(end_of("HTTP/1.1 100 x\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD") == announced);
    CHECK(end_of("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n") ==
          "failed 400 a change of protocol that nobody asked for");
    CHECK(end_of("HTTP/1.1 100 Continue\r\n\r\n") == cut_off);
}

TEST_CASE("A status line is a version, three digits and a reason, with one space between them")
{
    for (const char* line :
         {"", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 200", "HTTP/1.1  200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK",
          "HTTP/1.1 2x0 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 099 OK", "HTTP/1.1 000 OK",
          "HTTP/1.1 200\tOK", "HTTP/1.1 200 O\x01", "HTTP/1.1 200 \x7f", "HTTP/1.1 200 O\rK", "HTTP/1.1\t200 OK"}) {
        INFO(line);
        const std::string end = end_of(std::string(line) + "\r\n\r\n");
        CHECK((end == not_a_line || end == "failed 400 not an HTTP version"));
    }
    CHECK(end_of("HTTP/2.0 200 OK\r\n\r\n") == "failed 505 an HTTP version other than 1.1 and 1.0");
    CHECK(end_of("ICY 200 OK\r\n\r\n") == "failed 400 not an HTTP version");
    CHECK(end_of("SSH-2.0-OpenSSH_9.2\r\n") == not_a_line);
    CHECK(end_of("HTTP/1.1 200 OK\n\n") == "failed 400 a line ends without CR");
    CHECK(end_of("\r\nHTTP/1.1 200 OK\r\n\r\n") == not_a_line);
    CHECK(read("HTTP/1.1 999 \xc3\xa9\tx\r\n\r\n")[0] == "1.1 999 \xc3\xa9\tx");
}

TEST_CASE("A response is as strict about its body as a request")
{
    const std::string line = "HTTP/1.1 200 OK\r\n";
    CHECK(end_of(line + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n") ==
          "failed 400 both Content-Length and Transfer-Encoding");
    CHECK(end_of(line + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx") ==
          "failed 400 more than one Content-Length");
    CHECK(end_of(line + "Content-Length: 1, 1\r\n\r\nx") == "failed 400 Content-Length is not a number");
    CHECK(end_of(line + "Transfer-Encoding: gzip, chunked\r\n\r\n") ==
          "failed 501 a transfer coding other than chunked");
    CHECK(end_of("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") ==
          "failed 400 Transfer-Encoding in an HTTP/1.0 message");
    CHECK(end_of(line + "A: b\r\n c\r\n\r\n") == "failed 400 a field is continued on a second line");
}

TEST_CASE("The body of a response is held to its limit")
{
    const std::string over = "failed 413 the body is over the limit";
    const std::string line = "HTTP/1.1 200 OK\r\n";
    CHECK(end_of(line + "Content-Length: 6\r\n\r\n", "POST", 5) == over);
    CHECK(end_of(line + "Transfer-Encoding: chunked\r\n\r\n6\r\n", "POST", 5) == over);
    CHECK(read(line + "\r\nhello", "POST", 5)[2] == "done [hello]");
    CHECK(read(line + "\r\nhello!", "POST", 5) == lines{"1.1 200 OK", "body: until close, close", "[hello]", over});
}

TEST_CASE("The head of a response is bounded")
{
    http_limits limits;
    limits.line = 15;
    limits.fields = 8;
    limits.field_count = 2;
    const auto end = [&](std::string_view stream) { return read(stream, "POST", 9, limits); };
    CHECK(end("HTTP/1.1 200 OK\r\n\r\n")[0] == "1.1 200 OK");
    CHECK(end("HTTP/1.1 200 OK!\r\n\r\n")[0] == "failed 431 the status line is over the limit");
    CHECK(end("HTTP/1.1 200 OK\r\na: 456\r\n\r\n")[1] == "a: 456");
    CHECK(end("HTTP/1.1 200 OK\r\na: 4567\r\n\r\n")[0] == "failed 431 the fields are over the limit");
    CHECK(end("HTTP/1.1 200 OK\r\na:\r\nb:\r\n\r\n")[2] == "b: ");
    limits.fields = 12;
    CHECK(end("HTTP/1.1 200 OK\r\na:\r\nb:\r\nc:\r\n\r\n")[0] == "failed 431 there are too many fields");
    // Each head has the whole limit.
    CHECK(end("HTTP/1.1 103 OK\r\na:\r\nb:\r\n\r\nHTTP/1.1 200 OK\r\na:\r\nb:\r\n\r\n")[2] == "b: ");
}

TEST_CASE("An idle response parser holds little")
{
    CHECK(sizeof(response_parser) < 1024);
    response_parser parser;
    CHECK_FALSE(parser.started());
    const std::string large =
        "HTTP/1.1 204 " + std::string(8000, 'x') + "\r\nX: " + std::string(60000, 'y') + "\r\n\r\n";
    for (const char& byte : large) static_cast<void>(parser.step({&byte, 1}));
    CHECK(parser.started());
    CHECK(parser.head().fields.memory() > 60000);
    parser.reset();
    CHECK_FALSE(parser.started());
    CHECK(parser.head().fields.memory() <= 2048);
    CHECK(parser.head().reason.capacity() < 32);
}
