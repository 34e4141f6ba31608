// SPDX-License-Identifier: MIT
// Every operation raced with a timer, as users write it, won and lost; and those of a server into callbacks and
// futures. Those of a client are in client_calls.cpp.
#include "script.hpp"

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#else
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_future.hpp>
#endif

#include <future>

using namespace script;

namespace
{

/// Whether the operation ends first.
template <class T>
comcp::task<bool> wins(comcp::task<T> operation, comcp::duration patience)
{
    using namespace asio::experimental::awaitable_operators;
    comcp::timer timer(co_await asio::this_coro::executor);
    auto race = std::move(operation) || timer.wait_for(patience);
    const auto won = co_await std::move(race);
    co_return won.index() == 0;
}

struct client_operation
{
    comcp::task<bool> (*race)(comcp::client&);
    const char* method;
    const char* result;
};

const client_operation client_operations[] = {
    {[](comcp::client& c) { return wins(c.list_tools(), 50ms); }, "tools/list", R"({"tools":[]})"},
    {[](comcp::client& c) { return wins(c.list_resources(), 50ms); }, "resources/list", R"({"resources":[]})"},
    {[](comcp::client& c) { return wins(c.list_prompts(), 50ms); }, "prompts/list", R"({"prompts":[]})"},
    {[](comcp::client& c) { return wins(c.call("t"), 50ms); }, "tools/call", R"({"content":[]})"},
    {[](comcp::client& c) { return wins(c.request("x"), 50ms); }, "x", "{}"},
    {[](comcp::client& c) { return wins(c.ping(), 50ms); }, "ping", "{}"},
    {[](comcp::client& c) { return wins(c.read_resource("a:1"), 50ms); }, "resources/read", R"({"contents":[]})"},
    {[](comcp::client& c) { return wins(c.get_prompt("p"), 50ms); }, "prompts/get", R"({"messages":[]})"},
    {[](comcp::client& c) { return wins(c.set_log_level(comcp::log_level::error), 50ms); }, "logging/setLevel", "{}"},
    {[](comcp::client& c) { return wins(c.subscribe("a:1"), 50ms); }, "resources/subscribe", "{}"},
};
const char* const everything = R"({"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{}})";

struct server_operation
{
    comcp::task<bool> (*race)(comcp::context&);
    const char* method;
    const char* result;
};

const server_operation server_operations[] = {
    {[](comcp::context& c) { return wins(c.list_roots(), 50ms); }, "roots/list", R"({"roots":[]})"},
    {[](comcp::context& c) { return wins(c.sample(comcp::sampling_request("?", 5)), 50ms); }, "sampling/createMessage",
     R"({"role":"assistant","model":"m","content":{"type":"text","text":"yes"}})"},
    {[](comcp::context& c) {
         return wins(c.elicit(comcp::elicitation_request::form(
                         "Tell", parse(R"({"type":"object","properties":{"a":{"type":"string"}}})"))),
                     50ms);
     },
     "elicitation/create", R"({"action":"decline"})"},
    {[](comcp::context& c) { return wins(c.elicit_url("Log in", "https://example.com/", "e-1"), 50ms); },
     "elicitation/create", R"({"action":"accept"})"},
};
const char* const all_of_a_client = R"({"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}})";

/// Starts an operation into a callback or a future, and keeps the call open until it has ended.
comcp::task<std::string> roots_otherwise(comcp::context& ctx, std::future<comcp::root_list>* future, int* called_back)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    if (future) *future = asio::co_spawn(ex, ctx.list_roots(), asio::use_future);
    else
        asio::co_spawn(ex, ctx.list_roots(), [called_back](std::exception_ptr failed, std::vector<comcp::root> got) {
            if (!failed) *called_back = static_cast<int>(got.size());
        });
    comcp::timer timer(ex);
    co_await timer.wait_for(1s);
    co_return "asked";
}

} // namespace

TEST_CASE("Every operation of a client can be raced with a timer")
{
    for (const client_operation& each : client_operations) {
        INFO(each.method);
        client_stage s(comcp::client_options(), "");
        s.shake_hands("2025-11-25", everything);
        auto won = s.start(each.race(s.client));
        s.peer.expect(each.method).after(49ms).reply(each.result);
        CHECK(won.value());
        s.advance(1s);
        CHECK(s.peer.quiet());

        auto lost = s.start(each.race(s.client));
        const heard asked = s.peer.expect(each.method);
        s.advance(50ms);
        CHECK_FALSE(lost.value());
        s.peer.expect("notifications/cancelled");
        asked.reply(each.result); // late
        CHECK(s.client.statistics().late_answers == 1);
        CHECK(s.client.connected());
        CHECK(s.peer.quiet());
    }
}

TEST_CASE("A connect can be raced with a timer")
{
    client_stage s(comcp::client_options(), "");
    auto race = s.start(wins(s.client.connect(), 50ms));
    const heard hello = s.peer.expect("initialize");
    SECTION("won")
    {
        hello.after(49ms).reply(welcome());
        s.peer.expect("notifications/initialized");
        CHECK(race.value());
        s.advance(1s);
        CHECK(s.client.connected());
    }
    SECTION("lost")
    {
        s.advance(50ms);
        CHECK_FALSE(race.value());
        CHECK_FALSE(s.client.connected());
        CHECK(s.peer.wire().closed());
    }
    CHECK(s.peer.quiet()); // initialize is never cancelled on the wire
}

TEST_CASE("A close can be raced with a timer, and goes on when it loses")
{
    client_stage s;
    SECTION("won") { CHECK(s.run(wins(s.client.close(), 50ms))); }
    SECTION("lost")
    {
        s.peer.wire().reads(false);
        auto call = s.start(s.client.call("t"));
        auto race = s.start(wins(s.client.close(), 50ms));
        s.advance(50ms);
        CHECK_FALSE(race.value());
        CHECK(call.failed_with(errc::closed));
        CHECK_FALSE(s.peer.wire().closed());
        s.advance(10s);
    }
    CHECK(s.peer.wire().closed());
    CHECK_FALSE(s.client.connected());
}

TEST_CASE("Serving can be raced with a timer")
{
    server_stage s;
    auto race = s.start(wins(s.server.serve(s.peer.wire().take_transport()), 50ms));
    SECTION("won")
    {
        s.advance(49ms);
        s.peer.hang_up();
        CHECK(race.value());
        s.advance(1s);
    }
    SECTION("lost")
    {
        s.advance(50ms);
        CHECK_FALSE(race.value());
    }
    CHECK(s.peer.wire().closed());
    CHECK(s.peer.quiet());
}

TEST_CASE("Serving completes into a callback and into a future")
{
    server_stage s;
    SECTION("a callback")
    {
        int ended = 0;
        asio::co_spawn(
            s.io, s.server.serve(s.peer.wire().take_transport()),
            [&](std::exception_ptr failed, const comcp::fault& why) { ended += failed || why.code ? 100 : 1; });
        s.peer.hang_up();
        CHECK(ended == 1);
    }
    SECTION("a future")
    {
        auto ended = asio::co_spawn(s.io, s.server.serve(s.peer.wire().take_transport()), asio::use_future);
        s.peer.ask("1", "ping");
        s.peer.hang_up();
        CHECK_FALSE(ended.get().code);
    }
}

TEST_CASE("Every question of a handler can be raced with a timer")
{
    for (const server_operation& each : server_operations) {
        INFO(each.method);
        server_stage s;
        std::string told;
        s.server.tool("ask", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
            auto race = each.race(ctx);
            const bool won = co_await std::move(race);
            told = won ? "won" : "lost";
            co_return told;
        });
        s.begin("2025-11-25", all_of_a_client);
        s.peer.call("1", "ask");
        s.peer.expect(each.method).after(49ms).reply(each.result);
        CHECK(told == "won");
        CHECK(has(s.peer.next(), R"("id":1,"result")"));
        s.advance(1s);
        CHECK(s.peer.quiet());

        s.peer.call("2", "ask");
        const heard asked = s.peer.expect(each.method);
        s.advance(50ms);
        CHECK(told == "lost");
        s.peer.expect("notifications/cancelled");
        CHECK(has(s.peer.next(), R"("id":2,"result")"));
        asked.reply(each.result); // late
        CHECK(s.peer.quiet());
    }
}

TEST_CASE("A question of a handler completes into a callback and into a future")
{
    const bool as_future = GENERATE(false, true);
    server_stage s;
    std::future<comcp::root_list> future;
    int called_back = 0;
    s.server.tool("ask", "", [&](comcp::context& ctx) {
        return roots_otherwise(ctx, as_future ? &future : nullptr, &called_back);
    });
    s.begin("2025-11-25", all_of_a_client);
    s.peer.call("1", "ask");
    s.peer.expect("roots/list").reply(R"({"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]})");
    if (as_future) CHECK(future.get().size() == 2);
    else CHECK(called_back == 2);
    s.advance(1s);
    CHECK(has(s.peer.next(), R"("id":1,"result")"));
}
