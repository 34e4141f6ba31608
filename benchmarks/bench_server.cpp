// SPDX-License-Identifier: MIT
//
// The server that the benchmarks load: the smallest tools there are, so that what is measured is the library.
#include <comcp/http.hpp>
#include <comcp/server/run.hpp>

#include <asio/thread_pool.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

struct echo_args
{
    std::string text;
};
BOOST_DESCRIBE_STRUCT(echo_args, (), (text))

struct time_args
{
    int milliseconds = 0;
};
BOOST_DESCRIBE_STRUCT(time_args, (), (milliseconds))

static std::string echo(echo_args given) { return std::move(given.text); }

static comcp::task<std::string> echo_later(echo_args given)
{
    const comcp::executor here = co_await comcp::asio::this_coro::executor;
    co_await comcp::asio::post(here, comcp::asio::use_awaitable);
    co_return std::move(given.text);
}

static comcp::task<std::string> doze(time_args given)
{
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    co_await timer.wait_for(std::chrono::milliseconds(given.milliseconds));
    co_return "waited";
}

// Processor time of this thread, so that a machine that is busy does not make it shorter.
static std::string burn(time_args given)
{
    const auto used = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    };
    const auto until = used() + std::chrono::milliseconds(given.milliseconds);
    while (used() < until) {
    }
    return "burnt";
}

static const char usage[] =
    "usage: bench_server --stdio [--threads]\n"
    "       bench_server --http PORT\n"
    "       bench_server --help\n"
    "  --stdio    serves stdin and stdout until the client leaves\n"
    "  --http     serves 127.0.0.1:PORT/mcp until SIGTERM\n"
    "  --threads  runs the handlers on two threads beside the session's, and adds the tool burn\n"
    "tools: echo {text}          plain function: gives the text back\n"
    "       echo_later {text}    coroutine that suspends once before\n"
    "       wait {milliseconds}  coroutine that sleeps\n"
    "       burn {milliseconds}  blocking function that uses so much processor time\n";

static void add_tools(comcp::server& server)
{
    server.tool("echo", "Gives the text back", echo);
    server.tool("echo_later", "Gives the text back after one turn of the executor", echo_later);
    server.tool("wait", "Sleeps", doze);
}

static int serve()
{
    comcp::server server("bench_server", "1");
    add_tools(server);
    return comcp::run_stdio(server);
}

static int serve_http(std::string_view port)
{
    comcp::server server("bench_server", "1");
    add_tools(server);
    return comcp::run_http(server, "127.0.0.1:" + std::string(port) + "/mcp");
}

static int serve_with_threads()
{
    comcp::asio::thread_pool threads(2);
    comcp::server server("bench_server", "1");
    add_tools(server);
    server.tool("burn", "Uses processor time", comcp::blocking(burn));
    server.handlers_on(threads.get_executor());
    return comcp::run_stdio(server);
}

int main(int argc, char** argv)
{
    const auto is = [&](int at, std::string_view name) { return argv[at] == name; };
    if (argc == 2 && is(1, "--help")) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (argc == 2 && is(1, "--stdio")) return serve();
    if (argc == 3 && is(1, "--http")) return serve_http(argv[2]);
    if (argc == 3 && is(1, "--stdio") && is(2, "--threads")) return serve_with_threads();
    std::fputs(usage, stderr);
    return 2;
}
