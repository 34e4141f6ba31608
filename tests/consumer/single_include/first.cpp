// SPDX-License-Identifier: MIT
// The one unit that has the compiled parts.
#define COMCP_IMPLEMENTATION
#include <comcp/comcp.hpp>
// A second time, behind a line that clang-format does not take for a duplicate to remove.
#include <comcp/comcp.hpp>

#include <string>

struct greet_args
{
    std::string name = "nobody";
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name))

comcp::task<void> second(comcp::server& server);

int main()
{
    comcp::server server("greeter", "1.0.0");
    server.tool("greet", "Greets somebody", [](const greet_args& a) { return "Hello, " + a.name; });
    return comcp::run(second(server));
}
