// SPDX-License-Identifier: MIT
#include <comcp/json/value.hpp>

#include <comcp/error.hpp>

#include "catch.hpp"

#include <boost/json/monotonic_resource.hpp>

#include <cmath>
#include <string>

namespace
{

using comcp::errc;
using comcp::parse_json;
namespace json = comcp::json;

std::string failure(std::string_view text, std::size_t depth = 64)
{
    const auto parsed = parse_json(text, depth);
    return parsed ? "none" : parsed.error().code.message() + ": " + parsed.error().text;
}

json::object object_of(std::string_view text) { return parse_json(text, 64).value().as_object(); }

} // namespace

TEST_CASE("parse_json takes exactly one value", "[json]")
{
    CHECK(parse_json("1", 64).value() == json::value(1));
    CHECK(parse_json(" {\"a\" : [true, null]} \n", 64).value() == json::value{{"a", {true, nullptr}}});
    CHECK(failure("") == "not JSON: incomplete JSON at byte 0");
    CHECK(failure("  ") == "not JSON: incomplete JSON at byte 2");
    CHECK(failure("{\"a\":1") == "not JSON: incomplete JSON at byte 6");
    CHECK(failure("[] 1") == "not JSON: extra data at byte 3");
    CHECK(failure("{\"a\":1, x}") == "not JSON: syntax error at byte 8");
    CHECK(failure("[1,]") != "none");
    CHECK(failure("// a\n1") != "none");
    CHECK(failure("NaN") != "none");
    CHECK(failure("\xEF\xBB\xBF{}") != "none");
}

TEST_CASE("parse_json refuses text that is not valid UTF-8", "[json]")
{
    for (const char* bad : {"\"\xFF\"", "\"\xC3\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
                            "{\"\x80\":1}", "\"\\ud800\""}) {
        INFO(bad);
        CHECK(parse_json(bad, 64).error().code == errc::parse_error);
    }
    CHECK(parse_json("\"\xF0\x9F\x98\x80\\ud83d\\ude00\"", 64).value() ==
          json::value("\xF0\x9F\x98\x80\xF0\x9F\x98\x80"));
}

TEST_CASE("parse_json counts the outermost container as depth one", "[json]")
{
    for (std::size_t depth = 1; depth < 70; ++depth) {
        std::string text;
        for (std::size_t level = 0; level < depth; ++level) text += level % 2 ? "{\"a\":" : "[";
        text += "0";
        for (std::size_t level = depth; level-- > 0;) text += level % 2 ? "}" : "]";
        CHECK(parse_json(text, depth).has_value());
        CHECK(parse_json(text, depth - 1).error().code == errc::too_deep);
    }
    CHECK(parse_json("7", 0).has_value());
    CHECK(failure("[[[]]]", 2) == "nested too deep: too deep at byte 2");
}

TEST_CASE("parse_json keeps the last of two equal keys", "[json]")
{
    CHECK(parse_json(R"({"a":1,"b":2,"\u0061":3})", 64).value().as_object().at("a") == 3);
}

TEST_CASE("parse_json reads numbers beyond 64 bits as double", "[json]")
{
    CHECK(parse_json("18446744073709551615", 1).value().is_uint64());
    CHECK(parse_json("18446744073709551616", 1).value().is_double());
    CHECK(std::isinf(parse_json("1E400", 1).value().as_double()));
}

TEST_CASE("parse_json builds the value in the storage it is given", "[json]")
{
    json::monotonic_resource arena;
    const json::value value =
        parse_json(R"({"a":["a text that is too long to stand in the value itself"]})", 64, &arena).value();
    CHECK(value.storage().get() == &arena);
    CHECK(value.as_object().at("a").as_array().at(0).storage().get() == &arena);
}

TEST_CASE("accessors take a missing, null or wrong member as absent", "[json]")
{
    const json::object object = object_of(R"({"null":null,"bool":false,"int":-3,"whole":3.0,"half":0.5,
        "big":18446744073709551615,"huge":1e300,"text":"a","list":[1],"object":{"b":1}})");
    for (const char* key : {"null", "none", "bool", "int", "text", "list", "object", "half"}) {
        INFO(key);
        const std::string_view name = key;
        CHECK((comcp::member(object, key) != nullptr) == (name != "null" && name != "none"));
        CHECK(comcp::string_member(object, key).has_value() == (name == "text"));
        CHECK(comcp::bool_member(object, key).has_value() == (name == "bool"));
        CHECK((comcp::object_member(object, key) != nullptr) == (name == "object"));
        CHECK((comcp::array_member(object, key) != nullptr) == (name == "list"));
        CHECK(comcp::number_member(object, key).has_value() == (name == "int" || name == "half"));
        CHECK(comcp::integer_member(object, key).has_value() == (name == "int"));
    }
    CHECK(comcp::string_member(object, "text") == "a");
    CHECK(comcp::bool_member(object, "bool") == false);
    CHECK(comcp::integer_member(object, "int") == -3);
    CHECK(comcp::integer_member(object, "whole") == 3);
    CHECK(comcp::integer_member(object, "big") == std::nullopt);
    CHECK(comcp::integer_member(object, "huge") == std::nullopt);
    CHECK(comcp::number_member(object, "int") == -3.0);
    CHECK(comcp::number_member(object, "half") == 0.5);
    CHECK(comcp::number_member(object, "big") == 0x1p64);
    const json::object beyond = object_of(R"({"a":1E400,"b":0E400})");
    CHECK(comcp::number_member(beyond, "a") == std::nullopt);
    CHECK(comcp::number_member(beyond, "b").value_or(0) == 0); // not a number for some versions of Boost.JSON
    CHECK(comcp::integer_member(beyond, "a") == std::nullopt);
    CHECK(comcp::integer_member(beyond, "b").value_or(0) == 0);
}
