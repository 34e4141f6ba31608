// SPDX-License-Identifier: MIT
//
// A call that takes time: its progress, giving it up, and a deadline. What ends a call also ends its handler: the next
// thing that the handler awaits throws, and its frame unwinds.
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <iostream>

using namespace std::chrono_literals;
using namespace comcp::asio::experimental::awaitable_operators;

struct count_args
{
    int to = 5;
};
BOOST_DESCRIBE_STRUCT(count_args, (), (to))

struct unwinds // counts the handlers that ended, however they did
{
    ~unwinds() { ++count; }
    static inline int count = 0;
};

comcp::task<std::string> count(count_args asked, comcp::context& call)
{
    const unwinds on_exit;
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    for (int i = 1; i <= asked.to; ++i) {
        co_await timer.wait_for(10ms); // throws when the client gives the call up
        call.progress(i, asked.to, "at " + std::to_string(i));
    }
    co_return "counted to " + std::to_string(asked.to);
}

comcp::task<void> use(comcp::server& server)
{
    const auto here = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(here);
    comcp::asio::co_spawn(here, server.serve(std::move(pipe.second)), comcp::asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("example", "1.0.0"));
    co_await client.connect();

    // Options are made before the call: an awaited expression takes no callable.
    int notices = 0;
    comcp::call_options watched;
    watched.on_progress([&](const comcp::progress& p) {
        ++notices;
        std::cout << p.message << " of " << *p.total << '\n';
    });
    const auto answer = co_await client.call("count", comcp::args("to", 3), watched);
    std::cout << comcp::to_text(answer) << '\n';

    // Whatever ends first cancels the other; the server is told, and its handler ends.
    comcp::timer timer(here);
    const auto first = co_await (client.call("count", comcp::args("to", 1000)) || timer.wait_for(50ms));
    std::cout << (first.index() == 0 ? "answered\n" : "given up\n");

    // A deadline is an error with a reason. The outcome says what is known: it was sent, so it may have run.
    comcp::call_options hurried;
    hurried.timeout(50ms);
    const auto late = co_await comcp::as_result(client.call("count", comcp::args("to", 1000), hurried));
    std::cout << late.error().text << '\n';
    co_await client.close();

    const bool timed_out = late.error().code == comcp::errc::timed_out && late.error().fate == comcp::outcome::unknown;
    if (notices != 3 || first.index() != 1 || !timed_out) throw std::runtime_error("that was not expected");
}

int main()
{
    comcp::server server("counter", "1.0.0");
    server.tool("count", "Counts slowly", count);
    const int status = comcp::run(use(server));
    return status == 0 && unwinds::count == 3 ? 0 : 1;
}
