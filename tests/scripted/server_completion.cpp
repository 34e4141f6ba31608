// SPDX-License-Identifier: MIT
// A server's completions of prompts' arguments and of templates' variables.
#include "script.hpp"

using namespace script;

namespace
{

std::string refusal(std::string_view id, int code, std::string_view why)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":")" + std::string(why) + R"("}})";
}

std::string suggested(std::string_view id, std::string_view values, std::string_view rest = {})
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{"completion":{"values":[)" +
           std::string(values) + ']' + std::string(rest) + "}}}";
}

std::string of_prompt(std::string_view name, std::string_view argument, std::string_view value,
                      std::string_view rest = {})
{
    return R"({"ref":{"type":"ref/prompt","name":")" + std::string(name) + R"("},"argument":{"name":")" +
           std::string(argument) + R"(","value":")" + std::string(value) + R"("})" + std::string(rest) + '}';
}

std::string of_resource(std::string_view uri, std::string_view argument, std::string_view value)
{
    return R"({"ref":{"type":"ref/resource","uri":")" + std::string(uri) + R"("},"argument":{"name":")" +
           std::string(argument) + R"(","value":")" + std::string(value) + R"("}})";
}

struct code
{
    std::string language;
    std::optional<std::string> style;
};
BOOST_DESCRIBE_STRUCT(code, (), (language, style))

struct completing_stage : server_stage
{
    completing_stage()
    {
        server.prompt("write", "", [](code) { return ""; })
            .complete("language", {"c", "c++", "rust"})
            .complete("style", [](std::string typed, comcp::completion_context others) {
                const auto found = others.find("language");
                return std::vector<std::string>{typed + (found == others.end() ? "?" : found->second)};
            });
        server.resource_template("x:{a}/{b}/{c}/{d}", "", [] { return ""; })
            .complete("a",
                      [](std::string typed) {
                          std::vector<std::string> many;
                          for (int i = 1; i <= 101; ++i) many.push_back(typed + std::to_string(i));
                          return many;
                      })
            .complete("b",
                      [](std::string typed, comcp::context& ctx) -> comcp::task<comcp::completion> {
                          comcp::timer timer(co_await asio::this_coro::executor);
                          co_await timer.wait_for(1ms);
                          comcp::completion made({typed, ctx.request_id()});
                          made.total = 7;
                          made.has_more = true;
                          co_return made;
                      })
            .complete("c", [](std::string) -> std::vector<std::string> { throw std::runtime_error("secret"); });
        server.resource("x:fixed", "", [] { return ""; });
    }
    std::string complete(std::string_view params)
    {
        peer.ask("1", "completion/complete", params);
        return peer.next();
    }
};

} // namespace

TEST_CASE("Completions are declared when there is a completer, or when they are promised [G-31]")
{
    const auto declared = [](auto prepare, std::string_view version = "2025-11-25") {
        server_stage s;
        prepare(s.server);
        s.listen();
        s.peer.ask("1", "initialize", R"({"protocolVersion":")" + std::string(version) + R"("})");
        return has(s.peer.next(), R"("completions":{})");
    };
    const auto prompt = [](auto& server) {
        server.prompt("p", "", [](code) { return ""; }).complete("style", std::vector<std::string>());
    };
    const auto resource = [](auto& server) {
        server.resource_template("x:{a}", "p", [] { return ""; }).complete("a", std::vector<std::string>());
    };
    CHECK_FALSE(declared([](auto& server) { server.prompt("p", "", [](code) { return ""; }); }));
    CHECK(declared([](auto& server) { server.options().offer_completions = true; }));
    CHECK(declared(prompt));
    CHECK(declared(resource));
    CHECK(declared(prompt, "2025-03-26"));
    CHECK_FALSE(declared(prompt, "2024-11-05")); // has no such capability

    server_stage none;
    none.server.prompt("p", "", [](code) { return ""; });
    none.begin();
    none.peer.ask("1", "completion/complete", of_prompt("p", "style", ""));
    CHECK(none.peer.next() == refusal("1", -32601, "no such method"));
    server_stage first;
    first.server.prompt("p", "", [](code) { return ""; });
    first.begin("2024-11-05");
    first.peer.ask("1", "completion/complete", of_prompt("p", "style", ""));
    CHECK(first.peer.next() == suggested("1", ""));
}

TEST_CASE("An argument of a prompt is completed [G-30]")
{
    completing_stage s;
    s.begin();
    CHECK(s.complete(of_prompt("write", "language", "")) == suggested("1", R"("c","c++","rust")"));
    CHECK(s.complete(of_prompt("write", "language", "c")) == suggested("1", R"("c","c++")"));
    CHECK(s.complete(of_prompt("write", "language", "x")) == suggested("1", ""));
}

TEST_CASE("What was filled in already is passed on, since 2025-06-18 [G-30]")
{
    const std::string asked =
        of_prompt("write", "style", "s", R"(,"context":{"arguments":{"language":"rust","odd":7}})");
    for (const auto version : comcp::all_revisions) {
        completing_stage s;
        s.begin(comcp::to_string(version));
        // An older client that sends it all the same means it.
        CHECK(s.complete(asked) == suggested("1", R"("srust")"));
        CHECK(s.complete(of_prompt("write", "style", "s")) == suggested("1", R"("s?")"));
        CHECK(s.complete(of_prompt("write", "style", "s", R"(,"context":{})")) == suggested("1", R"("s?")"));
    }
}

TEST_CASE("A variable of a template is completed, and more than 100 values are cut [G-31]")
{
    completing_stage s;
    s.begin();
    const std::string pattern = "x:{a}/{b}/{c}/{d}";
    std::string hundred;
    for (int i = 1; i <= 100; ++i) hundred += (i == 1 ? "\"v" : ",\"v") + std::to_string(i) + '"';
    CHECK(s.complete(of_resource(pattern, "a", "v")) == suggested("1", hundred, R"(,"total":101,"hasMore":true)"));
    s.peer.ask("2", "completion/complete", of_resource("x:1/2/3/4", "b", "v")); // a URI that follows the template
    CHECK(s.peer.quiet());
    s.advance(1ms);
    CHECK(s.peer.next() == suggested("2", R"("v","2")", R"(,"total":7,"hasMore":true)"));
    CHECK(s.complete(of_resource(pattern, "c", "v")) == refusal("1", -32603, "the completion failed"));
    CHECK(s.complete(of_resource(pattern, "d", "v")) == suggested("1", ""));
}

TEST_CASE("What cannot be completed is refused [G-31]")
{
    completing_stage s;
    s.begin();
    CHECK(s.complete(of_prompt("nobody", "a", "")) == refusal("1", -32602, "unknown prompt: nobody"));
    CHECK(s.complete(of_prompt("write", "tone", "")) == refusal("1", -32602, "unknown argument: tone"));
    CHECK(s.complete(of_resource("y:{a}", "a", "")) == refusal("1", -32602, "unknown resource: y:{a}"));
    CHECK(s.complete(of_resource("x:{a}/{b}/{c}/{d}", "e", "")) == refusal("1", -32602, "unknown argument: e"));
    CHECK(s.complete(of_resource("x:fixed", "a", "")) == refusal("1", -32602, "unknown argument: a"));
    for (const auto* params :
         {"{}", R"({"ref":{"type":"ref/tool","name":"x"},"argument":{"name":"a","value":""}})",
          R"({"ref":{"type":"ref/prompt"},"argument":{"name":"a","value":""}})",
          R"({"ref":{"type":"ref/prompt","name":"write"}})",
          R"({"ref":{"type":"ref/prompt","name":"write"},"argument":{"name":"language"}})",
          R"({"ref":{"type":"ref/prompt","name":"write"},"argument":{"name":"language","value":7}})"}) {
        INFO(params);
        CHECK(has(s.complete(params), "-32602"));
    }
}
