// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/uri_template.hpp>

#include "catch.hpp"

using comcp::uri_template;
using comcp::uri_variables;

namespace
{

std::optional<uri_variables> match(const char* pattern, std::string_view uri)
{
    return uri_template::parse(pattern).value().match(uri);
}

std::string expand(const char* pattern, const uri_variables& values)
{
    return uri_template::parse(pattern).value().expand(values);
}

} // namespace

TEST_CASE("a template expands as RFC 6570 says", "[protocol]")
{
    const uri_variables values = {{"var", "value"},     {"hello", "Hello World!"},
                                  {"path", "/foo/bar"}, {"x", "1024"},
                                  {"empty", ""},        {"e", "a%20b"}};
    CHECK(expand("{var}", values) == "value");
    CHECK(expand("{hello}", values) == "Hello%20World%21");
    CHECK(expand("O{empty}X", values) == "OX");
    CHECK(expand("O{undef}X", values) == "OX");
    CHECK(expand("{+var}", values) == "value");
    CHECK(expand("{+hello}", values) == "Hello%20World!");
    CHECK(expand("{+path}/here", values) == "/foo/bar/here");
    CHECK(expand("{path}", values) == "%2Ffoo%2Fbar");
    CHECK(expand("{e}", values) == "a%2520b");
    CHECK(expand("{+e}", values) == "a%20b");
    CHECK(expand("{/var}", values) == "/value");
    CHECK(expand("{/var,x}/here", values) == "/value/1024/here");
    CHECK(expand("{/undef}/here", values) == "/here");
    CHECK(expand("{?x,empty}", values) == "?x=1024&empty=");
    CHECK(expand("{?undef,x}", values) == "?x=1024");
    CHECK(expand("{?undef}", values).empty());
    CHECK(expand("caf\xC3\xA9/{var}", values) == "caf\xC3\xA9/value");
    CHECK(expand("{a}", {{"a", "\xC3\xA9\n"}}) == "%C3%A9%0A");
}

TEST_CASE("a URI gives the variables that it was made of", "[protocol]")
{
    CHECK(match("x://a", "x://a") == uri_variables{});
    CHECK_FALSE(match("x://a", "x://b"));
    CHECK_FALSE(match("x://a", "x://a/"));
    CHECK(match("x://{id}", "x://7") == uri_variables{{"id", "7"}});
    CHECK(match("x://{id}/end", "x://a%20b/end") == uri_variables{{"id", "a b"}});
    CHECK(match("x://{a}/{b}", "x://1/2") == uri_variables{{"a", "1"}, {"b", "2"}});
    CHECK(match("file:///{+path}", "file:///a/b%2Fc?d#e") == uri_variables{{"path", "a/b/c?d#e"}});
    CHECK(match("{+a}x{b}", "1x/2x3") == uri_variables{{"a", "1x/2"}, {"b", "3"}});
    CHECK(match("{a}.{b}", "x.y.z") == uri_variables{{"a", "x.y"}, {"b", "z"}});
    CHECK(match("", "") == uri_variables{});
}

TEST_CASE("a simple variable is never empty and never has a slash, in no spelling", "[protocol]")
{
    for (const char* uri : {"x://", "x:///", "x://a/b", "x://a%2Fb", "x://a%2fb", "x://..%2F..%2Fetc", "x://a?b",
                            "x://a#b", "x://a%3Fb", "x://a%23b"}) {
        CHECK_FALSE(match("x://{id}", uri));
    }
    CHECK(match("x://{id}", "x://..") == uri_variables{{"id", ".."}});
    CHECK_FALSE(match("x://{+path}", "x://"));
}

TEST_CASE("a NUL and a percent sign without two digits match nothing", "[protocol]")
{
    const std::string raw("x://a\0b", 7);
    CHECK_FALSE(match("x://{+id}", raw));
    for (const char* uri : {"x://a%00b", "x://%", "x://%2", "x://%zz", "x://a%2"}) {
        CHECK_FALSE(match("x://{+id}", uri));
        CHECK_FALSE(match("x://{id}", uri));
    }
    CHECK(match("x://{+id}", "x://%25") == uri_variables{{"id", "%"}});
}

TEST_CASE("an escape is never divided between a variable and a literal", "[protocol]")
{
    CHECK_FALSE(match("x://{a}41", "x://%41"));
    CHECK(match("x://{a}41", "x://b%4141") == uri_variables{{"a", "bA"}});
    CHECK(match("x://{a}%41", "x://b%41") == uri_variables{{"a", "b"}});
}

TEST_CASE("segments may be missing", "[protocol]")
{
    CHECK(match("x:{/a,b}", "x:/1/2") == uri_variables{{"a", "1"}, {"b", "2"}});
    CHECK(match("x:{/a,b}", "x:/1") == uri_variables{{"a", "1"}});
    CHECK(match("x:{/a,b}", "x:") == uri_variables{});
    CHECK(match("x:{/a}/end", "x:/end") == uri_variables{});
    CHECK(match("x:{/a}/end", "x:/1/end") == uri_variables{{"a", "1"}});
    CHECK_FALSE(match("x:{/a}", "x:/"));
    CHECK_FALSE(match("x:{/a}", "x:1"));
    CHECK_FALSE(match("x:{/a}", "x:/1/2"));
}

TEST_CASE("a query has its variables in any order, each at most once, and no others", "[protocol]")
{
    CHECK(match("x://s{?q,n}", "x://s") == uri_variables{});
    CHECK(match("x://s{?q,n}", "x://s?n=2&q=a%26b") == uri_variables{{"q", "a&b"}, {"n", "2"}});
    CHECK(match("x://s{?q}", "x://s?q=") == uri_variables{{"q", ""}});
    CHECK(match("x://s{?q}", "x://s?q=a=b/c?d") == uri_variables{{"q", "a=b/c?d"}});
    for (const char* uri : {"x://s?", "x://s?q", "x://s?q=1&q=2", "x://s?other=1", "x://s?q=1&", "x://s?q=1#f"}) {
        CHECK_FALSE(match("x://s{?q,n}", uri));
    }
    CHECK(match("x://{id}{?q}", "x://7?q=1") == uri_variables{{"id", "7"}, {"q", "1"}});
}

TEST_CASE("what is expanded matches again", "[protocol]")
{
    const uri_variables values = {{"a", "1 2"}, {"b", "x/y"}, {"c", "\xC3\xA9"}, {"d", "&="}};
    const auto made = uri_template::parse("t://{a}/{+b}{/c}{?d}").value();
    CHECK(made.variables() == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(made.expand(values) == "t://1%202/x/y/%C3%A9?d=%26%3D");
    const auto found = made.match(made.expand(values));
    REQUIRE(found.has_value());
    CHECK(found->at("a") == "1 2");
    CHECK(found->at("d") == "&=");
}

TEST_CASE("a template that is not understood is refused", "[protocol]")
{
    for (const char* text : {"{",     "{a",    "}",    "a}",   "{}",   "{+}",    "{a,b}", "{+a,b}",  "{a:3}",
                             "{a*}",  "{#a}",  "{.a}", "{;a}", "{&a}", "{a}{a}", "{?a}b", "{?a}{b}", "?x{?a}",
                             "{a b}", "{/a,}", "a b",  "a\"b", "a%",   "a%zz",   "a%00",  "{=a}",    "{{a}}"}) {
        INFO(text);
        const auto read = uri_template::parse(text);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().code == comcp::errc::invalid_argument);
        CHECK(read.error().text.starts_with("URI template \""));
    }
    CHECK_FALSE(uri_template::parse(std::string(2049, 'a')).has_value());
    std::string many = "x:";
    for (int i = 0; i < 33; ++i) many += "{v" + std::to_string(i) + "}";
    CHECK_FALSE(uri_template::parse(many).has_value());
}

TEST_CASE("the worst template and URI are matched at once", "[protocol]")
{
    std::string text;
    for (std::size_t i = 0; i < uri_template::max_variables; ++i) text += "{+v" + std::to_string(i) + "}a";
    const auto made = uri_template::parse(text).value();
    const std::string uri(uri_template::max_uri, 'a');
    const auto found = made.match(uri);
    REQUIRE(found.has_value());
    CHECK(found->at("v0").size() == uri.size() - 2 * uri_template::max_variables + 1);
    CHECK_FALSE(made.match(uri.substr(1) + "b"));
    CHECK_FALSE(made.match(uri + "a"));
}
