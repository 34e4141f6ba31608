// SPDX-License-Identifier: MIT
//
// An MCP server behind an HTTP server that sends answers only as a whole. Calls work; what needs a stream does not: GET
// is answered with 405, progress is dropped, and a tool that asks its client is told at once that it cannot.
#include "answer_once.hpp"

#include <iostream>
#include <thread>

comcp::task<std::string> ask(comcp::context& call)
{
    call.progress(1, 2); // nobody hears it
    const auto roots = co_await comcp::as_result(call.list_roots());
    co_return roots ? "asked" : "not asked: " + roots.error().text;
}

comcp::task<void> talk(std::string url)
{
    comcp::client_options options;
    options.roots({comcp::root("file:///work")});
    comcp::client client(comcp::streamable_http(url), comcp::identity("once", "1"), options);
    co_await client.connect(); // its GET is told that there is no stream, which is no error
    comcp::call_options watched;
    watched.on_progress([](const comcp::progress&) { throw std::logic_error("progress was heard"); });
    const auto answer = co_await client.call("ask", {}, watched);
    std::cout << comcp::to_text(answer) << '\n';
    if (!comcp::to_text(answer).starts_with("not asked: the client cannot be asked")) throw std::logic_error("asked");
    co_await client.close();
}

int main()
{
    comcp::asio::io_context io(1);
    auto work = comcp::asio::make_work_guard(io);
    comcp::server server("once", "1");
    server.tool("ask", "Asks for the client's roots", ask);
    comcp::http_service service(io.get_executor(), server, comcp::http_service_options().single_threaded());
    std::thread loop([&] { io.run(); });

    httplib::Server host;
    host.set_payload_max_length(service.most_body());
    host.Post("/mcp", [&](const auto& in, auto& out, const auto& body) {
        answer_once(service, io.get_executor(), in, out, &body);
    });
    const auto without_body = [&](const auto& in, auto& out) {
        answer_once(service, io.get_executor(), in, out, nullptr);
    };
    host.Get("/mcp", without_body).Delete("/mcp", without_body).Options("/mcp", without_body);
    const int port = host.bind_to_any_port("127.0.0.1");
    std::thread serving([&] { host.listen_after_bind(); });

    const auto listening = httplib::Client("127.0.0.1", port).Get("/mcp", {{"Accept", "text/event-stream"}});
    std::cout << "GET: " << (listening ? listening->status : 0) << '\n';
    const int status = comcp::run(talk("http://127.0.0.1:" + std::to_string(port) + "/mcp"));
    comcp::asio::co_spawn(io, service.close(), comcp::asio::use_future).get();
    host.stop();
    serving.join();
    work.reset();
    loop.join();
    return listening && listening->status == 405 ? status : 1;
}
