// SPDX-License-Identifier: MIT
#include <comcp/session/deadlines.hpp>

#include "catch.hpp"

#include <memory>
#include <string>

using namespace std::chrono_literals;
using comcp::detail::deadline;
using comcp::detail::deadline_queue;

namespace
{

namespace asio = comcp::asio;

struct logged final : deadline
{
    logged(std::string& to, char as) : log(to), name(as) {}
    void expired() override
    {
        log += name;
        if (then) then();
    }
    std::string& log;
    char name;
    std::function<void()> then;
};

} // namespace

TEST_CASE("deadlines of several lengths expire at their time", "[deadlines]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    deadline_queue queue(io.get_executor());
    std::string log;
    logged a(log, 'a'), b(log, 'b'), c(log, 'c');
    queue.set(a, 30ms, queue.now());
    queue.set(b, 10ms, queue.now());
    time.advance(5ms);
    queue.set(c, 10ms, queue.now());
    time.advance(4ms);
    CHECK(log.empty());
    time.advance(1ms);
    CHECK(log == "b");
    time.advance(5ms);
    CHECK(log == "bc");
    time.advance(1h);
    CHECK(log == "bca");
}

TEST_CASE("a deadline that is cleared, set anew or destroyed does not expire at its old time", "[deadlines]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    deadline_queue queue(io.get_executor());
    std::string log;
    logged cleared(log, 'x'), moved(log, 'm'), forever(log, 'f');
    queue.set(cleared, 10ms, queue.now());
    cleared.clear();
    CHECK_FALSE(cleared.set());
    queue.set(moved, 10ms, queue.now());
    queue.set(moved, 20ms, queue.now());
    queue.set(forever, comcp::no_limit, queue.now());
    CHECK_FALSE(forever.set());
    {
        logged gone(log, 'g');
        queue.set(gone, 10ms, queue.now());
    }
    time.advance(10ms);
    CHECK(log.empty());
    time.advance(1000h);
    CHECK(log == "m");
}

TEST_CASE("an expiry may set and clear deadlines, its own too, and destroy the queue", "[deadlines]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    auto queue = std::make_unique<deadline_queue>(io.get_executor());
    std::string log;
    logged again(log, 'a'), other(log, 'o'), last(log, 'l');
    int rounds = 0;
    again.then = [&] {
        if (++rounds < 3) queue->set(again, 10ms, queue->now());
        other.clear();
    };
    queue->set(again, 10ms, queue->now());
    queue->set(other, 10ms, queue->now());
    last.then = [&] { queue.reset(); };
    queue->set(last, 50ms, queue->now());
    time.advance(1s);
    CHECK(log == "aaal");
    CHECK(queue == nullptr);
    CHECK_FALSE(again.set());
}

TEST_CASE("many deadlines of many lengths expire in order of time", "[deadlines]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    deadline_queue queue(io.get_executor());
    std::string log;
    std::vector<std::unique_ptr<logged>> all;
    for (int i = 0; i != 26; ++i) {
        all.push_back(std::make_unique<logged>(log, static_cast<char>('a' + i)));
        queue.set(*all.back(), 1ms * (i + 1), queue.now());
    }
    time.advance(30ms);
    CHECK(log == "abcdefghijklmnopqrstuvwxyz");
}
