// SPDX-License-Identifier: MIT
//
// What the tests of sockets and of the bridge share: a server with a few tools on an io_context, a folder for Unix
// sockets, and a way to run one coroutine to its end. No wait is longer than 20 s.
#pragma once

#include "catch.hpp"

#include <comcp/socket.hpp>

#include <boost/describe/class.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace socket_world
{

using namespace std::chrono_literals;
using comcp::errc;
using comcp::outcome;
using comcp::task;
namespace asio = comcp::asio;

/// A folder of its own, with a short name: the path of a Unix socket has about 100 bytes.
class folder
{
public:
    folder()
    {
        char name[] = "/tmp/comcp-test-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path_ = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

struct echo_args
{
    std::string text;
};
BOOST_DESCRIBE_STRUCT(echo_args, (), (text))

struct ignored
{
    void operator()(std::exception_ptr) const {}
};

/// Tools that other tests only call: echo, steps (progress), roots (asks the client), wait (for ever, or until it is
/// cancelled).
class tools
{
public:
    explicit tools(comcp::server& served)
    {
        served.tool("echo", "", [](echo_args args) { return args.text; });
        served.tool("steps", "", [](comcp::context& ctx) { return steps(ctx); });
        served.tool("roots", "", [](comcp::context& ctx) { return roots(ctx); });
        served.tool("wait", "", [this](comcp::context&) { return wait(this); });
        served.tool("short", "", [](comcp::context&) { return short_wait(); });
    }
    int waiting = 0;
    int cancelled = 0;

private:
    struct counted
    {
        explicit counted(tools* in) : of(in) { ++of->waiting; }
        counted(const counted&) = delete;
        ~counted()
        {
            --of->waiting;
            ++of->cancelled;
        }
        tools* of;
    };

    static task<std::string> steps(comcp::context ctx)
    {
        for (int i = 1; i <= 3; ++i) {
            comcp::timer clock(co_await asio::this_coro::executor);
            co_await clock.wait_for(1ms);
            ctx.progress(i);
        }
        co_return "stepped";
    }
    static task<std::string> roots(comcp::context ctx)
    {
        const auto places = co_await ctx.list_roots();
        co_return places.empty() ? "nowhere" : places.front().uri;
    }
    static task<std::string> wait(tools* self)
    {
        const counted guard(self);
        comcp::timer clock(co_await asio::this_coro::executor);
        co_await clock.wait_for(1h);
        co_return "waited";
    }
    static task<std::string> short_wait()
    {
        comcp::timer clock(co_await asio::this_coro::executor);
        co_await clock.wait_for(50ms);
        co_return "waited";
    }
};

/// Runs the loop until `done`.
template <class Condition>
void until(asio::io_context& io, const Condition& done)
{
    const auto limit = std::chrono::steady_clock::now() + 20s;
    io.restart();
    while (!done() && std::chrono::steady_clock::now() < limit)
        if (io.run_one_until(limit) == 0) io.restart();
    REQUIRE(done());
}

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

inline void run(asio::io_context& io, task<void> work)
{
    bool done = false;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(work), ended{&failure, &done});
    until(io, [&] { return done; });
    if (failure) std::rethrow_exception(failure);
}

/// What an operation fails with.
template <class T>
comcp::fault failure(asio::io_context& io, task<T> work)
{
    struct inner
    {
        static task<void> keep(task<T> operation, comcp::fault& into)
        {
            try {
                co_await std::move(operation);
            } catch (const comcp::error& e) {
                into = e.fault();
            }
        }
    };
    comcp::fault why;
    run(io, inner::keep(std::move(work), why));
    REQUIRE(why.code);
    return why;
}

/// A call beside the test, and how it ended.
class background
{
public:
    background(asio::io_context& io, task<comcp::answer> call)
    {
        asio::co_spawn(io, std::move(call), [this](std::exception_ptr failed, comcp::answer got) {
            done = true;
            try {
                if (failed) std::rethrow_exception(failed);
                text = comcp::to_text(got);
            } catch (const comcp::error& e) {
                why = e.fault();
            }
        });
    }
    background(const background&) = delete;

    bool done = false;
    std::string text;
    comcp::fault why;
};

inline task<std::string> echo(comcp::client& client, std::string text)
{
    auto answer = co_await client.call("echo", comcp::args("text", text));
    co_return comcp::flatten(answer); // whole: to_text would cut it
}

/// Everything that a client does with a server in one session, the client's options offering roots.
inline task<void> everything(comcp::client& client)
{
    co_await client.connect();
    const comcp::tool_list list = co_await client.list_tools();
    CHECK(list.size() == 5);
    std::string said = co_await echo(client, "hello \xC3\xA9\n\"quoted\"");
    CHECK(said == "hello \xC3\xA9\n\"quoted\"");
    std::vector<double> heard;
    comcp::call_options options;
    options.on_progress([&heard](const comcp::progress& p) { heard.push_back(p.value); });
    auto stepped = co_await client.call("steps", {}, options);
    CHECK(comcp::to_text(stepped) == "stepped");
    CHECK(heard == std::vector<double>{1, 2, 3});
    auto asked = co_await client.call("roots");
    CHECK(comcp::to_text(asked) == "file:///here");
    const std::string big(1024 * 1024, 'x');
    said = co_await echo(client, big);
    CHECK((said == big)); // not to be printed
}

inline comcp::client_options with_roots()
{
    comcp::client_options options;
    options.roots({comcp::root("file:///here")});
    return options;
}

inline const comcp::identity me("tester", "1");

} // namespace socket_world
