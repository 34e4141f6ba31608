// SPDX-License-Identifier: MIT
#include <comcp/json/args.hpp>

#include "catch.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace
{

using comcp::args;

struct greet_args
{
    std::string name;
    std::optional<int> times;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

} // namespace

TEST_CASE("args are made of keys and values by turns", "[json]")
{
    CHECK(args().text() == "{}");
    CHECK(args("name", "Ada").text() == R"({"name":"Ada"})");
    CHECK(args("a", 1, std::string("b"), 2.0, std::string_view("c"), nullptr, "d", std::vector<int>{1, 2}, "e\n", true)
              .text() == R"({"a":1,"b":2.0,"c":null,"d":[1,2],"e\n":true})");
    CHECK(args("raw", comcp::raw_json("1E400"), "nested", args("x", 1).text()).text() ==
          R"({"raw":1E400,"nested":"{\"x\":1}"})");
    CHECK(args("none", std::optional<int>()).text() == R"({"none":null})");
}

TEST_CASE("args are made of a struct, an object or a text", "[json]")
{
    const greet_args greet{"Ada", {}};
    CHECK(args(greet).text() == R"({"name":"Ada"})");
    CHECK(args(greet).add("times", 3).text() == R"({"name":"Ada","times":3})");
    CHECK(args(comcp::json::object{{"a", 1}}).text() == R"({"a":1})");
    CHECK(args(comcp::raw_json("{ \"a\": 1.0 }")).text() == "{ \"a\": 1.0 }");
}

TEST_CASE("args can be extended, and a member that is set twice has the last value", "[json]")
{
    args some;
    some.add("a", 1).add("b", "}").add("a", std::map<std::string, int>{{"x", 1}});
    CHECK(some.text() == R"({"a":{"x":1},"b":"}"})");
    CHECK(args("a", 1, "a", 2).text() == R"({"a":2})");
    CHECK(args(comcp::raw_json("{ }")).add("a", 1).text() == R"({ "a":1})");
    CHECK(args(comcp::raw_json(R"({ "a" : [1] , "b":2 })")).add("a", 3).add("c", 4).text() ==
          R"({ "a" : 3 , "b":2 ,"c":4})");
    CHECK(
        args(comcp::raw_json("{ } ")).add("a", 1).add("b", 2).text().starts_with(R"({ "a":1,"b":2})")); // space may go
}
