// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <comcp/http/listen_address.hpp>

#include <string>
#include <string_view>

using comcp::http::listen_address;

TEST_CASE("An address to listen at is read as people write it")
{
    struct row
    {
        std::string_view text;
        listen_address expected;
        std::string_view url;
    };
    const row rows[] = {
        {"localhost:0", {"localhost", 0, "/mcp"}, "http://localhost:0/mcp"},
        {":8080", {"localhost", 8080, "/mcp"}, "http://localhost:8080/mcp"},
        {"127.0.0.1:8080/", {"127.0.0.1", 8080, "/"}, "http://127.0.0.1:8080/"},
        {"http://LocalHost:65535/a/b", {"localhost", 65535, "/a/b"}, "http://localhost:65535/a/b"},
        {"[::1]:1/mcp", {"::1", 1, "/mcp"}, "http://[::1]:1/mcp"},
        {"[2001:DB8::1]:80", {"2001:db8::1", 80, "/mcp"}, "http://[2001:db8::1]:80/mcp"},
        {"0.0.0.0:80", {"0.0.0.0", 80, "/mcp"}, "http://localhost:80/mcp"},
        {"[::]:80", {"::", 80, "/mcp"}, "http://localhost:80/mcp"},
        {"unix:/run/app.sock", {"localhost", 0, "/mcp", "/run/app.sock"}, "http://unix:/run/app.sock:/mcp"},
        {"unix:/run/app.sock:/a/b", {"localhost", 0, "/a/b", "/run/app.sock"}, "http://unix:/run/app.sock:/a/b"},
        {"http://unix:/run/a:b:/", {"localhost", 0, "/", "/run/a:b"}, "http://unix:/run/a:b:/"},
        {"unix:@app:/mcp", {"localhost", 0, "/mcp", "@app"}, "http://unix:@app:/mcp"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto read = listen_address::parse(each.text);
        REQUIRE(read.has_value());
        const bool same = *read == each.expected;
        CHECK(same);
        CHECK(read->url() == each.url);
    }
}

TEST_CASE("What is no address to listen at is refused with the reason")
{
    struct row
    {
        std::string_view text;
        std::string_view why;
    };
    const row rows[] = {
        {"", "a port is missing: ':' and a number, 0 for any"},
        {"localhost", "a port is missing: ':' and a number, 0 for any"},
        {"[::1]", "a port is missing: ':' and a number, 0 for any"},
        {"localhost:", "a port is a number from 0 to 65535"},
        {"localhost:65536", "a port is a number from 0 to 65535"},
        {"localhost:-1", "a port is a number from 0 to 65535"},
        {"localhost:http", "a port is a number from 0 to 65535"},
        {"localhost:000080", "a port is a number from 0 to 65535"},
        {"::1:80", "an IPv6 address stands in brackets"},
        {"example.com:80", "the host is an IP address or \"localhost\""},
        {"1.2.3:80", "an IPv4 address is four decimal numbers from 0 to 255"},
        {"https://localhost:80", "this server speaks no TLS: write http:// or nothing"},
        {"localhost:80/a b", "the path has characters that must be encoded, or a query"},
        {"localhost:80/a?b", "the path has characters that must be encoded, or a query"},
        {"unix:/run/app.sock:/a?b", "the path has characters that must be encoded, or a query"},
        {"unix:", "the path of a Unix socket begins with '/', '.' or '@'"},
        {"unix:80", "the path of a Unix socket begins with '/', '.' or '@'"},
        {"unix::/mcp", "the path of a Unix socket begins with '/', '.' or '@'"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto read = listen_address::parse(each.text);
        REQUIRE(read.has_error());
        CHECK(read.error().code == comcp::errc::invalid_argument);
        CHECK(read.error().text ==
              "\"" + std::string(each.text) + "\" is no address to listen at: " + std::string(each.why));
    }
}

TEST_CASE("Only this machine reaches a loopback address")
{
    CHECK(listen_address().loopback());
    CHECK(listen_address{"127.1.2.3", 80, "/"}.loopback());
    CHECK(listen_address{"::1", 80, "/"}.loopback());
    CHECK(listen_address{"0.0.0.0", 80, "/", "/run/app.sock"}.loopback());
    CHECK_FALSE(listen_address{"0.0.0.0", 80, "/"}.loopback());
    CHECK_FALSE(listen_address{"::", 80, "/"}.loopback());
    CHECK_FALSE(listen_address{"192.168.0.1", 80, "/"}.loopback());
}

TEST_CASE("A client means a Unix socket only where no URL can stand")
{
    CHECK(listen_address::names_socket("http://unix:/run/app.sock:/mcp"));
    CHECK(listen_address::names_socket("http://unix:./app.sock"));
    CHECK(listen_address::names_socket("http://unix:@app:/mcp"));
    CHECK_FALSE(listen_address::names_socket("http://unix:80/mcp")); // a host of that name
    CHECK_FALSE(listen_address::names_socket("http://unix/mcp"));
    CHECK_FALSE(listen_address::names_socket("http://unix:"));
    CHECK_FALSE(listen_address::names_socket("https://unix:/run/app.sock"));
    CHECK_FALSE(listen_address::names_socket("unix:/run/app.sock"));
}
