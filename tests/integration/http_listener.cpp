// SPDX-License-Identifier: MIT
// The listener on real sockets: addresses, connections that come and go, a system without descriptors, threads.
#include "catch.hpp"
#include "raw_client.hpp"
#include "scripted/fake_service.hpp"
#include "support.hpp"

#include <comcp/http/listener.hpp>
#include <comcp/timer.hpp>

#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using script::fake_service;
using support::raw_client;
namespace asio = comcp::asio;
namespace http = comcp::http;

namespace
{

std::string post(std::string_view target, std::string_view body, std::string_view more = {})
{
    return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Answers everything with the body, from any thread.
class echo_service final : public http::service
{
public:
    std::atomic<int> handles = 0;

    comcp::task<std::optional<http::response>> refuse(http::request&) override
    {
        std::optional<http::response> none;
        co_return none;
    }
    comcp::task<http::response> handle(http::request whole) override
    {
        ++handles;
        http::response out;
        out.body = std::move(whole.body);
        co_return out;
    }
    std::size_t most_body() const override { return 1 << 20; }
    std::shared_ptr<http::budget> memory() const override { return budget; }

    std::shared_ptr<http::budget> budget = std::make_shared<http::budget>(64 << 20);
};

/// A listener whose context runs on threads of its own.
template <class Service>
class running_listener
{
public:
    asio::io_context io;
    Service service;
    http::listener listener;

    template <class... Args>
    explicit running_listener(comcp::http_service_limits limits, Args&&... args)
        : service(std::forward<Args>(args)...),
          listener(io.get_executor(), service, limits)
    {}
    ~running_listener()
    {
        if (threads_.empty()) return;
        listener.close();
        for (std::thread& each : threads_) each.join();
        CHECK(ended_ == 1); // run() returned: no connection is left
    }

    std::uint16_t start(std::string_view host = "127.0.0.1", int threads = 1)
    {
        const comcp::result<void> bound = listener.bind(host, 0);
        if (!bound) FAIL(bound.error().text);
        asio::co_spawn(io, listener.run(), [this](std::exception_ptr) { ++ended_; });
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { io.run(); });
        return listener.port();
    }

    /// Runs it on the context's thread and gives what it returns.
    template <class F>
    auto on_io(F f)
    {
        std::packaged_task<decltype(f())()> work(std::move(f));
        auto result = work.get_future();
        asio::post(io, [&work] { work(); });
        return result.get();
    }
    /// Until that is so on the context's thread.
    template <class F>
    void wait_until(F f)
    {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!on_io(f)) {
            if (std::chrono::steady_clock::now() > end) FAIL("it does not come about");
            std::this_thread::yield();
        }
    }

private:
    std::vector<std::thread> threads_;
    std::atomic<int> ended_ = 0;
};

struct fake_listener : running_listener<fake_service>
{
    explicit fake_listener(comcp::http_service_limits limits = {}) : running_listener(limits, io.get_executor()) {}
};

bool ipv6_works() { return raw_client(AF_INET6).connect(1) || (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT); }

/// Allows this process so many descriptors, for one scope.
class descriptor_limit
{
public:
    explicit descriptor_limit(rlim_t most)
    {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit now = before_;
        now.rlim_cur = std::min(most, before_.rlim_max);
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    descriptor_limit(const descriptor_limit&) = delete;
    descriptor_limit& operator=(const descriptor_limit&) = delete;

private:
    rlimit before_{};
};

} // namespace

TEST_CASE("localhost is one port of both families")
{
    fake_listener s;
    const std::uint16_t port = s.start("localhost");
    CHECK(port != 0);
    CHECK(has(raw_client(port).ask(post("/echo", "four")), "four"));
    CHECK(s.on_io([&] { return s.service.seen().peer.starts_with("127.0.0.1:"); }));
    if (!ipv6_works()) {
        CHECK(s.listener.endpoints().size() == 1);
        return;
    }
    REQUIRE(s.listener.endpoints().size() == 2);
    CHECK(s.listener.endpoints()[1].port() == port);
    CHECK(has(raw_client(port, AF_INET6).ask(post("/echo", "six")), "six"));
}

TEST_CASE("A listener takes addresses of either family, and says what it cannot take")
{
    asio::io_context io;
    echo_service service;
    http::listener listener(io.get_executor(), service);
    CHECK(listener.port() == 0);
    CHECK(listener.bind("0.0.0.0", 0).has_value());
    CHECK(listener.bind("127.0.0.1", 0).has_value());
    if (ipv6_works()) {
        CHECK(listener.bind("::1", 0).has_value());
        CHECK(listener.bind("::", 0).has_value());
    }
    CHECK(listener.endpoints()[0].address().to_string() == "0.0.0.0");

    const auto named = listener.bind("example.com", 80);
    REQUIRE(named.has_error());
    CHECK(named.error().code == comcp::errc::invalid_argument);
    CHECK(named.error().text == "\"example.com\" is no address to listen at: give an IP address or \"localhost\"");
    const auto taken = listener.bind("127.0.0.1", listener.endpoints()[1].port());
    REQUIRE(taken.has_error());
    CHECK(taken.error().code == std::errc::address_in_use);
    CHECK(has(taken.error().text, "cannot listen at 127.0.0.1:"));
    const auto both = listener.bind("localhost", listener.endpoints()[1].port());
    REQUIRE(both.has_error());
    CHECK(both.error().code == std::errc::address_in_use);
    const auto foreign = listener.bind("192.0.2.1", 0);
    REQUIRE(foreign.has_error());
    CHECK(foreign.error().code == std::errc::address_not_available);
}

TEST_CASE("One connection carries many requests, in pieces or together")
{
    fake_listener s;
    raw_client client(s.start());
    const std::string large(900000, 'x');
    for (int i = 0; i < 20; ++i) {
        CHECK(has(client.ask(post("/echo", "number " + std::to_string(i))), "number " + std::to_string(i)));
        const bool whole = client.ask(post("/echo", large)).ends_with("\r\n\r\n" + large);
        CHECK(whole);
    }
    REQUIRE(client.send(post("/echo", "a") + post("/echo", "b") + post("/echo", "c", "Connection: close\r\n")));
    CHECK(client.answer().ends_with("\r\n\r\na"));
    CHECK(client.answer().ends_with("\r\n\r\nb"));
    CHECK(client.rest().ends_with("\r\n\r\nc"));
}

TEST_CASE("A client that still sends gets the answer that refuses its body") // case 144
{
    fake_listener s;
    raw_client client(s.start());
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "100000\r\n" + std::string(0x100000, ' ') + "\r\n";
    // It reads only after it has sent as much as it could: for as long as the server listens.
    for (int i = 0; i < 4; ++i) client.send(chunk);
    client.end();
    const std::string got = client.rest();
    CHECK(got.starts_with("HTTP/1.1 413 "));
    CHECK(has(got, "Connection: close\r\n"));
    CHECK(s.on_io([&] { return s.service.seen().handles; }) == 0);
    s.wait_until([&] { return s.service.budget->used() == 0; });
}

TEST_CASE("A client that leaves inside of a stream costs its stream and nothing else") // cases 23, 101
{
    fake_listener s;
    const std::uint16_t port = s.start();
    auto& seen = s.service.seen();
    SECTION("by a reset")
    {
        raw_client client(port);
        client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        client.until("\r\n\r\n");
        s.on_io([&] { s.service.push("data: 1\n\n"); });
        client.until("data: 1\n\n\r\n");
        client.reset();
        for (int i = 0; i < 3; ++i) s.on_io([&] { s.service.push("into the void"); });
    }
    SECTION("again and again, at once")
    {
        for (int i = 0; i < 1000; ++i) {
            raw_client client(port);
            client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        }
        s.wait_until([&] { return seen.refuses == 1000; });
    }
    s.wait_until([&] { return seen.streams_ended == seen.streams; });
    CHECK(has(raw_client(port).ask(post("/echo", "alive")), "alive"));
}

TEST_CASE("A client that ended its output gets the answer of a long call")
{
    fake_listener s;
    raw_client client(s.start());
    client.send(post("/hold", "slow"));
    client.end();
    s.wait_until([&] { return s.service.seen().handles == 1; });
    CHECK_FALSE(client.readable(20));
    s.on_io([&] { s.service.release(); });
    CHECK(client.rest().ends_with("\r\n\r\nslow"));
}

TEST_CASE("A client that leaves inside of a call costs nothing")
{
    fake_listener s;
    const std::uint16_t port = s.start();
    for (int i = 0; i < 2; ++i) {
        raw_client client(port);
        client.send(post("/hold", std::string(10000, 'x')));
        s.wait_until([&] { return s.service.seen().handles == i + 1; });
        i == 0 ? client.close() : client.reset();
    }
    s.wait_until([&] { return s.service.seen().held_ended == 1; }); // the broken one is cancelled
    s.on_io([&] { s.service.release(); });
    s.wait_until([&] { return s.service.seen().held_ended == 2; });
    CHECK(has(raw_client(port).ask(post("/echo", "alive")), "alive"));
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("One connection more than the limit is answered with 503")
{
    comcp::http_service_limits limits;
    limits.connections = 2;
    fake_listener s(limits);
    const std::uint16_t port = s.start();
    std::optional<raw_client> first(port);
    raw_client second(port);
    CHECK(has(first->ask(post("/echo", "1")), "200 OK"));
    CHECK(has(second.ask(post("/echo", "2")), "200 OK"));
    raw_client third(port);
    third.send(post("/echo", "3"));
    const std::string got = third.rest();
    CHECK(got.starts_with("HTTP/1.1 503 "));
    CHECK(has(got, "Retry-After: 1\r\n"));
    third.close();
    first.reset();
    for (int tries = 0;; ++tries) { // the server sees the end of the first one in its own time
        raw_client again(port);
        again.send(post("/echo", "3", "Connection: close\r\n"));
        if (has(again.rest(), "200 OK")) break;
        REQUIRE(tries < 10000);
    }
}

TEST_CASE("Without descriptors the listener waits, and everything else goes on")
{
    fake_listener s;
    const std::uint16_t port = s.start();
    raw_client alive(port);
    CHECK(has(alive.ask(post("/echo", "before")), "before"));
    raw_client waiting{AF_INET};

    const auto micros = [] {
        rusage u{};
        ::getrusage(RUSAGE_SELF, &u);
        return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
    };
    std::vector<support::file> hoard;
    hoard.reserve(64);
    const descriptor_limit few(static_cast<rlim_t>(waiting.get()) + 20);
    for (int fd; (fd = ::fcntl(alive.get(), F_DUPFD_CLOEXEC, 0)) >= 0;) hoard.emplace_back(fd);
    const int why = errno;
    // Nothing is checked here: a sanitizer may want a descriptor for it.
    const bool connected = waiting.connect(port); // the system accepts it, and we cannot
    waiting.send(post("/echo", "at last"));
    const long before = micros();
    const bool answered = waiting.readable(500);
    const long spent = micros() - before;
    const std::string meanwhile = alive.ask(post("/echo", "meanwhile"));
    hoard.clear();

    CHECK(why == EMFILE);
    CHECK(connected);
    CHECK_FALSE(answered);
    CHECK(spent < 100000); // it does not spin
    CHECK(has(meanwhile, "meanwhile"));
    CHECK(has(waiting.answer(), "at last"));
}

TEST_CASE("A drain lets calls end, and cuts what does not")
{
    const bool in_time = GENERATE(true, false);
    fake_listener s;
    const std::uint16_t port = s.start();
    raw_client busy(port);
    raw_client idle(port);
    CHECK(has(idle.ask(post("/echo", "x")), "200 OK"));
    busy.send(post("/hold", "slow"));
    s.wait_until([&] { return s.service.seen().handles == 2; });
    std::promise<void> drained;
    asio::co_spawn(s.io, s.listener.drain(in_time ? comcp::duration(1min) : comcp::duration(50ms)),
                   [&](std::exception_ptr) { drained.set_value(); });
    CHECK(idle.rest() == "");
    CHECK_FALSE(raw_client(AF_INET).connect(port));
    if (in_time) {
        s.on_io([&] { s.service.release(); });
        const std::string got = busy.rest();
        CHECK(has(got, "Connection: close\r\n"));
        CHECK(got.ends_with("slow"));
        busy.close();
    } else {
        CHECK(busy.rest() == "");
    }
    drained.get_future().get();
}

TEST_CASE("Two threads serve many connections at once")
{
    running_listener<echo_service> s({});
    const std::uint16_t port = s.start("127.0.0.1", 2);
    constexpr int clients = 8;
    constexpr int rounds = 20;
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (int c = 0; c < clients; ++c) {
        threads.emplace_back([&, c] {
            for (int i = 0; i < rounds; ++i) {
                raw_client client(port);
                const std::string body(static_cast<std::size_t>(c * 5000 + i), static_cast<char>('a' + c));
                for (int k = 0; k < 3; ++k)
                    if (client.ask(post("/", body)).ends_with("\r\n\r\n" + body)) ++good;
                if (i % 3 == 0) client.reset();
                if (i % 3 == 1) {
                    client.send(post("/", body)); // and leaves
                }
            }
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(good == clients * rounds * 3);
    std::promise<void> drained;
    asio::co_spawn(s.io, s.listener.drain(20s), [&](std::exception_ptr) { drained.set_value(); });
    drained.get_future().get();
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("An idle connection holds at most 8 KiB")
{
    if (support::sanitized) return; // they keep what is freed
    const descriptor_limit many(4096);
    running_listener<echo_service> s({});
    const std::uint16_t port = s.start();
    std::vector<raw_client> clients;
    const auto grow = [&](int count) {
        for (int i = 0; i < count; ++i) {
            raw_client& client = clients.emplace_back(port);
            client.ask(post("/", std::string(100000, 'x'), "X-Some: " + std::string(3000, 'y') + "\r\n"));
            client.ask(post("/", "x"));
        }
        s.on_io([] { ::malloc_trim(0); });
        return support::status_kb(::getpid(), "VmRSS");
    };
    clients.reserve(1200);
    const long before = grow(200);
    const long after = grow(1000);
    CAPTURE(before, after);
    CHECK(after - before <= 8 * 1000);
    WARN("bytes for each idle connection: " << (after - before) * 1024 / 1000);
}
