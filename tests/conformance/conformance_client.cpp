// SPDX-License-Identifier: MIT
//
// The client of the protocol's conformance suite: does what the scenario in MCP_CONFORMANCE_SCENARIO asks of a client,
// against the server whose URL is the argument. Exit status: 0 when it went as it should, else 1.
#include <comcp/http.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace json = comcp::json;
using namespace std::chrono_literals;

namespace
{

const comcp::identity who("comcp-conformance-client", "1.0.0");

void expect(bool condition, const char* otherwise)
{
    if (!condition) throw std::runtime_error(otherwise);
}

const comcp::tool& find(const comcp::tool_list& all, std::string_view name)
{
    const auto at = std::ranges::find(all, name, &comcp::tool::name);
    if (at == all.end()) throw std::runtime_error("there is no tool " + std::string(name));
    return *at;
}

/// Connects and lists the tools.
comcp::task<void> initialize(std::string url)
{
    comcp::client client(comcp::streamable_http(url), who);
    co_await client.connect();
    co_await client.list_tools();
    co_await client.close();
}

comcp::task<void> tools_call(std::string url)
{
    comcp::client client(comcp::streamable_http(url), who);
    co_await client.connect();
    const auto tools = co_await client.list_tools();
    const std::string name = find(tools, "add_numbers").name;
    const auto sum = co_await client.call(name, comcp::args("a", 5, "b", 3));
    expect(!sum.is_error, "the tool failed");
    co_await client.close();
}

/// Accepts every form as it is: what is left out has the defaults of its schema.
comcp::elicitation_result accept(const comcp::elicitation_request&) { return comcp::elicitation_result::accept(); }

comcp::task<void> accept_defaults(std::string url)
{
    comcp::client_options options;
    options.on_elicitation(accept);
    comcp::client client(comcp::streamable_http(url), who, std::move(options));
    co_await client.connect();
    const auto answer = co_await client.call("test_client_elicitation_defaults");
    expect(!answer.is_error, "the tool failed");
    co_await client.close();
}

/// The server ends the stream of the call and wants the client back after the time that it gave, and not before. It
/// knows one stream at a time, so the client opens none of its own beside it.
comcp::task<void> sse_retry(std::string url)
{
    comcp::client client(comcp::streamable_http(url).listen(false), who);
    co_await client.connect();
    const auto tools = co_await client.list_tools();
    const std::string name = find(tools, "test_reconnection").name;
    const auto answer = co_await client.call(name, comcp::args(), comcp::call_options().timeout(10s));
    expect(!answer.is_error, "the tool failed");
    co_await client.close();
}

/// Sends a schema back as it came: every keyword is kept, known or not.
comcp::task<void> preserve_schema(std::string url)
{
    comcp::client client(comcp::streamable_http(url), who);
    co_await client.connect();
    const auto tools = co_await client.list_tools();
    const json::object schema = find(tools, "json_schema_2020_12_tool").input_schema;
    const auto echoed = co_await client.call("json_schema_echo", comcp::args("schema", schema));
    expect(!echoed.is_error, "the tool failed");
    co_await client.close();
}

struct scenario
{
    std::string_view name;
    comcp::task<void> (*run)(std::string url);
};

constexpr scenario scenarios[] = {
    {"initialize", initialize},
    {"tools_call", tools_call},
    {"elicitation-sep1034-client-defaults", accept_defaults},
    {"sse-retry", sse_retry},
    {"json-schema-2020-12-preservation", preserve_schema},
};

void print_usage(std::FILE* to)
{
    std::fputs("usage: MCP_CONFORMANCE_SCENARIO=NAME conformance_client URL\n\nscenarios:\n", to);
    for (const scenario& each : scenarios) std::fprintf(to, "  %s\n", each.name.data());
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view word = argc == 2 ? argv[1] : "";
    if (word == "--help") {
        print_usage(stdout);
        return 0;
    }
    if (word.empty() || word.starts_with('-')) {
        print_usage(stderr);
        return 2;
    }
    const char* wanted = std::getenv("MCP_CONFORMANCE_SCENARIO");
    for (const scenario& each : scenarios)
        if (wanted && each.name == wanted) return comcp::run(each.run(std::string(word)));
    std::fprintf(stderr, "conformance_client: no scenario \"%s\"\n", wanted ? wanted : "");
    return 1;
}
