// SPDX-License-Identifier: MIT
// How long things live behind an HTTP service: caps, idle sessions, memory, the orderly end, and every order in which
// service, server, streams and io_context may die.
#include "http_service_script.hpp"
#include "random_sources.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace script::hosted;

namespace
{

comcp::task<std::string> slow(comcp::context ctx)
{
    ctx.log(comcp::log_level::info, "begun");
    std::string text = co_await wait_for(1h);
    co_return text;
}

comcp::task<std::string> silent()
{
    std::string text = co_await wait_for(10s);
    co_return text;
}

bool alive(service_stage& s, const caller& who)
{
    return s.send(who.make("POST", request_text("1", "ping"))).status() == 200;
}

} // namespace

// ---- caps ----------------------------------------------------------------------------------------------------------

TEST_CASE("At the cap the session that was idle for longest gives way, never used ones first")
{
    comcp::http_service_options options;
    options.limits.sessions = 3;
    service_stage s(std::move(options));
    const caller a = s.connect();
    const caller b = s.connect();
    caller c; // says nothing more after its handshake
    c.session = s.send(c.make("POST", hello_text())).field("Mcp-Session-Id");
    CHECK(s.service->sessions() == 3);

    const caller d = s.connect(); // c, although it is the youngest
    CHECK_FALSE(alive(s, c));
    CHECK(alive(s, a)); // now b was idle for longest
    const caller e = s.connect();
    CHECK_FALSE(alive(s, b));
    CHECK(alive(s, d));
    CHECK(alive(s, a));
    CHECK(alive(s, e));
    CHECK(s.service->sessions() == 3);
}

TEST_CASE("Sessions with a call or a stream do not give way: 503 when all have one")
{
    comcp::http_service_options options;
    options.limits.sessions = 2;
    service_stage s(std::move(options));
    s.server->tool("silent", "", silent);
    const caller a = s.connect();
    const caller b = s.connect();
    auto call = s.send(a.make("POST", call_text("1", "silent")));
    auto stream = s.send(b.make("GET"));
    CHECK_FALSE(stream.stream().ended());
    auto refused = s.post(hello_text());
    CHECK(refused.status() == 503);
    CHECK(refused.field("Retry-After") == "1");
    CHECK(refused.field("Mcp-Session-Id").empty());
    CHECK(s.service->sessions() == 2);

    SECTION("until a call has ended")
    {
        s.advance(10s);
        CHECK(call.status() == 200);
        CHECK(s.post(hello_text()).status() == 200);
        CHECK_FALSE(alive(s, a));
    }
    SECTION("until a stream has ended")
    {
        stream.stream().leave();
        CHECK(s.post(hello_text()).status() == 200);
        CHECK_FALSE(alive(s, b));
    }
    SECTION("a call whose client left still counts, since it runs")
    {
        call.cancel();
        CHECK(s.post(hello_text()).status() == 503);
        s.advance(10s);
        CHECK(s.post(hello_text()).status() == 200);
    }
}

TEST_CASE("Without random numbers of the system nobody gets a session, and those that are there go on")
{
    comcp::http_service_options options;
    options.random = sources::switched;
    options.old_sse();
    service_stage s(std::move(options));
    s.begin();
    {
        const sources::choice none(sources::failing);
        const bool old_one = GENERATE(false, true);
        http::request first = old_one ? caller().make("GET") : caller().make("POST", hello_text());
        if (old_one) first.target = "/sse";
        auto refused = s.send(std::move(first));
        CHECK(refused.status() == 503);
        CHECK(refused.field("Retry-After") == "1");
        CHECK(refused.field("Mcp-Session-Id") == "");
        CHECK(refused.body() == error_text(-32603, "the session could not be named"));
        CHECK(s.service->sessions() == 1);
        CHECK(s.service->streams() == 0);
        CHECK(alive(s, s.client));
    }
    CHECK(alive(s, s.connect()));
}

TEST_CASE("A session that is idle for 30 minutes ends, and not before [108]")
{
    service_stage s;
    s.server->tool("silent", "", silent);
    const caller a = s.connect();
    s.advance(10min);
    const caller b = s.connect();
    s.advance(20min - 1ms);
    CHECK(s.service->sessions() == 2);
    s.advance(1ms);
    CHECK(s.service->sessions() == 1);
    CHECK_FALSE(alive(s, a));
    s.advance(5min);
    CHECK(alive(s, b));
    s.advance(30min - 1ms);
    CHECK(s.service->sessions() == 1);
    s.advance(1ms);
    CHECK(s.service->sessions() == 0);
    CHECK(s.send(b.make("GET")).status() == 404);
    s.advance(24h);
    const caller c = s.connect(); // the clock of the table starts anew
    s.advance(30min - 1ms);
    CHECK(s.service->sessions() == 1);
    s.advance(1ms);
    CHECK(s.service->sessions() == 0);
}

TEST_CASE("A session with a call or an open stream is not idle, however long it takes")
{
    service_stage s;
    s.server->tool("slow", "", slow);
    s.begin();
    SECTION("a stream")
    {
        auto stream = s.get();
        CHECK_FALSE(stream.stream().ended());
        s.advance(2h);
        CHECK(s.service->sessions() == 1);
        stream.stream().leave();
        s.advance(30min - 1ms);
        CHECK(s.service->sessions() == 1);
        s.advance(1ms);
        CHECK(s.service->sessions() == 0);
    }
    SECTION("a call whose connection broke")
    {
        auto call = s.post(call_text("1", "slow"));
        const auto ids = call.stream().ids();
        call.stream().leave();
        s.advance(1h);
        CHECK(s.service->sessions() == 1);
        CHECK(s.get(ids.at(0)).stream().messages().size() == 2);
        s.advance(30min);
        CHECK(s.service->sessions() == 0);
    }
}

TEST_CASE("A thousand sessions that never say good-bye leave nothing behind [108]")
{
    service_stage s;
    std::weak_ptr<int> held;
    {
        auto token = std::make_shared<int>(1);
        held = token;
        s.server->tool("hold", "", [token] { return "h"; });
    }
    for (int i = 0; i < 1000; ++i) s.connect();
    CHECK(s.service->sessions() == 1000);
    s.advance(30min);
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->memory()->used() == 0);
    s.server->remove_tool("hold");
    CHECK(held.expired()); // no session kept the old list of tools
}

// ---- memory --------------------------------------------------------------------------------------------------------

TEST_CASE("Bodies are held in the service's memory until they are answered, and refused beyond it")
{
    comcp::http_service_options options;
    options.limits.memory = 2000;
    service_stage s(std::move(options));
    s.server->raw_tool(comcp::tool("silent"), [](comcp::json::object) { return silent(); });
    s.begin();
    const auto big = [](std::string_view id) {
        return request_text(id, "tools/call",
                            R"({"name":"silent","arguments":{"x":")" + std::string(800, 'x') + R"("}})");
    };
    auto a = s.post(big("1"));
    auto b = s.post(big("2"));
    const std::size_t held = 2 * big("1").size();
    CHECK(s.service->memory()->used() == held);
    auto c = s.post(big("3"));
    CHECK(c.status() == 503);
    CHECK(c.field("Retry-After") == "1");
    CHECK(c.body() == error_text(-32603, "too many requests at once"));
    CHECK(s.service->memory()->used() == held);
    CHECK(s.post(request_text("4", "ping")).status() == 200); // it fits
    s.advance(10s);
    CHECK(a.status() == 200);
    CHECK(b.status() == 200);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("A share that an HTTP server took for a body is kept as long")
{
    service_stage s;
    s.server->tool("silent", "", silent);
    s.begin();
    http::request what = s.client.make("POST", call_text("1", "silent"));
    what.counted = http::budget_share(s.service->memory());
    REQUIRE(what.counted.grow(5000));
    auto call = s.send(std::move(what));
    CHECK(s.service->memory()->used() == 5000);
    call.cancel();
    CHECK(s.service->memory()->used() == 5000); // the handler still has its arguments
    s.advance(10s);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("A body over the limit of a message is refused, if it gets so far")
{
    comcp::server_options small;
    small.limits.message = 1000;
    service_stage s({}, std::move(small));
    CHECK(s.service->most_body() == 1000);
    s.begin();
    CHECK(s.post(std::string(1001, ' ')).status() == 413);
    CHECK(s.post(std::string(1000, ' ')).status() == 400);
}

// ---- the orderly end -----------------------------------------------------------------------------------------------

TEST_CASE("A drain takes nothing new, lets calls end, and then ends everything")
{
    service_stage s;
    s.server->tool("silent", "", silent);
    s.begin();
    auto stream = s.get();
    auto call = s.post(call_text("1", "silent"));
    auto draining = s.start(s.service->drain(1min));
    CHECK_FALSE(draining.done());
    for (auto refused : {s.post(hello_text()), s.post(call_text("2", "silent")), s.get(), s.end()}) {
        CHECK(refused.status() == 503);
        CHECK(refused.field("Retry-After") == "1");
    }
    CHECK_FALSE(stream.stream().ended());
    s.advance(10s);
    CHECK(call.body() == text_answer("1", "done"));
    CHECK(draining.succeeded());
    CHECK(stream.stream().ended());
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->streams() == 0);
    CHECK(s.post(hello_text()).status() == 503);
    s.start(s.service->close()).value();
}

TEST_CASE("A drain whose patience ends gives up the calls that still run")
{
    service_stage s;
    bool cancelled = false;
    s.server->tool("slow", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        try {
            std::string text = co_await wait_for(1h);
            co_return text;
        } catch (...) {
            cancelled = ctx.cancelled();
            throw;
        }
    });
    s.begin();
    auto call = s.post(call_text("1", "slow"));
    const int how = GENERATE(0, 1, 2);
    auto draining = s.start(how == 0 ? s.service->close() : s.service->drain(5s));
    if (how == 1) {
        s.advance(5s - 1ms);
        CHECK_FALSE(draining.done());
        CHECK_FALSE(call.done());
        s.advance(1ms);
    }
    if (how == 2) {
        auto impatient = s.start(s.service->close());
        CHECK(impatient.succeeded());
        s.settle();
    }
    CHECK(draining.done());
    CHECK(cancelled);
    CHECK(call.status() == 500);
}

TEST_CASE("A stateless service is drained too")
{
    service_stage s(comcp::http_service_options().sessions(false));
    s.server->tool("silent", "", silent);
    auto call = s.post(call_text("1", "silent"));
    auto draining = s.start(s.service->drain(1min));
    CHECK_FALSE(draining.done());
    s.advance(10s);
    CHECK(call.status() == 200);
    CHECK(draining.succeeded());
    CHECK(s.post(call_text("1", "silent")).status() == 503);
}

TEST_CASE("server.close() ends the sessions of HTTP too")
{
    service_stage s;
    s.server->tool("slow", "", slow);
    s.begin();
    auto stream = s.get();
    auto call = s.post(call_text("1", "slow"));
    CHECK_FALSE(call.stream().ended());
    s.server->close();
    CHECK(stream.stream().ended());
    CHECK(call.stream().ended());
    CHECK(s.service->sessions() == 0);
    CHECK(s.post(call_text("2", "slow")).status() == 404);
}

TEST_CASE("A service without its server refuses")
{
    service_stage s;
    s.begin();
    auto stream = s.get();
    CHECK_FALSE(stream.stream().ended());
    s.server.reset();
    s.settle();
    CHECK(stream.stream().ended());
    CHECK(s.service->sessions() == 0);
    CHECK(s.post(request_text("1", "ping")).status() == 503);
    CHECK(s.post(hello_text()).status() == 503);
}

// ---- who may die when ----------------------------------------------------------------------------------------------

namespace
{

/// Everything at work: a call without a head, a call with a stream, a stream of the client, a stream that broke, a
/// session that is idle, and a drain if that is wanted.
struct parts
{
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time{*io};
    std::unique_ptr<comcp::server> server = std::make_unique<comcp::server>("served", "1");
    std::unique_ptr<comcp::http_service> service;
    std::vector<running<http::response>> requests;
    std::vector<std::unique_ptr<http::body_stream>> streams;
    std::vector<std::unique_ptr<std::string>> texts;
    std::vector<running<bool>> reading;

    explicit parts(comcp::http_service_options options = {})
    {
        server->tool("slow", "", slow);
        server->tool("silent", "", silent);
        server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
            co_await ctx.list_roots();
            co_return "asked";
        });
        service = std::make_unique<comcp::http_service>(io->get_executor(), *server, in_both_ways(std::move(options)));
    }

    template <class T>
    running<T> start(comcp::task<T> operation)
    {
        running<T> started(io->get_executor(), std::move(operation));
        time->settle();
        return started;
    }
    running<http::response>& send(http::request what)
    {
        requests.push_back(start(exchange_with(*service, std::move(what))));
        return requests.back();
    }
    void read(running<http::response>& of, bool at_work)
    {
        REQUIRE(of.value().stream);
        streams.push_back(std::move(of.value().stream));
        if (!at_work) return;
        texts.push_back(std::make_unique<std::string>());
        reading.push_back(start(streams.back()->next(*texts.back())));
        if (reading.back().done()) reading.push_back(start(streams.back()->next(*texts.back())));
    }
    void begin()
    {
        caller client;
        client.session = std::string(*send(client.make("POST", hello_text("2025-11-25", R"({"roots":{}})")))
                                          .value()
                                          .fields.find("Mcp-Session-Id"));
        caller idle;
        send(idle.make("POST", hello_text()));
        read(send(client.make("GET")), true);
        read(send(client.make("POST", call_text("1", "slow"))), true);
        read(send(client.make("POST", call_text("2", "slow"))), false);
        read(send(client.make("POST", call_text("3", "slow"))), false);
        streams.back().reset();
        read(send(client.make("POST", call_text("4", "ask"))), true);
        CHECK_FALSE(send(client.make("POST", call_text("5", "silent"))).done());
    }
    void kill(int which)
    {
        if (which == 0) {
            time.reset();
            io.reset();
        }
        if (which == 1) server.reset();
        if (which == 2) service.reset();
        if (which == 3) streams.clear();
        if (time && settles) time->settle();
    }
    bool settles = true;
};

} // namespace

TEST_CASE("Service, server, streams and io_context die in any order, while everything is at work")
{
    std::vector<int> order = {0, 1, 2, 3};
    const int which = GENERATE(range(0, 24));
    for (int i = 0; i < which; ++i) std::next_permutation(order.begin(), order.end());
    parts p;
    p.settles = GENERATE(true, false);
    p.begin();
    std::optional<running<void>> draining;
    if (GENERATE(false, true)) draining = p.start(p.service->drain(1h));
    for (const int each : order) p.kill(each);
    CHECK(p.streams.empty());
}

TEST_CASE("Who waits is answered when the service dies")
{
    parts p;
    p.begin();
    p.kill(2);
    REQUIRE(p.requests.back().done());
    CHECK(p.requests.back().value().status == 500);
    for (auto& each : p.reading) CHECK(each.done());
    p.time->advance(1h);
}

TEST_CASE("Requests that were made but never awaited are only destroyed")
{
    parts p;
    {
        caller client;
        http::request head = client.make("POST", hello_text());
        auto refused = p.service->refuse(head);
        auto handled = p.service->handle(client.make("POST", hello_text()));
        auto drained = p.service->drain(1s);
    }
    caller client;
    auto later = p.service->handle(client.make("POST", hello_text()));
    p.service.reset();
    auto answer = p.start(std::move(later));
    CHECK(answer.value().status == 503);
}

TEST_CASE("A service, or its server, dies inside a handler")
{
    const bool in_coroutine = GENERATE(false, true);
    const bool the_server = GENERATE(false, true);
    parts p;
    const auto die = [&] { the_server ? p.server.reset() : p.service.reset(); };
    if (in_coroutine)
        p.server->tool("die", "", [&]() -> comcp::task<std::string> {
            die();
            co_return "last words";
        });
    else
        p.server->tool("die", "", [&] {
            die();
            return "last words";
        });
    caller client;
    client.session = std::string(*p.send(client.make("POST", hello_text())).value().fields.find("Mcp-Session-Id"));
    CHECK(p.send(client.make("POST", call_text("1", "die"))).done());
    p.time->settle();
}

TEST_CASE("A session is deleted inside its own handler")
{
    service_stage s;
    std::optional<running<http::response>> inner;
    s.server->tool("end", "", [&] {
        inner.emplace(s.executor(), exchange_with(*s.service, s.client.make("DELETE")));
        return "ended";
    });
    s.begin();
    auto call = s.post(call_text("1", "end"));
    CHECK(call.status() == 200);
    REQUIRE(inner);
    CHECK(inner->value().status == 204);
    CHECK(s.post(call_text("2", "end")).status() == 404);
}

TEST_CASE("Several threads, many sessions: calls, streams, ends and expiry at once")
{
    asio::io_context io(4);
    comcp::server server("served", "1");
    server.tool("echo", "", [] { return "e"; });
    server.tool("talk", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.log(comcp::log_level::info, "x");
        co_return "t";
    });
    comcp::http_service_options options;
    options.limits.sessions = 12; // fewer than there are clients
    comcp::http_service service(io.get_executor(), server, std::move(options));
    std::atomic<int> answered = 0;
    std::atomic<int> lost = 0;
    const auto one_client = [&service, &answered, &lost]() -> comcp::task<void> {
        for (int round = 0, tries = 0; round < 10 && tries < 10000; ++tries) {
            caller client;
            http::response hello = co_await exchange_with(service, client.make("POST", hello_text()));
            if (hello.status != 200) { // all sessions are in use
                co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
                continue;
            }
            ++round;
            client.session = std::string(hello.fields.find("Mcp-Session-Id").value_or(""));
            http::response stream = co_await exchange_with(service, client.make("GET"));
            for (int i = 0; i < 5; ++i) {
                http::response answer = co_await exchange_with(
                    service, client.make("POST", call_text(std::to_string(i + 1), i % 2 ? "talk" : "echo")));
                std::string text = answer.body;
                while (answer.stream) {
                    const bool more = co_await answer.stream->next(text);
                    if (!more) break;
                }
                if (has(text, "result")) ++answered;
                else if (stream.stream) ++lost; // a session with a stream does not give way
            }
            stream.stream.reset();
            if (round % 2) co_await exchange_with(service, client.make("DELETE"));
        }
    };
    for (int i = 0; i < 16; ++i) asio::co_spawn(asio::make_strand(io), one_client(), [](std::exception_ptr) {});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&io] { io.run_for(20s); });
    for (auto& each : threads) each.join();
    CHECK(answered > 0);
    CHECK(lost == 0);
    CHECK(service.sessions() <= 12);
}
