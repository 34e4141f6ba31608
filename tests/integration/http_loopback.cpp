// SPDX-License-Identifier: MIT
// Our client and our server over real sockets, on one io_context: what the scripted tests cannot show is that the
// system's connections, addresses and back-pressure behave as their stand-ins in memory do.
#include <comcp/client/client.hpp>
#include <comcp/http/streamable_http.hpp>
#include <comcp/server/run_http.hpp>

#include "catch.hpp"

#include <boost/describe/class.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace
{

using namespace std::chrono_literals;
namespace asio = comcp::asio;

struct ended
{
    std::exception_ptr* into;
    bool* done;
    void operator()(std::exception_ptr failure) const
    {
        *into = failure;
        *done = true;
    }
};

struct echo_args
{
    std::string text;
};
BOOST_DESCRIBE_STRUCT(echo_args, (), (text))

struct ignored
{
    void operator()(std::exception_ptr) const {}
};

/// A server with a few tools, and whatever a test does beside it.
struct world
{
    asio::io_context io{1};
    comcp::server served{"served", "1.0"};
    std::optional<comcp::http_server> web;
    int runs = 0;

    world()
    {
        served.tool("echo", "", [this](echo_args args) {
            ++runs;
            return args.text;
        });
        served.tool("steps", "", [](comcp::context& ctx) { return steps(ctx); });
        served.tool("roots", "", [](comcp::context& ctx) { return roots(ctx); });
        served.tool("wait", "", [](comcp::context& ctx) { return wait(ctx); });
        served.tool("ask", "", [](comcp::context& ctx) { return ask(ctx); });
    }

    static comcp::task<std::string> steps(comcp::context ctx)
    {
        for (int i = 1; i <= 3; ++i) {
            comcp::timer clock(co_await asio::this_coro::executor);
            co_await clock.wait_for(1ms);
            ctx.progress(i);
        }
        co_return "stepped";
    }
    static comcp::task<std::string> roots(comcp::context ctx)
    {
        const auto places = co_await ctx.list_roots();
        co_return places.empty() ? "nowhere" : places.front().uri;
    }
    static comcp::task<std::string> ask(comcp::context ctx)
    {
        comcp::json::object form{{"message", "Your name?"},
                                 {"requestedSchema", comcp::json::object{{"type", "object"}}}};
        const comcp::json::object answer = co_await ctx.elicit(std::move(form));
        co_return std::string(answer.at("action").as_string());
    }
    static comcp::task<std::string> wait(comcp::context)
    {
        comcp::timer clock(co_await asio::this_coro::executor);
        co_await clock.wait_for(1h);
        co_return "waited";
    }

    void serve(std::string_view host = "127.0.0.1", std::uint16_t port = 0)
    {
        web.emplace(io.get_executor(), served, comcp::http_service_options().old_sse());
        web->bind(host, port);
        asio::co_spawn(io, web->serve(), ignored());
    }
    std::string url(std::string_view host, std::string_view path = "/mcp") const
    {
        return "http://" + std::string(host) + ':' + std::to_string(web->port()) + std::string(path);
    }

    /// Runs one coroutine to its end; fails the test after 20 s.
    void run(comcp::task<void> work)
    {
        bool done = false;
        std::exception_ptr failure;
        asio::co_spawn(io, std::move(work), ended{&failure, &done});
        const auto until = std::chrono::steady_clock::now() + 20s;
        while (!done && std::chrono::steady_clock::now() < until) io.run_one_for(20s);
        REQUIRE(done);
        if (failure) std::rethrow_exception(failure);
    }
};

comcp::task<std::string> echo(comcp::client& client, std::string text)
{
    auto answer = co_await client.call("echo", comcp::args("text", text));
    co_return comcp::flatten(answer); // whole: to_text would cut it
}

comcp::task<void> hello(comcp::client& client)
{
    co_await client.connect();
    const std::string said = co_await echo(client, "hello");
    CHECK(said == "hello");
    co_await client.close();
}

bool has_ipv6()
{
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor(io);
    comcp::io_error_code failed;
    acceptor.open(asio::ip::tcp::v6(), failed);
    if (!failed) acceptor.bind({asio::ip::address_v6::loopback(), 0}, failed);
    return !failed;
}

} // namespace

comcp::task<void> begin(comcp::client& client, bool with_a_call)
{
    co_await client.connect();
    if (with_a_call) co_await echo(client, "hello");
}

TEST_CASE("A client that closes at once ends its session at the server and waits for nobody")
{
    const bool after_a_call = GENERATE(false, true);
    world w;
    w.serve();
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("quick", "1"));
    const auto begun = std::chrono::steady_clock::now();
    w.run(begin(client, after_a_call));
    CHECK(w.web->service().sessions() == 1);
    w.run(client.close());
    CHECK(std::chrono::steady_clock::now() - begun < 5s); // its limit would be 10 s
    CHECK(w.web->service().sessions() == 0);
}

TEST_CASE("A client reaches a server by address and by name", "[http_loopback]")
{
    world w;
    SECTION("IPv4")
    {
        w.serve("127.0.0.1");
        comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"));
        w.run(hello(client));
    }
    SECTION("a name without a look-up")
    {
        w.serve("127.0.0.1");
        comcp::client client(comcp::streamable_http(w.url("localhost")), comcp::identity("tester", "1"));
        w.run(hello(client));
    }
    SECTION("IPv6")
    {
        if (!has_ipv6()) return;
        w.serve("::1");
        comcp::client client(comcp::streamable_http(w.url("[::1]")), comcp::identity("tester", "1"));
        w.run(hello(client));
    }
    SECTION("a name whose first address refuses")
    {
        if (!has_ipv6()) return;
        w.serve("::1");
        comcp::client client(comcp::streamable_http(w.url("localhost")), comcp::identity("tester", "1"));
        w.run(hello(client));
    }
}

TEST_CASE("Neither end of a connection waits for the acknowledgement of what it said last", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"));
    w.run(begin(client, true));
    int of_client = 0;
    int of_server = 0;
    for (int fd = 3; fd < 1024; ++fd) {
        sockaddr_in here{};
        sockaddr_in there{};
        socklen_t size = sizeof here;
        if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0 || here.sin_family != AF_INET) continue;
        size = sizeof there;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0) continue; // it listens
        if (ntohs(there.sin_port) == w.web->port()) ++of_client;
        else if (ntohs(here.sin_port) == w.web->port()) ++of_server;
        else continue;
        int no_delay = 0;
        size = sizeof no_delay;
        CHECK(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0);
        CHECK(no_delay != 0);
    }
    CHECK(of_client >= 1);
    CHECK(of_server >= 1);
    w.run(client.close());
}

TEST_CASE("Nobody listens: the call was not sent, and the error says where", "[http_loopback]")
{
    world w;
    w.serve();
    const std::string url = w.url("127.0.0.1");
    w.web.reset();
    comcp::client client(comcp::streamable_http(url), comcp::identity("tester", "1"));
    try {
        w.run(client.connect());
        FAIL("connected");
    } catch (const comcp::error& e) {
        CHECK(e.code() == comcp::errc::peer_gone);
        CHECK(e.outcome() == comcp::outcome::not_sent);
        CHECK(e.text().find(url.substr(0, url.rfind('/'))) != std::string::npos);
    }
}

namespace
{

comcp::task<void> many_calls(comcp::client& client)
{
    co_await client.connect();
    const auto ex = co_await asio::this_coro::executor;
    int left = 64;
    std::vector<std::string> said(64);
    comcp::timer done(ex);
    for (std::size_t i = 0; i < said.size(); ++i) {
        struct one
        {
            static comcp::task<void> ask(comcp::client& of, std::string text, std::string& into, int& count)
            {
                for (int round = 0; round < 5; ++round) into = co_await echo(of, text);
                --count;
            }
        };
        asio::co_spawn(ex, one::ask(client, std::to_string(i), said[i], left), ignored());
    }
    while (left != 0) co_await done.wait_for(1ms);
    for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i] == std::to_string(i));
    const std::string big(3 * 1024 * 1024, 'x');
    const std::string back = co_await echo(client, big);
    CHECK((back == big)); // not to be printed
    co_await client.close();
}

comcp::task<void> with_streams(comcp::client& client)
{
    co_await client.connect();
    std::vector<double> heard;
    comcp::call_options options;
    options.on_progress([&heard](const comcp::progress& p) { heard.push_back(p.value); });
    auto stepped = co_await client.call("steps", {}, options);
    CHECK(to_text(stepped) == "stepped");
    CHECK(heard == std::vector<double>{1, 2, 3});
    auto asked = co_await client.call("roots");
    CHECK(to_text(asked) == "file:///here");
    co_await client.close();
}

comcp::task<void> survives(world& w, comcp::client& client)
{
    co_await client.connect();
    std::string said = co_await echo(client, "before");
    CHECK(said == "before");
    const std::uint16_t port = w.web->port();
    w.serve("127.0.0.1", port); // another server: it knows no session of the first
    said = co_await echo(client, "after");
    CHECK(said == "after");
    CHECK(w.runs == 2);
    co_await client.close();
    CHECK(w.web->service().sessions() == 0);
}

comcp::task<void> gives_up(world& w, comcp::client& client)
{
    co_await client.connect();
    try {
        co_await client.call("wait", {}, comcp::call_options().timeout(50ms));
        FAIL("answered");
    } catch (const comcp::error& e) {
        CHECK(e.code() == comcp::errc::timed_out);
        CHECK(e.outcome() == comcp::outcome::unknown);
    }
    const std::string said = co_await echo(client, "still here");
    CHECK(said == "still here");
    CHECK(w.web->service().sessions() == 1);
    co_await client.close();
    CHECK(w.web->service().sessions() == 0);
}

} // namespace

TEST_CASE("Many calls at once, and one large one, come back whole", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"));
    w.run(many_calls(client));
    CHECK(w.runs == 64 * 5 + 1);
}

TEST_CASE("Progress and a server's questions come on the stream of their call", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client_options options;
    options.roots({comcp::root("file:///here")});
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"), options);
    w.run(with_streams(client));
}

TEST_CASE("A client survives the restart of its server, and no call runs twice", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"));
    w.run(survives(w, client));
}

TEST_CASE("A call that takes too long ends alone, and closing ends the session at the server", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::streamable_http(w.url("127.0.0.1")), comcp::identity("tester", "1"));
    w.run(gives_up(w, client));
}

TEST_CASE("Client, server and io_context may die with connections open", "[http_loopback]")
{
    auto w = std::make_unique<world>();
    w->serve();
    auto client =
        std::make_unique<comcp::client>(comcp::streamable_http(w->url("127.0.0.1")), comcp::identity("tester", "1"));
    w->run(client->connect());
    asio::co_spawn(w->io, client->call("wait"), [](std::exception_ptr, const comcp::answer&) {});
    w->io.poll();
    SECTION("the client first")
    {
        client.reset();
        w->io.poll();
        w.reset();
    }
    SECTION("the rest first")
    {
        w.reset();
        client.reset();
    }
}

// ---- the old HTTP+SSE (2024-11-05) ---------------------------------------------------------------------------------

namespace
{

comcp::task<void> with_one_stream(world& w, comcp::client& client)
{
    co_await client.connect();
    CHECK(w.web->service().sessions() == 1);
    CHECK(w.web->service().streams() == 1);
    const comcp::tool_list tools = co_await client.list_tools();
    CHECK(tools.complete);
    std::vector<double> heard;
    comcp::call_options options;
    options.on_progress([&heard](const comcp::progress& p) { heard.push_back(p.value); });
    auto stepped = co_await client.call("steps", {}, options);
    CHECK(to_text(stepped) == "stepped");
    CHECK(heard == std::vector<double>{1, 2, 3});
    auto asked = co_await client.call("ask");
    CHECK(to_text(asked) == "accept");
    auto roots = co_await client.call("roots");
    CHECK(to_text(roots) == "file:///here");
    try {
        co_await client.call("wait", {}, comcp::call_options().timeout(50ms));
        FAIL("answered");
    } catch (const comcp::error& e) {
        CHECK(e.code() == comcp::errc::timed_out);
        CHECK(e.outcome() == comcp::outcome::unknown);
    }
    const std::string big(3 * 1024 * 1024, 'x');
    const std::string back = co_await echo(client, big);
    CHECK((back == big)); // not to be printed
    CHECK(w.web->service().streams() == 1);
    co_await client.close();
    comcp::timer clock(co_await asio::this_coro::executor);
    const auto until = clock.now() + 10s; // it hears of the end of the stream
    while (w.web->service().sessions() + w.web->service().streams() != 0 && clock.now() < until)
        co_await clock.wait_for(1ms);
    CHECK(w.web->service().sessions() + w.web->service().streams() == 0);
}

comcp::task<void> loses_its_server(world& w, comcp::client& client)
{
    co_await client.connect();
    const auto ex = co_await asio::this_coro::executor;
    std::optional<comcp::fault> failed;
    struct caller
    {
        static comcp::task<void> call(comcp::client& of, std::optional<comcp::fault>& why)
        {
            try {
                co_await of.call("wait");
            } catch (const comcp::error& e) {
                why = e.fault();
            }
        }
    };
    asio::co_spawn(ex, caller::call(client, failed), ignored());
    const std::string said = co_await echo(client, "once");
    CHECK(said == "once");
    co_await w.web->drain(comcp::duration::zero());
    comcp::timer clock(ex);
    while (!failed) co_await clock.wait_for(1ms);
    CHECK(failed->code == comcp::errc::peer_gone);
    CHECK(failed->fate == comcp::outcome::unknown);
    CHECK_FALSE(client.connected());
}

comcp::client_options of_old_client()
{
    comcp::client_options options;
    options.roots({comcp::root("file:///here")});
    options.on_elicitation([](comcp::json::object) -> comcp::task<comcp::json::object> {
        const comcp::json::object content{{"name", "Ada"}};
        co_return comcp::json::object{{"action", "accept"}, {"content", content}};
    });
    return options;
}

} // namespace

TEST_CASE("The old transport carries everything on one stream, told so or after a fallback [E-50, E-52]",
          "[http_loopback]")
{
    const bool falls_back = GENERATE(false, true);
    world w;
    w.serve();
    const std::string url = w.url("127.0.0.1", "/sse"); // POST is answered with 405 there
    comcp::client client(falls_back ? comcp::streamable_http(url) : comcp::http_sse(url),
                         comcp::identity("tester", "1"), of_old_client());
    w.run(with_one_stream(w, client));
}

TEST_CASE("Many calls at once come back over the old transport", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::http_sse(w.url("127.0.0.1", "/sse")), comcp::identity("tester", "1"));
    w.run(many_calls(client));
    CHECK(w.runs == 64 * 5 + 1);
}

TEST_CASE("The end of the server is the end of an old session", "[http_loopback]")
{
    world w;
    w.serve();
    comcp::client client(comcp::http_sse(w.url("127.0.0.1", "/sse")), comcp::identity("tester", "1"));
    w.run(loses_its_server(w, client));
}
