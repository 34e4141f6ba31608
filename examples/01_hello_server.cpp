// SPDX-License-Identifier: MIT
//
// A whole server: one tool, with its schema, over stdin and stdout.
// expect: ^$
#include <comcp/stdio.hpp>

struct greet_args
{
    std::string name;
    unsigned times = 1;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

int main()
{
    comcp::server server("greeter", "1.0.0");
    server.tool("greet", "Greets somebody", [](greet_args a) { return "Hello, " + a.name + std::string(a.times, '!'); })
        .field("times", comcp::field("How many exclamation marks").minimum(1).maximum(10));
    return comcp::run_stdio(server);
}
