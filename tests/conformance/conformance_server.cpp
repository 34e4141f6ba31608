// SPDX-License-Identifier: MIT
//
// The server of the protocol's conformance suite: everything that its scenarios ask a server for, over Streamable HTTP
// or stdio. What it offers is in server_*.hpp.
#include "server_catalog.hpp"
#include "server_questions.hpp"
#include "server_tools.hpp"

#include <comcp/http.hpp>
#include <comcp/stdio.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/signal_set.hpp>
#else
#include <asio/signal_set.hpp>
#endif

#include <signal.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

using namespace std::chrono_literals;

namespace
{

namespace asio = comcp::asio;

void print_usage(std::FILE* to)
{
    std::fputs("usage: conformance_server --port N   serve /mcp at 127.0.0.1 and ::1; 0 takes a free port;\n"
               "                                     the first line of the output is the URL\n"
               "       conformance_server --stdio    serve one client over stdin and stdout\n",
               to);
}

std::optional<std::uint16_t> port_of(std::string_view text)
{
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return port;
}

/// Serves until SIGTERM or SIGINT.
int serve_http(comcp::server& served, std::uint16_t port)
{
    asio::io_context io(1);
    comcp::http_server_options options;
    options.single_threaded();
    options.retry(500ms);
    comcp::http_server http(io.get_executor(), served, std::move(options));
    http.bind("localhost", port);
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](comcp::io_error_code failed, int) {
        if (!failed) asio::co_spawn(io, http.drain(2s), [](std::exception_ptr) {});
    });
    asio::co_spawn(io, http.serve(), [&](std::exception_ptr) { io.stop(); });
    std::printf("%s\n", http.url().c_str());
    std::fflush(stdout);
    io.run();
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view word = argc > 1 ? argv[1] : "";
    const std::optional<std::uint16_t> port = argc == 3 && word == "--port" ? port_of(argv[2]) : std::nullopt;
    if (argc == 2 && word == "--help") {
        print_usage(stdout);
        return 0;
    }
    if (!port && !(argc == 2 && word == "--stdio")) {
        print_usage(stderr);
        return 2;
    }
    try {
        comcp::server server("comcp-conformance-server", "1.0.0");
        conformance::add_tools(server);
        conformance::add_questions(server);
        conformance::add_catalog(server);
        return port ? serve_http(server, *port) : comcp::run_stdio(server);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "conformance_server: %s\n", e.what());
        return 1;
    }
}
