// SPDX-License-Identifier: MIT
// A client's handshake and every way in which it can fail.
#include "script.hpp"

using namespace script;

namespace
{

/// A client that has sent initialize and waits.
struct waiting_client : client_stage
{
    running<void> connecting;
    heard hello;

    explicit waiting_client(comcp::client_options options = {})
        : client_stage(std::move(options), ""),
          connecting(start(client.connect())),
          hello(peer.expect("initialize"))
    {}
};

} // namespace

TEST_CASE("A client offers its newest revision and says who it is")
{
    waiting_client s;
    CHECK(s.hello.text == R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                          R"("capabilities":{},"clientInfo":{"name":"tester","version":"1"}}})");
    CHECK_FALSE(s.client.connected());
    s.hello.reply(
        R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"zzz":1},"zzz":{}},"serverInfo":{"name":"n",)"
        R"("version":"2","title":"T"},"instructions":"be kind","zzz":[],"_meta":{"m":1}})");
    CHECK(s.connecting.succeeded());
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    CHECK(s.client.connected());
    CHECK(s.client.server().version == comcp::revision::r2025_06_18);
    CHECK(s.client.server().instructions == "be kind");
    CHECK(s.client.server().server.title() == "T");
    CHECK(s.client.server().capabilities.has("tools", "zzz")); // [40] unknown members are kept
    CHECK(s.client.server().capabilities.has("zzz"));
    CHECK(s.client.server().extras.meta == parse(R"({"m":1})"));
    CHECK(s.client.server().extras.extra == parse(R"({"zzz":[]})"));
    CHECK(s.peer.quiet());
}

TEST_CASE("A client declares what its host can answer, and nothing else")
{
    comcp::client_options options;
    options.newest = comcp::revision::r2025_06_18;
    options.roots({comcp::root("file:///a")});
    options.on_sampling([](json::object) -> comcp::task<json::object> { co_return json::object(); });
    options.on_elicitation([](json::object) -> comcp::task<json::object> { co_return json::object(); });
    waiting_client s(std::move(options));
    CHECK(s.hello.params().at("protocolVersion").get_string() == "2025-06-18");
    CHECK(has(s.hello.text, R"("capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}})"));
}

TEST_CASE("Every revision with a handshake is spoken")
{
    for (const auto known : comcp::all_revisions) {
        client_stage s(comcp::client_options(), comcp::to_string(known));
        CHECK(s.client.server().version == known);
    }
}

TEST_CASE("There is no session under a made-up version [62]")
{
    const auto [answer, part] = GENERATE(table<std::string, std::string>({
        {R"({"protocolVersion":"1999-01-01","capabilities":{}})", "1999-01-01"},
        {R"({"protocolVersion":"2026-07-28","capabilities":{}})", "2026-07-28"},
        {R"({"protocolVersion":"","capabilities":{}})", "unknown protocolVersion \"\""},
        {R"({"protocolVersion":20250618,"capabilities":{}})", "not a string"},
        {R"({"protocolVersion":null,"capabilities":{}})", "no protocolVersion"},
        {R"({"capabilities":{}})", "no protocolVersion"},
        {R"({})", "no protocolVersion"},
    }));
    waiting_client s;
    s.hello.reply(answer);
    const comcp::fault& why = s.connecting.failure();
    CHECK((why.code == errc::unsupported || why.code == errc::invalid_message));
    CHECK(has(why.text, part));
    CHECK(has(why.text, "2025-11-25")); // what we had offered
    CHECK(why.method == "initialize");
    CHECK_FALSE(s.client.connected());
    CHECK(s.peer.wire().closed());
    CHECK(s.peer.quiet()); // no initialized, no cancelled
}

TEST_CASE("A refused initialize gives the server's error [B-3]")
{
    waiting_client s;
    s.hello.refuse(-32602, "Unsupported protocol version", R"({"supported":["2024-11-05"],"requested":"2025-11-25"})");
    const comcp::fault& why = s.connecting.failure();
    CHECK(why.code == errc::refused);
    CHECK(why.fate == outcome::refused);
    REQUIRE(why.rpc);
    CHECK(why.rpc->code == -32602);
    CHECK(why.rpc->message == "Unsupported protocol version");
    CHECK(why.rpc->data.at("supported").at(0).get_string() == "2024-11-05");
    CHECK(s.peer.wire().closed());
}

TEST_CASE("An error without an id in the handshake tells the cause [33]")
{
    const auto error = GENERATE(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})",
                                R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}})");
    waiting_client s;
    s.peer.say(error);
    CHECK(s.connecting.failed_with(errc::refused));
    CHECK(has(s.connecting.failure().text, "Parse error"));
}

TEST_CASE("A server that is silent is given up at the connect limit, and no sooner")
{
    waiting_client s;
    s.advance(20s - 1ms);
    CHECK_FALSE(s.connecting.done());
    s.advance(1ms);
    CHECK(s.connecting.failed_with(errc::timed_out));
    CHECK(s.connecting.failure().fate == outcome::unknown);
    CHECK(s.peer.wire().closed());
    CHECK(s.peer.quiet()); // initialize is never cancelled (B-2)
}

TEST_CASE("A server that leaves in mid-handshake is reported in its own words")
{
    waiting_client s;
    SECTION("without a word")
    {
        s.peer.hang_up();
        CHECK(s.connecting.failed_with(errc::peer_gone));
        CHECK(has(s.connecting.failure().text, "closed the connection"));
    }
    SECTION("with a reason of the transport")
    {
        s.peer.hang_up("the server exited with status 3: no such table");
        CHECK(s.connecting.failed_with(errc::peer_gone));
        CHECK(has(s.connecting.failure().text, "status 3: no such table"));
    }
    CHECK_FALSE(s.client.connected());
}

TEST_CASE("Noise around the handshake does no harm [3] [4]")
{
    waiting_client s;
    s.peer.say("Demo server running on stdio", R"({"level":"info","msg":"db ready"})", "[]", "3", "",
               R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"up"}})");
    CHECK_FALSE(s.connecting.done());
    CHECK(s.client.statistics().bad_messages == 5);
    s.hello.reply(welcome());
    CHECK(s.connecting.succeeded());
    s.peer.expect("notifications/initialized");
    CHECK(s.peer.quiet()); // a client answers no noise
}

TEST_CASE("A ping during the handshake is answered [B-10]")
{
    waiting_client s;
    s.peer.ask("\"p\"", "ping");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":"p","result":{}})");
}

TEST_CASE("A handshake answered under the id as a string is taken [30]")
{
    waiting_client s;
    s.peer.say(R"({"jsonrpc":"2.0","id":"1","result":)" + welcome() + "}");
    CHECK(s.connecting.succeeded());
}

TEST_CASE("A handshake can be cancelled; the server is not told, since it must not be [B-2]")
{
    waiting_client s;
    s.connecting.cancel();
    s.settle();
    CHECK(s.connecting.failed_with(errc::cancelled));
    CHECK(s.peer.quiet());
    CHECK(s.peer.wire().closed());
}

TEST_CASE("A client connects once at a time, and once per transport")
{
    client_stage s(comcp::client_options(), "");
    auto first = s.start(s.client.connect());
    auto second = s.start(s.client.connect());
    CHECK(second.failed_with(errc::invalid_argument));
    CHECK_FALSE(first.done());
    s.peer.expect("initialize").reply(welcome());
    CHECK(first.succeeded());
    CHECK(s.start(s.client.connect()).failed_with(errc::invalid_argument));
    s.run(s.client.close());
    CHECK(s.start(s.client.connect()).failed_with(errc::closed));
}

TEST_CASE("Before it is connected, a client refuses work without sending it")
{
    client_stage s(comcp::client_options(), "");
    const auto refused = [&](auto operation) {
        auto started = s.start(std::move(operation));
        return started.failed_with(errc::closed) && started.failure().fate == outcome::not_sent;
    };
    CHECK(refused(s.client.call("t")));
    CHECK(refused(s.client.list_tools()));
    CHECK(refused(s.client.ping()));
    CHECK(refused(s.client.request("x/y")));
    CHECK_THROWS_AS(s.client.server(), comcp::error);
    CHECK(s.client.statistics().sent == 0);
    s.run(s.client.close());

    auto connecting = s.start(s.client.connect());
    s.peer.expect("initialize");
    CHECK(refused(s.client.call("t")));
    CHECK(s.peer.quiet());
    auto closing = s.start(s.client.close());
    CHECK(connecting.failed_with(errc::closed));
    CHECK(closing.succeeded());
}
