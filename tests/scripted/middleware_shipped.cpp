// SPDX-License-Identifier: MIT
//
// The middleware that the library brings, in whole sessions.
#include "script.hpp"

#include <comcp/middleware.hpp>

#include <thread>
#include <vector>

using namespace script;
using comcp::direction;
using comcp::middleware_message;
using comcp::middleware_next;
using comcp::middleware_reply;
using lines = std::vector<std::string>;

namespace
{

std::string said(int id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + text_result(text) + '}';
}

std::string too_many(int id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"error":{"code":-32603,"message":"too many requests","data":{"retryable":true}}})";
}

std::string pong(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})"; }

comcp::task<std::string> work(comcp::duration time, lines* ends)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    try {
        co_await timer.wait_for(time);
        ends->push_back("done");
    } catch (...) {
        ends->push_back("cancelled");
        throw;
    }
    co_return "worked";
}

/// A server with a quick tool and one that takes 100 ms.
struct work_stage : server_stage
{
    lines ends;
    int next_id = 0;

    work_stage()
    {
        server.tool("quick", "", [] { return "q"; });
        server.tool("work", "", [this] { return work(100ms, &ends); });
        server.tool("fail", "", []() -> std::string { throw comcp::tool_error("no disk"); });
    }
    int call(std::string_view tool)
    {
        peer.call(std::to_string(++next_id), tool);
        return next_id;
    }
};

/// A second client of the same server.
struct second_client
{
    script::peer peer;
    running<comcp::fault> served;

    explicit second_client(work_stage& on) : peer(on), served(on.start(on.server.serve(peer.wire().take_transport())))
    {
        peer.ask("0", "initialize",
                 R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"second","version":"1"}})");
        peer.next();
    }
};

/// Says who the peer is, as HTTP authorization would.
comcp::middleware as_principal(std::string& who)
{
    return [&who](middleware_message message, middleware_next next) -> comcp::task<middleware_reply> {
        message.principal = who;
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    };
}

} // namespace

// ---- rate_limit ----------------------------------------------------------------------------------------------------

TEST_CASE("requests beyond the rate are refused, and come through again with time", "[middleware]")
{
    work_stage s;
    s.server.use(comcp::rate_limit(10, 3));
    s.begin();
    for (int id = 1; id <= 3; ++id) CHECK((s.call("quick"), s.peer.next()) == said(id, "q"));
    CHECK((s.call("quick"), s.peer.next()) == too_many(4));
    s.advance(99ms);
    CHECK((s.call("quick"), s.peer.next()) == too_many(5));
    s.advance(1ms);
    CHECK((s.call("quick"), s.peer.next()) == said(6, "q"));
    CHECK((s.call("quick"), s.peer.next()) == too_many(7));
    s.advance(1h); // no more than the burst was saved
    for (int id = 8; id <= 10; ++id) CHECK((s.call("quick"), s.peer.next()) == said(id, "q"));
    CHECK((s.call("quick"), s.peer.next()) == too_many(11));
    for (int id = 20; id < 30; ++id) {
        s.peer.ask(std::to_string(id), "ping");
        CHECK(s.peer.next() == pong(id));
        s.peer.note("notifications/x");
    }
    CHECK(s.peer.quiet());
}

TEST_CASE("sessions share the rate, principals have their own", "[middleware]")
{
    const bool each = GENERATE(false, true);
    std::string who;
    comcp::rate_limit limit(1, 1);
    if (each) limit.each_principal(2);
    work_stage s;
    s.server.use(as_principal(who));
    s.server.use(limit);
    s.begin();
    second_client other(s);
    who = "ada";
    CHECK((s.call("quick"), s.peer.next()) == said(1, "q"));
    other.peer.call("2", "quick");
    CHECK(other.peer.next() == too_many(2));
    who = "bob";
    other.peer.call("3", "quick");
    CHECK(other.peer.next() == (each ? said(3, "q") : too_many(3)));
    if (!each) return;
    who = "cem"; // more than two principals: the rest share one bucket
    CHECK((s.call("quick"), s.peer.next()) == said(2, "q"));
    who = "dana";
    CHECK((s.call("quick"), s.peer.next()) == too_many(3));
    s.advance(2s); // ada and bob have been quiet: their places are free
    CHECK((s.call("quick"), s.peer.next()) == said(4, "q"));
    who = "eve";
    CHECK((s.call("quick"), s.peer.next()) == said(5, "q"));
}

TEST_CASE("calls of a client wait for their token, in order and within their own deadline", "[middleware]")
{
    comcp::client_options options;
    options.use(comcp::rate_limit(10, 1));
    client_stage s(std::move(options));
    auto a = s.start(s.client.call("a"));
    auto late = s.start(s.client.call("late", comcp::args(), comcp::call_options().timeout(50ms)));
    auto b = s.start(s.client.call("b"));
    auto given_up = s.start(s.client.call("given_up"));
    auto ping = s.start(s.client.ping());
    CHECK(has(s.peer.next(), R"("name":"a")"));
    s.peer.expect("ping").reply("{}");
    CHECK(ping.succeeded());
    CHECK(s.peer.quiet());
    s.advance(50ms);
    CHECK(late.failed_with(errc::timed_out));
    CHECK(late.failure().fate == outcome::not_sent);
    given_up.cancel();
    s.settle();
    CHECK(given_up.failed_with(errc::cancelled));
    CHECK(given_up.failure().fate == outcome::not_sent);
    s.advance(149ms);
    CHECK(s.peer.quiet());
    s.advance(1ms);
    CHECK(has(s.peer.next(), R"("name":"b")"));
    auto c = s.start(s.client.call("c")); // two tokens were given back
    CHECK(has(s.peer.next(), R"("name":"c")"));
    CHECK(s.peer.quiet());
}

TEST_CASE("a rate must be above zero", "[middleware]")
{
    CHECK_THROWS_AS(comcp::rate_limit(0, 1), comcp::error);
    CHECK_THROWS_AS(comcp::rate_limit(-1, 1), comcp::error);
    CHECK_THROWS_AS(comcp::rate_limit(1, 0), comcp::error);
    CHECK_THROWS_AS(comcp::rate_limit(1, 1).each_principal(0), comcp::error);
    CHECK_THROWS_AS(comcp::concurrency_limit(0), comcp::error);
    CHECK_NOTHROW(comcp::rate_limit(1e-300, 1000000));
    CHECK_NOTHROW(comcp::rate_limit(1e300, 1));
}

// ---- concurrency_limit ---------------------------------------------------------------------------------------------

TEST_CASE("requests beyond the places wait their turn over all sessions, and beyond the queue are refused",
          "[middleware]")
{
    work_stage s;
    s.server.use(comcp::concurrency_limit(1, 2));
    s.begin();
    second_client other(s);
    s.call("work");               // 1: has the place
    other.peer.call("2", "work"); // first in the queue
    s.next_id = 2;
    s.call("quick"); // 3: second
    other.peer.call("4", "quick");
    CHECK(other.peer.next() == too_many(4));
    s.peer.ask("5", "ping");
    CHECK(s.peer.next() == pong(5));
    s.advance(100ms);
    CHECK(s.peer.next() == said(1, "worked"));
    CHECK(s.peer.quiet()); // behind the other session's
    s.advance(100ms);
    CHECK(other.peer.next() == said(2, "worked"));
    CHECK(s.peer.next() == said(3, "q"));
    CHECK(s.peer.quiet());
}

TEST_CASE("a request that is cancelled leaves the queue, or gives its place on", "[middleware]")
{
    work_stage s;
    s.server.use(comcp::concurrency_limit(1));
    s.begin();
    const bool running_one = GENERATE(false, true);
    s.call("work");
    s.call("work");
    CHECK((s.call("work"), s.peer.next()) == too_many(3)); // as many wait as have a place
    s.peer.note("notifications/cancelled", running_one ? R"({"requestId":1})" : R"({"requestId":2})");
    s.next_id = 3;
    s.call("quick");
    s.advance(100ms);
    if (running_one) CHECK(s.peer.next() == said(2, "worked"));
    else CHECK(s.peer.next() == said(1, "worked"));
    CHECK(s.peer.next() == said(4, "q"));
    CHECK((s.call("quick"), s.peer.next()) == said(5, "q"));
    CHECK(s.ends == (running_one ? lines{"cancelled", "done"} : lines{"done"}));
    CHECK(s.peer.quiet());
}

TEST_CASE("a session that ends gives back its places and its turns", "[middleware]")
{
    work_stage s;
    s.server.use(comcp::concurrency_limit(1, 10));
    s.begin();
    const bool running_one = GENERATE(false, true);
    second_client other(s);
    if (running_one) other.peer.call("1", "work");
    s.call("work");
    if (!running_one) other.peer.call("1", "work");
    s.call("quick");
    comcp::transport_event broken;
    broken.what = comcp::transport_event::kind::closed;
    broken.why = comcp::fail(errc::peer_gone, "reset");
    other.peer.wire().send(broken);
    s.advance(100ms);
    s.advance(100ms);
    CHECK(s.peer.next() == said(1, "worked"));
    CHECK(s.peer.next() == said(2, "q"));
    CHECK(other.served.done());
    CHECK((s.call("quick"), s.peer.next()) == said(3, "q"));
}

TEST_CASE("a server dies with its io_context while requests wait for a place", "[middleware]")
{
    lines ends;
    const comcp::concurrency_limit limit(1, 10);
    {
        work_stage s;
        s.server.use(limit);
        s.begin();
        second_client other(s);
        s.call("work");
        s.call("work");
        other.peer.call("1", "work");
    }
    work_stage again; // the place is free again
    again.server.use(limit);
    again.begin();
    CHECK((again.call("quick"), again.peer.next()) == said(1, "q"));
}

TEST_CASE("the directions have places of their own: a handler can ask its client", "[middleware]")
{
    server_stage s;
    s.server.use(comcp::concurrency_limit(1, 0));
    s.server.tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        const auto roots = co_await ctx.list_roots();
        co_return std::to_string(roots.size());
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.call("1", "ask");
    s.peer.expect("roots/list").reply(R"({"roots":[]})");
    CHECK(s.peer.next() == said(1, "0"));

    comcp::client_options options;
    options.use(comcp::concurrency_limit(1, 0));
    client_stage c(std::move(options));
    auto first = c.start(c.client.call("a"));
    auto second = c.start(c.client.call("b"));
    CHECK(second.failed_with(errc::busy));
    CHECK(second.failure().fate == outcome::not_sent);
    c.peer.expect("tools/call").reply(text_result("x"));
    CHECK(first.succeeded());
    CHECK(c.peer.quiet());
}

TEST_CASE("places are shared by sessions of several threads, and no turn is lost", "[middleware]")
{
    constexpr int threads = 4;
    constexpr int calls = 200;
    const comcp::concurrency_limit limit(2, 1000);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> answered{0};
    const auto serve = [&] {
        asio::io_context io{1};
        comcp::server server("s", "1");
        server.use(limit);
        server.use([&](middleware_message message, middleware_next next) -> comcp::task<middleware_reply> {
            const bool counts = message.method == "tools/call";
            if (counts) {
                const int now = ++inside;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                }
            }
            auto going = next(std::move(message));
            auto reply = co_await std::move(going);
            if (counts) --inside;
            co_return reply;
        });
        server.tool("turn", "", []() -> comcp::task<std::string> {
            const auto ex = co_await asio::this_coro::executor;
            co_await asio::post(ex, asio::use_awaitable);
            co_return "t";
        });
        comcp::memory_pipe pipe(io.get_executor());
        comcp::client client(std::move(pipe.first), comcp::identity("c", "1"));
        running<comcp::fault> served(io.get_executor(), server.serve(std::move(pipe.second)));
        running<void> connecting(io.get_executor(), client.connect());
        while (!connecting.done()) io.run_one();
        std::vector<running<comcp::answer>> all;
        for (int i = 0; i < calls; ++i) all.emplace_back(io.get_executor(), client.call("turn"));
        for (auto& each : all) {
            while (!each.done()) io.run_one();
            if (each.succeeded()) ++answered;
        }
        running<void> closing(io.get_executor(), client.close());
        while (!closing.done() || !served.done()) io.run_one();
    };
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(serve);
    for (auto& each : all) each.join();
    CHECK(answered == threads * calls);
    CHECK(most <= 2);
    CHECK(inside == 0);
}

// ---- log_messages and timing ---------------------------------------------------------------------------------------

TEST_CASE("one line for each message says who asked what, how long it took and how it ended", "[middleware]")
{
    lines log;
    std::string who;
    work_stage s;
    s.server.use(as_principal(who));
    s.server.use(comcp::log_messages([&](std::string_view line) { log.emplace_back(line); }));
    s.begin();
    CHECK(log == lines{R"(inbound request "initialize" id=0 peer="" 0.000ms ok)",
                       R"(inbound notification "notifications/initialized" peer="script" 0.000ms ok)"});
    log.clear();
    who = "ada \"x\"";
    s.call("work");
    s.advance(100ms);
    who.clear();
    s.call("missing");
    s.call("fail");
    s.call("work");
    s.advance(1ms);
    s.peer.note("notifications/cancelled", R"({"requestId":4})");
    s.peer.ask("\"x\\ny\"", "no\\nsuch\\u2028 \\\"method\\\" ok");
    CHECK(
        log ==
        lines{
            R"(inbound request "tools/call" id=1 peer="script" principal="ada \"x\"" 100.000ms ok)",
            R"(inbound request "tools/call" id=2 peer="script" 0.000ms error -32602 "unknown tool: missing")",
            R"(inbound request "tools/call" id=3 peer="script" 0.000ms tool_error)",
            R"(inbound notification "notifications/cancelled" peer="script" 0.000ms ok)",
            R"(inbound request "tools/call" id=4 peer="script" 1.000ms cancelled)",
            R"(inbound request "no\nsuch\u2028 \"method\" ok" id="x\ny" peer="script" 0.000ms error -32601 "no such method")"});
    for (const auto& line : log) CHECK(line.find('\n') == line.npos);
}

TEST_CASE("params and results are logged only when asked for, and then without secrets and cut", "[middleware]")
{
    lines log;
    comcp::log_messages_options options;
    options.params().results().redact(comcp::redaction().most(60));
    work_stage s;
    s.server.use(comcp::log_messages([&](std::string_view line) { log.emplace_back(line); }, options));
    s.begin();
    log.clear();
    s.peer.call("1", "quick", R"({"api_key":"xyzzy"})");
    s.peer.call("2", "quick", R"({"text":")" + std::string(500, 'x') + "\"}");
    CHECK(
        log ==
        lines{
            R"(inbound request "tools/call" id=1 peer="script" params={"name":"quick","arguments":{"api_key":"[secret]"}} )"
            R"(0.000ms ok result={"content":[{"type":"text","text":"q"}]})",
            R"(inbound request "tools/call" id=2 peer="script" params={"name":"quick","arguments":{"text":")" +
                std::string(23, 'x') +
                R"(... (540 bytes) 0.000ms ok result={"content":[{"type":"text","text":"q"}]})"});
    s.peer.skip_all();
    s.peer.call("3", "quick", "{}", R"({"password":5})");
    CHECK_FALSE(has(log.at(2), "password\":5"));
}

TEST_CASE("a client's log has its own requests, and what they were refused with", "[middleware]")
{
    lines log;
    comcp::client_options options;
    options.use(comcp::log_messages([&](std::string_view line) { log.emplace_back(line); },
                                    comcp::log_messages_options().results()));
    client_stage s(std::move(options));
    log.clear();
    auto call = s.start(s.client.call("a"));
    s.advance(2ms);
    s.peer.expect("tools/call").refuse(-32000, "no", R"({"token":"xyzzy","why":1})");
    auto late = s.start(s.client.call("b", comcp::args(), comcp::call_options().timeout(5ms)));
    s.advance(5ms);
    s.settle();
    CHECK(
        log.at(0) ==
        R"(outbound request "tools/call" id=2 peer="scripted" 2.000ms error -32000 "no" result={"token":"[secret]","why":1})");
    CHECK(log.size() == 3);
    CHECK(std::count(log.begin(), log.end(),
                     R"(outbound request "tools/call" id=3 peer="scripted" 5.000ms cancelled)") == 1);
}

TEST_CASE("timing tells method, direction, duration and end of every message", "[middleware]")
{
    lines seen;
    work_stage s;
    s.server.use(comcp::timing([&](const comcp::message_timing& each) {
        seen.push_back((each.way == direction::inbound ? "< " : "> ") + each.method + ' ' +
                       (each.is_request ? "asks " : "tells ") +
                       std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(each.took).count()) + ' ' +
                       std::string(to_string(each.end.what)) + ' ' + std::to_string(each.end.code));
        throw 1; // the sink's own failure harms nobody
    }));
    s.server.use([](middleware_message message, middleware_next next) -> comcp::task<middleware_reply> {
        if (has(message.params, "throws")) throw std::runtime_error("x");
        if (has(message.params, "refused")) throw comcp::request_error(7, "x");
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin();
    seen.clear();
    s.call("work");
    s.advance(100ms);
    for (const auto* tool : {"fail", "missing", "throws", "refused"}) s.call(tool);
    s.server.tool("new", "", [] { return ""; });
    s.settle();
    CHECK(seen == lines{"< tools/call asks 100 ok 0", "< tools/call asks 0 tool_error 0",
                        "< tools/call asks 0 error -32602", "< tools/call asks 0 failed 0",
                        "< tools/call asks 0 error 7", "> notifications/tools/list_changed tells 0 ok 0"});
    CHECK(s.peer.skip_all() == 6);
}
