// SPDX-License-Identifier: MIT
// What a server asks a client: sampling and elicitation, typed and raw, what was not declared, progress, cancellation,
// and roots.
#include "script.hpp"

#include <limits>

using namespace script;

namespace
{

comcp::client_options sampling_with(comcp::sampling_result (*answer)(const comcp::sampling_request&))
{
    comcp::client_options options;
    options.on_sampling([answer](comcp::sampling_request asked) { return answer(asked); });
    return options;
}

comcp::sampling_result say_hello(const comcp::sampling_request&) { return comcp::sampling_result("hello", "model-1"); }

comcp::sampling_result say_two_things(const comcp::sampling_request&)
{
    comcp::sampling_result made("one", "m");
    made.content.push_back(comcp::content::text("two"));
    return made;
}

const char* const hello_request =
    R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5})";

/// A client whose user fills forms with this.
comcp::client_options filling_forms(json::object content)
{
    comcp::client_options options;
    options.on_elicitation(
        [content](const comcp::elicitation_request& asked) -> comcp::task<comcp::elicitation_result> {
            comcp::timer timer(co_await asio::this_coro::executor);
            co_await timer.wait_for(1s);
            CHECK(asked.message == "m"); // still there
            co_return comcp::elicitation_result::accept(content);
        });
    return options;
}

std::string form(std::string_view properties, std::string_view required = "[]")
{
    return R"({"message":"m","requestedSchema":{"type":"object","properties":)" + std::string(properties) +
           R"(,"required":)" + std::string(required) + "}}";
}

/// A relay that always gives this.
auto relayed(const char* answer)
{
    return [answer](json::object) -> comcp::task<json::object> {
        json::object made = parse(answer);
        co_return made;
    };
}

json::object error_in(const std::string& answer) { return parse(answer).at("error").get_object(); }

} // namespace

// ---- what is declared ----------------------------------------------------------------------------------------------

TEST_CASE("A client declares the modes and parts that its host has, in the form of the revision offered [H-13] [H-20]")
{
    comcp::client_options options;
    std::string expected;
    const auto form_handler = [](const comcp::elicitation_request&) { return comcp::elicitation_result(); };
    const auto model = [](const comcp::sampling_request&) { return comcp::sampling_result(); };
    SECTION("nothing") { expected = "{}"; }
    SECTION("forms alone are an empty object")
    {
        options.on_elicitation(form_handler);
        expected = R"({"elicitation":{}})";
    }
    SECTION("both modes")
    {
        options.on_elicitation(form_handler).on_url_elicitation(form_handler);
        expected = R"({"elicitation":{"form":{},"url":{}}})";
    }
    SECTION("URLs alone")
    {
        options.on_url_elicitation(form_handler);
        expected = R"({"elicitation":{"url":{}}})";
    }
    SECTION("URLs alone, to a revision that has only forms")
    {
        options.on_url_elicitation(form_handler).newest = comcp::revision::r2025_06_18;
        expected = "{}";
    }
    SECTION("sampling, with all its parts")
    {
        options.on_sampling(model).sampling_tools().sampling_context();
        expected = R"({"sampling":{"context":{},"tools":{}}})";
    }
    SECTION("sampling, to a revision without parts")
    {
        options.on_sampling(model).sampling_tools().sampling_context().newest = comcp::revision::r2025_06_18;
        expected = R"({"sampling":{}})";
    }
    SECTION("parts without a model are nothing")
    {
        options.sampling_tools();
        expected = "{}";
    }
    client_stage s(std::move(options), "");
    auto connecting = s.start(s.client.connect());
    const heard hello = s.peer.expect("initialize");
    CHECK(has(hello.text, "\"capabilities\":" + expected + ",\"clientInfo\""));
}

// ---- sampling ------------------------------------------------------------------------------------------------------

TEST_CASE("A typed handler is asked for a message and answers it [H-10] [H-11]")
{
    comcp::client_options options;
    std::optional<comcp::sampling_request> seen;
    std::string about;
    options.on_sampling(
        [&](comcp::sampling_request asked, comcp::client_context& of) -> comcp::task<comcp::sampling_result> {
            seen = std::move(asked);
            about = of.server().name() + ' ' + of.request_id() + ' ' +
                    std::to_string(of.meta().at("trace").as_int64()) + ' ' + std::string(to_string(of.version()));
            co_return comcp::sampling_result("hello", "model-1");
        });
    client_stage s(std::move(options));
    s.peer.ask("\"x\"", "sampling/createMessage",
               R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}},)"
               R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],)"
               R"("maxTokens":5,"systemPrompt":"be kind","temperature":0.5,"stopSequences":["."],)"
               R"("modelPreferences":{"hints":[{"name":"big"}],"costPriority":0.25},"_meta":{"trace":3}})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":"x","result":{"role":"assistant",)"
                           R"("content":{"type":"text","text":"hello"},"model":"model-1","stopReason":"endTurn"}})");
    REQUIRE(seen);
    REQUIRE(seen->messages.size() == 2);
    CHECK(seen->messages[0].role == comcp::role::user);
    CHECK(*seen->messages[0].content.at(0).as_text() == "hi");
    CHECK(seen->messages[1].content.size() == 2);
    CHECK(seen->max_tokens == 5);
    CHECK(seen->system_prompt == "be kind");
    CHECK(seen->temperature == 0.5);
    REQUIRE(seen->preferences->hints.size() == 1);
    CHECK(seen->preferences->hints[0].name == "big");
    CHECK(about == "scripted x 3 2025-11-25");
}

TEST_CASE("A result of several blocks is one block for a revision that has no more [H-12]")
{
    const auto [version, content] = GENERATE(table<std::string, std::string>({
        {"2025-11-25", R"([{"type":"text","text":"one"},{"type":"text","text":"two"}])"},
        {"2025-06-18", R"({"type":"text","text":"one\ntwo"})"},
    }));
    client_stage s(sampling_with(say_two_things), version);
    s.peer.ask("1", "sampling/createMessage", hello_request);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":)" + content +
                               R"(,"model":"m","stopReason":"endTurn"}})");
}

TEST_CASE("A request for a message that cannot be read is answered -32602, and nobody is asked")
{
    const auto* params =
        GENERATE("{}", R"({"messages":[],"maxTokens":"x"})", R"({"messages":"x","maxTokens":1})", R"({"messages":[]})");
    client_stage s(sampling_with([](const comcp::sampling_request&) -> comcp::sampling_result {
        FAIL("asked");
        return {};
    }));
    s.peer.ask("1", "sampling/createMessage", params);
    CHECK(error_in(s.peer.next()).at("code") == -32602);
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"})");
    CHECK(error_in(s.peer.next()).at("code") == -32602);
}

TEST_CASE("Tools in sampling that were not declared are answered -32602, also by a relay [H-13]")
{
    const auto* more =
        GENERATE(R"("tools":[{"name":"t","inputSchema":{"type":"object"}}])", R"("toolChoice":{"mode":"auto"})");
    const bool raw = GENERATE(false, true);
    comcp::client_options options = sampling_with(say_hello);
    if (raw) options.on_sampling(relayed(R"({"role":"assistant","model":"m","content":[]})"));
    const std::string params = R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5,)" +
                               std::string(more) + "}";
    SECTION("not declared")
    {
        client_stage s(std::move(options));
        s.peer.ask("1", "sampling/createMessage", params);
        CHECK(error_in(s.peer.next()).at("code") == -32602);
    }
    SECTION("declared")
    {
        client_stage s(std::move(options.sampling_tools()));
        s.peer.ask("1", "sampling/createMessage", params);
        CHECK(parse(s.peer.next()).contains("result"));
    }
}

TEST_CASE("Uses of tools without their results, or mixed with other blocks, are answered -32602 [H-14]")
{
    const auto* use = R"({"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}})";
    const auto* result = R"({"type":"tool_result","toolUseId":"1","content":[]})";
    const auto [after, good] = GENERATE_COPY(table<std::string, bool>({
        {R"(,{"role":"user","content":)" + std::string(result) + "}", true},
        {"", false},
        {R"(,{"role":"user","content":{"type":"text","text":"x"}})", false},
        {R"(,{"role":"user","content":[)" + std::string(result) + R"(,{"type":"text","text":"x"}]})", false},
        {R"(,{"role":"user","content":{"type":"tool_result","toolUseId":"2","content":[]}})", false},
    }));
    client_stage s(std::move(sampling_with(say_hello).sampling_tools()));
    s.peer.ask("1", "sampling/createMessage",
               R"({"messages":[)" + std::string(use) + after +
                   R"(],"maxTokens":5,"tools":[{"name":"t","inputSchema":{"type":"object"}}]})");
    const json::object answer = parse(s.peer.next());
    CHECK(answer.contains("result") == good);
    if (!good) CHECK(answer.at("error").at("code") == -32602);
}

TEST_CASE("A user who refuses is code -1, and a handler's own failure says nothing of itself [H-15]")
{
    comcp::client_options options;
    options.on_sampling([](comcp::sampling_request asked) -> comcp::sampling_result {
        if (asked.max_tokens == 1) throw comcp::user_rejected();
        if (asked.max_tokens == 2) throw comcp::request_error(-32050, "mine");
        throw std::runtime_error("secret");
    });
    client_stage s(std::move(options));
    const auto answered = [&](int most) {
        s.peer.ask("1", "sampling/createMessage", R"({"messages":[],"maxTokens":)" + std::to_string(most) + "}");
        return s.peer.next();
    };
    CHECK(answered(1) == R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"the user rejected the request"}})");
    CHECK(answered(2) == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"mine"}})");
    CHECK(answered(3) == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the client's handler failed"}})");
}

TEST_CASE("A relay gets the params and gives the result as they are")
{
    comcp::client_options options;
    options.on_sampling([](json::object params, comcp::client_context& of) -> comcp::task<json::object> {
        json::object result{{"role", "user"}, {"model", ""}, {"content", json::array()}};
        result["params"] = params;
        result["server"] = of.server().name();
        co_return result;
    });
    client_stage s(std::move(options));
    s.peer.ask("1", "sampling/createMessage", R"({"odd":[1,null],"maxTokens":"x"})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"role":"user","model":"","content":[],)"
                           R"("params":{"odd":[1,null],"maxTokens":"x"},"server":"scripted"}})");
}

TEST_CASE("What a handler answers must have what an answer must have, also that of a relay")
{
    const auto [sampling, answer, why] = GENERATE(table<bool, const char*, const char*>({
        {true, R"({"role":"assistant","model":"m"})", "the answer to a sampling request has no content"},
        {true, R"({"role":"assistant","content":[]})", "the answer to a sampling request names no model"},
        {true, R"({"new":true})", "the answer to a sampling request is neither the user's nor the assistant's"},
        {false, "{}", "the answer to an elicitation is none of accept, decline and cancel"},
        {false, R"({"action":"accept","content":7})", "the content of an accepted elicitation is no object"},
        {false, R"({"action":"accept"})", nullptr},
        {false, R"({"action":"accept","content":{"name":7}})", nullptr},
    }));
    INFO(answer);
    comcp::client_options options;
    if (sampling) options.on_sampling(relayed(answer));
    else options.on_elicitation(relayed(answer));
    client_stage s(std::move(options));
    if (sampling) s.peer.ask("1", "sampling/createMessage", hello_request);
    else s.peer.ask("1", "elicitation/create", form(R"({"name":{"type":"string"}})", R"(["name"])"));
    const json::object refused = error_in(s.peer.next());
    CHECK(refused.at("code") == -32603);
    if (why) CHECK(refused.at("message") == why);
    else CHECK(has(std::string_view(refused.at("message").get_string()), "the answer does not fit the form; "));
}

TEST_CASE("A model without a name is no answer")
{
    client_stage s(sampling_with([](const comcp::sampling_request&) { return comcp::sampling_result("hello", ""); }));
    s.peer.ask("1", "sampling/createMessage", hello_request);
    CHECK(error_in(s.peer.next()) == json::object{{"code", -32603}, {"message", "the answer names no model"}});
}

TEST_CASE("An elicitation that cannot be read does not reach a relay either")
{
    const auto* params = GENERATE("{}", R"({"message":"m"})", R"({"message":5,"requestedSchema":{}})");
    bool asked = false;
    comcp::client_options options;
    options.on_elicitation([&asked](json::object) -> comcp::task<json::object> {
        asked = true;
        json::object made{{"action", "decline"}};
        co_return made;
    });
    client_stage s(std::move(options));
    s.peer.ask("1", "elicitation/create", params);
    CHECK(error_in(s.peer.next()).at("code") == -32602);
    CHECK_FALSE(asked);
}

// ---- elicitation ---------------------------------------------------------------------------------------------------

TEST_CASE("A number that is not finite is no part of an answer")
{
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    comcp::client_options options;
    SECTION("typed, in the metadata")
    {
        options.on_sampling([](const comcp::sampling_request&) {
            comcp::sampling_result made("hello", "m");
            made.meta["x"] = infinite;
            return made;
        });
    }
    SECTION("typed, in the input of a tool")
    {
        options.sampling_tools().on_sampling([](const comcp::sampling_request&) {
            comcp::sampling_result made("hello", "m");
            made.content[0].block = comcp::tool_use_content{"1", "t", {{"x", infinite}}};
            return made;
        });
    }
    SECTION("raw")
    {
        options.on_sampling([](json::object) -> comcp::task<json::object> {
            json::object made{{"role", "assistant"}, {"model", "m"}, {"x", infinite}};
            made["content"] = json::object{{"type", "text"}, {"text", "t"}};
            co_return made;
        });
    }
    client_stage s(std::move(options));
    s.peer.ask("1", "sampling/createMessage", hello_request);
    CHECK(error_in(s.peer.next()) ==
          json::object{{"code", -32603}, {"message", "a number of the answer is not finite"}});
    CHECK(s.peer.quiet());
}

TEST_CASE("Roots with a number that is not finite are an error")
{
    client_stage s({}, "");
    comcp::root place("file:///a");
    place.meta["x"] = std::numeric_limits<double>::infinity();
    s.client.set_roots({place});
    s.shake_hands();
    s.peer.ask("1", "roots/list");
    CHECK(error_in(s.peer.next()) == json::object{{"code", -32603}, {"message", "the result could not be written"}});
}

TEST_CASE("What the user left out of a form gets its defaults [H-22]")
{
    client_stage s(filling_forms({{"name", "Ada"}}));
    s.peer.ask("1", "elicitation/create",
               form(R"({"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},)"
                    R"("score":{"type":"number","default":95.5},)"
                    R"("status":{"type":"string","enum":["active","inactive"],"default":"active"},)"
                    R"("verified":{"type":"boolean","default":true},"note":{"type":"string"}})",
                    R"(["name","age"])"));
    s.advance(1s);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":)"
                           R"({"name":"Ada","age":30,"score":95.5,"status":"active","verified":true}}})");
}

TEST_CASE("An answer that does not fit the form is not sent")
{
    client_stage s(filling_forms({{"age", "old"}}));
    s.peer.ask("1", "elicitation/create",
               form(R"({"age":{"type":"integer"},"name":{"type":"string"}})", R"(["name"])"));
    s.advance(1s);
    const json::object error = error_in(s.peer.next());
    CHECK(error.at("code") == -32603);
    const std::string text(error.at("message").get_string());
    CHECK(has(text, "does not fit the form"));
    CHECK(has(text, "age"));
    CHECK(has(text, "name"));
}

TEST_CASE("A user may decline or go away, and then there is no content [H-23]")
{
    const auto [action, text] = GENERATE(table<comcp::elicitation_action, std::string>({
        {comcp::elicitation_action::decline, "decline"},
        {comcp::elicitation_action::cancel, "cancel"},
    }));
    comcp::client_options options;
    options.on_elicitation([action](const comcp::elicitation_request&) {
        comcp::elicitation_result made(action);
        made.content["name"] = "left over";
        return made;
    });
    client_stage s(std::move(options));
    s.peer.ask("1", "elicitation/create", form(R"({"name":{"type":"string"}})", R"(["name"])"));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"action":")" + text + R"("}})");
}

TEST_CASE("Each mode has its handler, and a mode that was not declared is answered -32602 [H-20]")
{
    const bool forms = GENERATE(true, false);
    const bool urls = GENERATE(true, false);
    comcp::client_options options;
    std::string asked;
    const auto handler = [&asked](std::string name) {
        return [&asked, name](const comcp::elicitation_request& request) {
            asked += name + (request.mode == comcp::elicitation_mode::url ? " " + request.url : "") + ";";
            return comcp::elicitation_result::accept();
        };
    };
    if (forms) options.on_elicitation(handler("form"));
    if (urls) options.on_url_elicitation(handler("url"));
    client_stage s(std::move(options));
    const auto code_of = [&](const std::string& params) {
        s.peer.ask("1", "elicitation/create", params);
        const json::object answer = parse(s.peer.next());
        return answer.contains("error") ? answer.at("error").at("code").as_int64() : 0;
    };
    const int absent = forms || urls ? -32602 : -32601;
    CHECK(code_of(form("{}")) == (forms ? 0 : absent));
    CHECK(code_of(R"({"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}})") ==
          (forms ? 0 : absent));
    CHECK(code_of(R"({"mode":"url","message":"m","url":"https://x/y","elicitationId":"e"})") == (urls ? 0 : absent));
    CHECK(code_of(R"({"mode":"voice","message":"m"})") == absent);
    CHECK(code_of(R"({"mode":5,"message":"m"})") == absent);
    CHECK(asked == std::string(forms ? "form;form;" : "") + (urls ? "url https://x/y;" : ""));
}

TEST_CASE("An accepted URL has no content, and its end is told later [H-24]")
{
    std::vector<std::string> ended;
    comcp::client_options options;
    options.on_url_elicitation([](const comcp::elicitation_request& asked) {
        CHECK(asked.elicitation_id == "e1");
        return comcp::elicitation_result::accept({{"never", "sent"}});
    });
    options.on_elicitation_complete([&](const std::string& id) { ended.push_back(id); });
    client_stage s(std::move(options));
    s.peer.ask("1", "elicitation/create", R"({"mode":"url","message":"m","url":"https://x/y","elicitationId":"e1"})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept"}})");
    s.peer.note("notifications/elicitation/complete", R"({"elicitationId":"e1"})");
    s.peer.note("notifications/elicitation/complete", R"({"elicitationId":7})");
    s.peer.note("notifications/elicitation/complete");
    CHECK(ended == std::vector<std::string>{"e1"});
}

namespace
{

void ended(client_stage& s, std::string_view id)
{
    s.peer.note("notifications/elicitation/complete", R"({"elicitationId":")" + std::string(id) + R"("})");
}

/// A client whose user opens every URL, and that keeps the ids that it is told of.
comcp::client_options opening_urls(std::vector<std::string>& told)
{
    comcp::client_options options;
    options.on_url_elicitation([](const comcp::elicitation_request&) { return comcp::elicitation_result::accept(); });
    options.on_elicitation_complete([&told](const std::string& id) { told.push_back(id); });
    return options;
}

std::string url_question(std::string_view id)
{
    return R"({"mode":"url","message":"m","url":"https://x/y","elicitationId":")" + std::string(id) + R"("})";
}

} // namespace

TEST_CASE("The host is told of the end of what was asked for at a URL, once, and of nothing else [H-24]")
{
    std::vector<std::string> told;
    client_stage s(opening_urls(told));
    ended(s, "e1"); // before it was asked for
    s.peer.ask("1", "elicitation/create", url_question("e1"));
    s.peer.next();
    ended(s, "e2");
    ended(s, "e1");
    ended(s, "e1");
    CHECK(told == std::vector<std::string>{"e1"});

    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    s.peer.say(R"({"jsonrpc":"2.0","id":)" + asked.id() +
                   R"(,"error":{"code":-32042,"message":"visit first","data":{"elicitations":[)" + url_question("e3") +
                   ',' + url_question("e4") + "]}}}",
               R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e4"}})");
    CHECK(comcp::url_elicitations(comcp::error(call.failure())).size() == 2);
    ended(s, "e3");
    ended(s, "e4");
    CHECK(told == std::vector<std::string>{"e1", "e4", "e3"});
}

TEST_CASE("Elicitations whose end may be told of are bounded: the oldest are forgotten [H-24]")
{
    std::vector<std::string> told;
    client_stage s(opening_urls(told));
    const std::string long_id(1025, 'x');
    s.peer.ask("1", "elicitation/create", url_question(long_id));
    for (int i = 0; i <= 256; ++i) s.peer.ask("1", "elicitation/create", url_question(std::to_string(i)));
    CHECK(s.peer.skip_all() == 258);
    for (const auto* id : {"0", "1", "256"}) ended(s, id);
    ended(s, long_id);
    CHECK(told == std::vector<std::string>{"1", "256"});
}

TEST_CASE("A revision without the notice about a URL has none for the host [H-24]")
{
    std::vector<std::string> told;
    client_stage s(opening_urls(told), "2025-06-18");
    s.peer.ask("1", "elicitation/create", url_question("e1"));
    s.peer.skip_all();
    ended(s, "e1");
    CHECK(told.empty());
}

TEST_CASE("A call that first needs the user at a URL says at which [H-24]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call")
        .refuse(-32042, "visit first",
                R"({"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://x/y","message":"log in"},)"
                R"({"mode":"form"},7]})");
    const comcp::error failed(call.failure());
    const auto required = comcp::url_elicitations(failed);
    REQUIRE(required.size() == 1);
    CHECK(required[0].url == "https://x/y");
    CHECK(required[0].elicitation_id == "e1");
    CHECK(required[0].message == "log in");
    CHECK(comcp::url_elicitations(comcp::error(comcp::fail(errc::timed_out, "other"))).empty());
}

TEST_CASE("Elicitation that cannot be read is answered -32602")
{
    const auto* params = GENERATE("{}", R"({"message":"m"})", R"({"message":5,"requestedSchema":{}})");
    client_stage s(filling_forms({}));
    s.peer.ask("1", "elicitation/create", params);
    CHECK(error_in(s.peer.next()).at("code") == -32602);
}

// ---- while a question is open --------------------------------------------------------------------------------------

namespace
{

struct slow_model
{
    std::vector<std::string>* log;
    std::optional<comcp::client_context>* kept;

    comcp::task<comcp::sampling_result> operator()(comcp::sampling_request, comcp::client_context& of) const
    {
        *kept = of;
        comcp::timer timer(co_await asio::this_coro::executor);
        for (int i = 1; i <= 3; ++i) {
            of.progress(i, 3, "step");
            try {
                co_await timer.wait_for(1s);
            } catch (...) {
                log->push_back(of.cancelled() ? "cancelled" : "thrown");
                throw;
            }
        }
        of.progress(3); // does not rise
        co_return comcp::sampling_result("done", "m");
    }
};

} // namespace

TEST_CASE("A handler reports progress to a server that asked for it, under the token as it came [A-20] [45]")
{
    const auto* token = GENERATE("\"p1\"", "7", "123456789012345678901234", "");
    std::vector<std::string> log;
    std::optional<comcp::client_context> kept;
    comcp::client_options options;
    options.on_sampling(slow_model{&log, &kept});
    client_stage s(std::move(options));
    std::string params = R"({"messages":[],"maxTokens":5)";
    if (*token) params += R"(,"_meta":{"progressToken":)" + std::string(token) + "}";
    s.peer.ask("1", "sampling/createMessage", params + "}");
    for (int i = 1; i <= 3; ++i) {
        if (*token) {
            CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                                       std::string(token) + R"(,"progress":)" + std::to_string(i) +
                                       R"(,"total":3,"message":"step"}})");
        }
        CHECK(s.peer.quiet());
        s.advance(1s);
    }
    CHECK(parse(s.peer.next()).contains("result"));
    kept->progress(9); // the question is answered: nothing more is said of it
    CHECK(s.peer.quiet());
    CHECK_FALSE(kept->cancelled());
}

TEST_CASE("A server that gives its question up cancels the handler, which answers nothing")
{
    std::vector<std::string> log;
    std::optional<comcp::client_context> kept;
    comcp::client_options options;
    options.on_sampling(slow_model{&log, &kept});
    client_stage s(std::move(options));
    s.peer.ask("1", "sampling/createMessage", R"({"messages":[],"maxTokens":5,"_meta":{"progressToken":1}})");
    s.peer.expect("notifications/progress");
    SECTION("by its own notice")
    {
        s.peer.note("notifications/cancelled", R"({"requestId":1})");
        CHECK(s.peer.quiet());
    }
    SECTION("by leaving") { s.peer.hang_up(); }
    SECTION("because the client closes") { s.run(s.client.close()); }
    CHECK(log == std::vector<std::string>{"cancelled"});
    CHECK(kept->cancelled());
    kept->progress(9);
    CHECK(kept->meta().contains("progressToken"));
}

// ---- roots ---------------------------------------------------------------------------------------------------------

TEST_CASE("Roots keep their _meta, for revisions that have it [H-1]")
{
    const auto [version, meta] = GENERATE(table<std::string, std::string>({
        {"2025-11-25", R"(,"_meta":{"m":1})"},
        {"2025-06-18", R"(,"_meta":{"m":1})"},
        {"2025-03-26", ""},
    }));
    comcp::client_options options;
    comcp::root place("file:///a", "A");
    place.meta["m"] = 1;
    comcp::root_list places{place};
    places.extra = {{"beside", true}};
    options.roots(places);
    client_stage s(std::move(options), version);
    s.peer.ask("1", "roots/list");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a","name":"A")" + meta +
                               R"(}],"beside":true}})");
}

TEST_CASE("A root that is no file URI, or leaves its place, is never offered [H-1] [H-2]")
{
    const std::string bad = GENERATE("http://x/a", "/home/ada", "file:///a/../b");
    comcp::client_options options;
    options.roots({comcp::root("file:///a"), comcp::root(bad)});
    client_stage s(std::move(options), "");
    auto connecting = s.start(s.client.connect());
    CHECK(connecting.failed_with(errc::invalid_argument));
    CHECK(has(connecting.failure().text, bad));
    CHECK(s.peer.quiet()); // not even a handshake

    s.client.set_roots({comcp::root("file:///b")});
    s.shake_hands();
    try {
        s.client.set_roots({comcp::root(bad)});
        FAIL("it was taken");
    } catch (const comcp::error& e) {
        CHECK(e.code() == errc::invalid_argument);
    }
    CHECK(s.peer.quiet());
    s.peer.ask("1", "roots/list");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///b"}]}})");
}

TEST_CASE("Roots that are set before the client connects are declared and given")
{
    client_stage s(comcp::client_options(), "");
    s.client.set_roots({comcp::root("file:///early")});
    auto connecting = s.start(s.client.connect());
    const heard hello = s.peer.expect("initialize");
    CHECK(has(hello.text, R"("capabilities":{"roots":{"listChanged":true}})"));
    s.client.set_roots({comcp::root("file:///later")}); // while it connects
    hello.reply(welcome());
    CHECK(s.peer.expect("notifications/initialized").method() == "notifications/initialized");
    s.peer.expect("notifications/roots/list_changed"); // it may have asked before they changed (H-1)
    CHECK(connecting.succeeded());
    s.peer.ask("1", "roots/list");
    CHECK(has(s.peer.next(), "file:///later"));
    CHECK(s.peer.quiet());
}
