// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/http/host.hpp>

#include "catch.hpp"

#include <string>
#include <string_view>

using namespace comcp::http;

namespace
{

// The one form of an authority, or why it is refused.
std::string form(std::string_view text)
{
    const auto parsed = parse_authority(text);
    if (!parsed) return "! " + parsed.error().text;
    const auto again = parse_authority(parsed->text());
    REQUIRE(again.has_value());
    CHECK(*again == *parsed);
    return parsed->text();
}

std::string v6(std::string_view text)
{
    const auto bytes = parse_ipv6(text);
    return bytes ? ipv6_text(*bytes) : "!";
}

} // namespace

TEST_CASE("An IPv4 address is four decimal numbers")
{
    CHECK(parse_ipv4("127.0.0.1") == ipv4_bytes{127, 0, 0, 1});
    CHECK(parse_ipv4("255.255.255.255") == ipv4_bytes{255, 255, 255, 255});
    for (const char* text : {"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "256.0.0.1", "01.2.3.4",
                             "1.2.3.00", "1.2.3.4 ", "1.2.3.-4", "0x1.2.3.4", "1.2.3.1000", "a.b.c.d"}) {
        INFO(text);
        CHECK_FALSE(parse_ipv4(text));
    }
}

TEST_CASE("An IPv6 address has one text")
{
    CHECK(v6("::") == "::");
    CHECK(v6("::1") == "::1");
    CHECK(v6("0:0:0:0:0:0:0:1") == "::1");
    CHECK(v6("1::") == "1::");
    CHECK(v6("2001:DB8::00a1") == "2001:db8::a1");
    CHECK(v6("2001:db8:0:0:1:0:0:1") == "2001:db8::1:0:0:1"); // the first of two equal runs
    CHECK(v6("2001:0:0:1:0:0:0:1") == "2001:0:0:1::1");       // the longer one
    CHECK(v6("1:0:2:3:4:5:6:7") == "1:0:2:3:4:5:6:7");        // one group is not shortened
    CHECK(v6("1:2:3:4:5:6:7::") == "1:2:3:4:5:6:7:0");
    CHECK(v6("::2:3:4:5:6:7:8") == "0:2:3:4:5:6:7:8");
    CHECK(v6("::ffff:127.0.0.1") == "::ffff:7f00:1");
    CHECK(v6("1:2:3:4:5:6:1.2.3.4") == "1:2:3:4:5:6:102:304");
    CHECK(v6("1:0:0:0:0:0:0:0") == "1::");
    CHECK(v6("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
    for (const char* text : {"",
                             ":",
                             ":::",
                             "1",
                             "1:2:3:4:5:6:7",
                             "1:2:3:4:5:6:7:8:9",
                             "1:2:3:4:5:6:7:",
                             ":1:2:3:4:5:6:7",
                             "1::2::3",
                             "::1:2:3:4:5:6:7:8",
                             "1:2:3:4::5:6:7:8",
                             "12345::",
                             "g::",
                             "::1%eth0",
                             "1:2:3:4:5:6:7:1.2.3.4",
                             "::1.2.3",
                             "::1.2.3.4:5",
                             "1.2.3.4",
                             "::01.2.3.4",
                             "[::1]",
                             " ::1",
                             "::1 ",
                             "1:::2",
                             "::1:",
                             "1:2:3:4:5:6:7:8::"}) {
        INFO(text);
        CHECK(v6(text) == "!");
    }
}

TEST_CASE("A host with or without a port has one form")
{
    CHECK(form("localhost") == "localhost");
    CHECK(form("LOCALHOST:6575") == "localhost:6575");
    CHECK(form("Example.COM.") == "example.com.");
    CHECK(form("127.0.0.1") == "127.0.0.1");
    CHECK(form("127.0.0.1.") == "127.0.0.1");
    CHECK(form("127.0.0.1.:80") == "127.0.0.1:80");
    CHECK(form("[::1]") == "[::1]");
    CHECK(form("[::1]:8765") == "[::1]:8765");
    CHECK(form("[0:0::0001]:0443") == "[::1]:443");
    CHECK(form("a_b-c.d~e") == "a_b-c.d~e");
    CHECK(form("1a.2b") == "1a.2b");
    CHECK(form("a:00000000000000065535") == "a:65535");
    CHECK(form(std::string(253, 'a')) == std::string(253, 'a'));
    CHECK(parse_authority("[::1]:8765")->host == "::1");
    CHECK(parse_authority("[::1]:8765")->port == 8765);
    CHECK_FALSE(parse_authority("[::1]")->port);
}

TEST_CASE("Hosts that programs understand differently are refused with the reason [142]")
{
    const std::string port = "! a port is a number from 1 to 65535";
    for (const char* text :
         {"a:", "a:0", "a:00", "a:65536", "a:99999999999999999999", "a:+1", "a:1x", "a: 1", "a:-1", "[::1]:"}) {
        INFO(text);
        CHECK(form(text) == port);
    }
    const std::string ipv4 = "! an IPv4 address is four decimal numbers from 0 to 255";
    for (const char* text : {"127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "127.0.0.1.2", "a.1",
                             "0x7f.1.", "a.0x", "1.2.3.0xff", "256.256.256.256"}) {
        INFO(text);
        CHECK(form(text) == ipv4);
    }
    const std::string chars = "! a host name has letters, digits, '-', '.', '_' and '~' only";
    for (const char* text : {"a b", "a%20b", "%61", "a,b", "a/b", "a\\b", "a?b", "\xc3\xa9", "a\x01", "a*", "a\tb"}) {
        INFO(text);
        CHECK(form(text) == chars);
    }
    CHECK(form("") == "! the host is empty");
    CHECK(form(".") == "! the host is empty");
    CHECK(form(":80") == "! the host is empty");
    CHECK(form("a..b") == "! a label of the host name is empty");
    CHECK(form(".a") == "! a label of the host name is empty");
    CHECK(form("a..") == "! a label of the host name is empty");
    CHECK(form("user:password@a") == "! a user name or password before the host is not supported");
    CHECK(form("@a") == "! a user name or password before the host is not supported");
    CHECK(form("[fe80::1%eth0]") == "! zone ids of IPv6 addresses are not supported");
    CHECK(form("[fe80::1%25eth0]:80") == "! zone ids of IPv6 addresses are not supported");
    CHECK(form("[::1") == "! no ']' after an IPv6 address");
    CHECK(form("[]") == "! not an IPv6 address between the brackets");
    CHECK(form("[127.0.0.1]") == "! not an IPv6 address between the brackets");
    CHECK(form("[::1]80") == "! after ']' comes a colon and a port, or nothing");
    CHECK(form("::1") == "! an IPv6 address stands in brackets");
    CHECK(form("2001:db8::1:443") == "! an IPv6 address stands in brackets");
    CHECK(form(std::string(254, 'a')) == "! the host is longer than 253 characters");
    CHECK(parse_authority("").error().code == comcp::errc::invalid_argument);
}

TEST_CASE("The names and addresses of this machine are one family")
{
    for (const char* host :
         {"localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.LocalHost.", "127.0.0.1", "127.0.0.1.",
          "127.255.1.2", "::1", "[::1]", "0:0:0:0:0:0:0:1", "[0::1]", "::ffff:127.0.0.1", "[::ffff:7f01:203]"}) {
        INFO(host);
        CHECK(is_loopback(host));
    }
    for (const char* host : {"", ".", "localhost..", ".localhost", "localhos", "xlocalhost", "localhost.example",
                             "128.0.0.1", "0.0.0.0", "::", "[::]", "::2", "127.1", "127.0.0.1.example", "[::1", "::1]",
                             "::ffff:128.0.0.1", "1::1", "127.0.0.1:80"}) {
        INFO(host);
        CHECK_FALSE(is_loopback(host));
    }
}
