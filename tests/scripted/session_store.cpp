// SPDX-License-Identifier: MIT
// Sessions that are kept outside of their process: another one goes on with them, and tells what is known of the calls
// that were left behind. Two services on one store stand for the two processes.
#include "http_service_script.hpp"
#include "memory_session_store.hpp"
#include "random_sources.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

using namespace script::hosted;

namespace
{

const std::string unknown = error_text(-32600, "the session is unknown or has ended");
const std::string left = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"this request ran in another )"
                         R"(process, and its outcome is unknown","data":{"retryable":false,)"
                         R"("outcome":"unknown"}}})";

std::string logged(std::string_view text)
{
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")" +
           std::string(text) + R"("}})";
}

/// Logs "1", waits a second, logs "2", waits a second and answers.
comcp::task<std::string> counts(comcp::context ctx)
{
    ctx.log(comcp::log_level::info, "1");
    co_await wait_for(1s);
    ctx.log(comcp::log_level::info, "2");
    co_await wait_for(1s);
    co_return "counted";
}

/// What a session is, as one of its tools sees it.
std::string who(comcp::context& ctx)
{
    ctx.log(comcp::log_level::info, "info");
    ctx.log(comcp::log_level::error, "error");
    return ctx.principal() + '/' + ctx.client().name() + '/' + std::string(to_string(ctx.version())) + '/' +
           (ctx.capabilities().has("roots") ? "roots" : "");
}

comcp::task<std::string> asks(comcp::context ctx)
{
    const auto roots = co_await ctx.list_roots();
    co_return roots.at(0).uri;
}

/// One process: a server and its service.
struct process
{
    comcp::server server{comcp::identity("served", "1")};
    comcp::http_service service;

    process(const comcp::executor& ex, comcp::http_service_options options) : service(ex, server, std::move(options))
    {
        server.tool("count", "", counts);
        server.tool("who", "", who);
        server.tool("ask", "", asks);
        server.tool("echo", "", [] { return "e"; });
        if (with_middleware()) server.use(pass_on);
    }
};

comcp::http_service_options with_principals(comcp::http_service_options options = {})
{
    options.authorize([](const http::request& head) {
        return comcp::http_access::allow(std::string(head.fields.find("Authorization").value_or("")));
    });
    return options;
}

/// Outlives what was begun there: the io_context too.
struct shared_store
{
    memory_session_store store;
};

/// Two processes that share a store.
class two_processes : public shared_store, public stage
{
public:
    std::unique_ptr<process> a;
    std::unique_ptr<process> b;
    caller client;

    explicit two_processes(comcp::http_service_options options = {})
    {
        options.sessions(store);
        options = in_both_ways(with_principals(std::move(options)));
        a = std::make_unique<process>(executor(), options);
        b = std::make_unique<process>(executor(), options);
    }

    reply send(process& to, http::request what) { return {*this, start(exchange_with(to.service, std::move(what)))}; }
    reply post(process& to, std::string body) { return send(to, client.make("POST", std::move(body))); }
    reply get(process& from, std::string_view last_event_id = {})
    {
        http::request what = client.make("GET");
        if (!last_event_id.empty()) what.fields.add("Last-Event-ID", last_event_id);
        return send(from, std::move(what));
    }
    reply end(process& at) { return send(at, client.make("DELETE")); }

    /// A client past its handshake with A.
    void begin(std::string_view version = "2025-11-25", std::string_view capabilities = "{}",
               std::string_view principal = "ada")
    {
        client = caller();
        client.principal = principal;
        auto hello = send(*a, client.make("POST", hello_text(version, capabilities)));
        REQUIRE(hello.status() == 200);
        client.session = hello.field("Mcp-Session-Id");
        client.version = version;
        REQUIRE(post(*a, notice_text("notifications/initialized")).status() == 202);
    }
    memory_session_store::entry& kept() { return store.sessions.at(client.session); }
};

} // namespace

// ---- sessions ------------------------------------------------------------------------------------------------------

TEST_CASE("Another process goes on with a session, without a handshake")
{
    two_processes p;
    p.begin("2025-06-18", R"({"roots":{}})");
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"error"})")).status() == 200);
    REQUIRE(p.store.sessions.size() == 1);

    auto call = p.post(*p.b, call_text("2", "who"));
    REQUIRE(call.is_stream());
    CHECK(call.stream().messages() ==
          std::vector<std::string>{R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error",)"
                                   R"("data":"error"}})",
                                   text_answer("2", "ada/script/2025-06-18/roots")});
    CHECK(p.b->service.sessions() == 1);
    CHECK(p.post(*p.b, hello_text()).code() == -32600); // initialized already

    auto stream = p.get(*p.b);
    p.b->server.tool("new", "", [] {});
    CHECK(stream.stream().messages().size() == 1);
    CHECK(p.end(*p.b).status() == 204);
    CHECK(p.store.sessions.empty());
    CHECK(p.post(*p.b, request_text("3", "ping")).body() == unknown);
    CHECK(p.store.most_at_once == 1);
}

TEST_CASE("Any request may be the first that another process gets of a session")
{
    two_processes p;
    p.begin();
    SECTION("a notification") { CHECK(p.post(*p.b, notice_text("notifications/initialized")).status() == 202); }
    SECTION("a stream") { CHECK_FALSE(p.get(*p.b).stream().ended()); }
    SECTION("the end")
    {
        CHECK(p.end(*p.b).status() == 204);
        CHECK(p.store.sessions.empty());
        CHECK(p.end(*p.b).status() == 404);
        return;
    }
    CHECK(p.b->service.sessions() == 1);
    CHECK(p.store.sessions.size() == 1);
}

TEST_CASE("The id of a session is given out when it is in the store")
{
    two_processes p;
    p.store.delay = 1s;
    auto hello = p.send(*p.a, p.client.make("POST", hello_text()));
    CHECK_FALSE(hello.done());
    CHECK(p.store.sessions.empty());
    p.advance(1s);
    REQUIRE(hello.status() == 200);
    CHECK(p.store.sessions.contains(hello.field("Mcp-Session-Id")));
}

TEST_CASE("A store that is down costs the move, and not the session")
{
    two_processes p;
    const bool slow = GENERATE(false, true);
    if (slow) p.store.delay = 1h;
    else p.store.fails = true;
    auto hello = p.send(*p.a, p.client.make("POST", hello_text()));
    if (slow) {
        CHECK_FALSE(hello.done());
        p.advance(5s);
    }
    REQUIRE(hello.status() == 200);
    p.client.session = hello.field("Mcp-Session-Id");
    CHECK(p.post(*p.a, call_text("1", "echo")).body() == text_answer("1", "e"));

    auto elsewhere = p.post(*p.b, call_text("2", "echo"));
    if (slow) {
        CHECK_FALSE(elsewhere.done());
        p.advance(5s);
    }
    CHECK(elsewhere.status() == 503); // it may be there: no 404, which would end it
    CHECK(elsewhere.field("Retry-After") == "1");

    p.store.delay = {};
    p.store.fails = false;
    CHECK(p.post(*p.b, call_text("2", "echo")).status() == 404);
    p.advance(5s);
    CHECK(p.post(*p.a, call_text("3", "echo")).status() == 200); // saved when it is used again
    CHECK(p.store.sessions.size() == 1);
}

TEST_CASE("A session that another process has is looked for once, whoever asks [109]")
{
    two_processes p;
    p.begin();
    p.store.delay = 1s;
    auto first = p.post(*p.b, call_text("1", "echo"));
    auto second = p.post(*p.b, call_text("2", "echo"));
    auto third = p.get(*p.b);
    CHECK_FALSE(first.done());
    const bool leaves = GENERATE(false, true);
    if (leaves) first.cancel(); // who asked first need not stay
    p.advance(1s);
    CHECK_FALSE(second.done()); // it becomes B's in the store
    p.advance(1s);
    if (!leaves) CHECK(first.body() == text_answer("1", "e"));
    CHECK(second.body() == text_answer("2", "e"));
    CHECK_FALSE(third.stream().ended());
    CHECK(p.store.loads == 1);
    CHECK(p.b->service.sessions() == 1);
}

TEST_CASE("Too many searches at once are refused, and those of no id are none")
{
    two_processes p;
    p.store.delay = 1s;
    std::vector<reply> asked;
    for (int i = 0; i < 65; ++i) {
        p.client.session = std::string(30, 'x') + static_cast<char>('a' + i % 26) + static_cast<char>('a' + i / 26);
        asked.push_back(p.post(*p.b, request_text("1", "ping")));
    }
    CHECK(asked.back().status() == 503);
    CHECK_FALSE(asked.front().done());
    for (const char* none : {"x", "../../../../../../../../etc/hosts", "................................"}) {
        p.client.session = none;
        CHECK(p.post(*p.b, request_text("1", "ping")).status() == 404);
    }
    p.advance(1s);
    CHECK(asked.front().status() == 404);
    CHECK(p.store.loads == 64);
}

TEST_CASE("A kept session stays its principal's [K-9]")
{
    two_processes p;
    p.begin();
    const std::string before = p.kept().owner;
    caller other = p.client;
    other.principal = GENERATE(as<std::string>(), "", "bob", "Ada");
    for (const char* method : {"POST", "GET", "DELETE"})
        CHECK(p.send(*p.b, other.make(method, *method == 'P' ? request_text("1", "ping") : "")).status() == 404);
    CHECK(p.b->service.sessions() == 0);
    CHECK(p.kept().owner == before);
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    CHECK(p.kept().owner != before);
    CHECK(p.send(*p.b, other.make("POST", request_text("1", "ping"))).status() == 404);
}

TEST_CASE("A record that cannot be read is a session that is not known")
{
    two_processes p;
    p.begin();
    std::string& record = p.kept().record;
    SECTION("nothing") { record.clear(); }
    SECTION("cut") { record.resize(record.size() / 2); }
    SECTION("of another format") { record.replace(record.find(":1"), 2, ":2"); }
    SECTION("of another session") { record[record.find(p.client.session)] ^= 1; }
    SECTION("too long") { record.insert(1, std::string(1024 * 1024, ' ')); }
    CHECK(p.post(*p.b, request_text("1", "ping")).body() == unknown);
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 200);
}

TEST_CASE("A record that would be too long stays where it is")
{
    two_processes p;
    p.begin("2025-11-25", R"({"experimental":{"x":")" + std::string(1024 * 1024, 'x') + R"("}})");
    CHECK(p.store.sessions.empty());
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 200);
}

TEST_CASE("The process that a session has left does not take it out of the store")
{
    comcp::http_service_options options;
    options.limits.sessions = GENERATE(1u, 4096u);
    two_processes p(std::move(options));
    p.begin();
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    const std::string of_b = p.kept().owner;
    const caller first = p.client;
    if (p.a->service.options().limits.sessions == 1) {
        p.begin(); // the old one gives way
    } else {
        p.advance(29min);
        CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
        p.advance(1min);
    }
    CHECK(p.send(*p.a, first.make("DELETE")).status() == 204); // and is taken over again, to be ended by its client
    CHECK_FALSE(p.store.sessions.contains(first.session));
    CHECK_FALSE(of_b.empty());
}

TEST_CASE("Sessions leave the store when they expire, give way or are ended")
{
    comcp::http_service_options options;
    options.limits.sessions = 1;
    two_processes p(std::move(options));
    p.begin();
    const caller first = p.client;
    SECTION("expired") { p.advance(30min); }
    SECTION("gave way")
    {
        p.begin();
        CHECK(p.store.sessions.size() == 1);
        CHECK(p.end(*p.a).status() == 204);
    }
    SECTION("ended") { CHECK(p.end(*p.a).status() == 204); }
    CHECK(p.store.sessions.empty());
    CHECK(p.send(*p.b, first.make("POST", request_text("1", "ping"))).status() == 404);
}

TEST_CASE("A session that is being erased is not found again")
{
    two_processes p;
    p.begin();
    p.store.delay = 1s;
    auto end = p.end(*p.a);
    CHECK_FALSE(end.done());
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 404); // though it is in the store
    CHECK(p.store.loads == 0);
    SECTION("it leaves")
    {
        p.advance(1s);
        CHECK(end.status() == 204);
        CHECK(p.store.sessions.empty());
    }
    SECTION("it stays, and can be ended again")
    {
        p.store.fails = true;
        p.advance(1s);
        CHECK(end.status() == 503);
        CHECK(end.field("Retry-After") == "1");
        p.store.fails = false;
        p.store.delay = {};
        CHECK(p.end(*p.a).status() == 204);
        CHECK(p.store.sessions.empty());
    }
    SECTION("the service is destroyed meanwhile")
    {
        p.a.reset();
        p.advance(5s);
        CHECK(end.done());
    }
}

TEST_CASE("A session that lives elsewhere is not denied while this process lets go of it")
{
    comcp::http_service_options options;
    const bool capped = GENERATE(false, true);
    if (capped) options.limits.sessions = 1;
    two_processes p(std::move(options));
    p.begin();
    const caller first = p.client;
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    const std::string of_b = p.kept().owner;
    std::optional<reply> newer;
    if (capped) {
        p.store.delay = 1s;
        newer = p.send(*p.a, caller().make("POST", hello_text())); // the first gives way
    } else {
        p.advance(29min);
        CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
        p.store.delay = 1s;
        p.advance(1min);
    }
    CHECK(p.kept().owner == of_b);
    for (const char* method : {"POST", "GET", "DELETE"}) {
        auto meanwhile = p.send(*p.a, first.make(method, *method == 'P' ? request_text("1", "ping") : ""));
        REQUIRE(meanwhile.done()); // at once: the store is not asked
        CHECK(meanwhile.status() == 503);
        CHECK(meanwhile.field("Retry-After") == "1");
    }
    p.advance(2s);
    p.store.delay = {};
    CHECK(p.kept().owner == of_b);
    CHECK(p.send(*p.a, first.make("POST", request_text("1", "ping"))).status() == 200);
}

TEST_CASE("A session that this process lets go of while a request is read is looked for")
{
    two_processes p;
    p.begin();
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    p.advance(29min);
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    http::request what = p.client.make("POST", request_text("1", "ping"));
    const auto refused = p.run(p.a->service.refuse(what));
    CHECK_FALSE(refused);
    p.advance(1min);
    CHECK(p.a->service.sessions() == 0);
    CHECK(reply(p, p.start(p.a->service.handle(std::move(what)))).status() == 200);
    CHECK(p.a->service.sessions() == 1);
}

TEST_CASE("A write that came too late does not undo a newer one")
{
    two_processes p;
    p.begin();
    p.store.deaf = true;
    p.store.delay = 8s;
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"error"})")).status() == 200);
    p.store.delay = {};
    p.advance(6s); // its time is over, and it goes on
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"debug"})")).status() == 200);
    CHECK_FALSE(has(p.kept().record, R"("level":"debug")"));
    p.advance(2s);
    CHECK(has(p.kept().record, R"("level":"debug")"));
    CHECK(p.store.most_at_once == 1);
}

TEST_CASE("A write that came too late does not bring back a session that has left")
{
    two_processes p;
    p.begin();
    p.store.deaf = true;
    const auto how_late = GENERATE(as<comcp::duration>(), 8s, 20s);
    p.store.delay = how_late;
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"error"})")).status() == 200);
    p.store.delay = {};
    p.advance(6s);
    auto end = p.end(*p.a);
    CHECK_FALSE(end.done());
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 404);
    p.advance(how_late == 8s ? 2s : 10s);
    CHECK(end.status() == (how_late == 8s ? 204 : 503)); // who ends it does not wait for ever
    if (how_late == 20s) CHECK(p.store.sessions.size() == 1);
    p.advance(4s);
    CHECK(p.store.sessions.empty());
    CHECK(p.store.most_at_once == 1);
    CHECK(p.end(*p.a).status() == 404);
}

TEST_CASE("A session is not taken back while a write of it that came too late goes on")
{
    two_processes p;
    p.begin();
    p.store.deaf = true;
    p.store.delay = 1h;
    p.advance(30min); // it is erased, which takes too long
    p.store.delay = {};
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 503);
    p.advance(10s);
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 503);
    CHECK(p.store.loads == 0);
    p.advance(1h);
    CHECK(p.store.sessions.empty());
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 404);
}

TEST_CASE("A session in use is saved again before a store may take it for dead")
{
    two_processes p;
    p.begin();
    const int before = p.store.saves;
    for (int i = 0; i < 8; ++i) {
        p.advance(10min);
        CHECK(p.post(*p.a, request_text("1", "ping")).status() == 200);
    }
    CHECK(p.store.saves == before + 4);
    CHECK(p.post(*p.b, request_text("1", "ping")).status() == 200);
    const std::string of_b = p.kept().owner;
    p.advance(20min);
    CHECK(p.post(*p.a, request_text("1", "ping")).status() == 200); // it does not take the session back by that
    CHECK(p.kept().owner == of_b);
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"error"})")).status() == 200);
    CHECK(p.kept().owner != of_b); // by this it does: the last writer wins
}

TEST_CASE("An orderly end of a process leaves its sessions to others")
{
    two_processes p;
    p.begin();
    auto stream = p.get(*p.a);
    auto call = p.post(*p.a, call_text("1", "count"));
    const auto ids = call.stream().ids();
    auto drained = p.start(p.a->service.close());
    CHECK(drained.done());
    CHECK(call.stream().ended());
    p.a.reset();
    CHECK(p.post(*p.b, call_text("2", "echo")).body() == text_answer("2", "e"));
    CHECK(p.get(*p.b, ids.back()).stream().messages() == std::vector{left});
}

TEST_CASE("A drain waits until everything is in the store")
{
    two_processes p;
    p.begin();
    p.store.delay = 1s;
    CHECK(p.post(*p.a, request_text("1", "logging/setLevel", R"({"level":"error"})")).status() == 200);
    auto drained = p.start(p.a->service.close());
    CHECK_FALSE(drained.done());
    p.advance(1s);
    CHECK(drained.done());
    CHECK(has(p.kept().record, R"("level":"error")"));
}

TEST_CASE("A service without sessions has no store")
{
    memory_session_store store;
    service_stage s(comcp::http_service_options().sessions(store).sessions(false));
    s.server->tool("echo", "", [] { return "e"; });
    CHECK(s.post(call_text("1", "echo")).body() == text_answer("1", "e"));
    CHECK(store.saves == 0);
}

TEST_CASE("Without random numbers of the system no session is taken over, and it waits where it is")
{
    comcp::http_service_options options;
    options.random = sources::switched;
    two_processes p(std::move(options));
    p.begin();
    const std::string before = p.kept().record;
    {
        const sources::choice none(sources::failing);
        auto refused = p.post(*p.b, request_text("1", "ping"));
        CHECK(refused.status() == 503);
        CHECK(refused.field("Retry-After") == "1");
        CHECK(refused.body() == error_text(-32603, "the session could not be looked for"));
    }
    CHECK(p.b->service.sessions() == 0);
    CHECK(p.kept().record == before);
    CHECK(p.post(*p.b, request_text("2", "ping")).body() == answer_text("2", "{}"));
    CHECK(p.b->service.sessions() == 1);
}

TEST_CASE("Questions in a session that was taken over are numbered from a random place")
{
    comcp::http_service_options options;
    options.random = sources::switched;
    two_processes p(std::move(options));
    p.begin("2025-11-25", R"({"roots":{}})");
    const bool least = GENERATE(true, false);
    const sources::choice chosen(least ? sources::zeros : sources::ones);
    auto asking = p.post(*p.b, call_text("1", "ask"));
    const auto heard = asking.stream().messages();
    REQUIRE(heard.size() == 1);
    CHECK(parse(heard[0]).at("id").as_int64() == ((least ? std::int64_t{1} << 32 : std::int64_t{1} << 52) + 1));
}

TEST_CASE("Whoever has a store at work may die at any time")
{
    const int order = GENERATE(range(0, 6));
    std::optional<two_processes> p;
    p.emplace();
    p->begin();
    p->store.delay = 1s;
    std::vector<reply> asked;
    asked.push_back(p->end(*p->a));
    asked.push_back(p->send(*p->a, caller().make("POST", hello_text())));
    asked.push_back(p->post(*p->b, request_text("1", "ping")));
    if (order % 3 == 0) p->a.reset();
    if (order % 3 == 1) p->b.reset();
    if (order >= 3) p->advance(10s);
    CHECK(asked.size() == 3);
    // The context dies last or in the middle: it stands before the services in the stage.
}

TEST_CASE("Several threads, two services, one store: sessions move to and fro and end")
{
    memory_session_store store;
    asio::io_context io(4);
    comcp::http_service_options options;
    options.sessions(store);
    options.limits.sessions = 12; // fewer than there are clients
    process a(io.get_executor(), options);
    process b(io.get_executor(), options);
    std::atomic<int> answered = 0;
    std::atomic<int> ended = 0;
    const auto one_client = [&a, &b, &answered, &ended]() -> comcp::task<void> {
        for (int round = 0, tries = 0; round < 10 && tries < 10000; ++tries) {
            caller client;
            http::response hello = co_await exchange_with(a.service, client.make("POST", hello_text()));
            if (hello.status != 200) { // all sessions are in use
                co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
                continue;
            }
            ++round;
            client.session = std::string(hello.fields.find("Mcp-Session-Id").value_or(""));
            for (int i = 0; i < 6; ++i) {
                process& at = i % 2 ? a : b;
                http::response answer = co_await exchange_with(
                    at.service, client.make("POST", call_text(std::to_string(i + 1), i % 3 ? "who" : "echo")));
                std::string text = answer.body;
                while (answer.stream) {
                    const bool more = co_await answer.stream->next(text);
                    if (!more) break;
                }
                if (has(text, "result")) ++answered;
            }
            if (round % 2 == 0) continue;
            http::response end = co_await exchange_with(b.service, client.make("DELETE"));
            if (end.status == 204) ++ended;
        }
    };
    std::atomic<int> at_work = 16;
    const auto done = [&io, &at_work](std::exception_ptr) {
        if (--at_work == 0) io.stop(); // sessions that are idle would keep it running
    };
    for (int i = 0; i < 16; ++i) asio::co_spawn(asio::make_strand(io), one_client(), done);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&io] { io.run_for(120s); });
    for (auto& each : threads) each.join();
    CHECK(at_work == 0);
    CHECK(answered > 0);
    CHECK(ended > 0);
    CHECK(a.service.sessions() <= 12);
    CHECK(b.service.sessions() <= 12);
    CHECK(store.sessions.size() <= 24);
}

// ---- streams -------------------------------------------------------------------------------------------------------

TEST_CASE("The stream of a call whose process is gone tells what is known and ends [96]")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    p.advance(1s);
    const auto ids = call.stream().ids(); // [retry], priming, "1", "2"
    REQUIRE(ids.size() == 3);
    p.a.reset();
    const std::size_t seen = GENERATE(0u, 1u, 2u);
    const std::vector<std::string> all = {logged("1"), logged("2"), left};
    for (int twice = 0; twice < 2; ++twice) { // the connection may break again
        auto again = p.get(*p.b, ids[seen]);
        CHECK(again.stream().messages() ==
              std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(seen), all.end()));
        CHECK(again.stream().ended());
        const auto replayed = again.stream().ids();
        CHECK(std::equal(replayed.begin(), replayed.end() - 1, ids.begin() + static_cast<std::ptrdiff_t>(seen) + 1));
        CHECK(p.b->service.streams() == 0);
    }
}

TEST_CASE("An answer that was kept is replayed by another process [97]")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    const auto ids = call.stream().ids();
    call.stream().leave();
    p.advance(2s);
    p.a.reset();
    auto again = p.get(*p.b, ids.back());
    CHECK(again.stream().messages() == std::vector<std::string>{logged("2"), text_answer("1", "counted")});
    CHECK(again.stream().ended());
}

TEST_CASE("An event that its process had no time to keep is the last that is known")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    CHECK(call.stream().messages().size() == 1);
    p.store.delay = 1h;
    p.advance(1s);
    const std::string seen = call.stream().ids().back();
    p.a.reset(); // "2" is under way
    p.store.delay = {};
    auto again = p.get(*p.b, seen);
    CHECK(again.stream().messages() == std::vector{left});
    CHECK(again.stream().ended());
}

TEST_CASE("A store that fails has the beginning of a stream, without a gap")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    const auto ids = call.stream().ids();
    p.store.fails = true;
    p.advance(1s);
    p.store.fails = false;
    p.advance(1s);
    CHECK(call.stream().messages().size() == 3); // its own process is not hindered
    CHECK(p.get(*p.a, ids.front()).stream().messages().size() == 3);
    p.a.reset();
    CHECK(p.get(*p.b, ids.front()).stream().messages() == std::vector<std::string>{logged("1"), left});
}

TEST_CASE("A store that is slow holds no more than its queue")
{
    comcp::http_service_options options;
    options.limits.stored_bytes = 400;
    two_processes p(std::move(options));
    p.begin();
    p.store.delay = 1s;
    std::vector<reply> calls;
    for (int i = 1; i < 10; ++i) calls.push_back(p.post(*p.a, call_text(std::to_string(i), "count")));
    p.store.delay = {};
    p.advance(3s);
    for (auto& each : calls) CHECK(each.stream().messages().size() == 3);
    CHECK(p.kept().streams.size() <= 3);
    p.begin();
    auto later = p.post(*p.a, call_text("1", "count"));
    p.advance(2s);
    CHECK(p.kept().streams.size() == 1);
}

TEST_CASE("A client's own stream goes on in another process")
{
    two_processes p;
    p.begin();
    auto stream = p.get(*p.a);
    p.a->server.tool("x", "", [] {});
    CHECK(stream.stream().messages().size() == 1);
    const auto ids = stream.stream().ids(); // [retry], priming, the change
    REQUIRE(ids.size() == 2);
    p.a.reset();
    auto again = p.get(*p.b, ids[GENERATE(0u, 1u)]);
    const std::size_t replayed = again.stream().messages().size();
    CHECK(replayed == (again.stream().ids().front() == ids[1] ? 1u : 0u));
    CHECK_FALSE(again.stream().ended());
    p.b->server.tool("y", "", [] {});
    CHECK(again.stream().messages().size() == replayed + 1);

    const std::string last = again.stream().ids().back(); // B's own
    again.stream().leave();
    p.b->server.tool("z", "", [] {});
    p.settle();
    CHECK(p.get(*p.b, last).stream().messages().size() == 1);
}

TEST_CASE("Ids of events lead to no other session's streams, in the store as elsewhere [98]")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    const std::string id = call.stream().ids().back();
    p.begin();
    CHECK(p.get(*p.b, id).status() == 400);
    CHECK(p.get(*p.b, "x").status() == 400);
    CHECK(p.get(*p.b, "../../x-1-1").status() == 400);
    CHECK(p.get(*p.b, id.substr(0, id.rfind('-')) + "-01").status() == 400);
    CHECK(p.post(*p.b, request_text("2", "ping")).status() == 200);
}

TEST_CASE("What a process keeps of its streams is what the store keeps")
{
    comcp::http_service_options options;
    options.limits.stored_events = 2;
    two_processes p(std::move(options));
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    p.advance(2s);
    const auto ids = call.stream().ids(); // priming, "1", "2", the answer
    REQUIRE(ids.size() == 4);
    p.a.reset();
    auto gone = p.get(*p.b, ids[0]);
    CHECK(gone.status() == 400);
    CHECK(has(gone.body(), "events after Last-Event-ID are not kept any more"));
    CHECK(p.get(*p.b, ids[1]).stream().messages().size() == 2);
    CHECK(p.get(*p.b, ids[3].substr(0, ids[3].rfind('-')) + "-9").status() == 400); // it has ended before that
    auto all = p.kept().streams;
    CHECK(all.begin()->second.events.size() == 2);
}

TEST_CASE("Streams that a process forgets leave the store")
{
    two_processes p;
    p.begin();
    for (int i = 1; i <= 70; ++i) {
        auto call = p.post(*p.a, call_text(std::to_string(i), "who"));
        CHECK(call.stream().ended());
    }
    CHECK(p.kept().streams.size() == 64);
}

TEST_CASE("Streams that a process forgets leave the store, also when that failed at first")
{
    two_processes p;
    p.begin();
    int id = 0;
    const auto calls = [&](int count) {
        for (; count != 0; --count) {
            auto call = p.post(*p.a, call_text(std::to_string(++id), "who"));
            CHECK(call.stream().ended());
        }
    };
    calls(64);
    p.store.fails = true;
    calls(3);
    p.store.fails = false;
    calls(70);
    CHECK(p.kept().streams.size() == 64);
    for (const auto& [name, each] : p.kept().streams) CHECK(each.finished);
}

TEST_CASE("A message that the store cannot keep costs no other stream anything, and its own the rest")
{
    two_processes p;
    p.a->server.tool("poison", "", [](comcp::context& ctx) {
        ctx.log(comcp::log_level::info, "poison");
        return std::string("p");
    });
    p.begin();
    p.store.poison = R"("poison")";
    p.store.delay = 1500ms;
    auto healthy = p.post(*p.a, call_text("1", "count"));
    p.advance(500ms);
    auto other = p.post(*p.a, call_text("2", "poison"));
    CHECK(other.stream().messages() == std::vector<std::string>{logged("poison"), text_answer("2", "p")});
    const auto ids = healthy.stream().ids(); // priming, "1"
    const auto bad_ids = other.stream().ids();
    REQUIRE(ids.size() == 2);
    REQUIRE(bad_ids.size() == 3);
    p.advance(10s);
    p.store.delay = {};
    p.a.reset();
    auto again = p.get(*p.b, ids[0]);
    CHECK(again.stream().messages() == std::vector<std::string>{logged("1"), logged("2"), text_answer("1", "counted")});
    CHECK(again.stream().ended());
    // The call whose message is lost ends all the same.
    std::string left_2 = left;
    left_2.replace(left_2.find(":1,") + 1, 1, "2");
    const std::size_t seen = GENERATE(0u, 1u, 2u);
    auto lost = p.get(*p.b, bad_ids[seen]);
    REQUIRE(lost.status() == 200);
    CHECK(lost.stream().messages() == std::vector{left_2});
    CHECK(lost.stream().ended());
}

TEST_CASE("Streams that began while the store was down end with what is known")
{
    two_processes p;
    p.begin();
    p.store.fails = true;
    auto call = p.post(*p.a, call_text("1", "count"));
    const auto ids = call.stream().ids();
    p.settle();
    p.store.fails = false;
    const int before = p.store.appends;
    SECTION("told with the next change") { p.advance(1s); }
    SECTION("told with the next request") { CHECK(p.post(*p.a, call_text("2", "echo")).status() == 200); }
    CHECK(p.store.appends == before + 1);
    p.a.reset();
    auto again = p.get(*p.b, ids.back());
    REQUIRE(again.status() == 200);
    CHECK(again.stream().messages() == std::vector{left});
    CHECK(again.stream().ended());
}

TEST_CASE("A stream takes a change that comes twice once")
{
    using kind = http::stream_change::kind;
    comcp::stored_stream kept;
    const std::vector<http::stream_change> all = {
        {kind::opened, "s", 0, 0, "[1]"}, {kind::kept, "s", 1, 1, "a"}, {kind::kept, "s", 2, 1, "b"}};
    for (int twice = 0; twice < 2; ++twice)
        for (const auto& each : all) kept.apply(each);
    CHECK(kept.owes == "[1]");
    CHECK(kept.last == 2);
    CHECK((kept.events == std::deque<std::string>{"a", "b"}));
    kept.apply({kind::kept, "s", 4, 1, "d"}); // a gap
    CHECK((kept.events == std::deque<std::string>{"d"}));
}

TEST_CASE("A batch whose process is gone is answered as one")
{
    two_processes p;
    p.begin("2025-03-26");
    auto call = p.post(*p.a, '[' + call_text(R"("a")", "count") + ',' + notice_text("notifications/initialized") +
                                 ", " + call_text("7", "count") + ']');
    const auto ids = call.stream().ids();
    p.a.reset();
    const auto got = p.get(*p.b, ids.back()).stream().messages();
    REQUIRE(got.size() == 1);
    std::string of_a = left;
    std::string of_7 = left;
    of_a.replace(of_a.find(":1,") + 1, 1, R"("a")");
    of_7.replace(of_7.find(":1,") + 1, 1, "7");
    CHECK(got[0] == '[' + of_a + ',' + of_7 + ']');
}

TEST_CASE("A stream that cannot be looked for may be asked for again")
{
    two_processes p;
    p.begin();
    auto call = p.post(*p.a, call_text("1", "count"));
    const auto ids = call.stream().ids();
    p.a.reset();
    CHECK(p.post(*p.b, request_text("2", "ping")).status() == 200);
    p.store.fails = true;
    CHECK(p.get(*p.b, ids.back()).status() == 503);
    p.store.fails = false;
    CHECK(p.get(*p.b, ids.back()).stream().messages() == std::vector{left});
}

TEST_CASE("An answer to a question of the process before is not taken for one to this process")
{
    two_processes p;
    p.begin("2025-11-25", R"({"roots":{}})");
    auto first = p.post(*p.a, call_text("1", "ask"));
    CHECK(has(first.stream().messages().at(0), R"("id":1,"method":"roots/list")"));
    auto second = p.post(*p.b, call_text("2", "ask"));
    const std::string question = second.stream().messages().at(0);
    CHECK(has(question, R"("method":"roots/list")"));
    const std::string id(comcp::member_source(question, "id").value_or(""));
    CHECK(std::stoll(id) > (std::int64_t{1} << 32)); // begun at a random place: no two processes ask alike
    CHECK(std::stoll(id) < (std::int64_t{1} << 53));
    CHECK(p.post(*p.b, answer_text("1", R"({"roots":[{"uri":"file:///old"}]})")).status() == 202);
    CHECK_FALSE(second.stream().ended());
    CHECK(p.post(*p.b, answer_text(id, R"({"roots":[{"uri":"file:///new"}]})")).status() == 202);
    CHECK(second.stream().messages().at(1) == text_answer("2", "file:///new"));
    CHECK(second.stream().ended());
}
