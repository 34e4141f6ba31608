// SPDX-License-Identifier: MIT
// A server that ends the connection of a call in the middle of it, and our client, which comes back (E-36): over
// sockets.
#include <comcp/client/client.hpp>
#include <comcp/http/streamable_http.hpp>
#include <comcp/server/run_http.hpp>

#include "catch.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace
{

namespace asio = comcp::asio;

comcp::task<void> pause()
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(5ms);
}

/// Its connection ends at the beginning, and again after the client has come back.
comcp::task<std::string> parts(comcp::context& call)
{
    call.close_stream(1ms);
    for (int step = 1; step <= 4; ++step) {
        co_await pause();
        call.progress(step);
        call.close_stream(1ms);
    }
    co_return "at last";
}

comcp::task<void> ask(std::string url, std::string& said, std::vector<double>& heard)
{
    comcp::client client(comcp::streamable_http(url), comcp::identity("tester", "1"));
    co_await client.connect();
    comcp::call_options options;
    options.timeout(20s);
    options.on_progress([&heard](const comcp::progress& p) { heard.push_back(p.value); });
    const auto answer = co_await client.call("part", {}, options);
    said = to_text(answer);
    co_await client.close();
}

} // namespace

TEST_CASE("A call whose connection its server ends is answered when our client has come back")
{
    asio::io_context io(1);
    comcp::server served("served", "1.0");
    served.tool("part", "", parts);
    comcp::http_server web(io.get_executor(), served);
    web.bind("127.0.0.1", 0);
    asio::co_spawn(io, web.serve(), [](std::exception_ptr) {});
    std::string said;
    std::vector<double> heard;
    std::optional<std::exception_ptr> ended;
    asio::co_spawn(io, ask(web.url(), said, heard), [&](std::exception_ptr why) { ended = why; });
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!ended && std::chrono::steady_clock::now() < until) io.run_one_for(30s);
    REQUIRE(ended);
    if (*ended) std::rethrow_exception(*ended);
    CHECK(said == "at last");
    CHECK(heard == std::vector<double>{1, 2, 3, 4});
    web.close();
    io.restart();
    io.run_for(5s);
}
