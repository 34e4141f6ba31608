// SPDX-License-Identifier: MIT
// Prompts, completion and the log level as a client uses them.
#include "script.hpp"

using namespace script;

namespace
{

struct prompt_stage : client_stage
{
    explicit prompt_stage(std::string_view version = "2025-11-25",
                          std::string_view capabilities = R"({"prompts":{},"completions":{},"logging":{}})")
        : client_stage(comcp::client_options(), "")
    {
        shake_hands(version, capabilities);
    }
};

} // namespace

TEST_CASE("Prompts are listed with their arguments [G-20]")
{
    prompt_stage s;
    auto list = s.start(s.client.list_prompts());
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"prompts":[{"name":"review","title":"R","description":"d",)"
               R"("arguments":[{"name":"language","title":"L","description":"of the code","required":true},)"
               R"({"name":"style"}]},{"name":"review"},{"title":"no name"}]}})");
    REQUIRE(list.value().size() == 1);
    const comcp::prompt& review = *list.value().find("review");
    CHECK(review.display_name() == "R");
    REQUIRE(review.arguments.size() == 2);
    CHECK(review.arguments[0].name == "language");
    CHECK(review.arguments[0].required);
    CHECK(review.arguments[1].name == "style");
    CHECK_FALSE(review.arguments[1].required);
    CHECK(list.value().problems.size() == 1);
}

TEST_CASE("A prompt is got with its arguments [G-21]")
{
    prompt_stage s;
    auto got = s.start(s.client.get_prompt("review", comcp::args("language", "c++")));
    CHECK(
        s.peer.next() ==
        R"({"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"language":"c++"}}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"description":"d","messages":[)"
               R"({"role":"user","content":{"type":"text","text":"Look"}},)"
               R"({"role":"assistant","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]}})");
    CHECK(got.value().description == "d");
    REQUIRE(got.value().messages.size() == 2);
    CHECK(got.value().messages[0].role == comcp::role::user);
    CHECK(*got.value().messages[0].content.as_text() == "Look");
    CHECK(got.value().messages[1].role == comcp::role::assistant);
    CHECK(got.value().messages[1].content.get_if<comcp::image_content>()->data == "AAAA");
    CHECK(got.value().oddities.empty());
}

TEST_CASE("A prompt that is not known, or lacks an argument, is refused [G-22]")
{
    prompt_stage s;
    auto got = s.start(s.client.get_prompt("none"));
    s.peer.expect("prompts/get").refuse(-32602, "Unknown prompt: none");
    CHECK(got.failed_with(errc::refused));
    CHECK(got.failure().rpc->message == "Unknown prompt: none");
}

TEST_CASE("A malformed prompt is no exception [125]")
{
    const auto* result = GENERATE("{}", R"({"messages":null})", R"({"messages":"x"})", R"({"messages":[null,3,{}]})");
    prompt_stage s;
    auto got = s.start(s.client.get_prompt("p"));
    s.peer.expect("prompts/get").reply(result);
    CHECK_FALSE(got.value().oddities.empty());
    CHECK(s.client.connected());
}

// ---- completion ----------------------------------------------------------------------------------------------------

TEST_CASE("Arguments of prompts and of resource templates are completed [G-30]")
{
    prompt_stage s;
    auto some = s.start(s.client.complete(comcp::completion_reference::prompt("review"), "language", "c"));
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{)"
          R"("ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"c"}}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"completion":{"values":["c","c++"],"total":7,"hasMore":true}}})");
    CHECK(some.value().values == std::vector<std::string>{"c", "c++"});
    CHECK(some.value().total == 7);
    CHECK(some.value().has_more == true);

    comcp::completion_request more(comcp::completion_reference::resource("db://{table}/{row}"), "row", "1");
    more.context.emplace("table", "users");
    comcp::call_options options;
    options.meta({{"m", 1}});
    auto none = s.start(s.client.complete(more, options));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{)"
                           R"("ref":{"type":"ref/resource","uri":"db://{table}/{row}"},)"
                           R"("argument":{"name":"row","value":"1"},"context":{"arguments":{"table":"users"}},)"
                           R"("_meta":{"m":1}}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":3,"result":{}})");
    CHECK(none.value().values.empty());
}

TEST_CASE("The first revision had completion without a capability, and no context for it [B-8]")
{
    prompt_stage s("2024-11-05", "{}");
    comcp::completion_request what(comcp::completion_reference::prompt("p"), "a", "v");
    what.context.emplace("b", "w");
    auto some = s.start(s.client.complete(what));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{)"
                           R"("ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"completion":{"values":["v1"]}}})");
    CHECK(some.value().values.size() == 1);
}

// ---- the log level -------------------------------------------------------------------------------------------------

TEST_CASE("The log level is set [G-41]")
{
    prompt_stage s;
    auto set = s.start(s.client.set_log_level(comcp::log_level::warning));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{}})");
    CHECK(set.succeeded());
    auto refused = s.start(s.client.set_log_level(comcp::log_level::debug));
    s.peer.expect("logging/setLevel").refuse(-32602, "no");
    CHECK(refused.failed_with(errc::refused));
}
