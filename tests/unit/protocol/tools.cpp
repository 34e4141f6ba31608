// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/tools.hpp>

#include "catch.hpp"

#include <boost/json/monotonic_resource.hpp>

namespace
{

comcp::result<comcp::tool> tool_of(std::string_view text)
{
    return comcp::read_tool(comcp::parse_json(text, 64).value());
}

comcp::tool_result result_of(std::string_view text, bool keep = false)
{
    return comcp::read_tool_result(comcp::parse_json(text, 64).value().as_object(), keep ? text : std::string_view());
}

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("absent hints have the defaults of the specification", "[protocol][F-16]")
{
    comcp::tool_annotations hints;
    CHECK(hints.empty());
    CHECK_FALSE(hints.read_only());
    CHECK(hints.destructive());
    CHECK_FALSE(hints.idempotent());
    CHECK(hints.open_world());

    hints.read_only_hint = true;
    CHECK_FALSE(hints.empty());
    CHECK_FALSE(hints.destructive());
    CHECK(hints.idempotent());

    hints.destructive_hint = true; // has no meaning beside read-only
    CHECK_FALSE(hints.destructive());
    hints.read_only_hint = false;
    CHECK(hints.destructive());
    CHECK_FALSE(hints.idempotent());
    hints.open_world_hint = false;
    CHECK_FALSE(hints.open_world());
}

TEST_CASE("a tool is read with all its members, and unknown ones are kept", "[protocol]")
{
    const auto got = tool_of(R"({"name":"n","title":"t","description":"d","inputSchema":{"type":"object","zz":1},
        "outputSchema":{"type":"array"},"annotations":{"title":"at","readOnlyHint":true,"destructiveHint":false,
        "idempotentHint":true,"openWorldHint":false,"x":1},"icons":[{"src":"i"}],"_meta":{"m":1},
        "execution":{"taskSupport":"optional"}})");
    REQUIRE(got.has_value());
    CHECK(got->name == "n");
    CHECK(got->title == "t");
    CHECK(got->description == "d");
    CHECK(got->input_schema.at("zz") == 1);
    CHECK(got->output_schema->at("type") == "array");
    CHECK(got->annotations.title == "at");
    CHECK(got->annotations.read_only_hint == true);
    CHECK(got->annotations.destructive_hint == false);
    CHECK(got->annotations.idempotent_hint == true);
    CHECK(got->annotations.open_world_hint == false);
    CHECK(got->annotations.extra.at("x") == 1);
    CHECK(got->icons.size() == 1);
    CHECK(got->meta.at("m") == 1);
    CHECK(got->extra.at("execution").at("taskSupport") == "optional");
    CHECK(got->extra.size() == 1);
}

TEST_CASE("the name that people see is the title, then the annotated title, then the name", "[protocol][A-27]")
{
    CHECK(tool_of(R"({"name":"n","inputSchema":{},"title":"t","annotations":{"title":"a"}})")->display_name() == "t");
    CHECK(tool_of(R"({"name":"n","inputSchema":{},"annotations":{"title":"a"}})")->display_name() == "a");
    CHECK(tool_of(R"({"name":"n","inputSchema":{}})")->display_name() == "n");
}

TEST_CASE("optional members of a tool that are null or of a wrong type read as absent", "[protocol]")
{
    for (const char* text : {
             R"({"name":"n","inputSchema":{},"title":null,"description":null,"outputSchema":null,"annotations":null,
                 "icons":null,"_meta":null})",
             R"({"name":"n","inputSchema":{},"title":1,"description":[],"outputSchema":"x","annotations":[],
                 "icons":{},"_meta":3})",
             R"({"name":"n","inputSchema":{},"annotations":{"readOnlyHint":"yes","title":null}})",
         }) {
        const auto got = tool_of(text);
        REQUIRE(got.has_value());
        CHECK(got->title.empty());
        CHECK(got->description.empty());
        CHECK_FALSE(got->output_schema);
        CHECK(got->annotations.empty());
        CHECK(got->icons.empty());
        CHECK(got->meta.empty());
        CHECK(got->extra.empty());
    }
}

TEST_CASE("a bad tool is a fault that says what is bad", "[protocol]")
{
    const auto [text, why] = GENERATE(table<std::string, std::string>({
        {R"(5)", "a tool that is not an object"},
        {R"(null)", "a tool that is not an object"},
        {R"({"inputSchema":{}})", "a tool without a name"},
        {R"({"name":5,"inputSchema":{}})", "a tool without a name"},
        {R"({"name":"n"})", "tool \"n\" has no object as inputSchema"},
        {R"({"name":"n","inputSchema":null})", "tool \"n\" has no object as inputSchema"},
        {R"({"name":"n","inputSchema":"x"})", "tool \"n\" has no object as inputSchema"},
    }));
    CAPTURE(text);
    const auto got = tool_of(text);
    REQUIRE(got.has_error());
    CHECK(got.error().code == comcp::errc::invalid_message);
    CHECK(got.error().text == why);
}

TEST_CASE("a sound result is read as it is", "[protocol]")
{
    const std::string text =
        R"({"content":[{"type":"text","text":"6 items"}],"structuredContent":{"n":6},"isError":false,"_meta":{"k":1}})";
    const auto got = result_of(text, true);
    REQUIRE(got.content.size() == 1);
    CHECK(*got.content[0].as_text() == "6 items");
    REQUIRE(got.structured);
    CHECK(got.structured->at("n") == 6);
    CHECK_FALSE(got.is_error);
    CHECK(got.meta.at("k") == 1);
    CHECK(got.oddities.empty());
    CHECK(got.source == text);
    CHECK(result_of(text).source.empty());
    CHECK(result_of(R"({"content":[],"isError":true})").is_error);
    CHECK(result_of(R"({"content":[],"isError":true})").oddities.empty());
}

TEST_CASE("structured content of any type is kept, with a remark unless it is an object", "[protocol]")
{
    for (const char* value : {"[1,2]", "\"x\"", "null", "3", "false"}) {
        const auto got = result_of(R"({"content":[],"structuredContent":)" + std::string(value) + "}");
        REQUIRE(got.structured);
        CHECK(*got.structured == comcp::parse_json(value, 64).value());
        CHECK(got.oddities == texts{"structuredContent is not an object"});
    }
    CHECK_FALSE(result_of(R"({"content":[]})").structured);
}

TEST_CASE("malformed results show what text there is and are marked as odd", "[protocol]")
{
    SECTION("a block of type error")
    {
        const auto got = result_of(R"({"content":[{"type":"error","text":"no"}]})");
        REQUIRE(got.content.size() == 1);
        CHECK(got.content[0].get_if<comcp::unknown_content>()->raw.at("text") == "no");
        CHECK(got.oddities == texts{"unknown or malformed content block of type error"});
    }
    SECTION("an old wrapper")
    {
        const auto got = result_of(R"({"toolResult":{"content":[{"type":"text","text":"a"}],"isError":true}})");
        REQUIRE(got.content.size() == 1);
        CHECK(*got.content[0].as_text() == "a");
        CHECK(got.is_error);
        CHECK(got.oddities == texts{"result in a toolResult wrapper"});
        CHECK(result_of(R"({"toolResult":{"content":[]}})").content.empty());
    }
    SECTION("an old wrapper around a plain value")
    {
        const auto got = result_of(R"({"toolResult":"plain"})");
        REQUIRE(got.content.size() == 1);
        CHECK(*got.content[0].as_text() == "plain");
    }
    SECTION("a wrapper beside content does not count")
    {
        const auto got = result_of(R"({"content":[],"toolResult":{"isError":true}})");
        CHECK_FALSE(got.is_error);
        CHECK(got.oddities.empty());
    }
    SECTION("content that is a string")
    {
        const auto got = result_of(R"({"content":"plain"})");
        REQUIRE(got.content.size() == 1);
        CHECK(*got.content[0].as_text() == "plain");
        CHECK(got.oddities == texts{"content is not an array", "content block is a plain string"});
    }
    SECTION("content that is one block")
    {
        const auto got = result_of(R"({"content":{"type":"text","text":"a"}})");
        REQUIRE(got.content.size() == 1);
        CHECK(*got.content[0].as_text() == "a");
        CHECK(got.oddities == texts{"content is not an array"});
    }
    SECTION("content that is null")
    {
        const auto got = result_of(R"({"content":null})");
        CHECK(got.content.empty());
        CHECK(got.oddities == texts{"content is not an array"});
    }
    SECTION("blocks that are not objects")
    {
        const auto got = result_of(R"({"content":[null,3]})");
        CHECK(got.content.size() == 2);
        CHECK(got.oddities == texts{"content block is not an object", "content block is not an object"});
    }
    SECTION("nothing at all")
    {
        const auto got = result_of("{}");
        CHECK(got.content.empty());
        CHECK(got.oddities == texts{"result without content"});
    }
    SECTION("an isError that is not a boolean")
    {
        const auto got = result_of(R"({"content":[],"isError":"true"})");
        CHECK_FALSE(got.is_error);
        CHECK(got.oddities == texts{"isError is not a boolean"});
        CHECK(result_of(R"({"content":[],"isError":null,"_meta":null})").oddities.empty());
    }
}

TEST_CASE("a flood of tiny blocks is cut", "[protocol]")
{
    std::string text = R"({"content":[{})";
    for (std::size_t i = 0; i < comcp::max_content_blocks; ++i) text += ",{}";
    const auto got = result_of(text + "]}");
    CHECK(got.content.size() == comcp::max_content_blocks);
    CHECK(got.oddities.front() == "too many content blocks: the rest is dropped");
}

TEST_CASE("a result and a tool own their memory after the arena is gone", "[protocol]")
{
    comcp::tool_result result;
    comcp::tool tool;
    {
        comcp::json::monotonic_resource arena;
        const auto value = comcp::parse_json(
            R"({"content":[{"type":"text","text":"long enough to need memory of its own"}],"structuredContent":{"a":["b"]},"_meta":{"m":{}}})",
            64, &arena);
        result = comcp::read_tool_result(value->as_object());
        const auto item = comcp::parse_json(
            R"({"name":"n","inputSchema":{"type":"object","properties":{"a":{}}},"outputSchema":{"b":[1]},"zz":"y"})",
            64, &arena);
        tool = comcp::read_tool(*item).value();
    }
    CHECK(*result.content[0].as_text() == "long enough to need memory of its own");
    CHECK(result.structured->at("a").at(0) == "b");
    CHECK(result.meta.contains("m"));
    CHECK(tool.input_schema.at("properties").as_object().contains("a"));
    CHECK(tool.output_schema->at("b").at(0) == 1);
    CHECK(tool.extra.at("zz") == "y");
}

TEST_CASE("a result is made from a text or an error in one expression", "[protocol]")
{
    const auto text = comcp::tool_result::text("fine");
    CHECK(*text.content.at(0).as_text() == "fine");
    CHECK_FALSE(text.is_error);
    const auto error = comcp::tool_result::error("bad");
    CHECK(*error.content.at(0).as_text() == "bad");
    CHECK(error.is_error);
    CHECK(error.oddities.empty());
}
