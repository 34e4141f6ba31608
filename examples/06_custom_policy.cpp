// SPDX-License-Identifier: MIT
//
// Policies choose how a client behaves: inherit the default bundle and replace a name. A policy may have state: it is
// passed in. The compiler says in one line what a policy lacks.
// expect: ^one.no answer within the time limit.[1-9][0-9]+ bytes sent.$
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <iostream>

using namespace std::chrono_literals;

/// More time for one tool than for the others.
struct patient : comcp::policy::fixed_timeouts
{
    comcp::call_timeouts call(const comcp::call_facts& facts) const
    {
        if (facts.tool == "slow") return {10min, 10min};
        return fixed_timeouts::call(facts);
    }
};

/// The model gets the first line only.
struct first_line
{
    comcp::result<std::string> apply(std::string text) const { return text.substr(0, text.find('\n')); }
};

/// Counts what is sent; it has none of the other hooks, and they cost nothing.
struct meter
{
    std::size_t* bytes = nullptr;
    void on_send(std::string_view text) { *bytes += text.size(); }
};

struct my_policy : comcp::default_policy
{
    using timeouts = patient;
    using output_cap = first_line;
    using observer = meter;
};
using my_client = comcp::basic_client<my_policy>;

comcp::task<void> use(comcp::server& server)
{
    const auto here = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(here);
    comcp::asio::co_spawn(here, server.serve(std::move(pipe.second)), comcp::asio::detached);

    std::size_t bytes = 0;
    comcp::policy_state<my_policy> state;
    state.observer.bytes = &bytes;
    state.timeouts.call_within(100ms);
    my_client client(std::move(pipe.first), comcp::identity("example", "1.0.0"), {}, state);
    co_await client.connect();
    const auto slow = co_await client.call("slow"); // takes longer than 100 ms, and may
    const auto hung = co_await comcp::as_result(client.call("hang"));
    co_await client.close();

    std::cout << comcp::to_text(slow) << '\n' << hung.error().text << '\n' << bytes << " bytes sent\n";
    if (comcp::to_text(slow) != "one" || hung.error().code != comcp::errc::timed_out || bytes == 0)
        throw std::runtime_error("that was not expected");
}

comcp::task<std::string> wait_then_answer(comcp::duration time)
{
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return "one\ntwo\nthree";
}

int main()
{
    comcp::server server("example", "1.0.0");
    server.tool("slow", "Answers after a while", [] { return wait_then_answer(200ms); });
    server.tool("hang", "Does not answer", [] { return wait_then_answer(1h); });
    return comcp::run(use(server));
}
