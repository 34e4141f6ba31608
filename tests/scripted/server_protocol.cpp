// SPDX-License-Identifier: MIT
// A server's side of the protocol: handshake, the order of checks, ids, errors, batches, lists, log levels.
#include "script.hpp"

using namespace script;

namespace
{

std::string refusal(std::string_view id, int code, std::string_view why)
{
    return R"({"jsonrpc":"2.0",)" + (id.empty() ? std::string() : R"("id":)" + std::string(id) + ',') +
           R"("error":{"code":)" + std::to_string(code) + R"(,"message":")" + std::string(why) + R"("}})";
}

int code_of(const json::object& answer) { return static_cast<int>(answer.at("error").at("code").as_int64()); }

std::string pong(std::string_view id) { return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})"; }

comcp::task<std::string> wait_for(comcp::duration time)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return "done";
}

const std::string hello =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}})";

} // namespace

// ---- handshake
// -------------------------------------------------------------------------------------------------------

TEST_CASE("A server answers initialize with the version that it was offered, if it knows it")
{
    for (const auto known : comcp::all_revisions) {
        server_stage s;
        s.begin(comcp::to_string(known));
        CHECK(s.peer.quiet());
    }
}

TEST_CASE("An unknown version is answered with our newest, never refused or echoed [60] [61] [B-4]")
{
    const auto* version = GENERATE(R"("2099-01-01")", R"("2026-07-28")", R"("")", "7", "null", R"("2025-11-25 ")");
    server_stage s;
    s.listen();
    s.peer.ask("1", "initialize", R"({"protocolVersion":)" + std::string(version) + "}");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":)"
                           R"({"tools":{"listChanged":true},"logging":{}},)"
                           R"("serverInfo":{"name":"served","version":"1"}}})");
}

TEST_CASE("A handshake with members of the future, or with none, is a handshake [40]")
{
    const auto* params = GENERATE(
        R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"zzz":1},"zzz":{}},"clientInfo":[],"x":1})",
        "{}", "null", "");
    server_stage s;
    s.listen();
    s.peer.ask("1", "initialize", params);
    CHECK(s.peer.next_object().at("result").at("protocolVersion").get_string() == "2025-11-25");
    s.peer.ask("2", "tools/list"); // works before notifications/initialized: some clients never send it
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"result":{"tools":[]}})");
}

TEST_CASE("The checks come in order: unknown method, then initialize comes first")
{
    server_stage s;
    s.listen();
    s.peer.ask("1", "ping"); // [B-10]
    CHECK(s.peer.next() == pong("1"));
    s.peer.ask("2", "server/discover", "{}"); // [43] [59]
    CHECK(s.peer.next() == refusal("2", -32601, "no such method"));
    s.peer.ask("3", "resources/list"); // a method of the specification that this server did not declare
    CHECK(s.peer.next() == refusal("3", -32601, "no such method"));
    s.peer.ask("4", "tools/list");
    CHECK(s.peer.next() == refusal("4", -32600, "initialize comes first"));
    s.peer.ask("5", "tools/call", R"({"name":"x"})");
    CHECK(s.peer.next() == refusal("5", -32600, "initialize comes first"));
    s.peer.note("notifications/initialized"); // too early: ignored
    CHECK(s.peer.quiet());
    s.peer.ask("6", "initialize", hello);
    CHECK(s.peer.next_object().contains("result"));
    s.peer.ask("7", "initialize", hello);
    CHECK(s.peer.next() == refusal("7", -32600, "initialized already"));
    s.peer.ask("8", "tools/list");
    CHECK(s.peer.next_object().contains("result"));
}

TEST_CASE("An unknown method is unknown whatever its params are [A-31]")
{
    server_stage s;
    s.begin();
    s.peer.ask("1", "foo/bar", "[1]");
    CHECK(code_of(s.peer.next_object()) == -32601);
    s.peer.ask("2", "tools/list", "[1]");
    CHECK(code_of(s.peer.next_object()) == -32602);
}

TEST_CASE("An empty set of tools is still declared, and listed as empty [67]")
{
    server_stage s;
    s.listen();
    s.peer.ask("1", "initialize", hello);
    CHECK(has(s.peer.next(), R"("tools":{"listChanged":true})"));
    s.peer.ask("2", "tools/list", "{}");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"result":{"tools":[]}})");
}

TEST_CASE("Instructions go out when there are some")
{
    comcp::server_options options;
    options.instructions = "be kind";
    server_stage s(std::move(options));
    s.listen();
    s.peer.ask("1", "initialize", hello);
    CHECK(has(s.peer.next(), R"(,"instructions":"be kind"}})"));
}

// ---- ids and errors
// --------------------------------------------------------------------------------------------------

TEST_CASE("Every id comes back exactly as it was [31]")
{
    const auto* id = GENERATE("\"init-1\"", "42", "\"req-abc\"", "-7", "9007199254740993", "0", "\"\"", "\"1\"",
                              "123456789012345678901234567890", "18446744073709551615", "\"\\u00e9\\n\"");
    server_stage s;
    s.begin();
    s.peer.ask(id, "ping");
    const std::string answer = s.peer.next();
    if (std::string_view(id) == "\"\\u00e9\\n\"") CHECK(answer == pong("\"\u00e9\\n\""));
    else CHECK(answer == pong(id));
}

TEST_CASE("What cannot be read is answered with the id that each revision wants [32] [46] [A-5]")
{
    const auto [version, nothing] = GENERATE(table<std::string, std::string>({
        {"2024-11-05", R"("id":null,)"},
        {"2025-03-26", R"("id":null,)"},
        {"2025-06-18", R"("id":null,)"},
        {"2025-11-25", ""},
    }));
    server_stage s;
    s.begin(version);
    const auto answered = [&, none = nothing](std::string text, int code) {
        s.peer.say(std::move(text));
        const std::string answer = s.peer.next();
        CHECK(s.peer.quiet());
        INFO(answer);
        return answer.starts_with(R"({"jsonrpc":"2.0",)" + none + R"("error":{"code":)" + std::to_string(code) + ',');
    };
    CHECK(answered("{", -32700));
    CHECK(answered("hello", -32700));
    CHECK(answered("\"\xC3\x28\"", -32700)); // [7]
    CHECK(answered(std::string(200, '['), -32700));
    CHECK(answered(std::string(200, '[') + std::string(200, ']'), -32700));
    for (const auto* text :
         {"null", "3", "\"x\"", "[]", "{}", R"({"jsonrpc":"2.0"})", R"({"id":null,"method":"ping"})",
          R"({"jsonrpc":"2.0","id":null,"method":"ping"})", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
          R"({"jsonrpc":"2.0","id":{},"method":"ping"})", R"({"jsonrpc":"2.0","method":7})"})
        CHECK(answered(text, -32600));
    // An id that could be read is given back.
    s.peer.say(R"({"jsonrpc":"1.0","id":8,"method":"ping"})");
    CHECK(s.peer.next().starts_with(R"({"jsonrpc":"2.0","id":8,"error":{"code":-32600,)"));
    s.peer.say(R"({"jsonrpc":"2.0","id":"z","method":7})");
    CHECK(s.peer.next().starts_with(R"({"jsonrpc":"2.0","id":"z","error":{"code":-32600,)"));
    s.peer.ask("9", "ping");
    CHECK(s.peer.next() == pong("9"));
}

TEST_CASE("Nesting beyond the limit is refused, and one level less is not [143]")
{
    comcp::server_options options;
    options.limits.depth = 10;
    server_stage s(std::move(options));
    s.begin();
    const auto nested = [](int levels) {
        std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)";
        for (int i = 1; i < levels; ++i) text += R"({"a":)";
        text += '1';
        for (int i = 1; i < levels; ++i) text += '}';
        return text + '}';
    };
    s.peer.say(nested(10));
    CHECK(s.peer.next() == pong("1"));
    s.peer.say(nested(11));
    CHECK(code_of(s.peer.next_object()) == -32700);
    s.peer.say(nested(100'000));
    CHECK(code_of(s.peer.next_object()) == -32700);
}

TEST_CASE("Answers to nothing and unknown notices get no bytes [41]")
{
    server_stage s;
    s.begin();
    s.peer.say(R"({"jsonrpc":"2.0","id":5,"result":{}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"x"}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}})");
    s.peer.note("notifications/roots/list_changed");
    s.peer.note("notifications/unknown", R"({"a":1})");
    s.peer.note("notifications/cancelled", R"({"requestId":99})");
    s.peer.note("notifications/cancelled");
    s.peer.note("notifications/progress", R"({"progressToken":1,"progress":1})");
    s.peer.note("tools/call", R"({"name":"x"})"); // a notification, whatever it is called
    CHECK(s.peer.quiet());
}

TEST_CASE("A duplicate id in flight is refused, and free again afterwards [35] [A-3]")
{
    server_stage s;
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.begin();
    s.peer.call("1", "wait");
    s.peer.call("1", "wait");
    CHECK(s.peer.next() == refusal("1", -32600, "the id of this request is in use"));
    s.peer.call("\"1\"", "wait"); // another id
    CHECK(s.peer.quiet());
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 2);
    s.peer.call("1", "wait");
    CHECK(s.peer.quiet());
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 1);
}

TEST_CASE("Requests that handlers hold are bounded by their bytes, and one alone is not")
{
    comcp::server_options options;
    options.limits.held_requests = 1000;
    server_stage s(std::move(options));
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.begin();
    const auto call = [](std::string id, std::size_t size) { // a message of that many bytes
        const auto text = [](const std::string& padded) {
            return R"({"jsonrpc":"2.0","id":")" + padded + R"(","method":"tools/call","params":{"name":"wait"}})";
        };
        id.append(size - text(id).size(), 'x');
        return text(id);
    };
    const std::string too_many = R"("error":{"code":-32603,"message":"too many requests","data":{"retryable":true}}})";
    s.peer.say(call("a", 500));
    s.peer.say(call("b", 501));
    CHECK(has(s.peer.next(), too_many)); // 1001
    s.peer.say(call("c", 500));
    CHECK(s.peer.quiet()); // 1000
    s.peer.ask("1", "ping");
    CHECK(s.peer.next() == pong("1"));
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 2);
    s.peer.say(call("d", 2000));
    CHECK(s.peer.quiet());
    s.peer.say(call("e", 200));
    CHECK(has(s.peer.next(), too_many));
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 1);
}

TEST_CASE("A malformed late answer is noted, and never answered by its id")
{
    server_stage s;
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.begin("2025-03-26");
    s.peer.call("1", "wait");
    for (const auto* text : {R"({"jsonrpc":"2.0","id":1,"result":5})", R"({"jsonrpc":"2.0","id":1,"result":null})",
                             R"({"jsonrpc":"2.0","id":1,"error":"x"})", R"({"id":1,"result":{}})",
                             R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})",
                             R"({"jsonrpc":"2.0","id":[],"result":{}})", R"([{"jsonrpc":"2.0","id":1,"result":5}])"}) {
        INFO(text);
        s.peer.say(text);
        CHECK(s.peer.quiet());
    }
    s.peer.say(R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(200, '[') + std::string(200, ']') + "}");
    CHECK(s.peer.quiet());
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"error":7},{"jsonrpc":"2.0","id":7,"method":"ping"}])");
    CHECK(s.peer.next() == "[" + pong("7") + "]");
    // Neither a request nor an answer.
    s.peer.say(R"({"jsonrpc":"2.0","id":2})");
    CHECK(s.peer.next() == refusal("2", -32600, "no method, result or error"));
    s.advance(10ms);
    CHECK(has(s.peer.next(), R"("id":1,"result":)"));
    CHECK(s.peer.quiet());
}

TEST_CASE("The 257th request in flight is refused and may be tried again; ping is still answered")
{
    server_stage s;
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.begin();
    for (int i = 1; i <= 257; ++i) s.peer.call(std::to_string(i), "wait");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":257,"error":{"code":-32603,"message":"too many requests",)"
                           R"("data":{"retryable":true}}})");
    s.peer.ask("300", "ping");
    CHECK(s.peer.next() == pong("300"));
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 256);
    s.peer.call("257", "wait");
    s.advance(10ms);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":257,"result":{"content":[{"type":"text","text":"done"}]}})");
}

// ---- batches
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("A batch is answered with one array, when its last answer is there [A-8]")
{
    server_stage s;
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.server.tool("quick", "", [] { return "q"; });
    s.begin("2025-03-26");
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}},)"
               R"( {"jsonrpc":"2.0","method":"notifications/unknown"} , {"jsonrpc":"2.0","id":2,"method":"ping"},)"
               R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"quick"}},7,)"
               R"({"jsonrpc":"2.0","id":4,"method":"initialize","params":{}}])");
    CHECK(s.peer.quiet());
    s.peer.ask("5", "ping"); // a batch that waits holds up nobody
    CHECK(s.peer.next() == pong("5"));
    s.advance(10ms);
    CHECK(s.peer.next() ==
          "[" + pong("2") + R"(,{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"q"}]}},)" +
              refusal("null", -32600, "not an object") + ',' + refusal("4", -32600, "initialized already") +
              R"(,{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}])");
    CHECK(s.peer.quiet());
}

TEST_CASE("A batch without requests gets no answer, an empty one is no request [A-9]")
{
    server_stage s;
    s.begin("2025-03-26");
    s.peer.say(R"([{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","id":4,"result":{}}])");
    CHECK(s.peer.quiet());
    s.peer.say("[]");
    CHECK(s.peer.next() == refusal("null", -32600, "not an object"));
    CHECK(s.peer.quiet());
}

TEST_CASE("A cancelled request leaves its batch, and a batch of only that gives no answer")
{
    server_stage s;
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    s.begin("2025-03-26");
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}},)"
               R"({"jsonrpc":"2.0","id":2,"method":"ping"}])");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(s.peer.next() == "[" + pong("2") + "]");
    s.peer.say(R"([{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait"}},)"
               R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}])");
    s.advance(1s);
    CHECK(s.peer.quiet());
}

TEST_CASE("Answers that wait for others of their batch are bounded, to the byte")
{
    const std::size_t over = GENERATE(0U, 1U);
    comcp::server_options options;
    options.limits.message = 1000;
    server_stage s(options);
    s.server.tool("wait", "", [] { return wait_for(10ms); });
    std::string text;
    s.server.tool("long", "", [&] { return text; });
    s.begin("2025-03-26");
    const auto said = [](const std::string& what) {
        return R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":")" + what + R"("}]}})";
    };
    text.assign(1000 - said("").size() + over, 'x');
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long"}},)"
               R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}])");
    const std::string why = R"("error":{"code":-32603,"message":"the answers to batches are too long",)"
                            R"("data":{"retryable":true}}})";
    // Another batch has no more room beside it, what is no batch has.
    s.peer.say(R"([{"jsonrpc":"2.0","id":3,"method":"ping"}])");
    if (over) CHECK(s.peer.next() == "[" + pong("3") + "]");
    else CHECK(s.peer.next() == R"([{"jsonrpc":"2.0","id":3,)" + why + "]");
    s.peer.call("1", "long");
    CHECK(s.peer.next() == said(text));
    s.advance(10ms);
    const std::string last = s.peer.next();
    if (over) {
        CHECK(last == R"([{"jsonrpc":"2.0","id":1,)" + why +
                          R"(,{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}])");
    } else {
        CHECK(last == "[" + said(text) + R"(,{"jsonrpc":"2.0","id":2,)" + why + "]");
    }
    // What was written is not counted any more.
    s.peer.say(R"([{"jsonrpc":"2.0","id":3,"method":"ping"}])");
    CHECK(s.peer.next() == "[" + pong("3") + "]");
}

TEST_CASE("A malformed answer in a batch does not keep the rest of the batch from its answer")
{
    server_stage s;
    std::string got = "none";
    s.server.tool("ask", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        const auto roots = co_await comcp::as_result(ctx.list_roots());
        got = roots ? "roots" : roots.error().text;
        co_return "asked";
    });
    s.begin("2025-03-26", R"({"roots":{}})");
    s.peer.call("9", "ask");
    const std::string id = s.peer.expect("roots/list").id();
    s.peer.say(R"([{"jsonrpc":"2.0","id":)" + id + R"(},{"jsonrpc":"2.0","id":7,"method":"ping"}])");
    CHECK(has(got, "malformed"));
    CHECK(s.peer.skip_all() == 2); // the tool's answer, and [pong]
}

TEST_CASE("Batches belong to the old revisions only")
{
    const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])";
    for (const auto* version : {"2025-06-18", "2025-11-25"}) {
        server_stage s;
        s.begin(version);
        s.peer.say(batch);
        CHECK(code_of(s.peer.next_object()) == -32600);
        CHECK(s.peer.quiet());
    }
    server_stage old;
    old.begin("2024-11-05");
    old.peer.say(batch);
    CHECK(old.peer.next() == "[" + pong("1") + "]");
    server_stage early;
    early.listen();
    early.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}])");
    CHECK(code_of(early.peer.next_object()) == -32600);
}

// ---- lists and levels
// ------------------------------------------------------------------------------------------------

TEST_CASE("Changes of one turn are one notice, and only what changed is a change [75]")
{
    server_stage s;
    auto a = s.server.tool("a", "A", [] { return ""; });
    s.begin();
    CHECK(s.peer.quiet()); // registered before: nothing to tell
    auto b = s.server.tool("b", "B", [] { return ""; });
    b.title("Title");
    a.disable();
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    CHECK(s.peer.quiet());
    s.peer.ask("1", "tools/list");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b","title":"Title","description":"B",)"
          R"("inputSchema":{"type":"object","properties":{},"additionalProperties":false}}]}})");
    CHECK(s.peer.quiet()); // a list changes nothing
    a.disable();
    b.enable();
    s.server.find_tool("none").title("x");
    CHECK_FALSE(s.server.remove_tool("none"));
    CHECK(s.peer.quiet());
    CHECK(b.remove());
    CHECK_FALSE(b.remove());
    s.peer.expect("notifications/tools/list_changed");
    a.enable();
    s.peer.expect("notifications/tools/list_changed");
    CHECK_THROWS_AS(s.server.tool("a", "", [] { return ""; }), comcp::error);
    CHECK_THROWS_AS(s.server.tool("", "", [] { return ""; }), comcp::error);
    CHECK(s.peer.quiet());
}

TEST_CASE("Before the handshake nobody is told of changes")
{
    server_stage s;
    s.listen();
    s.server.tool("a", "", [] { return ""; });
    CHECK(s.peer.quiet());
    s.peer.ask("1", "initialize", hello);
    s.peer.next();
    CHECK(s.peer.quiet());
}

TEST_CASE("A cursor that was never given out is refused; null is none [F-3]")
{
    server_stage s;
    s.begin();
    for (const auto* params : {R"({"cursor":"x"})", R"({"cursor":""})", R"({"cursor":7})"}) {
        s.peer.ask("1", "tools/list", params);
        CHECK(code_of(s.peer.next_object()) == -32602);
    }
    s.peer.ask("1", "tools/list", R"({"cursor":null})");
    CHECK(s.peer.next_object().contains("result"));
}

TEST_CASE("The log level is the client's to choose, info before that [G-41]")
{
    server_stage s;
    s.server.tool("log", "", [](comcp::context& ctx) {
        ctx.log(comcp::log_level::debug, "d");
        ctx.log(comcp::log_level::info, "i", "db");
        ctx.log_value(comcp::log_level::error, json::value(7));
        return "";
    });
    s.begin();
    s.peer.call("1", "log");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/message","params":)"
                           R"({"level":"info","logger":"db","data":"i"}})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":7}})");
    s.peer.next();
    for (const auto* bad : {R"({"level":"loud"})", R"({"level":7})", "{}"}) {
        s.peer.ask("2", "logging/setLevel", bad);
        CHECK(s.peer.next() == refusal("2", -32602, "unknown log level"));
    }
    s.peer.ask("3", "logging/setLevel", R"({"level":"error"})");
    CHECK(s.peer.next() == pong("3"));
    s.peer.call("4", "log");
    CHECK(has(s.peer.next(), "\"error\""));
    s.peer.next();
    CHECK(s.peer.quiet());
}
