// SPDX-License-Identifier: MIT
#include <comcp/json/bind.hpp>

#include <comcp/error.hpp>

#include "catch.hpp"

#include <boost/json/monotonic_resource.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace
{

namespace json = comcp::json;
using comcp::bind_errors;
using comcp::field;
using comcp::notes;

json::value parsed(std::string_view text) { return comcp::parse_json(text, 64).value(); }

/// Binds and gives the mistakes, "" when there are none.
template <class T>
std::string mistakes(std::string_view text, T& out, const notes* extra = nullptr)
{
    bind_errors errors;
    const bool good = comcp::bind(parsed(text), out, errors, extra);
    CHECK(good == errors.empty());
    return errors.text();
}

/// The mistakes of a value of a type alone.
template <class T>
std::string mistakes_of(std::string_view text)
{
    T out{};
    return mistakes(text, out);
}

template <class T>
T bound(std::string_view text)
{
    T out{};
    CHECK(mistakes(text, out) == "");
    return out;
}

enum class colour {
    red,
    blue = -7,
};
BOOST_DESCRIBE_ENUM(colour, red, blue)

struct greet_args
{
    std::string name;
    std::optional<int> times;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

struct point
{
    int x = 0;
    int y = 0;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

notes schema_notes(const point*) { return notes().add("x", field("To the right").minimum(0).maximum(9)); }

struct shape : point
{
    std::vector<point> corners;
    std::map<std::string, point> named;
    colour paint = colour::blue;
    std::optional<point> center;
};
BOOST_DESCRIBE_STRUCT(shape, (point), (corners, named, paint, center))

struct defaults
{
    int three = 3;
    std::string text = "abc";
    std::vector<int> list = {1};
    std::optional<int> maybe = 4;
};
BOOST_DESCRIBE_STRUCT(defaults, (), (three, text, list, maybe))

struct values
{
    json::value any;
    json::object object;
    json::array array;
    json::string text;
    comcp::raw_json raw;
};
BOOST_DESCRIBE_STRUCT(values, (), (any, object, array, text, raw))

struct views
{
    std::string_view text;
};
BOOST_DESCRIBE_STRUCT(views, (), (text))

struct node
{
    std::string name;
    std::optional<int> weight;
    std::vector<node> children;
};
BOOST_DESCRIBE_STRUCT(node, (), (name, weight, children))

struct measured
{
    std::optional<std::string> text;
    std::optional<double> number;
    std::optional<std::uint64_t> big;
};
BOOST_DESCRIBE_STRUCT(measured, (), (text, number, big))

} // namespace

TEST_CASE("bind fills a struct", "[json]")
{
    const auto some = bound<greet_args>(R"({"name":"Ada","times":3})");
    CHECK(some.name == "Ada");
    CHECK(some.times == 3);
    CHECK(bound<greet_args>(R"({"times":null,"name":""})").times == std::nullopt);

    const auto all = bound<shape>(R"({"x":1,"y":-2,"corners":[{"x":3,"y":4}],"named":{"a/b":{"x":5,"y":6}},
                                      "paint":"red","center":{"x":7,"y":8}})");
    CHECK(all.x == 1);
    CHECK(all.y == -2);
    REQUIRE(all.corners.size() == 1);
    CHECK(all.corners[0].y == 4);
    CHECK(all.named.at("a/b").x == 5);
    CHECK(all.paint == colour::red);
    CHECK(all.center.value().x == 7);
}

TEST_CASE("bind names every mistake at once", "[json]")
{
    shape out;
    CHECK(mistakes(R"({"x":"1","corners":[{"x":1,"y":2},{"x":1.5},7],"named":{"a/b~c":{"x":10,"y":true,"z":0}},
                       "paint":"green","center":[],"extra":1,"":2})",
                   out) == "/x: expected integer, got string\n"
                           "/y: required member is missing\n"
                           "/corners/1/x: expected integer, got number\n"
                           "/corners/1/y: required member is missing\n"
                           "/corners/2: expected object, got integer\n"
                           "/named/a~1b~0c/x: must be at most 9\n"
                           "/named/a~1b~0c/y: expected integer, got boolean\n"
                           "/named/a~1b~0c/z: unknown member\n"
                           "/paint: expected one of red, blue\n"
                           "/center: expected object, got array\n"
                           "/extra: unknown member\n"
                           "/: unknown member");
    CHECK(mistakes_of<greet_args>("[]") == "expected object, got array");
    CHECK(mistakes_of<greet_args>("null") == "expected object, got null");
    CHECK(mistakes_of<greet_args>("{}") == "/name: required member is missing");
    CHECK(mistakes_of<greet_args>(R"({"name":null})") == "/name: expected string, got null");
}

TEST_CASE("bind gives pointers and texts apart as well", "[json]")
{
    bind_errors errors;
    greet_args out;
    CHECK(!comcp::bind(parsed(R"({"name":1})"), out, errors));
    REQUIRE(errors.entries().size() == 1);
    CHECK(errors.entries()[0].pointer == "/name");
    CHECK(errors.entries()[0].text == "expected string, got integer");
    CHECK(comcp::bind(parsed(R"({"name":"x"})"), out, errors)); // what was there before does not count
}

TEST_CASE("bind keeps defaults of members that are missing or null", "[json]")
{
    for (const char* text : {"{}", R"({"three":null,"text":null,"list":null,"maybe":null})"}) {
        const auto some = bound<defaults>(text);
        CHECK(some.three == 3);
        CHECK(some.text == "abc");
        CHECK(some.list == std::vector<int>{1});
        CHECK(some.maybe == 4);
    }
    const auto some = bound<defaults>(R"({"three":0,"text":"","list":[2,3],"maybe":5})");
    CHECK(some.three == 0);
    CHECK(some.text.empty());
    CHECK(some.list == std::vector<int>{2, 3});
    CHECK(some.maybe == 5);
}

TEST_CASE("bind takes whole numbers of any spelling and refuses those out of range", "[json]")
{
    CHECK(bound<int>("3.0") == 3);
    CHECK(bound<int>("-3e2") == -300);
    CHECK(bound<int>("-0.0") == 0);
    CHECK(bound<std::int8_t>("-128") == -128);
    CHECK(bound<std::int8_t>("127") == 127);
    CHECK(mistakes_of<std::int8_t>("128") == "out of range: must be from -128 to 127");
    CHECK(mistakes_of<std::int8_t>("-129") == "out of range: must be from -128 to 127");
    CHECK(bound<std::uint8_t>("255") == 255);
    CHECK(mistakes_of<std::uint8_t>("256.0") == "out of range: must be from 0 to 255");
    CHECK(mistakes_of<std::uint16_t>("-1") == "out of range: must be from 0 to 65535");
    CHECK(bound<std::int32_t>("-2147483648") == std::numeric_limits<std::int32_t>::min());
    CHECK(mistakes_of<std::int32_t>("2147483648") == "out of range: must be from -2147483648 to 2147483647");
    CHECK(bound<std::uint32_t>("4294967295") == 4294967295U);
    CHECK(bound<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    CHECK(bound<std::int64_t>("-9223372036854775808.0") == std::numeric_limits<std::int64_t>::min());
    CHECK(mistakes_of<std::int64_t>("9223372036854775808") ==
          "out of range: must be from -9223372036854775808 to 9223372036854775807");
    CHECK(mistakes_of<std::int64_t>("-1e19") ==
          "out of range: must be from -9223372036854775808 to 9223372036854775807");
    CHECK(bound<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    CHECK(bound<std::uint64_t>("9223372036854775808.0") == 9223372036854775808U);
    CHECK(mistakes_of<std::uint64_t>("18446744073709551616") == "out of range: must be from 0 to 18446744073709551615");
    CHECK(mistakes_of<std::uint64_t>("1E400") == "out of range: must be from 0 to 18446744073709551615");
    CHECK(mistakes_of<int>("3.5") == "expected integer, got number");
    CHECK(mistakes_of<int>("\"3\"") == "expected integer, got string");
    CHECK(mistakes_of<int>("true") == "expected integer, got boolean");
}

TEST_CASE("bind takes any number for a floating-point member that can hold it", "[json]")
{
    CHECK(bound<double>("3") == 3.0);
    CHECK(bound<double>("18446744073709551615") == 0x1p64);
    CHECK(bound<float>("0.5") == 0.5F);
    CHECK(mistakes_of<double>("1E400") == "out of range");
    CHECK(mistakes_of<float>("1e39") == "out of range");
    CHECK(mistakes_of<double>("\"1\"") == "expected number, got string");
    CHECK(bound<bool>("true"));
    CHECK(mistakes_of<bool>("1") == "expected boolean, got integer");
}

TEST_CASE("bind takes an enum by its name", "[json]")
{
    CHECK(bound<colour>("\"blue\"") == colour::blue);
    CHECK(mistakes_of<colour>("\"Blue\"") == "expected one of red, blue");
    CHECK(mistakes_of<colour>("0") == "expected string, got integer");
}

TEST_CASE("bind takes arrays and maps of anything", "[json]")
{
    CHECK(bound<std::vector<bool>>("[true,false]") == std::vector<bool>{true, false});
    CHECK(bound<std::vector<std::optional<int>>>("[1,null]") == std::vector<std::optional<int>>{1, std::nullopt});
    CHECK(bound<std::map<std::string, std::vector<int>>>(R"({"a":[1],"b":[]})") ==
          std::map<std::string, std::vector<int>>{{"a", {1}}, {"b", {}}});
    CHECK(bound<std::unordered_map<std::string, std::string>>(R"({"a":"b"})").at("a") == "b");
    CHECK(mistakes_of<std::vector<int>>("[1,null,\"x\"]") ==
          "/1: expected integer, got null\n/2: expected integer, got string");
    CHECK(mistakes_of<std::vector<int>>("{}") == "expected array, got object");
    CHECK(mistakes_of<std::map<std::string, int>>("[]") == "expected object, got array");
}

TEST_CASE("bind follows a struct inside of itself", "[json]")
{
    const auto tree = bound<node>(R"({"name":"a","children":[{"name":"b","weight":1,"children":[]}]})");
    CHECK(tree.children.at(0).weight == 1);
    CHECK(mistakes_of<node>(R"({"name":"a","children":[{"name":"b","children":[{"name":1,"children":[]}]}]})") ==
          "/children/0/children/0/name: expected string, got integer");
}

TEST_CASE("bind checks the ranges and lengths of notes", "[json]")
{
    const notes extra = notes()
                            .add("text", field().min_length(2).max_length(3))
                            .add("number", field().minimum(-0.5).maximum(1))
                            .add("big", field().minimum(std::uint64_t(9223372036854775809U)));
    const auto check = [&](std::string_view text) {
        measured out;
        return mistakes(text, out, &extra);
    };
    CHECK(check(R"({"text":"\u00e9\ud83d\ude00","number":-0.5,"big":9223372036854775809})") == "");
    CHECK(check(R"({"text":"abc","number":1})") == "");
    CHECK(check(R"({"text":"a","number":-0.75,"big":9223372036854775808})") ==
          "/text: must have at least 2 characters\n"
          "/number: must be at least -0.5\n"
          "/big: must be at least 9223372036854775809");
    CHECK(check(R"({"text":"abcd","number":1.25})") ==
          "/text: must have at most 3 characters\n/number: must be at most 1");
    CHECK(check(R"({"text":"\u00e9"})") == "/text: must have at least 2 characters");
}

TEST_CASE("notes given to bind come before those beside the struct, at the outermost level only", "[json]")
{
    const notes extra = notes().add("x", field().maximum(100));
    shape out;
    CHECK(mistakes(R"({"x":50,"y":0,"corners":[{"x":50,"y":0}],"named":{}})", out, &extra) ==
          "/corners/0/x: must be at most 9");
    CHECK(mistakes(R"({"x":101,"y":0,"corners":[],"named":{}})", out, &extra) == "/x: must be at most 100");
    CHECK(mistakes(R"({"x":50,"y":0,"corners":[],"named":{}})", out) == "/x: must be at most 9");
}

TEST_CASE("bound JSON values own their memory", "[json]")
{
    values out;
    {
        json::monotonic_resource arena;
        const json::value value =
            comcp::parse_json(R"({"any":[1.5],"object":{"a":1},"array":[2],"text":"t","raw":{"b":[1.0]}})", 64, &arena)
                .value();
        bind_errors errors;
        CHECK(comcp::bind(value, out, errors));
    }
    CHECK(out.any == json::value(json::array{1.5}));
    CHECK(out.object == json::object{{"a", 1}});
    CHECK(out.array == json::array{2});
    CHECK(out.text == "t");
    CHECK(out.raw.text() == R"({"b":[1.0]})");
    CHECK(out.object.storage().get() == json::storage_ptr().get());
    CHECK(
        mistakes_of<values>(R"({"any":null,"object":[],"array":{},"text":1,"raw":null})") ==
        "/object: expected object, got array\n/array: expected array, got object\n/text: expected string, got integer");
}

TEST_CASE("a string_view member is a view into the value", "[json]")
{
    const json::value value = parsed(R"({"text":"abc"})");
    views out;
    bind_errors errors;
    CHECK(comcp::bind(value, out, errors));
    CHECK(out.text == "abc");
    CHECK(out.text.data() == value.as_object().at("text").as_string().data());
}

TEST_CASE("mistakes are bounded in number and in size", "[json]")
{
    std::string text = "[";
    for (int n = 0; n < 40; ++n) text += n ? ",\"x\"" : "\"x\"";
    text += "]";
    std::vector<int> out;
    bind_errors errors;
    CHECK(!comcp::bind(parsed(text), out, errors));
    CHECK(errors.count() == 40);
    CHECK(errors.full());
    CHECK(errors.entries().size() == 32);
    CHECK(errors.entries().back().pointer == "/31");
    const std::string all = errors.text();
    CHECK(all.substr(all.rfind('\n')) == "\nand 8 more");

    const std::string key(100, '~');
    std::string shown;
    for (int n = 0; n < 64; ++n) shown += "~0";
    greet_args greet;
    CHECK(mistakes("{\"name\":\"x\",\"" + key + "\":1}", greet) == "/" + shown + "...: unknown member");
}
