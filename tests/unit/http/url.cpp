// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/http/url.hpp>

#include "catch.hpp"

#include <string>
#include <string_view>

using namespace comcp::http;

namespace
{

std::string form(std::string_view text)
{
    const auto parsed = url::parse(text);
    if (!parsed) return "! " + parsed.error().text;
    CHECK(*url::parse(parsed->text()) == *parsed);
    return parsed->text();
}

std::string resolved(std::string_view base, std::string_view reference)
{
    const auto result = url::parse(base)->resolve(reference);
    return result ? result->text() : "! " + result.error().text;
}

} // namespace

TEST_CASE("A URL has its parts")
{
    const url parsed = *url::parse("HTTPS://Example.com:08443/a%2Fb/c?x=/?y#fragment#?");
    CHECK(parsed.scheme() == scheme::https);
    CHECK(parsed.secure());
    CHECK(parsed.host() == "example.com");
    CHECK(parsed.port() == 8443);
    CHECK(parsed.authority().text() == "example.com:8443");
    CHECK(parsed.target() == "/a%2Fb/c?x=/?y");
    CHECK(parsed.path() == "/a%2Fb/c");
    CHECK(parsed.query() == "x=/?y");
    CHECK(parsed.text() == "https://example.com:8443/a%2Fb/c?x=/?y");
    CHECK(parsed.origin() == origin{scheme::https, "example.com", 8443});
    CHECK(url::parse("http://a/?")->target() == "/?");
    CHECK(url::parse("http://a/?")->query().empty());
    CHECK(url::parse("http://a/")->query().empty());
    CHECK_FALSE(url::parse("http://a/")->secure());
}

TEST_CASE("A URL has one form [142]")
{
    CHECK(form("http://a") == "http://a/");
    CHECK(form("http://a?x") == "http://a/?x");
    CHECK(form("http://a#x") == "http://a/");
    CHECK(form("http://a:80/") == "http://a/");
    CHECK(form("http://a:443/") == "http://a:443/");
    CHECK(form("https://a:0443/") == "https://a/");
    CHECK(form("http://[2001:DB8::1]/mcp") == "http://[2001:db8::1]/mcp");
    CHECK(form("http://[::1]:0443/") == "http://[::1]:443/");
    CHECK(form("http://127.0.0.1./") == "http://127.0.0.1/");
    CHECK(form("http://a/b/./c/../d") == "http://a/b/d");
    CHECK(form("http://a/../../b/..") == "http://a/");
    CHECK(form("http://a//b//..") == "http://a//b/");
    CHECK(form("http://a/.?./..") == "http://a/?./..");
    CHECK(form("http://a/...//.x/") == "http://a/...//.x/");
    CHECK(form("http://a/%2e%2E/%7e?%") == "http://a/%2e%2E/%7e?%"); // kept as it was written
    CHECK(form("http://a/{x}|\\^`\"<>") == "http://a/{x}|\\^`\"<>");
}

TEST_CASE("The Host field has brackets, and the port only when it is not the scheme's [142]")
{
    CHECK(url::parse("http://[2001:db8::1]/mcp")->authority().text() == "[2001:db8::1]");
    CHECK(url::parse("http://[2001:db8::1]:443/mcp")->authority().text() == "[2001:db8::1]:443");
    CHECK(url::parse("https://[2001:db8::1]:443/mcp")->authority().text() == "[2001:db8::1]");
    CHECK(url::parse("http://[2001:db8::1]/mcp")->host() == "2001:db8::1");
    CHECK(url::parse("http://[2001:db8::1]/mcp")->origin().text() == "http://[2001:db8::1]");
}

TEST_CASE("What is no URL is refused with the reason, and the reason does not repeat it [142]")
{
    const std::string begin = "! a URL begins with http:// or https://";
    for (const char* text : {"", "a", "/a", "//a/", "ftp://a/", "unix:/a", "http:/a", "http:a", "http//a", "httpss://a",
                             "htt://a", "mailto:a", "javascript:alert(1)"}) {
        INFO(text);
        CHECK(form(text) == begin);
    }
    const std::string chars = "! a URL has no blanks, control and non-ASCII characters: encode them";
    for (const char* text : {" http://a/", "http://a/ ", "http://a/b c", "http://a/\r\nX: y", "http://\xc3\xa9/",
                             "http://a/\x7f", "http://a/\t", "http://a\n/"}) {
        INFO(text);
        CHECK(form(text) == chars);
    }
    CHECK(form("http:///a") == "! the host is empty");
    CHECK(form("http://") == "! the host is empty");
    CHECK(form("http://?") == "! the host is empty");
    CHECK(form("http://u:secret@a/") == "! a user name or password before the host is not supported");
    CHECK(form("http://good\\@evil/") == "! a user name or password before the host is not supported");
    CHECK(form("http://a:b/") == "! a port is a number from 1 to 65535");
    CHECK(form("http://[fe80::1%25eth0]/") == "! zone ids of IPv6 addresses are not supported");
    CHECK(form("http://::1/") == "! an IPv6 address stands in brackets");
    CHECK(form("http://127.1/") == "! an IPv4 address is four decimal numbers from 0 to 255");
    CHECK(form("http://a\\b/") == "! a host name has letters, digits, '-', '.', '_' and '~' only");
    CHECK(form("http://a/" + std::string(url::most - 9, 'x')) == "http://a/" + std::string(url::most - 9, 'x'));
    CHECK(form("http://a/" + std::string(url::most - 8, 'x')) == "! the URL is longer than 8192 characters");
}

TEST_CASE("References are resolved as RFC 3986 says in its section 5.4")
{
    // The base of the RFC, with another scheme.
    const auto check = [](std::string_view reference, std::string_view expected) {
        INFO(reference);
        CHECK(resolved("http://a/b/c/d;p?q", reference) == expected);
    };
    check("g", "http://a/b/c/g");
    check("./g", "http://a/b/c/g");
    check("g/", "http://a/b/c/g/");
    check("/g", "http://a/g");
    check("//g", "http://g/");
    check("?y", "http://a/b/c/d;p?y");
    check("g?y", "http://a/b/c/g?y");
    check("#s", "http://a/b/c/d;p?q");
    check("g#s", "http://a/b/c/g");
    check("g?y#s", "http://a/b/c/g?y");
    check(";x", "http://a/b/c/;x");
    check("g;x?y#s", "http://a/b/c/g;x?y");
    check("", "http://a/b/c/d;p?q");
    check(".", "http://a/b/c/");
    check("./", "http://a/b/c/");
    check("..", "http://a/b/");
    check("../", "http://a/b/");
    check("../g", "http://a/b/g");
    check("../..", "http://a/");
    check("../../", "http://a/");
    check("../../g", "http://a/g");
    check("../../../g", "http://a/g");
    check("../../../../g", "http://a/g");
    check("/./g", "http://a/g");
    check("/../g", "http://a/g");
    check("g.", "http://a/b/c/g.");
    check(".g", "http://a/b/c/.g");
    check("g..", "http://a/b/c/g..");
    check("..g", "http://a/b/c/..g");
    check("./../g", "http://a/b/g");
    check("./g/.", "http://a/b/c/g/");
    check("g/./h", "http://a/b/c/g/h");
    check("g/../h", "http://a/b/c/h");
    check("g;x=1/./y", "http://a/b/c/g;x=1/y");
    check("g;x=1/../y", "http://a/b/c/y");
    check("g?y/./x", "http://a/b/c/g?y/./x");
    check("g?y/../x", "http://a/b/c/g?y/../x");
    check("http:g", "! a URL begins with http:// or https://"); // strict
    check("g:h", "! a URL begins with http:// or https://");
    check("./g:h", "http://a/b/c/g:h");
    check("https://b/x", "https://b/x");
    check("HTTPS://B:443", "https://b/");
    check("//[::1]:8080/x", "http://[::1]:8080/x");
    check("//u@b/", "! a user name or password before the host is not supported");
    check("a b", "! a URL has no blanks, control and non-ASCII characters: encode them");
    check("/\r\n", "! a URL has no blanks, control and non-ASCII characters: encode them");
    check(".//evil/", "http://a/b/c//evil/");
    check("/.//evil/", "http://a//evil/"); // the host does not change
    check("\\\\evil", "http://a/b/c/\\\\evil");

    CHECK(resolved("https://h/api/v1/sse", "/v1/messages?s=1") == "https://h/v1/messages?s=1");
    CHECK(resolved("https://h/api/v1/sse", "messages?s=1") == "https://h/api/v1/messages?s=1");
    CHECK(resolved("https://h:444/sse", "//h/x") == "https://h/x");
    CHECK(resolved("http://a?q", "b") == "http://a/b");
    CHECK(resolved("http://a/b?q/r", "c") == "http://a/c");
}

TEST_CASE("An origin is a scheme, a host and a port, however it is written [142]")
{
    CHECK(*parse_origin("http://[0::1]:080") == origin{scheme::http, "::1", 80});
    CHECK(*parse_origin("HTTPS://A") == url::parse("https://a:443/x?y")->origin());
    CHECK_FALSE(*parse_origin("https://a") == *parse_origin("http://a"));
    CHECK_FALSE(*parse_origin("https://a") == *parse_origin("https://a:444"));
    CHECK_FALSE(*parse_origin("https://a") == *parse_origin("https://a."));
    CHECK(parse_origin("https://[::1]:8443")->text() == "https://[::1]:8443");
    for (const char* text : {"null", "", "a", "https://", "https://a/", "https://a?", "https://a#", "https://a b",
                             "https://a, https://b", "file://", "chrome-extension://abc", "https://u@a"}) {
        INFO(text);
        CHECK_FALSE(parse_origin(text).has_value());
    }
}
