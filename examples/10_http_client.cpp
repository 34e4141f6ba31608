// SPDX-License-Identifier: MIT
//
// A client of a server that is reached by its URL. Everything else is as with a child process.
// ctest: none
#include <comcp/http.hpp>

#include <iostream>

comcp::task<void> talk(std::string url)
{
    comcp::client client(comcp::streamable_http(url), comcp::identity("hello", "1.0.0"));
    co_await client.connect();
    for (const comcp::tool& t : co_await client.list_tools()) std::cout << t.name << ": " << t.description << '\n';
    const auto answer = co_await client.call("greet", comcp::args("name", "Ada", "times", 3));
    std::cout << comcp::to_text(answer) << '\n';
    co_await client.close();
}

int main(int argc, char** argv) { return comcp::run(talk(argc > 1 ? argv[1] : "http://localhost:8080/mcp")); }
