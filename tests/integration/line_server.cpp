// SPDX-License-Identifier: MIT
// Sessions over sockets, TCP and Unix: our client against our server, and both against whoever misbehaves.
#include "raw_client.hpp"
#include "socket_world.hpp"
#include "support.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>
#include <thread>

using namespace socket_world;

namespace
{

struct world
{
    asio::io_context io{1};
    comcp::server served{"served", "1.0"};
    tools with{served};
    std::optional<comcp::line_server> lines;
    bool over = false;

    std::string serve(std::string_view where, comcp::line_server_options options = {})
    {
        lines.emplace(io.get_executor(), served, options);
        lines->bind(where);
        asio::co_spawn(io, lines->serve(), [this](std::exception_ptr) { over = true; });
        return lines->where();
    }
    /// How binding fails.
    comcp::fault refused(std::string_view where, comcp::line_server_options options = {})
    {
        comcp::line_server other(io.get_executor(), served, options);
        try {
            other.bind(where);
        } catch (const comcp::error& e) {
            CHECK(other.where() == "");
            return e.fault();
        }
        FAIL("it listens");
        return {};
    }
};

bool exists(const std::string& path)
{
    struct stat found{};
    return ::lstat(path.c_str(), &found) == 0;
}

/// A Unix socket of this process, bound and perhaps listening.
support::file bound_socket(const std::string& path, bool listens, int type = SOCK_STREAM)
{
    support::file made(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    REQUIRE(::bind(made.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    if (listens) REQUIRE(::listen(made.get(), 4) == 0);
    return made;
}

std::uint16_t port_of(const std::string& where)
{
    return static_cast<std::uint16_t>(std::stoul(where.substr(where.rfind(':') + 1)));
}

} // namespace

TEST_CASE("A client and a server speak lines over a socket", "[line_server]")
{
    world w;
    const folder here;
    const int kind = GENERATE(0, 1, 2, 3);
    const std::string asked[] = {"unix:" + (here / "app.sock"), "tcp:127.0.0.1:0", "tcp:localhost:0",
                                 "unix:@comcp-test-" + std::to_string(::getpid())};
    const std::string where = w.serve(asked[kind]);
    if (kind == 0 || kind == 3) CHECK(where == asked[kind]);
    comcp::client client(comcp::line_socket(where), me, with_roots());
    for (int round = 0; round < 2; ++round) { // it can be reached again
        run(w.io, everything(client));
        CHECK(w.lines->sessions() == 1);
        run(w.io, client.close());
        until(w.io, [&] { return w.lines->sessions() == 0; });
    }
    w.lines->close();
    until(w.io, [&] { return w.over; });
}

TEST_CASE("A call over a socket that is given up is cancelled at the server", "[line_server]")
{
    world w;
    const folder here;
    comcp::client client(comcp::line_socket(w.serve("unix:" + (here / "app.sock"))), me);
    run(w.io, client.connect());
    const comcp::fault why = failure(w.io, client.call("wait", {}, comcp::call_options().timeout(50ms)));
    CHECK(why.code == errc::timed_out);
    CHECK(why.fate == outcome::unknown);
    until(w.io, [&] { return w.with.cancelled == 1; });
    CHECK(w.lines->sessions() == 1);
}

TEST_CASE("A server that is gone in mid-call leaves the outcome unknown, and a client may come again", "[line_server]")
{
    world w;
    const folder here;
    const std::string where = "unix:" + (here / "app.sock");
    comcp::client client(comcp::line_socket(w.serve(where)), me);
    run(w.io, client.connect());
    background call(w.io, client.call("wait"));
    until(w.io, [&] { return w.with.waiting == 1; });
    w.lines->close();
    until(w.io, [&] { return call.done && w.over; });
    CHECK(call.why.code == errc::peer_gone);
    CHECK(call.why.fate == outcome::unknown);
    CHECK(call.why.text == "the server at " + where + " closed the connection");
    CHECK_FALSE(client.connected());

    comcp::fault why = failure(w.io, client.connect());
    CHECK(why.code == errc::not_found);
    CHECK(why.fate == outcome::not_sent);
    CHECK(why.text == "cannot connect to " + where + ": there is no such socket");

    w.over = false;
    w.serve(where);
    run(w.io, client.connect());
    background again(w.io, client.call("short"));
    until(w.io, [&] { return again.done; });
    CHECK(again.text == "waited");
}

TEST_CASE("A killed server is noticed at once", "[line_server]")
{
    const folder here;
    const std::string where = "unix:" + (here / "app.sock");
    support::process program("lines_fixture", {where});
    program.wait_for_error("comcp: serving at " + where + "\n");
    asio::io_context io;
    comcp::client client(comcp::line_socket(where), me);
    run(io, client.connect());
    background call(io, client.call("wait"));
    run(io, client.ping()); // the call is there
    program.signal(SIGKILL);
    until(io, [&] { return call.done; });
    CHECK(call.why.code == errc::peer_gone);
    CHECK(call.why.fate == outcome::unknown);
    CHECK(program.exit() == "signal 9");
    // The file is still there, and nobody behind it: the next server takes it over.
    CHECK(failure(io, client.connect()).text == "cannot connect to " + where + ": nobody listens there");
    support::process next("lines_fixture", {where});
    next.wait_for_error("comcp: serving at " + where + "\n");
    run(io, client.connect());
    run(io, client.close());
    next.signal(SIGTERM);
    CHECK(next.exit() == "exit 0");
    CHECK_FALSE(exists(here / "app.sock"));
    CHECK(next.rest() == "");
}

TEST_CASE("Only its owner can connect to a Unix socket, and its file goes with the server", "[line_server]")
{
    world w;
    const folder here;
    const std::string path = here / "app.sock";
    const mode_t before = ::umask(GENERATE(mode_t(0), mode_t(0777)));
    comcp::line_server_options options;
    mode_t wanted = 0600;
    SECTION("by default") {}
    SECTION("or as it is said") { options.mode(wanted = 0660); }
    w.serve("unix:" + path, options);
    ::umask(before);
    struct stat found{};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    CHECK(S_ISSOCK(found.st_mode));
    CHECK((found.st_mode & 07777) == wanted);
    w.lines->close();
    until(w.io, [&] { return w.over; });
    CHECK_FALSE(exists(path));
}

TEST_CASE("What a dead server left is replaced, and nothing else", "[line_server]")
{
    world w;
    const folder here;
    const std::string path = here / "app.sock";
    SECTION("a socket at which nobody listens")
    {
        bound_socket(path, true).close();
        REQUIRE(exists(path));
        const std::string where = w.serve("unix:" + path);
        comcp::client client(comcp::line_socket(where), me);
        run(w.io, client.connect());
    }
    SECTION("a socket that lives")
    {
        const support::file alive = bound_socket(path, true);
        const comcp::fault why = w.refused("unix:" + path);
        CHECK(why.code == std::errc::address_in_use);
        CHECK(why.text == "cannot listen at unix:" + path + ": somebody listens there");
        CHECK(exists(path));
    }
    SECTION("a server of ours that lives")
    {
        w.serve("unix:" + path);
        CHECK(w.refused("unix:" + path).code == std::errc::address_in_use);
        CHECK(exists(path)); // the one that failed removes nothing
    }
    SECTION("a file that is no socket")
    {
        std::ofstream(path) << "precious";
        const comcp::fault why = w.refused("unix:" + path);
        CHECK(why.code == std::errc::file_exists);
        CHECK(why.text == "cannot listen at unix:" + path + ": it is there, and is no socket");
        std::string text;
        std::ifstream(path) >> text;
        CHECK(text == "precious");
    }
    SECTION("a link to a socket")
    {
        bound_socket(here / "other", true).close();
        std::filesystem::create_symlink(here / "other", path);
        CHECK(w.refused("unix:" + path).code == std::errc::file_exists);
        CHECK(exists(here / "other"));
    }
    SECTION("a socket of another type")
    {
        const support::file other = bound_socket(path, false, SOCK_DGRAM);
        CHECK(w.refused("unix:" + path).code.value() == EPROTOTYPE);
        CHECK(exists(path));
    }
    SECTION("no folder")
    {
        const comcp::fault why = w.refused("unix:" + path + "/app.sock");
        CHECK(why.code == std::errc::no_such_file_or_directory);
    }
}

TEST_CASE("A file that another server has put in its place stays", "[line_server]")
{
    world w;
    const folder here;
    const std::string path = here / "app.sock";
    w.serve("unix:" + path);
    std::filesystem::remove(path);
    const support::file other = bound_socket(path, true);
    w.lines->close();
    until(w.io, [&] { return w.over; });
    CHECK(exists(path));
}

TEST_CASE("A line server listens only where other machines do not reach it, unless that is said", "[line_server]")
{
    world w;
    const comcp::fault why = w.refused("tcp:0.0.0.0:0");
    CHECK(why.code == errc::invalid_argument);
    CHECK(why.text == "other machines can reach \"0.0.0.0\", and lines know no credentials: say "
                      "allow_unauthorized_remote() if that is meant");
    CHECK(w.refused("tcp:[::]:0").code == errc::invalid_argument);
    CHECK(w.refused("tcp:example.com:0", comcp::line_server_options().allow_unauthorized_remote()).code ==
          errc::invalid_argument);
    CHECK(w.refused("/run/app.sock").text == "\"/run/app.sock\" is no socket: write unix:PATH or tcp:HOST:PORT");
    const std::string where = w.serve("tcp:0.0.0.0:0", comcp::line_server_options().allow_unauthorized_remote());
    CHECK(where == "tcp:localhost:" + std::to_string(port_of(where)));
    comcp::client client(comcp::line_socket(where), me);
    run(w.io, client.connect());
}

TEST_CASE("Who begins with something else than JSON is cut off before a later line can call", "[line_server]")
{
    world w;
    const std::string where = w.serve("tcp:127.0.0.1:0");
    std::string said;
    SECTION("a page in a browser") { said = "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"; }
    SECTION("noise") { said = "noise\n"; }
    SECTION("a long line of it") { said = std::string(17 * 1024 * 1024, 'x') + "\n"; }
    support::raw_client peer(port_of(where));
    said += R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
            "\n";
    std::thread writer([&] { peer.send(said); }); // it is cut off in the middle of a long one
    bool gone = false;
    until(w.io, [&] {
        if (w.lines->sessions() != 0) gone = true;
        return gone && w.lines->sessions() == 0;
    });
    writer.join();
    CHECK(peer.rest() == "");
}

TEST_CASE("Beyond the limit a connection is closed at once", "[line_server]")
{
    world w;
    const std::string where = w.serve("tcp:127.0.0.1:0", comcp::line_server_options().connections(1));
    comcp::client first(comcp::line_socket(where), me);
    run(w.io, first.connect());
    comcp::client second(comcp::line_socket(where), me);
    const comcp::fault why = failure(w.io, second.connect());
    CHECK(why.code == errc::peer_gone);
    run(w.io, first.close());
    until(w.io, [&] { return w.lines->sessions() == 0; });
    run(w.io, second.connect());
}

TEST_CASE("Without descriptors a line server waits, and then goes on", "[line_server]")
{
    world w;
    const std::string where = w.serve("tcp:127.0.0.1:0");
    support::raw_client peer;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(peer.connect(port_of(where)));
    rlimit none = before;
    none.rlim_cur = 3;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto begun = std::chrono::steady_clock::now();
    std::size_t turns = 0;
    while (std::chrono::steady_clock::now() - begun < 100ms) turns += w.io.run_one_for(10ms);
    CHECK(turns < 50); // it does not spin
    CHECK(w.lines->sessions() == 0);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    until(w.io, [&] { return w.lines->sessions() == 1; });
}

TEST_CASE("A line server that is drained lets calls end", "[line_server]")
{
    world w;
    const folder here;
    comcp::client client(comcp::line_socket(w.serve("unix:" + (here / "app.sock"))), me);
    comcp::client idle(comcp::line_socket(w.lines->where()), me);
    run(w.io, client.connect());
    run(w.io, idle.connect());
    SECTION("that are short")
    {
        background call(w.io, client.call("short"));
        run(w.io, client.ping());
        run(w.io, w.lines->drain(10s));
        until(w.io, [&] { return call.done; });
        CHECK(call.text == "waited");
    }
    SECTION("but not for ever")
    {
        background call(w.io, client.call("wait"));
        until(w.io, [&] { return w.with.waiting == 1; });
        run(w.io, w.lines->drain(20ms));
        until(w.io, [&] { return call.done; });
        CHECK(call.why.code == errc::peer_gone);
        CHECK(w.with.cancelled == 1);
    }
    until(w.io, [&] { return w.over; });
    CHECK(w.lines->sessions() == 0);
    CHECK_FALSE(exists(here / "app.sock"));
    CHECK(failure(w.io, client.connect()).code == errc::not_found);
}

namespace
{

/// A client that does not read, in its last call at a server that is drained, and has sent what nobody will read.
class last_call
{
public:
    explicit last_call(world& w) : w_(w)
    {
        w.served.tool("last", "", [this](comcp::context&) { return answer(this); });
        const std::string where = w.serve("tcp:127.0.0.1:0");
        const int small = 4096; // most of the answer stays at the server until it is read
        ::setsockopt(peer.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        REQUIRE(peer.connect(port_of(where)));
        peer.send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                  R"("capabilities":{},"clientInfo":{"name":"raw","version":"1"}}})"
                  "\n"
                  R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"last","arguments":{}}})"
                  "\n");
        until(w.io, [&] { return called_; });
        peer.until("\n");
        asio::co_spawn(w.io, w.lines->drain(10s), [this](std::exception_ptr) { drained = true; });
        w.io.poll();
        said_.expires_after(20ms); // a read is pending: it takes the first line
        said_.async_wait([this](comcp::io_error_code) {
            peer.send("{}\n");
            said_.expires_after(20ms);
            said_.async_wait([this](comcp::io_error_code) {
                std::string lines;
                while (lines.size() < 32 * 1024) lines += "{\"unread\":true}\n";
                peer.send(lines);
                sent = true;
            });
        });
        until(w.io, [&] { return sent; });
    }
    last_call(const last_call&) = delete;

    /// From now on the call is answered.
    void answer_now() { go_.cancel(); }

    static constexpr std::size_t size = 24 * 1024;
    support::raw_client peer;
    bool sent = false;
    bool drained = false;

private:
    static task<std::string> answer(last_call* self)
    {
        self->called_ = true;
        comcp::io_error_code woken;
        co_await self->go_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        co_return std::string(size, 'x');
    }

    world& w_;
    asio::steady_timer said_{w_.io};
    asio::steady_timer go_{w_.io, 1h};
    bool called_ = false;
};

} // namespace

TEST_CASE("A client that still sends gets the whole of its last answer, and an orderly end", "[line_server]")
{
    world w;
    last_call call(w);
    const bool ends = GENERATE(true, false);
    if (ends) call.peer.end();
    const auto begun = std::chrono::steady_clock::now();
    call.answer_now();
    until(w.io, [&] { return call.drained; });
    const auto took = std::chrono::steady_clock::now() - begun;
    if (ends) CHECK(took < 500ms);
    else CHECK((took > 900ms && took < 5s));
    const std::string got = call.peer.rest();
    CHECK(std::strerror(errno) == std::string(std::strerror(0))); // no reset
    CHECK(got.size() > last_call::size);
    CHECK(got.ends_with("}\n"));
}

TEST_CASE("Whoever sends on for ever does not hold up the end of a line server", "[line_server]")
{
    world w;
    last_call call(w);
    std::thread writer([&] {
        const std::string much(256 * 1024, '\n');
        while (call.peer.send(much)) {
        }
    });
    call.answer_now();
    const auto begun = std::chrono::steady_clock::now();
    until(w.io, [&] { return call.drained; });
    CHECK(std::chrono::steady_clock::now() - begun < 5s);
    writer.join();
}

TEST_CASE("A line server that is closed waits for nobody who still sends", "[line_server]")
{
    world w;
    last_call call(w);
    call.answer_now();
    asio::steady_timer soon(w.io, 100ms);
    soon.async_wait([&](comcp::io_error_code) { w.lines->close(); });
    const auto begun = std::chrono::steady_clock::now();
    until(w.io, [&] { return call.drained && w.over; });
    CHECK(std::chrono::steady_clock::now() - begun < 800ms);
}

TEST_CASE("A program that serves lines ends in order at the first signal, and at once at the second", "[line_server]")
{
    const folder here;
    const std::string where = "unix:" + (here / "app.sock");
    support::process program("lines_fixture", {where});
    program.wait_for_error("serving at " + where + "\n");
    asio::io_context io;
    comcp::client client(comcp::line_socket(where), me);
    run(io, client.connect());
    const bool patient = GENERATE(true, false);
    background call(io, client.call(patient ? "short" : "wait"));
    run(io, client.ping());
    const auto begun = std::chrono::steady_clock::now();
    program.signal(SIGTERM);
    if (!patient) {
        until(io, [&] {
            return failure(io, client.connect()).code == errc::invalid_argument || !exists(here / "app.sock");
        });
        program.signal(SIGTERM);
    }
    until(io, [&] { return call.done; });
    if (patient) CHECK(call.text == "waited");
    else CHECK(call.why.code == errc::peer_gone);
    CHECK(program.exit() == "exit 0");
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(9)); // after one signal the call has 10 s
}

TEST_CASE("A program that cannot serve lines says why", "[line_server]")
{
    support::process program("lines_fixture", {"tcp:0.0.0.0:0"});
    CHECK(program.exit() == "exit 1");
    CHECK(program.errors().find("other machines can reach") != std::string::npos);
}

TEST_CASE("Sessions over sockets work with several threads", "[line_server]")
{
    comcp::server served("served", "1.0");
    served.tool("echo", "", [](echo_args args) { return args.text; });
    asio::io_context io;
    comcp::line_server lines(io.get_executor(), served);
    lines.bind("tcp:127.0.0.1:0");
    asio::co_spawn(io, lines.serve(), [&](std::exception_ptr) { io.stop(); });
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { io.run(); });
    {
        asio::io_context mine;
        std::vector<std::unique_ptr<comcp::client>> clients;
        for (int i = 0; i < 8; ++i)
            clients.push_back(std::make_unique<comcp::client>(comcp::line_socket(lines.where()), me));
        for (const auto& each : clients) run(mine, each->connect());
        for (int round = 0; round < 10; ++round) {
            for (const auto& each : clients) {
                background call(mine, each->call("echo", comcp::args("text", "x")));
                until(mine, [&] { return call.done; });
                CHECK(call.text == "x");
            }
        }
        run(mine, clients.front()->close());
    }
    lines.close();
    for (std::thread& each : threads) each.join();
    CHECK(lines.sessions() == 0);
}

TEST_CASE("A line server, its server and the io_context may end in any order", "[line_server]")
{
    const folder here;
    auto io = std::make_unique<asio::io_context>(1);
    auto served = std::make_unique<comcp::server>("served", "1.0");
    auto with = std::make_unique<tools>(*served);
    auto lines = std::make_unique<comcp::line_server>(
        io->get_executor(), *served, comcp::line_server_options().single_threaded(GENERATE(false, true)));
    const std::string path = here / "app.sock";
    lines->bind("unix:" + path);
    lines->bind("tcp:127.0.0.1:0");
    bool over = false;
    asio::co_spawn(*io, lines->serve(), [&over](std::exception_ptr) { over = true; });
    auto client = std::make_unique<comcp::client>(comcp::line_socket("unix:" + path), me);
    run(*io, client->connect());
    asio::co_spawn(*io, client->call("wait"), [](std::exception_ptr, const comcp::answer&) {});
    until(*io, [&] { return with->waiting == 1; });
    SECTION("the line server first, at once")
    {
        lines.reset();
        io.reset();
    }
    SECTION("the line server first, and the loop goes on")
    {
        lines.reset();
        until(*io, [&] { return over; });
        CHECK(with->waiting == 0);
        io.reset();
    }
    SECTION("the io_context first")
    {
        io.reset();
        CHECK_FALSE(exists(path));
        lines.reset();
    }
    SECTION("the io_context first, and the line server is closed")
    {
        io.reset();
        lines->close();
        CHECK(lines->where() == "unix:" + path);
        lines.reset();
    }
    SECTION("the server first")
    {
        served.reset();
        until(*io, [&] { return with->waiting == 0; });
        lines.reset();
        until(*io, [&] { return over; });
        io.reset();
    }
    SECTION("the client first")
    {
        client.reset();
        until(*io, [&] { return with->waiting == 0; });
        lines.reset();
        served.reset();
        io.reset();
    }
    SECTION("in mid-drain")
    {
        asio::co_spawn(*io, lines->drain(10s), ignored());
        io->poll();
        if (GENERATE(false, true)) lines.reset();
        io.reset();
    }
    CHECK_FALSE(exists(path));
}

TEST_CASE("A client may leave while it connects", "[line_server]")
{
    const folder here;
    const std::string path = here / "app.sock";
    const support::file silent = bound_socket(path, true); // accepts nobody
    asio::io_context io;
    auto client = std::make_unique<comcp::client>(comcp::line_socket("unix:" + path).connect_within(50ms), me);
    SECTION("whose server is silent")
    {
        bool done = false;
        asio::co_spawn(io, client->connect(), [&](std::exception_ptr) { done = true; });
        io.poll();
        client.reset();
        until(io, [&] { return done; });
    }
    SECTION("or when the queue of the server is full")
    {
        std::vector<support::file> crowd;
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path.copy(at.sun_path, sizeof at.sun_path - 1);
        for (;;) {
            crowd.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            if (::connect(crowd.back().get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) break;
        }
        const comcp::fault why = failure(io, client->connect());
        CHECK(why.code == errc::timed_out);
        CHECK(why.fate == outcome::not_sent);
    }
}
