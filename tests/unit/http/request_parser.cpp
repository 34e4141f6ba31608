// SPDX-License-Identifier: MIT
#include <comcp/http/request_parser.hpp>

#include "catch.hpp"
#include "events.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace comcp;
using http::parse_step;
using http::request_parser;

namespace
{

using lines = std::vector<std::string>;
using recorder = http_test::recorder<request_parser>;

// What is read of the stream, which must be the same wherever it is cut.
lines read(std::string_view stream, std::uint64_t body_limit = 1000, const http_limits& limits = {})
{
    recorder whole(body_limit, limits);
    whole.feed(stream);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        recorder parts(body_limit, limits);
        parts.feed(stream.substr(0, cut));
        parts.feed(stream.substr(cut));
        if (parts.lines != whole.lines) {
            INFO("cut at " << cut);
            CHECK(parts.lines == whole.lines);
        }
    }
    recorder bytes(body_limit, limits);
    for (const char& byte : stream) bytes.feed({&byte, 1});
    CHECK(bytes.lines == whole.lines);
    return whole.lines;
}

// The last thing that is said of a stream.
std::string end_of(std::string_view stream, std::uint64_t body_limit = 1000, const http_limits& limits = {})
{
    const lines all = read(stream, body_limit, limits);
    return all.empty() ? "" : all.back();
}

std::string with_fields(std::string_view text, std::string_view body = "")
{
    return "POST /mcp HTTP/1.1\r\nHost: a\r\n" + std::string(text) + "\r\n" + std::string(body);
}

std::string with_line(std::string_view text) { return std::string(text) + "\r\nHost: a\r\n\r\n"; }

std::string chunked(std::string_view body) { return with_fields("Transfer-Encoding: chunked\r\n", body); }

const std::string not_a_line = "failed 400 not a request line: method, target and version with one space between them";
const std::string bad_name = "failed 400 a field name has a blank or another character that is not allowed";
const std::string bad_target = "failed 400 the target is neither a path nor an http or https URL";
const std::string bad_host = "failed 400 Host is not a host with or without a port";
const std::string bad_length = "failed 400 Content-Length is not a number";
const std::string bad_coding = "failed 501 a transfer coding other than chunked";

} // namespace

TEST_CASE("A request with a length is read, and its fields keep their order and case")
{
    CHECK(read("POST /mcp?a=%20b HTTP/1.1\r\nhost: LocalHost:8080\r\nX-One:1\r\nx-one: \t two words \t\r\n"
               "Empty:\r\nContent-Length: 005\r\n\r\nhello") ==
          lines{"POST /mcp?a=%20b 1.1 at localhost:8080", "host: LocalHost:8080", "X-One: 1", "x-one: two words",
                "Empty: ", "Content-Length: 005", "body: length 5", "done [hello]"});
}

TEST_CASE("A request without a body ends with its head")
{
    CHECK(read("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n") ==
          lines{"GET / 1.1 at [::1]", "Host: [::1]", "body: none", "done []"});
    CHECK(read("DELETE /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").back() == "done []");
}

TEST_CASE("Chunks become one body; extensions and trailers are dropped")
{
    CHECK(read(chunked("3\r\nabc\r\n0A;name;n2=v;n3=\"a;\\\"\\\\\r\"\r\n")).back().starts_with("failed 400"));
    CHECK(read(chunked("3\r\nabc\r\n00000000000A;name;n2=v;n3=\"a; \\\"\\\\\"\r\n0123456789\r\n0;last\r\n"
                       "X-Sum: 1\r\nX-Sum: 2\r\n\r\n")) == lines{"POST /mcp 1.1 at a", "Host: a",
                                                                 "Transfer-Encoding: chunked", "body: chunked",
                                                                 "done [abc0123456789]"});
    CHECK(read(with_fields("transfer-encoding:  CHUNKED \r\n", "0\r\n\r\n")).back() == "done []");
}

TEST_CASE("Pipelined requests are read one after another")
{
    const std::string stream = "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"
                               "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
                               "GET /3 HTTP/1.0\r\nHost: a\r\n\r\n"
                               "GET /4";
    CHECK(read(stream) == lines{"POST /1 1.1 at a", "Host: a", "Content-Length: 2", "body: length 2", "done [ab]",
                                "POST /2 1.1 at a", "Host: a", "Transfer-Encoding: chunked", "body: chunked",
                                "done [c]", "GET /3 1.0 at a", "Host: a", "body: none, close", "done []"});

    // What follows a message is left to the caller.
    request_parser parser;
    const parse_step head = parser.step(stream);
    REQUIRE(head.what == parse_step::kind::head);
    const parse_step body = parser.step(std::string_view(stream).substr(head.used));
    CHECK((body.what == parse_step::kind::body && body.body == "ab" && body.used == 2));
    for (int i = 0; i < 2; ++i) {
        const parse_step done = parser.step(std::string_view(stream).substr(head.used + 2));
        CHECK((done.what == parse_step::kind::done && done.used == 0));
    }
}

TEST_CASE("The versions decide about the connection")
{
    const auto connection = [](std::string_view version, std::string_view field) {
        const std::string stream = "GET / " + std::string(version) + "\r\nHost: a\r\n" + std::string(field) + "\r\n";
        const lines all = read(stream);
        return all[all.size() - 2];
    };
    CHECK(connection("HTTP/1.1", "") == "body: none");
    CHECK(connection("HTTP/1.1", "Connection: Close\r\n") == "body: none, close");
    CHECK(connection("HTTP/1.1", "Connection: x, close\r\n") == "body: none, close");
    CHECK(connection("HTTP/1.1", "Connection: x\r\nConnection: close\r\n") == "body: none, close");
    CHECK(connection("HTTP/1.1", "Connection: closed\r\n") == "body: none");
    CHECK(connection("HTTP/1.0", "") == "body: none, close");
    CHECK(connection("HTTP/1.0", "Connection: keep-alive\r\n") == "body: none");
    CHECK(connection("HTTP/1.0", "Connection: keep-alive, close\r\n") == "body: none, close");
    CHECK(connection("HTTP/1.1", "Proxy-Connection: close\r\nConnection: ,, \r\n") == "body: none");
    for (const char* value : {"a b", "close;x", "\"close\"", "close, a/b"}) {
        INFO(value);
        CHECK(end_of(with_fields("Connection: " + std::string(value) + "\r\n")) ==
              "failed 400 Connection is not a list of tokens");
    }
}

TEST_CASE("A peer that waits for 100 Continue is told from one that expects something else")
{
    const auto body_line = [](std::string_view stream) {
        const lines all = read(stream);
        return all[all.size() - 2];
    };
    CHECK(body_line(with_fields("Content-Length: 1\r\nExpect: 100-Continue\r\n", "x")) == "body: length 1, continue");
    CHECK(body_line(with_fields("Content-Length: 0\r\nExpect: 100-continue\r\n")) == "body: length 0");
    CHECK(body_line(with_fields("Expect: 100-continue\r\n")) == "body: none");
    CHECK(body_line("POST / HTTP/1.0\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx") ==
          "body: length 1, close");
    const std::string other = "failed 417 an expectation other than 100-continue";
    CHECK(end_of(with_fields("Content-Length: 1\r\nExpect: tea\r\n", "x")) == other);
    CHECK(end_of(with_fields("Expect: 100-continue\r\nExpect: 100-continue\r\n")) == other);
    CHECK(end_of(with_fields("Expect:\r\n")) == other);
}

TEST_CASE("Two ways to delimit a body are refused")
{
    const std::string both = "failed 400 both Content-Length and Transfer-Encoding";
    CHECK(end_of(with_fields("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG")) == both);
    CHECK(end_of(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "5c\r\n")) == both);
    CHECK(end_of(with_fields("Transfer-Encoding: x\r\nContent-Length: 4\r\n", "5c\r\n")) == both);
    CHECK(end_of(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")) == both);
}

TEST_CASE("A transfer coding is chunked, once, and of HTTP/1.1")
{
    for (const char* value :
         {"xchunked", "chunked, chunked", "chunked,", ",chunked", "chunked;q=1", "gzip, chunked", "chunked, gzip",
          "identity", "\"chunked\"", "chunked chunked", "", "gzip", "ch\x75nke", "\x80hunked"}) {
        INFO(value);
        CHECK(end_of(with_fields("Transfer-Encoding: " + std::string(value) + "\r\n")) == bad_coding);
    }
    const std::string twice = "failed 400 more than one Transfer-Encoding";
    CHECK(end_of(with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")) == twice);
    CHECK(end_of(with_fields("Transfer-Encoding: identity\r\ntransfer-encoding: chunked\r\n")) == twice);
    CHECK(end_of("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") ==
          "failed 400 Transfer-Encoding in an HTTP/1.0 message");

    // The field itself, hidden from one of two readers.
    CHECK(end_of(with_fields("Transfer-Encoding : chunked\r\n")) == bad_name);
    CHECK(end_of(with_fields("Transfer-Encoding\t: chunked\r\n")) == bad_name);
    CHECK(end_of(with_fields("Transfer-Encoding:\x0b"
                             "chunked\r\n")) == "failed 400 a field value has a control character");
    CHECK(end_of(with_fields("Transfer-Encoding:\r\n chunked\r\n")) ==
          "failed 400 a field is continued on a second line");
    CHECK(end_of(with_fields("X: y\rTransfer-Encoding: chunked\r\n")) ==
          "failed 400 a field value has a control character");
    CHECK(end_of(with_fields("X: y\nTransfer-Encoding: chunked\r\n")) == "failed 400 a line ends without CR");
    CHECK(end_of(with_fields(" Transfer-Encoding: chunked\r\n")) == "failed 400 a field is continued on a second line");
    CHECK(end_of(with_fields("Transfer_Encoding: chunked\r\n")) == "done []"); // another field
}

TEST_CASE("A length is digits, once")
{
    for (const char* value : {"", "+5", "-1", "5 5", "0x5", "5,5", "5, 5", "5;", "five", "5.0", "5e0", "\"5\"", "\xb2",
                              "18446744073709551616", "99999999999999999999999999", "1_000"}) {
        INFO(value);
        CHECK(end_of(with_fields("Content-Length: " + std::string(value) + "\r\n", "hello")) == bad_length);
    }
    const std::string twice = "failed 400 more than one Content-Length";
    CHECK(end_of(with_fields("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")) == twice);
    CHECK(end_of(with_fields("Content-Length: 5\r\nX: y\r\ncontent-length: 6\r\n", "hello")) == twice);
    CHECK(end_of(with_fields("Content-Length : 5\r\n", "hello")) == bad_name);
    CHECK(end_of(with_fields("Content-Length:  5  \r\n", "hello")) == "done [hello]");
    for (const char* line : {"Content-Length:\t5", "content-length: 5\t", "Transfer-Encoding: chunked \t"}) {
        CHECK(end_of(with_fields(std::string(line) + "\r\n")) ==
              "failed 400 a tab beside Content-Length or Transfer-Encoding");
    }
    CHECK(end_of(with_fields("Content-Length: 18446744073709551615\r\n", "x"), 1000) ==
          "failed 413 the body is over the limit");
    CHECK(end_of(with_fields("Content-Length: 18446744073709551615\r\n", "x"), http::unlimited_body) ==
          "body: length 18446744073709551615");
}

TEST_CASE("The tricks with chunks are refused")
{
    const std::string bad_size = "failed 400 a chunk's size is not a hexadecimal number";
    const std::string bad_extension = "failed 400 bad chunk extensions";
    const std::string bad_end = "failed 400 the data of a chunk is not followed by CRLF";
    for (const char* line : {"", "+1", "-1", " 1", "\t1", "x1", ";a", "g"}) {
        INFO(line);
        CHECK(end_of(chunked(std::string(line) + "\r\na\r\n0\r\n\r\n")) == bad_size);
    }
    for (const char* line : {"1 ",         "1\t",         "0x1",          "1 ;a",           "1; a",    "1;",
                             "1;;a",       "1;a=",        "1;a =b",       "1;a= b",         "1;a=b c", "1;a=\"b",
                             "1;a=\"b\"c", "1;a=\"b\\\"", "1;a=\"\x01\"", "1;a=\"\\\x7f\"", "1.0",     "1_0",
                             "1,1",        "1\r",         "1\r;a"}) {
        INFO(line);
        CHECK(end_of(chunked(std::string(line) + "\r\na\r\n0\r\n\r\n")) == bad_extension);
    }
    CHECK(end_of(chunked("1;a=\"\xff\t\";b\r\na\r\n0\r\n\r\n")) == "done [a]");

    CHECK(read(chunked("1\r\nab\r\n0\r\n\r\n")).back() == bad_end);
    CHECK(read(chunked("1\r\na\n0\r\n\r\n")).back() == bad_end);
    CHECK(read(chunked("1\r\na\r\r\n0\r\n\r\n")).back() == bad_end);
    CHECK(read(chunked("1\r\na0\r\n\r\n")).back() == bad_end);
    CHECK(end_of(chunked("1\na\r\n0\r\n\r\n")) == "failed 400 a chunk's size line ends without CR");
    CHECK(end_of(chunked("1\r\na\r\n0\n\r\n")) == "failed 400 a chunk's size line ends without CR");
    CHECK(end_of(chunked("0\r\n\n")) == "failed 400 a line ends without CR");

    // 16 digits are what 64 bits hold.
    CHECK(end_of(chunked("0000000000000001\r\na\r\n0\r\n\r\n")) == "done [a]");
    CHECK(end_of(chunked("00000000000000001\r\na\r\n0\r\n\r\n")) ==
          "failed 400 a chunk's size has more than 16 digits");
    CHECK(end_of(chunked("10000000000000001\r\na\r\n0\r\n\r\n")) ==
          "failed 400 a chunk's size has more than 16 digits");
    CHECK(end_of(chunked("ffffffffffffffff\r\na"), 1000) == "failed 413 the body is over the limit");
    CHECK(end_of(chunked("ffffffffffffffff\r\na"), http::unlimited_body) == "body: chunked");
    CHECK(end_of(chunked("1\r\na\r\nffffffffffffffff\r\na"), http::unlimited_body) ==
          "failed 413 the body is over the limit");
}

TEST_CASE("A trailer has fields, and none that belongs into the head")
{
    const std::string misplaced = "failed 400 a trailer field belongs into the head";
    for (const char* name :
         {"Content-Length", "transfer-encoding", "Host", "Connection", "Proxy-Connection", "Upgrade"}) {
        CHECK(end_of(chunked("0\r\n" + std::string(name) + ": 1\r\n\r\n")) == misplaced);
    }
    CHECK(end_of(chunked("0\r\nX : 1\r\n\r\n")) == bad_name);
    CHECK(end_of(chunked("0\r\nX: 1\r\n y\r\n\r\n")) == "failed 400 a field is continued on a second line");
    CHECK(end_of(chunked("0\r\nX: \x01\r\n\r\n")) == "failed 400 a field value has a control character");
    CHECK(end_of(chunked("0\r\nGET / HTTP/1.1\r\n\r\n")) == "failed 400 a field line has no colon");
}

TEST_CASE("Lines end with CRLF and nothing else")
{
    const std::string bare = "failed 400 a line ends without CR";
    CHECK(end_of("GET / HTTP/1.1\nHost: a\r\n\r\n") == bare);
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\n\r\n") == bare);
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\r\n\n") == bare);
    CHECK(end_of("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n") == bare);
    CHECK(end_of("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n") == "failed 400 not an HTTP version");
    CHECK(end_of("GET / HTTP/1.1\rHost: a\r\n\r\n") == "failed 400 not an HTTP version");
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n") == "failed 400 a field value has a control character");
    CHECK(end_of("GET / HTTP/1.1\r\n\rHost: a\r\n\r\n") == bad_name);
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\r\n\r") == ""); // not yet
}

TEST_CASE("Up to two empty lines before a request are skipped") // RFC 9112 section 2.2
{
    const std::string get = with_line("GET / HTTP/1.1");
    const lines one{"GET / 1.1 at a", "Host: a", "body: none", "done []"};
    CHECK(read("\r\n" + get) == one);
    CHECK(read("\r\n\r\n" + get) == one);
    CHECK(read("\r\n\r\n\r\n" + get) == lines{not_a_line});
    CHECK(read("\r\n\n" + get) == lines{"failed 400 a line ends without CR"});
    CHECK(read("\r\r\n" + get) == lines{not_a_line});
    CHECK(read(" \r\n" + get) == lines{not_a_line});
    // They count anew for each request.
    lines two = one;
    two.insert(two.end(), one.begin(), one.end());
    CHECK(read("\r\n\r\n" + get + "\r\n\r\n" + get + "\r\n") == two);
    CHECK(read(with_fields("Content-Length: 1\r\n", "x\r\n") + get).back() == "done []");

    request_parser parser;
    CHECK(parser.step("\r").what == parse_step::kind::need_more);
    CHECK(parser.started());
    CHECK(parser.step("\n").what == parse_step::kind::need_more);
    CHECK_FALSE(parser.started()); // no byte of a request
    CHECK(parser.step("\r\nG").what == parse_step::kind::need_more);
    CHECK(parser.started());
}

TEST_CASE("A target in absolute form is its path and query, and its host is that of Host") // RFC 9112 section 3.2.2
{
    const auto head = [](std::string_view target, std::string_view host) {
        return read("POST " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").front();
    };
    CHECK(head("http://127.0.0.1:8080/mcp?a=b", "127.0.0.1:8080") == "POST /mcp?a=b 1.1 at 127.0.0.1:8080");
    CHECK(head("HTTPS://A.example/x", "a.Example") == "POST /x 1.1 at a.example");
    CHECK(head("http://[0::1]:1/", "[::1]:1") == "POST / 1.1 at [::1]:1");
    CHECK(head("http://a", "a") == "POST / 1.1 at a");
    CHECK(head("http://a?b", "a") == "POST /?b 1.1 at a");
    CHECK(head("http://a//b/../c", "a") == "POST //b/../c 1.1 at a");

    const std::string other = "failed 400 Host is not the host of the target";
    CHECK(head("http://b/mcp", "a") == other);
    CHECK(head("http://a:80/mcp", "a") == other); // the two texts are to be the same
    CHECK(head("http://a/mcp", "a:80") == other);
    CHECK(head("http://a/mcp", "a.") == other);
    CHECK(end_of("GET http://a/ HTTP/1.1\r\n\r\n") == "failed 400 not exactly one Host");
    for (const char* target : {"http://", "http:///x", "http:/a", "http:a", "ftp://a/", "ws://a/", "http://u@a/",
                               "http://a:0/", "http://a:/", "http://a#b", "http://a/#", "http://a/\x80", "http://a\\b/",
                               "http://%61/", "http://127.1/", "a/"}) {
        INFO(target);
        CHECK(head(target, "a") == bad_target);
    }
    CHECK(end_of(with_line("CONNECT http://a/ HTTP/1.1")) == bad_target);

    // A host of one request says nothing about the next.
    CHECK(read("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n").back() == "done []");
}

TEST_CASE("The request line is method, target and version")
{
    for (const char* line : {"", " ", "GET", "GET /", "GET  / HTTP/1.1x", " GET / HTTP/1.1", "G\tT / HTTP/1.1",
                             "G:T / HTTP/1.1", "G\x80T / HTTP/1.1", "GET\t/ HTTP/1.1"}) {
        INFO(line);
        const std::string end = end_of(with_line(line));
        CHECK((end == not_a_line || end == "failed 400 not an HTTP version"));
    }
    for (const char* version :
         {"HTTP/1.1 ", " HTTP/1.1", "http/1.1", "HTTP/11", "HTTP/1.", "HTTP/.1", "HTTP/1.10", "HTTP/01.1", "HTTP/1,1",
          "HTTPS/1.1", "HTTP 1.1", "", "HTTP/1.x", "HTTP/x.1", "ICY/1.1", "HTTP/1.1\t"}) {
        INFO(version);
        CHECK(end_of(with_line("GET / " + std::string(version))) == "failed 400 not an HTTP version");
    }
    for (const char* version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/0.1", "HTTP/9.9"}) {
        CHECK(end_of(with_line("GET / " + std::string(version))) ==
              "failed 505 an HTTP version other than 1.1 and 1.0");
    }
    CHECK(end_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == "failed 505 an HTTP version other than 1.1 and 1.0");

    for (const char* target : {"*", "a:80", "a", "?x", "#", "/#", "/a#b", "/\x01", "/\x7f", "/\x80", "/\xc3\xa9", "\\",
                               "", "/a\tb", "./a"}) {
        INFO(target);
        CHECK(end_of(with_line("GET " + std::string(target) + " HTTP/1.1")) == bad_target);
    }
    CHECK(end_of(with_line("CONNECT a:80 HTTP/1.1")) == bad_target);
    CHECK(end_of(with_line("CONNECT /a HTTP/1.1")) == bad_target);
    CHECK(end_of(with_line("OPTIONS ** HTTP/1.1")) == bad_target);
    CHECK(end_of(with_line("GET /a\0b HTTP/1.1")) == not_a_line); // the C string ends there
    using namespace std::string_view_literals;
    CHECK(end_of(with_line("GET /a\0b HTTP/1.1"sv)) == bad_target);
    CHECK(read(with_line("OPTIONS * HTTP/1.1")).front() == "OPTIONS * 1.1 at a");
    for (const char* target : {"/", "//x", "/a/../b", "/%", "/%zz", "/?", "/a?b?c", "/~!$&'()*+,;=:@|^`{}[]\"<>\\"}) {
        CHECK(read(with_line("GET " + std::string(target) + " HTTP/1.1")).front() ==
              "GET " + std::string(target) + " 1.1 at a");
    }
    CHECK(read(with_line("!#$%&'*+-.^_`|~09azAZ / HTTP/1.1")).front() == "!#$%&'*+-.^_`|~09azAZ / 1.1 at a");
}

TEST_CASE("There is exactly one Host, and it is one")
{
    const std::string count = "failed 400 not exactly one Host";
    CHECK(end_of("GET / HTTP/1.1\r\n\r\n") == count);
    CHECK(end_of("GET / HTTP/1.0\r\n\r\n") == count);
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == count);
    CHECK(end_of("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: b\r\n\r\n") == count);
    for (const char* host : {"",
                             "a b",
                             "a,b",
                             "a/b",
                             "http://a",
                             "u@a",
                             "a:",
                             "a:x",
                             "a:0",
                             "a:65536",
                             "a:-1",
                             "a:1:2",
                             "::1",
                             "[::1",
                             "[::1]x",
                             "[::1]:",
                             "[fe80::1%25eth0]",
                             "[]",
                             "[1]",
                             "127.1",
                             "1.2.3.256",
                             "0x7f.1",
                             "a..b",
                             ".a",
                             ".",
                             "a\tb",
                             "a?",
                             "a#",
                             "%61",
                             "\xc3\xa9",
                             "a*",
                             "a:80:"}) {
        INFO(host);
        CHECK(end_of("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n") == bad_host);
    }
    CHECK(read("GET / HTTP/1.1\r\nHost: [0:0::0001]:0443 \r\n\r\n").front() == "GET / 1.1 at [::1]:443");
    CHECK(read("GET / HTTP/1.1\r\nHost: A_b.Example.\r\n\r\n").front() == "GET / 1.1 at a_b.example.");
}

TEST_CASE("Fields are names of tokens and values without control characters")
{
    for (const char* line :
         {":", ": x", " : x", "a b: x", "a\x01: x", "a\x80: x", "a(b): x", "\"a\": x", "[a]: x", "a/b: x", "a@b: x",
          "a{b}: x", "a;b: x", "a=b: x", "a,b: x", "a<b>: x", "a?b: x", "a\\b: x", "a\x7f: x"}) {
        INFO(line);
        const std::string end = end_of(with_fields(std::string(line) + "\r\n"));
        CHECK((end == bad_name || end == "failed 400 a field is continued on a second line"));
    }
    CHECK(end_of(with_fields("abc\r\n")) == "failed 400 a field line has no colon");
    for (int c = 0; c < 256; ++c) {
        const char value = static_cast<char>(c);
        const std::string end = end_of(with_fields("X: a" + std::string(1, value) + "b\r\n"));
        INFO(c);
        if (c == '\n') {
            CHECK(end == "failed 400 a line ends without CR");
        } else if ((c < 0x20 && c != '\t') || c == 0x7f) {
            CHECK(end == "failed 400 a field value has a control character");
        } else {
            CHECK(end == "done []");
        }
    }
}

TEST_CASE("Everything is bounded, and at the bound itself still good")
{
    http_limits limits;
    limits.line = 20;
    limits.fields = 40;
    limits.field_count = 4;
    const std::string too_long = "failed 414 the request line is over the limit";
    CHECK(end_of("GET /56789 HTTP/1.12\r\nHost: a\r\n\r\n", 9, limits) == "failed 400 not an HTTP version");
    CHECK(end_of("GET /5678901 HTTP/1.1\r\nHost: a\r\n\r\n", 9, limits) == too_long);
    CHECK(end_of("GET /567890 HTTP/1.1\r\nHost: a\r\n\r\n", 9, limits) == "done []");
    CHECK(end_of("GET /567890 HTTP/1.1\n", 9, limits) == "failed 400 a line ends without CR");
    CHECK(end_of("GET /5678901 HTTP/1.1\n", 9, limits) == too_long);
    CHECK(end_of("GET /567890 HTTP/1.1\r", 9, limits) == "");
    CHECK(end_of("GET /567890 HTTP/1.1\rx", 9, limits) == too_long);
    CHECK(end_of("GET /567890 HTTP/1.1\r\r", 9, limits) == too_long);
    CHECK(end_of("AAAAAAAAAAAAAAAAAAAAA", 9, limits) == too_long); // before its end has come

    const std::string too_large = "failed 431 the fields are over the limit";
    const auto head = [](std::string_view fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(fields); };
    CHECK(end_of(head("X: 234567890123456789012345678\r\n\r\n"), 9, limits) == too_large); // 9 + 32
    CHECK(end_of(head("X: 23456789012345678901234567\r\n\r\n"), 9, limits) == "done []");  // 9 + 31
    CHECK(end_of(head("X: 23456789012345678901234567"), 9, limits) == "");
    CHECK(end_of(head("X: 234567890123456789012345678"), 9, limits) == too_large);
    CHECK(end_of(head("X: 2345678901234567890123456\r\nY"), 9, limits) == too_large);

    const std::string too_many = "failed 431 there are too many fields";
    CHECK(end_of(head("a:\r\nb:\r\nc:\r\n\r\n"), 9, limits) == "done []");
    CHECK(end_of(head("a:\r\nb:\r\nc:\r\nd:\r\n"), 9, limits) == too_many);
}

TEST_CASE("The default bounds are 8 KiB, 64 KiB and 100")
{
    // One cut in the middle is enough here.
    const auto end = [](const std::string& stream) {
        recorder whole(1000);
        whole.feed(stream);
        recorder parts(1000);
        parts.feed(std::string_view(stream).substr(0, stream.size() / 2));
        parts.feed(std::string_view(stream).substr(stream.size() / 2));
        CHECK(parts.lines == whole.lines);
        return whole.lines.back();
    };
    const auto line = [](std::size_t size) { // of the request line
        return with_line("GET /" + std::string(size - 14, 'x') + " HTTP/1.1");
    };
    CHECK(end(line(8192)) == "done []");
    CHECK(end(line(8193)) == "failed 414 the request line is over the limit");
    const auto fields = [](std::size_t size) { return with_fields("X:" + std::string(size - 13, 'x') + "\r\n"); };
    CHECK(end(fields(65536)) == "done []");
    CHECK(end(fields(65537)) == "failed 431 the fields are over the limit");
    const auto count = [](int fields_count) {
        std::string text;
        for (int i = 1; i < fields_count; ++i) text += "X: y\r\n";
        return with_fields(text);
    };
    CHECK(end(count(100)) == "done []");
    CHECK(end(count(101)) == "failed 431 there are too many fields");

    const auto trailer = [](std::size_t size) { return chunked("0\r\nX:" + std::string(size - 4, 'x') + "\r\n\r\n"); };
    CHECK(end(trailer(65536)) == "done []");
    CHECK(end(trailer(65537)) == "failed 431 the fields are over the limit");
    const auto extension = [](std::size_t size) { // in two halves
        const std::string half = ";" + std::string(size / 2 - 1, 'x');
        return chunked("1" + half + "\r\na\r\n0" + half + "\r\n\r\n");
    };
    CHECK(end(extension(8192)) == "done [a]");
    CHECK(end(extension(8194)) == "failed 400 chunk extensions are over the limit");
}

TEST_CASE("A body is held to the limit that was set after its head")
{
    const std::string over = "failed 413 the body is over the limit";
    CHECK(end_of(with_fields("Content-Length: 5\r\n", "hello"), 5) == "done [hello]");
    CHECK(end_of(with_fields("Content-Length: 6\r\n"), 5) == over); // at once
    CHECK(end_of(with_fields("Content-Length: 0\r\n"), 0) == "done []");
    CHECK(end_of(chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), 5) == "done [abcde]");
    const lines all = read(chunked("3\r\nabc\r\n3\r\n"), 5);
    REQUIRE(all.size() == 6);
    CHECK(all[4] == "[abc]");
    CHECK(all[5] == over);

    // Without a word about it the limit is that of a message.
    request_parser parser;
    REQUIRE(parser.step(with_fields("Content-Length: 16777216\r\n")).what == parse_step::kind::head);
    CHECK(parser.step("").what == parse_step::kind::need_more);
    request_parser other;
    REQUIRE(other.step(with_fields("Content-Length: 16777217\r\n")).what == parse_step::kind::head);
    CHECK(other.step("").what == parse_step::kind::failed);
    CHECK(other.error() == http::parse_error{413, "the body is over the limit"});
    CHECK(http::to_fault(other.error()).code == errc::too_large);
}

TEST_CASE("It is known whether a request has begun")
{
    request_parser parser;
    CHECK_FALSE(parser.started());
    static_cast<void>(parser.step(""));
    CHECK_FALSE(parser.started());
    static_cast<void>(parser.step("G"));
    CHECK(parser.started());
    REQUIRE(parser.step("ET / HTTP/1.1\r\nHost: a\r\n\r\n").what == parse_step::kind::head);
    REQUIRE(parser.step("").what == parse_step::kind::done);
    parser.reset();
    CHECK_FALSE(parser.started());
}

TEST_CASE("An idle parser holds little")
{
    CHECK(sizeof(request_parser) < 1024);
    request_parser parser;
    const std::string large =
        "GET /" + std::string(8000, 'x') + " HTTP/1.1\r\nHost: a\r\nX: " + std::string(60000, 'y') + "\r\n\r\n";
    for (const char& byte : large) static_cast<void>(parser.step({&byte, 1}));
    CHECK(parser.head().fields.memory() > 60000);
    parser.reset();
    CHECK(parser.head().fields.memory() <= 2048);
    CHECK(parser.head().target.capacity() < 32);

    // The head may be taken away; the body does not need it.
    REQUIRE(parser.step(with_fields("Content-Length: 1\r\n")).what == parse_step::kind::head);
    const http::request_head head = parser.take_head();
    CHECK(head.target == "/mcp");
    CHECK(head.path() == "/mcp");
    CHECK(parser.head().target.empty());
    CHECK(parser.step("x").body == "x");
    CHECK(parser.step("").what == parse_step::kind::done);
}
