// SPDX-License-Identifier: MIT
// A server at work: cancellation, progress, the host's executor, the end of its input, a slow reader.
#include "script.hpp"

#include <limits>

using namespace script;

namespace
{

std::string said(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + text_result(text) + '}';
}

std::string pong(std::string_view id) { return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})"; }

comcp::task<std::string> wait_and_tell(comcp::duration time, std::vector<std::string>* ends)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    bool cancelled = false;
    try {
        co_await timer.wait_for(time);
    } catch (...) {
        cancelled = true;
    }
    ends->push_back(cancelled ? "cancelled" : "done");
    co_return "done";
}

/// Reports 1, 2, 3 ... each 10 ms, also when it was cancelled.
comcp::task<std::string> count_up(comcp::context ctx, int to)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    try {
        for (int i = 1; i <= to; ++i) {
            ctx.progress(i, to, "step");
            co_await timer.wait_for(10ms);
        }
    } catch (...) {
    }
    ctx.progress(100);
    co_return "counted";
}

/// Never ends by itself and does not listen to cancellation.
comcp::task<void> hang()
{
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(comcp::no_limit);
}

struct slow_stage : server_stage
{
    std::vector<std::string> ends;
    explicit slow_stage(comcp::server_options options = {}) : server_stage(std::move(options))
    {
        server.tool("slow", "", [this] { return wait_and_tell(100ms, &ends); });
    }
};

} // namespace

// ---- cancellation
// ----------------------------------------------------------------------------------------------------

TEST_CASE("A cancelled call gets no answer, and its coroutine is told [38]")
{
    slow_stage s;
    s.begin();
    s.peer.call("99", "slow");
    s.peer.call("\"99\"", "slow");
    s.peer.note("notifications/cancelled", R"({"requestId":99,"reason":"no longer needed"})");
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
    s.advance(100ms);
    CHECK(s.ends == std::vector<std::string>{"cancelled", "done"});
    CHECK(s.peer.next() == said("\"99\"", "done"));
    CHECK(s.peer.quiet());
    s.peer.call("99", "slow"); // the id is free again
    s.advance(100ms);
    CHECK(s.peer.next() == said("99", "done"));
}

TEST_CASE("A cancellation that comes late, early or malformed is ignored [I-2] [I-5]")
{
    slow_stage s;
    s.begin();
    s.peer.note("notifications/cancelled", R"({"requestId":1})"); // early
    s.peer.call("1", "slow");
    for (const auto* odd : {R"({"requestId":"1"})", R"({"requestId":null})", R"({"requestId":[1]})", R"({})",
                            R"({"requestId":1.5})", R"({"requestId":2})"})
        s.peer.note("notifications/cancelled", odd);
    s.advance(100ms);
    CHECK(s.peer.next() == said("1", "done"));
    s.peer.note("notifications/cancelled", R"({"requestId":1})"); // late
    CHECK(s.peer.quiet());
}

TEST_CASE("A cancelled request of a huge id is found [31]")
{
    slow_stage s;
    s.begin();
    s.peer.call("123456789012345678901234", "slow");
    s.peer.note("notifications/cancelled", R"({"requestId":123456789012345678901234})");
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
    CHECK(s.peer.quiet());
}

// ---- progress
// --------------------------------------------------------------------------------------------------------

TEST_CASE("Progress goes out with the token as it came, and only when asked for [45]")
{
    server_stage s;
    s.server.tool("count", "", [](comcp::context& ctx) { return count_up(ctx, 2); });
    s.begin();
    s.peer.call("1", "count");
    s.advance(1s);
    CHECK(s.peer.next() == said("1", "counted"));
    for (const auto* token :
         {"\"p1\"", "7", "\"7\"", "0", "\"\"", "18446744073709551615", "123456789012345678901234"}) {
        s.peer.call("2", "count", "{}", R"({"progressToken":)" + std::string(token) + "}");
        CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                                   std::string(token) + R"(,"progress":1,"total":2,"message":"step"}})");
        s.advance(1s);
        CHECK(has(s.peer.next(), "\"progress\":2"));
        CHECK(has(s.peer.next(), "\"progress\":100}"));
        CHECK(s.peer.next() == said("2", "counted"));
    }
    for (const auto* odd : {"null", "1.5", "[]", "{}", "true"}) {
        s.peer.call("3", "count", "{}", R"({"progressToken":)" + std::string(odd) + "}");
        s.advance(1s);
        CHECK(s.peer.next() == said("3", "counted"));
    }
    CHECK(s.peer.quiet());
}

TEST_CASE("Progress only rises, and what is no number is not sent [A-21]")
{
    server_stage s;
    s.server.tool("t", "", [](comcp::context& ctx) {
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), 1.0, 1.0, 0.5, 1.5, std::numeric_limits<double>::quiet_NaN(),
              std::numeric_limits<double>::infinity(), 2.0})
            ctx.progress(value);
        return "";
    });
    s.begin("2024-11-05");
    s.peer.call("1", "t", "{}", R"({"progressToken":1})");
    for (const auto* value : {"1}", "1.5}", "2}"}) {
        const std::string notice = s.peer.next();
        INFO(notice);
        CHECK(has(notice, R"("progress":)" + std::string(value)));
    }
    CHECK(s.peer.next() == said("1", ""));
}

TEST_CASE("No progress after a cancellation, and none after the answer [I-4]")
{
    server_stage s;
    std::optional<comcp::context> kept;
    s.server.tool("count", "", [&](comcp::context& ctx) {
        kept = ctx;
        return count_up(ctx, 3);
    });
    s.begin();
    s.peer.call("1", "count", "{}", R"({"progressToken":"p"})");
    s.peer.expect("notifications/progress");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(kept->cancelled());
    s.advance(1s);
    CHECK(s.peer.quiet());
    s.peer.call("2", "count", "{}", R"({"progressToken":"p"})");
    s.advance(1s);
    s.peer.skip_all();
    kept->progress(1000);
    CHECK(s.peer.quiet());
    CHECK_FALSE(kept->cancelled());
}

// ---- the host's executor
// ---------------------------------------------------------------------------------------------

TEST_CASE("A blocking tool without an executor is an error when serving begins")
{
    server_stage s;
    s.server.tool("crunch", "", comcp::blocking([] { return "x"; }));
    auto served = s.start(s.server.serve(s.peer.wire().take_transport()));
    CHECK(served.failed_with(errc::invalid_argument));
    CHECK(has(served.failure().text, "crunch"));
    CHECK_FALSE(s.peer.wire().opened());
}

TEST_CASE("A blocking tool that is added later without an executor fails its calls only")
{
    server_stage s;
    s.begin();
    s.server.tool("crunch", "", comcp::blocking([] { return "x"; }));
    s.peer.expect("notifications/tools/list_changed");
    s.peer.call("1", "crunch");
    CHECK(s.peer.next_object().at("error").at("code").as_int64() == -32603);
    s.peer.ask("2", "ping");
    CHECK(s.peer.next() == pong("2"));
}

TEST_CASE("Handlers run on the host's executor when it pumps, and everything else goes on without it [117]")
{
    comcp::manual_executor host;
    server_stage s;
    std::vector<std::string> order;
    s.server.handlers_on(host.executor());
    s.server.tool("blocking", "", comcp::blocking([&](comcp::context& ctx) {
                      ctx.log(comcp::log_level::info, "working");
                      ctx.progress(1);
                      order.push_back("blocking");
                      return "b";
                  }));
    s.server.tool("plain", "", [&] {
        order.push_back("plain");
        return "p";
    });
    s.server.tool("later", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        order.push_back("later");
        co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
        const auto roots = co_await ctx.list_roots();
        order.push_back("later again");
        co_return roots.at(0).uri;
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.call("1", "blocking", "{}", R"({"progressToken":1})");
    s.peer.call("2", "plain");
    s.peer.call("3", "later");
    s.peer.call("4", "plain");
    s.peer.ask("5", "ping");
    CHECK(s.peer.next() == pong("5")); // the executor is stuck
    s.peer.note("notifications/cancelled", R"({"requestId":4})");
    s.peer.ask("2", "tools/call", R"({"name":"plain"})");
    CHECK(s.peer.next_object().at("error").at("code").as_int64() == -32600); // in flight
    CHECK(s.peer.quiet());
    CHECK(order.empty());

    while (host.pump(10) != 0) {
    }
    CHECK(order == std::vector<std::string>{"blocking", "plain", "later"}); // the cancelled one does not even begin
    s.peer.expect("notifications/message");
    s.peer.expect("notifications/progress");
    CHECK(s.peer.next() == said("1", "b"));
    CHECK(s.peer.next() == said("2", "p"));
    s.peer.expect("roots/list").reply(R"({"roots":[{"uri":"file:///x"}]})");
    while (host.pump(1) != 0) {
    }
    CHECK(s.peer.next() == said("3", "file:///x"));
    CHECK(order.back() == "later again");
    CHECK(s.peer.quiet()); // nothing for the cancelled one
}

TEST_CASE("A cancellation reaches a coroutine on the host's executor when that is pumped")
{
    comcp::manual_executor host;
    server_stage s;
    std::string end = "none";
    s.server.handlers_on(host.executor());
    s.server.tool("ask", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        try {
            co_await ctx.list_roots();
            end = "answered";
        } catch (...) {
            end = ctx.cancelled() ? "cancelled" : "failed";
        }
        co_return "";
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.call("1", "ask");
    const auto pump = [&] {
        for (int i = 0; i < 20; ++i) {
            host.pump(10);
            s.settle();
        }
    };
    pump();
    s.peer.expect("roots/list");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(end == "none");
    pump();
    CHECK(end == "cancelled");
    s.peer.expect("notifications/cancelled");
    CHECK(s.peer.quiet());
}

TEST_CASE("Closing does not wait for a stuck executor beyond its limit")
{
    comcp::manual_executor host;
    server_stage s;
    s.server.handlers_on(host.executor());
    s.server.tool("plain", "", [] { return "p"; });
    s.begin();
    s.peer.call("1", "plain");
    s.server.close();
    s.advance(9s);
    CHECK_FALSE(s.served->done());
    s.advance(1s);
    CHECK(s.served->value().code == errc::closed);
    while (host.pump(10) != 0) s.settle(); // runs into the void
    CHECK(s.peer.quiet());
}

// ---- the end
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("At the end of its input a server finishes what runs, answers, and ends [22]")
{
    slow_stage s;
    s.begin();
    s.peer.call("1", "slow");
    s.peer.hang_up();
    s.advance(99ms);
    CHECK_FALSE(s.served->done());
    s.advance(1ms);
    CHECK(s.peer.next() == said("1", "done"));
    CHECK(s.served->succeeded());
    CHECK(s.peer.wire().finished());
    CHECK(s.ends == std::vector<std::string>{"done"});
}

TEST_CASE("Handlers that take longer than the close limit are cancelled")
{
    slow_stage s;
    s.server.tool("very slow", "", [&] { return wait_and_tell(1h, &s.ends); });
    s.begin();
    s.peer.call("1", "very slow");
    s.peer.hang_up();
    s.advance(10s - 1ms);
    CHECK_FALSE(s.served->done());
    s.advance(1ms);
    CHECK(s.served->done());
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
    CHECK(s.peer.quiet());
}

TEST_CASE("A handler that never ends does not keep serve from ending")
{
    server_stage s;
    s.server.tool("hang", "", [] { return hang(); });
    s.begin();
    s.peer.call("1", "hang");
    s.peer.hang_up();
    s.advance(10s);
    CHECK(s.served->done());
}

TEST_CASE("A handler that asks the client when the input ends is told at once")
{
    server_stage s;
    s.server.tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        const auto roots = co_await comcp::as_result(ctx.list_roots());
        co_return roots ? "roots" : "none";
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.call("1", "ask");
    s.peer.expect("roots/list");
    s.peer.hang_up(); // no answer can come any more
    REQUIRE(s.peer.wire().has_message());
    CHECK(s.peer.next() == said("1", "none"));
    CHECK(s.served->done());
}

TEST_CASE("The end of the input before any message is an orderly end")
{
    server_stage s;
    s.listen();
    s.peer.hang_up();
    CHECK(s.served->succeeded());
    server_stage broken;
    broken.listen();
    broken.peer.hang_up("reset by peer");
    CHECK(has(broken.served->value().text, "reset by peer"));
}

TEST_CASE("A server that is closed cancels its handlers and still writes what it has")
{
    slow_stage s;
    s.begin();
    s.peer.call("1", "slow");
    s.server.close();
    s.settle();
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
    CHECK(s.served->value().code == errc::closed);
    CHECK(s.peer.quiet());
    CHECK(s.peer.wire().finished());
}

TEST_CASE("A server that is closed while it finishes what runs waits for it no longer")
{
    slow_stage s;
    s.begin();
    s.peer.call("1", "slow");
    s.peer.hang_up();
    CHECK_FALSE(s.served->done());
    s.server.close();
    s.settle();
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
    CHECK_FALSE(s.served->value().code); // its input had ended in order
    CHECK(s.peer.quiet());
    CHECK(s.peer.wire().finished());
}

TEST_CASE("A cancelled serve ends the session at once")
{
    slow_stage s;
    s.begin();
    s.peer.call("1", "slow");
    s.served->cancel();
    s.settle();
    CHECK(s.served->done());
    CHECK(s.peer.wire().closed());
    CHECK(s.ends == std::vector<std::string>{"cancelled"});
}

// ---- a slow reader
// ---------------------------------------------------------------------------------------------------

TEST_CASE("While a client does not read, its requests wait; all are answered when it reads again [11] [18]")
{
    comcp::server_options options;
    options.limits.stream_buffer = 10'000;
    server_stage s(std::move(options));
    int ran = 0;
    s.server.tool("big", "", [&](comcp::context& ctx) {
        ++ran;
        for (int i = 1; i <= 50; ++i) ctx.progress(i);
        return std::string(1000, 'x');
    });
    s.begin();
    s.peer.wire().reads(false);
    for (int i = 1; i <= 200; ++i) s.peer.call(std::to_string(i), "big", "{}", R"({"progressToken":1})");
    CHECK(ran > 3);
    CHECK(ran <= 11);
    s.peer.wire().reads(true);
    s.settle();
    CHECK(ran == 200);
    int answers = 0;
    while (s.peer.wire().has_message()) answers += has(s.peer.next(), "\"result\"") ? 1 : 0;
    CHECK(answers == 200);
    s.peer.ask("\"last\"", "ping");
    CHECK(s.peer.next() == pong("\"last\""));
}

TEST_CASE("A server that dies while reading is paused ends its session")
{
    comcp::server_options options;
    options.limits.stream_buffer = 5'000;
    stage s;
    peer client(s);
    auto server = std::make_unique<comcp::server>(comcp::identity("served", "1"), std::move(options));
    server->tool("big", "", [] { return std::string(1000, 'x'); });
    auto served = s.start(server->serve(client.wire().take_transport()));
    client.ask("0", "initialize", "{}");
    client.wire().reads(false);
    for (int i = 1; i <= 20; ++i) client.call(std::to_string(i), "big");
    server.reset();
    s.settle();
    CHECK(client.wire().closed());
    CHECK(served.done());
}

TEST_CASE("A client that never reads is cut after 30 s of that")
{
    server_stage s;
    s.begin();
    s.peer.wire().reads(false);
    s.peer.ask("1", "ping");
    s.advance(30s - 1ms);
    CHECK_FALSE(s.peer.wire().closed());
    s.advance(5s);
    CHECK(s.peer.wire().closed());
    CHECK(has(s.served->value().text, "does not read"));
}

TEST_CASE("A stall is counted from its own beginning, not from the last message that went out")
{
    server_stage s;
    s.begin(); // its last output for 29.9 s
    s.advance(29900ms);
    s.peer.wire().reads(false);
    s.peer.ask("1", "ping");
    s.advance(29s);
    CHECK_FALSE(s.peer.wire().closed());
    s.peer.wire().reads(true);
    CHECK(s.peer.next() == pong("1"));
}

TEST_CASE("A client that does not read but asks for more is held at a bound with slow handlers too")
{
    comcp::server_options options;
    options.limits.stream_buffer = 10'000;
    slow_stage s(std::move(options));
    s.begin();
    s.peer.wire().reads(false);
    const std::string padding = R"({"pad":")" + std::string(1000, 'x') + "\"}";
    s.peer.ask("0", "ping"); // output is queued now
    for (int i = 1; i <= 100; ++i) s.peer.call(std::to_string(i), "slow", "{}", padding);
    s.advance(100ms);
    CHECK(s.ends.size() < 20); // held requests count
    s.peer.wire().reads(true);
    for (int i = 0; i < 20; ++i) s.advance(100ms);
    CHECK(s.ends.size() == 100);
    CHECK(s.peer.skip_all() == 101);
}

TEST_CASE("Sources that are kept count among what is held")
{
    comcp::server_options options;
    options.limits.stream_buffer = 10'000;
    options.keep_source = GENERATE(false, true);
    const std::size_t fit = options.keep_source ? 5 : 10; // of 1,092 bytes, and the source's 1,010
    slow_stage s(std::move(options));
    comcp::tool described("kept");
    described.input_schema["type"] = "object";
    s.server.raw_tool(std::move(described), [&s](json::object) { return wait_and_tell(100ms, &s.ends); });
    s.begin();
    s.peer.wire().reads(false);
    s.peer.ask("0", "ping"); // output is queued now
    const std::string arguments = R"({"pad":")" + std::string(1000, 'x') + "\"}";
    for (int i = 1; i <= 100; ++i) s.peer.call(std::to_string(i), "kept", arguments);
    s.advance(100ms);
    CHECK(s.ends.size() == fit);
    s.peer.wire().reads(true);
    for (int i = 0; i < 20; ++i) s.advance(100ms);
    CHECK(s.ends.size() == 100);
    CHECK(s.peer.skip_all() == 101);
}
