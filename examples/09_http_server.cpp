// SPDX-License-Identifier: MIT
//
// The hello server over Streamable HTTP, for clients on this machine, until SIGTERM.
// ctest: none
#include <comcp/http.hpp>

struct greet_args
{
    std::string name;
    unsigned times = 1;
};
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))

int main(int argc, char** argv)
{
    comcp::server server("greeter", "1.0.0");
    server.tool("greet", "Greets somebody",
                [](greet_args a) { return "Hello, " + a.name + std::string(a.times, '!'); });
    return comcp::run_http(server, argc > 1 ? argv[1] : "localhost:8080/mcp");
}
