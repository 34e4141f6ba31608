// SPDX-License-Identifier: MIT
// Room: how many requests a client has in flight, how much output waits, and a peer that does not read.
#include "script.hpp"

#include <utility>

using namespace script;

namespace
{

comcp::client_options bounded(std::size_t in_flight, std::size_t buffer = 4 * 1024 * 1024)
{
    comcp::client_options options;
    options.limits.in_flight = in_flight;
    options.limits.stream_buffer = buffer;
    return options;
}

std::string result_for(int id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"content":[]}})";
}

} // namespace

TEST_CASE("256 calls are in flight; the 257th waits for room, first come first served")
{
    client_stage s;
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 259; ++i) calls.push_back(s.start(s.client.call("t" + std::to_string(i))));
    CHECK(s.peer.wire().messages() == 256);
    CHECK(s.peer.skip_all() == 256);
    s.peer.say(result_for(10));
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "t256");
    CHECK(s.peer.quiet());
    s.peer.say(result_for(11), result_for(12));
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "t257");
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "t258");
    for (int id = 2; id <= 260; ++id) s.peer.say(result_for(id));
    for (auto& each : calls) CHECK(each.succeeded());
    CHECK(s.client.statistics().late_answers == 3);
}

TEST_CASE("A call that waits for room and is cancelled was not sent, and holds up nobody")
{
    client_stage s(bounded(1));
    auto first = s.start(s.client.call("first"));
    auto second = s.start(s.client.call("second"));
    auto third = s.start(s.client.call("third"));
    s.peer.expect("tools/call");
    second.cancel();
    s.settle();
    REQUIRE(second.done());
    REQUIRE_FALSE(second.threw_other());
    CHECK(second.failed_with(errc::cancelled));
    CHECK(second.failure().fate == outcome::not_sent);
    CHECK(s.peer.quiet());
    s.peer.say(result_for(2));
    const heard sent = s.peer.expect("tools/call");
    CHECK(sent.params().at("name").get_string() == "third");
    sent.reply(R"({"content":[]})");
    CHECK(third.succeeded());
    CHECK(s.peer.quiet());
}

TEST_CASE("A call that waits for room beyond its time was not sent")
{
    client_stage s(bounded(1));
    auto first = s.start(s.client.call("first"));
    auto second = s.start(s.client.call("second", comcp::args(), comcp::call_options().timeout(50ms)));
    s.peer.expect("tools/call");
    s.advance(50ms);
    CHECK(second.failed_with(errc::timed_out));
    CHECK(second.failure().fate == outcome::not_sent);
    CHECK(s.peer.quiet()); // nothing to cancel at the server
    s.peer.say(result_for(2));
    CHECK(first.succeeded());
    CHECK(s.peer.quiet());
}

TEST_CASE("A call that is given up makes room for the next one")
{
    client_stage s(bounded(1));
    auto first = s.start(s.client.call("first", comcp::args(), comcp::call_options().timeout(50ms)));
    auto second = s.start(s.client.call("second"));
    auto third = s.start(s.client.call("third"));
    s.peer.expect("tools/call");
    s.advance(50ms);
    CHECK(first.failed_with(errc::timed_out));
    s.peer.expect("notifications/cancelled");
    s.peer.expect("tools/call");
    second.cancel();
    s.settle();
    s.peer.expect("notifications/cancelled");
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "third");
}

TEST_CASE("The end of the session ends those who wait for room, as not sent [119]")
{
    client_stage s(bounded(1));
    auto first = s.start(s.client.call("first"));
    auto second = s.start(s.client.call("second"));
    auto third = s.start(s.client.call("third"));
    SECTION("closed by us") { s.run(s.client.close()); }
    SECTION("closed by the peer") { s.peer.hang_up(); }
    CHECK(first.failure().fate == outcome::unknown);
    CHECK(second.failure().fate == outcome::not_sent);
    CHECK(third.failure().fate == outcome::not_sent);
    CHECK(first.failure().code == third.failure().code);
    CHECK(s.peer.skip_all() == 1);
}

TEST_CASE("While the server does not read, calls wait beyond a bound of bytes, and go when it reads [12]")
{
    client_stage s(bounded(256, 10'000));
    s.peer.wire().reads(false);
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 30; ++i)
        calls.push_back(s.start(s.client.call("t", comcp::args("text", std::string(1000, 'x')))));
    CHECK(s.client.statistics().sent >= 10);
    CHECK(s.client.statistics().sent <= 13);
    s.peer.wire().reads(true);
    for (int id = 2; id <= 31; ++id) {
        s.peer.expect("tools/call");
        s.peer.say(result_for(id));
    }
    for (auto& each : calls) CHECK(each.succeeded());
}

TEST_CASE("A call's deadline holds although the server does not read [16]")
{
    client_stage s;
    s.peer.wire().reads(false);
    auto call = s.start(
        s.client.call("t", comcp::args("text", std::string(1 << 20, 'x')), comcp::call_options().timeout(500ms)));
    s.advance(500ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(s.client.connected());
}

TEST_CASE("Pings of the server are answered while calls wait and the output is full [117]")
{
    client_stage s(bounded(1, 1000));
    auto first = s.start(s.client.call("t", comcp::args("text", std::string(2000, 'x'))));
    auto second = s.start(s.client.call("second"));
    s.peer.skip_all();
    s.peer.ask("1", "ping");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
    s.peer.wire().reads(false);
    s.peer.ask("2", "ping");
    s.peer.say(result_for(2)); // answers are read however much is queued
    CHECK(first.succeeded());
    s.peer.wire().reads(true);
    CHECK(s.peer.skip_all() == 2); // the pong and the second call
}

TEST_CASE("A server that reads nothing for 30 s is cut; one that reads a little is not")
{
    client_stage s;
    s.peer.wire().reads(false);
    auto call = s.start(s.client.call("t"));
    s.advance(29s);
    CHECK(s.client.connected());
    SECTION("nothing")
    {
        s.advance(5s);
        CHECK(call.failed_with(errc::peer_gone));
        CHECK(has(call.failure().text, "does not read"));
        CHECK(call.failure().fate == outcome::unknown);
        CHECK_FALSE(s.client.connected());
        s.advance(10s);
        CHECK(s.peer.wire().closed());
    }
    SECTION("a little")
    {
        s.peer.wire().reads(true);
        s.settle();
        s.peer.wire().reads(false);
        auto next = s.start(s.client.call("t"));
        s.advance(29s);
        CHECK(s.client.connected());
        CHECK_FALSE(call.done());
    }
}

TEST_CASE("Closing a client whose server does not read takes the close limit at most")
{
    client_stage s;
    s.peer.wire().reads(false);
    auto call = s.start(s.client.call("t"));
    auto closing = s.start(s.client.close());
    CHECK(call.failed_with(errc::closed));
    CHECK_FALSE(closing.done());
    s.advance(10s - 1ms);
    CHECK_FALSE(closing.done());
    s.advance(1ms);
    CHECK(closing.succeeded());
    CHECK(s.peer.wire().closed());
}

TEST_CASE("200 notices of a changed list are two lists for a host that asks anew when it is told [76]")
{
    // A client lists nothing by itself: what it promises is that notices are told, and that nothing waits for them.
    bool changed = false;
    comcp::client_options options;
    options.on_tools_changed([&] { changed = true; });
    client_stage s(std::move(options));
    const auto burst = [&] {
        for (int i = 0; i < 200; ++i) s.peer.note("notifications/tools/list_changed");
    };
    burst();
    CHECK(s.peer.quiet());
    CHECK(std::exchange(changed, false));
    auto first = s.start(s.client.list_tools());
    const heard asked = s.peer.expect("tools/list");
    burst();
    CHECK(s.peer.quiet());
    asked.reply(R"({"tools":[]})");
    CHECK(first.succeeded());
    CHECK(std::exchange(changed, false));
    auto second = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    CHECK(second.succeeded());
    CHECK_FALSE(changed);
    CHECK(s.peer.quiet());
}
