// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <comcp/transport/socket_address.hpp>

#include <string>
#include <string_view>

using comcp::socket_address;

TEST_CASE("The address of a socket is read as people write it, and written the same way")
{
    struct row
    {
        std::string_view text;
        socket_address expected;
        bool local;
    };
    const row rows[] = {
        {"unix:/run/app.sock", {"/run/app.sock", "", 0}, true},
        {"unix:./app.sock", {"./app.sock", "", 0}, true},
        {"unix:@app", {"@app", "", 0}, true},
        {"unix:/run/a:b c", {"/run/a:b c", "", 0}, true},
        {"tcp:127.0.0.1:7000", {"", "127.0.0.1", 7000}, true},
        {"tcp:localhost:0", {"", "localhost", 0}, true},
        {"tcp:[::1]:65535", {"", "::1", 65535}, true},
        {"tcp:example.com:80", {"", "example.com", 80}, false},
        {"tcp:0.0.0.0:80", {"", "0.0.0.0", 80}, false},
        {"tcp:[2001:db8::1]:80", {"", "2001:db8::1", 80}, false},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto read = socket_address::parse(each.text);
        REQUIRE(read.has_value());
        const bool same = *read == each.expected;
        CHECK(same);
        CHECK(read->local() == each.local);
        CHECK(read->text() == each.text);
    }
}

TEST_CASE("What is no address of a socket is refused with the reason")
{
    const std::string longest(107, '/');
    CHECK(socket_address::parse("unix:" + longest).has_value());
    struct row
    {
        std::string text;
        std::string why;
    };
    const row rows[] = {
        {"", "write unix:PATH or tcp:HOST:PORT"},
        {"/run/app.sock", "write unix:PATH or tcp:HOST:PORT"},
        {"http://localhost:80", "write unix:PATH or tcp:HOST:PORT"},
        {"unix:", "the path of a Unix socket begins with '/', '.' or '@'"},
        {"unix:app.sock", "the path of a Unix socket begins with '/', '.' or '@'"},
        {"unix:@", "this names no Unix socket"},
        {std::string("unix:/a\0b", 9), "this names no Unix socket"},
        {"unix:" + longest + "x", "the path of a Unix socket has at most 107 bytes, and not 108"},
        {"tcp:localhost", "a port is missing: ':' and a number, 0 for any"},
        {"tcp:localhost:65536", "a port is a number from 0 to 65535"},
        {"tcp:::1:80", "an IPv6 address stands in brackets"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto read = socket_address::parse(each.text);
        REQUIRE(read.has_error());
        CHECK(read.error().code == comcp::errc::invalid_argument);
        CHECK(read.error().text == "\"" + each.text + "\" is no socket: " + each.why);
    }
    for (const char* bad : {"tcp:", "tcp:localhost:", "tcp:localhost:65536", "tcp:localhost:x", "tcp::80", "tcp:a@b:1"})
        CHECK(socket_address::parse(bad).has_error());
}
