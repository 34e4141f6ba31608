// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/sampling.hpp>

#include "catch.hpp"

#include <boost/json/serialize.hpp>

using comcp::role;
using comcp::sampling_message;

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

comcp::client_capabilities able(std::string_view text = R"({"sampling":{"tools":{}}})")
{
    return comcp::client_capabilities(object(text));
}

comcp::content use(std::string id) { return comcp::content::tool_use(std::move(id), "add", {}); }
comcp::content given(std::string id) { return comcp::content::tool_result(std::move(id), {}); }

std::string problem(std::vector<sampling_message> messages)
{
    const auto wrong = comcp::check_sampling(comcp::sampling_request(std::move(messages), 10), able());
    if (!wrong) return "";
    CHECK(wrong->code == comcp::errc::invalid_argument);
    return wrong->text;
}

} // namespace

TEST_CASE("a request for sampling is read with all that it has", "[protocol][H-10]")
{
    const auto read = comcp::read_sampling_request(object(
        R"({"messages":[{"role":"user","content":{"type":"text","text":"q"},"_meta":{"k":1},"x":1},)"
        R"({"role":"assistant","content":[{"type":"tool_use","id":"1","name":"add","input":{"a":1}}]},)"
        R"({"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"3"}],)"
        R"("structuredContent":{"sum":3},"isError":true,"_meta":{"m":1}}]}],"maxTokens":5,)"
        R"("modelPreferences":{"hints":[{"name":"a"},{}],"costPriority":1,"speedPriority":0.5,"x":2},)"
        R"("systemPrompt":"s","includeContext":"thisServer","temperature":0.7,"stopSequences":["e"],)"
        R"("metadata":{"m":1},"tools":[{"name":"add","inputSchema":{"type":"object"}}],)"
        R"("toolChoice":{"mode":"required"},"_meta":{"progressToken":1},"later":3})"));
    REQUIRE(read.has_value());
    CHECK(read->oddities.empty());
    REQUIRE(read->messages.size() == 3);
    CHECK(read->messages[0].role == role::user);
    CHECK(*read->messages[0].content.at(0).as_text() == "q");
    CHECK(read->messages[0].meta.contains("k"));
    CHECK(read->messages[0].extra.contains("x"));
    const auto* used = read->messages[1].content.at(0).get_if<comcp::tool_use_content>();
    REQUIRE(used);
    CHECK(used->id == "1");
    CHECK(used->name == "add");
    CHECK(comcp::json::serialize(used->input) == R"({"a":1})");
    const auto* result = read->messages[2].content.at(0).get_if<comcp::tool_result_content>();
    REQUIRE(result);
    CHECK(result->tool_use_id == "1");
    CHECK(*result->content.at(0).as_text() == "3");
    CHECK(comcp::json::serialize(*result->structured) == R"({"sum":3})");
    CHECK(result->is_error);
    CHECK(read->messages[2].content.at(0).meta.contains("m"));
    CHECK(read->max_tokens == 5);
    REQUIRE(read->preferences->hints.size() == 2); // a hint without a name is one still
    CHECK(read->preferences->hints[0].name == "a");
    CHECK(read->preferences->hints[1].name.empty());
    CHECK(read->preferences->cost_priority == 1);
    CHECK(read->preferences->speed_priority == 0.5);
    CHECK_FALSE(read->preferences->intelligence_priority);
    CHECK(read->preferences->extra.contains("x"));
    CHECK(read->system_prompt == "s");
    CHECK(read->include_context == comcp::include_context::this_server);
    CHECK(read->temperature == 0.7);
    CHECK(read->stop_sequences == std::vector<std::string>{"e"});
    CHECK(read->metadata->contains("m"));
    CHECK(read->tools.at(0).name == "add");
    CHECK(read->tool_choice == comcp::tool_choice::required);
    CHECK(read->meta.contains("progressToken"));
    CHECK(read->extra.contains("later"));
}

TEST_CASE("a bad request for sampling is refused with what is wrong", "[protocol]")
{
    const auto [text, what] = GENERATE(table<const char*, const char*>({
        {R"({"maxTokens":1})", "messages must be an array"},
        {R"({"messages":[]})", "maxTokens must be a whole number of at least 0"},
        {R"({"messages":[],"maxTokens":1.5})", "maxTokens must be a whole number of at least 0"},
        {R"({"messages":[],"maxTokens":-1})", "maxTokens must be a whole number of at least 0"},
        {R"({"messages":[5],"maxTokens":1})", "a message must be an object"},
        {R"({"messages":[{"role":"x","content":"y"}],"maxTokens":1})", "a message's role must be user or assistant"},
        {R"({"messages":[{"role":"user"}],"maxTokens":1})", "a message must have content"},
        {R"({"messages":[],"maxTokens":1,"tools":[{}]})", "a tool without a name"},
        {R"({"messages":[],"maxTokens":1,"toolChoice":{"mode":"x"}})",
         "toolChoice.mode must be auto, required or none"},
    }));
    const auto read = comcp::read_sampling_request(object(text));
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().text == what);
}

TEST_CASE("small oddities of a request for sampling are passed over and named", "[protocol]")
{
    const auto read = comcp::read_sampling_request(
        object(R"({"messages":[{"role":"user","content":"q"}],"maxTokens":3.0,"includeContext":"x","toolChoice":{}})"));
    REQUIRE(read.has_value());
    CHECK(*read->messages.at(0).content.at(0).as_text() == "q");
    CHECK_FALSE(read->include_context);
    CHECK(read->tool_choice == comcp::tool_choice::automatic);
    CHECK(read->oddities == std::vector<std::string>{"content block is a plain string", "includeContext is not known"});
}

TEST_CASE("an answer to sampling has one block or several", "[protocol][H-11]")
{
    const auto one = comcp::read_sampling_result(
        object(R"({"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn"})"));
    REQUIRE(one.has_value());
    CHECK(*one->content.at(0).as_text() == "a");
    CHECK(one->model == "m");
    CHECK(one->stop_reason == "endTurn");
    CHECK(one->oddities.empty());

    const auto several = comcp::read_sampling_result(object(
        R"({"role":"user","model":"","content":["b",{"type":"new"},{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"n","input":{}}],"y":1})"));
    REQUIRE(several.has_value());
    CHECK(several->role == role::user);
    CHECK(several->model.empty());
    CHECK(*several->content.at(0).as_text() == "b");
    CHECK(several->content.at(3).get_if<comcp::tool_use_content>()->name == "n");
    CHECK(several->extra.contains("y"));
    CHECK(several->oddities == std::vector<std::string>{"content block is a plain string",
                                                        "unknown or malformed content block of type new"});
}

TEST_CASE("an answer to sampling that lacks what it must have is none", "[protocol][H-11]")
{
    const auto [text, what] = GENERATE(table<const char*, const char*>({
        {R"({})", "is neither the user's nor the assistant's"},
        {R"({"content":{"type":"text","text":"a"},"model":"m"})", "is neither the user's nor the assistant's"},
        {R"({"role":"model","content":{"type":"text","text":"a"},"model":"m"})",
         "is neither the user's nor the assistant's"},
        {R"({"role":"user","content":{"type":"text","text":"a"}})", "names no model"},
        {R"({"role":"user","content":{"type":"text","text":"a"},"model":7})", "names no model"},
        {R"({"role":"user","model":"m"})", "has no content"},
        {R"({"role":"user","model":"m","content":null})", "has no content"},
        {R"({"role":"user","model":"m","content":7})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{}})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{"type":"text"}})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":[{"type":"text","text":"a"},7]})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{"type":"image"}})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{"type":"audio"}})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{"type":"tool_result"}})", "has a malformed block of content"},
        {R"({"role":"user","model":"m","content":{"type":"tool_use","id":"1","name":"t"}})",
         "has a malformed block of content"},
    }));
    INFO(text);
    const auto read = comcp::read_sampling_result(object(text));
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == comcp::errc::invalid_message);
    CHECK(read.error().text == "the answer to a sampling request " + std::string(what));
}

TEST_CASE("a client that lacks sampling, or tools in it, is not asked for them", "[protocol][H-13]")
{
    comcp::sampling_request plain("q", 10);
    CHECK(comcp::check_sampling(plain, able("{}"))->code == comcp::errc::unsupported);
    CHECK_FALSE(comcp::check_sampling(plain, able(R"({"sampling":{}})")));

    comcp::sampling_request with_tools("q", 10);
    with_tools.tools.emplace_back("add");
    CHECK(comcp::check_sampling(with_tools, able(R"({"sampling":{}})"))->text ==
          "the client does not declare sampling.tools");
    CHECK_FALSE(comcp::check_sampling(with_tools, able()));

    comcp::sampling_request with_choice("q", 10);
    with_choice.tool_choice = comcp::tool_choice::none;
    CHECK(comcp::check_sampling(with_choice, able(R"({"sampling":{}})")));

    comcp::sampling_request with_blocks("q", 10);
    with_blocks.messages.emplace_back(role::assistant, use("1"));
    with_blocks.messages.emplace_back(role::user, given("1"));
    CHECK(comcp::check_sampling(with_blocks, able(R"({"sampling":{}})"))->code == comcp::errc::unsupported);
    CHECK_FALSE(comcp::check_sampling(with_blocks, able()));
}

TEST_CASE("uses of tools and their results are in balance", "[protocol][H-14]")
{
    const auto text = [] { return comcp::content::text("t"); };
    CHECK(problem({sampling_message::user("q")}).empty());
    CHECK(problem({{role::assistant, {text(), use("1"), use("2")}}, {role::user, {given("2"), given("1")}}}).empty());
    CHECK(problem({{role::assistant, use("1")}}) == R"(Tool result missing for tool use "1")");
    CHECK(problem({{role::assistant, use("1")}, sampling_message::user("q")}) ==
          R"(Tool result missing for tool use "1")");
    CHECK(problem({{role::assistant, {use("1"), use("2")}}, {role::user, given("1")}}) ==
          R"(Tool result missing for tool use "2")");
    CHECK(problem({{role::assistant, use("1")}, {role::user, {given("1"), text()}}}) ==
          "Tool results mixed with other content");
    CHECK(problem({{role::assistant, use("1")}, {role::user, {given("1"), given("1")}}}) ==
          R"(More than one tool result for "1")");
    CHECK(problem({{role::assistant, {use("1"), use("1")}}}) == R"(Two tool uses with the id "1")");
    CHECK(problem({{role::user, given("1")}}) == R"(Tool result "1" without a tool use in the message before)");
    CHECK(problem({{role::user, use("1")}}) == "Tool use in a message that is not the assistant's");
    CHECK(problem({{role::assistant, use("1")}, {role::assistant, given("1")}}) ==
          "Tool result in a message that is not the user's");
    // A later message does not count: the results follow directly.
    CHECK(problem({{role::assistant, use("1")}, sampling_message::user("q"), {role::user, given("1")}}) ==
          R"(Tool result missing for tool use "1")");
}
