// SPDX-License-Identifier: MIT
// A server's prompts: what is listed, made, and refused.
#include "script.hpp"

using namespace script;

namespace
{

std::string result(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(text) + '}';
}

std::string refusal(std::string_view id, int code, std::string_view why)
{
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
                       R"(,"message":)";
    comcp::write_string(text, why);
    return text + "}}";
}

/// Asks for a prompt; gives the answer.
std::string get(server_stage& s, std::string_view name, std::string_view arguments = "{}")
{
    s.peer.ask("1", "prompts/get",
               R"({"name":")" + std::string(name) + R"(","arguments":)" + std::string(arguments) + '}');
    return s.peer.next();
}

std::string user_says(std::string_view text)
{
    std::string out = R"({"messages":[{"role":"user","content":{"type":"text","text":)";
    comcp::write_string(out, text);
    return out + "}}]}";
}

struct review
{
    std::string code;
    std::optional<std::string> language;
    int depth = 3;
};
BOOST_DESCRIBE_STRUCT(review, (), (code, language, depth))

comcp::notes schema_notes(const review*)
{
    return comcp::notes().add("code", comcp::field("what to read").title("Code"));
}

std::string show(const review& r) { return r.code + '/' + r.language.value_or("-") + '/' + std::to_string(r.depth); }

comcp::task<std::string> later(comcp::duration time, std::string what)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return what;
}

} // namespace

TEST_CASE("Prompts are declared when there are some, or when they are promised [G-20]")
{
    const auto declared = [](auto prepare) {
        server_stage s;
        prepare(s.server);
        s.listen();
        s.peer.ask("1", "initialize", R"({"protocolVersion":"2025-11-25"})");
        return has(s.peer.next(), R"("prompts":{"listChanged":true})");
    };
    CHECK_FALSE(declared([](auto&) {}));
    CHECK(declared([](auto& server) { server.prompt("p", "", [] { return ""; }); }));
    CHECK(declared([](auto& server) { server.options().offer_prompts = true; }));

    server_stage s;
    s.begin();
    s.server.prompt("p", "", [] { return ""; });
    CHECK(s.peer.quiet());
    CHECK(get(s, "p") == refusal("1", -32601, "no such method"));
}

TEST_CASE("A prompt gives text, content, messages or a whole result [G-21]")
{
    server_stage s;
    s.server.prompt("text", "", [] { return "hi \"there\""; });
    s.server.prompt("block", "", [] { return comcp::content::image("AAAA", "image/png"); });
    s.server.prompt("message", "", [] { return comcp::prompt_message::assistant("I"); });
    s.server.prompt("messages", "", [] {
        std::vector<comcp::prompt_message> all;
        all.push_back(comcp::prompt_message::user("u"));
        all.push_back(comcp::prompt_message::assistant("a"));
        return all;
    });
    s.server.prompt("result", "", [] {
        comcp::prompt_result made(comcp::prompt_message::user("u"));
        made.description = "d";
        return made;
    });
    s.server.prompt("later", "", [] { return later(1ms, "slow"); });
    s.begin();
    CHECK(get(s, "text") == result("1", user_says("hi \"there\"")));
    CHECK(get(s, "block") == result("1", R"({"messages":[{"role":"user","content":)"
                                         R"({"type":"image","data":"AAAA","mimeType":"image/png"}}]})"));
    CHECK(get(s, "message") ==
          result("1", R"({"messages":[{"role":"assistant","content":{"type":"text","text":"I"}}]})"));
    CHECK(get(s, "messages") == result("1", R"({"messages":[{"role":"user","content":{"type":"text","text":"u"}},)"
                                            R"({"role":"assistant","content":{"type":"text","text":"a"}}]})"));
    CHECK(get(s, "result") ==
          result("1", R"({"description":"d","messages":[{"role":"user","content":{"type":"text","text":"u"}}]})"));
    s.peer.ask("2", "prompts/get", R"({"name":"later"})");
    CHECK(s.peer.quiet());
    s.advance(1ms);
    CHECK(s.peer.next() == result("2", user_says("slow")));
}

TEST_CASE("A block that a revision lacks is text there [F-10]")
{
    const auto made = [](std::string_view version) {
        server_stage s;
        s.server.prompt("p", "", [] {
            std::vector<comcp::prompt_message> all;
            all.emplace_back(comcp::role::user, comcp::content::audio("AAAA", "audio/wav"));
            all.emplace_back(comcp::role::user, comcp::content::link("file:///l", "L"));
            return all;
        });
        s.begin(version);
        return get(s, "p");
    };
    const auto both = [](const std::string& audio, const std::string& link) {
        return result("1", R"({"messages":[{"role":"user","content":)" + audio + R"(},{"role":"user","content":)" +
                               link + "}]}");
    };
    const std::string audio = R"({"type":"audio","data":"AAAA","mimeType":"audio/wav"})";
    const std::string no_audio = R"({"type":"text","text":"[audio audio/wav, 3 bytes]"})";
    const std::string link = R"({"type":"resource_link","uri":"file:///l","name":"L"})";
    const std::string no_link = R"({"type":"text","text":"[resource link file:///l, name: L]"})";
    CHECK(made("2024-11-05") == both(no_audio, no_link));
    CHECK(made("2025-03-26") == both(audio, no_link));
    CHECK(made("2025-06-18") == both(audio, link));
    CHECK(made("2025-11-25") == both(audio, link));
}

TEST_CASE("Arguments are bound to a struct or handed over as a map")
{
    server_stage s;
    s.server.prompt("review", "", [](review r) { return show(r); });
    s.server.prompt("context", "", [](review r, comcp::context& ctx) { return show(r) + ctx.request_id(); });
    s.server.prompt("map", "", [](std::map<std::string, std::string> all) {
        std::string text;
        for (const auto& [name, value] : all) text += name + '=' + value + ';';
        return text;
    });
    s.begin();
    CHECK(get(s, "review", R"({"code":"x"})") == result("1", user_says("x/-/3")));
    CHECK(get(s, "review", R"({"code":"7","language":"C","depth":"5","more":"ignored"})") ==
          result("1", user_says("7/C/5")));
    CHECK(get(s, "review", R"({"code":"x","language":null})") == result("1", user_says("x/-/3")));
    CHECK(get(s, "context", R"({"code":"x"})") == result("1", user_says("x/-/31")));
    CHECK(get(s, "map", R"({"b":"2","a":"1"})") == result("1", user_says("a=1;b=2;")));
    s.peer.ask("1", "prompts/get", R"({"name":"map"})");
    CHECK(s.peer.next() == result("1", user_says("")));
    s.peer.ask("1", "prompts/get", R"({"name":"map","arguments":null})");
    CHECK(s.peer.next() == result("1", user_says("")));
}

TEST_CASE("What is missing, unknown or no string is refused [G-22]")
{
    server_stage s;
    comcp::prompt by_hand("by_hand", "");
    by_hand.arguments.emplace_back("must", "", true);
    by_hand.arguments.emplace_back("may");
    s.server.prompt("review", "", [](review r) { return show(r); });
    s.server.prompt(by_hand, [](std::map<std::string, std::string> all) { return all.at("must"); });
    s.server.prompt("off", "", [] { return ""; }).disable();
    s.begin();
    CHECK(get(s, "nobody") == refusal("1", -32602, "unknown prompt: nobody"));
    CHECK(get(s, "off") == refusal("1", -32602, "unknown prompt: off"));
    CHECK(get(s, "review") == refusal("1", -32602, "the argument \"code\" is missing"));
    CHECK(get(s, "review", R"({"code":null})") == refusal("1", -32602, "the argument \"code\" is missing"));
    CHECK(get(s, "review", R"({"code":7})") == refusal("1", -32602, "the argument \"code\" must be a string"));
    CHECK(get(s, "review", R"({"code":"x","other":["y"]})") ==
          refusal("1", -32602, "the argument \"other\" must be a string"));
    CHECK(get(s, "review", R"({"code":"x","depth":"deep"})") ==
          refusal("1", -32602, "invalid arguments:\n/depth: expected integer, got string"));
    CHECK(get(s, "review", "[]") == refusal("1", -32602, "arguments must be an object"));
    CHECK(get(s, "by_hand") == refusal("1", -32602, "the argument \"must\" is missing"));
    CHECK(get(s, "by_hand", R"({"must":"m"})") == result("1", user_says("m")));
    for (const auto* params : {"{}", R"({"name":7})", R"({"arguments":{}})"}) {
        s.peer.ask("1", "prompts/get", params);
        CHECK(s.peer.next() == refusal("1", -32602, "the name of the prompt is missing"));
    }
    s.peer.ask("1", "prompts/get");
    CHECK(s.peer.next() == refusal("1", -32602, "the name of the prompt is missing"));
}

TEST_CASE("A prompt's failure is an internal error [G-22]")
{
    server_stage s;
    s.server.prompt("secret", "", []() -> std::string { throw std::runtime_error("secret"); });
    s.server.prompt("told", "", []() -> std::string { throw comcp::tool_error("no disk"); });
    s.server.prompt("coded", "", []() -> comcp::task<std::string> {
        throw comcp::request_error(-7, "mine");
        co_return "";
    });
    s.server.prompt("gone", "", []() -> std::string { throw comcp::resource_not_found(); });
    s.begin();
    CHECK(get(s, "secret") == refusal("1", -32603, "the prompt failed"));
    CHECK(get(s, "told") == refusal("1", -32603, "no disk"));
    CHECK(get(s, "coded") == refusal("1", -7, "mine"));
    CHECK(get(s, "gone") == refusal("1", -32603, "no such resource"));
}

TEST_CASE("Prompts are listed as each revision has them [G-20]")
{
    const auto listed = [](std::string_view version) {
        server_stage s;
        s.server.prompt("review", "Reviews code", [](review r) { return show(r); })
            .title("Review")
            .argument("language", "of the code")
            .icons({comcp::icon("https://i")});
        s.begin(version);
        s.peer.ask("1", "prompts/list");
        return s.peer.next();
    };
    const auto item = [](const std::string& title, const std::string& argument, const std::string& icons) {
        return result("1", R"({"prompts":[{"name":"review",)" + title + R"("description":"Reviews code",)" +
                               R"("arguments":[{"name":"code",)" + argument +
                               R"("description":"what to read","required":true},)"
                               R"({"name":"language","description":"of the code"},{"name":"depth"}])" +
                               icons + "}]}");
    };
    CHECK(listed("2024-11-05") == item("", "", ""));
    CHECK(listed("2025-03-26") == item("", "", ""));
    CHECK(listed("2025-06-18") == item(R"("title":"Review",)", R"("title":"Code",)", ""));
    CHECK(listed("2025-11-25") ==
          item(R"("title":"Review",)", R"("title":"Code",)", R"(,"icons":[{"src":"https://i"}])"));
}

TEST_CASE("A registration of a prompt that cannot work fails at once")
{
    server_stage s;
    auto p = s.server.prompt("p", "", [](review r) { return show(r); });
    CHECK_THROWS_AS(s.server.prompt("p", "", [] { return ""; }), comcp::error);
    CHECK_THROWS_AS(s.server.prompt("", "", [] { return ""; }), comcp::error);
    CHECK_THROWS_AS(p.argument("none", "x"), comcp::error);
    CHECK_THROWS_AS(p.complete("none", std::vector<std::string>()), comcp::error);
}
