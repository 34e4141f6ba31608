// SPDX-License-Identifier: MIT
//
// Middleware: coroutines of the host around every message, in both directions. Those that the library brings log,
// measure and limit; one of your own is a function of a message and of what comes next.
#include <comcp/middleware.hpp>
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <iostream>
#include <map>
#include <stdexcept>

struct send_args
{
    std::string to;
    std::string api_key;
};
BOOST_DESCRIBE_STRUCT(send_args, (), (to, api_key))

/// Refuses what is not allowed, before its handler runs.
comcp::task<comcp::middleware_reply> only_within(comcp::middleware_message message, comcp::middleware_next next)
{
    if (message.method == "tools/call" && message.params.find("@elsewhere") != std::string::npos)
        throw comcp::request_error(-32000, "mail to elsewhere is not allowed");
    auto going = next(std::move(message)); // named: g++ 12 wants it so
    auto reply = co_await std::move(going);
    co_return reply;
}

comcp::task<void> use(comcp::server& server)
{
    const auto here = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(here);
    comcp::asio::co_spawn(here, server.serve(std::move(pipe.second)), comcp::asio::detached);

    // The client counts how its requests end.
    std::map<std::string, int> ends;
    comcp::client_options options;
    options.use(comcp::timing([&](const comcp::message_timing& each) {
        if (each.way == comcp::direction::outbound && each.is_request)
            ++ends[each.method + ' ' + std::string(to_string(each.end.what))];
    }));
    comcp::client client(std::move(pipe.first), comcp::identity("example", "1.0.0"), std::move(options));
    co_await client.connect();
    const auto sent = co_await client.call("send", comcp::args("to", "ada@here", "api_key", "k-123"));
    const auto refused = co_await comcp::as_result(client.call("send", comcp::args("to", "bob@elsewhere")));
    co_await client.close();

    std::cout << comcp::to_text(sent) << '\n' << refused.error().text << '\n';
    for (const auto& [what, count] : ends) std::cout << what << ": " << count << '\n';
    if (comcp::to_text(sent) != "sent to ada@here" || refused.error().rpc->code != -32000 ||
        ends["tools/call ok"] != 1 || ends["tools/call error"] != 1)
        throw std::runtime_error("that was not expected");
}

int main()
{
    comcp::server server("example", "1.0.0");
    server.tool("send", "Sends a mail", [](send_args given) { return "sent to " + given.to; });

    // The first is the outermost: what the limits refuse is logged too. The key is not.
    server.use(comcp::log_messages([](std::string_view line) { std::clog << line << '\n'; },
                                   comcp::log_messages_options().params()));
    server.use(comcp::rate_limit(100, 20).each_principal());
    server.use(comcp::concurrency_limit(8));
    server.use(only_within);
    return comcp::run(use(server));
}
