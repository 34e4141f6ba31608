// SPDX-License-Identifier: MIT
#include <comcp/timer.hpp>

#include "catch.hpp"

#include <limits>
#include <memory>
#include <string>

using namespace std::chrono_literals;

namespace
{

namespace asio = comcp::asio;

comcp::task<void> sleep_three_times(comcp::executor ex, std::string& log)
{
    comcp::timer clock(ex);
    for (char step : {'1', '2', '3'}) {
        co_await clock.wait_for(1s);
        log += step;
    }
}

comcp::task<void> sleep_once(comcp::executor ex, std::string& log)
{
    comcp::timer clock(ex);
    try {
        co_await clock.wait_for(1h);
        log += "woke";
    } catch (const comcp::error& e) {
        log += e.code() == comcp::errc::cancelled ? "cancelled" : "other";
    }
}

comcp::task<void> sleep_for_ever(comcp::executor ex, bool& woke)
{
    comcp::timer clock(ex);
    co_await clock.wait_for(std::chrono::milliseconds::max());
    woke = true;
}

void ignore(std::exception_ptr) {}

} // namespace

TEST_CASE("manual time fires equal deadlines in the order in which they were set", "[timer]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    std::string order;
    std::vector<std::unique_ptr<comcp::timer>> timers;
    for (char name = 'a'; name != 'i'; ++name) {
        timers.push_back(std::make_unique<comcp::timer>(io.get_executor()));
        timers.back()->start(time.now() + 5ms, [&order, name] { order += name; });
    }
    time.advance(4ms);
    CHECK(order.empty());
    time.advance(1ms);
    CHECK(order == "abcdefgh");
}

TEST_CASE("one advance runs a chain of waits to its end", "[timer]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    std::string log;
    asio::co_spawn(io, sleep_three_times(io.get_executor(), log), ignore);
    time.advance(2s);
    CHECK(log == "12");
    time.advance(10s);
    CHECK(log == "123");
}

TEST_CASE("a timer that was cancelled, started anew or destroyed does not fire", "[timer]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    std::string log;
    comcp::timer cancelled(io.get_executor());
    cancelled.start(time.now() + 1ms, [&] { log += "cancelled "; });
    cancelled.cancel();
    comcp::timer moved(io.get_executor());
    moved.start(time.now() + 1ms, [&] { log += "early "; });
    moved.start(time.now() + 2ms, [&] { log += "late "; });
    {
        comcp::timer destroyed(io.get_executor());
        destroyed.start(time.now() + 1ms, [&] { log += "destroyed "; });
    }
    comcp::timer never(io.get_executor());
    never.start(comcp::time_point::max(), [&] { log += "never "; });
    time.advance(100h);
    CHECK(log == "late ");
}

TEST_CASE("an expiry that is already queued is void after a cancel", "[timer]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    bool fired = false;
    comcp::timer second(io.get_executor());
    comcp::timer first(io.get_executor());
    first.start(time.now() + 1ms, [&] { second.cancel(); });
    second.start(time.now() + 1ms, [&] { fired = true; });
    time.advance(1ms);
    CHECK_FALSE(fired);
}

TEST_CASE("a wait in a coarser unit saturates instead of overflowing", "[timer]")
{
    using comcp::detail::clamped;
    constexpr auto most = comcp::duration::max();
    static_assert(clamped(std::chrono::milliseconds::max()) == most);
    static_assert(clamped(std::chrono::hours(1'000'000'000)) == most);
    static_assert(clamped(std::chrono::duration<int, std::milli>(2'000'000'000)) == 2'000'000'000ms);
    static_assert(clamped(std::chrono::duration<unsigned, std::ratio<1>>(4'000'000'000U)) == 4'000'000'000s);
    static_assert(clamped(std::chrono::duration<double>(0.5)) == 500ms);
    static_assert(clamped(std::chrono::duration<double>(1e300)) == most);
    static_assert(clamped(std::chrono::milliseconds::min()) == 0s);
    CHECK(clamped(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())) == most);
    // At the bound: the last millisecond that the clock can tell, and one more.
    const auto last = std::chrono::duration_cast<std::chrono::milliseconds>(most);
    CHECK(clamped(last - 1ms) == comcp::duration(last - 1ms));
    CHECK(clamped(last + 1ms) == most);

    asio::io_context io;
    comcp::manual_time time(io);
    bool woke = false;
    asio::co_spawn(io, sleep_for_ever(io.get_executor(), woke), ignore);
    time.advance(100h);
    CHECK_FALSE(woke);
}

TEST_CASE("a cancelled wait throws errc::cancelled", "[timer]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    std::string log;
    asio::cancellation_signal signal;
    asio::co_spawn(io, sleep_once(io.get_executor(), log), asio::bind_cancellation_slot(signal.slot(), ignore));
    time.settle();
    signal.emit(asio::cancellation_type::terminal);
    time.settle();
    CHECK(log == "cancelled");
}

TEST_CASE("a timer may outlive its context, and a waiting coroutine dies with it", "[timer]")
{
    auto io = std::make_unique<asio::io_context>();
    comcp::timer outlives(io->get_executor());
    bool fired = false;
    outlives.start(outlives.now() + 1h, [&] { fired = true; });
    std::string log;
    asio::co_spawn(*io, sleep_once(io->get_executor(), log), ignore);
    io->poll();
    io.reset();
    outlives.start(outlives.now(), [&] { fired = true; });
    outlives.cancel();
    CHECK_FALSE(fired);
    CHECK(log.empty());
}

TEST_CASE("the steady clock drives timers when no manual time was made", "[timer]")
{
    asio::io_context io;
    comcp::timer clock(io.get_executor());
    const auto before = clock.now();
    comcp::time_point fired{};
    clock.start(before + 2ms, [&] { fired = clock.now(); });
    io.run();
    CHECK(fired - before >= 2ms);
}
