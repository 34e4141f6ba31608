// SPDX-License-Identifier: MIT
// What a client does when its server forgot the session, or its connection broke: what is asked for again, what is told
// to the host, and what is made twice.
#include "http_script.hpp"

using namespace script;

namespace
{

const char* const everything =
    R"({"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}})";

template <class Policy = steady_policy>
struct recovery_stage : basic_http_stage<Policy>
{
    explicit recovery_stage(comcp::client_options options = {}) { this->make(this->server(), std::move(options)); }

    web_request shake_hands(std::string_view session, std::string_view capabilities = everything)
    {
        auto hello = this->web.expect("initialize");
        hello.reply(welcome("2025-11-25", capabilities), "Mcp-Session-Id: " + std::string(session) + "\r\n");
        this->web.expect("notifications/initialized").accepted();
        return hello;
    }
    void no_listening() { this->web.expect("GET").answer(405, "", ""); }

    void begin()
    {
        auto connecting = this->start(this->client().connect());
        shake_hands("old");
        no_listening();
        connecting.value();
    }
    void subscribe(std::string_view uri)
    {
        auto subscribed = this->start(this->client().subscribe(std::string(uri)));
        this->web.expect("resources/subscribe").reply("{}");
        CHECK(subscribed.succeeded());
    }
};

struct heard_by_host
{
    std::vector<std::string> said;
    comcp::client_options options()
    {
        comcp::client_options made;
        made.on_tools_changed([this] { said.push_back("tools"); });
        made.on_resources_changed([this] { said.push_back("resources"); });
        made.on_prompts_changed([this] { said.push_back("prompts"); });
        made.on_resource_updated([this](const std::string& uri) { said.push_back(uri); });
        return made;
    }
};

} // namespace

// ---- a session that the server forgot ------------------------------------------------------------------------------

TEST_CASE("A new session has the subscriptions and the log level of the one before, before calls go on",
          "[http_client]")
{
    heard_by_host host;
    recovery_stage s(host.options());
    s.begin();
    s.subscribe("file:///b");
    s.subscribe("file:///a");
    s.subscribe("file:///gone");
    auto unsubscribed = s.start(s.client().unsubscribe("file:///gone"));
    s.web.expect("resources/unsubscribe").reply("{}");
    CHECK(unsubscribed.succeeded());
    auto level = s.start(s.client().set_log_level(comcp::log_level::debug));
    s.web.expect("logging/setLevel").reply("{}");
    CHECK(level.succeeded());

    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    s.shake_hands("new");
    auto more = s.start(s.client().call("greet")); // waits as well
    auto restored = s.web.expect("logging/setLevel");
    CHECK(restored.field("Mcp-Session-Id") == "new");
    CHECK(restored.message().at("params") == json::value({{"level", "debug"}}));
    CHECK(s.web.quiet()); // one after the other, and no call
    restored.reply("{}");
    auto first = s.web.expect("resources/subscribe");
    CHECK(first.message().at("params") == json::value({{"uri", "file:///a"}}));
    first.reply("{}");
    CHECK(host.said.empty());
    s.web.expect("resources/subscribe").answer(200, "application/json", "not JSON"); // fails: the others go on
    s.no_listening();
    CHECK(host.said == std::vector<std::string>{"tools", "resources", "prompts", "file:///a", "file:///b"});
    for (int i = 0; i < 2; ++i) s.web.expect("tools/call").reply(text_result("hello"));
    CHECK(call.succeeded());
    CHECK(more.succeeded());
    CHECK(s.web.quiet());
}

TEST_CASE("A server that lost a capability is not asked for it, and one that refuses keeps nobody from going on",
          "[http_client]")
{
    heard_by_host host;
    recovery_stage s(host.options());
    s.begin();
    s.subscribe("file:///a");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    SECTION("not declared") { s.shake_hands("new", R"({"tools":{}})"); }
    SECTION("refused")
    {
        s.shake_hands("new");
        auto asked = s.web.expect("resources/subscribe");
        asked.answer(200, "application/json",
                     R"({"jsonrpc":"2.0","id":)" + asked.id() + R"(,"error":{"code":-32002,"message":"no"}})");
    }
    SECTION("not answered, within the time of connecting")
    {
        s.shake_hands("new");
        s.web.expect("resources/subscribe");
        s.advance(20s);
    }
    while (!s.web.quiet()) {
        auto next = s.web.next();
        if (next.method() == "tools/call") next.reply(text_result("hello"));
        else if (next.head.method == "GET") next.answer(405, "", "");
        else next.accepted();
    }
    CHECK(call.succeeded());
    CHECK(host.said.back() == "file:///a"); // it may have changed
}

TEST_CASE("A client that connects again by itself tells its subscriptions again, unless it was closed", "[http_client]")
{
    recovery_stage s;
    s.begin();
    s.subscribe("file:///a");
    auto closing = s.start(s.client().close());
    s.web.expect("DELETE").answer(200, "", "");
    CHECK(closing.succeeded());
    auto connecting = s.start(s.client().connect());
    s.shake_hands("new");
    s.no_listening();
    CHECK(connecting.succeeded());
    CHECK(s.web.quiet());
}

TEST_CASE("All operations survive a forgotten session", "[http_client]")
{
    recovery_stage s;
    s.begin();
    const auto again = [&](auto operation, const char* method, std::string_view result) {
        s.web.expect(method).answer(404, "", "");
        s.shake_hands("new");
        s.no_listening();
        s.web.expect(method).reply(result);
        CHECK(operation.succeeded());
    };
    again(s.start(s.client().read_resource("a:1")), "resources/read", R"({"contents":[]})");
    again(s.start(s.client().list_prompts()), "prompts/list", R"({"prompts":[]})");
    again(s.start(s.client().get_prompt("p")), "prompts/get", R"({"messages":[]})");
    again(s.start(s.client().complete(comcp::completion_reference::prompt("p"), "a", "")), "completion/complete",
          R"({"completion":{"values":[]}})");
    again(s.start(s.client().subscribe("a:1")), "resources/subscribe", "{}");
}

TEST_CASE("The time of a request counts over its first try, the new session and the second try", "[http_client]")
{
    recovery_stage s;
    s.begin();
    const auto within = comcp::call_options().timeout(10s);
    const bool is_call = GENERATE(true, false);
    std::optional<running<comcp::answer>> call;
    std::optional<running<comcp::resource_result>> read;
    const char* const method = is_call ? "tools/call" : "resources/read";
    if (is_call) call.emplace(s.start(s.client().call("greet", {}, within)));
    else read.emplace(s.start(s.client().read_resource("a:1", within)));
    const auto done = [&] { return is_call ? call->done() : read->done(); };
    const auto failure = [&]() -> const comcp::fault& { return is_call ? call->failure() : read->failure(); };

    s.advance(6s);
    s.web.expect(method).answer(404, "", "");
    SECTION("with an answer in time")
    {
        s.shake_hands("new");
        s.no_listening();
        s.advance(3999ms);
        s.web.expect(method).reply(is_call ? text_result("hello") : R"({"contents":[]})");
        CHECK(done());
        CHECK((is_call ? call->succeeded() : read->succeeded()));
    }
    SECTION("without an answer in time")
    {
        s.shake_hands("new");
        s.no_listening();
        s.web.expect(method);
        s.advance(3999ms);
        CHECK_FALSE(done());
        s.advance(1ms);
        REQUIRE(done());
        CHECK(failure().code == errc::timed_out);
        CHECK(failure().fate == outcome::unknown);
        s.web.expect("notifications/cancelled").accepted();
    }
    SECTION("without a new session in time")
    {
        auto hello = s.web.expect("initialize");
        s.advance(3999ms);
        CHECK_FALSE(done());
        s.advance(1ms);
        REQUIRE(done());
        CHECK(failure().code == errc::timed_out);
        CHECK(failure().fate == outcome::not_sent);
        hello.reply(welcome("2025-11-25", everything), "Mcp-Session-Id: new\r\n"); // made for whoever comes next
        s.web.expect("notifications/initialized").accepted();
        s.no_listening();
        auto next = s.start(s.client().call("greet"));
        s.web.expect("tools/call").reply(text_result("hello"));
        CHECK(next.succeeded());
    }
    CHECK(s.web.quiet());
}

TEST_CASE("Whoever comes while a new session is made waits no longer than its own time", "[http_client]")
{
    recovery_stage s;
    s.begin();
    auto first = s.start(s.client().call("greet", {}, comcp::call_options().timeout(15s)));
    s.web.expect("tools/call").answer(404, "", "");
    auto hello = s.web.expect("initialize");
    auto second = s.start(s.client().call("greet", {}, comcp::call_options().timeout(2s)));
    s.advance(2s);
    REQUIRE(second.failed_with(errc::timed_out));
    CHECK(second.failure().fate == outcome::not_sent);
    CHECK_FALSE(first.done());
    hello.reply(welcome("2025-11-25", everything), "Mcp-Session-Id: new\r\n");
    s.web.expect("notifications/initialized").accepted();
    s.no_listening();
    s.web.expect("tools/call").reply(text_result("hello"));
    CHECK(first.succeeded());
    CHECK(s.web.quiet());
}

// ---- a connection that broke under a request -----------------------------------------------------------------------

TEST_CASE("What only reads is asked for once more when its connection broke (STREAM 100)", "[http_client]")
{
    recovery_stage s;
    s.begin();
    auto read = s.start(s.client().read_resource("a:1"));
    s.web.expect("resources/read").reset();
    SECTION("and answered")
    {
        s.web.expect("resources/read").reply(R"({"contents":[]})");
        CHECK(read.succeeded());
    }
    SECTION("but not a third time")
    {
        s.web.expect("resources/read").reset();
        CHECK(read.failed_with(errc::peer_gone));
        CHECK(read.failure().fate == outcome::unknown);
    }
    CHECK(s.web.quiet());
    CHECK(s.client().connected());
}

TEST_CASE("A tool is called once more when it said that this does no harm (SESSION 110)", "[http_client]")
{
    const auto [hints, twice] = GENERATE(table<std::string, bool>({
        {R"({"readOnlyHint":true})", true},
        {R"({"idempotentHint":true})", true},
        {R"({"idempotentHint":false})", false},
        {R"({})", false},
    }));
    recovery_stage s;
    s.begin();
    auto list = s.start(s.client().list_tools());
    s.web.expect("tools/list").reply(R"({"tools":[{"name":"t","inputSchema":{},"annotations":)" + hints + "}]}");
    CHECK(list.succeeded());
    auto call = s.start(s.client().call("t"));
    s.web.expect("tools/call").reset();
    if (twice) {
        s.web.expect("tools/call").reply(text_result("hello"));
        CHECK(call.succeeded());
    } else {
        CHECK(call.failed_with(errc::peer_gone));
    }
    CHECK(s.web.quiet());
}

namespace
{
struct never_again : steady_policy
{
    using replay = comcp::policy::never;
};
} // namespace

TEST_CASE("A caller may allow a call to be made once more", "[http_client]")
{
    recovery_stage s;
    s.begin();
    auto call = s.start(s.client().call("t", comcp::args(), comcp::call_options().may_repeat()));
    s.web.expect("tools/call").reset();
    s.web.expect("tools/call").reset();
    CHECK(call.failed_with(errc::peer_gone));
    CHECK(s.web.quiet());
}

TEST_CASE("Under policy::never nothing is made twice", "[http_client]")
{
    recovery_stage<never_again> s;
    s.begin();
    auto read = s.start(s.client().read_resource("a:1"));
    s.web.expect("resources/read").reset();
    CHECK(read.failed_with(errc::peer_gone));
    CHECK(s.web.quiet());
}
