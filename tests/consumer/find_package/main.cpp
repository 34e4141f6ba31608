// SPDX-License-Identifier: MIT
// A client and a server in one program: needs the headers, their compiled bodies and those of Boost.JSON.
#include <comcp/comcp.hpp>

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

struct greet_args
{
    std::string name;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name))

comcp::task<void> talk(comcp::server& server)
{
    const auto executor = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(executor);
    comcp::asio::co_spawn(executor, server.serve(std::move(pipe.second)), comcp::asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("consumer", "1.0.0"));
    co_await client.connect();
    const auto answer = co_await client.call("greet", comcp::args("name", "Ada"));
    co_await client.close();
    std::cout << comcp::to_text(answer) << '\n';
    if (comcp::to_text(answer) != "Hello, Ada") throw std::runtime_error("that is not the answer");
}

int main()
{
    comcp::server server("greeter", "1.0.0");
    server.tool("greet", "Greets somebody", [](const greet_args& a) { return "Hello, " + a.name; });
    return comcp::run(talk(server));
}
