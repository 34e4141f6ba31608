// SPDX-License-Identifier: MIT
// What goes wrong between a client and an HTTP server: statuses, redirects, content that is no answer, sizes, lost
// connections. One call suffers, once, with an error that says whether it may have run.
#include "http_script.hpp"

using namespace script;

namespace
{

const std::string nothing = R"({"content":[]})";

/// A client past its handshake, and one call that was asked.
struct asking : http_stage
{
    asking()
    {
        connect();
        call.emplace(start(client().call("greet")));
        asked.emplace(web.expect("tools/call"));
    }

    const comcp::fault& failure() { return call->failure(); }
    /// The next call works: the damage stayed at one.
    void check_next()
    {
        auto next = start(client().call("again"));
        web.expect("tools/call").reply(nothing);
        CHECK(next.succeeded());
        CHECK(web.quiet());
    }

    std::optional<running<comcp::answer>> call;
    std::optional<web_request> asked;
};

} // namespace

TEST_CASE("A status that is no success ends one call with a typed error (HTTP 87)", "[http_client]")
{
    asking s;
    struct row
    {
        int status;
        const char* fields;
        errc code;
        outcome fate;
    };
    const row rows[] = {
        {400, "", errc::bad_response, outcome::not_sent},
        {401, "WWW-Authenticate: Bearer realm=\"x\"\r\nWWW-Authenticate: Basic\r\n", errc::unauthorized,
         outcome::not_sent},
        {403, "", errc::forbidden, outcome::not_sent},
        {403, "WWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n", errc::forbidden, outcome::not_sent},
        {405, "", errc::bad_response, outcome::not_sent},
        {429, "Retry-After: 7\r\n", errc::busy, outcome::not_sent},
        {500, "", errc::bad_response, outcome::unknown},
        {502, "", errc::bad_response, outcome::unknown},
        {503, "", errc::bad_response, outcome::unknown},
        {503, "Retry-After: 30\r\n", errc::busy, outcome::not_sent},
    };
    for (const row& each : rows) {
        INFO(each.status << ' ' << each.fields);
        s.asked->answer(each.status, "text/plain", "because\r\n\tof this", each.fields);
        CHECK(s.failure().code == each.code);
        CHECK(s.failure().fate == each.fate);
        CHECK(has(s.failure().text, std::to_string(each.status)));
        CHECK(has(s.failure().text, "because   of this"));
        REQUIRE(s.failure().http);
        CHECK(s.failure().http->status == each.status);
        if (each.status == 401) CHECK(s.failure().http->challenge == "Bearer realm=\"x\", Basic");
        else
            CHECK(s.failure().http->challenge ==
                  (has(each.fields, "WWW") ? R"(Bearer error="insufficient_scope")" : ""));
        if (each.status == 429) CHECK(s.failure().http->retry_after == std::chrono::seconds(7));
        s.call.emplace(s.start(s.client().call("greet")));
        s.asked.emplace(s.web.expect("tools/call"));
    }
    s.asked->reply(nothing);
    CHECK(s.call->succeeded());
}

TEST_CASE("Without a session 404 means that nothing is there", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").answer(404, "text/html", "<p>not here</p>");
    s.web.expect("GET").answer(404, "", ""); // nor is it an old server (E-52)
    CHECK(connecting.failed_with(errc::bad_response));
    CHECK(connecting.failure().fate == outcome::not_sent);
    CHECK(connecting.failure().http->status == 404);
    CHECK(s.web.quiet()); // and is final (SSE 83)
}

TEST_CASE("A JSON-RPC answer beats the status that it came with", "[http_client]")
{
    asking s;
    SECTION("an error")
    {
        s.asked->answer(400, "application/json",
                        R"({"jsonrpc":"2.0","id":)" + s.asked->id() + R"(,"error":{"code":-32602,"message":"bad"}})");
        CHECK(s.failure().code == errc::refused);
        CHECK(s.failure().rpc->code == -32602);
    }
    SECTION("a result")
    {
        s.asked->answer(500, "application/json", s.asked->result_text(nothing));
        CHECK(s.call->succeeded());
    }
    SECTION("but not one of another request")
    {
        s.asked->answer(500, "application/json", R"({"jsonrpc":"2.0","id":999,"result":{}})");
        CHECK(s.failure().code == errc::bad_response);
    }
    SECTION("nor one that tells of the session")
    {
        s.asked->answer(404, "application/json",
                        R"({"jsonrpc":"2.0","id":)" + s.asked->id() + R"(,"error":{"code":-32001,"message":"gone"}})");
        s.welcome_client("new");
        s.web.expect("tools/call").reply(nothing);
        CHECK(s.call->succeeded());
    }
    s.check_next();
}

TEST_CASE("An error without an id belongs to the call of its exchange", "[http_client]")
{
    asking s;
    auto other = s.start(s.client().call("other"));
    auto other_asked = s.web.expect("tools/call");
    s.asked->answer(200, "application/json", R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}})");
    CHECK(s.failure().rpc->code == -32700);
    other_asked.reply(nothing);
    CHECK(other.succeeded());
}

TEST_CASE("Content that is no answer is an error, and the call may have run", "[http_client]")
{
    asking s;
    SECTION("HTML") { s.asked->answer(200, "text/html", "<p>"); }
    SECTION("no type") { s.asked->answer(200, "", "x"); }
    SECTION("202") { s.asked->accepted(); }
    SECTION("204") { s.asked->raw("HTTP/1.1 204 No Content\r\n\r\n"); }
    SECTION("nothing") { s.asked->answer(200, "application/json", ""); }
    SECTION("blank") { s.asked->answer(200, "application/json", " \r\n"); }
    SECTION("encoded") { s.asked->answer(200, "application/json", "zzz", "Content-Encoding: gzip\r\n"); }
    SECTION("an encoded stream") { s.asked->stream("Content-Encoding: br\r\n").end_stream(); }
    SECTION("no HTTP") { s.asked->raw("SSH-2.0-x\r\n"); }
    SECTION("an unknown coding")
    {
        s.asked->raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: gzip\r\n\r\n");
    }
    CHECK(s.failure().code == errc::bad_response);
    CHECK(s.failure().fate == outcome::unknown);
    s.check_next();
}

TEST_CASE("A malformed answer fails its call and frees its connection", "[http_client]")
{
    asking s;
    SECTION("as JSON") { s.asked->answer(200, "application/json", "{]"); }
    SECTION("with the wrong content")
    {
        s.asked->answer(200, "application/json", R"({"jsonrpc":"2.0","id":)" + s.asked->id() + R"(,"result":7})");
    }
    SECTION("in a stream that stays open")
    {
        s.asked->stream().event(R"({"jsonrpc":"2.0","id":)" + s.asked->id() + R"(,"result":7})");
        CHECK(s.call->done());
        CHECK_FALSE(s.asked->cut());
        s.advance(5s);
        CHECK(s.asked->cut());
    }
    CHECK(s.call->done());
    CHECK(s.failure().fate == outcome::unknown);
    s.check_next();
}

TEST_CASE("Redirects with 307 and 308 are followed on the same origin, at most 3 times (HTTP 91)", "[http_client]")
{
    asking s;
    SECTION("once, and the URL is remembered")
    {
        s.asked->answer(308, "", "", "Location: /v2/mcp?x=1\r\n");
        auto again = s.web.expect("tools/call");
        CHECK(again.head.method == "POST");
        CHECK(again.head.target == "/v2/mcp?x=1");
        CHECK(again.field("Mcp-Session-Id") == "s-1");
        again.reply(nothing);
        CHECK(s.call->succeeded());
        auto next = s.start(s.client().call("again"));
        auto asked = s.web.expect("tools/call");
        CHECK(asked.head.target == "/v2/mcp?x=1");
    }
    SECTION("three times and no more")
    {
        s.asked->answer(307, "", "", "Location: a\r\n");
        for (int i = 0; i < 3; ++i)
            s.web.expect("tools/call").answer(307, "", "", "Location: http://server.test/b\r\n");
        CHECK(s.failure().code == errc::bad_response);
        CHECK(s.failure().fate == outcome::not_sent);
        CHECK(s.web.quiet());
    }
}

TEST_CASE("What 308 says is remembered, what 307 says is not (RFC 9110, 15.4.8 and 15.4.9)", "[http_client]")
{
    asking s;
    const auto next = [&s](std::string_view target, int status, std::string_view location) {
        auto asked = s.web.expect("tools/call");
        CHECK(asked.head.target == target);
        if (status == 200) asked.reply(nothing);
        else asked.answer(status, "", "", "Location: " + std::string(location) + "\r\n");
    };
    const auto call = [&s] { s.call.emplace(s.start(s.client().call("again"))); };
    SECTION("307")
    {
        s.asked->answer(307, "", "", "Location: /busy/1\r\n");
        next("/busy/1", 200, "");
        CHECK(s.call->succeeded());
        call();
        next("/mcp", 200, "");
    }
    SECTION("308 behind 307: what was asked before moved for a while only")
    {
        s.asked->answer(307, "", "", "Location: /busy/1\r\n");
        next("/busy/1", 308, "/busy/2");
        next("/busy/2", 200, "");
        CHECK(s.call->succeeded());
        call();
        next("/mcp", 200, "");
    }
    SECTION("307 behind 308")
    {
        s.asked->answer(308, "", "", "Location: /v2\r\n");
        next("/v2", 307, "/busy");
        next("/busy", 200, "");
        CHECK(s.call->succeeded());
        call();
        next("/v2", 200, "");
    }
    CHECK(s.call->succeeded());
    CHECK(s.web.quiet());
    CHECK(s.web.connections() == 1);
}

TEST_CASE("The stream of the session may have moved", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome(), "Mcp-Session-Id: s-1\r\n");
    s.web.expect("notifications/initialized").accepted();
    auto listening = s.web.expect("GET");
    const auto follow = [&](int status, std::string_view to, std::string_view location) {
        listening.answer(status, "", "", "Location: " + std::string(location) + "\r\n");
        listening = s.web.expect("GET");
        CHECK(listening.head.target == to);
        CHECK(listening.field("Mcp-Session-Id") == "s-1");
        CHECK(listening.field("Accept") == "text/event-stream");
    };
    SECTION("for once: it is looked for at the endpoint again")
    {
        follow(307, "/elsewhere/stream", "elsewhere/stream");
        listening.stream().piece("id: 7\ndata: \n\n").end_stream();
        s.advance(1s);
        listening = s.web.expect("GET");
        CHECK(listening.head.target == "/mcp");
        CHECK(listening.field("Last-Event-ID") == "7");
    }
    SECTION("for good, which is not where requests go")
    {
        follow(308, "/stream", "/stream");
        listening.stream().piece("id: 7\ndata: \n\n").end_stream();
        s.advance(1s);
        listening = s.web.expect("GET");
        CHECK(listening.head.target == "/stream");
        CHECK(listening.field("Last-Event-ID") == "7");
    }
    SECTION("three times in a row, and no more")
    {
        for (const char* to : {"/1", "/2", "/3"}) follow(307, to, to);
        listening.answer(307, "", "", "Location: /4\r\n");
    }
    SECTION("three times each time")
    {
        for (int i = 0; i < 3; ++i) {
            for (const char* to : {"/1", "/2", "/3"}) follow(307, to, to);
            listening.stream().piece("id: 7\ndata: \n\n").end_stream();
            s.advance(1s);
            listening = s.web.expect("GET");
        }
    }
    SECTION("to another origin, where nobody goes")
    {
        listening.answer(308, "", "", "Location: http://other.test/mcp\r\n");
    }
    SECTION("nowhere") { listening.answer(307, "", ""); }
    CHECK(s.web.quiet());
    CHECK(s.web.open_connections() <= 2);
    for (const auto& each : s.web.door->made()) CHECK(each->to == "http://server.test");
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    CHECK(asked.head.target == "/mcp");
    asked.reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("A stream that is resumed may have moved, and its call goes on", "[http_client]")
{
    asking s;
    s.asked->stream().piece("id: 1\ndata: \n\n").end_stream();
    s.advance(1s);
    auto again = s.web.expect("GET");
    const int status = GENERATE(307, 308);
    SECTION("on its origin")
    {
        again.answer(status, "", "", "Location: /streams/1\r\n");
        again = s.web.expect("GET");
        CHECK(again.head.target == "/streams/1");
        CHECK(again.field("Last-Event-ID") == "1");
        CHECK(again.field("Mcp-Session-Id") == "s-1");
        again.stream().piece("id: 2\ndata: \n\n").end_stream();
        s.advance(1s);
        again = s.web.expect("GET");
        CHECK(again.head.target == (status == 308 ? "/streams/1" : "/mcp"));
        CHECK(again.field("Last-Event-ID") == "2");
        again.stream().event(s.asked->result_text(text_result("late")));
        CHECK(to_text(s.call->value()) == "late");
    }
    SECTION("too often")
    {
        for (int i = 0; i < 3; ++i) {
            again.answer(status, "", "", "Location: /streams/1\r\n");
            again = s.web.expect("GET");
        }
        again.answer(status, "", "", "Location: /streams/1\r\n");
        CHECK(s.failure().code == errc::bad_response);
        CHECK(s.failure().fate == outcome::unknown); // the POST has arrived
        CHECK(has(s.failure().text, "after 3 other redirects"));
    }
    SECTION("to another origin")
    {
        again.answer(status, "", "", "Location: http://other.test/mcp\r\n");
        CHECK(s.failure().code == errc::bad_response);
        CHECK(s.failure().fate == outcome::unknown);
        CHECK(has(s.failure().text, "http://other.test/mcp, which is another origin"));
    }
    CHECK(s.web.connections() == 1);
    s.check_next();
}

TEST_CASE("The end of a session is said where the server wants to hear it, on its origin", "[http_client]")
{
    http_stage s;
    s.connect();
    auto closing = s.start(s.client().close());
    auto ending = s.web.expect("DELETE");
    const int status = GENERATE(307, 308);
    SECTION("once")
    {
        ending.answer(status, "", "", "Location: /sessions\r\n");
        ending = s.web.expect("DELETE");
        CHECK(ending.head.target == "/sessions");
        CHECK(ending.field("Mcp-Session-Id") == "s-1");
        CHECK_FALSE(closing.done());
        ending.raw("HTTP/1.1 204 No Content\r\n\r\n");
    }
    SECTION("not for ever")
    {
        for (int i = 0; i < 3; ++i) {
            ending.answer(status, "", "", "Location: /sessions\r\n");
            ending = s.web.expect("DELETE");
        }
        ending.answer(status, "", "", "Location: /sessions\r\n");
    }
    SECTION("nowhere else") { ending.answer(status, "", "", "Location: http://other.test/mcp\r\n"); }
    CHECK(closing.done());
    CHECK(s.web.quiet());
    CHECK(s.web.connections() == 1);
}

TEST_CASE("A request of a session is never sent to another origin, whatever is allowed", "[http_client]")
{
    http_stage s;
    s.make(s.server().header("Authorization", "Bearer secret").follow_other_origins());
    s.connect();
    const int before = s.web.door->attempts;
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(GENERATE(307, 308), "", "", "Location: https://other.test/mcp\r\n");
    CHECK(call.failed_with(errc::bad_response));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(has(call.failure().text, "it moved to https://other.test/mcp, which is another origin"));
    CHECK(s.web.door->attempts == before);
    auto next = s.start(s.client().call("again"));
    auto asked = s.web.expect("tools/call");
    CHECK(asked.head.host.text() == "server.test");
    CHECK(asked.field("Authorization") == "Bearer secret");
    asked.reply(nothing);
    CHECK(next.succeeded());
    CHECK(s.web.quiet());
}

TEST_CASE("What another origin answers belongs there: a session that begins there stays there", "[http_client]")
{
    http_stage s;
    s.make(s.server().follow_other_origins());
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").answer(GENERATE(307, 308), "", "", "Location: https://other.test/m\r\n");
    s.welcome_client("of-other");
    connecting.value();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    CHECK(asked.connection()->to == "https://other.test");
    CHECK(asked.head.target == "/m");
    CHECK(asked.field("Mcp-Session-Id") == "of-other");
    asked.reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("Other redirects are errors that name the new URL", "[http_client]")
{
    asking s;
    SECTION("301") { s.asked->answer(301, "", "", "Location: https://server.test/mcp\r\n"); }
    SECTION("302") { s.asked->answer(302, "", "", "Location: https://server.test/mcp\r\n"); }
    SECTION("303") { s.asked->answer(303, "", "", "Location: https://server.test/mcp\r\n"); }
    SECTION("another origin") { s.asked->answer(307, "", "", "Location: https://server.test/mcp\r\n"); }
    CHECK(s.failure().code == errc::bad_response);
    CHECK(has(s.failure().text, "https://server.test/mcp"));
    CHECK(s.failure().http->status >= 301);
    s.check_next();
    CHECK(s.web.door->made().front()->to == "http://server.test");
    CHECK(s.web.connections() == 1);
}

TEST_CASE("A redirect to another origin is followed when that is allowed, without the host's fields", "[http_client]")
{
    http_stage s;
    s.make(s.server().header("Authorization", "Bearer secret").follow_other_origins());
    auto connecting = s.start(s.client().connect());
    auto hello = s.web.expect("initialize");
    CHECK(hello.field("Authorization") == "Bearer secret");
    hello.answer(307, "", "", "Location: https://other.test:8443/m\r\n");
    auto again = s.web.expect("initialize");
    CHECK(again.field("Authorization") == "-");
    CHECK(again.head.host.text() == "other.test:8443");
    CHECK(again.connection()->to == "https://other.test:8443");
    again.answer(307, "", "", "Location: http://other.test/m\r\n"); // never back to plain text
    CHECK(connecting.failed_with(errc::bad_response));
}

TEST_CASE("A server's fields and URL are checked when it is described [90]", "[http_client]")
{
    http_stage s;
    CHECK_THROWS_AS(comcp::streamable_http("ftp://x/"), comcp::error);
    CHECK_THROWS_AS(comcp::streamable_http("server.test/mcp"), comcp::error);
    CHECK_THROWS_AS(s.server().header("Accept", "text/html"), comcp::error);
    CHECK_THROWS_AS(s.server().header("mcp-session-id", "x"), comcp::error);
    CHECK_THROWS_AS(s.server().header("Host", "x"), comcp::error);
    CHECK_THROWS_AS(s.server().header("X", "a\r\nY: b"), comcp::error);
    CHECK_THROWS_AS(s.server().connect_within(0s), comcp::error);
    CHECK_NOTHROW(s.server().header("X-Key", "1"));
    try {
        s.server().header("X-Key", "secret\n");
        FAIL("accepted");
    } catch (const comcp::error& e) {
        CHECK_FALSE(has(e.what(), "secret"));
    }
}

TEST_CASE("Fields of the host are sent beside ours, which both forms of an answer stay in [90]", "[http_client]")
{
    http_stage s;
    s.make(s.server().header("x-k", "1").header("Authorization", "Bearer t"));
    auto connecting = s.start(s.client().connect());
    auto hello = s.web.expect("initialize");
    CHECK(hello.field("x-k") == "1");
    CHECK(hello.field("Authorization") == "Bearer t");
    CHECK(hello.head.fields.count("Accept") == 1);
    CHECK(hello.field("Accept") == "application/json, text/event-stream");
    CHECK(hello.field("Content-Type") == "application/json");
}

TEST_CASE("https without TLS is an error that says what is needed", "[http_client]")
{
    http_stage s;
    SECTION("of the connector that was given") { s.web.door->tls_missing = true; }
    SECTION("of plain TCP") { s.make(comcp::streamable_http("https://server.test/mcp")); }
    auto connecting = s.start(s.client().connect());
    CHECK(connecting.failed_with(errc::unsupported));
    CHECK(has(connecting.failure().text, "needs a connector of the host that speaks TLS"));
}

TEST_CASE("A session id that is not visible ASCII is refused", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome(), "Mcp-Session-Id: a b\r\n");
    CHECK(connecting.failed_with(errc::bad_response));
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

TEST_CASE("An answer over the limit fails its call only, however it comes", "[http_client]")
{
    comcp::client_options options;
    options.limits.message = 1000;
    http_stage s;
    s.make(s.server(), options);
    s.connect();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    const std::string big = asked.result_text(text_result(std::string(2000, 'x')));
    SECTION("as JSON of known length")
    {
        asked.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{");
    }
    SECTION("as JSON in chunks")
    {
        asked.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (std::size_t at = 0; at < big.size(); at += 300) asked.piece(big.substr(at, 300));
    }
    SECTION("as an event")
    {
        asked.stream();
        for (const char c : "data: " + big + "\n\n") asked.piece(std::string(1, c));
        asked.end_stream();
    }
    CHECK(call.failed_with(errc::too_large));
    CHECK(call.failure().fate == outcome::unknown);
    auto next = s.start(s.client().call("again"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(next.succeeded());
}

TEST_CASE("Heads, refusals and drained bodies are bounded", "[http_client]")
{
    asking s;
    SECTION("a head without end")
    {
        s.asked->raw("HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 101 && !s.call->done(); ++i) s.asked->raw("X: " + std::string(1000, 'x') + "\r\n");
        CHECK(s.failure().code == errc::too_large);
    }
    SECTION("a refusal without end")
    {
        s.asked->raw("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 100 && !s.call->done(); ++i) s.asked->piece(std::string(1000, 'x'));
        CHECK(s.failure().code == errc::bad_response);
    }
    SECTION("provisional responses without end")
    {
        for (int i = 0; i < 20; ++i) s.asked->raw("HTTP/1.1 102 Processing\r\n\r\n");
        CHECK(s.failure().code == errc::bad_response);
    }
    CHECK(s.asked->cut());
    s.check_next();
}

TEST_CASE("A large request is written as fast as the server takes it, and may be refused half-way", "[http_client]")
{
    http_stage s;
    s.web.door->room = 1000;
    s.connect();
    const std::string big(100000, 'x');
    auto call = s.start(s.client().call("greet", comcp::args("text", big)));
    SECTION("taken")
    {
        for (int i = 0; i < 300 && s.web.waiting() == 0; ++i) s.settle();
        auto asked = s.web.expect("tools/call");
        CHECK(has(asked.body, big));
        asked.reply(nothing);
        CHECK(call.succeeded());
    }
    SECTION("refused")
    {
        auto& connection = *s.web.door->made().front();
        connection.peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        s.settle();
        CHECK(call.failed_with(errc::bad_response));
        CHECK(call.failure().fate == outcome::not_sent);
        CHECK(connection.peer.ended()); // what is half written cannot be used again
    }
}

// ---- connections ---------------------------------------------------------------------------------------------------

TEST_CASE("Without a connection a call was not sent (STREAM 104)", "[http_client]")
{
    http_stage s;
    s.web.door->refuse = true;
    auto connecting = s.start(s.client().connect());
    CHECK(connecting.failed_with(errc::peer_gone));
    CHECK(connecting.failure().fate == outcome::not_sent);
    s.web.door->refuse = false;
    s.connect();
    CHECK(s.client().connected());
}

TEST_CASE("Connecting has its own limit", "[http_client]")
{
    http_stage s;
    s.make(s.server().connect_within(2s));
    s.web.door->delay = 1h;
    auto connecting = s.start(s.client().connect());
    CHECK(s.web.door->last_limit == 2s);
    s.advance(2s);
    CHECK(connecting.failed_with(errc::timed_out));
    CHECK(connecting.failure().fate == outcome::not_sent);
}

TEST_CASE("A connection that was closed while idle is not used again (STREAM 100)", "[http_client]")
{
    http_stage s;
    s.connect();
    auto& first = *s.web.door->made().front();
    SECTION("noticed at once")
    {
        first.peer.end();
        s.settle();
        CHECK(s.web.open_connections() == 0);
    }
    SECTION("noticed when it is to be used") { first.peer.end(); }
    SECTION("because something unasked came") { first.peer.send("HTTP/1.1 408 Request Timeout\r\n\r\n"); }
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    CHECK(asked.connection() != &first);
    asked.reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("Nothing is sent twice when a connection breaks under a call (SESSION 110)", "[http_client]")
{
    asking s;
    SECTION("before the response") { s.asked->end(); }
    SECTION("by a reset") { s.asked->reset(); }
    SECTION("within the head") { s.asked->raw("HTTP/1.1 200").reset(); }
    SECTION("within the body")
    {
        s.asked->raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{").end();
    }
    CHECK(s.failure().code == errc::peer_gone);
    CHECK(s.failure().fate == outcome::unknown);
    s.advance(1h);
    CHECK(s.web.quiet());
    s.check_next();
}

// ---- time ----------------------------------------------------------------------------------------------------------

TEST_CASE("Each phase can be limited", "[http_client]")
{
    http_stage s;
    s.make(s.server().answer_within(3s).silence_within(4s, 5s));
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto asked = s.web.expect("tools/call");
    SECTION("the head")
    {
        s.advance(2999ms);
        CHECK_FALSE(call.done());
        s.advance(1ms);
        CHECK(call.failed_with(errc::timed_out));
    }
    SECTION("the first event")
    {
        asked.stream();
        s.advance(3999ms);
        CHECK_FALSE(call.done());
        s.advance(1ms);
        CHECK(call.failed_with(errc::peer_gone));
    }
    SECTION("silence")
    {
        asked.stream();
        for (int i = 0; i < 5; ++i) {
            s.advance(3s);
            asked.piece(": still here\n\n");
        }
        s.advance(4999ms);
        CHECK_FALSE(call.done());
        s.advance(1ms);
        CHECK(call.failed_with(errc::peer_gone));
    }
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(asked.cut());
}

TEST_CASE("A call's own time counts above all", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow", {}, comcp::call_options().timeout(10s)));
    auto asked = s.web.expect("tools/call");
    SECTION("without a head") {}
    SECTION("in a stream") { asked.stream().progress(asked.id(), 1); }
    SECTION("between two streams") { asked.stream().piece("id: 1\nretry: 60000\ndata:\n\n").end_stream(); }
    s.advance(10s);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(call.failure().fate == outcome::unknown);
    auto notice = s.web.expect("notifications/cancelled");
    CHECK(has(notice.body, R"("requestId":)" + asked.id()));
    notice.accepted();
    s.advance(2min);
    CHECK(s.web.quiet());
}

TEST_CASE("A refusal whose body never ends is a refusal all the same", "[http_client]")
{
    asking s;
    struct row
    {
        int status;
        const char* fields;
        errc code;
        outcome fate;
    };
    const auto& [status, fields, code, fate] = GENERATE(values<row>({
        {401, "WWW-Authenticate: Bearer\r\nContent-Type: application/json\r\n", errc::unauthorized, outcome::not_sent},
        {403, "Content-Type: text/plain\r\n", errc::forbidden, outcome::not_sent},
        {429, "Retry-After: 7\r\n", errc::busy, outcome::not_sent},
        {500, "Content-Type: application/json\r\n", errc::bad_response, outcome::unknown},
    }));
    CAPTURE(status);
    s.asked->raw("HTTP/1.1 " + std::to_string(status) + " X\r\n" + fields);
    SECTION("which is never begun") { s.asked->raw("Content-Length: 100\r\n\r\n"); }
    SECTION("which stops")
    {
        s.asked->raw("Content-Length: 100\r\n\r\nbecause");
        s.advance(1999ms);
        CHECK_FALSE(s.call->done());
        s.advance(1ms);
        CHECK(has(s.failure().text, "because"));
    }
    SECTION("which goes on")
    {
        s.asked->raw("Transfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 4; ++i) s.asked->after(500ms).piece("because ");
    }
    s.advance(2s);
    REQUIRE(s.call->failed_with(code));
    CHECK(s.failure().fate == fate);
    CHECK(s.failure().http->status == status);
    CHECK(s.failure().http->challenge == (status == 401 ? "Bearer" : ""));
    CHECK(s.failure().http->retry_after.has_value() == (status == 429));
    CHECK(s.asked->cut());
    s.check_next();
}

TEST_CASE("A lost session and a redirect need no body that ends", "[http_client]")
{
    asking s;
    SECTION("404")
    {
        s.asked->raw("HTTP/1.1 404 X\r\nContent-Length: 100\r\n\r\n");
        s.advance(2s);
        s.welcome_client("new");
    }
    SECTION("307")
    {
        s.asked->raw("HTTP/1.1 307 X\r\nLocation: /there\r\nContent-Length: 100\r\n\r\n");
        s.advance(2s);
    }
    CHECK(s.asked->cut());
    s.web.expect("tools/call").reply(nothing);
    CHECK(s.call->succeeded());
    s.check_next();
}
