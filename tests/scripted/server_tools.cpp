// SPDX-License-Identifier: MIT
// Calls of a server's tools: arguments, results in each revision, failures, changes while a call runs.
#include "script.hpp"

#include <limits>

using namespace script;

namespace
{

struct greet_args
{
    std::string name;
    std::optional<int> times;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

struct sum
{
    int total = 0;
    std::optional<std::string> note;
};
BOOST_DESCRIBE_STRUCT(sum, (), (total, note))

struct measured
{
    double value = 0;
    std::optional<std::vector<float>> more;
};
BOOST_DESCRIBE_STRUCT(measured, (), (value, more))

comcp::task<std::string> wait_for(comcp::duration time, std::string what)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return what;
}

std::string refused(std::string_view id, int code, std::string_view why)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":")" + std::string(why) + R"("}})";
}

std::string said(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + text_result(text) + '}';
}

std::string failed(std::string_view id, std::string_view text)
{
    std::string out = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{"content":[{"type":"text","text":)";
    comcp::write_string(out, text);
    return out + R"(}],"isError":true}})";
}

/// The result of calling `tool` without arguments in a session of that revision.
template <class Handler>
std::string result_in(std::string_view version, Handler handler)
{
    server_stage s;
    s.server.tool("t", "", handler);
    s.begin(version);
    s.peer.call("1", "t");
    std::string text;
    comcp::write_value(text, s.peer.next_object().at("result"));
    return text;
}

} // namespace

// ---- arguments
// -------------------------------------------------------------------------------------------------------

TEST_CASE("Absent, null and empty arguments are no arguments; anything else that is no object is refused [49]")
{
    server_stage s;
    int ran = 0;
    s.server.tool("t", "", [&] {
        ++ran;
        return "";
    });
    s.server.raw_tool(comcp::tool("raw"), [&](json::object given) {
        ++ran;
        return std::to_string(given.size());
    });
    s.begin();
    for (const auto* params : {R"({"name":"t"})", R"({"name":"t","arguments":null})", R"({"name":"t","arguments":{}})",
                               R"({"name":"raw"})", R"({"name":"raw","arguments":null})"}) {
        s.peer.ask("1", "tools/call", params);
        CHECK(s.peer.next_object().contains("result"));
    }
    CHECK(ran == 5);
    for (const auto* name : {"t", "raw"})
        for (const auto* bad : {"[]", "\"x\"", "7", "true", R"("{\"a\":1}")"}) {
            s.peer.call("2", name, bad);
            CHECK(s.peer.next() == refused("2", -32602, "arguments must be an object"));
        }
    CHECK(ran == 5);
}

TEST_CASE("A call without a tool's name, or of an unknown tool, is a protocol error [F-14]")
{
    server_stage s;
    s.begin();
    for (const auto* params : {"{}", R"({"name":7})", R"({"name":null})", R"({"arguments":{}})"}) {
        s.peer.ask("1", "tools/call", params);
        CHECK(s.peer.next() == refused("1", -32602, "the name of the tool is missing"));
    }
    s.peer.ask("2", "tools/call");
    CHECK(s.peer.next() == refused("2", -32602, "the name of the tool is missing"));
    s.peer.call("3", "nope");
    CHECK(s.peer.next() == refused("3", -32602, "unknown tool: nope"));
    s.peer.call("4", std::string(100'000, 'x'));
    CHECK(s.peer.next().size() < 500);
}

TEST_CASE("Arguments that do not bind are told to the model, all at once, in every revision [F-14]")
{
    for (const auto version : comcp::all_revisions) {
        server_stage s;
        int ran = 0;
        s.server
            .tool("greet", "",
                  [&](greet_args) {
                      ++ran;
                      return "";
                  })
            .field("times", comcp::field("How often").minimum(1).maximum(10));
        s.begin(comcp::to_string(version));
        s.peer.call("1", "greet", R"({"times":11,"nmae":"Ada"})");
        const std::string answer = s.peer.next();
        INFO(answer);
        CHECK(has(answer, R"("isError":true)"));
        for (const auto* pointer : {"/name", "/times", "/nmae"}) CHECK(has(answer, pointer));
        CHECK(ran == 0);
        s.peer.call("2", "greet", R"({"name":"Ada","times":null})");
        CHECK(s.peer.next() == said("2", ""));
        CHECK(ran == 1);
    }
}

TEST_CASE("A note about a member that does not exist fails at registration")
{
    comcp::server server("n", "1");
    auto tool = server.tool("greet", "", [](greet_args) { return ""; });
    CHECK_THROWS_AS(tool.field("tmies", comcp::field("How often")), comcp::error);
}

TEST_CASE("Arguments are kept as text where the server keeps sources, and can be relayed untouched [51]")
{
    comcp::server_options options;
    options.keep_source = true;
    server_stage s(std::move(options));
    s.server.raw_tool(comcp::tool("relay"),
                      [](json::object, comcp::context& ctx) { return comcp::raw_json(ctx.arguments_source()); });
    s.server.raw_tool(comcp::tool("late"), [](json::object, comcp::context& ctx) -> comcp::task<comcp::raw_json> {
        co_await wait_for(1ms, "");
        co_return comcp::raw_json(ctx.arguments_source());
    });
    s.begin();
    const std::string given = R"({"f":1.0, "e":1E400,"n":123456789012345678901234,"u":18446744073709551615})";
    s.peer.call("1", "relay", given);
    CHECK(has(s.peer.next(), R"(,"structuredContent":)" + given + "}"));
    s.peer.call("2", "late", given);
    s.advance(1ms);
    CHECK(has(s.peer.next(), R"(,"structuredContent":)" + given + "}"));
}

TEST_CASE("A result with a source gives its numbers back as they came [51]")
{
    server_stage s;
    const std::string payload = R"({"f":1.0,"e":1E400,"n":123456789012345678901234})";
    s.server.tool("relay", "", [&] {
        return comcp::read_tool_result(parse(R"({"content":[],"structuredContent":{"f":1.0}})"),
                                       R"({"content":[],"structuredContent":)" + payload + "}");
    });
    s.begin();
    s.peer.call("1", "relay");
    CHECK(has(s.peer.next(), R"("structuredContent":)" + payload));
}

TEST_CASE("A handler may keep its arguments beyond the session")
{
    json::object kept;
    {
        server_stage s;
        s.server.raw_tool(comcp::tool("keep"), [&](json::object given) {
            kept = std::move(given);
            return "";
        });
        s.begin();
        s.peer.call("1", "keep", R"({"a":["a text that is too long for any small buffer, surely"]})");
    }
    CHECK(kept.at("a").at(0).get_string() == "a text that is too long for any small buffer, surely");
}

// ---- results
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("Plain values become text")
{
    const std::string_view version = "2025-11-25";
    CHECK(result_in(version, [] { return "a\n\"b\""; }) == R"({"content":[{"type":"text","text":"a\n\"b\""}]})");
    CHECK(result_in(version, [] { return std::string("s"); }) == R"({"content":[{"type":"text","text":"s"}]})");
    CHECK(result_in(version, [] { return 7; }) == R"({"content":[{"type":"text","text":"7"}]})");
    CHECK(result_in(version, [] { return true; }) == R"({"content":[{"type":"text","text":"true"}]})");
    CHECK(result_in(version, [] {}) == R"({"content":[]})");
    CHECK(result_in(version, []() -> comcp::task<void> { co_return; }) == R"({"content":[]})");
    CHECK(result_in(version, []() -> comcp::task<int> { co_return 7; }) ==
          R"({"content":[{"type":"text","text":"7"}]})");
}

TEST_CASE("A struct is structured content with a copy as text, where the revision has it [F-8] [F-10]")
{
    const auto handler = [] {
        sum made;
        made.total = 3;
        return made;
    };
    const std::string text = R"({"content":[{"type":"text","text":"{\"total\":3}"}])";
    CHECK(result_in("2024-11-05", handler) == text + "}");
    CHECK(result_in("2025-03-26", handler) == text + "}");
    CHECK(result_in("2025-06-18", handler) == text + R"(,"structuredContent":{"total":3}})");
    CHECK(result_in("2025-11-25", handler) == text + R"(,"structuredContent":{"total":3}})");
}

TEST_CASE("Structured content that is no object is wrapped [122]")
{
    const auto handler = [] { return json::value(json::array{1, 2}); };
    CHECK(result_in("2025-03-26", handler) == R"({"content":[{"type":"text","text":"[1,2]"}]})");
    CHECK(result_in("2025-11-25", handler) ==
          R"({"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"result":[1,2]}})");
    // The same as text, so that its numbers stay as they are.
    CHECK(result_in("2025-11-25", [] { return comcp::raw_json("[1, 2.50]"); }) ==
          R"({"content":[{"type":"text","text":"[1, 2.50]"}]})");
}

TEST_CASE("Every kind of block goes out as its revision has it [F-10] [F-12] [48]")
{
    const auto handler = [] {
        std::vector<comcp::content> made;
        made.push_back(comcp::content::text("t"));
        made.push_back(comcp::content::image("AAAA", "image/png"));
        made.push_back(comcp::content::audio("AAAA", "audio/wav"));
        made.push_back(comcp::content::link("file:///l", "L"));
        made.push_back(comcp::content::resource("file:///r", "R"));
        made.push_back(comcp::content::resource_bytes("file:///b", "abc", "x/y"));
        return made;
    };
    const std::string text = R"({"type":"text","text":"t"})";
    const std::string image = R"({"type":"image","data":"AAAA","mimeType":"image/png"})";
    const std::string audio = R"({"type":"audio","data":"AAAA","mimeType":"audio/wav"})";
    const std::string link = R"({"type":"resource_link","uri":"file:///l","name":"L"})";
    const std::string resources =
        R"({"type":"resource","resource":{"uri":"file:///r","mimeType":"text/plain","text":"R"}},)"
        R"({"type":"resource","resource":{"uri":"file:///b","mimeType":"x/y","blob":"YWJj"}})";
    const std::string no_audio = R"({"type":"text","text":"[audio audio/wav, 3 bytes]"})";
    const std::string no_link = R"({"type":"text","text":"[resource link file:///l, name: L]"})";
    const auto all = [&](const std::string& a, const std::string& l) {
        return R"({"content":[)" + text + ',' + image + ',' + a + ',' + l + ',' + resources + "]}";
    };
    CHECK(result_in("2024-11-05", handler) == all(no_audio, no_link));
    CHECK(result_in("2025-03-26", handler) == all(audio, no_link));
    CHECK(result_in("2025-06-18", handler) == all(audio, link));
    CHECK(result_in("2025-11-25", handler) == all(audio, link));
}

TEST_CASE("A tool is listed as its revision has it [F-4]")
{
    const auto listed = [](std::string_view version) {
        server_stage s;
        comcp::tool_annotations hints;
        hints.read_only_hint = true;
        s.server.tool("sum", "Adds", [] { return sum(); }).title("Sum").annotations(hints);
        s.begin(version);
        s.peer.ask("1", "tools/list");
        return s.peer.next();
    };
    const std::string r1 = listed("2024-11-05");
    const std::string r2 = listed("2025-03-26");
    const std::string r3 = listed("2025-06-18");
    CHECK_FALSE(has(r1, "readOnlyHint"));
    CHECK(has(r2, R"("annotations":{"readOnlyHint":true})"));
    CHECK_FALSE(has(r2, "outputSchema"));
    CHECK_FALSE(has(r2, R"("title":"Sum")"));
    CHECK(has(r3, R"("title":"Sum")"));
    CHECK(has(r3, R"("outputSchema":{"type":"object")"));
    for (const auto& each : {r1, r2, r3}) CHECK_FALSE(has(each, "null")); // [48]
}

TEST_CASE("Text of any bytes leaves as one line of JSON [8]")
{
    const std::string answer = result_in("2025-11-25", [] { return std::string("a\nb\r\n\x01\"\\\xE2\x80\xA8", 12); });
    CHECK_FALSE(has(answer, "\n"));
    CHECK(has(answer, R"(a\nb\r\n\u0001\"\\)"));
}

// ---- failures
// --------------------------------------------------------------------------------------------------------

TEST_CASE("A handler's failure is a result with the id of its call, and only tool_error speaks to the model [34]")
{
    server_stage s;
    s.server.tool("plain", "", []() -> std::string { throw std::runtime_error("secret"); });
    s.server.tool("odd", "", [] { throw 7; });
    s.server.tool("told", "", []() -> std::string { throw comcp::tool_error("no \"disk\""); });
    s.server.tool("later", "", []() -> comcp::task<std::string> {
        co_await wait_for(1ms, "");
        throw comcp::tool_error("late");
    });
    s.server.tool("error", "", []() -> comcp::task<std::string> {
        throw comcp::error(comcp::fail(comcp::errc::closed, "secret"));
        co_return "";
    });
    s.server.tool("made", "", [] { return comcp::tool_result::error("made"); });
    s.begin();
    s.peer.call("7", "plain");
    CHECK(s.peer.next() == failed("7", "the tool failed"));
    s.peer.call("8", "odd");
    CHECK(s.peer.next() == failed("8", "the tool failed"));
    s.peer.call("9", "told");
    CHECK(s.peer.next() == failed("9", "no \"disk\""));
    s.peer.call("10", "later");
    s.advance(1ms);
    CHECK(s.peer.next() == failed("10", "late"));
    s.peer.call("11", "error");
    CHECK(s.peer.next() == failed("11", "the tool failed"));
    s.peer.call("12", "made");
    CHECK(s.peer.next() == failed("12", "made"));
    CHECK(s.peer.quiet());
}

namespace
{

struct failure_log
{
    std::shared_ptr<std::vector<std::string>> seen = std::make_shared<std::vector<std::string>>();
    void on_handler_failed(std::string_view id, std::string_view why)
    {
        seen->push_back(std::string(id) + ": " + std::string(why));
    }
};
struct failures_observed : comcp::default_policy
{
    using observer = failure_log;
};

json::object of_type(std::string_view type) { return {{"type", json::string_view(type.data(), type.size())}}; }

} // namespace

TEST_CASE("What a handler failed with is told to the observer, not to the client [34]")
{
    comcp::policy_state<failures_observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<failures_observed> s({}, state);
    comcp::manual_executor host;
    s.server.handlers_on(host.executor());
    s.server.tool("plain", "", []() -> std::string { throw std::runtime_error("secret"); });
    s.server.tool("later", "", []() -> comcp::task<std::string> {
        throw 7;
        co_return "";
    });
    s.server.tool("told", "", []() -> std::string { throw comcp::tool_error("for the model"); });
    s.server.resource("x:a", "", []() -> std::string { throw std::runtime_error("hidden"); });
    s.begin();
    s.peer.call("1", "plain");
    s.peer.call("2", "later");
    s.peer.call("3", "told");
    s.peer.ask("4", "resources/read", R"({"uri":"x:a"})");
    host.pump(100);
    CHECK(s.peer.skip_all() == 4);
    CHECK(*seen == std::vector<std::string>{"1: secret", "2: an unknown exception", "4: hidden"});
}

TEST_CASE("A typed result with a number that is not finite has failed")
{
    comcp::policy_state<failures_observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<failures_observed> s({}, state);
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    s.server.tool("good", "", [] { return measured{1.5, {}}; });
    s.server.tool("outside", "", [] { return measured{infinite, {}}; });
    s.server.tool("inside", "", [] { return measured{1, std::vector{0.5F, -static_cast<float>(infinite), 2.0F}}; });
    s.server.tool("object", "", [] { return json::object{{"a", {1.0, infinite}}, {"b", 1}}; });
    s.begin();
    s.peer.call("1", "good");
    CHECK(has(s.peer.next(), R"("structuredContent":{"value":1.5})"));
    CHECK(seen->empty());
    for (const auto* tool : {"outside", "inside", "object"}) {
        INFO(tool);
        s.peer.call("1", tool);
        CHECK(s.peer.next() == failed("1", "the tool failed"));
    }
    CHECK(*seen == std::vector<std::string>(3, "1: a number of the result is not finite"));
}

TEST_CASE("A number that is not finite is told as a failure wherever a result has it")
{
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    static constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    comcp::policy_state<failures_observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<failures_observed> s({}, state);
    comcp::manual_executor host;
    const bool elsewhere = GENERATE(false, true);
    if (elsewhere) s.server.handlers_on(host.executor());
    std::size_t results = 0;
    const auto add = [&](void (*spoil)(comcp::tool_result&)) {
        s.server.tool("t" + std::to_string(results++), "", [spoil] {
            comcp::tool_result made = comcp::tool_result::text("x");
            spoil(made);
            return made;
        });
    };
    add([](comcp::tool_result& made) { made.structured = json::value{{"a", {1, no_number}}}; });
    add([](comcp::tool_result& made) { made.structured = -infinite; });
    add([](comcp::tool_result& made) { made.meta["x"] = infinite; });
    add([](comcp::tool_result& made) { made.extra["x"] = infinite; });
    add([](comcp::tool_result& made) { made.content[0].meta["x"] = infinite; });
    add([](comcp::tool_result& made) { made.content[0].extra["x"] = json::array{no_number}; });
    add([](comcp::tool_result& made) { made.content[0].annotations.emplace().priority = infinite; });
    add([](comcp::tool_result& made) { made.content[0].annotations.emplace().extra["x"] = infinite; });
    add([](comcp::tool_result& made) {
        made.content[0].block = comcp::unknown_content{json::object{{"type", "new"}, {"x", infinite}}};
    });
    add([](comcp::tool_result& made) {
        auto contents = comcp::resource_contents::of_text("x://a", "a");
        contents.extra["_meta"] = json::object{{"x", infinite}};
        made.content[0].block = contents;
    });
    s.server.tool("value", "", [] { return json::value{{"a", infinite}}; });
    s.server.tool("list", "", [] { return json::value{infinite}; });
    s.server.tool("number", "", [] { return no_number; });
    s.server.prompt("p", "", [] {
        comcp::prompt_result made(comcp::prompt_message::user("hi"));
        made.meta["x"] = infinite;
        return made;
    });
    s.server.prompt("q", "", [] {
        comcp::prompt_message made = comcp::prompt_message::user("hi");
        made.content.meta["x"] = infinite;
        return made;
    });
    s.server.resource("x://r", "r", [] {
        auto contents = comcp::resource_contents::of_text("x://r", "a");
        contents.extra["x"] = infinite;
        return contents;
    });
    s.begin();
    const auto answer = [&] {
        s.settle();
        while (host.pump(100) != 0) s.settle();
        return s.peer.next();
    };
    for (std::size_t i = 0; i < results; ++i) {
        INFO(i);
        s.peer.call("1", "t" + std::to_string(i));
        CHECK(answer() == failed("1", "the tool failed"));
    }
    for (const auto* tool : {"value", "list", "number"}) {
        INFO(tool);
        s.peer.call("1", tool);
        CHECK(answer() == failed("1", "the tool failed"));
    }
    const std::string refused =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the result could not be written"}})";
    s.peer.ask("1", "prompts/get", R"({"name":"p"})");
    CHECK(answer() == refused);
    s.peer.ask("1", "prompts/get", R"({"name":"q"})");
    CHECK(answer() == refused);
    s.peer.ask("1", "resources/read", R"({"uri":"x://r"})");
    CHECK(answer() == refused);
    CHECK(s.peer.quiet());
    CHECK(*seen == std::vector<std::string>(results + 6, "1: a number of the result is not finite"));
}

TEST_CASE("What a handler throws because it was cancelled is no failure")
{
    comcp::policy_state<failures_observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<failures_observed> s({}, state);
    s.server.tool("slow", "", [] { return wait_for(1s, "done"); });
    s.begin();
    s.peer.call("1", "slow");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    s.advance(1s);
    CHECK(s.peer.quiet());
    CHECK(seen->empty());
}

TEST_CASE("A tool with an output schema whose result has no structure has failed [F-8]")
{
    comcp::policy_state<failures_observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<failures_observed> s({}, state);
    const auto add = [&](std::string name, auto handler) {
        s.server.tool(std::move(name), "", std::move(handler)).output_schema(of_type("object"));
    };
    const bool on_host = GENERATE(false, true);
    comcp::manual_executor host;
    if (on_host) s.server.handlers_on(host.executor());
    add("text", [] { return "plain"; });
    add("nothing", [] {});
    add("content", [](comcp::context&) { return comcp::content::text("plain"); });
    add("later", []() -> comcp::task<comcp::tool_result> { co_return comcp::tool_result::text("plain"); });
    add("null", [] { return comcp::raw_json(); });
    add("failed", [] { return comcp::tool_result::error("no disk"); });
    add("object", [] { return json::object{{"a", 1}}; });
    add("structured", [] {
        comcp::tool_result made;
        made.structured = json::object{{"a", 1}};
        return made;
    });
    s.server.tool("free", "", [] { return "plain"; });
    const std::string version = GENERATE("2025-11-25", "2025-06-18", "2025-03-26");
    s.begin(version);
    const auto answer = [&](const char* tool) {
        s.peer.call("1", tool);
        host.pump(10);
        return s.peer.next();
    };
    const bool known = version != "2025-03-26"; // older clients are told of no schema
    for (const auto* tool : {"text", "nothing", "content", "later", "null"}) {
        INFO(tool);
        seen->clear();
        const std::string got = answer(tool);
        CHECK((got == failed("1", "the tool failed")) == known);
        CHECK(seen->size() == (known ? 1 : 0));
        if (known) CHECK(has(seen->front(), "has no structured content"));
    }
    seen->clear();
    CHECK(answer("failed") == failed("1", "no disk"));
    CHECK(answer("free") == said("1", "plain"));
    CHECK(has(answer("object"), R"("structuredContent":{"a":1})") == known);
    CHECK(has(answer("structured"), R"("structuredContent":{"a":1})") == known);
    CHECK(seen->empty());
}

TEST_CASE("Schemas written by hand are of objects [F-6]")
{
    server_stage s;
    const auto fails = [&](comcp::tool described) {
        try {
            s.server.raw_tool(std::move(described), [](json::object) { return ""; });
        } catch (const comcp::error& e) {
            return e.code() == errc::invalid_argument;
        }
        return false;
    };
    comcp::tool input("a");
    input.input_schema = of_type("array");
    CHECK(fails(input));
    input.input_schema = {{"type", json::array{"object"}}};
    CHECK(fails(input));
    comcp::tool output("b");
    output.output_schema = of_type("string");
    CHECK(fails(output));

    comcp::tool sound("c");
    sound.input_schema = {{"properties", json::object()}};
    sound.output_schema = json::object{{"additionalProperties", false}};
    CHECK_FALSE(fails(sound));
    auto handle = s.server.tool("d", "", [] { return json::object(); });
    CHECK_THROWS_AS(handle.output_schema(of_type("array")), comcp::error);
    handle.output_schema({});
    s.begin();
    s.peer.ask("1", "tools/list");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"c","inputSchema":{"type":"object","properties":{}},)"
          R"("outputSchema":{"type":"object","additionalProperties":false}},{"name":"d","inputSchema":)"
          R"({"type":"object","properties":{},"additionalProperties":false},"outputSchema":{"type":"object"}}]}})");
}

// ---- changes while a call runs
// ---------------------------------------------------------------------------------------

TEST_CASE("A tool may be removed, switched off or replaced while it runs, by itself too")
{
    server_stage s;
    s.server.tool("slow", "", [] { return wait_for(10ms, "old"); });
    s.server.tool("suicide", "", [&] {
        s.server.remove_tool("suicide");
        return "gone";
    });
    s.begin();
    s.peer.call("1", "slow");
    auto slow = s.server.find_tool("slow");
    slow.disable();
    s.peer.call("2", "slow");
    s.peer.expect("notifications/tools/list_changed");
    CHECK(s.peer.next() == refused("2", -32602, "unknown tool: slow"));
    slow.enable();
    CHECK(slow.remove());
    s.server.tool("slow", "", [] { return "new"; });
    s.peer.skip_all();
    s.peer.call("3", "slow");
    CHECK(s.peer.next() == said("3", "new"));
    s.advance(10ms);
    CHECK(s.peer.next() == said("1", "old"));
    s.peer.call("4", "suicide");
    CHECK(s.peer.next() == said("4", "gone"));
    s.peer.expect("notifications/tools/list_changed");
    s.peer.call("5", "suicide");
    CHECK(s.peer.next() == refused("5", -32602, "unknown tool: suicide"));
}

TEST_CASE("What a handler can ask its context")
{
    server_stage s;
    std::string seen;
    s.server.tool("t", "", [&](comcp::context& ctx) {
        seen = std::string(comcp::to_string(ctx.version())) + ' ' + ctx.client().name() + ' ' + ctx.request_id() + ' ' +
               std::string(ctx.meta().at("trace").get_string()) + (ctx.capabilities().has("roots") ? " roots" : "") +
               ctx.arguments_source() + (ctx.cancelled() ? " cancelled" : "");
        return "";
    });
    s.begin("2025-06-18", R"({"roots":{}})");
    s.peer.call("\"id\"", "t", "{}", R"({"trace":"x"})");
    CHECK(seen == "2025-06-18 script id x roots");
}

TEST_CASE("A handler asks its client only for what the client declared")
{
    server_stage s;
    std::string seen;
    s.server.tool("ask", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        const auto sampled = co_await comcp::as_result(ctx.sample(json::object()));
        seen = sampled ? "sampled" : sampled.error().text;
        const auto roots = co_await comcp::as_result(ctx.list_roots());
        if (!roots) seen += "; " + roots.error().text;
        co_return roots ? roots->at(0).uri : "none";
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.call("1", "ask");
    CHECK(has(seen, "sampling"));
    const heard asked = s.peer.expect("roots/list");
    SECTION("answered")
    {
        asked.reply(R"({"roots":[{"name":"no uri"},{"uri":"file:///x"}]})");
        CHECK(s.peer.next() == said("1", "file:///x"));
    }
    SECTION("refused")
    {
        asked.refuse(-32603, "no");
        CHECK(s.peer.next() == said("1", "none"));
    }
    SECTION("never answered: a short limit, and meanwhile everything else works [118]")
    {
        s.peer.ask("2", "ping");
        CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
        s.advance(60s);
        s.peer.expect("notifications/cancelled");
        CHECK(s.peer.next() == said("1", "none"));
    }
    SECTION("the call is cancelled: the question is taken back")
    {
        s.peer.note("notifications/cancelled", R"({"requestId":1})");
        CHECK(s.peer.expect("notifications/cancelled").params().at("requestId").as_int64() == 1);
        asked.reply(R"({"roots":[]})");
    }
    CHECK(s.peer.quiet());
}
