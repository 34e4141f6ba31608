// SPDX-License-Identifier: MIT
// A client over Streamable HTTP against a server that the test plays byte by byte: answers as JSON and as streams,
// sessions, streams that break and are resumed, statuses, time limits, reuse of connections, and every kind of end.
#include "http_script.hpp"
#include "random_sources.hpp"

using namespace script;

namespace
{

const std::string nothing = R"({"content":[]})";

/// The server, with random numbers of the test's.
struct seeded
{
    comcp::streamable_http where;
    comcp::detail::random_source random;

    friend std::unique_ptr<comcp::transport> make_transport(const seeded& of, comcp::transport_settings with)
    {
        with.random = of.random;
        return make_transport(of.where, with);
    }
};

using exponential_stage = basic_http_stage<comcp::default_policy>;

} // namespace

// ---- handshake and fields ------------------------------------------------------------------------------------------

TEST_CASE("A client shakes hands over HTTP and repeats session and version in every request", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    auto hello = s.web.expect("initialize");
    CHECK(hello.head.method == "POST");
    CHECK(hello.head.target == "/mcp");
    CHECK(hello.head.host.host == "server.test");
    CHECK(hello.field("Accept") == "application/json, text/event-stream");
    CHECK(hello.field("Content-Type") == "application/json");
    CHECK(hello.field("Accept-Encoding") == "identity");
    CHECK(hello.field("Mcp-Session-Id") == "-");
    CHECK(hello.field("MCP-Protocol-Version") == "-");
    hello.reply(welcome("2025-06-18"), "Mcp-Session-Id: abc\r\n");
    auto ready = s.web.expect("notifications/initialized");
    CHECK(ready.field("Mcp-Session-Id") == "abc");
    CHECK(ready.field("MCP-Protocol-Version") == "2025-06-18");
    ready.accepted();
    connecting.value();
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    CHECK(asked.field("mcp-session-id") == "abc");
    CHECK(asked.field("MCP-Protocol-Version") == "2025-06-18");
    asked.reply(text_result("hello"));
    CHECK(to_text(call.value()) == "hello");
    CHECK(s.web.connections() == 2); // one listens
}

TEST_CASE("Nothing overtakes the notification that ends the handshake", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome());
    auto ready = s.web.expect("notifications/initialized");
    auto call = s.start(s.client().call("greet"));
    CHECK(s.web.quiet());
    ready.accepted();
    s.web.expect("tools/call").reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("Answers come as JSON in one piece, in many, and in chunks", "[http_client]")
{
    http_stage s;
    s.connect();
    const std::string text(70000, 'x');
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    const std::string body = asked.result_text(text_result(text));
    std::size_t cut = 0;
    SECTION("in one") { asked.answer(200, "application/json; charset=utf-8", body); }
    SECTION("in pieces")
    {
        const std::string whole =
            "HTTP/1.1 200 OK\r\nContent-Type: Application/JSON\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body;
        for (; cut < 400; cut += 7) asked.raw(whole.substr(cut, 7));
        for (; cut < whole.size(); cut += 3000) asked.raw(whole.substr(cut, 3000));
    }
    SECTION("in chunks")
    {
        asked.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
        asked.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (; cut < body.size(); cut += 10000) asked.piece(body.substr(cut, 10000));
        asked.end_stream();
    }
    SECTION("until the end of the connection")
    {
        asked.raw("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body);
        CHECK_FALSE(call.done());
        asked.end();
    }
    CHECK(call.value().content.size() == 1);
    CHECK(s.client().statistics().bad_messages == 0);
}

TEST_CASE("A notification is accepted with any success, whatever comes with it (HTTP 85, 86)", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome());
    auto ready = s.web.expect("notifications/initialized");
    SECTION("a few words") { ready.answer(200, "text/plain", "Accepted"); }
    SECTION("null") { ready.answer(200, "application/json", "null"); }
    SECTION("nothing") { ready.answer(200, "", ""); }
    SECTION("204") { ready.raw("HTTP/1.1 204 No Content\r\n\r\n"); }
    SECTION("a stream") { ready.stream(); }
    SECTION("a refusal, which is counted") { ready.answer(400, "text/plain", "no"); }
    connecting.value();
    s.web.expect("GET").answer(405, "", "");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("One connection serves one call after another", "[http_client]")
{
    http_stage s;
    s.connect();
    for (int i = 0; i < 10; ++i) {
        auto call = s.start(s.client().call("greet"));
        s.web.expect("tools/call").reply(nothing);
        CHECK(call.succeeded());
    }
    CHECK(s.web.connections() == 1);
}

TEST_CASE("Many calls at once have a connection each, up to the limit, and are answered in any order", "[http_client]")
{
    http_stage s;
    s.make(s.server().connections(16));
    s.connect();
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 64; ++i) calls.push_back(s.start(s.client().call("t" + std::to_string(i))));
    CHECK(s.web.waiting() == 16);
    int seen = 0;
    while (s.web.waiting() != 0) {
        auto asked = s.web.next();
        const std::string tool(asked.message().at("params").at("name").as_string());
        asked.reply(text_result(tool));
        ++seen;
    }
    CHECK(seen == 64);
    for (int i = 0; i < 64; ++i) CHECK(to_text(calls[static_cast<std::size_t>(i)].value()) == "t" + std::to_string(i));
    CHECK(s.web.connections() <= 16);
    s.advance(31s); // idle ones are closed
    CHECK(s.web.open_connections() == 0);
}

TEST_CASE("Of the connections that are idle eight are kept, each for 30 s [100]", "[http_client]")
{
    http_stage s;
    s.listens = false;
    s.make(s.server().listen(false));
    s.connect();
    std::vector<running<comcp::answer>> calls;
    std::vector<web_request> asked;
    for (int i = 0; i < 9; ++i) calls.push_back(s.start(s.client().call("greet")));
    for (int i = 0; i < 9; ++i) asked.push_back(s.web.expect("tools/call"));
    CHECK(s.web.open_connections() == 9);
    for (std::size_t i = 0; i < 8; ++i) asked[i].reply(nothing);
    CHECK(s.web.open_connections() == 9);
    s.advance(10s);
    asked[8].reply(nothing);
    for (auto& each : calls) CHECK(each.succeeded());
    CHECK(s.web.open_connections() == 8);
    CHECK(asked[0].cut()); // the one that was idle for longest
    s.advance(19999ms);
    CHECK(s.web.open_connections() == 8);
    s.advance(1ms);
    CHECK(s.web.open_connections() == 1);
    CHECK_FALSE(asked[8].cut());
    s.advance(9999ms);
    CHECK(s.web.open_connections() == 1);
    s.advance(1ms);
    CHECK(s.web.open_connections() == 0);
    s.advance(1h);
    CHECK(s.web.connections() == 9);
    CHECK(s.client().connected());
}

// ---- streams -------------------------------------------------------------------------------------------------------

TEST_CASE("An answer comes as a stream of events, after progress and with questions of the server", "[http_client]")
{
    http_stage s;
    comcp::client_options options;
    options.roots({comcp::root("file:///here")});
    s.make(s.server(), options);
    s.connect();
    std::vector<double> heard;
    comcp::call_options with;
    with.on_progress([&](const comcp::progress& p) { heard.push_back(p.value); });
    auto call = s.start(s.client().call("slow", {}, with));
    auto asked = s.web.expect("tools/call");
    asked.stream().piece(": hello\n\n").progress(asked.id(), 1).progress(asked.id(), 2);
    CHECK(heard == std::vector<double>{1, 2});
    asked.event(R"({"jsonrpc":"2.0","id":"r1","method":"roots/list"})");
    auto roots = s.web.expect("answer");
    CHECK(has(roots.body, R"("id":"r1")"));
    CHECK(has(roots.body, "file:///here"));
    roots.accepted();
    CHECK_FALSE(call.done());
    asked.result(text_result("done")).end_stream();
    CHECK(to_text(call.value()) == "done");
    auto next = s.start(s.client().call("again"));
    CHECK(s.web.expect("tools/call").connection()->requests >=
          2); // the stream ended well: its connection is used again
}

TEST_CASE("Line ends, several data lines, ids and priming events are all read, wherever they are cut (SSE 77 to 82)",
          "[http_client]")
{
    const std::string forms[] = {
        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\r\n\r\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\r\r",
        "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\ndata: \"result\":{}}\n\n",
        "\xEF\xBB\xBF"
        "data:{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"_meta\":{\"t\":\"x\xE2\x80\xA8y\"}}}\nevent: message\n\n",
        "id: 7\nretry: 500\ndata:\n\ndata: \n\nevent: other\ndata: {]\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\n\n",
    };
    http_stage s;
    s.connect();
    for (const std::string& form : forms) {
        for (const std::size_t size : {std::size_t(1), std::size_t(7), std::size_t(1000)}) {
            auto call = s.start(s.client().call("greet"));
            auto asked = s.web.expect("tools/call");
            std::string events = form;
            events.replace(events.find("ID"), 2, asked.id());
            INFO(events << " in pieces of " << size);
            asked.stream();
            for (std::size_t at = 0; at < events.size(); at += size) asked.piece(events.substr(at, size));
            CHECK(call.succeeded());
            asked.end_stream();
        }
    }
    CHECK(s.client().statistics().bad_messages == 0);
}

TEST_CASE("Events of one piece are all heard, in order", "[http_client]")
{
    http_stage s;
    s.connect();
    std::vector<double> heard;
    comcp::call_options with;
    with.on_progress([&](const comcp::progress& p) { heard.push_back(p.value); });
    auto call = s.start(s.client().call("slow", {}, with));
    auto asked = s.web.expect("tools/call");
    std::string events;
    for (int i = 1; i <= 50; ++i)
        http::write_sse_event(events,
                              R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                                  asked.id() + R"(,"progress":)" + std::to_string(i) + "}}");
    http::write_sse_event(events, asked.result_text(text_result("all")));
    asked.stream().piece(events).end_stream();
    CHECK(heard.size() == 50);
    CHECK(!heard.empty());
    CHECK(to_text(call.value()) == "all");
}

TEST_CASE("A stream that ends without the answer and without ids loses its call at once (STREAM 96, E-38)",
          "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto asked = s.web.expect("tools/call");
    asked.stream().progress(asked.id(), 1);
    SECTION("in order") { asked.end_stream(); }
    SECTION("by the end of the connection") { asked.end(); }
    SECTION("by a reset") { asked.reset(); }
    CHECK(call.failed_with(errc::peer_gone));
    CHECK(call.failure().fate == outcome::unknown);
    s.advance(1h);
    CHECK(s.web.quiet());
}

TEST_CASE("A stream with ids is resumed after exactly the delay that the server asked for (E-35, E-36)",
          "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto asked = s.web.expect("tools/call");
    asked.stream().piece("id: st-1\nretry: 500\ndata: \n\n").progress(asked.id(), 1);
    SECTION("closed in order") { asked.end_stream(); }
    SECTION("broken") { asked.reset(); }
    CHECK_FALSE(call.done());
    s.advance(499ms);
    CHECK(s.web.quiet());
    s.advance(1ms);
    auto again = s.web.expect("GET");
    CHECK(again.field("Last-Event-ID") == "st-1");
    CHECK(again.field("Accept") == "text/event-stream");
    CHECK(again.field("Mcp-Session-Id") == "s-1");
    again.stream().event(asked.result_text(text_result("late")), "st-2").end_stream();
    CHECK(to_text(call.value()) == "late");
    s.advance(1h);
    CHECK(s.web.quiet());
}

TEST_CASE("A stream may be closed and resumed many times while events come (polling)", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto asked = s.web.expect("tools/call");
    asked.stream().piece("id: 0\nretry: 100\ndata: \n\n").end_stream();
    for (int i = 1; i <= 20; ++i) {
        s.advance(100ms);
        auto again = s.web.expect("GET");
        CHECK(again.field("Last-Event-ID") == std::to_string(i - 1));
        again.stream().piece("id: " + std::to_string(i) + "\ndata: \n\n").end_stream();
        CHECK_FALSE(call.done());
    }
    s.advance(100ms);
    s.web.expect("GET").stream().event(asked.result_text(nothing));
    CHECK(call.succeeded());
}

TEST_CASE("A resume that leads nowhere is given up, and the call may have run", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto asked = s.web.expect("tools/call");
    asked.stream().piece("id: 1\ndata: \n\n").reset();
    SECTION("after 6 attempts without an event")
    {
        for (int i = 0; i < 6; ++i) {
            CHECK_FALSE(call.done());
            s.advance(1s);
            auto again = s.web.expect("GET");
            if (i % 2 == 0) again.stream().end_stream();
            else again.answer(503, "", "");
        }
        CHECK(call.failed_with(errc::bad_response));
        CHECK(call.failure().http->status == 503);
    }
    SECTION("after 6 streams without an event")
    {
        for (int i = 0; i < 6; ++i) {
            CHECK_FALSE(call.done());
            s.advance(1s);
            s.web.expect("GET").stream().end_stream();
        }
        CHECK(call.failed_with(errc::peer_gone));
        CHECK(call.failure().text == "the server ended the response without an answer");
    }
    SECTION("when there is no connection")
    {
        s.web.door->refuse = true;
        s.advance(6s);
        CHECK(s.web.door->attempts == 1 + 6);
        CHECK(call.failed_with(errc::peer_gone));
    }
    SECTION("at once when the server cannot")
    {
        s.advance(1s);
        s.web.expect("GET").answer(405, "", "");
        CHECK(call.failed_with(errc::bad_response));
        CHECK(call.failure().http->status == 405);
    }
    SECTION("at once when the session is gone: the call is not repeated")
    {
        s.advance(1s);
        s.web.expect("GET").answer(404, "", "");
        CHECK(call.failed_with(errc::session_expired));
    }
    CHECK(call.failure().fate == outcome::unknown);
    s.advance(1min);
    CHECK(s.web.quiet());
}

TEST_CASE("The delay before each attempt is a random part of a bound that doubles, to the nanosecond", "[http_client]")
{
    exponential_stage s;
    const bool least = GENERATE(true, false);
    s.make(seeded{s.server(), least ? sources::zeros : sources::ones});
    s.connect();
    auto call = s.start(s.client().call("slow"));
    s.web.expect("tools/call").stream().piece("id: 1\ndata: \n\n").end_stream();
    for (const comcp::duration bound : {1s, 2s, 4s, 8s, 16s, 30s}) {
        CHECK_FALSE(call.done());
        const comcp::duration delay = least ? comcp::duration(100ms) : bound - 1ns; // never at once
        s.advance(delay - 1ns);
        CHECK(s.web.quiet());
        s.advance(1ns);
        auto again = s.web.expect("GET");
        CHECK(again.field("Last-Event-ID") == "1");
        again.stream().end_stream();
    }
    CHECK(call.failed_with(errc::peer_gone));
    CHECK(call.failure().text == "the server ended the response without an answer");
    CHECK(call.failure().fate == outcome::unknown);
    s.advance(1h);
    CHECK(s.web.quiet());
}

TEST_CASE("Without random numbers of the system no stream is opened again, and its call ends with that error",
          "[http_client]")
{
    exponential_stage s;
    const sources::choice start(::getrandom);
    s.make(seeded{s.server(), sources::switched});
    const std::error_code missing(ENOSYS, std::generic_category());
    SECTION("that of a call")
    {
        s.connect();
        sources::chosen = sources::failing;
        auto call = s.start(s.client().call("slow"));
        auto other = s.start(s.client().call("other"));
        auto asked = s.web.expect("tools/call");
        auto other_asked = s.web.expect("tools/call");
        asked.stream().piece("id: 1\ndata: \n\n");
        SECTION("closed in order") { asked.end_stream(); }
        SECTION("broken") { asked.reset(); }
        CHECK(call.failure().code == missing);
        CHECK(call.failure().text == "the system gives no random bytes");
        CHECK(call.failure().fate == outcome::unknown);
        other_asked.reply(nothing);
        CHECK(other.succeeded());
    }
    SECTION("that of a call, at the second attempt")
    {
        sources::chosen = sources::zeros;
        s.connect();
        auto call = s.start(s.client().call("slow"));
        s.web.expect("tools/call").stream().piece("id: 1\ndata: \n\n").end_stream();
        s.advance(100ms);
        auto again = s.web.expect("GET");
        sources::chosen = sources::failing;
        SECTION("after a stream") { again.stream().end_stream(); }
        SECTION("after a status") { again.answer(503, "", "", "Retry-After: 1\r\n"); }
        SECTION("after half an answer") { again.raw("HTTP/1.1 2").reset(); }
        CHECK(call.failure().code == missing);
        CHECK(call.failure().fate == outcome::unknown);
    }
    SECTION("that of the session")
    {
        auto connecting = s.start(s.client().connect());
        s.web.expect("initialize").reply(welcome());
        s.web.expect("notifications/initialized").accepted();
        auto listening = s.web.expect("GET");
        listening.stream().piece("id: 1\ndata: \n\n");
        sources::chosen = sources::failing;
        listening.end_stream();
    }
    s.advance(1h);
    CHECK(s.web.quiet());
    CHECK(s.client().connected());
    auto next = s.start(s.client().call("greet"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(next.succeeded());
}

TEST_CASE("What belongs to no request comes on a GET stream, which is opened again with its last id", "[http_client]")
{
    http_stage s;
    int changes = 0;
    comcp::client_options options;
    options.on_tools_changed([&] { ++changes; });
    s.make(s.server(), options);
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome(), "Mcp-Session-Id: s-1\r\n");
    s.web.expect("notifications/initialized").accepted();
    auto listening = s.web.expect("GET");
    CHECK(listening.field("Accept") == "text/event-stream");
    CHECK(listening.field("Mcp-Session-Id") == "s-1");
    CHECK(listening.field("MCP-Protocol-Version") == "2025-11-25");
    CHECK(listening.field("Last-Event-ID") == "-");
    const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
    listening.stream().event(changed, "g-1");
    CHECK(changes == 1);
    listening.end_stream();
    s.advance(999ms);
    CHECK(s.web.quiet());
    s.advance(1ms);
    auto again = s.web.expect("GET");
    CHECK(again.field("Last-Event-ID") == "g-1");
    again.stream("").piece("retry: 200\n\n").event(changed, "g-2").reset();
    CHECK(changes == 2);
    s.advance(200ms);
    auto third = s.web.expect("GET");
    CHECK(third.field("Last-Event-ID") == "g-2");
    // A call does not need it.
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(call.succeeded());
}

TEST_CASE("On the stream of a POST only its own request is answered, on a GET stream any", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome(), "Mcp-Session-Id: s-1\r\n");
    s.web.expect("notifications/initialized").accepted();
    auto listening = s.web.expect("GET");
    listening.stream();
    auto one = s.start(s.client().call("one"));
    auto first = s.web.expect("tools/call");
    auto two = s.start(s.client().call("two"));
    auto second = s.web.expect("tools/call");
    auto three = s.start(s.client().call("three"));
    auto third = s.web.expect("tools/call");
    const auto answer = [](const auto& to, std::string_view text) {
        return R"({"jsonrpc":"2.0","id":)" + to.id() + R"(,"result":)" + text_result(text) + '}';
    };
    first.stream().event(answer(second, "stray"), "e-1");
    CHECK_FALSE(two.done());
    CHECK_FALSE(one.done());
    CHECK(s.client().statistics().bad_messages == 1);
    listening.event(answer(third, "three"));
    CHECK(to_text(three.value()) == "three");
    // A stream that is resumed with a GET is still that of its POST.
    first.end_stream();
    s.advance(1s);
    auto resumed = s.web.expect("GET");
    CHECK(resumed.field("Last-Event-ID") == "e-1");
    resumed.stream().event(answer(second, "stray"), "e-2");
    CHECK_FALSE(two.done());
    CHECK(s.client().statistics().bad_messages == 2);
    resumed.event(answer(first, "one"), "e-3");
    CHECK(to_text(one.value()) == "one");
    second.reply(text_result("two"));
    CHECK(to_text(two.value()) == "two");
}

TEST_CASE("A server without a GET stream is no error (E-34), and one that has lost it is not asked for ever",
          "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome());
    s.web.expect("notifications/initialized").accepted();
    auto listening = s.web.expect("GET");
    SECTION("405") { listening.answer(405, "", ""); }
    SECTION("404") { listening.answer(404, "text/html", "<p>no</p>"); }
    SECTION("400") { listening.answer(400, "", ""); }
    SECTION("HTML") { listening.answer(200, "text/html", "<p>hello</p>"); }
    SECTION("503 again and again")
    {
        for (int i = 0; i < 6; ++i) {
            listening.answer(503, "", "");
            s.advance(1s);
            listening = s.web.expect("GET");
        }
        listening.answer(503, "", "");
    }
    SECTION("it ends again and again")
    {
        for (int i = 0; i < 6; ++i) {
            listening.stream().end_stream();
            s.advance(1s);
            listening = s.web.expect("GET");
        }
        listening.stream().end_stream();
    }
    s.advance(1h);
    CHECK(s.web.quiet());
    CHECK(s.client().connected());
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(call.succeeded());
}

// ---- sessions ------------------------------------------------------------------------------------------------------

TEST_CASE("Any number of calls that a forgotten session refused lead to one new session (SESSION 105, E-40)",
          "[http_client]")
{
    http_stage s;
    s.connect("old");
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 5; ++i) calls.push_back(s.start(s.client().call("t" + std::to_string(i))));
    for (int i = 0; i < 5; ++i) {
        auto asked = s.web.expect("tools/call");
        CHECK(asked.field("Mcp-Session-Id") == "old");
        asked.answer(404, "application/json",
                     R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone"}})");
    }
    auto hello = s.web.expect("initialize");
    CHECK(hello.field("Mcp-Session-Id") == "-");
    CHECK(hello.field("MCP-Protocol-Version") == "-");
    auto more = s.start(s.client().call("t5")); // waits for it as well
    CHECK(s.web.quiet());
    hello.reply(welcome(), "Mcp-Session-Id: new\r\n");
    s.web.expect("notifications/initialized").accepted();
    s.web.expect("GET").answer(405, "", "");
    calls.push_back(more);
    for (int i = 0; i < 6; ++i) {
        auto asked = s.web.expect("tools/call");
        CHECK(asked.field("Mcp-Session-Id") == "new");
        asked.reply(text_result(asked.message().at("params").at("name").as_string()));
    }
    for (std::size_t i = 0; i < 6; ++i) CHECK(to_text(calls[i].value()) == "t" + std::to_string(i));
    CHECK(s.web.quiet()); // the old session is not even deleted
    CHECK(s.client().connected());
}

TEST_CASE("Lists, pings and other requests survive a forgotten session too", "[http_client]")
{
    http_stage s;
    s.connect("old");
    auto list = s.start(s.client().list_tools());
    s.web.expect("tools/list").reply(R"({"tools":[],"nextCursor":"2"})");
    s.web.expect("tools/list").answer(404, "", "");
    s.welcome_client("new");
    CHECK(s.web.expect("tools/list").reply(R"({"tools":[]})").field("Mcp-Session-Id") == "new");
    CHECK(list.value().complete);
    auto ping = s.start(s.client().ping());
    s.web.expect("ping").answer(404, "", "");
    s.welcome_client("newer");
    s.web.expect("ping").reply("{}");
    CHECK(ping.succeeded());
    auto other = s.start(s.client().request("x/y"));
    s.web.expect("x/y").answer(404, "", "");
    s.welcome_client("newest");
    s.web.expect("x/y").reply(R"({"a":1})");
    CHECK(other.succeeded());
}

TEST_CASE("A server that says in an answer that the session is gone is believed like a 404 [107]", "[http_client]")
{
    http_stage s;
    s.connect("old");
    const bool with_id = GENERATE(true, false);
    const auto say = [&](web_request& to, int status, int code, std::string_view text) {
        const std::string id = with_id ? to.id() : "null";
        to.answer(status, "application/json",
                  R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) + R"(,"message":")" +
                      std::string(text) + R"("}})");
    };
    const int status = GENERATE(200, 400, 404);
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    SECTION("in these words: one new session, and the call once more")
    {
        say(asked, status, GENERATE(-32000, -32001), "Session not found");
        s.welcome_client("new");
        auto again = s.web.expect("tools/call");
        CHECK(again.field("Mcp-Session-Id") == "new");
        SECTION("which is answered")
        {
            again.reply(text_result("hello"));
            CHECK(to_text(call.value()) == "hello");
            CHECK(s.client().connected());
        }
        SECTION("and no further")
        {
            say(again, status, -32000, "Session not found");
            CHECK(call.failed_with(errc::session_expired));
            CHECK(call.failure().fate == outcome::not_sent);
            CHECK(has(call.failure().text, "Session not found"));
        }
    }
    SECTION("in other words it is the answer of the call, if it has its id")
    {
        say(asked, status, -32000, "Browser session not found");
        if (with_id) CHECK(call.failed_with(errc::refused));
        if (status == 404 && !with_id) s.welcome_client("new");
        if (status == 404 && !with_id) s.web.expect("tools/call").reply(nothing);
        CHECK(call.done());
    }
    CHECK(s.web.quiet());
}

TEST_CASE("The same is believed at the beginning of a stream of events, where nothing can have run [107]",
          "[http_client]")
{
    http_stage s;
    s.connect("old");
    const std::string id = GENERATE("", R"("id":null,)", R"("id":%,)");
    const auto gone = [&](const web_request& to) {
        std::string out = R"({"jsonrpc":"2.0",)" + id + R"("error":{"code":-32000,"message":"Session not found"}})";
        if (const auto at = out.find('%'); at != out.npos) out.replace(at, 1, to.id());
        return out;
    };
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    asked.stream();
    SECTION("as its first message: one new session, and the call once more")
    {
        SECTION("alone") {}
        SECTION("behind what is no message") { asked.piece(": hello\n\nid: 1\ndata:\n\nevent: other\ndata: 1\n\n"); }
        asked.event(gone(asked));
        CHECK(asked.cut());
        s.welcome_client("new");
        auto again = s.web.expect("tools/call");
        CHECK(again.field("Mcp-Session-Id") == "new");
        SECTION("which is answered")
        {
            again.reply(text_result("hello"));
            CHECK(to_text(call.value()) == "hello");
            CHECK(s.client().connected());
        }
        SECTION("and no further")
        {
            again.stream().event(gone(again));
            REQUIRE(call.failed_with(errc::session_expired));
            CHECK(call.failure().fate == outcome::not_sent);
            CHECK(has(call.failure().text, "Session not found"));
        }
    }
    SECTION("behind a message it is the answer: the call may have begun")
    {
        asked.event(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})");
        asked.event(gone(asked));
        CHECK(call.failed_with(errc::refused));
        CHECK(s.client().connected());
    }
    SECTION("on a stream that was resumed too")
    {
        asked.piece("id: 1\nretry: 1\ndata:\n\n").end_stream();
        s.advance(1s);
        s.web.expect("GET").stream().event(gone(asked));
        CHECK(call.failed_with(errc::refused));
        CHECK(s.client().connected());
    }
    CHECK(s.web.quiet());
}

TEST_CASE("A call is sent once more and no further", "[http_client]")
{
    http_stage s;
    s.connect("old");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    s.welcome_client("new");
    s.web.expect("tools/call").answer(404, "", "");
    CHECK(call.failed_with(errc::session_expired));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(call.failure().http->status == 404);
    CHECK_FALSE(s.client().connected());
    CHECK(s.web.quiet());
}

namespace
{
struct never_again : steady_policy
{
    using replay = comcp::policy::never;
};
} // namespace

TEST_CASE("Under policy::never a refused call ends as not sent, and the next one has a new session", "[http_client]")
{
    basic_http_stage<never_again> s;
    s.connect("old");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    CHECK(call.failed_with(errc::session_expired));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(s.web.quiet());
    auto next = s.start(s.client().call("greet"));
    s.welcome_client("new");
    s.web.expect("tools/call").reply(nothing);
    CHECK(next.succeeded());
}

TEST_CASE("A client that was closed makes no session by itself (SESSION 112)", "[http_client]")
{
    basic_http_stage<never_again> s;
    s.connect("old");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    CHECK(call.failed_with(errc::session_expired));
    auto closing = s.start(s.client().close());
    s.settle();
    auto late = s.start(s.client().call("greet"));
    CHECK(late.failed_with(errc::closed));
    CHECK(late.failure().fate == outcome::not_sent);
}

TEST_CASE("A close ends calls that still run in a session which was replaced (TIME 119)", "[http_client]")
{
    http_stage s;
    s.connect("old");
    auto slow = s.start(s.client().call("slow"));
    auto held = s.web.expect("tools/call");
    auto call = s.start(s.client().call("greet"));
    s.web.expect("tools/call").answer(404, "", "");
    s.welcome_client("new");
    s.web.expect("tools/call").reply(nothing);
    CHECK(call.succeeded());
    CHECK_FALSE(slow.done());
    auto closing = s.start(s.client().close());
    s.settle();
    CHECK(slow.failed_with(errc::closed));
    CHECK(slow.failure().fate == outcome::unknown);
}

TEST_CASE("A batch of notices during a call does not end it (2025-03-26)", "[http_client]")
{
    http_stage s;
    s.connect("one", "2025-03-26");
    auto call = s.start(s.client().call("greet"));
    auto asked = s.web.expect("tools/call");
    auto stream = asked.stream();
    const std::string notice =
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})";
    stream.event("[" + notice + "," + notice + "]");
    s.advance(20s);
    CHECK_FALSE(call.done());
    stream.event(R"({"jsonrpc":"2.0","id":)" + asked.id() + R"(,"result":{"content":[]}})");
    CHECK(call.succeeded());
}

TEST_CASE("When no new session can be made, calls say so, and connecting again works (SESSION 115)", "[http_client]")
{
    http_stage s;
    s.connect("old");
    auto call = s.start(s.client().call("greet"));
    auto other = s.start(s.client().call("greet"));
    s.web.door->refuse = true;
    s.web.expect("tools/call").raw("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    s.web.expect("tools/call").raw("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    CHECK(call.failed_with(errc::peer_gone));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(other.failed_with(errc::peer_gone));
    CHECK_FALSE(s.client().connected());
    s.web.door->refuse = false;
    s.connect("new");
    CHECK(s.client().connected());
    auto next = s.start(s.client().call("greet"));
    s.web.expect("tools/call").reply(nothing);
    CHECK(next.succeeded());
}

TEST_CASE("A call that is cancelled while a new session is made was not sent, and the others get it", "[http_client]")
{
    http_stage s;
    s.connect("old");
    auto first = s.start(s.client().call("a"));
    auto second = s.start(s.client().call("b"));
    s.web.expect("tools/call").answer(404, "", "");
    s.web.expect("tools/call").answer(404, "", "");
    first.cancel();
    s.settle();
    CHECK(first.failed_with(errc::cancelled));
    CHECK(first.failure().fate == outcome::not_sent);
    s.welcome_client("new");
    s.web.expect("tools/call").reply(nothing);
    CHECK(second.succeeded());
    CHECK(s.web.quiet());
}

TEST_CASE("An answer in the body of a 404 counts when it shows that the request was understood", "[http_client]")
{
    http_stage s;
    s.connect("s-1");
    auto call = s.start(s.client().request("x/y"));
    auto asked = s.web.expect("x/y");
    asked.answer(404, "application/json",
                 R"({"jsonrpc":"2.0","id":)" + asked.id() + R"(,"error":{"code":-32601,"message":"no such method"}})");
    CHECK(call.failed_with(errc::refused));
    CHECK(call.failure().rpc->code == -32601);
    CHECK(s.web.quiet());
}
