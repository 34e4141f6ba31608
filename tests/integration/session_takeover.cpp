// SPDX-License-Identifier: MIT
// Sessions that outlive their process: one is killed in the middle of a call, another starts on what it has kept.
#include "catch.hpp"
#include "raw_client.hpp"
#include "support.hpp"

#include <comcp/client/client.hpp>
#include <comcp/http/streamable_http.hpp>

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace
{

using namespace std::chrono_literals;
using support::raw_client;
namespace asio = comcp::asio;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// A directory of this test.
class folder
{
public:
    folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "comcp-sessions-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~folder() { std::filesystem::remove_all(path_); }
    folder(const folder&) = delete;

    std::string text() const { return path_.string(); }
    std::size_t sessions() const
    {
        std::size_t count = 0;
        for (const auto& each : std::filesystem::directory_iterator(path_)) count += each.is_directory() ? 1 : 0;
        return count;
    }
    /// What a server has just said may be on its way to a file. Waits until a stream with this in it is there.
    void wait_for(std::string_view part) const
    {
        const auto until = std::chrono::steady_clock::now() + 20s;
        while (!contains(part)) {
            REQUIRE(std::chrono::steady_clock::now() < until);
            ::sched_yield();
        }
    }

private:
    bool contains(std::string_view part) const
    {
        for (const auto& session : std::filesystem::directory_iterator(path_)) {
            if (!session.is_directory()) continue;
            for (const auto& each : std::filesystem::directory_iterator(session)) {
                if (each.path().extension() == ".new") continue;
                std::ifstream from(each.path(), std::ios::binary);
                if (has(std::string(std::istreambuf_iterator<char>(from), {}), part)) return true;
            }
        }
        return false;
    }

    std::filesystem::path path_;
};

/// The server as a process, and again on the same port.
class server_process
{
public:
    server_process(const folder& store, std::uint16_t port)
        : program_("session_fixture", {store.text(), "127.0.0.1:" + std::to_string(port)})
    {
        program_.wait_for_error("/mcp\n");
        const std::string& said = program_.errors();
        port_ = static_cast<std::uint16_t>(std::stoul(said.substr(said.rfind(':') + 1)));
    }
    std::uint16_t port() const { return port_; }
    std::string pid() const { return std::to_string(program_.pid()); }
    void kill()
    {
        program_.signal(SIGKILL);
        CHECK(program_.exit() == "signal 9");
    }
    std::string end()
    {
        program_.signal(SIGTERM);
        return program_.exit();
    }

private:
    support::process program_;
    std::uint16_t port_ = 0;
};

/// A client of bytes that knows its session and says who it is.
class plain_client
{
public:
    plain_client(std::string who) : who_(std::move(who)) {}

    std::string ask(std::uint16_t port, std::string_view method, std::string_view body,
                    std::string_view more = {}) const
    {
        raw_client socket(port);
        return socket.ask(request(method, body, more));
    }
    /// What comes until the stream ends or `mark` has come.
    std::string stream(std::uint16_t port, std::string_view method, std::string_view body, std::string_view more,
                       std::string_view mark) const
    {
        raw_client socket(port);
        REQUIRE(socket.send(request(method, body, more)));
        return socket.until(mark);
    }
    void connect(std::uint16_t port, std::string_view version = "2025-11-25", std::string_view capabilities = "{}")
    {
        const std::string got = ask(port, "POST",
                                    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" +
                                        std::string(version) + R"(","capabilities":)" + std::string(capabilities) +
                                        R"(,"clientInfo":{"name":"raw","version":"1"}}})");
        REQUIRE(got.starts_with("HTTP/1.1 200 OK\r\n"));
        constexpr std::string_view name = "Mcp-Session-Id: ";
        const std::size_t at = got.find(name);
        REQUIRE(at != got.npos);
        session_ = got.substr(at, got.find("\r\n", at) + 2 - at);
    }
    void call_as(std::string who) { who_ = std::move(who); }
    std::string request(std::string_view method, std::string_view body, std::string_view more) const
    {
        return std::string(method) +
               " /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               "Accept: application/json, text/event-stream\r\nAuthorization: " +
               who_ + "\r\n" + session_ + std::string(more) + "Content-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + std::string(body);
    }

private:
    std::string who_;
    std::string session_;
};

constexpr std::string_view call_who = R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who"}})";
constexpr std::string_view call_step =
    R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"step","_meta":{"progressToken":7}}})";

/// The id of the event that carries this text.
std::string id_of_event(std::string_view stream, std::string_view text)
{
    const std::size_t at = stream.rfind("id: ", stream.find(text));
    REQUIRE(at != stream.npos);
    return std::string(stream.substr(at + 4, stream.find('\n', at) - at - 4));
}

/// Waits for the new process as long as the test does.
struct often : comcp::policy::fixed
{
    often()
    {
        every(100ms);
        at_most(1000);
    }
};
struct patient : comcp::default_policy
{
    using reconnect = often;
};

struct ended
{
    std::exception_ptr* into;
    bool* done;
    void operator()(std::exception_ptr failure) const
    {
        *into = failure;
        *done = true;
    }
};

/// Runs one coroutine to its end; fails the test after 40 s.
void run(asio::io_context& io, comcp::task<void> work)
{
    bool done = false;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(work), ended{&failure, &done});
    const auto until = std::chrono::steady_clock::now() + 40s;
    while (!done && std::chrono::steady_clock::now() < until) io.run_one_for(40s);
    REQUIRE(done);
    if (failure) std::rethrow_exception(failure);
}

/// Kills the server when the call has made progress, and starts another in its place.
comcp::task<void> outlives(const folder& store, std::unique_ptr<server_process>& server,
                           comcp::basic_client<patient>& client)
{
    co_await client.connect();
    auto said = co_await client.call("who");
    CHECK(to_text(said) == "ada mover " + server->pid());

    std::vector<double> heard;
    comcp::call_options options;
    options.on_progress([&](const comcp::progress& p) {
        heard.push_back(p.value);
        if (heard.size() != 3) return;
        const std::uint16_t port = server->port();
        store.wait_for(R"(\"progress\":3)");
        server->kill();
        server = std::make_unique<server_process>(store, port);
    });
    std::optional<comcp::error> failed;
    try {
        co_await client.call("step", {}, options);
    } catch (const comcp::error& e) {
        failed = e;
    }
    REQUIRE(failed);
    CHECK(failed->code() == comcp::errc::peer_gone);
    CHECK(failed->outcome() == comcp::outcome::unknown);
    REQUIRE(failed->rpc());
    CHECK(failed->rpc()->code == -32603);
    CHECK(failed->rpc()->message == "this request ran in another process, and its outcome is unknown");
    CHECK(heard == std::vector<double>{1, 2, 3});

    said = co_await client.call("who");
    CHECK(to_text(said) == "ada mover " + server->pid());
    CHECK(store.sessions() == 1); // no new one was made
    co_await client.close();
    CHECK(store.sessions() == 0);
}

} // namespace

TEST_CASE("A client goes on with its session when the server is killed and another takes its place")
{
    const folder store;
    auto server = std::make_unique<server_process>(store, 0);
    asio::io_context io{1};
    comcp::basic_client<patient> client(
        comcp::streamable_http("http://127.0.0.1:" + std::to_string(server->port()) + "/mcp")
            .header("Authorization", "ada"),
        comcp::identity("mover", "1"));
    run(io, outlives(store, server, client));
    CHECK(server->end() == "exit 0");
}

TEST_CASE("Every session is kept with its principal and its events when a server is killed")
{
    const folder store;
    auto first = std::make_unique<server_process>(store, 0);
    plain_client ada("ada");
    plain_client bob("bob");
    ada.connect(first->port());
    bob.connect(first->port());
    CHECK(store.sessions() == 2);
    CHECK(ada.ask(first->port(), "POST",
                  R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel",)"
                  R"("params":{"level":"error"}})")
              .starts_with("HTTP/1.1 200 "));
    const std::string stream = bob.stream(first->port(), "POST", call_step, {}, R"("progress":3}})");
    const std::string begun = id_of_event(stream, R"("progress":1})");
    store.wait_for(R"(\"progress\":3)");
    first->kill();

    const server_process second(store, 0);
    const std::string of_ada = ada.ask(second.port(), "POST", call_who);
    CHECK(has(of_ada, "ada raw " + second.pid())); // and not as a stream: the level is kept
    CHECK(of_ada.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(of_ada, "Content-Type: application/json"));

    const std::string again = bob.stream(second.port(), "GET", {}, "Last-Event-ID: " + begun + "\r\n", "\r\n0\r\n\r\n");
    const std::size_t two = again.find(R"("progress":2})");
    const std::size_t three = again.find(R"("progress":3})");
    const std::size_t end = again.find(R"("id":3,"error":{"code":-32603,)");
    CHECK_FALSE(has(again, R"("progress":1})"));
    CHECK(two < three);
    CHECK(three < end);
    CHECK(end != again.npos);

    plain_client mallory = bob;
    mallory.call_as("mallory");
    CHECK(mallory.ask(second.port(), "POST", call_who).starts_with("HTTP/1.1 404 "));
    CHECK(has(bob.stream(second.port(), "POST", call_who, {}, "\r\n0\r\n\r\n"), "bob raw " + second.pid()));
    CHECK(bob.ask(second.port(), "DELETE", {}).starts_with("HTTP/1.1 204 "));
    CHECK(bob.ask(second.port(), "POST", call_who).starts_with("HTTP/1.1 404 "));
    CHECK(store.sessions() == 1);
}

TEST_CASE("Revision, capabilities and subscriptions of a session are those that another process goes on with")
{
    const folder store;
    auto first = std::make_unique<server_process>(store, 0);
    plain_client ada("ada");
    ada.connect(first->port(), "2025-06-18", R"({"roots":{}})");
    const auto subscription = [](std::string_view method, std::string_view uri) {
        return R"({"jsonrpc":"2.0","id":5,"method":"resources/)" + std::string(method) + R"(","params":{"uri":")" +
               std::string(uri) + "\"}}";
    };
    for (const char* uri : {"note://left", "note://kept"})
        CHECK(has(ada.ask(first->port(), "POST", subscription("subscribe", uri)), R"("result":{})"));
    CHECK(has(ada.ask(first->port(), "POST", subscription("unsubscribe", "note://left")), R"("result":{})"));
    first->kill();

    const server_process second(store, 0);
    raw_client listening(second.port());
    REQUIRE(listening.send(ada.request("GET", {}, {})));
    CHECK(listening.until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    const auto call = [&](std::string_view name) {
        return ada.ask(second.port(), "POST",
                       R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":")" + std::string(name) +
                           "\"}}");
    };
    CHECK(has(call("known"), "2025-06-18 with roots"));
    CHECK(has(call("touch"), "touched"));
    const std::string heard = listening.until(R"("uri":"note://kept")");
    CHECK(has(heard, "notifications/resources/updated"));
    CHECK_FALSE(has(heard, "note://left"));
}

TEST_CASE("Two living servers hand a session over, and only one takes it out of the store")
{
    const folder store;
    server_process first(store, 0);
    const server_process second(store, 0);
    plain_client ada("ada");
    ada.connect(first.port());
    CHECK(has(ada.stream(second.port(), "POST", call_who, {}, "\r\n0\r\n\r\n"), "ada raw " + second.pid()));
    CHECK(first.end() == "exit 0"); // in order: what it knew of the session is not what counts
    CHECK(store.sessions() == 1);
    CHECK(has(ada.stream(second.port(), "POST", call_who, {}, "\r\n0\r\n\r\n"), "ada raw " + second.pid()));
}
