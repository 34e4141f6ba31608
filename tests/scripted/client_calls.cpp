// SPDX-License-Identifier: MIT
// A client's calls: how answers find them, every way in which they end, deadlines, cancellation.
#include "script.hpp"

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#else
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_future.hpp>
#endif

using namespace script;

namespace
{

const std::string empty_result = R"({"content":[]})";

std::string result_for(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + text_result(text) + '}';
}

comcp::call_options within(comcp::duration total) { return comcp::call_options().timeout(total); }

/// Races a call with a timer, as users write it.
comcp::task<std::string> call_or_give_up(comcp::client& client, comcp::duration patience)
{
    using namespace asio::experimental::awaitable_operators;
    comcp::timer timer(co_await asio::this_coro::executor);
    auto won = co_await (client.call("slow") || timer.wait_for(patience));
    if (won.index() == 1) co_return "gave up";
    co_return comcp::to_text(std::get<0>(won));
}

/// Cancels itself while it works, then calls: the call never starts.
comcp::task<void> call_after_work(comcp::client& client, comcp::duration work)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    try {
        co_await timer.wait_for(work);
    } catch (const comcp::error&) {
    }
    co_await client.call("late");
}

} // namespace

// ---- ids
// -------------------------------------------------------------------------------------------------------------

TEST_CASE("Answers find their calls in any order")
{
    client_stage s;
    auto a = s.start(s.client.call("a"));
    auto b = s.start(s.client.call("b", comcp::args("n", 1)));
    const heard first = s.peer.expect("tools/call");
    const heard second = s.peer.expect("tools/call");
    CHECK(first.text == R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{}}})");
    CHECK(second.text == R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b","arguments":{"n":1}}})");
    second.reply(text_result("B"));
    CHECK(comcp::to_text(b.value()) == "B");
    CHECK_FALSE(a.done());
    first.reply(text_result("A"));
    CHECK(comcp::to_text(a.value()) == "A");
    CHECK(a.value().outcome() == outcome::completed);
}

TEST_CASE("An id that comes back as a string, or as a whole fraction, is taken for the number that it spells [30]")
{
    const auto id = GENERATE("\"2\"", "2.0", "2");
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call");
    s.peer.say(result_for(id, "yes"));
    CHECK(comcp::to_text(call.value()) == "yes");
}

TEST_CASE("Answers to nothing are counted and harm nobody")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    for (const auto* id : {"77", "\"02\"", "\"x\"", "-2", "0", "9007199254740993", "123456789012345678901234"})
        s.peer.say(result_for(id, "no"));
    CHECK(s.client.statistics().bad_messages == 7);
    CHECK_FALSE(call.done());
    asked.reply(text_result("yes"));
    CHECK(comcp::to_text(call.value()) == "yes");
    s.peer.say(result_for("2", "again"));
    CHECK(s.client.statistics().late_answers == 1); // answered twice: the second one is late
    CHECK(s.client.connected());
}

TEST_CASE("An error without an id belongs to the only call in flight, or to nobody [33] [42]")
{
    const auto id = GENERATE(R"("id":null,)", "");
    const std::string error =
        R"({"jsonrpc":"2.0",)" + std::string(id) + R"("error":{"code":-32700,"message":"Parse error"}})";
    client_stage s;
    s.peer.say(error); // nobody waits: only noted
    CHECK(s.client.connected());
    CHECK(s.client.statistics().bad_messages == 1);

    auto a = s.start(s.client.call("a"));
    auto b = s.start(s.client.call("b"));
    s.peer.say(error);
    CHECK_FALSE(a.done());
    CHECK_FALSE(b.done());
    s.peer.say(result_for("2", "A"));
    CHECK(a.succeeded());
    s.peer.say(error);
    CHECK(b.failed_with(errc::refused));
    CHECK(b.failure().rpc->code == -32700);
    CHECK(s.client.connected());
}

TEST_CASE("A malformed answer fails its call with an extract of it, and only that call [47]")
{
    const auto rest = GENERATE("", R"(,"result":{},"error":{"code":1,"message":"m"})", R"(,"error":"text")",
                               R"(,"error":{"code":"x","message":"m"})", R"(,"result":[])", R"(,"result":"x")",
                               R"(,"result":null)", R"(,"error":{"message":"no code"})");
    client_stage s;
    auto bad = s.start(s.client.call("a"));
    auto good = s.start(s.client.call("b"));
    s.peer.say(R"({"jsonrpc":"2.0","id":2)" + std::string(rest) + "}");
    CHECK(bad.failed_with(errc::invalid_message));
    CHECK(bad.failure().fate == outcome::unknown);
    CHECK(has(bad.failure().text, R"("id":2)"));
    CHECK_FALSE(good.done());
    s.peer.say(result_for("3", "fine"));
    CHECK(good.succeeded());
}

TEST_CASE("A null error beside a result is no error, and a null result beside an error is no result [47]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"error":null,"result":{"content":[]}})");
    CHECK(call.succeeded());
    auto other = s.start(s.client.call("a"));
    s.peer.say(R"({"jsonrpc":"2.0","id":3,"result":null,"error":{"code":-1,"message":"m"}})");
    CHECK(other.failed_with(errc::refused));
}

TEST_CASE("Noise between messages is dropped and counted [3] [4]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.say("INFO tick", R"({"level":"info","msg":"x","id":2,"result":{}})", "[1,2]", "null", "{", "\"\xC3\x28\"",
               R"({"jsonrpc":"1.0","id":2,"result":{}})", result_for("2", "yes"));
    CHECK(comcp::to_text(call.value()) == "yes");
    CHECK(s.client.statistics().bad_messages == 7);
    s.peer.expect("tools/call");
    CHECK(s.peer.quiet());
}

TEST_CASE("A line beyond the depth limit is one bad message")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.say(R"({"jsonrpc":"2.0","id":9,"result":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}");
    CHECK_FALSE(call.done());
    s.peer.say(result_for("2", "yes"));
    CHECK(call.succeeded());
}

// ---- how a call ends
// -------------------------------------------------------------------------------------------------

TEST_CASE("Every end of a call has its outcome")
{
    client_stage s;
    SECTION("completed, and a tool that failed is a value")
    {
        auto call = s.start(s.client.call("a"));
        s.peer.expect("tools/call").reply(R"({"content":[{"type":"text","text":"no disk"}],"isError":true})");
        CHECK(call.value().outcome() == outcome::tool_error);
        CHECK(comcp::to_text(call.value()) == "no disk");
    }
    SECTION("refused")
    {
        auto call = s.start(s.client.call("a"));
        s.peer.expect("tools/call").refuse(-32602, "Unknown tool: a", R"({"x":[1]})");
        const comcp::fault& why = call.failure();
        CHECK(why.code == errc::refused);
        CHECK(why.fate == outcome::refused);
        CHECK(why.method == "tools/call");
        CHECK(why.id == "2");
        CHECK(why.rpc->code == -32602);
        CHECK(why.rpc->data.at("x").at(0).as_int64() == 1);
    }
    SECTION("unknown: the peer left")
    {
        auto call = s.start(s.client.call("a"));
        s.peer.hang_up();
        CHECK(call.failed_with(errc::peer_gone));
        CHECK(call.failure().fate == outcome::unknown);
        auto later = s.start(s.client.call("b"));
        CHECK(later.failed_with(errc::peer_gone));
        CHECK(later.failure().fate == outcome::not_sent);
        CHECK_FALSE(s.client.connected());
    }
    SECTION("unknown: it was closed by us [119]")
    {
        auto a = s.start(s.client.call("a"));
        auto b = s.start(s.client.list_tools());
        auto c = s.start(s.client.ping());
        auto closing = s.start(s.client.close());
        CHECK(closing.succeeded());
        CHECK(a.failed_with(errc::closed));
        CHECK(b.failed_with(errc::closed));
        CHECK(c.failed_with(errc::closed));
        CHECK(a.failure().fate == outcome::unknown);
        CHECK(s.peer.wire().finished());
        auto later = s.start(s.client.call("d"));
        CHECK(later.failed_with(errc::closed));
        CHECK(later.failure().fate == outcome::not_sent);
        s.run(s.client.close()); // closing again is fine
    }
    CHECK(s.client.statistics().sent <= 5); // nothing is ever sent twice
}

TEST_CASE("A request of any method gives its result as JSON, with its text where sources are kept")
{
    comcp::client_options options;
    options.keep_source = true;
    client_stage s(std::move(options));
    auto asked = s.start(s.client.request("x/do", comcp::raw_json(R"({"n":1.0,"m":123456789012345678901234})")));
    const heard got = s.peer.expect("x/do");
    CHECK(has(got.text, R"("params":{"n":1.0,"m":123456789012345678901234})"));
    got.reply(R"({"v":1.0, "big":123456789012345678901234})");
    CHECK(asked.value().source == R"({"v":1.0, "big":123456789012345678901234})");
    CHECK(asked.value().value.at("v").as_double() == 1.0);
}

// ---- deadlines
// -------------------------------------------------------------------------------------------------------

TEST_CASE("A call that is not answered in time is cancelled at the server, and its late answer is dropped")
{
    client_stage s;
    auto call = s.start(s.client.call("a", comcp::args(), within(100ms)));
    const heard asked = s.peer.expect("tools/call");
    s.advance(99ms);
    CHECK_FALSE(call.done());
    s.advance(1ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(call.failure().fate == outcome::unknown);
    const heard told = s.peer.expect("notifications/cancelled");
    CHECK(told.params().at("requestId").as_int64() == 2);
    asked.reply(empty_result);
    CHECK(s.client.statistics().late_answers == 1);
    CHECK(s.client.statistics().bad_messages == 0);
    CHECK(s.client.connected());
    CHECK(s.peer.quiet());
}

TEST_CASE("Without options a call has 120 s, a ping 10 s")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    auto list = s.start(s.client.list_tools());
    auto ping = s.start(s.client.ping());
    s.advance(10s);
    CHECK(ping.failed_with(errc::timed_out));
    s.advance(110s - 1ms);
    CHECK_FALSE(call.done());
    s.advance(1ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(list.failed_with(errc::timed_out));
    CHECK(s.client.connected());
}

TEST_CASE("Progress restarts the idle clock, even when nobody listens to it [116]")
{
    client_stage s;
    auto call = s.start(s.client.call("a", comcp::args(), comcp::call_options().timeout(1s).idle_timeout(100ms)));
    const heard asked = s.peer.expect("tools/call");
    CHECK(has(asked.text, R"("_meta":{"progressToken":2})"));
    for (int i = 1; i <= 14; ++i) {
        s.advance(20ms);
        s.peer.note("notifications/progress", R"({"progressToken":2,"progress":)" + std::to_string(i) + "}");
    }
    asked.after(20ms).reply(empty_result);
    CHECK(call.succeeded());
}

TEST_CASE("Silence beyond the idle limit ends a call, and progress never extends the total")
{
    client_stage s;
    auto idle = s.start(s.client.call("a", comcp::args(), comcp::call_options().timeout(1s).idle_timeout(100ms)));
    s.advance(90ms);
    s.peer.note("notifications/progress", R"({"progressToken":"2","progress":1})"); // some peers make it a string
    s.advance(99ms);
    CHECK_FALSE(idle.done());
    s.advance(1ms);
    CHECK(idle.failed_with(errc::timed_out));

    auto total = s.start(s.client.call("a", comcp::args(), comcp::call_options().timeout(1s).idle_timeout(100ms)));
    for (int i = 1; i < 20; ++i) {
        s.advance(50ms);
        s.peer.note("notifications/progress", R"({"progressToken":3,"progress":)" + std::to_string(i) + "}");
    }
    CHECK_FALSE(total.done());
    s.advance(50ms);
    CHECK(total.failed_with(errc::timed_out));
    CHECK(s.peer.skip_all() == 4); // two calls, two cancelled
}

TEST_CASE("A time limit of zero is refused, and no_limit is for ever")
{
    CHECK_THROWS_AS(comcp::call_options().timeout(0s), comcp::error);
    CHECK_THROWS_AS(comcp::call_options().idle_timeout(-1s), comcp::error);
    client_stage s;
    auto call = s.start(s.client.call("a", comcp::args(), within(comcp::no_limit).idle_timeout(comcp::no_limit)));
    s.advance(1000h);
    CHECK_FALSE(call.done());
    s.peer.expect("tools/call").reply(empty_result);
    CHECK(call.succeeded());
}

// ---- cancellation
// ----------------------------------------------------------------------------------------------------

TEST_CASE("A cancelled call tells the server, and whatever comes later is ignored [37]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    call.cancel();
    s.settle();
    CHECK(call.failed_with(errc::cancelled));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(s.peer.expect("notifications/cancelled").params().at("requestId").as_int64() == 2);
    asked.refuse(0, "Request cancelled");
    s.peer.note("notifications/progress", R"({"progressToken":2,"progress":1})");
    CHECK(s.client.connected());
    CHECK(s.client.statistics().late_answers == 1);
    auto next = s.start(s.client.ping());
    s.peer.expect("ping").reply("{}");
    CHECK(next.succeeded());
    CHECK(s.peer.quiet());
}

TEST_CASE("A call that is cancelled before it starts sends nothing")
{
    client_stage s;
    auto work = s.start(call_after_work(s.client, 10ms));
    work.cancel();
    s.settle();
    s.advance(1s);
    CHECK(work.done());
    CHECK_FALSE(work.succeeded());
    CHECK(s.peer.quiet());
}

TEST_CASE("A timer's wait that is cancelled fails as cancelled")
{
    stage s;
    comcp::timer timer(s.executor());
    auto wait = s.start(timer.wait_for(1s));
    wait.cancel();
    s.settle();
    REQUIRE(wait.done());
    REQUIRE_FALSE(wait.threw_other());
    CHECK(wait.failed_with(errc::cancelled));
}

TEST_CASE("A call races a timer with ||")
{
    client_stage s;
    auto race = s.start(call_or_give_up(s.client, 50ms));
    const heard asked = s.peer.expect("tools/call");
    SECTION("the timer wins")
    {
        s.advance(50ms);
        CHECK(race.value() == "gave up");
        s.peer.expect("notifications/cancelled");
        asked.reply(empty_result);
        CHECK(s.client.statistics().late_answers == 1);
    }
    SECTION("the call wins")
    {
        asked.after(49ms).reply(text_result("in time"));
        CHECK(race.value() == "in time");
        s.advance(1s);
    }
    CHECK(s.peer.quiet());
    auto again = s.start(call_or_give_up(s.client, 50ms));
    s.peer.expect("tools/call").reply(text_result("still works"));
    CHECK(again.value() == "still works");
}

TEST_CASE("The answer and the cancellation in one turn end the call once")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call");
    s.peer.wire().send(result_for("2", "yes"));
    call.cancel(); // before the message is read
    s.settle();
    CHECK(call.done());
    CHECK(call.failed_with(errc::cancelled));
    CHECK(s.client.statistics().late_answers == 1);
}

// ---- other ways to await
// ---------------------------------------------------------------------------------------------

TEST_CASE("Every operation completes into a callback")
{
    client_stage s(comcp::client_options(), "");
    int done = 0;
    const auto count = [&](std::exception_ptr failure, auto&&...) { done += failure ? 100 : 1; };
    asio::co_spawn(s.io, s.client.connect(), count);
    s.peer.expect("initialize").reply(welcome());
    s.peer.expect("notifications/initialized");
    asio::co_spawn(s.io, s.client.list_tools(), count);
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    asio::co_spawn(s.io, s.client.call("a"), count);
    s.peer.expect("tools/call").reply(empty_result);
    asio::co_spawn(s.io, s.client.request("x"), count);
    s.peer.expect("x").reply("{}");
    asio::co_spawn(s.io, s.client.ping(), count);
    s.peer.expect("ping").reply("{}");
    asio::co_spawn(s.io, s.client.close(), count);
    s.settle();
    CHECK(done == 6);
}

TEST_CASE("Every operation completes into a future")
{
    client_stage s(comcp::client_options(), "");
    auto connected = asio::co_spawn(s.io, s.client.connect(), asio::use_future);
    s.peer.expect("initialize").reply(welcome());
    s.peer.expect("notifications/initialized");
    connected.get();
    auto listed = asio::co_spawn(s.io, s.client.list_tools(), asio::use_future);
    s.peer.expect("tools/list").reply(R"({"tools":[{"name":"t","inputSchema":{}}]})");
    CHECK(listed.get().size() == 1);
    auto called = asio::co_spawn(s.io, s.client.call("a"), asio::use_future);
    s.peer.expect("tools/call").reply(text_result("A"));
    CHECK(comcp::to_text(called.get()) == "A");
    auto asked = asio::co_spawn(s.io, s.client.request("x"), asio::use_future);
    s.peer.expect("x").refuse(-7, "no");
    CHECK_THROWS_AS(asked.get(), comcp::error);
    auto pinged = asio::co_spawn(s.io, s.client.ping(), asio::use_future);
    s.peer.expect("ping").reply("{}");
    pinged.get();
    auto closed = asio::co_spawn(s.io, s.client.close(), asio::use_future);
    s.settle();
    closed.get();
}

TEST_CASE("A failure can be had as a value")
{
    client_stage s;
    auto call = s.start(comcp::as_result(s.client.call("a")));
    s.peer.expect("tools/call").refuse(-32603, "broken");
    const comcp::result<comcp::answer>& got = call.value();
    REQUIRE(got.has_error());
    CHECK(got.error().fate == outcome::refused);
}
