// SPDX-License-Identifier: MIT
#include <comcp/json/source.hpp>

#include <comcp/error.hpp>

#include "catch.hpp"

#include <string>

namespace
{

using comcp::errc;
using comcp::member_source;
using comcp::raw_json;

std::string found(std::string_view object, std::string_view key)
{
    return std::string(member_source(object, key).value_or("absent"));
}

} // namespace

TEST_CASE("raw_json keeps the text of numbers", "[json]")
{
    CHECK(raw_json().text() == "null");
    CHECK(raw_json("1.0").text() == "1.0");
    for (const char* number : {"1.0", "1E400", "-0", "123456789012345678901234"}) {
        CHECK(raw_json::checked(number, 1).value().text() == number);
    }
}

TEST_CASE("raw_json::checked joins lines and refuses what is not JSON", "[json]")
{
    CHECK(raw_json::checked("{\n  \"a\" :\r\n [1,\n2, \"x\\ny\"]\n}\n", 2).value().text() ==
          R"({  "a" : [1,2, "x\ny"]})");
    CHECK(raw_json::checked("{\"a\"", 2).error().code == errc::parse_error);
    CHECK(raw_json::checked("1 2", 2).error().code == errc::parse_error);
    CHECK(raw_json::checked("\"a\nb\"", 2).error().code == errc::parse_error);
    CHECK(raw_json::checked("\"\xFF\"", 2).error().code == errc::parse_error);
    CHECK(raw_json::checked("[[[]]]", 2).error().code == errc::too_deep);
}

TEST_CASE("member_source finds the text of a member's value", "[json]")
{
    const std::string_view object =
        R"( { "a":1.0, "b" : "x,\"}\\" ,"c":[1,{"a":"]"},[]],"d":{"a":{}}, "e":1E400,"f":null,"":-0 } )";
    CHECK(found(object, "a") == "1.0");
    CHECK(found(object, "b") == R"("x,\"}\\")");
    CHECK(found(object, "c") == R"([1,{"a":"]"},[]])");
    CHECK(found(object, "d") == R"({"a":{}})");
    CHECK(found(object, "e") == "1E400");
    CHECK(found(object, "f") == "null");
    CHECK(found(object, "") == "-0");
    CHECK(found(object, "g") == "absent");
    CHECK(found("{}", "a") == "absent");
    CHECK(found("[\"a\",1]", "a") == "absent");
    CHECK(found(R"({"a":{"b":1}})", "b") == "absent");
}

TEST_CASE("member_source takes the last of equal keys and compares them unescaped", "[json]")
{
    CHECK(found(R"({"id":1,"\u0069d":2})", "id") == "2");
    CHECK(found(R"({"\u0069d":1,"id":2})", "id") == "2");
    CHECK(found(R"({"a\\":1,"a\"":2,"\/":3,"\b\f\n\r\t":4})", "a\\") == "1");
    CHECK(found(R"({"a\\":1,"a\"":2,"\/":3,"\b\f\n\r\t":4})", "a\"") == "2");
    CHECK(found(R"({"a\\":1,"a\"":2,"\/":3,"\b\f\n\r\t":4})", "/") == "3");
    CHECK(found(R"({"a\\":1,"a\"":2,"\/":3,"\b\f\n\r\t":4})", "\b\f\n\r\t") == "4");
    CHECK(found(R"({"\u00e9\u20AC\ud83d\uDE00":5})", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == "5");
    CHECK(found(R"({"\u0000":6})", std::string_view("\0", 1)) == "6");
}

TEST_CASE("skip_value ends where the value ends", "[json]")
{
    for (const char* value : {"1", "-1.5e+3", "true", "null", "\"\"", "\"\\\"\"", "\"\\\\\"", "[]", "{}", "[[],{}]",
                              R"({"a":[1,2,"]"]})", "[ 1 , 2 ]"}) {
        const std::string text = value;
        for (const char* behind : {"", ",1", "]", "}", " ", "\n"}) {
            INFO(text + behind);
            CHECK(comcp::skip_value(text + behind, 0) == text.size());
            CHECK(comcp::skip_value("[" + text + behind, 1) == text.size() + 1);
        }
    }
}

TEST_CASE("member_source stays inside of text that is not JSON", "[json]")
{
    const std::string whole = R"({"a":{"b":[1,"x\"y",true],"\ud83d\ude00":2} , "c":"d"})";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::string cut(whole, 0, size); // a buffer of its own, so that the sanitizer sees its end
        for (const char* key : {"a", "c", ""}) {
            const auto source = member_source(cut, key);
            if (source) CHECK(source->data() + source->size() <= cut.data() + cut.size());
        }
        CHECK(comcp::skip_value(cut, 0) <= cut.size());
    }
    for (const char* odd : {"{", "{\"", "{\"\\", "{\"\\u", "{\"\\ud83d\\u", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}",
                            "{,}", "{\"\\\\\\"}) {
        INFO(odd);
        CHECK(member_source(odd, "zz") == std::nullopt);
    }
}

TEST_CASE("integers beyond 2^53 - 1 are quoted, and nothing else", "[json][fidelity]")
{
    for (const char* same :
         {"", "0", "-0", "9007199254740991", "-9007199254740991", "9007199254740992.0", "1E400", "-1e+20", "null",
          R"("9007199254740992")", R"({"9007199254740992":"\"9007199254740992,"})", R"([ 1 ,true,{"a":-2.5}] )"}) {
        INFO(same);
        CHECK(comcp::quote_unsafe_integers(same) == same);
    }
    CHECK(comcp::quote_unsafe_integers("9007199254740992") == R"("9007199254740992")");
    CHECK(comcp::quote_unsafe_integers("-9007199254740992") == R"("-9007199254740992")");
    CHECK(comcp::quote_unsafe_integers(
              R"({"a":[18446744073709551615, -123456789012345678901234],"b":7795506888185572399})") ==
          R"({"a":["18446744073709551615", "-123456789012345678901234"],"b":"7795506888185572399"})");
}
