// SPDX-License-Identifier: MIT
// The bridge between a host that starts processes and a running application: a real process between our client and our
// server, over sockets and over HTTP.
#include "socket_world.hpp"
#include "support.hpp"

#include <comcp/http/streamable_http.hpp>
#include <comcp/server/run_http.hpp>
#include <comcp/transport/child_transport.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fstream>
#include <string_view>

using namespace socket_world;

namespace
{

enum class way { unix_lines, tcp_lines, http, http_unix };

struct world
{
    asio::io_context io{1};
    folder here;
    comcp::server served{"served", "1.0"};
    tools with{served};
    std::optional<comcp::line_server> lines;
    std::optional<comcp::http_server> web;
    bool over = false;

    world() { served.options().limits.close = 300ms; } // for handlers whose client has left

    std::string serve(way how)
    {
        const auto ended = [this](std::exception_ptr) { over = true; };
        const std::string path = here / "app.sock";
        if (how == way::unix_lines || how == way::tcp_lines) {
            lines.emplace(io.get_executor(), served);
            lines->bind(how == way::unix_lines ? "unix:" + path : "tcp:localhost:0");
            asio::co_spawn(io, lines->serve(), ended);
            return lines->where();
        }
        web.emplace(io.get_executor(), served);
        if (how == way::http) web->bind("localhost", 0);
        else web->bind_unix(path);
        asio::co_spawn(io, web->serve(), ended);
        return web->url();
    }
    void stop()
    {
        if (lines) lines->close();
        if (web) web->close();
        until(io, [&] { return over; });
    }
    std::size_t sessions() const { return lines ? lines->sessions() : web->service().sessions(); }
};

comcp::child_process bridge_to(const std::string& where)
{
    return comcp::child_process(support::program("bridge_fixture"), {where}).name("bridge");
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// One process, its streams in the test's hand, beside an application on a loop of this thread.
class raw_bridge
{
public:
    raw_bridge(asio::io_context& io, const std::string& where) : io_(io), process_("bridge_fixture", {where}) {}

    void send(std::string_view line) { process_.send(std::string(line) + "\n"); }
    /// The next line, while the loop runs.
    std::string line()
    {
        std::size_t end = 0;
        until(io_, [&] {
            read();
            return (end = text_.find('\n')) != std::string::npos;
        });
        std::string out = text_.substr(0, end);
        text_.erase(0, end + 1);
        return out;
    }
    void begin()
    {
        send(R"({"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
             R"("capabilities":{},"clientInfo":{"name":"raw","version":"1"}}})");
        CHECK(line().starts_with(R"({"jsonrpc":"2.0","id":"first","result":{"protocolVersion":"2025-11-25")"));
        send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    }
    std::string exit()
    {
        until(io_, [&] {
            read();
            return !process_.running();
        });
        return process_.exit();
    }
    support::process& process() { return process_; }

private:
    void read()
    {
        io_.poll_one();
        char chunk[65536];
        const ssize_t n = ::read(process_.output().get(), chunk, sizeof chunk);
        if (n > 0) text_.append(chunk, static_cast<std::size_t>(n));
        asio::post(io_, [] { ::sched_yield(); }); // the loop turns while the process works
    }

    asio::io_context& io_;
    support::process process_;
    std::string text_;
};

} // namespace

TEST_CASE("Through a bridge everything of a session passes, both ways", "[bridge]")
{
    world w;
    const way how = GENERATE(way::unix_lines, way::tcp_lines, way::http, way::http_unix);
    comcp::client client(bridge_to(w.serve(how)), me, with_roots());
    run(w.io, everything(client));
    CHECK(w.sessions() == 1);

    const comcp::fault late = failure(w.io, client.call("wait", {}, comcp::call_options().timeout(50ms)));
    CHECK(late.code == errc::timed_out);
    until(w.io, [&] { return w.with.cancelled == 1; }); // the notice passed too

    // The host closes the bridge's stdin: it ends by itself, and with it the session of the application.
    const auto begun = std::chrono::steady_clock::now();
    run(w.io, client.close());
    CHECK(std::chrono::steady_clock::now() - begun < 4s); // before the ladder's SIGTERM
    until(w.io, [&] { return w.sessions() == 0; });
}

TEST_CASE("When the application is stopped its bridge ends, and the host hears why", "[bridge]")
{
    world w;
    const way how = GENERATE(way::unix_lines, way::tcp_lines, way::http, way::http_unix);
    const std::string where = w.serve(how);
    comcp::client client(bridge_to(where), me);
    run(w.io, client.connect());
    background call(w.io, client.call("wait"));
    until(w.io, [&] { return w.with.waiting == 1; });
    w.stop();
    until(w.io, [&] { return call.done; });
    if (w.lines) {
        CHECK(call.why.code == errc::peer_gone);
        CHECK(call.why.fate == outcome::unknown);
        CHECK(has(call.why.text, "comcp: the application at " + where + " closed the connection"));
        CHECK(has(call.why.text, "1")); // the exit status
    } else {
        // The call ends with an error of the bridge; the next message shows that nobody is there.
        CHECK(call.why.code == errc::refused);
        REQUIRE(call.why.rpc);
        CHECK(call.why.rpc->code == -32603);
        const comcp::fault next = failure(w.io, client.call("echo", comcp::args("text", "x")));
        CHECK(next.code == errc::refused);
        CHECK(has(next.rpc->message, "cannot connect to "));
        until(w.io, [&] { return !client.connected(); });
        CHECK(failure(w.io, client.ping()).code == errc::peer_gone);
    }
}

TEST_CASE("An application that dies while nothing is asked of it takes its bridge with it", "[bridge]")
{
    const folder here;
    asio::io_context io{1};
    const bool over_unix = GENERATE(false, true);
    support::process application("http_fixture", {over_unix ? "unix:" + (here / "app.sock") : "127.0.0.1:0"});
    application.wait_for_error("/mcp\n");
    std::string where = application.errors();
    where = where.substr(where.find("http://"));
    where.pop_back();
    raw_bridge bridge(io, where);
    bridge.begin();
    // The stream of its messages is open when it has been asked for; an answer shows that the bridge got that far.
    bridge.send(
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{"milliseconds":1}}})");
    CHECK(has(bridge.line(), "waited"));
    application.signal(SIGKILL);
    CHECK(application.exit() == "signal 9");
    CHECK(bridge.exit() == "exit 1");
    CHECK(has(bridge.process().errors(), "comcp: cannot connect to "));
}

TEST_CASE("A killed bridge ends the application's session", "[bridge]")
{
    world w;
    const std::string where = w.serve(GENERATE(way::unix_lines, way::tcp_lines));
    raw_bridge bridge(w.io, where);
    bridge.begin();
    bridge.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}})");
    until(w.io, [&] { return w.with.waiting == 1; });
    CHECK(w.sessions() == 1);
    bridge.process().signal(SIGKILL);
    until(w.io, [&] { return w.sessions() == 0 && w.with.cancelled == 1; });
}

TEST_CASE("A host that closes its end still gets the answers that it is owed", "[bridge]")
{
    world w;
    const way how = GENERATE(way::unix_lines, way::tcp_lines, way::http, way::http_unix);
    raw_bridge bridge(w.io, w.serve(how));
    bridge.begin();
    bridge.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"short","arguments":{}}})");
    bridge.process().end_input();
    CHECK(has(bridge.line(), R"("id":2,"result":)"));
    CHECK(bridge.exit() == "exit 0");
    CHECK(bridge.process().errors() == "");
    until(w.io, [&] { return w.sessions() == 0; });
}

TEST_CASE("A bridge ends in order when it is told to", "[bridge]")
{
    world w;
    const way how = GENERATE(way::unix_lines, way::http);
    raw_bridge bridge(w.io, w.serve(how));
    bridge.begin();
    bridge.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}})");
    until(w.io, [&] { return w.with.waiting == 1; });
    bridge.process().signal(SIGTERM);
    if (how == way::http)
        CHECK(bridge.line() == R"({"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":)"
                               R"("the bridge was told to end before the answer came"}})");
    CHECK(bridge.exit() == "exit 0");
    until(w.io, [&] { return w.sessions() == 0; });
}

TEST_CASE("A host that does not read holds the application back, and loses nothing", "[bridge]")
{
    world w;
    const way how = GENERATE(way::unix_lines, way::http);
    raw_bridge bridge(w.io, w.serve(how));
    bridge.begin();
    const std::string big(512 * 1024, 'x');
    std::string calls; // 8 MiB of answers, more than everybody's buffers
    for (int i = 0; i < 16; ++i)
        calls += R"({"jsonrpc":"2.0","id":)" + std::to_string(100 + i) +
                 R"(,"method":"tools/call","params":{"name":"echo","arguments":{"text":")" + big + "\"}}}\n";
    bool held = false;
    std::size_t whole = 0;
    const auto read = [&](std::string line) {
        if (has(line.substr(0, 100), R"("result":)") && line.size() > big.size()) ++whole;
    };
    std::string_view rest = calls;
    while (!rest.empty()) {
        int refused = 0; // what was taken in a long while is all that is taken without reading
        until(w.io, [&] {
            const ssize_t n = ::write(bridge.process().input().get(), rest.data(), rest.size());
            if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
            refused = n > 0 ? 0 : refused + 1;
            asio::post(w.io, [] { ::sched_yield(); });
            return rest.empty() || refused >= 1000;
        });
        if (rest.empty()) break;
        held = true;
        read(bridge.line());
    }
    while (whole != 16) read(bridge.line());
    if (how == way::unix_lines) CHECK(held); // over HTTP all of them may be in flight
}

TEST_CASE("A bridge ends when one side does not read, whatever became of the other", "[bridge]")
{
    const folder here;
    const std::string path = here / "app.sock";
    const support::file door(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    REQUIRE(::bind(door.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(door.get(), 1) == 0);
    support::process program("bridge_fixture", {"unix:" + path, "200"});
    program.deadline(20s);
    const std::string bytes(1024 * 1024, 'x'); // more than a bridge and a socket hold, and what a pipe can
    SECTION("the application")
    {
        REQUIRE(::fcntl(program.input().get(), F_SETPIPE_SZ, bytes.size()) >= 0);
        program.send(bytes);
        if (GENERATE(false, true)) { // the host is gone
            program.end_input();
            program.output().close();
        }
        CHECK(program.exit() == "exit 1");
        CHECK(program.errors() == "comcp: the application at unix:" + path + " does not read its input\n");
    }
    SECTION("the host")
    {
        program.read_at_most(0);
        const support::file app(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        REQUIRE(app.open());
        std::size_t sent = 0;
        const auto limit = std::chrono::steady_clock::now() + 20s;
        while (program.running()) {
            REQUIRE(std::chrono::steady_clock::now() < limit);
            const ssize_t n = ::send(app.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n > 0) sent += static_cast<std::size_t>(n);
            else ::sched_yield();
        }
        CHECK(sent > 64 * 1024); // the pipe was full
        CHECK(program.exit() == "exit 1");
        CHECK(program.errors() == "comcp: the host does not read the answers\n");
    }
}

TEST_CASE("A bridge that cannot begin says why", "[bridge]")
{
    const folder here;
    const std::string path = here / "app.sock";
    struct row
    {
        std::string where;
        std::string why;
    };
    const row rows[] = {
        {"nowhere", "comcp: a URL begins with http:// or https://\n"},
        {"unix:", "comcp: \"unix:\" is no socket: the path of a Unix socket begins with '/', '.' or '@'\n"},
        {"unix:" + path, "comcp: cannot connect to unix:" + path + ": there is no such socket\n"},
        {"tcp:127.0.0.1:1", "comcp: cannot connect to tcp:127.0.0.1:1: Connection refused\n"},
    };
    for (const row& each : rows) {
        INFO(each.where);
        support::process program("bridge_fixture", {each.where});
        CHECK(program.exit() == "exit 1");
        CHECK(program.errors() == each.why);
        CHECK(program.rest() == "");
    }
}

namespace
{

/// A place at which connecting never ends: its queue is full, and nobody takes from it.
class full_queue
{
public:
    explicit full_queue(const std::string& path)
        : door_(::socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in tcp{};
        tcp.sin_family = AF_INET;
        tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockaddr_un local{};
        local.sun_family = AF_UNIX;
        path.copy(local.sun_path, sizeof local.sun_path - 1);
        auto* const at = path.empty() ? reinterpret_cast<sockaddr*>(&tcp) : reinterpret_cast<sockaddr*>(&local);
        socklen_t size = path.empty() ? sizeof tcp : sizeof local;
        REQUIRE(::bind(door_.get(), at, size) == 0);
        REQUIRE(::listen(door_.get(), 0) == 0);
        if (path.empty()) REQUIRE(::getsockname(door_.get(), at, &size) == 0);
        port = ntohs(tcp.sin_port);
        for (auto& each : waiting_) {
            each = support::file(::socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            static_cast<void>(::connect(each.get(), at, size));
        }
    }
    std::uint16_t port = 0;

private:
    support::file door_;
    support::file waiting_[4];
};

/// Waits until a bridge handles a signal itself, and not any more the test that it was forked from.
void until_caught(const support::process& program, int number)
{
    const auto limit = std::chrono::steady_clock::now() + 20s;
    bool bridge = false;
    unsigned long long caught = 0;
    while (!bridge || (caught >> (number - 1) & 1) == 0) {
        REQUIRE(std::chrono::steady_clock::now() < limit);
        ::sched_yield();
        std::ifstream status("/proc/" + std::to_string(program.pid()) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("Name:")) bridge = line == "Name:\tbridge_fixture";
            if (line.starts_with("SigCgt:")) caught = std::stoull(line.substr(7), nullptr, 16);
        }
    }
}

} // namespace

TEST_CASE("A bridge that is still connecting ends at once when it is told to", "[bridge]")
{
    const folder here;
    const std::string path = here / "app.sock";
    const way how = GENERATE(way::unix_lines, way::tcp_lines, way::http, way::http_unix);
    const bool over_unix = how == way::unix_lines || how == way::http_unix;
    const bool web = how == way::http || how == way::http_unix;
    const full_queue nobody(over_unix ? path : "");
    const std::string port = std::to_string(nobody.port);
    const std::string where = how == way::unix_lines  ? "unix:" + path
                              : how == way::tcp_lines ? "tcp:127.0.0.1:" + port
                              : how == way::http      ? "http://127.0.0.1:" + port + "/mcp"
                                                      : "http://unix:" + path + ":/mcp";
    INFO(where);
    support::process program("bridge_fixture", {where});
    program.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"
                 "\n");
    until_caught(program, SIGTERM); // nothing is to be seen of a connection that does not come about
    const auto begun = std::chrono::steady_clock::now();
    program.signal(SIGTERM);
    CHECK(program.exit() == "exit 0");
    CHECK(std::chrono::steady_clock::now() - begun < 10s); // connecting would take 20 s
    CHECK(program.errors() == "");
    if (web)
        CHECK(program.rest() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":)"
                                R"("the bridge was told to end before the answer came"}})"
                                "\n");
}

TEST_CASE("A bridge that still looks a name up ends at once when it is told to", "[bridge]")
{
    const bool web = GENERATE(false, true);
    support::process program("unresolved_fixture", {web ? "http://application.test/mcp" : "tcp:application.test:7000"});
    program.deadline(10s);
    program.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"
                 "\n");
    program.wait_for_error("resolving\n");
    program.signal(SIGTERM);
    CHECK(program.exit() == "exit 0");
    CHECK(program.errors() == "resolving\n");
    if (web)
        CHECK(program.rest() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":)"
                                R"("the bridge was told to end before the answer came"}})"
                                "\n");
}

TEST_CASE("Over HTTP a request that reaches nobody is answered, and the bridge ends", "[bridge]")
{
    const folder here;
    const std::string path = here / "app.sock";
    const bool over_unix = GENERATE(false, true);
    support::process program("bridge_fixture", {over_unix ? "http://unix:" + path : "http://127.0.0.1:1/mcp"});
    program.send(R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{}})"
                 "\n");
    const std::string why = over_unix ? "cannot connect to unix:" + path + ": there is no such socket"
                                      : "cannot connect to http://127.0.0.1:1: Connection refused";
    CHECK(program.line() == R"({"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":")" + why + "\"}}");
    CHECK(program.exit() == "exit 1");
    CHECK(program.errors() == "comcp: " + why + "\n");
}
