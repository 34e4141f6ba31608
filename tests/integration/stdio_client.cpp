// SPDX-License-Identifier: MIT
// A client whose server misbehaves: real child processes and raw bytes. The servers are fixtures/fake_server.cpp, and
// stdio_fixture.cpp for the sound one. FRAME, PIPE, PROC and the like name the kinds of faults that are kept
// impossible.
#include <comcp/stdio.hpp>

#include "support.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <thread>

namespace
{

using namespace std::chrono_literals;
using comcp::args;
using comcp::call_options;
using comcp::child_process;
using comcp::client;
using comcp::client_options;
using comcp::errc;
using comcp::fault;
using comcp::outcome;
using comcp::task;
using support::process;
using support::signal_scope;
using support::watched_process;
namespace asio = comcp::asio;

child_process fake(std::vector<std::string> how = {})
{
    return child_process(support::program("fake_server"), std::move(how)).name("fake");
}

const comcp::identity me("tests", "1");

/// Runs the loop until `done`; a hang is a failure.
template <class Condition>
void run_until(asio::io_context& io, const Condition& done)
{
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    io.restart();
    while (!done() && std::chrono::steady_clock::now() < deadline)
        if (io.run_one_until(deadline) == 0) io.restart();
    REQUIRE(done());
}

template <class T>
T run(asio::io_context& io, task<T> work)
{
    std::optional<T> value;
    std::exception_ptr failure;
    bool done = false;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr failed, T made) {
        failure = failed;
        value = std::move(made);
        done = true;
    });
    run_until(io, [&] { return done; });
    if (failure) std::rethrow_exception(failure);
    return std::move(*value);
}

void run(asio::io_context& io, task<void> work)
{
    std::exception_ptr failure;
    bool done = false;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr failed) {
        failure = failed;
        done = true;
    });
    run_until(io, [&] { return done; });
    if (failure) std::rethrow_exception(failure);
}

/// The fault that an operation ends with.
template <class T>
fault failure(asio::io_context& io, task<T> work)
{
    try {
        run(io, std::move(work));
    } catch (const comcp::error& e) {
        return e.fault();
    }
    FAIL("it did not fail");
    return {};
}

std::string text(asio::io_context& io, client& of, std::string tool, args arguments = {})
{
    return comcp::to_text(run(io, of.call(std::move(tool), std::move(arguments))));
}

pid_t number(asio::io_context& io, client& of, std::string tool)
{
    return static_cast<pid_t>(std::stol(text(io, of, std::move(tool))));
}

bool contains(const std::string& whole, std::string_view part) { return whole.find(part) != std::string::npos; }

/// A call in the background, and how it ended.
struct background
{
    background(asio::io_context& io, task<comcp::answer> call)
    {
        asio::co_spawn(io, std::move(call), [this](std::exception_ptr failed, comcp::answer) {
            done = true;
            try {
                if (failed) std::rethrow_exception(failed);
            } catch (const comcp::error& e) {
                why = e.fault();
            }
        });
    }
    background(const background&) = delete;

    bool done = false;
    fault why;
};

/// A server and what it started, as they are told on its stderr by fake_server's "tell both".
struct told_processes
{
    std::string said;

    child_process program(std::string mode)
    {
        child_process made = fake({std::move(mode), "tell both"});
        made.on_stderr([this](std::string_view part) { said += part; });
        return made;
    }
    bool known() const { return std::count(said.begin(), said.end(), '\n') == 2; }
    pid_t server() const { return static_cast<pid_t>(std::stol(said)); }
    pid_t grandchild() const { return static_cast<pid_t>(std::stol(said.substr(said.find('\n')))); }
};

/// A coroutine that owns its client and is never done by itself.
task<void> own_and_wait(child_process program)
{
    client host(program, me);
    co_await host.connect();
    const comcp::answer never = co_await host.call("silent");
    FAIL(comcp::to_text(never));
}

std::size_t threads_of(pid_t pid)
{
    const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// Runs the loop by `poll` alone.
template <class T>
T poll_for(asio::io_context& io, task<T> work)
{
    std::optional<T> value;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr failed, T made) {
        failure = failed;
        value.emplace(std::move(made));
    });
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!value && std::chrono::steady_clock::now() < deadline) {
        io.restart();
        if (io.poll() == 0) std::this_thread::yield();
    }
    REQUIRE(value);
    if (failure) std::rethrow_exception(failure);
    return std::move(*value);
}

task<std::error_code> code_of(task<comcp::answer> call)
{
    const auto got = co_await comcp::as_result(std::move(call));
    co_return got.has_error() ? got.error().code : std::error_code();
}

task<bool> connected(client& host)
{
    co_await host.connect();
    co_return host.connected();
}

task<bool> closed(client& host)
{
    co_await host.close();
    co_return !host.connected();
}

} // namespace

// ---- FRAME: what stands on stdout

TEST_CASE("noise on stdout is counted and harms no call", "[stdio][client][frame]")
{
    asio::io_context io; // FRAME 3, 4; SHAPE 42
    client host(fake({"noise"}), me);
    run(io, host.connect());
    // Banner and two lines of noise; eight noise lines before each answer, the "initialized" notice included; one stray
    // error.
    for (int i = 0; i < 3; ++i) CHECK(text(io, host, "text", args("text", "clear")) == "clear");
    const auto statistics = host.statistics();
    CHECK(statistics.bad_messages == 2 + 5 * 8 + 1);
    CHECK(statistics.late_answers == 0);
    run(io, host.close());
}

TEST_CASE("a server may end its lines with CR LF", "[stdio][client][frame]")
{
    asio::io_context io; // FRAME 2
    client host(fake({"cr lf"}), me);
    run(io, host.connect());
    CHECK(text(io, host, "text", args("text", "windows")) == "windows");
    CHECK(host.statistics().bad_messages == 0);
}

TEST_CASE("answers may arrive in pieces of any size", "[stdio][client][frame]")
{
    asio::io_context io; // FRAME 6
    const char* const size = GENERATE("1", "2", "3", "7", "64");
    client host(fake({"pieces", size}), me);
    run(io, host.connect());
    const std::string cut = "a\xE2\x80\x94"
                            "b\xE8\xAA\x9E\xF0\x9F\x98\x80";
    CHECK(text(io, host, "text", args("text", cut)) == cut);
    CHECK(host.statistics().bad_messages == 0);
}

TEST_CASE("an answer over the limit fails its call at once, and the session goes on", "[stdio][client][frame]")
{
    // FRAME 9. The second server writes so that the limit falls between two reads.
    const bool pieces = GENERATE(false, true);
    const auto how = pieces ? std::vector<std::string>{"pieces", "30001"} : std::vector<std::string>();
    asio::io_context io;
    client_options options;
    options.limits.message = 30'000;
    client host(fake(how), me, options);
    run(io, host.connect());
    const auto started = std::chrono::steady_clock::now();
    for (const std::size_t size : {std::size_t(30'001), std::size_t(60'000), std::size_t(1'000'000)}) {
        const fault why = failure(io, host.call("sized", args("number", size)));
        CHECK(why.code == errc::too_large);
        CHECK(why.fate == outcome::unknown);
        CHECK(why.method == "tools/call");
        CHECK(contains(why.text, std::to_string(size)));
        CHECK(contains(why.text, "30000"));
        run(io, host.ping());
    }
    CHECK(std::chrono::steady_clock::now() - started < 30s); // and not after the call limit of 120 s
    CHECK(text(io, host, "sized", args("number", 30'000)).size() > 12'000 - 1);
    CHECK(failure(io, host.call("oversized id last", args("number", 50'000))).code == errc::too_large);
    CHECK(text(io, host, "oversized notice", args("number", 50'000)) == "after it");
    CHECK(text(io, host, "oversized request", args("number", 50'000)) == "-32600");
    CHECK(host.statistics().oversized == 6);
    CHECK(host.statistics().bad_messages == 0);
    run(io, host.close());
}

TEST_CASE("an oversized answer fails its own call only", "[stdio][client][frame]")
{
    asio::io_context io;
    client_options options;
    options.limits.message = 30'000;
    client host(fake(), me, options);
    run(io, host.connect());
    background silent(io, host.call("silent"));
    background large(io, host.call("sized", args("number", 100'000)));
    run_until(io, [&] { return large.done; });
    CHECK(large.why.code == errc::too_large);
    run(io, host.ping());
    CHECK_FALSE(silent.done);
    run(io, host.close());
    CHECK(silent.done);
    CHECK(silent.why.code == errc::closed);
}

TEST_CASE("an answer that nests too deep fails its call at once, and the session goes on", "[stdio][client][sec]")
{
    asio::io_context io; // SEC 143
    client host(fake(), me);
    run(io, host.connect());
    CHECK(run(io, host.call("deep", args("number", 61))).structured.has_value()); // the envelope is 3 deep
    for (const int depth : {62, 10'000, 1'000'000}) {
        const fault why = failure(io, host.call("deep", args("number", depth)));
        CHECK(why.code == errc::too_deep);
        CHECK(why.fate == outcome::unknown);
        run(io, host.ping());
    }
}

TEST_CASE("the default limit of an answer is 16 MiB", "[stdio][client][frame]")
{
    asio::io_context io;
    client host(fake(), me);
    run(io, host.connect());
    const std::size_t limit = 16 * 1024 * 1024;
    CHECK(failure(io, host.call("sized", args("number", limit + 1))).code == errc::too_large);
    const comcp::answer whole = run(io, host.call("sized", args("number", limit)));
    REQUIRE(whole.content.size() == 1);
    REQUIRE(whole.content[0].as_text());
    CHECK(whole.content[0].as_text()->size() > limit - 100);
}

TEST_CASE("requests of eight coroutines are never mixed on the wire", "[stdio][client][frame]")
{
    // FRAME 12: 100 requests of 100 KB each, and answers to roots/list between them.
    struct work
    {
        static task<int> requests(client& host, char letter, int count)
        {
            int whole = 0;
            for (int i = 0; i < count; ++i) {
                const std::size_t size = 100'000 + static_cast<std::size_t>(i);
                args given("text", std::string(size, letter));
                const comcp::answer got = co_await host.call("echo", std::move(given));
                whole += comcp::to_text(got) == std::to_string(size) + letter;
            }
            co_return whole;
        }
    };
    client_options options;
    std::vector<comcp::root> places;
    for (int i = 0; i < 100; ++i) places.push_back(comcp::root("file:///home/" + std::to_string(i)));
    options.roots(places);
    std::string complaints;
    child_process program = fake({"asks"});
    program.on_stderr([&](std::string_view said) { complaints += said; });

    SECTION("on one thread")
    {
        asio::io_context io;
        client host(program, me, options);
        run(io, host.connect());
        int ended = 0;
        int whole = 0;
        for (char letter = 'a'; letter < 'i'; ++letter)
            asio::co_spawn(io, work::requests(host, letter, 100), [&](std::exception_ptr failed, int good) {
                ++ended;
                if (!failed) whole += good;
            });
        run_until(io, [&] { return ended == 8; });
        CHECK(whole == 800);
        run(io, host.close());
    }
    SECTION("on eight threads")
    {
        asio::io_context io;
        client host(program, me, options);
        run(io, host.connect());
        std::atomic<int> ended = 0;
        std::atomic<int> whole = 0;
        io.restart();
        std::thread home([&] { io.run(); }); // the session reads: the loop does not run out of work
        std::vector<std::thread> others;
        for (char letter = 'a'; letter < 'i'; ++letter) {
            others.emplace_back([&, letter] {
                asio::io_context mine;
                asio::co_spawn(mine, work::requests(host, letter, 100), [&](std::exception_ptr failed, int good) {
                    ++ended;
                    if (!failed) whole += good;
                });
                mine.run_for(60s);
            });
        }
        for (std::thread& each : others) each.join();
        io.stop();
        home.join();
        CHECK(ended == 8);
        CHECK(whole == 800);
    }
    CHECK(complaints.empty());
}

// ---- PIPE: nobody blocks anybody

TEST_CASE("a server that writes 256 KiB to stderr before each answer is answered for", "[stdio][client][pipe]")
{
    asio::io_context io; // PIPE 14
    std::size_t said = 0;
    const bool listening = GENERATE(false, true);
    child_process program = fake({"loud"});
    if (listening) program.on_stderr([&](std::string_view part) { said += part.size(); });
    client host(program, me);
    run(io, host.connect());
    run(io, host.ping());
    CHECK(text(io, host, "text", args("text", "heard")) == "heard");
    run(io, host.close());
    if (listening) CHECK(said == 4 * 256 * 1024);
}

TEST_CASE("a call to a server that never reads ends at its deadline", "[stdio][client][pipe]")
{
    asio::io_context io; // PIPE 16
    {
        client host(fake({"deaf"}), me);
        run(io, host.connect());
        call_options quick;
        quick.timeout(500ms);
        const args large("text", std::string(1024 * 1024, 'l'));
        const auto started = std::chrono::steady_clock::now();
        std::vector<std::unique_ptr<background>> calls;
        // More than the session queues (4 MiB): the last ones never get room.
        for (int i = 0; i < 6; ++i) calls.push_back(std::make_unique<background>(io, host.call("echo", large, quick)));
        run_until(io,
                  [&] { return std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each->done; }); });
        const auto took = std::chrono::steady_clock::now() - started;
        CHECK(took >= 500ms);
        CHECK(took < 10s);
        for (const auto& each : calls) CHECK(each->why.code == errc::timed_out);
        CHECK(calls.front()->why.fate == outcome::unknown);
        CHECK(calls.back()->why.fate == outcome::not_sent);
        CHECK(host.connected());
    }
    io.restart();
    io.run_for(60s); // nothing of it keeps the loop
    CHECK(io.stopped());
}

TEST_CASE("the start error of a server has its own last words and its name", "[stdio][client][pipe]")
{
    // PIPE 17
    const char* const mode = GENERATE("dies at once", "dies in the handshake");
    const bool closed_by_us = GENERATE(false, true);
    asio::io_context io;
    std::vector<std::unique_ptr<client>> hosts;
    std::array<fault, 2> why;
    int ended = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string word = i ? "boom of the second" : "boom of the first";
        child_process program = fake({mode, word});
        program.name(i ? "second" : "first");
        hosts.push_back(std::make_unique<client>(program, me));
        asio::co_spawn(io, hosts.back()->connect(), [&why, &ended, i](std::exception_ptr failed) {
            ++ended;
            try {
                if (failed) std::rethrow_exception(failed);
            } catch (const comcp::error& e) {
                why[i] = e.fault();
            }
        });
    }
    run_until(io, [&] { return ended == 2; });
    for (std::size_t i = 0; i < 2; ++i) {
        INFO(why[i].text);
        CHECK(why[i].code == errc::peer_gone);
        CHECK(
            contains(why[i].text, i ? "server \"second\" exited with code 3" : "server \"first\" exited with code 3"));
        CHECK(contains(why[i].text, i ? "boom of the second" : "boom of the first"));
        CHECK_FALSE(contains(why[i].text, i ? "of the first" : "of the second"));
        CHECK_FALSE(hosts[i]->connected());
        if (closed_by_us) run(io, hosts[i]->close()); // closing what never opened is no error
    }
}

// ---- PROC: how a server ends

TEST_CASE("a server that cannot be started is a typed error", "[stdio][client][proc]")
{
    asio::io_context io;
    client missing(child_process("/no/such/server"), me);
    fault why = failure(io, missing.connect());
    CHECK(why.code == errc::not_found);
    CHECK(why.fate == outcome::not_sent);
    CHECK(contains(why.text, "/no/such/server"));
    client folder(child_process("fake_server").directory("/no/such/place"), me);
    CHECK(failure(io, folder.connect()).code == errc::not_found);
    // The end of the call after it names the reason too.
    CHECK(failure(io, missing.call("x")).code == errc::closed);
}

TEST_CASE("a server that never answers the handshake is given up and killed", "[stdio][client][proc]")
{
    asio::io_context io;
    comcp::policy_state<comcp::default_policy> policies;
    policies.timeouts.connect_within(300ms);
    pid_t pid = 0;
    child_process program = fake({"silent", "tell"});
    program.on_stderr([&](std::string_view said) { pid = std::atoi(std::string(said).c_str()); });
    client host(program, me, {}, policies);
    const fault why = failure(io, host.connect());
    CHECK(why.code == errc::timed_out);
    REQUIRE(pid > 0);
    CHECK(support::no_trace_of(pid));
    CHECK_FALSE(host.connected());
}

TEST_CASE("a server that dies ends every call at once, with its exit status", "[stdio][client][proc]")
{
    struct death
    {
        const char* tool;
        int number;
        const char* text;
        bool words;
    };
    // PROC 24: SIGPIPE is at its default in this host.
    const signal_scope fatal(SIGPIPE, SIG_DFL);
    const death how = GENERATE(death{"die", 5, "exited with code 5", true}, death{"die", 0, "exited with code 0", true},
                               death{"die in a message", 4, "exited with code 4", false},
                               death{"raise", SIGKILL, "was killed by signal 9 (SIGKILL)", false},
                               death{"raise", SIGTERM, "was killed by signal 15 (SIGTERM)", false});
    INFO(how.tool << ' ' << how.number);
    asio::io_context io;
    client host(fake(), me);
    run(io, host.connect());
    const pid_t pid = number(io, host, "pid");
    background first(io, host.call("silent"));
    background second(io, host.call("silent"));
    const auto started = std::chrono::steady_clock::now();
    background last(io, host.call(how.tool, args("number", how.number)));
    run_until(io, [&] { return first.done && second.done && last.done; });
    CHECK(std::chrono::steady_clock::now() - started < 20s);
    for (const background* each : {&first, &second, &last}) {
        INFO(each->why.text);
        CHECK(each->why.code == errc::peer_gone);
        CHECK(each->why.fate == outcome::unknown);
        CHECK(contains(each->why.text, how.text));
        CHECK(contains(each->why.text, "last words") == how.words);
    }
    CHECK_FALSE(host.connected());
    CHECK(support::no_trace_of(pid));
    // Later calls are told the same, and that they were not sent.
    const fault later = failure(io, host.call("text", args("text", "x")));
    CHECK(later.code == errc::peer_gone);
    CHECK(later.fate == outcome::not_sent);
    CHECK(contains(later.text, how.text));
    run(io, host.close());
}

TEST_CASE("calls that are written while the server dies are errors and no signal", "[stdio][client][proc]")
{
    const signal_scope fatal(SIGPIPE, SIG_DFL);
    asio::io_context io;
    pid_t pid = 0;
    child_process program = fake({"deaf", "tell"});
    program.on_stderr([&](std::string_view said) { pid = std::atoi(std::string(said).c_str()); });
    client host(program, me);
    run(io, host.connect());
    run_until(io, [&] { return pid != 0; });
    background waiting(io, host.call("echo", args("text", std::string(2'000'000, 'w'))));
    io.restart();
    io.poll();
    ::kill(pid, SIGKILL);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
    std::vector<std::unique_ptr<background>> calls; // before the loop has seen it
    for (int i = 0; i < 3; ++i)
        calls.push_back(std::make_unique<background>(io, host.call("echo", args("text", std::string(500'000, 'z')))));
    run_until(io, [&] {
        return waiting.done && std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each->done; });
    });
    CHECK(waiting.why.code == errc::peer_gone);
    CHECK(contains(waiting.why.text, "was killed by signal 9 (SIGKILL)"));
    for (const auto& each : calls) CHECK(each->why.code == errc::peer_gone);
}

TEST_CASE("a server that closes its output and lives is gone as well", "[stdio][client][proc]")
{
    asio::io_context io;
    child_process program = fake();
    program.stop_after(10ms, 10ms);
    client host(program, me);
    run(io, host.connect());
    const pid_t pid = number(io, host, "pid");
    const fault why = failure(io, host.call("close output"));
    CHECK(why.code == errc::peer_gone);
    CHECK(contains(why.text, "closed its output"));
    run(io, host.close());
    CHECK(support::no_trace_of(pid));
}

TEST_CASE("destroying a client kills its server and what that started", "[stdio][client][proc]")
{
    const bool calling = GENERATE(false, true);
    asio::io_context io;
    auto host = std::make_unique<client>(fake(), me);
    run(io, host->connect());
    const pid_t pid = number(io, *host, "pid");
    const watched_process grandchild(number(io, *host, "grandchild"));
    REQUIRE(grandchild.known());
    std::optional<background> waiting;
    if (calling) waiting.emplace(io, host->call("silent"));
    io.restart();
    io.poll();
    host.reset();
    CHECK(support::no_trace_of(pid)); // reaped already
    CHECK(grandchild.gone_within(60'000));
    io.restart();
    io.run_for(60s);
    CHECK(io.stopped());
    if (calling) {
        CHECK(waiting->done);
        CHECK(waiting->why.code == errc::closed);
    }
}

TEST_CASE("the io_context may end before the client of a real server, while calls wait", "[stdio][client][proc]")
{
    told_processes told;
    auto io = std::make_unique<asio::io_context>();
    auto host = std::make_unique<client>(told.program("plain"), me);
    run(*io, host->connect());
    run_until(*io, [&] { return told.known(); });
    const watched_process grandchild(told.grandchild());
    REQUIRE(grandchild.known());
    background first(*io, host->call("silent"));
    background second(*io, host->call("echo", args("text", std::string(2'000'000, 'w'))));
    io->restart();
    io->poll();
    io.reset();
    CHECK_FALSE(first.done);
    CHECK_FALSE(second.done);
    CHECK_FALSE(host->connected());
    host.reset();
    CHECK(support::no_trace_of(told.server()));
    CHECK(grandchild.gone_within(60'000));
}

TEST_CASE("a client of a real server may die in a callback of its own", "[stdio][client][proc]")
{
    asio::io_context io;
    told_processes told;
    std::unique_ptr<client> host;
    bool died = false;
    const auto die = [&] {
        host.reset();
        died = true;
    };
    child_process program = told.program("plain");
    client_options options;
    SECTION("of a log message")
    {
        options.on_log([&](const comcp::log_message&) { die(); });
        host = std::make_unique<client>(program, me, options);
        run(io, host->connect());
        run_until(io, [&] { return told.known(); });
        background noisy(io, host->call("notices", args("number", 1)));
        background waiting(io, host->call("silent"));
        run_until(io, [&] { return noisy.done && waiting.done; });
        CHECK(noisy.why.code == errc::closed);
        CHECK(waiting.why.code == errc::closed);
    }
    SECTION("with the server's words, while it connects")
    {
        program.on_stderr([&](std::string_view part) {
            told.said += part;
            if (told.known()) die();
        });
        host = std::make_unique<client>(program, me, options);
        std::exception_ptr failed;
        bool ended = false;
        asio::co_spawn(io, host->connect(), [&](std::exception_ptr why) {
            failed = why;
            ended = true;
        });
        run_until(io, [&] { return ended && died; });
    }
    CHECK(died);
    io.restart();
    io.run_for(60s);
    CHECK(io.stopped());
    CHECK(support::no_trace_of(told.server()));
    CHECK((!watched_process(told.grandchild()).known() || watched_process(told.grandchild()).gone_within(60'000)));
}

TEST_CASE("a coroutine that owns a client takes server and grandchild with it", "[stdio][client][proc]")
{
    told_processes told;
    auto io = std::make_unique<asio::io_context>();
    asio::cancellation_signal signal;
    bool ended = false;
    asio::co_spawn(*io, own_and_wait(told.program("plain")),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr failed) {
                       ended = true;
                       CHECK(failed);
                   }));
    run_until(*io, [&] { return told.known(); });
    const watched_process grandchild(told.grandchild());
    REQUIRE(grandchild.known());
    SECTION("destroyed with its io_context")
    {
        io.reset();
        CHECK_FALSE(ended);
    }
    SECTION("cancelled")
    {
        signal.emit(asio::cancellation_type::terminal);
        run_until(*io, [&] { return ended; });
    }
    CHECK(support::no_trace_of(told.server()));
    CHECK(grandchild.gone_within(60'000));
}

TEST_CASE("a connect that is cancelled leaves no trace of server and grandchild", "[stdio][client][proc]")
{
    asio::io_context io;
    told_processes told;
    client host(told.program("silent"), me);
    asio::cancellation_signal signal;
    fault why;
    bool ended = false;
    asio::co_spawn(io, host.connect(), asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr failed) {
                       ended = true;
                       try {
                           if (failed) std::rethrow_exception(failed);
                       } catch (const comcp::error& e) {
                           why = e.fault();
                       }
                   }));
    run_until(io, [&] { return told.known(); });
    const watched_process grandchild(told.grandchild());
    REQUIRE(grandchild.known());
    signal.emit(asio::cancellation_type::terminal);
    run_until(io, [&] { return ended; });
    CHECK(why.code == errc::cancelled);
    CHECK(support::no_trace_of(told.server()));
    CHECK(grandchild.gone_within(60'000));
    CHECK_FALSE(host.connected());
}

TEST_CASE("io.poll() alone runs everything, and nobody starts a thread", "[stdio][client]")
{
    process bare("fake_server", {}); // knows nothing of the library: what a sanitizer starts is in it too
    bare.send(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
              "\n");
    CHECK(bare.message().at("id") == 1);
    const std::size_t before = threads_of(::getpid());
    asio::io_context io;
    std::string said;
    child_process program(support::program("stdio_fixture"));
    program.on_stderr([&](std::string_view part) { said += part; });
    client host(program, me);
    REQUIRE(poll_for(io, connected(host)));
    poll_for(io, host.call("shell", args("text", "echo $PPID >&2")));
    poll_for(io, host.call("echo_later", args("text", "e")));
    auto late = host.call("sleep", args("number", 60'000), call_options().timeout(20ms));
    CHECK(poll_for(io, code_of(std::move(late))) == errc::timed_out);
    while (!said.ends_with('\n')) {
        io.restart();
        io.poll();
    }
    CHECK(threads_of(::getpid()) == before);
    CHECK(threads_of(static_cast<pid_t>(std::stol(said))) == threads_of(bare.pid()));
    CHECK(poll_for(io, closed(host)));
}

TEST_CASE("a server that dies does not leave what it started", "[stdio][client][proc]")
{
    asio::io_context io; // the grandchild holds the pipes: their end alone would never come
    client host(fake(), me);
    run(io, host.connect());
    const watched_process grandchild(number(io, host, "grandchild"));
    REQUIRE(grandchild.known());
    const fault why = failure(io, host.call("die", args("number", 6)));
    CHECK(why.code == errc::peer_gone);
    CHECK(contains(why.text, "exited with code 6"));
    CHECK(grandchild.gone_within(60'000));
}

TEST_CASE("closing in order lets the server leave by itself", "[stdio][client][proc]")
{
    asio::io_context io;
    client host(fake(), me);
    run(io, host.connect());
    const pid_t pid = number(io, host, "pid");
    background waiting(io, host.call("silent"));
    io.restart();
    io.poll();
    const auto started = std::chrono::steady_clock::now();
    run(io, host.close());
    CHECK(std::chrono::steady_clock::now() - started < 5s); // before the ladder's first signal
    CHECK(waiting.done);
    CHECK(waiting.why.code == errc::closed);
    CHECK(support::no_trace_of(pid));
    run(io, host.close()); // again is nothing
}

TEST_CASE("closing takes no longer than its limit though the server does not read", "[stdio][client][proc]")
{
    const bool queued = GENERATE(false, true);
    asio::io_context io;
    pid_t pid = 0;
    child_process program = fake({"deaf", "tell"});
    program.on_stderr([&](std::string_view said) { pid = std::atoi(std::string(said).c_str()); });
    client_options options;
    options.limits.close = 300ms;
    client host(program, me, options);
    run(io, host.connect());
    run_until(io, [&] { return pid != 0; });
    std::optional<background> waiting;
    if (queued) waiting.emplace(io, host.call("echo", args("text", std::string(2'000'000, 'q'))));
    io.restart();
    io.poll();
    const auto started = std::chrono::steady_clock::now();
    run(io, host.close());
    CHECK(std::chrono::steady_clock::now() - started < 5s);
    CHECK(support::no_trace_of(pid));
    if (queued) CHECK(waiting->why.code == errc::closed);
}

TEST_CASE("a client that connects again has one live server at any time", "[stdio][client][proc]")
{
    asio::io_context io; // PROC 21
    client host(fake(), me);
    std::set<pid_t> all;
    for (int round = 0; round < 3; ++round) {
        run(io, host.connect());
        const pid_t pid = number(io, host, "pid");
        for (const pid_t old : all) CHECK(support::no_trace_of(old));
        CHECK(all.insert(pid).second);
        if (round == 0) { // twice is refused, and the first one stays
            CHECK(failure(io, host.connect()).code == errc::invalid_argument);
            run(io, host.ping());
            run(io, host.close());
        } else { // dies by somebody's hand
            ::kill(pid, SIGKILL);
            run_until(io, [&] { return !host.connected(); });
        }
    }
    run(io, host.close());
    for (const pid_t old : all) CHECK(support::no_trace_of(old));
}

TEST_CASE("a host that is killed takes its server with it", "[stdio][client][proc]")
{
    // PROC 19: the server sees the end of its input, or, if it does not read, gets the signal that was asked for.
    const int signal = GENERATE(SIGKILL, SIGINT, SIGTERM);
    const bool deaf = GENERATE(false, true);
    process host("host_fixture", deaf ? std::vector<std::string>{"deaf", "9"} : std::vector<std::string>{"plain"});
    const auto line = host.line();
    REQUIRE(line);
    const watched_process server(static_cast<pid_t>(std::stol(*line)));
    REQUIRE(server.known());
    host.signal(signal);
    CHECK(host.exit() == "signal " + std::to_string(signal));
    CHECK(server.gone_within(60'000));
}

TEST_CASE("a host that takes the signal itself closes in order, and its server leaves by itself",
          "[stdio][client][proc]")
{
    process host("host_fixture", {"in-order"}); // PROC 19
    const auto line = host.line();
    REQUIRE(line);
    const pid_t server = static_cast<pid_t>(std::stol(*line));
    REQUIRE(watched_process(server).known());
    const auto started = std::chrono::steady_clock::now();
    host.signal(GENERATE(SIGINT, SIGTERM));
    CHECK(host.line() == "left"); // it saw the end of its input, and no signal
    CHECK(host.exit() == "exit 0");
    CHECK(std::chrono::steady_clock::now() - started < 5s); // before the ladder's first signal
    CHECK(support::no_trace_of(server));
    CHECK(host.errors().empty());
}

// ---- FIDELITY: what is in a result

TEST_CASE("numbers of a result are exact where its text is kept", "[stdio][client][fidelity]")
{
    asio::io_context io; // FIDELITY 51, 52
    client_options options;
    options.keep_source = true;
    client host(fake(), me, options);
    run(io, host.connect());
    const comcp::answer exact = run(io, host.call("exact"));
    const std::string numbers = R"({"id":9007199254740993,"u":18446744073709551615,"f":1.0,"e":1E400})";
    CHECK(contains(exact.source, R"("structuredContent":)" + numbers));
    CHECK(comcp::to_text(exact) == "7795506888185572399\n" + numbers);
    // Without the text, integers are exact all the same.
    client plain(fake(), me);
    run(io, plain.connect());
    const std::string shown = text(io, plain, "exact");
    CHECK(contains(shown, R"("id":9007199254740993,"u":18446744073709551615)"));
    CHECK(contains(shown, "7795506888185572399"));
}

TEST_CASE("a cut falls between characters", "[stdio][client][fidelity]")
{
    asio::io_context io; // FIDELITY 53
    comcp::policy_state<comcp::default_policy> policies;
    const std::size_t cap = GENERATE(1070u, 1071u, 1072u, 1073u);
    policies.output_cap = comcp::policy::truncate(cap);
    client host(fake(), me, {}, policies);
    run(io, host.connect());
    for (const int tail : {0, 1, 47, 48, 49, 5000}) {
        const std::string whole = text(io, host, "long text", args("number", tail));
        const std::string shown = whole.substr(0, whole.find("\n[cut: "));
        REQUIRE(shown.starts_with(std::string(1023, 'a')));
        CHECK((shown.size() - 1023) % 3 == 0); // whole characters of three bytes
        const std::size_t characters = 1023 + (shown.size() - 1023) / 3 + (whole.size() - shown.size());
        CHECK(characters <= cap);
        CHECK((whole.size() == shown.size()) == (1023u + static_cast<unsigned>(tail) <= cap));
    }
}
