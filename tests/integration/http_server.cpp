// SPDX-License-Identifier: MIT
// A server over HTTP with its sockets, on the host's own loop and as a program.
#include "catch.hpp"
#include "raw_client.hpp"
#include "support.hpp"

#include <comcp/server/run_http.hpp>

#include <boost/json.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

using namespace std::chrono_literals;
using support::raw_client;
namespace asio = comcp::asio;

namespace
{

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// A client of the MCP endpoint "/mcp" that knows its session.
class mcp_client
{
public:
    explicit mcp_client(std::uint16_t port) : socket_(port) {}

    std::string ask(std::string_view message) { return socket_.ask(request("POST", message)); }
    void send(std::string_view message) { REQUIRE(socket_.send(request("POST", message))); }
    std::string answer() { return socket_.answer(); }
    std::string end_session() { return socket_.ask(request("DELETE", "")); }
    void connect()
    {
        const std::string got = ask(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{)"
                                    R"("protocolVersion":"2025-11-25","capabilities":{},)"
                                    R"("clientInfo":{"name":"raw","version":"1"}}})");
        REQUIRE(got.starts_with("HTTP/1.1 200 OK\r\n"));
        constexpr std::string_view name = "Mcp-Session-Id: ";
        const std::size_t at = got.find(name);
        REQUIRE(at != got.npos);
        session_ = got.substr(at, got.find("\r\n", at) + 2 - at);
        CHECK(ask(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").starts_with("HTTP/1.1 202 "));
    }
    raw_client& socket() { return socket_; }
    /// Another connection of the same session.
    mcp_client beside(std::uint16_t port) const
    {
        mcp_client other(port);
        other.session_ = session_;
        return other;
    }
    /// Opens a stream; gives the head of the answer.
    std::string listen(std::string_view last_event_id = {})
    {
        const std::string more = last_event_id.empty() ? "" : "Last-Event-ID: " + std::string(last_event_id) + "\r\n";
        return socket_.ask(request("GET", "", more));
    }

private:
    std::string request(std::string_view method, std::string_view body, std::string_view more = {}) const
    {
        return std::string(method) +
               " /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               "Accept: application/json, text/event-stream\r\n" +
               session_ + std::string(more) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               std::string(body);
    }

    raw_client socket_;
    std::string session_;
};

std::string call(std::string_view tool, std::string_view arguments)
{
    return R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":")" + std::string(tool) +
           R"(","arguments":)" + std::string(arguments) + "}}";
}

/// Starts the program and gives the port that it tells.
std::uint16_t port_of(support::process& program)
{
    constexpr std::string_view said = "comcp: serving at http://";
    program.wait_for_error("/mcp\n");
    const std::string& errors = program.errors();
    REQUIRE(errors.starts_with(said));
    return static_cast<std::uint16_t>(std::stoul(errors.substr(errors.rfind(':') + 1)));
}

} // namespace

TEST_CASE("An HTTP server runs on the host's own loop")
{
    asio::io_context io;
    comcp::server server("served", "1");
    server.tool("hello", "", [] { return "hello over HTTP"; });
    comcp::http_server http(io.get_executor(), server);
    CHECK(http.url() == "");
    http.bind("localhost", 0);
    CHECK(http.url() == "http://localhost:" + std::to_string(http.port()) + "/mcp");
    int ends = 0;
    const auto ended = [&](std::exception_ptr failure) {
        CHECK(failure == nullptr);
        if (++ends == 2) io.stop(); // the host's loop has other work
    };
    asio::co_spawn(io, http.serve(), ended);
    std::thread thread([&] { io.run(); });

    mcp_client client(http.port());
    client.connect();
    CHECK(has(client.ask(call("hello", "{}")), "hello over HTTP"));
    CHECK(has(client.ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})"), R"("result":{})"));
    CHECK(client.end_session().starts_with("HTTP/1.1 204 "));
    CHECK(client.ask(call("hello", "{}")).starts_with("HTTP/1.1 404 "));

    asio::co_spawn(io, http.drain(10s), ended);
    thread.join();
    CHECK(ends == 2);
    CHECK_FALSE(raw_client(AF_INET).connect(http.port()));
}

TEST_CASE("A client that breaks its connection under a stream costs nobody else anything, and can come back [23]")
{
    asio::io_context io;
    comcp::server server("served", "1");
    std::atomic<int> emitted = 0;
    std::atomic<bool> enough = false;
    std::atomic<int> ended = 0;
    std::atomic<int> cancelled = 0;
    struct handler
    {
        static comcp::task<std::string> emit(comcp::context ctx, std::atomic<int>& count, std::atomic<bool>& until,
                                             std::atomic<int>& ends, std::atomic<int>& cancels)
        {
            comcp::timer clock(co_await asio::this_coro::executor);
            try {
                while (!until) {
                    if (count < 40) ctx.progress(++count);
                    co_await clock.wait_for(1ms);
                }
            } catch (const comcp::error&) {
                ++cancels;
            }
            ++ends;
            co_return "emitted";
        }
    };
    server.tool("emit", "", [&](comcp::context& ctx) { return handler::emit(ctx, emitted, enough, ended, cancelled); });
    comcp::http_server http(io.get_executor(), server);
    http.bind("127.0.0.1", 0);
    asio::co_spawn(io, http.serve(), [](std::exception_ptr) {});
    std::thread thread([&] { io.run(); });
    const auto wait_until = [](const auto& condition) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        CHECK(condition());
    };

    mcp_client other(http.port());
    other.connect();
    mcp_client caller(http.port());
    caller.connect();
    mcp_client beside = caller.beside(http.port());
    caller.send(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"emit","arguments":{},)"
                R"("_meta":{"progressToken":"t"}}})");
    std::string seen = caller.socket().until(R"("progress":3}})");
    CHECK(seen.starts_with("HTTP/1.1 200 OK\r\n"));
    const std::size_t at = seen.rfind("id: ") + 4;
    const std::string last = seen.substr(at, seen.find_first_of("\r\n", at) - at);
    caller.socket().reset();
    wait_until([&] { return emitted == 40; }); // 2025-11-25, transports: a disconnect is no cancellation (E-32)
    CHECK(ended == 0);
    const std::string_view ping = R"({"jsonrpc":"2.0","id":6,"method":"ping"})";
    CHECK(has(other.ask(ping), R"({"jsonrpc":"2.0","id":6,"result":{}})"));
    CHECK(has(beside.ask(ping), R"({"jsonrpc":"2.0","id":6,"result":{}})"));

    const bool cancel = GENERATE(false, true);
    if (cancel) {
        CHECK(beside.ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})")
                  .starts_with("HTTP/1.1 202 "));
    } else {
        enough = true;
    }
    wait_until([&] { return ended == 1; });
    CHECK(cancelled == (cancel ? 1 : 0));
    CHECK(beside.listen(last).starts_with("HTTP/1.1 200 OK\r\n"));
    const std::string rest = beside.socket().until("\r\n0\r\n\r\n");
    CHECK(has(rest, R"("progress":4}})"));
    CHECK(has(rest, R"("progress":40}})"));
    CHECK(has(rest, R"("text":"emitted")") == !cancel); // a request that was cancelled is not answered
    CHECK(has(beside.ask(ping), R"({"jsonrpc":"2.0","id":6,"result":{}})"));

    asio::post(io, [&] {
        http.close();
        io.stop();
    });
    thread.join();
}

namespace
{

/// A server whose tool waits until it is cancelled, on a thread of its own, with a client that called it.
class waiting_server
{
public:
    waiting_server()
    {
        served_.tool("wait", "", [this](comcp::context&) { return wait(this); });
        http.emplace(io.get_executor(), served_);
        http->bind("127.0.0.1", 0);
        spawn(http->serve(), serving);
        thread_ = std::thread([this] { io.run_for(20s); });
        client.emplace(http->port());
        client->connect();
        client->send(call("wait", "{}"));
        began_.get_future().wait();
    }
    ~waiting_server()
    {
        if (thread_.joinable()) join();
    }

    struct operation
    {
        asio::cancellation_signal stop;
        int ends = 0;
        bool failed = false;
        std::size_t sessions_left = 1;
        bool handler_left = true;
    };
    void spawn(comcp::task<void> what, operation& as)
    {
        asio::co_spawn(io, std::move(what),
                       asio::bind_cancellation_slot(as.stop.slot(), [this, &as](std::exception_ptr failure) {
                           ++as.ends;
                           as.failed = failure != nullptr;
                           if (http) as.sessions_left = http->service().sessions();
                           as.handler_left = running_ != 0;
                       }));
    }
    /// On the thread of the server, and waits for that.
    template <class Work>
    void there(Work work)
    {
        std::promise<void> done;
        asio::post(io, [&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    void cancel(operation& which)
    {
        there([&] { which.stop.emit(asio::cancellation_type::terminal); });
    }
    void join() { thread_.join(); }

    asio::io_context io;
    std::optional<comcp::http_server> http;
    operation serving;
    operation draining;
    std::optional<mcp_client> client;

private:
    struct counted
    {
        explicit counted(int& in) : number(in) { ++number; }
        ~counted() { --number; }
        int& number;
    };
    static comcp::task<std::string> wait(waiting_server* self)
    {
        const counted here(self->running_);
        self->began_.set_value();
        comcp::timer clock(co_await asio::this_coro::executor);
        co_await clock.wait_for(1h);
        co_return "waited";
    }

    comcp::server served_{"served", "1"};
    int running_ = 0;
    std::promise<void> began_;
    std::thread thread_;
};

} // namespace

TEST_CASE("Cancelling serve() closes the listener, connections, sessions and calls, and waits for all of them")
{
    waiting_server s;
    const std::uint16_t port = s.http->port();
    s.cancel(s.serving);
    s.client->socket().rest();
    s.join();
    CHECK(s.io.stopped()); // nothing was left to do
    CHECK(s.serving.ends == 1);
    CHECK_FALSE(s.serving.failed);
    CHECK(s.serving.sessions_left == 0);
    CHECK_FALSE(s.serving.handler_left);
    CHECK_FALSE(raw_client(AF_INET).connect(port));
}

TEST_CASE("Cancelling drain() cuts what it waited for")
{
    waiting_server s;
    s.there([&] { s.spawn(s.http->drain(1h), s.draining); });
    CHECK_FALSE(s.client->socket().readable(50));
    s.cancel(s.draining);
    s.client->socket().rest();
    s.join();
    CHECK(s.io.stopped());
    CHECK(s.draining.ends == 1);
    CHECK_FALSE(s.draining.failed);
    CHECK(s.draining.sessions_left == 0);
    CHECK_FALSE(s.draining.handler_left);
    CHECK(s.serving.ends == 1);
    CHECK_FALSE(s.serving.failed);
}

TEST_CASE("A server may die while it is drained")
{
    waiting_server s;
    s.there([&] { s.spawn(s.http->drain(1h), s.draining); });
    s.there([&] { s.http.reset(); });
    s.client->socket().rest();
    s.join();
    CHECK(s.io.stopped());
    CHECK(s.draining.ends == 1);
    CHECK(s.serving.ends == 1);
    CHECK_FALSE(s.draining.handler_left);
}

TEST_CASE("An HTTP server does not listen where nobody is authorized")
{
    asio::io_context io;
    comcp::server server("served", "1");
    const auto refused = [](comcp::http_server& http, std::string_view host) {
        try {
            http.bind(host, 0);
        } catch (const comcp::error& e) {
            CHECK(e.code() == comcp::errc::invalid_argument);
            CHECK(e.text() == "other machines can reach \"" + std::string(host) +
                                  "\": say who may call with authorize(), or allow_unauthorized_remote()");
            return true;
        }
        return false;
    };
    comcp::http_server plain(io.get_executor(), server);
    CHECK(refused(plain, "0.0.0.0"));
    CHECK(refused(plain, "::"));
    CHECK(plain.port() == 0);
    CHECK_FALSE(refused(plain, "127.0.0.1"));

    comcp::http_server_options judged;
    judged.authorize([](const comcp::http::request&) { return comcp::http_access::allow(); });
    comcp::http_server with_judge(io.get_executor(), server, judged);
    CHECK_FALSE(refused(with_judge, "0.0.0.0"));

    comcp::http_server open(io.get_executor(), server, comcp::http_server_options().allow_unauthorized_remote());
    CHECK_FALSE(refused(open, "0.0.0.0"));
    CHECK(open.url() == "http://localhost:" + std::to_string(open.port()) + "/mcp");
}

TEST_CASE("A program that serves HTTP ends in order at the first signal")
{
    const int signal = GENERATE(SIGTERM, SIGINT);
    support::process program("http_fixture", {"localhost:0"});
    const std::uint16_t port = port_of(program);
    mcp_client idle(port);
    idle.connect();
    CHECK(has(idle.ask(call("echo", R"({"text":"over HTTP"})")), "over HTTP"));
    mcp_client busy(port);
    busy.connect();
    busy.send(call("wait", R"({"milliseconds":300})"));
    CHECK_FALSE(busy.socket().readable(50)); // it has begun
    program.signal(signal);
    CHECK(has(busy.answer(), "waited"));
    CHECK(idle.socket().rest() == "");
    busy.socket().close();
    CHECK(program.exit() == "exit 0");
    CHECK(program.rest() == ""); // stdout is the program's own
}

TEST_CASE("A program that serves HTTP ends open streams in order at a signal, after the last events and calls")
{
    support::process program("http_fixture", {"localhost:0"});
    const std::uint16_t port = port_of(program);
    mcp_client busy(port);
    busy.connect();
    mcp_client stream = busy.beside(port);
    CHECK(stream.listen().starts_with("HTTP/1.1 200 OK\r\n"));
    busy.send(call("offer", R"({"milliseconds":300})"));
    CHECK_FALSE(busy.socket().readable(50)); // it has begun
    program.signal(SIGTERM);
    CHECK(has(busy.answer(), R"("text":"offered")"));
    const std::string rest = stream.socket().rest(); // to the end of the connection
    CHECK(has(rest, R"(data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
    CHECK(rest.ends_with("\r\n0\r\n\r\n"));
    busy.socket().close();
    CHECK(program.exit() == "exit 0");
}

TEST_CASE("A program that serves HTTP ends at once at the second signal")
{
    support::process program("http_fixture", {"127.0.0.1:0"});
    mcp_client client(port_of(program));
    client.connect();
    client.send(call("wait", R"({"milliseconds":60000})"));
    CHECK_FALSE(client.socket().readable(50));
    const auto begun = std::chrono::steady_clock::now();
    program.signal(SIGTERM);
    CHECK_FALSE(client.socket().readable(50));
    program.signal(SIGTERM);
    client.socket().rest();
    CHECK(program.exit() == "exit 0");
    CHECK(std::chrono::steady_clock::now() - begun < 9s); // after one signal the call has 10 s
}

TEST_CASE("A program that cannot serve says why")
{
    SECTION("no address")
    {
        support::process program("http_fixture", {"nowhere"});
        CHECK(program.exit() == "exit 1");
        CHECK(has(program.errors(), "\"nowhere\" is no address to listen at: a port is missing"));
    }
    SECTION("not for everybody")
    {
        support::process program("http_fixture", {"0.0.0.0:0"});
        CHECK(program.exit() == "exit 1");
        CHECK(has(program.errors(), "say who may call with authorize()"));
    }
    SECTION("taken")
    {
        support::process first("http_fixture", {"127.0.0.1:0"});
        support::process second("http_fixture", {"127.0.0.1:" + std::to_string(port_of(first))});
        CHECK(second.exit() == "exit 1");
        CHECK(has(second.errors(), "cannot listen at 127.0.0.1:"));
    }
}
