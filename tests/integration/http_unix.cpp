// SPDX-License-Identifier: MIT
// HTTP over Unix sockets, in both roles.
#include "socket_world.hpp"
#include "support.hpp"

#include <comcp/http/streamable_http.hpp>
#include <comcp/server/run_http.hpp>

#include <sys/stat.h>

using namespace socket_world;

TEST_CASE("HTTP over a Unix socket is like HTTP over TCP", "[http_unix]")
{
    asio::io_context io;
    const folder here;
    comcp::server served("served", "1.0");
    const tools with(served);
    comcp::http_server web(io.get_executor(), served);
    CHECK(web.url() == "");
    const std::string path = here / "app.sock";
    web.bind_unix(path);
    CHECK(web.port() == 0);
    CHECK(web.url() == "http://unix:" + path + ":/mcp");
    struct stat found{};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0600);
    bool over = false;
    asio::co_spawn(io, web.serve(), [&](std::exception_ptr) { over = true; });

    comcp::client client(comcp::streamable_http(web.url()), me, with_roots());
    run(io, everything(client));
    CHECK(web.service().sessions() == 1);
    run(io, client.close());
    CHECK(web.service().sessions() == 0);
    web.close();
    until(io, [&] { return over; });
    CHECK(::lstat(path.c_str(), &found) != 0);

    const comcp::fault why = failure(io, client.connect());
    CHECK(why.code == errc::not_found);
    CHECK(why.fate == outcome::not_sent);
    CHECK(why.text == "cannot connect to unix:" + path + ": there is no such socket");
}

TEST_CASE("A server may listen at both, and says the first", "[http_unix]")
{
    asio::io_context io;
    const folder here;
    comcp::server served("served", "1.0");
    const tools with(served);
    comcp::http_server web(io.get_executor(), served);
    web.bind("127.0.0.1", 0);
    web.bind_unix(here / "app.sock", 0660);
    CHECK(web.url() == "http://127.0.0.1:" + std::to_string(web.port()) + "/mcp");
    asio::co_spawn(io, web.serve(), ignored());
    comcp::client first(comcp::streamable_http(web.url()), me);
    comcp::client second(comcp::streamable_http("http://unix:" + (here / "app.sock")), me);
    run(io, first.connect());
    run(io, second.connect());
    CHECK(web.service().sessions() == 2);
    comcp::http_server other(io.get_executor(), served);
    try {
        other.bind_unix(here / "app.sock");
        FAIL("two listen at one socket");
    } catch (const comcp::error& e) {
        CHECK(e.code() == std::errc::address_in_use);
    }
}

TEST_CASE("A program serves HTTP at a Unix socket until a signal", "[http_unix]")
{
    const folder here;
    const std::string where = "http://unix:" + (here / "app.sock") + ":/some/path";
    support::process program("lines_fixture", {where});
    program.wait_for_error("comcp: serving at " + where + "\n");
    asio::io_context io;
    comcp::client client(comcp::streamable_http(where), me);
    run(io, client.connect());
    background call(io, client.call("short"));
    run(io, client.ping());
    program.signal(SIGTERM);
    until(io, [&] { return call.done; });
    CHECK(call.text == "waited");
    CHECK(program.exit() == "exit 0");
    CHECK_FALSE(std::filesystem::exists(here / "app.sock"));
}
