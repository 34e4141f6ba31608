// SPDX-License-Identifier: MIT
// One HTTP server on four threads: several sessions call at once while tools, resources and prompts are added, changed,
// switched and removed from other threads. For ThreadSanitizer above all; every client hears of the changes.
#include <comcp/client/client.hpp>
#include <comcp/http/streamable_http.hpp>
#include <comcp/server/run_http.hpp>

#include "catch.hpp"

#include <boost/describe/class.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace std::chrono_literals;
namespace asio = comcp::asio;

constexpr int clients = 4;
constexpr int calls_of_each = 40;
constexpr auto longest = 60s; // under ThreadSanitizer, beside others

struct echo_args
{
    std::string text;
};
BOOST_DESCRIBE_STRUCT(echo_args, (), (text))

comcp::task<std::string> slow_echo(echo_args args, comcp::context ctx)
{
    ctx.progress(1);
    comcp::timer clock(co_await asio::this_coro::executor);
    co_await clock.wait_for(1ms);
    co_return args.text;
}

comcp::task<std::string> long_wait()
{
    comcp::timer clock(co_await asio::this_coro::executor);
    co_await clock.wait_for(1h);
    co_return "waited";
}

/// A client on a thread of its own.
class caller
{
public:
    /// `waits`: its last call ends with the server.
    explicit caller(const std::string& url, bool waits = false) : url_(url), waits_(waits), thread_([this] { run(); })
    {}
    ~caller()
    {
        if (thread_.joinable()) thread_.join();
    }
    /// All calls were answered, and it heard of a change.
    bool ready() const { return called && heard; }
    void join() { thread_.join(); }

    std::atomic<bool> called{false};
    std::atomic<bool> heard{false};
    std::atomic<bool> over{false};
    // After `join`:
    std::string failure;
    int right_answers = 0;
    bool saw_last = false;

private:
    void run()
    {
        asio::co_spawn(io_, talk(), [this](std::exception_ptr failed) {
            try {
                if (failed) std::rethrow_exception(failed);
            } catch (const std::exception& e) {
                failure = e.what();
            }
            over = true;
        });
        io_.run_for(longest);
        if (!over) failure = "it hangs";
        over = true;
    }

    comcp::task<void> talk()
    {
        comcp::client_options options;
        options.on_tools_changed([this] { changed(); });
        comcp::client client(comcp::streamable_http(url_), comcp::identity("caller", "1"), options);
        co_await client.connect();
        for (int i = 0; i < calls_of_each; ++i) {
            const std::string text = "text " + std::to_string(i);
            auto answer = co_await client.call(i % 4 == 0 ? "slow" : "echo", comcp::args("text", text));
            if (comcp::flatten(answer) == text) ++right_answers;
            auto calling = client.call("switched"); // on or off: both are answers
            (void)co_await comcp::as_result(std::move(calling));
            if (i % 8 == 0) co_await client.list_tools();
            if (i % 8 == 4) co_await client.list_resources();
        }
        called = true;
        if (waits_) {
            auto calling = client.call("wait");
            (void)co_await comcp::as_result(std::move(calling));
            co_return;
        }
        while (!saw_last) {
            const int before = changes_;
            const auto tools = co_await client.list_tools();
            saw_last = std::ranges::any_of(tools, [](const comcp::tool& each) { return each.name == "last"; });
            while (!saw_last && changes_ == before) {
                comcp::timer clock(io_.get_executor());
                co_await clock.wait_for(1ms);
            }
        }
        co_await client.close();
    }
    void changed()
    {
        ++changes_;
        heard = true;
    }

    std::string url_;
    bool waits_;
    asio::io_context io_{1};
    int changes_ = 0;
    std::thread thread_; // the last: it uses all of the above
};

/// Changes what is offered until it is told to stop.
class changer
{
public:
    explicit changer(comcp::server& of, int number) : served_(of), number_(number), thread_([this] { run(); }) {}
    ~changer()
    {
        stop_ = true;
        thread_.join();
    }

private:
    void run()
    {
        for (int round = 0; !stop_; ++round) {
            const std::string name = "passing " + std::to_string(number_) + ' ' + std::to_string(round);
            auto tool = served_.tool(name, "for a moment", [] { return "passing"; });
            tool.title("Passing").read_only();
            auto resource = served_.resource("passing:" + std::to_string(number_), name, [] { return "passing"; });
            auto prompt = served_.prompt(name, "for a moment", [] { return "passing"; });
            served_.resource_updated(resource.uri());
            served_.find_tool("switched").enable(round % 2 == 0);
            std::this_thread::sleep_for(1ms); // a pace, so that others get on
            tool.remove();
            resource.remove();
            prompt.remove();
        }
    }

    comcp::server& served_;
    int number_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace

TEST_CASE("An HTTP server on four threads serves several sessions while what it offers changes", "[threads]")
{
    asio::io_context io(4);
    comcp::server served("served", "1");
    std::atomic<int> runs = 0;
    served.tool("echo", "", [&](echo_args args) {
        ++runs;
        return args.text;
    });
    served.tool("slow", "", [&](echo_args args, comcp::context& ctx) {
        ++runs;
        return slow_echo(std::move(args), ctx);
    });
    std::atomic<int> waiting = 0;
    served.tool("wait", "", [&](comcp::context&) {
        ++waiting;
        return long_wait();
    });
    served.tool("switched", "", [] { return "on"; });
    served.options().offer_resources = served.options().offer_prompts = true;
    comcp::http_server http(io.get_executor(), served);
    http.bind("127.0.0.1", 0);

    const auto home = asio::make_strand(io);
    asio::cancellation_signal stop;
    std::atomic<int> ended = 0;
    std::size_t left = 1;
    asio::co_spawn(home, http.serve(), asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr failed) {
                       if (!failed) ++ended;
                       left = http.service().sessions();
                   }));
    std::vector<std::thread> threads;
    std::atomic<int> done = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            io.run_for(2 * longest);
            if (io.stopped()) ++done;
        });

    {
        std::vector<std::unique_ptr<caller>> all;
        for (int i = 0; i < clients; ++i) all.push_back(std::make_unique<caller>(http.url()));
        {
            const changer first(served, 1);
            const changer second(served, 2);
            const auto waits = [](const auto& each) { return !each->ready() && !each->over; };
            while (std::ranges::any_of(all, waits)) std::this_thread::sleep_for(1ms);
        }
        served.tool("last", "", [] { return "last"; });
        for (const auto& each : all) {
            each->join();
            CHECK(each->failure == "");
            CHECK(each->right_answers == calls_of_each);
            CHECK(each->saw_last);
        }
    }
    CHECK(runs == clients * calls_of_each);

    // One more session, with a stream and a call that waits when the server is cancelled.
    caller last(http.url(), true);
    while (waiting == 0 && !last.over) std::this_thread::sleep_for(1ms);
    asio::post(home, [&] { stop.emit(asio::cancellation_type::terminal); });
    for (std::thread& each : threads) each.join();
    last.join();
    CHECK(last.failure == "");
    CHECK(done == 4); // nothing was left to do
    CHECK(ended == 1);
    CHECK(left == 0);
}
