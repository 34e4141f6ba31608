// SPDX-License-Identifier: MIT
// A client over the old HTTP+SSE transport (2024-11-05) against a server that the test plays byte by byte: how it finds
// out that there is nothing newer, what it makes of the endpoint, and one stream that carries everything.
#include "http_script.hpp"

using namespace script;

namespace
{

const std::string nothing = R"({"content":[]})";

std::string endpoint_event(std::string_view told = "/messages?s=1")
{
    return "event: endpoint\ndata: " + std::string(told) + "\n\n";
}

/// A client that was told to speak nothing else, and its stream.
struct old_stage : http_stage
{
    explicit old_stage(comcp::client_options options = {})
    {
        listens = false;
        where = comcp::http_sse("http://server.test/sse");
        where->connector(std::make_unique<door_of>(web.door));
        options_ = std::move(options);
    }

    /// Up to the stream that is asked for.
    running<void> ask()
    {
        make(*where, options_);
        auto connecting = start(client().connect());
        stream.emplace(web.expect("GET"));
        return connecting;
    }
    void greet(std::string_view version = "2024-11-05")
    {
        auto hello = web.expect("initialize");
        hello.accepted();
        stream->event(hello.result_text(welcome(version)));
        web.expect("notifications/initialized").accepted();
    }
    void connect_old(std::string_view version = "2024-11-05")
    {
        auto connecting = ask();
        stream->stream().piece(endpoint_event());
        greet(version);
        connecting.value();
    }
    /// A call that was posted and accepted.
    web_request call_accepted(running<comcp::answer>& call)
    {
        auto asked = web.expect("tools/call");
        asked.accepted();
        CHECK_FALSE(call.done());
        return asked;
    }
    /// The next call works: the damage stayed at one.
    void check_next()
    {
        auto next = start(client().call("again"));
        auto asked = call_accepted(next);
        stream->event(asked.result_text(nothing));
        CHECK(next.succeeded());
    }

    std::optional<comcp::streamable_http> where;
    std::optional<web_request> stream;

private:
    comcp::client_options options_;
};

} // namespace

// ---- falling back --------------------------------------------------------------------------------------------------

TEST_CASE("A server that knows no POST at its URL is asked for the old stream (E-52)", "[http_sse]")
{
    const int status = GENERATE(400, 404, 405);
    http_stage s;
    auto connecting = s.start(s.client().connect());
    auto first = s.web.expect("initialize");
    const std::string said = first.body;
    // Whoever takes no POST is no Streamable HTTP server, however he says so: only an answer to the request is one.
    const std::string id = GENERATE("html", "", R"("id":null,)", R"("id":"server-error",)");
    if (id == "html") first.answer(status, "text/html", "<p>no</p>");
    else
        first.answer(status, "application/json",
                     R"({"jsonrpc":"2.0",)" + id + R"("error":{"code":-32000,"message":"no"}})");
    auto stream = s.web.expect("GET");
    CHECK(stream.head.target == "/mcp");
    CHECK(stream.field("Accept") == "text/event-stream");
    CHECK(stream.field("Mcp-Session-Id") == "-");
    CHECK(stream.field("MCP-Protocol-Version") == "-");
    stream.stream().piece(endpoint_event());
    auto hello = s.web.expect("initialize");
    CHECK(hello.head.method == "POST");
    CHECK(hello.head.target == "/messages?s=1");
    CHECK(hello.field("Content-Type") == "application/json");
    CHECK(hello.body == said);
    hello.accepted();
    stream.event(hello.result_text(welcome("2024-11-05")));
    auto ready = s.web.expect("notifications/initialized");
    CHECK(ready.head.target == "/messages?s=1");
    ready.accepted();
    connecting.value();
    CHECK(to_string(s.client().server().version) == "2024-11-05");
    CHECK(s.web.quiet()); // no other stream
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    asked.accepted();
    stream.event(asked.result_text(text_result("hello")));
    CHECK(to_text(call.value()) == "hello");
}

TEST_CASE("Any other answer to the first POST is final (E-52)", "[http_sse]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    auto first = s.web.expect("initialize");
    errc code = errc::bad_response;
    SECTION("401")
    {
        first.answer(401, "", "");
        code = errc::unauthorized;
    }
    SECTION("403")
    {
        first.answer(403, "", "");
        code = errc::forbidden;
    }
    SECTION("406") { first.answer(406, "", ""); }
    SECTION("410") { first.answer(410, "", ""); }
    SECTION("415") { first.answer(415, "", ""); }
    SECTION("422") { first.answer(422, "", ""); }
    SECTION("429")
    {
        first.answer(429, "", "");
        code = errc::busy;
    }
    SECTION("500") { first.answer(500, "", ""); }
    SECTION("501") { first.answer(501, "", ""); }
    SECTION("503") { first.answer(503, "", ""); }
    SECTION("301") { first.answer(301, "", "", "Location: /sse\r\n"); }
    SECTION("200 with HTML") { first.answer(200, "text/html", "<p>"); }
    SECTION("a connection that breaks")
    {
        first.reset();
        code = errc::peer_gone;
    }
    SECTION("a JSON-RPC error of this request")
    {
        first.answer(GENERATE(400, 404, 405), "application/json",
                     R"({"jsonrpc":"2.0","id":)" + first.id() + R"(,"error":{"code":-32602,"message":"bad"}})");
        code = errc::refused;
    }
    CHECK(connecting.failed_with(code));
    CHECK(s.web.quiet());
}

TEST_CASE("Falling back can be switched off", "[http_sse]")
{
    http_stage s;
    s.make(s.server().sse_fallback(false));
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").answer(405, "", "");
    CHECK(connecting.failed_with(errc::bad_response));
    CHECK(s.web.quiet());
}

TEST_CASE("A session that was refused later is no old server", "[http_sse]")
{
    http_stage s;
    s.connect("");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(405, "", "");
    CHECK(call.failed_with(errc::bad_response));
    CHECK(s.web.quiet());
}

TEST_CASE("Where there is no old stream either, the error is that of the POST and tells of both", "[http_sse]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").answer(404, "text/plain", "no such page");
    auto stream = s.web.expect("GET");
    std::string also;
    SECTION("404")
    {
        stream.answer(404, "", "");
        also = "the server answered 404";
    }
    SECTION("405")
    {
        stream.answer(405, "", "");
        also = "the server answered 405";
    }
    SECTION("500")
    {
        stream.answer(500, "", "");
        also = "the server answered 500";
    }
    SECTION("a page")
    {
        stream.answer(200, "text/html", "<p>");
        also = "no stream of events";
    }
    SECTION("nothing at all")
    {
        stream.answer(204, "", "");
        also = "no stream of events";
    }
    SECTION("a connection that ends")
    {
        stream.end();
        also = "nor is the old HTTP+SSE there: ";
    }
    REQUIRE(connecting.failed_with(errc::bad_response));
    CHECK(connecting.failure().fate == outcome::not_sent);
    CHECK(connecting.failure().http->status == 404);
    CHECK(has(connecting.failure().text, "no such page; nor is the old HTTP+SSE there: "));
    CHECK(has(connecting.failure().text, also));
    CHECK(s.web.quiet()); // and is final (SSE 83)
}

TEST_CASE("An error of a new server in the body of its refusal is still told when there is no old stream (E-52)",
          "[http_sse]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize")
        .answer(400, "application/json", R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no way"}})");
    s.web.expect("GET").answer(405, "", "");
    REQUIRE(connecting.failed_with(errc::bad_response));
    REQUIRE(connecting.failure().rpc);
    CHECK(connecting.failure().rpc->code == -32000);
    CHECK(has(connecting.failure().text, "nor is the old HTTP+SSE there"));
    CHECK(s.web.quiet());
}

TEST_CASE("An old server that wants credentials, or names a bad endpoint, says so itself", "[http_sse]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").answer(404, "", "");
    auto stream = s.web.expect("GET");
    SECTION("401")
    {
        stream.answer(401, "", "", "WWW-Authenticate: Bearer\r\n");
        CHECK(connecting.failed_with(errc::unauthorized));
        CHECK(connecting.failure().http->challenge == "Bearer");
    }
    SECTION("403")
    {
        stream.answer(403, "", "");
        CHECK(connecting.failed_with(errc::forbidden));
    }
    SECTION("another origin")
    {
        stream.stream().piece(endpoint_event("https://evil.test/m"));
        CHECK(connecting.failed_with(errc::bad_response));
        CHECK(has(connecting.failure().text, "another origin, https://evil.test instead of http://server.test"));
        CHECK(stream.cut());
    }
    CHECK(connecting.failure().fate == outcome::not_sent);
    CHECK(s.web.quiet());
}

TEST_CASE("The endpoint must come within the time to connect", "[http_sse]")
{
    SECTION("after a fallback")
    {
        http_stage s;
        s.make(s.server().connect_within(5s));
        auto connecting = s.start(s.client().connect());
        s.web.expect("initialize").answer(404, "", "");
        auto stream = s.web.expect("GET");
        stream.stream().piece(": hello\n\n");
        s.advance(4s);
        stream.piece(": hello\n\n");
        CHECK_FALSE(connecting.done());
        s.advance(1s);
        CHECK(connecting.failed_with(errc::bad_response));
        CHECK(has(connecting.failure().text, "no endpoint event within the time to connect"));
        CHECK(stream.cut());
    }
    SECTION("straight")
    {
        old_stage s;
        s.where->connect_within(5s);
        auto connecting = s.ask();
        s.advance(5s);
        CHECK(connecting.failed_with(errc::timed_out));
        CHECK(connecting.failure().fate == outcome::not_sent);
        CHECK(s.stream->cut());
    }
}

TEST_CASE("Whoever gives up while the old stream is looked for leaves nothing behind", "[http_sse]")
{
    http_stage s;
    std::optional<running<void>> connecting;
    connecting.emplace(s.start(s.client().connect()));
    s.web.expect("initialize").answer(404, "", "");
    auto stream = s.web.expect("GET");
    SECTION("cancelled")
    {
        connecting->cancel();
        s.settle();
        CHECK(connecting->failed_with(errc::cancelled));
    }
    SECTION("out of time")
    {
        s.advance(1h);
        CHECK(connecting->done());
    }
    SECTION("closed")
    {
        auto closing = s.start(s.client().close());
        CHECK(closing.done());
        CHECK(connecting->done());
    }
    SECTION("destroyed")
    {
        s.destroy_client();
        s.settle();
        CHECK(connecting->done());
    }
    CHECK(stream.cut());
    CHECK(s.web.open_connections() == 0);
}

namespace
{

/// A client that found out once that its server speaks only HTTP+SSE, and closed that session.
struct remembering_stage : http_stage
{
    remembering_stage()
    {
        listens = false;
        connecting.emplace(start(client().connect()));
        web.expect("initialize").answer(405, "", "");
        stream.emplace(web.expect("GET"));
        greet();
        close();
    }

    /// The old server's part.
    void greet()
    {
        stream->stream().piece(endpoint_event());
        auto hello = web.expect("initialize");
        CHECK(hello.head.target == "/messages?s=1");
        hello.accepted();
        stream->event(hello.result_text(welcome("2024-11-05")));
        web.expect("notifications/initialized").accepted();
        connecting->value();
    }
    void close()
    {
        auto closing = start(client().close());
        CHECK(closing.done());
        CHECK(web.quiet());
    }
    /// The first thing that is asked by the next connect: "GET", or "initialize".
    std::string asks_again()
    {
        connecting.emplace(start(client().connect()));
        stream.emplace(web.next());
        CHECK(web.quiet());
        return stream->method();
    }

    std::optional<running<void>> connecting;
    std::optional<web_request> stream;
};

} // namespace

TEST_CASE("What a fallback found is remembered: whoever connects again asks for the old stream at once (E-54)",
          "[http_sse]")
{
    remembering_stage s;
    SECTION("after it was closed")
    {
        for (int i = 0; i < 3; ++i) {
            REQUIRE(s.asks_again() == "GET");
            CHECK(s.stream->head.target == "/mcp");
            s.greet();
            s.close();
        }
    }
    SECTION("when the session is lost")
    {
        REQUIRE(s.asks_again() == "GET");
        s.greet();
        auto call = s.start(s.client().call("greet"));
        s.web.expect("tools/call").answer(404, "", "");
        s.stream.emplace(s.web.next());
        REQUIRE(s.stream->method() == "GET");
        s.greet();
        auto asked = s.web.expect("tools/call");
        asked.accepted();
        s.stream->event(asked.result_text(nothing));
        CHECK(call.succeeded());
    }
    SECTION("up to an hour, so that a server which has both is found")
    {
        s.advance(1h - 1ms);
        REQUIRE(s.asks_again() == "GET");
        s.greet(); // which is not another hour
        s.close();
        s.advance(1ms);
        REQUIRE(s.asks_again() == "initialize");
        s.stream->answer(405, "", "");
        s.stream.emplace(s.web.expect("GET"));
        s.greet();
        s.close();
        CHECK(s.asks_again() == "GET");
    }
    SECTION("but each description knows for itself")
    {
        s.make(s.server());
        CHECK(s.asks_again() == "initialize");
    }
}

TEST_CASE("A server that was replaced by a newer one is found again, also by the client that remembers (E-54)",
          "[http_sse]")
{
    remembering_stage s;
    REQUIRE(s.asks_again() == "GET");
    SECTION("which says so itself: in the same attempt")
    {
        const int how = GENERATE(400, 404, 405, 406, 200, 204);
        CAPTURE(how);
        s.stream->answer(how, how == 200 ? "text/html" : "", "");
        auto hello = s.web.expect("initialize");
        CHECK(hello.head.target == "/mcp");
        hello.reply(welcome("2025-11-25"), "Mcp-Session-Id: s-1\r\n");
        s.web.expect("notifications/initialized").accepted();
        s.connecting->value();
        s.web.expect("GET").answer(405, "", "");
        auto closing = s.start(s.client().close());
        s.web.expect("DELETE").answer(200, "", "");
        CHECK(closing.succeeded());
        CHECK(s.asks_again() == "initialize");
    }
    SECTION("which opens another stream: in the next one")
    {
        s.stream->stream().piece(": hello\n\n");
        s.advance(20s);
        CHECK(s.connecting->failed_with(errc::timed_out));
        CHECK(s.asks_again() == "initialize");
    }
    SECTION("and one that knows neither says so once")
    {
        s.stream->answer(404, "", "");
        s.web.expect("initialize").answer(404, "", "");
        s.web.expect("GET").answer(404, "", "");
        CHECK(s.connecting->failed_with(errc::bad_response));
        CHECK(s.web.quiet());
        CHECK(s.asks_again() == "initialize");
    }
}

TEST_CASE("A server that is away or wants credentials is no newer one", "[http_sse]")
{
    remembering_stage s;
    REQUIRE(s.asks_again() == "GET");
    SECTION("401")
    {
        s.stream->answer(401, "", "", "WWW-Authenticate: Bearer\r\n");
        CHECK(s.connecting->failed_with(errc::unauthorized));
        CHECK(s.connecting->failure().http->challenge == "Bearer");
    }
    SECTION("403")
    {
        s.stream->answer(403, "", "");
        CHECK(s.connecting->failed_with(errc::forbidden));
    }
    SECTION("503")
    {
        s.stream->answer(503, "", "", "Retry-After: 1\r\n");
        CHECK(s.connecting->failed_with(errc::busy));
    }
    SECTION("a connection that breaks")
    {
        s.stream->reset();
        CHECK(s.connecting->failed_with(errc::peer_gone));
    }
    CHECK(s.connecting->failure().fate == outcome::not_sent);
    REQUIRE(s.asks_again() == "GET");
    s.greet();
}

TEST_CASE("Over the old transport too, a refusal whose body never ends is a refusal", "[http_sse]")
{
    const std::string_view head = "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer\r\nContent-Type: text/plain\r\n"
                                  "Content-Length: 100\r\n\r\nlog in";
    SECTION("of the stream")
    {
        old_stage s;
        auto connecting = s.ask();
        s.stream->raw(head);
        s.advance(1999ms);
        CHECK_FALSE(connecting.done());
        s.advance(1ms);
        REQUIRE(connecting.failed_with(errc::unauthorized));
        CHECK(connecting.failure().http->challenge == "Bearer");
        CHECK(has(connecting.failure().text, "log in"));
        CHECK(s.stream->cut());
    }
    SECTION("of a redirected stream")
    {
        old_stage s;
        auto connecting = s.ask();
        s.stream->raw("HTTP/1.1 307 X\r\nLocation: /other\r\nContent-Length: 100\r\n\r\nthere");
        s.advance(2s);
        CHECK(s.stream->cut());
        s.stream.emplace(s.web.expect("GET"));
        CHECK(s.stream->head.target == "/other");
        s.stream->stream().piece(endpoint_event());
        s.greet();
        connecting.value();
    }
    SECTION("of a message")
    {
        old_stage s;
        s.connect_old();
        auto call = s.start(s.client().call("greet"));
        auto asked = s.web.expect("tools/call");
        asked.raw(head);
        s.advance(2s);
        REQUIRE(call.failed_with(errc::unauthorized));
        CHECK(call.failure().fate == outcome::not_sent);
        CHECK(call.failure().http->challenge == "Bearer");
        CHECK(has(call.failure().text, "log in"));
        CHECK(asked.cut());
        s.check_next();
    }
}

// ---- the endpoint --------------------------------------------------------------------------------------------------

TEST_CASE("A server that is known to be old is asked for its stream at once", "[http_sse]")
{
    old_stage s;
    auto connecting = s.ask();
    CHECK(s.stream->head.target == "/sse");
    CHECK(s.stream->field("Accept") == "text/event-stream");
    s.stream->stream().piece(endpoint_event());
    auto hello = s.web.expect("initialize");
    CHECK(hello.head.target == "/messages?s=1");
    CHECK(hello.head.host.host == "server.test");
    hello.accepted();
    s.stream->event(hello.result_text(welcome("2024-11-05")));
    auto ready = s.web.expect("notifications/initialized");
    auto call = s.start(s.client().call("greet"));
    CHECK(s.web.quiet()); // nothing overtakes it
    ready.accepted();
    connecting.value();
    auto asked = s.call_accepted(call);
    s.stream->event(asked.result_text(nothing));
    CHECK(call.succeeded());
    CHECK(s.web.connections() == 2);
}

TEST_CASE("The endpoint comes in every form and in every piece (HTTP 95, SSE 82)", "[http_sse]")
{
    struct row
    {
        std::string bytes;
        const char* target;
    };
    const row rows[] = {
        {endpoint_event(), "/messages?s=1"},
        {endpoint_event("messages?s=1"), "/messages?s=1"},
        {endpoint_event("http://server.test/m?s=1"), "/m?s=1"},
        {endpoint_event("http://SERVER.test:80/m"), "/m"},
        {"data: /message?s=1\r\nevent: endpoint\r\n\r\n", "/message?s=1"},
        {"event:endpoint\rdata:/m\r\r", "/m"},
        {": hello\n\nid: 7\ndata:\n\nevent: ping\ndata: {}\n\nevent: endpoint\ndata: /m\n\n", "/m"},
    };
    for (const row& each : rows) {
        INFO(each.bytes);
        old_stage s;
        auto connecting = s.ask();
        s.stream->stream();
        for (const char c : each.bytes) s.stream->piece(std::string_view(&c, 1));
        CHECK(s.web.expect("initialize").head.target == each.target);
    }
}

TEST_CASE("What is no endpoint ends the attempt with a typed error (E-50, E-51)", "[http_sse]")
{
    old_stage s;
    auto connecting = s.ask();
    s.stream->stream();
    struct row
    {
        std::string bytes;
        const char* text;
    };
    const row all[] = {
        {endpoint_event("http://evil.test/m"), "another origin, http://evil.test instead of http://server.test"},
        {endpoint_event("https://server.test/m"), "another origin"},
        {endpoint_event("http://server.test:81/m"), "another origin"},
        {endpoint_event("//evil.test/m"), "another origin"},
        {endpoint_event("http://user:secret@server.test/m"), "an endpoint that is none"},
        {endpoint_event("ftp://server.test/m"), "an endpoint that is none"},
        {endpoint_event("/a b"), "an endpoint that is none"},
        {endpoint_event("/" + std::string(9000, 'x')), "an endpoint that is none"},
        {endpoint_event(""), "an empty endpoint"},
        {"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", "begins with a message"},
        {"data: /messages\n\n", "begins with a message"},
    };
    const row& each = all[GENERATE(range(0, 11))];
    INFO(each.bytes.substr(0, 100));
    s.stream->piece(each.bytes);
    REQUIRE(connecting.failed_with(errc::bad_response));
    CHECK(connecting.failure().fate == outcome::not_sent);
    CHECK(has(connecting.failure().text, each.text));
    CHECK_FALSE(has(connecting.failure().text, "secret"));
    CHECK(s.stream->cut());
    CHECK(s.web.quiet());
}

TEST_CASE("A refused stream is an error with its status", "[http_sse]")
{
    old_stage s;
    auto connecting = s.ask();
    errc code = errc::bad_response;
    SECTION("401")
    {
        s.stream->answer(401, "", "");
        code = errc::unauthorized;
    }
    SECTION("403")
    {
        s.stream->answer(403, "", "");
        code = errc::forbidden;
    }
    SECTION("404") { s.stream->answer(404, "", ""); }
    SECTION("429")
    {
        s.stream->answer(429, "", "", "Retry-After: 3\r\n");
        code = errc::busy;
    }
    SECTION("a coding that nobody asked for")
    {
        s.stream->raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n");
        s.stream->end();
    }
    SECTION("no HTTP")
    {
        s.stream->raw("SSH-2.0-x\r\n\r\n");
        CHECK(connecting.failure().fate == outcome::not_sent);
        CHECK(connecting.failed_with(errc::bad_response));
        return;
    }
    CHECK(connecting.failed_with(code));
    CHECK(connecting.failure().fate == outcome::not_sent);
    CHECK(connecting.failure().http);
    CHECK(s.web.quiet());
}

TEST_CASE("A prefix that a proxy takes off is put back (HTTP 95)", "[http_sse]")
{
    old_stage s;
    s.where->endpoint_prefix("/api/v1");
    auto connecting = s.ask();
    s.stream->stream().piece(endpoint_event());
    CHECK(s.web.expect("initialize").head.target == "/api/v1/messages?s=1");
    for (const char* bad : {"", "api", "/", "/api/", "//evil.test", "/a?b", "/a b"}) {
        INFO(bad);
        try {
            s.where->endpoint_prefix(bad);
            FAIL("taken");
        } catch (const comcp::error& e) {
            CHECK(e.code() == errc::invalid_argument);
        }
    }
}

TEST_CASE("The stream may have moved: 307 and 308, at most three times, fields stay at their origin", "[http_sse]")
{
    old_stage s;
    s.where->header("Authorization", "Bearer secret");
    SECTION("at the same origin")
    {
        auto connecting = s.ask();
        for (int i = 0; i < 3; ++i) {
            CHECK(s.stream->field("Authorization") == "Bearer secret");
            s.stream->answer(i == 1 ? 308 : 307, "", "", "Location: /moved" + std::to_string(i) + "/sse\r\n");
            s.stream.emplace(s.web.expect("GET"));
            CHECK(s.stream->head.target == "/moved" + std::to_string(i) + "/sse");
        }
        SECTION("and no further")
        {
            s.stream->answer(307, "", "", "Location: /x\r\n");
            CHECK(connecting.failed_with(errc::bad_response));
            CHECK(has(connecting.failure().text, "after 3 other redirects"));
        }
        SECTION("and what it names is relative to where it is now")
        {
            s.stream->stream().piece(endpoint_event("m"));
            auto hello = s.web.expect("initialize");
            CHECK(hello.head.target == "/moved2/m");
            CHECK(hello.field("Authorization") == "Bearer secret");
        }
    }
    SECTION("301 is not followed")
    {
        auto connecting = s.ask();
        s.stream->answer(301, "", "", "Location: /x\r\n");
        CHECK(connecting.failed_with(errc::bad_response));
        CHECK(has(connecting.failure().text, "it moved to http://server.test/x"));
    }
    SECTION("another origin is not followed")
    {
        auto connecting = s.ask();
        s.stream->answer(307, "", "", "Location: http://other.test/sse\r\n");
        CHECK(connecting.failed_with(errc::bad_response));
        CHECK(has(connecting.failure().text, "which is another origin"));
    }
    SECTION("unless that is wanted, and then without the fields")
    {
        s.where->follow_other_origins();
        auto connecting = s.ask();
        s.stream->answer(307, "", "", "Location: http://other.test/sse\r\n");
        s.stream.emplace(s.web.expect("GET"));
        CHECK(s.stream->field("Authorization") == "-");
        CHECK(s.stream->head.host.host == "other.test");
        s.stream->stream().piece(endpoint_event("http://other.test/m"));
        auto hello = s.web.expect("initialize");
        CHECK(hello.head.host.host == "other.test");
        CHECK(hello.field("Authorization") == "-");
    }
    CHECK(s.web.quiet());
}

// ---- messages ------------------------------------------------------------------------------------------------------

TEST_CASE("Fields of the host go with the stream and with every message; the revision only where there is such a field",
          "[http_sse]")
{
    const std::string version = GENERATE("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25");
    old_stage s;
    s.where->header("Authorization", "Bearer secret");
    auto connecting = s.ask();
    CHECK(s.stream->field("Authorization") == "Bearer secret");
    s.stream->stream().piece(endpoint_event());
    auto hello = s.web.expect("initialize");
    CHECK(hello.field("Authorization") == "Bearer secret");
    CHECK(hello.field("MCP-Protocol-Version") == "-");
    hello.accepted();
    s.stream->event(hello.result_text(welcome(version)));
    auto ready = s.web.expect("notifications/initialized");
    CHECK(ready.field("Authorization") == "Bearer secret");
    CHECK(ready.field("MCP-Protocol-Version") == (version >= "2025-06-18" ? version : "-")); // E-42
    CHECK(ready.field("Mcp-Session-Id") == "-");
}

TEST_CASE("A message is accepted with any success, whatever comes with it (E-50, HTTP 85)", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    SECTION("202") { asked.accepted(); }
    SECTION("200 and a word") { asked.answer(200, "text/plain", "Accepted"); }
    SECTION("204") { asked.raw("HTTP/1.1 204 No Content\r\n\r\n"); }
    SECTION("something that looks like an answer") { asked.reply(R"({"content":[],"isError":true})"); }
    SECTION("a stream, which is not waited for")
    {
        asked.stream();
        CHECK(asked.cut());
    }
    SECTION("a body without an end")
    {
        asked.raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nAcc");
        s.advance(5s);
        CHECK(asked.cut());
    }
    CHECK_FALSE(call.done());
    s.stream->event(asked.result_text(text_result("hello")));
    CHECK(to_text(call.value()) == "hello");
    CHECK_FALSE(call.value().is_error);
    s.check_next();
}

TEST_CASE("An answer may overtake the response to its POST", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    s.stream->event(asked.result_text(nothing));
    CHECK(call.succeeded());
    SECTION("which comes")
    {
        asked.accepted();
        CHECK_FALSE(asked.cut());
    }
    SECTION("which is a refusal that nobody hears") { asked.answer(500, "", ""); }
    SECTION("which never comes")
    {
        s.advance(5s);
        CHECK(asked.cut());
    }
    s.check_next();
    CHECK(s.client().statistics().bad_messages == 0);
}

TEST_CASE("Progress and questions of the server come on the stream, answers are posted", "[http_sse]")
{
    comcp::client_options options;
    options.roots({comcp::root("file:///here")});
    old_stage s(options);
    s.connect_old();
    std::vector<double> heard;
    comcp::call_options with;
    with.on_progress([&](const comcp::progress& p) { heard.push_back(p.value); });
    auto call = s.start(s.client().call("greet", {}, with));
    auto asked = s.call_accepted(call);
    const auto token = asked.message().at("params").at("_meta").at("progressToken");
    std::string token_text;
    comcp::write_value(token_text, token);
    s.stream->progress(token_text, 1);
    s.stream->piece(
        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"r1\",\r\ndata: \"method\":\"roots/list\"}\r\n\r\n");
    auto roots = s.web.expect("answer");
    CHECK(roots.head.target == "/messages?s=1");
    CHECK(has(roots.body, R"("id":"r1")"));
    CHECK(has(roots.body, "file:///here"));
    roots.accepted();
    s.stream->piece(": comment\n\nevent: other\ndata: {\n\nid: 9\ndata:\n\n"); // nothing of this is a message
    s.stream->progress(token_text, 2);
    s.stream->event(asked.result_text(nothing));
    CHECK(call.succeeded());
    CHECK(heard == std::vector<double>{1, 2});
    CHECK(s.client().statistics().bad_messages == 0);
}

TEST_CASE("An answer over the limit fails its call alone", "[http_sse]")
{
    comcp::client_options options;
    options.limits.message = 2000;
    old_stage s(options);
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto other = s.start(s.client().call("other"));
    auto asked = s.call_accepted(call);
    auto other_asked = s.call_accepted(other);
    s.stream->event(asked.result_text(text_result(std::string(3000, 'x'))));
    CHECK(call.failed_with(errc::too_large));
    s.stream->event("{ this is no JSON");
    s.stream->event(other_asked.result_text(nothing));
    CHECK(other.succeeded());
    CHECK(s.client().statistics().bad_messages == 1);
    s.check_next();
}

TEST_CASE("A POST that is refused fails its call alone (HTTP 87)", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    struct row
    {
        int status;
        const char* fields;
        errc code;
        outcome fate;
    };
    const row rows[] = {
        {400, "", errc::bad_response, outcome::not_sent},
        {401, "WWW-Authenticate: Bearer\r\n", errc::unauthorized, outcome::not_sent},
        {403, "", errc::forbidden, outcome::not_sent},
        {405, "", errc::bad_response, outcome::not_sent},
        {413, "", errc::bad_response, outcome::not_sent},
        {429, "Retry-After: 7\r\n", errc::busy, outcome::not_sent},
        {500, "", errc::bad_response, outcome::unknown},
        {503, "", errc::bad_response, outcome::unknown},
        {503, "Retry-After: 7\r\n", errc::busy, outcome::not_sent},
        {302, "Location: /x\r\n", errc::bad_response, outcome::not_sent},
        {307, "Location: http://evil.test/x\r\n", errc::bad_response, outcome::not_sent},
    };
    for (const row& each : rows) {
        INFO(each.status);
        auto call = s.start(s.client().call("greet"));
        s.web.expect("tools/call").answer(each.status, "text/plain", "because", each.fields);
        CHECK(call.failed_with(each.code));
        CHECK(call.failure().fate == each.fate);
        CHECK(call.failure().http->status == each.status);
        CHECK(has(call.failure().text, "because"));
    }
    s.check_next();
    CHECK(s.web.open_connections() == 2);
}

TEST_CASE("An endpoint that moved is followed at its origin", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(307, "", "", "Location: /messages/?s=1\r\n");
    auto asked = s.web.expect("tools/call");
    CHECK(asked.head.target == "/messages/?s=1");
    asked.accepted();
    s.stream->event(asked.result_text(nothing));
    CHECK(call.succeeded());
}

TEST_CASE("A POST whose connection breaks fails its call alone, and nothing is sent twice (SESSION 110)", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    asked.reset();
    CHECK(call.failed_with(errc::peer_gone));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(s.web.quiet());
    s.check_next();
}

TEST_CASE("404 to a POST: the session is gone, a new one is made, and the call is sent again (SESSION 105)",
          "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "text/plain", "no such session");
    auto before = *s.stream;
    s.stream.emplace(s.web.expect("GET"));
    s.stream->stream().piece(endpoint_event("/messages?s=2"));
    auto hello = s.web.expect("initialize");
    CHECK(hello.head.target == "/messages?s=2");
    hello.accepted();
    s.stream->event(hello.result_text(welcome("2024-11-05")));
    s.web.expect("notifications/initialized").accepted();
    auto asked = s.web.expect("tools/call");
    asked.accepted();
    s.stream->event(asked.result_text(nothing));
    CHECK(call.succeeded());
    CHECK(before.cut());
    s.check_next();
}

// ---- the end -------------------------------------------------------------------------------------------------------

TEST_CASE("The end of the stream is the end of the session: nothing is resumed (E-51, STREAM 96)", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    s.call_accepted(call);
    s.stream->piece("id: 5\ndata:\n\n"); // an id makes no difference here
    errc code = errc::peer_gone;
    SECTION("in order") { s.stream->end_stream(); }
    SECTION("cut off") { s.stream->end(); }
    SECTION("reset") { s.stream->reset(); }
    SECTION("another endpoint")
    {
        s.stream->piece(endpoint_event());
        code = errc::bad_response;
    }
    CHECK(call.failed_with(code));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK_FALSE(s.client().connected());
    auto next = s.start(s.client().call("greet"));
    CHECK(next.failed_with(code));
    CHECK(next.failure().fate == outcome::not_sent);
    CHECK(s.web.quiet());
    CHECK(s.web.open_connections() == 0);
    auto closing = s.start(s.client().close());
    CHECK(closing.done());
}

TEST_CASE("What came before the end of the stream is heard", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.call_accepted(call);
    std::string bytes;
    std::string event;
    http::write_sse_event(event, asked.result_text(nothing));
    http::append_chunk(bytes, event);
    s.stream->raw(bytes + std::string(http::last_chunk));
    CHECK(call.succeeded());
    CHECK_FALSE(s.client().connected());
}

TEST_CASE("A stream that is silent for longer than it may be has ended", "[http_sse]")
{
    old_stage s;
    s.where->silence_within(30s, 30s);
    s.connect_old();
    s.advance(20s);
    s.stream->piece(": alive\n\n");
    s.advance(20s);
    CHECK(s.client().connected());
    s.advance(10s);
    CHECK_FALSE(s.client().connected());
    CHECK(s.stream->cut());
}

TEST_CASE("A call that is given up is cancelled with a POST", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet", {}, comcp::call_options().timeout(3s)));
    auto asked = s.web.expect("tools/call");
    const bool accepted = GENERATE(false, true);
    if (accepted) asked.accepted();
    SECTION("cancelled")
    {
        call.cancel();
        s.settle();
        CHECK(call.failed_with(errc::cancelled));
    }
    SECTION("out of time")
    {
        s.advance(3s);
        CHECK(call.failed_with(errc::timed_out));
    }
    CHECK(call.failure().fate == outcome::unknown);
    auto told = s.web.expect("notifications/cancelled");
    CHECK(has(told.body, R"("requestId":)" + asked.id()));
    told.accepted();
    s.stream->event(asked.result_text(nothing)); // late
    CHECK(s.client().statistics().late_answers == 1);
    if (!accepted) {
        s.advance(5s);
        CHECK(asked.cut());
    }
    s.check_next();
}

TEST_CASE("A notification that nobody accepts is dropped after its time", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    s.call_accepted(call);
    call.cancel();
    s.settle();
    auto told = s.web.expect("notifications/cancelled");
    s.advance(60s);
    CHECK(told.cut());
    CHECK(s.client().statistics().bad_messages == 1);
    s.check_next();
}

TEST_CASE("A server that asks without accepting answers is not heard until it does", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    std::string burst;
    for (int i = 0; i < 500; ++i)
        http::write_sse_event(burst, R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"ping"})");
    for (std::size_t at = 0; at < burst.size(); at += 1000) s.stream->piece(std::string_view(burst).substr(at, 1000));
    const std::size_t first = s.web.waiting();
    CHECK(first >= 64);
    CHECK(first < 200);
    for (int i = 0; i < 500; ++i) s.web.expect("answer").accepted();
    CHECK(s.web.quiet());
    s.check_next();
}

TEST_CASE("At most so many requests have a connection; further ones wait", "[http_sse]")
{
    old_stage s;
    s.where->connections(2);
    s.connect_old();
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 4; ++i) calls.push_back(s.start(s.client().call("greet")));
    auto first = s.web.expect("tools/call");
    auto second = s.web.expect("tools/call");
    CHECK(s.web.quiet());
    calls[3].cancel(); // waits, and is not sent
    s.settle();
    s.web.expect("notifications/cancelled").accepted();
    first.accepted();
    auto third = s.web.expect("tools/call");
    third.accepted();
    second.accepted();
    CHECK(s.web.quiet());
    for (const auto* each : {&first, &second, &third}) s.stream->event(each->result_text(nothing));
    for (int i = 0; i < 3; ++i) CHECK(calls[static_cast<std::size_t>(i)].succeeded());
}

TEST_CASE("Closing ends the stream, and the client waits for nobody", "[http_sse]")
{
    old_stage s;
    s.connect_old();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    auto closing = s.start(s.client().close());
    CHECK(closing.done());
    CHECK(call.failed_with(errc::closed));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(s.stream->cut());
    CHECK(s.web.open_connections() == 0);
    CHECK(s.web.quiet()); // there is no DELETE
}

TEST_CASE("An old client may die at any step, before or with its context", "[http_sse]")
{
    auto s = std::make_unique<old_stage>();
    std::optional<running<void>> connecting;
    std::optional<running<comcp::answer>> call;
    connecting.emplace(s->ask());
    const int step = GENERATE(range(0, 5));
    if (step > 0) s->stream->stream();
    if (step > 1) s->stream->piece(endpoint_event());
    if (step > 2) s->greet();
    if (step > 3) call.emplace(s->start(s->client().call("greet")));
    const bool client_first = GENERATE(false, true);
    if (client_first) {
        s->destroy_client();
        s->settle();
        CHECK(connecting->done());
        CHECK(s->web.open_connections() == 0);
    }
    connecting.reset();
    call.reset();
    s.reset();
}
