// SPDX-License-Identifier: MIT
// What a handler asks of its client: the model, the user, the roots; and what it says of URLs.
#include "script.hpp"

#include <limits>

using namespace script;

namespace
{

BOOST_DEFINE_ENUM_CLASS(seat, window, aisle)

struct booking
{
    std::string day;
    int seats = 1;
    std::optional<seat> where;
};
BOOST_DESCRIBE_STRUCT(booking, (), (day, seats, where))

/// A server with one tool `ask`, which tells how its question ended.
struct asking_stage : server_stage
{
    explicit asking_stage(comcp::server_options options = {}) : server_stage(std::move(options)) {}

    std::string told;

    /// `question(context&)` gives a task of text.
    template <class Question>
    void ask_with(Question question, std::string_view version = "2025-11-25", std::string_view capabilities = "{}")
    {
        server.tool("ask", "", [this, question](comcp::context& ctx) -> comcp::task<std::string> {
            const auto got = co_await comcp::as_result(question(ctx));
            told = got ? *got : std::string(code_name(got.error().code)) + ": " + got.error().text;
            fate = got ? outcome::completed : got.error().fate;
            co_return told;
        });
        begin(version, capabilities);
        peer.call("1", "ask");
    }
    static std::string_view code_name(const std::error_code& code)
    {
        return code == errc::unsupported        ? "unsupported"
               : code == errc::invalid_argument ? "invalid_argument"
               : code == errc::invalid_message  ? "invalid_message"
               : code == errc::refused          ? "refused"
               : code == errc::timed_out        ? "timed_out"
                                                : "other";
    }
    /// The question was never sent.
    bool nothing_sent()
    {
        const std::string answer = peer.next();
        INFO(answer);
        return has(answer, R"("id":1,"result")") && peer.quiet() && fate == outcome::not_sent;
    }

    outcome fate = outcome::unknown;
};

comcp::task<std::string> ask_model(comcp::context ctx, comcp::sampling_request asked)
{
    const comcp::sampling_result got = co_await ctx.sample(std::move(asked));
    std::string text = got.model + ':' + got.stop_reason;
    for (const auto& each : got.content) text += ':' + (each.as_text() ? *each.as_text() : "?");
    co_return text;
}

comcp::task<std::string> ask_booking(comcp::context ctx, comcp::request_options options = {})
{
    const auto got = co_await ctx.elicit<booking>("When?", std::move(options));
    if (!got) co_return std::string(comcp::to_string(got.action));
    co_return got->day + ':' + std::to_string(got->seats) + ':' +
        (!got->where                   ? "any"
         : *got->where == seat::window ? "window"
                                       : "aisle");
}

comcp::task<std::string> ask_form(comcp::context ctx, std::string schema)
{
    comcp::elicitation_request asked = comcp::elicitation_request::form("Tell", parse(schema));
    const comcp::elicitation_result got = co_await ctx.elicit(std::move(asked));
    std::string text(comcp::to_string(got.action));
    comcp::write_value(text, got.content);
    co_return text;
}

comcp::task<std::string> send_to_url(comcp::context ctx)
{
    const comcp::elicitation_result got = co_await ctx.elicit_url("Log in", "https://example.com/?s=1", "e-1");
    co_return std::string(comcp::to_string(got.action));
}

comcp::task<std::string> count_roots(comcp::context ctx)
{
    const auto roots = co_await ctx.list_roots();
    co_return std::to_string(roots.size()) + " roots, " + std::to_string(ctx.roots_changes()) + " changes";
}

} // namespace

// ---- sampling ------------------------------------------------------------------------------------------------------

TEST_CASE("The client's model is asked as each revision has it [H-10] [H-12]")
{
    for (const auto version : comcp::all_revisions) {
        asking_stage s;
        s.ask_with(
            [](comcp::context& ctx) {
                comcp::sampling_request asked("Name it", 20);
                asked.system_prompt = "Be short";
                asked.temperature = 0.5;
                asked.stop_sequences = {"."};
                return ask_model(ctx, std::move(asked));
            },
            comcp::to_string(version), R"({"sampling":{}})");
        const heard question = s.peer.expect("sampling/createMessage");
        CHECK(has(question.text, R"("messages":[{"role":"user","content":{"type":"text","text":"Name it"}}])"));
        CHECK(question.params().at("maxTokens").as_int64() == 20);
        CHECK(question.params().at("systemPrompt").as_string() == "Be short");
        CHECK_FALSE(has(question.text, "_meta"));
        question.reply(
            R"({"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"Heron"}})");
        CHECK(s.told == "m:endTurn:Heron");
    }
    asking_stage s;
    s.ask_with([](comcp::context& ctx) { return ask_model(ctx, comcp::sampling_request("?", 5)); }, "2025-11-25",
               R"({"sampling":{}})");
    s.peer.expect("sampling/createMessage")
        .reply(R"({"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})");
    CHECK(s.told == "m::a:b");
}

TEST_CASE("A question that the client did not offer to answer is not sent [H-13] [H-20]")
{
    const auto plain = [](comcp::context& ctx) { return ask_model(ctx, comcp::sampling_request("?", 5)); };
    const auto tools = [](comcp::context& ctx) {
        comcp::sampling_request asked("?", 5);
        asked.tools.emplace_back("t");
        return ask_model(ctx, std::move(asked));
    };
    const auto form = [](comcp::context& ctx) { return ask_booking(ctx); };
    const auto url = [](comcp::context& ctx) { return send_to_url(ctx); };
    const auto roots = [](comcp::context& ctx) { return count_roots(ctx); };
    const auto refused = [](auto question, std::string_view version, std::string_view capabilities) {
        asking_stage s;
        s.ask_with(question, version, capabilities);
        INFO(s.told);
        CHECK(s.told.starts_with("unsupported: "));
        return s.nothing_sent();
    };
    CHECK(refused(plain, "2025-11-25", "{}"));
    CHECK(refused(plain, "2025-11-25", R"({"sampling":null})"));
    CHECK(refused(tools, "2025-11-25", R"({"sampling":{}})"));
    CHECK(refused(tools, "2025-06-18", R"({"sampling":{"tools":{}}})")); // the revision has none
    CHECK(refused(form, "2025-11-25", "{}"));
    CHECK(refused(form, "2025-11-25", R"({"elicitation":{"url":{}}})"));
    CHECK(refused(form, "2025-03-26", R"({"elicitation":{}})"));
    CHECK(refused(url, "2025-11-25", R"({"elicitation":{}})"));
    CHECK(refused(url, "2025-11-25", R"({"elicitation":{"form":{}}})"));
    CHECK(refused(url, "2025-06-18", R"({"elicitation":{"url":{}}})"));
    CHECK(refused(roots, "2025-11-25", "{}"));
}

TEST_CASE("Tool uses without their results are not sent [H-14]")
{
    asking_stage s;
    s.ask_with(
        [](comcp::context& ctx) {
            comcp::sampling_request asked("?", 5);
            asked.messages.emplace_back(comcp::role::assistant, comcp::content::tool_use("1", "t", {}));
            return ask_model(ctx, std::move(asked));
        },
        "2025-11-25", R"({"sampling":{"tools":{}}})");
    CHECK(s.told.starts_with("invalid_argument: "));
    CHECK(s.nothing_sent());
}

TEST_CASE("The client's refusal, its silence and its nonsense are errors of the question")
{
    const auto question = [](comcp::context& ctx) { return ask_model(ctx, comcp::sampling_request("?", 5)); };
    asking_stage refused;
    refused.ask_with(question, "2025-11-25", R"({"sampling":{}})");
    refused.peer.expect("sampling/createMessage").refuse(-1, "User rejected sampling request");
    CHECK(refused.told == "refused: User rejected sampling request (-1)");
    CHECK(refused.fate == outcome::refused);

    asking_stage silent;
    silent.ask_with(question, "2025-11-25", R"({"sampling":{}})");
    silent.peer.expect("sampling/createMessage");
    silent.advance(60s - 1ms);
    CHECK(silent.told.empty());
    CHECK(silent.peer.quiet());
    silent.advance(1ms);
    CHECK(silent.told.starts_with("timed_out: "));
    silent.peer.expect("notifications/cancelled");

    for (const auto* nonsense : {"{}", R"({"role":"assistant","model":"m"})"}) {
        asking_stage s;
        s.ask_with(question, "2025-11-25", R"({"sampling":{}})");
        s.peer.expect("sampling/createMessage").reply(nonsense);
        INFO(s.told);
        CHECK(s.told.starts_with("invalid_message: "));
        CHECK(s.fate == outcome::completed);
    }
}

TEST_CASE("A question has the time that its options give, and ends with the call that asks")
{
    asking_stage s;
    s.ask_with([](comcp::context& ctx) { return ask_booking(ctx, comcp::request_options().timeout(5min)); },
               "2025-11-25", R"({"elicitation":{}})");
    s.peer.expect("elicitation/create");
    s.advance(4min);
    CHECK(s.told.empty());
    s.advance(1min);
    CHECK(s.told.starts_with("timed_out: "));

    asking_stage cancelled;
    cancelled.ask_with([](comcp::context& ctx) { return ask_booking(ctx); }, "2025-11-25", R"({"elicitation":{}})");
    const std::string id = cancelled.peer.expect("elicitation/create").id();
    cancelled.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(cancelled.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                                       id + R"(,"reason":"cancelled by the caller"}})");
    CHECK(cancelled.peer.quiet());
}

// ---- progress of the client ----------------------------------------------------------------------------------------

TEST_CASE("The client's progress is asked for only when somebody listens, and told in order [A-20]")
{
    std::vector<double> heard_of;
    asking_stage s;
    s.ask_with(
        [&](comcp::context& ctx) {
            comcp::request_options options;
            options.on_progress([&](const comcp::progress& now) {
                heard_of.push_back(now.value);
                if (now.value == 2) throw std::runtime_error("nobody cares");
            });
            return ask_booking(ctx, std::move(options));
        },
        "2025-11-25", R"({"elicitation":{}})");
    const heard question = s.peer.expect("elicitation/create");
    CHECK(has(question.text, R"("_meta":{"progressToken":)" + question.id() + "}"));
    const auto progress = [&](int value) {
        s.peer.note("notifications/progress",
                    R"({"progressToken":)" + question.id() + R"(,"progress":)" + std::to_string(value) + '}');
    };
    progress(1);
    progress(2);
    progress(3);
    CHECK(heard_of == std::vector<double>{1, 2, 3});
    question.reply(R"({"action":"decline"})");
    progress(4);
    CHECK(heard_of == std::vector<double>{1, 2, 3});
    CHECK(s.told == "decline");
}

TEST_CASE("Progress for roots and sampling goes the same way; on the host's executor only the newest waits")
{
    comcp::manual_executor host;
    std::vector<double> heard_of;
    asking_stage s;
    s.server.handlers_on(host.executor());
    s.ask_with(
        [&](comcp::context& ctx) -> comcp::task<std::string> {
            comcp::request_options options;
            options.on_progress([&](const comcp::progress& now) { heard_of.push_back(now.value); });
            const auto roots = co_await ctx.list_roots(options);
            const auto said = co_await ctx.sample(comcp::sampling_request("?", 5), options);
            co_return said.model + std::to_string(roots.size());
        },
        "2025-11-25", R"({"roots":{},"sampling":{}})");
    const auto pump = [&] {
        while (host.pump(10) != 0) {
        }
        s.settle();
    };
    pump();
    const heard first = s.peer.expect("roots/list");
    CHECK(first.text == R"({"jsonrpc":"2.0","id":)" + first.id() +
                            R"(,"method":"roots/list","params":{"_meta":{"progressToken":)" + first.id() + "}}}");
    for (const auto* value : {"1", "2", "3"})
        s.peer.note("notifications/progress", R"({"progressToken":)" + first.id() + R"(,"progress":)" + value + '}');
    CHECK(heard_of.empty());
    pump();
    CHECK(heard_of == std::vector<double>{3});
    s.peer.note("notifications/progress", R"({"progressToken":)" + first.id() + R"(,"progress":4})");
    first.reply(R"({"roots":[]})");
    pump();
    const heard second = s.peer.expect("sampling/createMessage");
    CHECK(has(second.text, R"("progressToken":)" + second.id()));
    second.reply(R"({"role":"assistant","model":"m","content":{"type":"text","text":"a"}})");
    pump();
    CHECK(s.told == "m0");
}

// ---- elicitation ---------------------------------------------------------------------------------------------------

TEST_CASE("A struct becomes a form, and what the user accepts becomes the struct [H-22] [H-23]")
{
    const auto answered = [](std::string_view result, std::string_view version = "2025-11-25") {
        asking_stage s;
        s.ask_with([](comcp::context& ctx) { return ask_booking(ctx); }, version, R"({"elicitation":{}})");
        s.peer.expect("elicitation/create").reply(result);
        return s.told;
    };
    CHECK(answered(R"({"action":"accept","content":{"day":"Mon","seats":2,"where":"aisle"}})") == "Mon:2:aisle");
    CHECK(answered(R"({"action":"accept","content":{"day":"Mon"}})") == "Mon:1:any");
    CHECK(answered(R"({"action":"accept","content":{"day":"Mon","more":"?"}})", "2025-06-18") == "Mon:1:any");
    CHECK(answered(R"({"action":"decline"})") == "decline");
    CHECK(answered(R"({"action":"cancel","content":{"day":7}})") == "cancel");
    for (const auto* bad :
         {R"({"action":"accept"})", R"({"action":"accept","content":{"day":7}})",
          R"({"action":"accept","content":{"day":"Mon","seats":"two"}})",
          R"({"action":"accept","content":{"day":"Mon","where":"roof"}})", R"({"action":"maybe"})", "{}"}) {
        INFO(bad);
        CHECK(answered(bad).starts_with("invalid_message: "));
    }
    asking_stage s;
    s.ask_with([](comcp::context& ctx) { return ask_booking(ctx); }, "2025-11-25", R"({"elicitation":{}})");
    const json::object params = s.peer.expect("elicitation/create").params();
    CHECK(params.at("message").as_string() == "When?");
    CHECK(params.at("requestedSchema").at("type").as_string() == "object");
    CHECK(params.at("requestedSchema").at("properties").at("seats").at("default").as_int64() == 1);
}

TEST_CASE("A form written by hand is checked before it is sent, and its answer afterwards [H-27]")
{
    const std::string schema =
        R"({"type":"object","properties":{"mail":{"type":"string","format":"email"},"n":{"type":"integer","minimum":1}},)"
        R"("required":["mail"]})";
    const auto answered = [&](std::string_view result) {
        asking_stage s;
        s.ask_with([&](comcp::context& ctx) { return ask_form(ctx, schema); }, "2025-11-25",
                   R"({"elicitation":{"form":{}}})");
        s.peer.expect("elicitation/create").reply(result);
        return s.told;
    };
    CHECK(answered(R"({"action":"accept","content":{"mail":"a@b.c","n":1}})") == R"(accept{"mail":"a@b.c","n":1})");
    CHECK(answered(R"({"action":"accept","content":{"n":1}})").starts_with("invalid_message: the answer does not fit"));
    CHECK(answered(R"({"action":"accept","content":{"mail":"a@b.c","n":0}})").starts_with("invalid_message: "));
    CHECK(answered(R"({"action":"decline","content":{"n":0}})").starts_with("decline"));

    asking_stage nested;
    nested.ask_with(
        [](comcp::context& ctx) {
            return ask_form(ctx, R"({"type":"object","properties":{"a":{"type":"object","properties":{}}}})");
        },
        "2025-11-25", R"({"elicitation":{}})");
    INFO(nested.told);
    CHECK(nested.told.starts_with("invalid_argument: "));
    CHECK(nested.nothing_sent());
}

TEST_CASE("The user is sent to a URL, and the client is told when that is done [H-24]")
{
    asking_stage s;
    std::optional<comcp::context> kept;
    s.ask_with(
        [&](comcp::context& ctx) {
            kept = ctx;
            return send_to_url(ctx);
        },
        "2025-11-25", R"({"elicitation":{"url":{}}})");
    const heard question = s.peer.expect("elicitation/create");
    CHECK(has(question.text, R"("mode":"url")"));
    CHECK(has(question.text, R"("url":"https://example.com/?s=1")"));
    CHECK(has(question.text, R"("elicitationId":"e-1")"));
    question.reply(R"({"action":"accept"})");
    CHECK(s.told == "accept");
    s.peer.next();
    kept->elicitation_complete("e-1"); // long after the call
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete",)"
                           R"("params":{"elicitationId":"e-1"}})");
    s.peer.hang_up();
    kept->elicitation_complete("e-2");
    s.settle();

    asking_stage older;
    older.ask_with(
        [&](comcp::context& ctx) -> comcp::task<std::string> {
            kept = ctx;
            co_return "";
        },
        "2025-06-18");
    older.peer.next();
    kept->elicitation_complete("e-3");
    CHECK(older.peer.quiet());
}

TEST_CASE("A URL that must be visited first is an error where the client understands it, else a text [H-24]")
{
    const auto thrown = []() -> std::string {
        throw comcp::url_elicitation_required(comcp::elicitation_request::url_mode("Log in", "https://x.y/", "e-1"));
    };
    const auto answers = [&](std::string_view version, std::string_view capabilities) {
        server_stage s;
        s.server.tool("t", "", thrown);
        s.server.resource("x:r", "", thrown);
        s.server.prompt("p", "", thrown);
        s.begin(version, capabilities);
        s.peer.call("1", "t");
        s.peer.ask("1", "resources/read", R"({"uri":"x:r"})");
        s.peer.ask("1", "prompts/get", R"({"name":"p"})");
        return std::vector{s.peer.next(), s.peer.next(), s.peer.next()};
    };
    const std::string error =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"a URL must be visited first",)"
        R"("data":{"elicitations":[{"mode":"url",)";
    for (const std::string& each : answers("2025-11-25", R"({"elicitation":{"url":{}}})")) {
        INFO(each);
        CHECK(each.starts_with(error));
        CHECK(has(each, R"("elicitationId":"e-1")"));
        CHECK(has(each, R"("url":"https://x.y/")"));
    }
    const std::string text = R"(a URL must be visited first\nLog in https://x.y/)";
    for (const auto& [version, capabilities] :
         {std::pair("2025-11-25", R"({"elicitation":{}})"), std::pair("2025-06-18", R"({"elicitation":{"url":{}}})")}) {
        const auto got = answers(version, capabilities);
        CHECK(got[0] == R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":")" + text +
                            R"("}],"isError":true}})");
        CHECK(got[1] == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":")" + text + R"("}})");
        CHECK(got[2] == got[1]);
    }
}

// ---- roots ---------------------------------------------------------------------------------------------------------

TEST_CASE("A handler sees when the roots that it knows are stale [H-1]")
{
    asking_stage s;
    s.ask_with([](comcp::context& ctx) { return count_roots(ctx); }, "2025-11-25", R"({"roots":{"listChanged":true}})");
    const heard question = s.peer.expect("roots/list");
    CHECK(question.text == R"({"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}})");
    question.reply(R"({"roots":[{"uri":"file:///a"}]})");
    CHECK(s.told == "1 roots, 0 changes");
    s.peer.skip_all();
    s.peer.note("notifications/roots/list_changed");
    s.peer.note("notifications/roots/list_changed");
    s.peer.call("2", "ask");
    s.peer.expect("roots/list").reply(R"({"roots":[]})");
    CHECK(s.told == "0 roots, 2 changes");
}

TEST_CASE("A relay passes params and results on as they are")
{
    asking_stage s;
    s.ask_with(
        [](comcp::context& ctx) -> comcp::task<std::string> {
            json::object params = parse(R"({"future":[1],"messages":[]})");
            const json::object got = co_await ctx.sample(std::move(params));
            std::string text;
            comcp::write_value(text, got);
            co_return text;
        },
        "2025-11-25", R"({"sampling":{}})");
    const heard question = s.peer.expect("sampling/createMessage");
    CHECK(has(question.text, R"("params":{"future":[1],"messages":[]})"));
    question.reply(R"({"new":true,"role":"user","model":"m","content":[]})");
    CHECK(s.told == R"({"new":true,"role":"user","model":"m","content":[]})");
}

namespace
{

comcp::task<std::string> relay_sampling(comcp::context ctx, json::object params)
{
    const json::object got = co_await ctx.sample(std::move(params));
    std::string text;
    comcp::write_value(text, got);
    co_return text;
}

comcp::task<std::string> relay_elicitation(comcp::context ctx, json::object params)
{
    const json::object got = co_await ctx.elicit(std::move(params));
    std::string text;
    comcp::write_value(text, got);
    co_return text;
}

} // namespace

TEST_CASE("An answer that lacks what it must have is an error, also for a relay [H-11] [H-23] [H-27]")
{
    const auto [sampling, answer] = GENERATE(table<bool, const char*>({
        {true, R"({"new":true})"},
        {true, R"({"role":"user","content":[]})"},
        {true, R"({"role":"user","model":"m","content":{"type":"text"}})"},
        {false, "{}"},
        {false, R"({"action":"agreed"})"},
        {false, R"({"action":"accept","content":7})"},
        {false, R"({"action":"accept"})"},
        {false, R"({"action":"accept","content":{"name":7}})"},
    }));
    const bool by_model = sampling;
    asking_stage s;
    s.ask_with(
        [by_model](comcp::context& ctx) {
            if (by_model) return relay_sampling(ctx, parse(R"({"messages":[],"maxTokens":1})"));
            return relay_elicitation(ctx, parse(R"({"message":"m","requestedSchema":{"type":"object",)"
                                                R"("properties":{"name":{"type":"string"}},"required":["name"]}})"));
        },
        "2025-11-25", R"({"sampling":{},"elicitation":{}})");
    s.peer.expect(by_model ? "sampling/createMessage" : "elicitation/create").reply(answer);
    INFO(s.told);
    CHECK(s.told.starts_with("invalid_message: "));
    CHECK(s.fate == outcome::completed);
}

TEST_CASE("A relay sends no elicitation that nobody could answer [H-20] [H-24]")
{
    const auto* params = GENERATE(R"({})", R"({"message":"m"})", R"({"message":"m","mode":"url","url":"https://x/"})",
                                  R"({"message":"m","mode":"new","requestedSchema":{}})",
                                  R"({"mode":"url","url":"https://x/","elicitationId":"e"})");
    asking_stage s;
    s.ask_with([params](comcp::context& ctx) { return relay_elicitation(ctx, parse(params)); }, "2025-11-25",
               R"({"elicitation":{"form":{},"url":{}}})");
    INFO(s.told);
    CHECK(s.told.starts_with("invalid_argument: "));
    CHECK(s.nothing_sent());
}

TEST_CASE("A number that is not finite is not asked")
{
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    const int way = GENERATE(0, 1, 2, 3);
    asking_stage s;
    s.ask_with(
        [way](comcp::context& ctx) {
            if (way == 0) return relay_sampling(ctx, {{"messages", json::array()}, {"x", infinite}});
            comcp::sampling_request asked("?", 5);
            if (way == 1) asked.temperature = infinite;
            if (way == 2) asked.meta["x"] = infinite;
            if (way == 3) asked.metadata.emplace()["x"] = json::array{infinite};
            return ask_model(ctx, std::move(asked));
        },
        "2025-11-25", R"({"sampling":{}})");
    INFO(s.told);
    CHECK(s.told.starts_with("invalid_argument: "));
    CHECK(s.nothing_sent());
}
