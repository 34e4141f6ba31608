// SPDX-License-Identifier: MIT
// Each slot of the policy bundle replaced, with and without state.
#include "script.hpp"

using namespace script;

namespace
{

/// Remembers what it was asked; each tool has its own time.
struct asked_timeouts
{
    std::shared_ptr<std::vector<std::string>> asked = std::make_shared<std::vector<std::string>>();
    comcp::duration slow_tool = 1s;

    comcp::duration connect(const comcp::launch_facts& launch) const
    {
        asked->push_back("connect " + std::string(launch.program));
        return 3s;
    }
    comcp::call_timeouts call(const comcp::call_facts& call) const
    {
        asked->push_back(std::string(call.method) + ' ' + std::string(call.tool));
        const comcp::duration time = call.tool == "slow" ? slow_tool : comcp::duration(100ms);
        return {time, time};
    }
    comcp::duration ping() const { return 50ms; }
};
struct own_timeouts : comcp::default_policy
{
    using timeouts = asked_timeouts;
};

struct rejecting : comcp::default_policy
{
    using output_cap = comcp::policy::reject;
};

/// A cap with a state that is not trivially copyable.
struct loud_cap
{
    std::string prefix = "!";
    std::shared_ptr<int> used = std::make_shared<int>(0);
    comcp::result<std::string> apply(std::string text) const
    {
        ++*used;
        return prefix + text;
    }
};
struct loud : comcp::default_policy
{
    using output_cap = loud_cap;
};

struct recorder
{
    std::shared_ptr<std::vector<std::string>> seen = std::make_shared<std::vector<std::string>>();
    void on_send(std::string_view text) { seen->push_back("> " + std::string(text)); }
    void on_receive(std::string_view text) { seen->push_back("< " + std::string(text)); }
    void on_bad_message(std::string_view why, std::string_view text)
    {
        seen->push_back("bad " + std::string(why) + ": " + std::string(text));
    }
    void on_dropped_notice(std::size_t count) { seen->push_back("dropped " + std::to_string(count)); }
    void on_late_answer(std::string_view id) { seen->push_back("late " + std::string(id)); }
    void on_closed(const comcp::fault& why) { seen->push_back("closed " + why.text); }
};
struct observed : comcp::default_policy
{
    using observer = recorder;
};

/// Only one hook.
struct closing_observer
{
    int* closed = nullptr;
    void on_closed(const comcp::fault&) { ++*closed; }
};
struct closing_observed : comcp::default_policy
{
    using observer = closing_observer;
};

/// The default policy, as for a server that npx starts.
struct npx_times : comcp::policy::launcher_aware
{
    comcp::duration connect(const comcp::launch_facts&) const
    {
        const std::vector<std::string> words{"-y", "@scope/server"};
        return launcher_aware::connect({"npx", words});
    }
};
struct launched : comcp::default_policy
{
    using timeouts = npx_times;
};

} // namespace

TEST_CASE("A policy of timeouts is asked with the facts of each operation, and obeyed")
{
    comcp::policy_state<own_timeouts> state;
    state.timeouts.slow_tool = 500ms;
    const auto asked = state.timeouts.asked;
    basic_client_stage<own_timeouts> s(comcp::client_options(), "2025-11-25", state);
    auto quick = s.start(s.client.call("quick"));
    auto slow = s.start(s.client.call("slow"));
    auto list = s.start(s.client.list_tools());
    auto request = s.start(s.client.request("x/y"));
    auto ping = s.start(s.client.ping());
    CHECK(*asked == std::vector<std::string>{"connect ", "tools/call quick", "tools/call slow", "tools/list ", "x/y "});
    s.advance(50ms);
    CHECK(ping.failed_with(errc::timed_out));
    s.advance(50ms);
    CHECK(quick.failed_with(errc::timed_out));
    CHECK(list.failed_with(errc::timed_out));
    CHECK(request.failed_with(errc::timed_out));
    s.advance(399ms);
    CHECK_FALSE(slow.done());
    s.advance(1ms);
    CHECK(slow.failed_with(errc::timed_out));
}

TEST_CASE("A policy's connect time bounds the handshake")
{
    basic_client_stage<own_timeouts> s(comcp::client_options(), "");
    auto connecting = s.start(s.client.connect());
    s.advance(3s);
    CHECK(connecting.failed_with(errc::timed_out));
}

TEST_CASE("A server that its launcher installs first has minutes for that, whatever the time of calls is [28]")
{
    comcp::policy_state<launched> state;
    state.timeouts.call_within(1s);
    basic_client_stage<launched> s(comcp::client_options(), "", state);
    auto connecting = s.start(s.client.connect());
    const heard hello = s.peer.expect("initialize");
    s.advance(40s);
    CHECK_FALSE(connecting.done());
    CHECK(s.peer.quiet()); // nor is it asked again
    SECTION("and is connected")
    {
        hello.reply(welcome());
        CHECK(connecting.succeeded());
    }
    SECTION("and not for ever")
    {
        s.advance(140s - 1ms);
        CHECK_FALSE(connecting.done());
        s.advance(1ms);
        CHECK(connecting.failed_with(errc::timed_out));
    }
}

TEST_CASE("A cap that rejects makes an error out of a long text, and leaves the result alone")
{
    comcp::policy_state<rejecting> state;
    state.output_cap = comcp::policy::reject(5);
    basic_client_stage<rejecting> s(comcp::client_options(), "2025-11-25", state);
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call").reply(text_result("123456"));
    CHECK(*call.value().content.at(0).as_text() == "123456");
    try {
        comcp::to_text(call.value());
        FAIL("not rejected");
    } catch (const comcp::error& e) {
        CHECK(e.code() == errc::too_large);
        CHECK(has(e.text(), "6"));
        CHECK(has(e.text(), "5"));
    }
    auto fits = s.start(s.client.call("a"));
    s.peer.expect("tools/call").reply(text_result("12345"));
    CHECK(comcp::to_text(fits.value()) == "12345");
}

TEST_CASE("An output cap with a state of its own is used by every answer, beyond the client's life")
{
    comcp::policy_state<loud> state;
    state.output_cap.prefix = "loud: ";
    const auto used = state.output_cap.used;
    comcp::answer kept;
    {
        basic_client_stage<loud> s(comcp::client_options(), "2025-11-25", state);
        auto call = s.start(s.client.call("a"));
        s.peer.expect("tools/call").reply(text_result("x"));
        kept = call.value();
    }
    CHECK(comcp::to_text(kept) == "loud: x");
    CHECK(*used == 1);
}

TEST_CASE("An observer sees everything that a client sends, gets and cannot use")
{
    comcp::policy_state<observed> state;
    const auto seen = state.observer.seen;
    comcp::client_options options;
    options.limits.notices = 1;
    options.on_log([](const comcp::log_message&) -> comcp::task<void> {
        comcp::timer timer(co_await asio::this_coro::executor);
        co_await timer.wait_for(1h);
    });
    basic_client_stage<observed> s(std::move(options), "2025-11-25", state);
    CHECK(seen->size() == 3); // initialize, its answer, initialized
    seen->clear();
    auto call = s.start(s.client.call("a", comcp::args(), comcp::call_options().timeout(1ms)));
    s.advance(1ms);
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{}})");
    s.peer.say("noise");
    for (int i = 0; i < 3; ++i) s.peer.note("notifications/message", "{}");
    s.run(s.client.close());
    std::string all;
    for (const std::string& each : *seen) all += each + '\n';
    INFO(all);
    CHECK(has((*seen)[0], "> {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\""));
    CHECK(has((*seen)[1], "> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\""));
    CHECK((*seen)[2] == R"(< {"jsonrpc":"2.0","id":2,"result":{}})");
    CHECK((*seen)[3] == "late 2");
    CHECK((*seen)[4] == "< noise");
    CHECK(has((*seen)[5], "bad "));
    CHECK(has((*seen)[5], ": noise"));
    CHECK(has(all, "dropped 1\n"));
    CHECK(seen->back() == "closed the session was closed");
    CHECK(seen->size() == 11); // 6, three notices and one drop, the end
}

TEST_CASE("An observer sees what a server says, batches too")
{
    comcp::policy_state<observed> state;
    const auto seen = state.observer.seen;
    basic_server_stage<observed> s(comcp::server_options(), state);
    s.begin("2025-03-26");
    seen->clear();
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
    REQUIRE(seen->size() == 2);
    CHECK((*seen)[1] == R"(> [{"jsonrpc":"2.0","id":1,"result":{}}])");
    s.peer.hang_up();
    CHECK(has(seen->back(), "closed"));
}

TEST_CASE("An observer with one hook is told of one end, once, also when client or server just die")
{
    int client_closed = 0;
    int server_closed = 0;
    {
        comcp::policy_state<closing_observed> state;
        state.observer.closed = &client_closed;
        basic_client_stage<closing_observed> s(comcp::client_options(), "2025-11-25", state);
    }
    CHECK(client_closed == 1);
    {
        comcp::policy_state<closing_observed> state;
        state.observer.closed = &server_closed;
        basic_server_stage<closing_observed> s(comcp::server_options(), state);
        s.begin();
        s.server.close();
        s.settle();
        CHECK(server_closed == 1);
    }
    CHECK(server_closed == 1);
}
