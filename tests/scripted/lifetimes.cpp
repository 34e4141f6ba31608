// SPDX-License-Identifier: MIT
// Who may die when: client, server, session and io_context in every order, from inside their own handlers, and while
// something waits. Most of these assert nothing but that a sanitizer finds nothing.
#include "script.hpp"

using namespace script;

namespace
{

/// Parts that a test destroys one by one, in the order that it likes.
struct parts
{
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time{*io};
    std::optional<comcp::memory_pipe> pipe{io->get_executor()};
    std::unique_ptr<comcp::client> client;
    std::unique_ptr<comcp::server> server = std::make_unique<comcp::server>("served", "1");
    int log_count = 0;

    explicit parts(comcp::client_options options = {})
    {
        client =
            std::make_unique<comcp::client>(std::move(pipe->first), comcp::identity("tester", "1"), std::move(options));
        server->tool("echo", "", [] { return "e"; });
        server->tool("slow", "", [](comcp::context& ctx) { return wait(ctx, 1h); });
        server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
            co_await ctx.list_roots();
            co_return "asked";
        });
    }

    static comcp::task<std::string> wait(comcp::context ctx, comcp::duration time)
    {
        comcp::timer timer(co_await asio::this_coro::executor);
        ctx.progress(1);
        ctx.log(comcp::log_level::info, "waiting");
        co_await timer.wait_for(time);
        co_return "waited";
    }

    template <class T>
    running<T> start(comcp::task<T> operation)
    {
        running<T> started(io->get_executor(), std::move(operation));
        time->settle();
        return started;
    }
    void connect()
    {
        serve();
        start(client->connect()).value();
    }
    void serve() { served.emplace(start(server->serve(std::move(pipe->second)))); }
    void end_io()
    {
        time.reset();
        io.reset();
    }

    std::optional<running<comcp::fault>> served;
};

} // namespace

TEST_CASE("A client and a server talk over a pipe")
{
    parts p;
    p.connect();
    auto call = p.start(p.client->call("echo"));
    CHECK(comcp::to_text(call.value()) == "e");
    auto list = p.start(p.client->list_tools());
    CHECK(list.value().size() == 3);
    p.start(p.client->close()).value();
    CHECK(p.served->succeeded());
}

TEST_CASE("Client, server and io_context die in any order while calls wait")
{
    const int order = GENERATE(range(0, 6));
    const bool with_pending = GENERATE(true, false);
    parts p;
    p.connect();
    std::optional<running<comcp::answer>> a, b;
    if (with_pending) {
        a = p.start(p.client->call("slow"));
        b = p.start(p.client->call("slow"));
    }
    const auto settle = [&] {
        if (p.time) p.time->settle();
    };
    const auto kill = [&](int which) {
        if (which == 0) p.client.reset();
        if (which == 1) p.server.reset();
        if (which == 2) p.end_io();
        settle();
    };
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const int which : orders[order]) kill(which);
    if (a && order < 4) CHECK(a->done()); // the io_context lived on after one side had gone
}

TEST_CASE("The same at once, without a turn of the loop in between")
{
    const int order = GENERATE(range(0, 4));
    parts p;
    p.connect();
    auto a = p.start(p.client->call("slow"));
    auto b = p.start(p.client->list_tools());
    if (order == 0) {
        p.client.reset();
        p.server.reset();
    } else if (order == 1) {
        p.server.reset();
        p.client.reset();
    } else if (order == 2) {
        p.client.reset();
    } else {
        p.server.reset();
    }
    p.end_io();
}

TEST_CASE("A client dies while it connects, closes, or lists")
{
    const int when = GENERATE(range(0, 4));
    const bool io_first = GENERATE(false, true);
    parts p;
    std::optional<running<void>> waiting;
    std::optional<running<comcp::tool_list>> listing;
    if (when == 0) {
        waiting = p.start(p.client->connect()); // nobody serves
        CHECK_FALSE(waiting->done());
    } else {
        p.connect();
        if (when == 1) {
            running<void> closing(p.io->get_executor(), p.client->close());
            waiting = closing; // not settled: it has only begun
        }
        if (when == 2) listing.emplace(running<comcp::tool_list>(p.io->get_executor(), p.client->list_tools()));
        if (when == 3) waiting = running<void>(p.io->get_executor(), p.client->ping());
    }
    if (io_first) p.end_io();
    p.client.reset();
    if (p.time) {
        p.time->settle();
        if (waiting) CHECK(waiting->done());
        if (listing) CHECK(listing->done());
    }
}

TEST_CASE("A waiting connect ends as closed when its client dies")
{
    parts p;
    auto connecting = p.start(p.client->connect());
    p.client.reset();
    p.time->settle();
    CHECK(connecting.failed_with(errc::closed));
}

TEST_CASE("Waiting calls end as closed when their client dies, with an unknown outcome")
{
    parts p;
    p.connect();
    auto call = p.start(p.client->call("slow"));
    p.client.reset();
    CHECK_FALSE(call.done()); // never resumed from inside a destructor
    p.time->settle();
    CHECK(call.failed_with(errc::closed));
    CHECK(call.failure().fate == outcome::unknown);
    p.time->advance(10s); // the server lets its handler finish, within the close limit
    CHECK(p.served->succeeded());
}

TEST_CASE("Operations that were made but never awaited are only destroyed")
{
    parts p;
    p.connect();
    {
        auto call = p.client->call("echo");
        auto list = p.client->list_tools();
        auto close = p.client->close();
    }
    auto later = p.client->call("echo");
    p.client.reset();
    auto started = p.start(std::move(later));
    CHECK(started.failed_with(errc::closed));
}

TEST_CASE("A client dies inside its own callbacks")
{
    const int where = GENERATE(range(0, 6));
    parts* all = nullptr;
    const auto die = [&] { all->client.reset(); };
    comcp::client_options options;
    if (where == 0) options.on_log([&](const comcp::log_message&) { die(); });
    if (where == 1)
        options.on_log([&](const comcp::log_message&) -> comcp::task<void> {
            die();
            co_return;
        });
    options.on_tools_changed([&] {
        if (where == 2) die();
    });
    parts p(std::move(options));
    all = &p;
    p.connect();
    comcp::call_options call_options;
    if (where == 3) call_options.on_progress([&](const comcp::progress&) { die(); });
    if (where == 4)
        call_options.on_progress([&](const comcp::progress&) -> comcp::task<void> {
            die();
            co_return;
        });
    auto call = p.start(p.client->call("slow", comcp::args(), call_options));
    if (where == 2) {
        p.server->tool("new", "", [] {});
        p.time->settle();
    }
    if (where == 5) {
        // A completion handler that destroys the client from inside of its own answer.
        asio::co_spawn(*p.io, p.client->call("echo"), [&](std::exception_ptr, comcp::answer) { die(); });
        p.time->settle();
    }
    CHECK_FALSE(p.client);
    p.time->settle();
    CHECK(call.done());
}

TEST_CASE("A server dies inside its own handler")
{
    const bool in_coroutine = GENERATE(false, true);
    parts p;
    if (in_coroutine)
        p.server->tool("die", "", [&]() -> comcp::task<std::string> {
            p.server.reset();
            co_return "last words";
        });
    else
        p.server->tool("die", "", [&] {
            p.server.reset();
            return "last words";
        });
    p.connect();
    auto slow = p.start(p.client->call("slow"));
    auto call = p.start(p.client->call("die"));
    CHECK_FALSE(p.server);
    p.time->settle();
    CHECK(call.done());
    CHECK(slow.done());
    CHECK(p.served->done());
}

TEST_CASE("A server closes inside its own handler")
{
    parts p;
    p.server->tool("close", "", [&] {
        p.server->close();
        return "closing";
    });
    p.connect();
    auto call = p.start(p.client->call("close"));
    CHECK(comcp::to_text(call.value()) == "closing");
    CHECK(p.served->value().code == errc::closed);
}

TEST_CASE("The io_context dies while a handler asks the client and the client's handler works")
{
    const int order = GENERATE(range(0, 3));
    comcp::client_options options;
    options.roots({comcp::root("file:///x")});
    options.on_sampling([](json::object) -> comcp::task<json::object> {
        comcp::timer timer(co_await asio::this_coro::executor);
        co_await timer.wait_for(1h);
        co_return json::object();
    });
    parts p(std::move(options));
    p.server->tool("sample", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        co_await ctx.sample(json::object());
        co_return "";
    });
    p.connect();
    auto call = p.start(p.client->call("sample"));
    CHECK_FALSE(call.done());
    if (order == 0) p.end_io();
    if (order == 1) p.client.reset();
    if (order == 2) p.server.reset();
    p.end_io();
}

TEST_CASE("The io_context dies while calls wait for room, and while a callback is at work")
{
    comcp::client_options options;
    options.limits.in_flight = 1;
    options.on_log([](const comcp::log_message&) -> comcp::task<void> {
        comcp::timer timer(co_await asio::this_coro::executor);
        co_await timer.wait_for(1h);
    });
    parts p(std::move(options));
    p.connect();
    auto a = p.start(p.client->call("slow"));
    auto b = p.start(p.client->call("slow"));
    auto c = p.start(p.client->call("slow"));
    SECTION("the io_context first") { p.end_io(); }
    SECTION("the client first")
    {
        p.client.reset();
        p.time->settle();
        CHECK(b.failure().fate == outcome::not_sent);
        CHECK(c.done());
    }
}

TEST_CASE("Handlers outlive their session on an executor of the host")
{
    const int order = GENERATE(range(0, 3));
    comcp::manual_executor host;
    comcp::client_options options;
    options.roots({});
    parts p(std::move(options));
    p.server->handlers_on(host.executor());
    p.server->tool("block", "", comcp::blocking([](comcp::context& ctx) {
                       ctx.progress(1);
                       ctx.log(comcp::log_level::info, "x");
                       return ctx.cancelled() ? "cancelled" : "not";
                   }));
    p.connect();
    auto call = p.start(p.client->call("block"));
    auto slow = p.start(p.client->call("ask"));
    if (order == 0) host.pump(2); // begun
    if (order == 1) p.client.reset();
    if (order == 2) p.server.reset();
    p.time->settle();
    p.end_io();
    while (host.pump(10) != 0) {
    }
}

TEST_CASE("Handles and contexts that outlive everything do nothing")
{
    std::optional<comcp::context> kept;
    std::optional<comcp::tool_handle> handle;
    {
        parts p;
        handle = p.server->tool("keep", "", [&](comcp::context& ctx) {
            kept = ctx;
            return "";
        });
        p.connect();
        p.start(p.client->call("keep")).value();
        p.client.reset();
        p.server.reset();
        p.time->settle();
        handle->title("x").disable();
        CHECK_FALSE(handle->remove());
        kept->log(comcp::log_level::error, "x");
        p.time->settle();
        p.end_io();
    }
    kept->progress(1);
    kept->log(comcp::log_level::error, "x");
    CHECK(kept->version() == comcp::revision::r2025_11_25);
}

TEST_CASE("A server serves many sessions, and its end ends all")
{
    parts p;
    p.connect();
    comcp::memory_pipe second(p.io->get_executor());
    comcp::client other(std::move(second.first), comcp::identity("other", "1"));
    auto served = p.start(p.server->serve(std::move(second.second)));
    p.start(other.connect()).value();
    auto a = p.start(p.client->call("slow"));
    auto b = p.start(other.call("echo"));
    CHECK(comcp::to_text(b.value()) == "e");
    p.start(other.close()).value();
    CHECK(served.succeeded());
    CHECK_FALSE(a.done());
    p.server.reset();
    p.time->settle();
    CHECK(a.failed_with(errc::peer_gone));
    CHECK(p.served->done());
}
