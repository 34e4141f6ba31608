// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/http/date.hpp>
#include <comcp/http/parser.hpp>
#include <comcp/http/print.hpp>
#include <comcp/http/url.hpp>

#include "catch.hpp"

#include <ctime>
#include <limits>
#include <string>
#include <string_view>

using namespace comcp::http;

namespace
{

request_head request(std::string_view method = "POST")
{
    request_head head;
    head.method = method;
    head.target = "/mcp";
    head.host = authority{"::1", 8080};
    return head;
}

response_head response(int status)
{
    response_head head;
    head.status = status;
    return head;
}

// What is written, or why nothing is.
template <class Head>
std::string printed(const Head& head)
{
    std::string out = "kept ";
    if (auto done = print(out, head); !done) {
        CHECK(out == "kept ");
        CHECK(done.error().code == comcp::errc::invalid_argument);
        return "! " + done.error().text;
    }
    return out.substr(5);
}

} // namespace

TEST_CASE("A request is written with its host and its framing")
{
    request_head head = request();
    head.fields = {{"Accept", "application/json, text/event-stream"}, {"X", ""}};
    head.body = framing::bytes(2);
    CHECK(printed(head) == "POST /mcp HTTP/1.1\r\nHost: [::1]:8080\r\nAccept: application/json, text/event-stream\r\n"
                           "X: \r\nContent-Length: 2\r\n\r\n");
    head.fields.clear();
    head.body = framing::chunked();
    head.keep_alive = false;
    head.expects_continue = true;
    CHECK(printed(head) == "POST /mcp HTTP/1.1\r\nHost: [::1]:8080\r\nExpect: 100-continue\r\n"
                           "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    CHECK(printed(request("GET")) == "GET /mcp HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
    CHECK(printed(request("POST")) == "POST /mcp HTTP/1.1\r\nHost: [::1]:8080\r\nContent-Length: 0\r\n\r\n");

    const url to = *url::parse("https://Example.com:443/a?b");
    head = request("GET");
    head.host = to.authority();
    head.target = to.target();
    CHECK(printed(head) == "GET /a?b HTTP/1.1\r\nHost: example.com\r\n\r\n");
}

TEST_CASE("A response is written with its reason and its framing")
{
    response_head head = response(200);
    CHECK(printed(head) == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    head.fields.add("Content-Type", "text/event-stream");
    head.body = framing::chunked();
    CHECK(printed(head) == "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    head.reason = "Fine";
    head.body = framing::until_close();
    CHECK(printed(head) == "HTTP/1.1 200 Fine\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    CHECK(printed(response(202)) == "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    CHECK(printed(response(204)) == "HTTP/1.1 204 No Content\r\n\r\n");
    CHECK(printed(response(304)) == "HTTP/1.1 304 Not Modified\r\n\r\n");
    CHECK(printed(response(299)) == "HTTP/1.1 299 Success\r\nContent-Length: 0\r\n\r\n");
    CHECK(printed(response(999)) == "HTTP/1.1 999 Unknown\r\nContent-Length: 0\r\n\r\n");
}

TEST_CASE("Whole responses are written in one piece")
{
    std::string out;
    response_head head = response(404);
    head.fields.add("Content-Type", "application/json");
    REQUIRE(print(out, head, "{}").has_value());
    CHECK(out == "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    out.clear();
    head.fields.add("X", "\n");
    CHECK_FALSE(print(out, head, "{}").has_value());
    CHECK(out.empty());
    REQUIRE(print(out, response(202), "").has_value());
    CHECK(out == "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    out.clear();
    REQUIRE(print(out, response(204), "").has_value());
    CHECK(out == "HTTP/1.1 204 No Content\r\n\r\n");

    out.clear();
    print(out, parse_error{431, "there are too many fields"});
    CHECK(out == "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
                 "Content-Length: 26\r\nConnection: close\r\n\r\nthere are too many fields\n");
    response_parser parser;
    CHECK(parser.step(out).what == parse_step::kind::head);
    CHECK(parser.step("").what == parse_step::kind::need_more);
    CHECK_FALSE(parser.head().keep_alive);
}

TEST_CASE("Nothing is written that would be read as something else")
{
    request_head head = request();
    const auto with = [](std::string_view name, std::string_view value) {
        request_head out = request();
        out.fields.add(name, value);
        const std::string text = printed(out);
        response_head other = response(200);
        other.fields.add(name, value);
        CHECK(printed(other) == text);
        return text;
    };
    using namespace std::string_view_literals;
    for (const std::string_view value : {"a\rb"sv, "a\nb"sv, "a\r\nX: y"sv, "a\0b"sv, "\x7f"sv, "\x01"sv}) {
        CHECK(with("X", value) == "! a control character in the field X");
    }
    for (const std::string_view name : {""sv, "a b"sv, "a:"sv, "X\r\nY"sv, "\x80"sv, "a\0"sv}) {
        CHECK(with(name, "x") == "! bad characters in the name of a field");
    }
    for (const char* name : {"Host", "connection", "CONTENT-LENGTH", "Transfer-Encoding", "Keep-Alive", "Expect", "TE",
                             "Trailer", "Upgrade", "Proxy-Connection"}) {
        CHECK(with(name, "x") == "! the field " + std::string(name) + " is not for hosts to set");
    }
    CHECK_FALSE(is_reserved_field("Content-Type"));

    for (const char* method : {"", "A B", "GET\r\n", "G\xc3"}) {
        CHECK(printed(request(method)) == "! bad characters in the method");
    }
    for (const char* target : {"", "mcp", "/ ", "/\r\n", "*", "http://a/", "/#x", "/\xc3"}) {
        head.target = target;
        CHECK(printed(head) == "! the target is not a path");
    }
    head = request();
    for (const authority& host :
         {authority{}, authority{"a b", {}}, authority{"a\r\nX: y", {}}, authority{"A", {}}, authority{"a:80", {}},
          authority{"[::1]", {}}, authority{"0::1", {}}, authority{"a", 0}}) {
        head.host = host;
        CHECK(printed(head) == "! the host is not a host in its usual form");
    }
    head = request();
    head.body = framing::until_close();
    CHECK(printed(head) == "! the body of a request does not end with the connection");

    response_head bad = response(200);
    bad.reason = "a\r\nX: y";
    CHECK(printed(bad) == "! a control character in the reason");
    for (const int status : {-1, 0, 99, 100, 101, 199, 1000})
        CHECK(printed(response(status)) == "! a status is 200 to 999");
    for (const int status : {204, 304}) {
        bad = response(status);
        bad.body = framing::bytes(0);
        CHECK(printed(bad) == "! a response with status 204 or 304 has no body");
    }
}

TEST_CASE("What is written is read back as the same head")
{
    request_head head = request("DELETE");
    head.target = "/a?b=%20";
    head.fields = {{"Mcp-Session-Id", "1"}, {"x", "a \t\xff z"}};
    head.body = framing::bytes(3);
    std::string text = printed(head);
    request_parser parser;
    REQUIRE(parser.step(text).what == parse_step::kind::head);
    const request_head& read = parser.head();
    CHECK(read.method == head.method);
    CHECK(read.target == head.target);
    CHECK(read.host == head.host);
    CHECK(read.body == head.body);
    CHECK(read.keep_alive);
    CHECK(read.fields ==
          fields{{"Host", "[::1]:8080"}, {"Mcp-Session-Id", "1"}, {"x", "a \t\xff z"}, {"Content-Length", "3"}});
    response_parser provisional;
    CHECK(provisional.step(continue_response).what == parse_step::kind::need_more);
    CHECK(provisional.error() == parse_error{});
}

TEST_CASE("Status codes have their texts")
{
    CHECK(status_text(200) == "OK");
    CHECK(status_text(413) == "Content Too Large");
    CHECK(status_text(418) == "Client Error");
    CHECK(status_text(599) == "Server Error");
    CHECK(status_text(399) == "Redirection");
    CHECK(status_text(199) == "Provisional");
    CHECK(status_text(0) == "Unknown");
    CHECK(status_text(-200) == "Unknown");
}

TEST_CASE("Dates are written as HTTP writes them")
{
    CHECK(imf_fixdate(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(imf_fixdate(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
    CHECK(imf_fixdate(-1) == "Wed, 31 Dec 1969 23:59:59 GMT");
    CHECK(imf_fixdate(951782400) == "Tue, 29 Feb 2000 00:00:00 GMT");
    CHECK(imf_fixdate(4107542399) == "Sun, 28 Feb 2100 23:59:59 GMT");
    CHECK(imf_fixdate(4107542400) == "Mon, 01 Mar 2100 00:00:00 GMT");
    CHECK(imf_fixdate(std::numeric_limits<std::time_t>::max()) == "Fri, 31 Dec 9999 23:59:59 GMT");
    CHECK(imf_fixdate(std::numeric_limits<std::time_t>::min()) == "Sat, 01 Jan 0000 00:00:00 GMT");
}
