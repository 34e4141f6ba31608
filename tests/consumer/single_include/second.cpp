// SPDX-License-Identifier: MIT
#include <comcp/comcp.hpp>
// A second time: see first.cpp.
#include <comcp/comcp.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <stdexcept>
#include <utility>

comcp::task<void> second(comcp::server& server);

comcp::task<void> second(comcp::server& server)
{
    const auto executor = co_await asio::this_coro::executor;
    comcp::memory_pipe pipe(executor);
    asio::co_spawn(executor, server.serve(std::move(pipe.second)), asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("second", "1.0.0"));
    co_await client.connect();
    const auto answer = co_await client.call("greet", comcp::args("name", "Ada"));
    co_await client.close();
    if (comcp::to_text(answer) != "Hello, Ada") throw std::runtime_error("that is not the answer");
}
