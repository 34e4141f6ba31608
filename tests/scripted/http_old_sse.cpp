// SPDX-License-Identifier: MIT
// A server behind HTTP for clients of the old HTTP+SSE transport (2024-11-05): one stream is a session, POSTs bring
// messages, and everything else is refused as at the endpoint.
#include "http_service_script.hpp"

using namespace script::hosted;

namespace
{

const std::string unknown = error_text(-32600, "the session is unknown or has ended");

comcp::http_service_options with_old() { return comcp::http_service_options().old_sse(); }

/// One client of the old transport.
class old_client
{
public:
    old_client(service_stage& on, std::string who = {}) : on_(&on)
    {
        caller_.principal = std::move(who);
        opened.emplace(on.send(get()));
    }

    http::request get() const
    {
        http::request what = caller_.make("GET");
        what.target = "/sse";
        return what;
    }
    http::request message(std::string body) const
    {
        http::request what = caller_.make("POST", std::move(body));
        what.target = target;
        return what;
    }
    reply post(std::string body) { return on_->send(message(std::move(body))); }
    int say(std::string body) { return post(std::move(body)).status(); }

    /// Reads where to post, as the first piece of the stream.
    void learn()
    {
        const std::string first = opened->stream().piece();
        REQUIRE(first.starts_with("event: endpoint\ndata: "));
        REQUIRE(first.ends_with("\n\n"));
        target = first.substr(22, first.size() - 24);
    }
    void shake_hands(std::string_view version = "2024-11-05", std::string_view capabilities = "{}")
    {
        learn();
        REQUIRE(say(hello_text(version, capabilities)) == 202);
        REQUIRE(said() == 1);
        REQUIRE(say(notice_text("notifications/initialized")) == 202);
    }
    /// Messages on the stream so far.
    std::size_t said() { return opened->stream().messages().size(); }
    std::string last()
    {
        const auto all = opened->stream().messages();
        return all.empty() ? std::string() : all.back();
    }
    std::string session() const { return target.substr(target.rfind('=') + 1); }

    std::string target;
    std::optional<reply> opened;

private:
    service_stage* on_;
    caller caller_;
};

comcp::task<std::string> first_root(comcp::context ctx)
{
    const auto places = co_await ctx.list_roots();
    co_return places.empty() ? "nowhere" : places.front().uri;
}

comcp::task<std::string> in_steps(comcp::context ctx)
{
    for (int i = 1; i <= 2; ++i) {
        ctx.progress(i);
        co_await wait_for(1s);
    }
    co_return "done";
}

} // namespace

TEST_CASE("A stream of the old transport is a session, and begins with where to post [E-50]")
{
    service_stage s(with_old());
    s.server->tool("echo", "", [] { return "e"; });
    old_client c(s);
    CHECK(c.opened->status() == 200);
    CHECK(c.opened->field("Content-Type") == "text/event-stream");
    CHECK(c.opened->field("Cache-Control") == "no-cache");
    CHECK(c.opened->field("X-Accel-Buffering") == "no");
    CHECK(c.opened->field("Mcp-Session-Id").empty());
    c.learn();
    CHECK(c.target.starts_with("/messages?sessionId="));
    CHECK(c.session().size() == 32);
    CHECK(s.service->sessions() == 1);
    CHECK(s.service->streams() == 1);

    auto hello = c.post(hello_text("2024-11-05"));
    CHECK(hello.status() == 202);
    CHECK(hello.body().empty());
    CHECK(hello.field("Content-Type").empty());
    CHECK(c.opened->stream().text().starts_with("data: {"));
    CHECK(parse(c.last()).at("result").at("protocolVersion").get_string() == "2024-11-05");
    CHECK(c.say(notice_text("notifications/initialized")) == 202);
    CHECK(c.say(call_text("7", "echo")) == 202);
    CHECK(c.last() == text_answer("7", "e"));
    CHECK(c.opened->stream().ids() == std::vector<std::string>{"", ""});
}

TEST_CASE("Where to post is told with the prefix that somebody in front takes off [95]")
{
    const std::string announced = GENERATE("/api/v1/messages", "https://mcp.example.com/messages", "messages?tenant=1");
    service_stage s(comcp::http_service_options().old_sse("/sse", "/messages", announced));
    old_client c(s);
    c.learn();
    const bool has_query = announced.find('?') != announced.npos;
    CHECK(c.target.starts_with(announced + (has_query ? "&sessionId=" : "?sessionId=")));
    c.target = "/messages?tenant=1&sessionId=" + c.session();
    CHECK(c.say(hello_text("2024-11-05")) == 202);
    CHECK(c.said() == 1);
}

TEST_CASE("Progress, questions and answers all come on the one stream, in order [E-50]")
{
    service_stage s(with_old());
    s.server->tool("steps", "", [](comcp::context& ctx) { return in_steps(ctx); });
    s.server->tool("roots", "", [](comcp::context& ctx) { return first_root(ctx); });
    old_client c(s);
    c.shake_hands("2025-11-25", R"({"roots":{}})");
    CHECK(c.say(call_text("1", "steps", R"({"progressToken":"t"})")) == 202);
    CHECK(c.said() == 2);
    CHECK(c.say(call_text("2", "roots")) == 202);
    const json::object question = parse(c.last());
    CHECK(question.at("method").get_string() == "roots/list");
    std::string id;
    comcp::write_value(id, question.at("id"));
    CHECK(c.say(answer_text(id, R"({"roots":[{"uri":"file:///here"}]})")) == 202);
    CHECK(c.last() == text_answer("2", "file:///here"));
    s.advance(1s);
    CHECK(has(c.last(), R"("progress":2)"));
    s.advance(1s);
    CHECK(c.last() == text_answer("1", "done"));
    CHECK(c.said() == 6);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("The end of the stream is the end of its session: handlers are cancelled, its id is unknown [E-51] [101]")
{
    service_stage s(with_old());
    bool cancelled = false;
    s.server->tool("slow", "", [&](comcp::context&) -> comcp::task<std::string> {
        try {
            std::string text = co_await wait_for(1h);
            co_return text;
        } catch (...) {
            cancelled = true;
            throw;
        }
    });
    old_client c(s);
    c.shake_hands();
    SECTION("in a call")
    {
        CHECK(c.say(call_text("1", "slow")) == 202);
        c.opened->stream().leave();
        CHECK(cancelled);
    }
    SECTION("between two") { c.opened->stream().leave(); }
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->streams() == 0);
    CHECK(s.service->memory()->used() == 0);
    auto late = c.post(call_text("2", "slow"));
    CHECK(late.status() == 404);
    CHECK(late.body() == unknown);
}

TEST_CASE("Streams that are opened and left at once leave nothing behind [101]")
{
    service_stage s(with_old());
    for (int i = 0; i < 200; ++i) {
        old_client c(s);
        if (i % 3 == 0) c.opened->stream().leave();
        else if (i % 3 == 1) c.learn();
        c.opened.reset();
        s.settle();
    }
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->streams() == 0);
}

TEST_CASE("The client cancels a call with a notification: nothing more comes for it")
{
    service_stage s(with_old());
    s.server->tool("slow", "", [](comcp::context&) -> comcp::task<std::string> {
        std::string text = co_await wait_for(1h);
        co_return text;
    });
    old_client c(s);
    c.shake_hands();
    CHECK(c.say(call_text("1", "slow")) == 202);
    CHECK(s.service->memory()->used() != 0);
    CHECK(c.say(notice_text("notifications/cancelled", R"({"requestId":1})")) == 202);
    CHECK(s.service->memory()->used() == 0);
    CHECK(c.said() == 1);
    auto drained = s.start(s.service->drain(1h)); // no call is left
    CHECK(drained.done());
}

TEST_CASE("A silent stream is kept alive by comments [99] [102]")
{
    service_stage s(with_old());
    old_client c(s);
    c.learn();
    c.opened->stream().read();
    s.advance(15s);
    CHECK(c.opened->stream().text() == ": keep-alive\n\n");
    c.opened->stream().leave();
    s.advance(1h);
    CHECK(s.service->sessions() == 0);
}

TEST_CASE("Many answers at once do not cut a reader off that is at work")
{
    comcp::server_options bounds;
    bounds.limits.stream_buffer = 1000;
    service_stage s(with_old(), bounds);
    s.server->tool("big", "", [] { return std::string(600, 'x'); });
    old_client c(s);
    c.shake_hands();
    for (int i = 1; i <= 6; ++i) CHECK(c.say(call_text(std::to_string(i), "big")) == 202);
    std::size_t answers = 0;
    for (int i = 0; i < 8 && answers < 7; ++i) {
        answers = c.opened->stream().messages().size();
        s.settle();
    }
    CHECK(answers == 7); // with that of the handshake
    CHECK(s.service->sessions() == 1);
}

TEST_CASE("A reader that stands still is cut off after the time for that, and its session ends")
{
    comcp::server_options bounds;
    bounds.limits.stream_buffer = 1000;
    service_stage s(with_old(), bounds);
    s.server->tool("big", "", [] { return std::string(600, 'x'); });
    old_client c(s);
    c.learn();
    CHECK(c.say(hello_text("2024-11-05")) == 202);
    CHECK(c.say(notice_text("notifications/initialized")) == 202);
    CHECK(c.say(call_text("1", "big")) == 202);
    CHECK(c.say(call_text("2", "big")) == 202);
    CHECK(s.service->sessions() == 1);
    CHECK(c.say(call_text("3", "big")) == 202);
    s.settle();
    CHECK(s.service->sessions() == 1);
    s.advance(40s);
    CHECK(s.service->sessions() == 0);
    CHECK(c.say(call_text("4", "big")) == 404);
    CHECK(c.opened->stream().ended());
    CHECK(s.service->memory()->used() == 0);
}

// ---- refusals ------------------------------------------------------------------------------------------------------

TEST_CASE("What is not for the old endpoints is refused before its body is read [E-2] [E-53] [84]")
{
    service_stage s(with_old());
    old_client c(s);
    c.shake_hands();
    struct row
    {
        const char* method;
        std::string target;
        std::vector<std::pair<const char*, const char*>> fields;
        int status;
    };
    const std::string session = "sessionId=" + c.session();
    const std::string target = "/messages?" + session;
    const row rows[] = {
        {"POST", "/sse", {}, 405}, // and so a client of Streamable HTTP learns that it is old (E-52)
        {"DELETE", "/sse", {}, 405},
        {"GET", target, {}, 405},
        {"DELETE", target, {}, 405},
        {"POST", "/messages", {}, 400},
        {"POST", "/messages?session=x", {}, 400},
        {"POST", "/messages?" + session + "&" + session, {}, 400},
        {"POST", "/messages?sessionId=", {}, 404},
        {"POST", "/messages?sessionId=x", {}, 404},
        {"POST", "/messages?x&sessionid=" + c.session(), {}, 400},
        {"POST", "/messages/?" + session, {}, 404},
        {"POST", target, {{"Content-Type", "text/plain"}}, 415},
        {"POST", target, {{"Content-Encoding", "gzip"}}, 415},
        {"POST", target, {{"Accept", "text/html"}}, 406},
        {"GET", "/sse", {{"Accept", "application/json"}}, 406},
        {"GET", "/sse", {{"Host", "evil.example.com"}}, 403},
        {"GET", "/sse", {{"Origin", "https://evil.example.com"}}, 403},
        {"POST", target, {{"Host", "evil.example.com"}}, 403},
        {"POST", target, {{"Origin", "null"}}, 403},
        {"GET", "/sse", {{"MCP-Protocol-Version", "1999-01-01"}}, 400},
        {"POST", target, {{"MCP-Protocol-Version", "1999-01-01"}}, 400},
    };
    for (const row& each : rows) {
        INFO(each.method << ' ' << each.target);
        http::request what = caller().make(each.method);
        what.target = each.target;
        for (const auto& [name, value] : each.fields) what.fields.set(name, value);
        auto refused = s.start(s.service->refuse(what));
        REQUIRE(refused.value());
        CHECK(refused.value()->status == each.status);
        if (each.status != 405) continue;
        const bool stream = std::string_view(each.target) == "/sse";
        CHECK(refused.value()->fields.find("Allow") == (stream ? "GET, OPTIONS" : "POST, OPTIONS"));
    }
    CHECK(s.service->sessions() == 1);
    CHECK(c.said() == 1);
}

TEST_CASE("Without the option there are no old endpoints")
{
    service_stage s;
    http::request what = caller().make("GET");
    what.target = "/sse";
    CHECK(s.send(std::move(what)).status() == 404);
    what = caller().make("POST", hello_text());
    what.target = "/messages?sessionId=x";
    CHECK(s.send(std::move(what)).status() == 404);
}

TEST_CASE("Sessions of the two transports are not each other's")
{
    service_stage s(with_old());
    s.begin();
    old_client c(s);
    c.shake_hands();
    CHECK(s.service->sessions() == 2);
    const std::string own = c.target;
    c.target = "/messages?sessionId=" + s.client.session;
    auto crossed = c.post(notice_text("notifications/initialized"));
    CHECK(crossed.status() == 404);
    CHECK(crossed.body() == unknown);
    s.client.session = own.substr(own.rfind('=') + 1);
    CHECK(s.post(call_text("1", "echo")).body() == unknown);
    CHECK(s.get().body() == unknown);
    auto ended = s.end();
    CHECK(ended.status() == 404);
    CHECK(ended.body() == unknown);
    CHECK(s.service->sessions() == 2);
}

TEST_CASE("Authorization judges both old endpoints, and a session belongs to who opened it [K-9]")
{
    comcp::http_service_options options = with_old();
    options.authorize([](const http::request& head) {
        const auto who = head.fields.find("Authorization");
        if (who) return comcp::http_access::allow(std::string(*who));
        http::response refused;
        refused.status = 401;
        return comcp::http_access::refuse(std::move(refused));
    });
    service_stage s(std::move(options));
    old_client nobody(s);
    CHECK(nobody.opened->status() == 401);
    CHECK(s.service->sessions() == 0);

    old_client ada(s, "ada");
    ada.shake_hands();
    old_client eve(s, "eve");
    eve.target = ada.target;
    auto stolen = eve.post(notice_text("notifications/cancelled"));
    CHECK(stolen.status() == 404);
    CHECK(stolen.body() == unknown);
    nobody.target = ada.target;
    CHECK(nobody.say(notice_text("notifications/cancelled")) == 401);
    CHECK(ada.say(request_text("1", "ping")) == 202);
    CHECK(ada.last() == answer_text("1", "{}"));
}

TEST_CASE("What is no message is answered by its POST; what names an id is answered on the stream")
{
    service_stage s(with_old());
    old_client c(s);
    c.shake_hands();
    auto no_json = c.post("{");
    CHECK(no_json.status() == 400);
    CHECK(no_json.field("Content-Type") == "application/json");
    CHECK(no_json.code() == -32700);
    CHECK(c.post("{}").status() == 400);
    CHECK(c.post("{}").code() == -32600);
    CHECK(c.post("").code() == -32700);
    CHECK(c.post(std::string(200, '[') + std::string(200, ']')).code() == -32700);
    CHECK(c.said() == 1);

    // A malformed answer names a request of the server's.
    CHECK(c.say(R"({"jsonrpc":"2.0","id":5,"result":7})") == 202);
    CHECK(c.said() == 1);

    CHECK(c.say(R"({"jsonrpc":"1.0","id":5,"method":"ping"})") == 202);
    CHECK(parse(c.last()).at("error").at("code").as_int64() == -32600);
    CHECK(parse(c.last()).at("id").as_int64() == 5);
    CHECK(c.say(request_text("6", "no/such")) == 202);
    CHECK(parse(c.last()).at("error").at("code").as_int64() == -32601);
    CHECK(c.say("[" + request_text("7", "ping") + "," + request_text("8", "ping") + "]") == 202);
    CHECK(c.last() == "[" + answer_text("7", "{}") + "," + answer_text("8", "{}") + "]");
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("Before the handshake a request is refused on the stream, and a second initialize too")
{
    service_stage s(with_old());
    old_client c(s);
    c.learn();
    CHECK(c.say(call_text("1", "echo")) == 202);
    CHECK(parse(c.last()).at("error").at("code").as_int64() == -32600);
    CHECK(c.say(hello_text("2024-11-05")) == 202);
    CHECK(c.say(hello_text("2024-11-05")) == 202);
    CHECK(parse(c.last()).at("error").at("code").as_int64() == -32600);
    CHECK(c.said() == 3);
}

TEST_CASE("Bodies, streams and sessions of the old transport count as all others do")
{
    SECTION("a body over the limit")
    {
        comcp::server_options bounds;
        bounds.limits.message = 1000;
        service_stage s(with_old(), bounds);
        old_client c(s);
        c.shake_hands();
        CHECK(c.say(std::string(1001, ' ')) == 413);
    }
    SECTION("streams")
    {
        comcp::http_service_options options = with_old();
        options.limits.streams = 2;
        service_stage s(std::move(options));
        old_client first(s), second(s), third(s);
        CHECK(second.opened->status() == 200);
        CHECK(third.opened->status() == 503);
        CHECK(third.opened->field("Retry-After") == "1");
        CHECK(s.service->sessions() == 2);
    }
    SECTION("sessions: one with a stream does not give way, an idle one does")
    {
        comcp::http_service_options options = with_old();
        options.limits.sessions = 2;
        service_stage s(std::move(options));
        s.begin(); // idle
        old_client first(s), second(s), third(s);
        CHECK(second.opened->status() == 200);
        CHECK(s.service->sessions() == 2);
        CHECK(third.opened->status() == 503);
        CHECK(s.post(call_text("1", "echo")).status() == 404);
        CHECK(s.service->streams() == 2);
    }
    SECTION("a host that cannot stream")
    {
        service_stage s(with_old());
        http::request what = caller().make("GET");
        what.target = "/sse";
        what.whole_answer = true;
        CHECK(s.send(std::move(what)).status() == 501);
        CHECK(s.service->sessions() == 0);
    }
}

TEST_CASE("An open stream keeps its session from idling")
{
    service_stage s(with_old());
    old_client c(s);
    c.shake_hands();
    s.advance(10h);
    CHECK(s.service->sessions() == 1);
    CHECK(c.say(request_text("1", "ping")) == 202);
    CHECK(c.last() == answer_text("1", "{}"));
}

// ---- the end -------------------------------------------------------------------------------------------------------

TEST_CASE("A service that drains lets calls of the old transport end, then ends their streams")
{
    service_stage s(with_old());
    s.server->tool("slow", "", [](comcp::context&) -> comcp::task<std::string> {
        std::string text = co_await wait_for(3s);
        co_return text;
    });
    old_client c(s);
    c.shake_hands();
    CHECK(c.say(call_text("1", "slow")) == 202);
    auto draining = s.start(s.service->drain(5s));
    CHECK_FALSE(draining.done());
    CHECK(s.send(c.get()).status() == 503);
    CHECK(c.say(request_text("2", "ping")) == 503);
    s.advance(3s);
    CHECK(c.last() == text_answer("1", "done"));
    CHECK(draining.done());
    CHECK(c.opened->stream().ended());
    CHECK(s.service->streams() == 0);
}

TEST_CASE("Service, server and context may die with old streams open")
{
    auto s = std::make_unique<service_stage>(with_old());
    s->server->tool("slow", "", [](comcp::context&) -> comcp::task<std::string> {
        std::string text = co_await wait_for(1h);
        co_return text;
    });
    auto c = std::make_unique<old_client>(*s);
    c->shake_hands();
    CHECK(c->say(call_text("1", "slow")) == 202);
    c->opened->stream().read();
    SECTION("the service first")
    {
        s->service.reset();
        s->settle();
        CHECK(c->opened->stream().ended());
        CHECK(c->opened->stream().messages().size() == 1);
        c.reset();
    }
    SECTION("the server first")
    {
        s->server.reset();
        s->settle();
        c.reset();
    }
    SECTION("the stream last, as a host may keep it")
    {
        auto kept = std::move(c->opened->response().stream);
        c.reset();
        s->service.reset();
        s.reset();
    }
    s.reset();
}

TEST_CASE("Paths of the old transport must be paths, and different ones")
{
    comcp::asio::io_context io(1);
    comcp::server served(comcp::identity("served", "1"));
    using paths = std::vector<std::string>;
    const paths bad[] = {{"sse", "/messages"},      {"/sse", "messages"},
                         {"/sse", "/sse"},          {"/mcp", "/messages"},
                         {"/sse", "/mcp"},          {"/sse?x", "/messages"},
                         {"/sse", "/messages?x=1"}, {"/s e", "/messages"},
                         {"", "/messages"},         {"/sse", ""},
                         {"/sse", "/m", "/a b"},    {"/sse", "/m", "/a#b"}};
    for (const paths& each : bad) {
        INFO(each[0] << ' ' << each[1]);
        comcp::http_service_options options;
        options.old_sse(each[0], each[1], each.size() > 2 ? each[2] : "");
        try {
            comcp::http_service service(io.get_executor(), served, std::move(options));
            FAIL("taken");
        } catch (const comcp::error& e) {
            CHECK(e.code() == errc::invalid_argument);
        }
    }
}
