// SPDX-License-Identifier: MIT
#include <comcp/http/sse_endpoint.hpp>

#include "catch.hpp"

#include <string>
#include <string_view>

using namespace comcp::http;

namespace
{

std::string endpoint(std::string_view stream, std::string_view told, std::string_view prefix = {})
{
    const auto read = sse_endpoint(*url::parse(stream), told, prefix);
    if (read) return read->text();
    CHECK(read.error().code == comcp::errc::bad_response);
    return "! " + read.error().text;
}

const std::string_view base = "https://h.test/api/v1/sse?tenant=1";

} // namespace

TEST_CASE("An endpoint is a reference to the stream's URL (HTTP 95, E-50)")
{
    CHECK(endpoint(base, "/v1/messages?s=1") == "https://h.test/v1/messages?s=1");
    CHECK(endpoint(base, "messages?s=1") == "https://h.test/api/v1/messages?s=1");
    CHECK(endpoint(base, "./messages/") == "https://h.test/api/v1/messages/");
    CHECK(endpoint(base, "../messages") == "https://h.test/api/messages");
    CHECK(endpoint(base, "?s=1") == "https://h.test/api/v1/sse?s=1");
    CHECK(endpoint(base, "https://h.test/m?s=1") == "https://h.test/m?s=1");
    CHECK(endpoint(base, "HTTPS://H.TEST:443/m") == "https://h.test/m");
    CHECK(endpoint(base, "//h.test/m") == "https://h.test/m");
    CHECK(endpoint(base, " \t/m\r\n") == "https://h.test/m");
    CHECK(endpoint("http://127.0.0.1:3001/sse", "/message?sessionId=9f") ==
          "http://127.0.0.1:3001/message?sessionId=9f");
}

TEST_CASE("An endpoint at another origin is refused by name (E-51)")
{
    const std::string_view others[] = {
        "https://evil.test/m",        "//evil.test/m",       "http://h.test/m",    "https://h.test:8443/m",
        "https://h.test.evil.test/m", "http://h.test:443/m", "https://127.0.0.1/m"};
    for (const std::string_view each : others) {
        INFO(std::string(each));
        const std::string said = endpoint(base, each);
        CHECK(said.starts_with("! the server named an endpoint at another origin, http"));
        CHECK(said.ends_with(" instead of https://h.test"));
    }
}

TEST_CASE("An endpoint that is no URL is refused, and its text is not repeated")
{
    CHECK(endpoint(base, "") == "! the server named an empty endpoint");
    CHECK(endpoint(base, " \t") == "! the server named an empty endpoint");
    const std::string long_one = "/" + std::string(url::most, 'x');
    const std::string_view bad[] = {"https://user:secret@h.test/m",
                                    "//user@h.test/m",
                                    "ftp://h.test/secret",
                                    "javascript:secret",
                                    "file:///secret",
                                    "/m secret",
                                    "/m\x01secret",
                                    "https://",
                                    long_one};
    for (const std::string_view each : bad) {
        INFO(std::string(each.substr(0, 40)));
        const std::string said = endpoint(base, each);
        CHECK(said.starts_with("! the server named an endpoint that is none: "));
        CHECK(said.find("secret") == said.npos);
    }
}

TEST_CASE("A prefix that a proxy takes off is put before the endpoint (HTTP 95)")
{
    CHECK(endpoint("https://h.test/api/sse", "/messages?s=1", "/api") == "https://h.test/api/messages?s=1");
    CHECK(endpoint("https://h.test/a/b/sse", "https://h.test/m", "/a/b") == "https://h.test/a/b/m");
    const std::string long_one = "/" + std::string(url::most - 10, 'x');
    CHECK(endpoint(base, long_one, "/a/long/prefix").starts_with("! the endpoint with its prefix is none: "));
}
