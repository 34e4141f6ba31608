// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/completion.hpp>

#include "catch.hpp"

using comcp::completion_reference;

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

std::vector<std::string> numbers(std::size_t count)
{
    std::vector<std::string> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(std::to_string(i));
    return made;
}

} // namespace

TEST_CASE("a request for completion is read with its context", "[protocol][G-30]")
{
    const auto read = comcp::read_completion_request(
        object(R"({"ref":{"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":"v"},)"
               R"("context":{"arguments":{"b":"1","c":2}},"_meta":{"progressToken":1}})"));
    REQUIRE(read.has_value());
    CHECK(read->reference == completion_reference::prompt("p"));
    CHECK(read->argument == "a");
    CHECK(read->value == "v");
    CHECK(read->context == decltype(read->context){{"b", "1"}});
    CHECK(read->meta.contains("progressToken"));

    const auto other = comcp::read_completion_request(
        object(R"({"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":""},"context":5})"));
    REQUIRE(other.has_value());
    CHECK(other->reference == completion_reference::resource("x://{a}"));
    CHECK(other->context.empty());
}

TEST_CASE("a bad request for completion is refused with what is wrong", "[protocol]")
{
    const auto [text, what] = GENERATE(table<const char*, const char*>({
        {R"({})", "ref must be an object"},
        {R"({"ref":{"type":"ref/prompt","name":"p"}})", "argument must be an object"},
        {R"({"ref":{"type":"ref/prompt"},"argument":{}})", "ref.name must be a string"},
        {R"({"ref":{"type":"ref/resource","name":"p"},"argument":{}})", "ref.uri must be a string"},
        {R"({"ref":{"type":"ref/tool","name":"p"},"argument":{}})", "ref.type must be ref/prompt or ref/resource"},
        {R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"value":""}})", "argument.name must be a string"},
        {R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a"}})", "argument.value must be a string"},
    }));
    const auto read = comcp::read_completion_request(object(text));
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().text == what);
}

TEST_CASE("at most a hundred suggestions go out, and it is said that there are more", "[protocol][G-31]")
{
    comcp::completion most(numbers(100));
    most.cap();
    CHECK(most.values.size() == 100);
    CHECK_FALSE(most.has_more);
    CHECK_FALSE(most.total);

    comcp::completion over(numbers(101));
    over.cap();
    CHECK(over.values == numbers(100));
    CHECK(over.has_more == true);
    CHECK(over.total == 101);

    comcp::completion counted(numbers(101));
    counted.total = 5000;
    counted.cap();
    CHECK(counted.total == 5000);
}

TEST_CASE("suggestions are read as they come", "[protocol]")
{
    const auto read = comcp::read_completion(
        object(R"({"completion":{"values":["a",5,"b"],"total":7,"hasMore":true},"_meta":{"k":1}})"));
    CHECK(read.values == std::vector<std::string>{"a", "b"});
    CHECK(read.total == 7);
    CHECK(read.has_more == true);
    CHECK(read.meta.contains("k"));
    CHECK(comcp::read_completion(object("{}")).values.empty());
    CHECK(comcp::read_completion(object(R"({"completion":{"values":5,"hasMore":1}})")).values.empty());

    comcp::json::array many;
    for (int i = 0; i < 101; ++i) many.emplace_back("x");
    comcp::json::object result;
    result["completion"] = comcp::json::object{{"values", std::move(many)}};
    const auto cut = comcp::read_completion(result);
    CHECK(cut.values.size() == 100);
    CHECK(cut.has_more == true);
}
