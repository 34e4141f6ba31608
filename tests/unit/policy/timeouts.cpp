// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/policy/timeouts.hpp>

#include "catch.hpp"

#include <vector>

using namespace std::chrono_literals;
using comcp::policy::fixed_timeouts;
using comcp::policy::launcher_aware;

static_assert(comcp::policy::timeouts<launcher_aware>);
static_assert(comcp::policy::timeouts<fixed_timeouts>);
static_assert(!comcp::policy::timeouts<int>);

namespace
{

struct command
{
    std::string program;
    std::vector<std::string> args;
};

comcp::duration connect_time(const command& c) { return launcher_aware().connect({c.program, c.args}); }

} // namespace

TEST_CASE("a launcher that downloads what it runs has three minutes to connect", "[policy]")
{
    const command c = GENERATE(values<command>({
        {"npx", {"-y", "@scope/server"}},
        {"/usr/local/bin/npx", {"server"}},
        {"C:\\Program Files\\nodejs\\npx.cmd", {"server"}},
        {"NPX.CMD", {}},
        {"npx.exe", {}},
        {"uvx", {"tool"}},
        {"bunx", {"tool"}},
        {"bun", {"x", "tool"}},
        {"uv", {"tool", "run", "x"}},
        {"uv", {"--directory", "/x", "run", "server.py"}},
        {"pipx", {"run", "tool"}},
        {"pnpm", {"dlx", "tool"}},
        {"pnpm.cmd", {"--silent", "dlx", "tool"}},
        {"yarn", {"dlx", "tool"}},
        {"npm", {"exec", "tool"}},
        {"npm", {"--yes", "exec", "--", "tool"}},
        {"docker", {"run", "-i", "--rm", "image"}},
        {"docker", {"--context", "other", "run", "image"}},
        {"podman", {"run", "image"}},
        {"deno", {"run", "-A", "npm:server"}},
        {"deno", {"run", "jsr:@x/server"}},
        {"cmd", {"/c", "npx", "-y", "server"}},
        {"C:\\Windows\\System32\\cmd.exe", {"/C", "npx.cmd", "server"}},
    }));
    CAPTURE(c.program, c.args);
    CHECK(connect_time(c) == 3min);
}

TEST_CASE("any other program has 20 seconds to connect", "[policy]")
{
    const command c = GENERATE(values<command>({
        {"", {}},
        {"./greeter", {}},
        {"node", {"npx"}},
        {"/opt/npx/server", {}},
        {"npx-server", {}},
        {"python3", {"-m", "server"}},
        {"npm", {"start"}},
        {"pnpm", {"start"}},
        {"yarn", {}},
        {"pipx", {"list"}},
        {"docker", {"exec", "-i", "box", "server"}},
        {"docker", {}},
        {"deno", {"run", "server.ts"}},
        {"deno", {"npm:server"}},
        {"cmd", {"/c"}},
        {"cmd", {"/c", "server.exe"}},
        {"cmd", {}},
    }));
    CAPTURE(c.program, c.args);
    CHECK(connect_time(c) == 20s);
}

TEST_CASE("a call has 120 seconds in total, and as long when idle", "[policy]")
{
    const launcher_aware times;
    CHECK(times.call({"tools/call", "greet"}).total == 120s);
    CHECK(times.call({"tools/call", "greet"}).idle == 120s);
    CHECK(times.ping() == 10s);
}

TEST_CASE("times can be set, and for ever is spelled out", "[policy]")
{
    launcher_aware times;
    times.launcher_within(5min).connect_within(1s).call_within(30s, 5s).ping_within(2s);
    const std::vector<std::string> none;
    CHECK(times.connect({"npx", none}) == 5min);
    CHECK(times.connect({"x", none}) == 1s);
    CHECK(times.call({}).total == 30s);
    CHECK(times.call({}).idle == 5s);
    CHECK(times.ping() == 2s);

    fixed_timeouts fixed;
    fixed.connect_within(7s).call_within(comcp::no_limit);
    CHECK(fixed.connect({"npx", none}) == 7s);
    CHECK(fixed.call({}).total == comcp::no_limit);
    CHECK(fixed.call({}).idle == comcp::no_limit);
}

TEST_CASE("a time limit of zero or less is refused and changes nothing", "[policy]")
{
    launcher_aware times;
    const auto refused = [](auto set) {
        try {
            set();
        } catch (const comcp::error& e) {
            return e.code() == comcp::errc::invalid_argument;
        }
        return false;
    };
    CHECK(refused([&] { times.connect_within(0s); }));
    CHECK(refused([&] { times.launcher_within(0s); }));
    CHECK(refused([&] { times.call_within(0s); }));
    CHECK(refused([&] { times.call_within(1s, 0s); }));
    CHECK(refused([&] { times.ping_within(-1s); }));
    CHECK(times.call({}).total == 120s);
    CHECK(times.ping() == 10s);
}
