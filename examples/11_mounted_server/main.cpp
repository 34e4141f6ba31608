// SPDX-License-Identifier: MIT
//
// An MCP server inside a program that has an HTTP server of its own (here cpp-httplib, with its own threads): the
// program hands requests over and sends back what it gets, as one piece or piece by piece. comcp opens no socket.
#include "mounted.hpp"

#include <iostream>
#include <stdexcept>
#include <thread>

comcp::task<std::string> count(comcp::context& call)
{
    for (int i = 1; i <= 3; ++i) call.progress(i, 3);
    co_return "counted";
}

comcp::task<void> talk(std::string url)
{
    double heard = 0;
    comcp::call_options options;
    options.on_progress([&heard](const comcp::progress& now) {
        std::cout << now.value << " of " << *now.total << '\n';
        heard += now.value;
    });
    comcp::client client(comcp::streamable_http(url), comcp::identity("mounted", "1"));
    co_await client.connect();
    const auto answer = co_await client.call("count", {}, options);
    std::cout << comcp::to_text(answer) << '\n';
    if (heard != 1 + 2 + 3 || comcp::to_text(answer) != "counted") throw std::logic_error("not everything came");
    co_await client.close();
}

int main()
{
    comcp::asio::io_context io(1);
    auto work = comcp::asio::make_work_guard(io);
    comcp::server server("mounted", "1");
    server.tool("count", "Counts to three", count);
    comcp::http_service service(io.get_executor(), server, comcp::http_service_options().single_threaded());
    std::thread loop([&] { io.run(); });

    httplib::Server host;
    host.set_payload_max_length(service.most_body());
    mounted mcp(service, io.get_executor());
    host.Post("/mcp", [&](const auto& in, auto& out, const auto& body) { mcp.answer(in, out, &body); });
    for (const auto method : {&httplib::Server::Get, &httplib::Server::Options})
        (host.*method)("/mcp", [&](const auto& in, auto& out) { mcp.answer(in, out, nullptr); });
    host.Delete("/mcp", [&](const auto& in, auto& out) { mcp.answer(in, out, nullptr); });
    const int port = host.bind_to_any_port("127.0.0.1");
    std::thread serving([&] { host.listen_after_bind(); });

    const int status = comcp::run(talk("http://127.0.0.1:" + std::to_string(port) + "/mcp"));
    comcp::asio::co_spawn(io, service.close(), comcp::asio::use_future).get();
    host.stop();
    serving.join();
    work.reset();
    loop.join();
    return status;
}
