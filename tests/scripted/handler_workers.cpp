// SPDX-License-Identifier: MIT
// Handlers that are coroutines run one after another in coroutines that a session keeps: nothing of one handler may
// reach the next, and the session's end finds all of them, at work or idle.
#include "script.hpp"

using namespace script;

namespace
{

std::string said(int id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + text_result(text) + '}';
}

comcp::task<std::string> nap()
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(10ms);
    co_return "rested";
}

/// Leaves its coroutine deaf to cancellation.
comcp::task<std::string> go_deaf()
{
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await asio::this_coro::throw_if_cancelled(false);
    co_return "deaf";
}

struct worker_stage : server_stage
{
    std::optional<comcp::context> last; // of a handler that ended

    worker_stage()
    {
        server.tool("nap", "", nap);
        server.tool("deaf", "", go_deaf);
        server.tool("at once", "", []() -> comcp::task<std::string> { co_return "here"; });
        server.tool("fail", "", []() -> comcp::task<std::string> {
            co_await nap();
            throw comcp::tool_error("broken");
        });
        server.tool("keep", "", [this](comcp::context& ctx) -> comcp::task<std::string> {
            last = ctx;
            co_await nap();
            co_return "kept";
        });
    }
    void cancel(int id) { peer.note("notifications/cancelled", R"({"requestId":)" + std::to_string(id) + '}'); }
    /// Calls a tool and gives what is answered within 10 ms.
    std::string answer_to(int id, std::string_view tool)
    {
        peer.call(std::to_string(id), tool);
        advance(10ms);
        return peer.next();
    }
};

} // namespace

TEST_CASE("A handler after a cancelled one is not cancelled, and can be")
{
    worker_stage s;
    s.begin();
    s.peer.call("1", "nap");
    s.cancel(1);
    CHECK(s.peer.quiet());
    CHECK(s.answer_to(2, "nap") == said(2, "rested"));
    s.peer.call("3", "nap");
    s.cancel(3);
    s.advance(10ms);
    CHECK(s.peer.quiet());
    CHECK(s.answer_to(4, "nap") == said(4, "rested"));
}

TEST_CASE("What a handler set for its coroutine does not hold for the next")
{
    worker_stage s;
    s.begin();
    CHECK(s.answer_to(1, "deaf") == said(1, "deaf"));
    s.peer.call("2", "keep");
    s.cancel(2);
    REQUIRE(s.last);
    CHECK(s.last->cancelled());
    s.peer.hang_up(); // a handler that is still at work would keep the session for its 10 ms
    CHECK(s.served->succeeded());
}

TEST_CASE("A handler that throws, and one that never waits, leave a worker as good as new")
{
    worker_stage s;
    s.begin();
    CHECK(has(s.answer_to(1, "fail"), "broken"));
    CHECK(s.answer_to(2, "at once") == said(2, "here"));
    CHECK(s.answer_to(3, "nap") == said(3, "rested"));
}

TEST_CASE("A cancellation of a handler that ended does not reach the one that came after it")
{
    worker_stage s;
    s.begin();
    CHECK(s.answer_to(1, "keep") == said(1, "kept"));
    s.peer.call("2", "nap");
    s.cancel(1);
    s.last->progress(1);
    CHECK_FALSE(s.last->cancelled());
    s.advance(10ms);
    CHECK(s.peer.next() == said(2, "rested"));
    CHECK(s.peer.quiet());
}

TEST_CASE("More handlers at once than are kept afterwards are all answered, twice")
{
    worker_stage s;
    s.begin();
    for (int round = 0; round < 2; ++round) {
        for (int id = 1; id <= 200; ++id) s.peer.call(std::to_string(id), "nap");
        CHECK(s.peer.quiet());
        s.advance(10ms);
        CHECK(s.peer.skip_all() == 200);
    }
    s.peer.hang_up();
    CHECK(s.served->succeeded()); // all are joined, without time passing
}

TEST_CASE("A session ends with idle workers and with some at work, whoever ends it")
{
    const int who = GENERATE(range(0, 4));
    const bool at_work = GENERATE(false, true);
    worker_stage s;
    s.begin();
    for (int id = 1; id <= 3; ++id) s.peer.call(std::to_string(id), "nap");
    s.advance(10ms);
    CHECK(s.peer.skip_all() == 3);
    if (at_work) s.peer.call("4", "nap");
    if (who == 0) s.peer.hang_up();
    if (who == 1) s.server.close();
    if (who == 2) s.served->cancel();
    if (who == 3) s.peer.hang_up("reset by peer");
    s.settle();
    if (at_work) s.advance(10ms);
    CHECK(s.served->done());
    s.settle();
    CHECK_FALSE(s.io.poll_one()); // nothing is left behind
}

TEST_CASE("A handler in a coroutine that was used before ends its own session")
{
    worker_stage s;
    s.server.tool("close", "", [&]() -> comcp::task<std::string> {
        co_await nap();
        s.server.close();
        co_return "closing";
    });
    s.begin();
    CHECK(s.answer_to(1, "nap") == said(1, "rested"));
    s.peer.call("2", "close");
    s.advance(10ms);
    CHECK(s.served->done());
    CHECK(s.served->value().code == errc::closed);
}

TEST_CASE("The io_context dies while workers are idle, before, after or without their server")
{
    const int order = GENERATE(range(0, 3));
    const bool at_work = GENERATE(false, true);
    auto io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time(*io);
    auto pipe = std::make_unique<comcp::memory_pipe>(io->get_executor());
    auto server = std::make_unique<comcp::server>("served", "1");
    server->tool("nap", "", nap);
    comcp::client client(std::move(pipe->first), comcp::identity("tester", "1"));
    const auto start = [&](auto operation) {
        running started(io->get_executor(), std::move(operation));
        time->settle();
        return started;
    };
    auto served = start(server->serve(std::move(pipe->second)));
    start(client.connect()).value();
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 3; ++i) calls.push_back(start(client.call("nap")));
    time->advance(10ms);
    for (auto& each : calls) CHECK(comcp::to_text(each.value()) == "rested");
    if (at_work) calls.push_back(start(client.call("nap")));
    if (order == 1) server.reset();
    time.reset();
    io.reset();
    if (order == 2) server.reset();
}
