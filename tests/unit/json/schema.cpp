// SPDX-License-Identifier: MIT
#include <comcp/json/schema.hpp>

#include "catch.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace
{

namespace json = comcp::json;
using comcp::field;
using comcp::notes;
using comcp::schema_use;

template <class T>
std::string schema(const notes& extra = {}, schema_use use = schema_use::arguments)
{
    std::string out;
    comcp::write_value(out, comcp::schema_of<T>(extra, use));
    return out;
}

struct nothing
{};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct greet_args
{
    std::string name;
    std::optional<int> times;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

enum class colour {
    red,
    blue,
};
BOOST_DESCRIBE_ENUM(colour, red, blue)

struct scalars
{
    bool flag;
    std::int8_t i8;
    std::uint8_t u8;
    std::int16_t i16;
    std::uint16_t u16;
    std::int32_t i32;
    std::uint32_t u32;
    std::int64_t i64;
    std::uint64_t u64;
    float f;
    double d;
    colour c;
    std::string_view view;
};
BOOST_DESCRIBE_STRUCT(scalars, (), (flag, i8, u8, i16, u16, i32, u32, i64, u64, f, d, c, view))

struct containers
{
    std::vector<std::string> list;
    std::vector<std::vector<int>> table;
    std::map<std::string, double> map;
    json::value any;
    json::object object;
    json::array array;
    comcp::raw_json raw;
};
BOOST_DESCRIBE_STRUCT(containers, (), (list, table, map, any, object, array, raw))

struct defaults
{
    int zero = 0;
    int three = 3;
    bool off = false;
    bool on = true;
    double half = 0.5;
    std::string text = "a\"b";
    colour paint = colour::blue;
    std::vector<int> list = {1, 2};
    std::optional<int> maybe = 4;
};
BOOST_DESCRIBE_STRUCT(defaults, (), (zero, three, off, on, half, text, paint, list, maybe))

struct point
{
    int x = 0;
    int y = 0;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

notes schema_notes(const point*) { return notes().add("x", field("To the right").minimum(0)).add("y", field("Up")); }

struct shape : point
{
    point size{0, 1};
    std::vector<point> corners;
};
BOOST_DESCRIBE_STRUCT(shape, (point), (size, corners))

struct node
{
    std::string name;
    std::vector<node> children;
    std::map<std::string, node> links;
};
BOOST_DESCRIBE_STRUCT(node, (), (name, children, links))

} // namespace

TEST_CASE("an empty struct takes no members", "[json]")
{
    CHECK(schema<nothing>() == R"({"type":"object","additionalProperties":false,"properties":{}})");
    CHECK(schema<nothing>({}, schema_use::result) == R"({"type":"object","properties":{}})");
}

TEST_CASE("optional members are not required", "[json]")
{
    CHECK(schema<greet_args>() == R"({"type":"object","additionalProperties":false,"properties":{)"
                                  R"("name":{"type":"string"},"times":{"type":"integer"}},"required":["name"]})");
    CHECK(
        schema<greet_args>({}, schema_use::result) ==
        R"({"type":"object","properties":{"name":{"type":"string"},"times":{"type":"integer"}},"required":["name"]})");
}

TEST_CASE("each scalar has its type, and small and unsigned integers have bounds", "[json]")
{
    CHECK(schema<scalars>() ==
          R"({"type":"object","additionalProperties":false,"properties":{"flag":{"type":"boolean"},)"
          R"("i8":{"type":"integer","minimum":-128,"maximum":127},)"
          R"("u8":{"type":"integer","minimum":0,"maximum":255},)"
          R"("i16":{"type":"integer","minimum":-32768,"maximum":32767},)"
          R"("u16":{"type":"integer","minimum":0,"maximum":65535},)"
          R"("i32":{"type":"integer"},"u32":{"type":"integer","minimum":0},)"
          R"("i64":{"type":"integer"},"u64":{"type":"integer","minimum":0},)"
          R"("f":{"type":"number"},"d":{"type":"number"},"c":{"type":"string","enum":["red","blue"]},)"
          R"("view":{"type":"string"}},)"
          R"("required":["flag","i8","u8","i16","u16","i32","u32","i64","u64","f","d","c","view"]})");
}

TEST_CASE("containers say what they hold", "[json]")
{
    CHECK(schema<containers>() == R"({"type":"object","additionalProperties":false,"properties":{)"
                                  R"("list":{"type":"array","items":{"type":"string"}},)"
                                  R"("table":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},)"
                                  R"("map":{"type":"object","additionalProperties":{"type":"number"}},)"
                                  R"("any":{},"object":{"type":"object"},"array":{"type":"array"},"raw":{}},)"
                                  R"("required":["list","table","map","any","object","array","raw"]})");
}

TEST_CASE("a member with a default other than zero is not required", "[json]")
{
    const std::string properties =
        R"("zero":{"type":"integer"},"three":{"type":"integer","default":3},)"
        R"("off":{"type":"boolean"},"on":{"type":"boolean","default":true},)"
        R"("half":{"type":"number","default":0.5},"text":{"type":"string","default":"a\"b"},)"
        R"("paint":{"type":"string","enum":["red","blue"],"default":"blue"},)"
        R"("list":{"type":"array","items":{"type":"integer"},"default":[1,2]},)"
        R"("maybe":{"type":"integer","default":4}})";
    CHECK(schema<defaults>() == R"({"type":"object","additionalProperties":false,"properties":{)" + properties +
                                    R"(,"required":["zero","off"]})");
}

TEST_CASE("in a result every member but an optional one is required", "[json]")
{
    const json::object result = comcp::schema_of<defaults>({}, schema_use::result);
    CHECK(result.at("required") == json::array{"zero", "three", "off", "on", "half", "text", "paint", "list"});
    CHECK(result.at("properties").as_object().at("three") == json::value{{"type", "integer"}});
    CHECK(!result.contains("additionalProperties"));
}

TEST_CASE("notes describe members, and those given come before those beside the struct", "[json]")
{
    CHECK(schema<greet_args>(notes()
                                 .add("name", field("Who").title("Name").min_length(1).max_length(40))
                                 .add("times", field("How often").minimum(1).maximum(10))) ==
          R"({"type":"object","additionalProperties":false,"properties":{)"
          R"("name":{"type":"string","title":"Name","description":"Who","minLength":1,"maxLength":40},)"
          R"("times":{"type":"integer","description":"How often","minimum":1,"maximum":10}},"required":["name"]})");
    CHECK(schema<point>(notes().add("x", field("Mine"))) ==
          R"({"type":"object","additionalProperties":false,"properties":{)"
          R"("x":{"type":"integer","description":"Mine"},"y":{"type":"integer","description":"Up"}},)"
          R"("required":["x","y"]})");
}

TEST_CASE("nested structs stand where they are used, with the notes beside them", "[json]")
{
    const std::string members = R"("x":{"type":"integer","description":"To the right","minimum":0},)"
                                R"("y":{"type":"integer","description":"Up"})";
    const std::string nested =
        R"({"type":"object","additionalProperties":false,"properties":{)" + members + R"(},"required":["x","y"])";
    CHECK(schema<shape>() == R"({"type":"object","additionalProperties":false,"properties":{)" + members +
                                 R"(,"size":)" + nested +
                                 R"(,"default":{"x":0,"y":1}},"corners":{"type":"array","items":)" + nested +
                                 R"(}}},"required":["x","y","corners"]})");
}

TEST_CASE("a struct inside of itself is cut short", "[json]")
{
    CHECK(schema<node>() == R"({"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},)"
                            R"("children":{"type":"array","items":{"type":"object"}},)"
                            R"("links":{"type":"object","additionalProperties":{"type":"object"}}},)"
                            R"("required":["name","children","links"]})");
}
