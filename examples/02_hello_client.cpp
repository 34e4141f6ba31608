// SPDX-License-Identifier: MIT
//
// A whole client: starts the server that stands beside it, lists its tools and calls one.
// expect: ^greet: Greets somebody.Hello, Ada!!!.$
#include <comcp/stdio.hpp>

#include <filesystem>
#include <iostream>

comcp::task<void> talk(std::string program)
{
    comcp::client client(comcp::child_process(program), comcp::identity("hello", "1.0.0"));
    co_await client.connect();
    for (const comcp::tool& t : co_await client.list_tools()) std::cout << t.name << ": " << t.description << '\n';
    const auto answer = co_await client.call("greet", comcp::args("name", "Ada", "times", 3));
    std::cout << comcp::to_text(answer) << '\n';
    co_await client.close();
}

int main(int, char** argv)
{
    return comcp::run(talk(std::filesystem::path(argv[0]).replace_filename("01_hello_server")));
}
