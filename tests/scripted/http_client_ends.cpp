// SPDX-License-Identifier: MIT
// How calls, sessions and objects of an HTTP client end: cancelled, closed in order, destroyed in every order and from
// inside their own handlers, with and without the io_context.
#include "http_script.hpp"

#include <boost/describe/class.hpp>

using namespace script;

namespace
{

const std::string nothing = R"({"content":[]})";

} // namespace

TEST_CASE("A cancelled call is told to the server, and its connection is cut", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    auto other = s.start(s.client().call("other"));
    auto asked = s.web.expect("tools/call");
    auto other_asked = s.web.expect("tools/call");
    SECTION("without a response") {}
    SECTION("in a stream") { asked.stream().progress(asked.id(), 1); }
    SECTION("within a body")
    {
        asked.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    }
    call.cancel();
    s.settle();
    CHECK(call.failed_with(errc::cancelled));
    CHECK(call.failure().fate == outcome::unknown);
    auto notice = s.web.expect("notifications/cancelled");
    CHECK(has(notice.body, R"("requestId":)" + asked.id()));
    CHECK(notice.field("Mcp-Session-Id") == "s-1");
    notice.accepted();
    CHECK(asked.cut());
    other_asked.reply(nothing);
    CHECK(other.succeeded());
    CHECK(s.client().statistics().bad_messages == 0);
}

TEST_CASE("A call that is cancelled before its connection is there costs nothing else", "[http_client]")
{
    http_stage s;
    s.connect();
    s.web.door->delay = 5s;
    auto first = s.start(s.client().call("first")); // takes the idle connection
    auto call = s.start(s.client().call("second"));
    call.cancel();
    s.settle();
    CHECK(call.failed_with(errc::cancelled));
    s.web.expect("tools/call").reply(nothing);
    CHECK(first.succeeded());
    s.advance(5s);
    s.web.expect("notifications/cancelled").accepted();
    CHECK(s.web.quiet());
}

TEST_CASE("A server that cancels its own question does not end the call that it belongs to", "[http_client]")
{
    http_stage s;
    comcp::client_options options;
    options.on_sampling([](json::object) -> comcp::task<json::object> {
        comcp::timer clock(co_await asio::this_coro::executor);
        co_await clock.wait_for(1h);
        co_return json::object();
    });
    s.make(s.server(), options);
    s.connect();
    auto call = s.start(s.client().call("ask"));
    auto asked = s.web.expect("tools/call");
    asked.stream().event(R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}})");
    asked.event(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
    CHECK_FALSE(asked.cut());
    asked.result(text_result("fine"));
    CHECK(to_text(call.value()) == "fine");
}

TEST_CASE("A server that asks and takes no answers is not heard for ever", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("flood"));
    auto asked = s.web.expect("tools/call");
    asked.stream();
    for (int i = 0; i < 500; ++i) asked.event(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"ping"})");
    const std::size_t answers = s.web.waiting();
    CHECK(answers >= 64);
    CHECK(answers < 70);
    std::size_t taken = 0;
    for (; s.web.waiting() != 0; ++taken) s.web.expect("answer").accepted();
    CHECK(taken == 500);
    asked.result(nothing);
    CHECK(call.succeeded());
}

// ---- close ---------------------------------------------------------------------------------------------------------

TEST_CASE("Closing deletes the session, and succeeds whatever the server says (HTTP 93)", "[http_client]")
{
    http_stage s;
    s.connect();
    auto closing = s.start(s.client().close());
    auto goodbye = s.web.expect("DELETE");
    CHECK(goodbye.field("Mcp-Session-Id") == "s-1");
    CHECK(goodbye.field("MCP-Protocol-Version") == "2025-11-25");
    CHECK(goodbye.body.empty());
    CHECK_FALSE(closing.done());
    SECTION("200") { goodbye.answer(200, "", ""); }
    SECTION("204") { goodbye.raw("HTTP/1.1 204 No Content\r\n\r\n"); }
    SECTION("404") { goodbye.answer(404, "", ""); }
    SECTION("405") { goodbye.answer(405, "", ""); }
    SECTION("500") { goodbye.answer(500, "text/plain", "no"); }
    SECTION("a broken connection") { goodbye.reset(); }
    SECTION("nothing") { s.advance(10s); }
    if (!closing.done()) s.web.expect("DELETE").reset(); // a DELETE may be repeated
    CHECK(closing.succeeded());
    CHECK(s.web.open_connections() == 0);
    CHECK_FALSE(s.client().connected());
}

TEST_CASE("Without a session there is nothing to delete", "[http_client]")
{
    http_stage s;
    s.connect("");
    auto closing = s.start(s.client().close());
    CHECK(closing.succeeded());
    CHECK(s.web.quiet());
}

TEST_CASE("Closing ends calls and streams, waits for notices, and can be followed by another connect", "[http_client]")
{
    http_stage s;
    auto connecting = s.start(s.client().connect());
    s.web.expect("initialize").reply(welcome(), "Mcp-Session-Id: s-1\r\n");
    s.web.expect("notifications/initialized").accepted();
    auto listening = s.web.expect("GET");
    listening.stream();
    auto first = s.start(s.client().call("a"));
    auto second = s.start(s.client().call("b"));
    auto asked = s.web.expect("tools/call");
    s.web.expect("tools/call").stream();
    second.cancel();
    auto closing = s.start(s.client().close());
    CHECK(first.failed_with(errc::closed));
    CHECK(first.failure().fate == outcome::unknown);
    CHECK(second.failed_with(errc::cancelled));
    CHECK(listening.cut());
    CHECK(asked.cut());
    s.web.expect("notifications/cancelled").accepted();
    s.web.expect("DELETE").answer(200, "", "");
    CHECK(closing.succeeded());
    CHECK(s.web.open_connections() == 0);
    s.connect("s-2");
    CHECK(s.client().connected());
}

TEST_CASE("Closing while connecting ends the attempt", "[http_client]")
{
    http_stage s;
    SECTION("before there is a connection") { s.web.door->delay = 10s; }
    SECTION("before the answer") {}
    auto connecting = s.start(s.client().connect());
    auto closing = s.start(s.client().close());
    CHECK(connecting.done());
    CHECK_FALSE(connecting.succeeded());
    s.advance(10s);
    CHECK(closing.succeeded());
    CHECK(s.web.open_connections() == 0);
}

TEST_CASE("Nothing is left waiting once a client is closed: no timer, no stream", "[http_client]")
{
    http_stage s;
    s.connect();
    auto call = s.start(s.client().call("slow"));
    s.web.expect("tools/call").stream().piece("id: 1\nretry: 60000\ndata:\n\n").end_stream();
    auto closing = s.start(s.client().close());
    s.web.expect("DELETE").answer(200, "", "");
    CHECK(closing.succeeded());
    CHECK(call.failed_with(errc::closed));
    s.advance(1h);
    CHECK(s.web.quiet());
}

// ---- who dies first ------------------------------------------------------------------------------------------------

namespace
{

/// Parts that a test destroys in the order that it likes.
struct parts
{
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time{*io};
    std::shared_ptr<memory_connector> door = std::make_shared<memory_connector>(io->get_executor());
    std::unique_ptr<comcp::client> client;

    explicit parts(comcp::client_options options = {})
    {
        comcp::streamable_http server("http://server.test/mcp");
        server.connector(std::make_unique<door_of>(door));
        client = std::make_unique<comcp::client>(server, comcp::identity("tester", "1"), std::move(options));
    }
    template <class T>
    running<T> start(comcp::task<T> operation)
    {
        running<T> started(io->get_executor(), std::move(operation));
        time->settle();
        return started;
    }
    stream_peer& peer(std::size_t which) { return door->made().at(which)->peer; }
    void say(std::size_t which, std::string_view bytes)
    {
        peer(which).send(bytes);
        time->settle();
    }
    void say_json(std::size_t which, std::string_view body)
    {
        say(which, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
    }
    /// Connected, with a GET stream on the first connection.
    void connect()
    {
        auto connecting = start(client->connect());
        say_json(0, R"({"jsonrpc":"2.0","id":1,"result":)" + welcome() + "}");
        say(0, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        say(0, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        connecting.value();
    }
    void end_io()
    {
        time.reset();
        io.reset();
    }
};

const std::string stream_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// Brings a client into a state in which something waits.
template <class Do>
void in_every_state(Do then)
{
    SECTION("before anything")
    {
        parts p;
        then(p);
    }
    SECTION("without a connection")
    {
        parts p;
        p.door->delay = 1h;
        const auto connecting = p.start(p.client->connect());
        then(p);
    }
    SECTION("in the handshake")
    {
        parts p;
        const auto connecting = p.start(p.client->connect());
        then(p);
    }
    SECTION("before `initialized` was accepted")
    {
        parts p;
        const auto connecting = p.start(p.client->connect());
        p.say_json(0, R"({"jsonrpc":"2.0","id":1,"result":)" + welcome() + "}");
        const auto call = p.start(p.client->call("t"));
        then(p);
    }
    SECTION("with calls under way")
    {
        parts p;
        p.connect();
        const auto first = p.start(p.client->call("t"));
        const auto second = p.start(p.client->call("t"));
        p.say(1, stream_head + "id: 1\ndata: \n\ndata: {\"jsonrpc\":");
        p.say(2, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
        then(p);
    }
    SECTION("with a large request half written")
    {
        parts p;
        p.connect();
        p.door->room = 1000;
        const auto call = p.start(p.client->call("t", comcp::args("x", std::string(10000, 'x'))));
        then(p);
    }
    SECTION("before a resume")
    {
        parts p;
        p.connect();
        const auto call = p.start(p.client->call("t"));
        p.say(1, stream_head + "id: 1\nretry: 60000\ndata: \n\n");
        p.peer(1).end();
        p.time->settle();
        then(p);
    }
    SECTION("while a new session is made")
    {
        parts p;
        p.connect();
        const auto call = p.start(p.client->call("t"));
        p.say(1, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        then(p);
    }
    SECTION("while it closes")
    {
        parts p;
        p.connect();
        const auto closing = p.start(p.client->close());
        then(p);
    }
    SECTION("closed")
    {
        parts p;
        p.connect();
        const auto closing = p.start(p.client->close());
        p.time->advance(10s);
        then(p);
    }
}

} // namespace

TEST_CASE("A client may die before its io_context, in every state", "[http_client]")
{
    in_every_state([](parts& p) {
        p.client.reset();
        p.time->settle();
        for (const auto& each : p.door->made()) CHECK(each->peer.ended());
        p.end_io();
    });
}

TEST_CASE("A client may die before its io_context, which then runs no more", "[http_client]")
{
    in_every_state([](parts& p) {
        p.client.reset();
        p.end_io();
    });
}

TEST_CASE("An io_context may die before its client, in every state", "[http_client]")
{
    in_every_state([](parts& p) {
        p.end_io();
        p.client.reset();
    });
}

TEST_CASE("A client may die inside its own handlers", "[http_client]")
{
    std::unique_ptr<parts> p;
    comcp::client_options options;
    options.on_tools_changed([&] { p->client.reset(); });
    p = std::make_unique<parts>(options);
    p->connect();
    const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
    SECTION("in a notice of the GET stream, with another behind it")
    {
        p->say(0, "data: " + changed + "\n\ndata: " + changed + "\n\n");
    }
    SECTION("in a notice of a call's stream")
    {
        auto call = p->start(p->client->call("t"));
        p->say(1, stream_head + "data: " + changed + "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n");
        p->time->settle();
        CHECK(call.failed_with(errc::closed));
    }
    CHECK(p->client == nullptr);
    p->time->advance(1min);
    p->end_io();
}

TEST_CASE("A client may die right after its call, in the coroutine that made it", "[http_client]")
{
    parts p;
    p.connect();
    auto both = [](parts& all) -> comcp::task<void> {
        co_await all.client->call("t");
        all.client.reset();
    };
    auto running = p.start(both(p));
    p.say_json(1, R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})");
    CHECK(running.succeeded());
    p.time->settle();
    p.end_io();
}
