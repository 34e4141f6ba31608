// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/prompts.hpp>

#include "catch.hpp"

#include <boost/json/serialize.hpp>

using comcp::role;

namespace
{

comcp::json::value json_of(std::string_view text) { return comcp::parse_json(text, 64).value(); }

comcp::prompt_result result_of(std::string_view text) { return comcp::read_prompt_result(json_of(text).as_object()); }

} // namespace

TEST_CASE("a prompt is read with its arguments, and what is not known is kept", "[protocol][G-20]")
{
    const auto read = comcp::read_prompt(json_of(
        R"({"name":"p","title":"P","description":"d","arguments":[{"name":"a","title":"A","description":"e",)"
        R"("required":true,"x":1},{"description":"nameless"},5,{"name":"b"}],"icons":[{"src":"i"}],"_meta":{"k":1},"y":2})"));
    REQUIRE(read.has_value());
    CHECK(read->name == "p");
    CHECK(read->display_name() == "P");
    CHECK(read->description == "d");
    REQUIRE(read->arguments.size() == 2);
    CHECK(read->arguments[0].name == "a");
    CHECK(read->arguments[0].title == "A");
    CHECK(read->arguments[0].description == "e");
    CHECK(read->arguments[0].required);
    CHECK(comcp::json::serialize(read->arguments[0].extra) == R"({"x":1})");
    CHECK(read->arguments[1].name == "b");
    CHECK_FALSE(read->arguments[1].required);
    CHECK(read->icons.at(0).src == "i");
    CHECK(comcp::json::serialize(read->meta) == R"({"k":1})");
    CHECK(comcp::json::serialize(read->extra) == R"({"y":2})");
}

TEST_CASE("only a prompt without a name cannot be read", "[protocol]")
{
    CHECK(comcp::read_prompt(json_of("null")).error().text == "a prompt that is not an object");
    CHECK(comcp::read_prompt(json_of(R"({"title":"x"})")).error().text == "a prompt without a name");
    CHECK(comcp::read_prompt(json_of(R"({"name":"","arguments":"x","icons":7})"))->arguments.empty());
}

TEST_CASE("arguments of a prompt beyond the bound are dropped", "[protocol]")
{
    comcp::json::object prompt;
    prompt["name"] = "p";
    prompt["arguments"] = comcp::json::array(comcp::max_prompt_arguments + 1, json_of(R"({"name":"a"})"));
    CHECK(comcp::read_prompt(prompt)->arguments.size() == comcp::max_prompt_arguments);
}

TEST_CASE("messages of a prompt have a role and a block", "[protocol][G-21]")
{
    const auto read =
        result_of(R"({"description":"d","messages":[{"role":"user","content":{"type":"text","text":"q"}},)"
                  R"({"role":"assistant","content":{"type":"image","data":"QQ==","mimeType":"image/png"},)"
                  R"("x":1}],"_meta":{"k":1}})");
    CHECK(read.oddities.empty());
    CHECK(read.description == "d");
    REQUIRE(read.messages.size() == 2);
    CHECK(read.messages[0].role == role::user);
    CHECK(*read.messages[0].content.as_text() == "q");
    CHECK(read.messages[1].role == role::assistant);
    CHECK(read.messages[1].content.get_if<comcp::image_content>()->data == "QQ==");
    CHECK(comcp::json::serialize(read.messages[1].extra) == R"({"x":1})");
    CHECK(comcp::json::serialize(read.meta) == R"({"k":1})");
}

TEST_CASE("an odd result of a prompt is read as far as it goes, and what is odd is named", "[protocol]")
{
    const auto read =
        result_of(R"({"messages":[{"role":"system","content":"plain"},5,{"role":"user"},)"
                  R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]})");
    REQUIRE(read.messages.size() == 3);
    CHECK(read.messages[0].role == role::user);
    CHECK(*read.messages[0].content.as_text() == "plain");
    CHECK(*read.messages[1].content.as_text() == "a");
    CHECK(*read.messages[2].content.as_text() == "b");
    CHECK(read.oddities == std::vector<std::string>{"message whose role is neither user nor assistant",
                                                    "content block is a plain string", "message without content",
                                                    "message without content", "content of a message is an array"});
    CHECK(result_of("{}").oddities == std::vector<std::string>{"result without an array of messages"});
}

TEST_CASE("the blocks of sampling are not known in a prompt", "[protocol]")
{
    const auto read =
        result_of(R"({"messages":[{"role":"user","content":{"type":"tool_use","id":"1","name":"n","input":{}}}]})");
    CHECK(read.messages.at(0).content.get_if<comcp::unknown_content>());
}

TEST_CASE("messages of a prompt are made of text", "[protocol]")
{
    const auto user = comcp::prompt_message::user("q");
    CHECK(user.role == role::user);
    CHECK(*user.content.as_text() == "q");
    CHECK(comcp::prompt_message::assistant("a").role == role::assistant);
    CHECK(comcp::prompt_result(user).messages.size() == 1);
}

TEST_CASE("roles are spelled as the specification spells them", "[protocol]")
{
    for (role each : {role::user, role::assistant}) CHECK(comcp::parse_role(to_string(each)) == each);
    CHECK_FALSE(comcp::parse_role("system"));
    CHECK_FALSE(comcp::parse_role(""));
}
