// SPDX-License-Identifier: MIT
// Accepting on real sockets, with the time of its pauses in the test's hand.
#include "catch.hpp"
#include "raw_client.hpp"

#include <comcp/timer.hpp>
#include <comcp/transport/acceptor.hpp>

#include <chrono>
#include <memory>
#include <new>
#include <vector>

using namespace std::chrono_literals;
using support::raw_client;
namespace asio = comcp::asio;

namespace
{

/// Takes connections, or has no memory for them.
class sink final : public comcp::detail::accept_sink
{
public:
    explicit sink(comcp::executor ex) : executor_(std::move(ex)) {}

    comcp::executor next_home() override { return executor_; }
    void accepted(comcp::stream_socket peer) override
    {
        ++attempts;
        if (refuses) throw std::bad_alloc();
        taken.push_back(std::move(peer));
    }
    void accepting_ended() noexcept override { ++ends; }

    bool refuses = true;
    int attempts = 0;
    int ends = 0;
    std::vector<comcp::stream_socket> taken;

private:
    comcp::executor executor_;
};

} // namespace

TEST_CASE("Accepting that fails is tried again after 10 ms, then twice as long up to 1 s, and never given up")
{
    asio::io_context io(1);
    comcp::manual_time time(io);
    const auto lot = comcp::detail::make_parking_lot(io.get_executor());
    const auto taker = std::make_shared<sink>(io.get_executor());
    comcp::detail::acceptor sockets(io.get_executor(), *lot, 64);
    REQUIRE(sockets.bind("127.0.0.1", 0).has_value());
    const std::uint16_t port = sockets.endpoints().at(0).port();
    std::vector<raw_client> clients;
    for (int i = 0; i < 16; ++i) clients.emplace_back(port); // they wait to be accepted
    sockets.start(taker);
    time.settle();
    CHECK(taker->attempts == 1);

    const auto next_after = [&](comcp::duration wait) {
        const int before = taker->attempts;
        time.advance(wait - 1ns);
        CHECK(taker->attempts == before);
        time.advance(1ns);
        CHECK(taker->attempts == before + 1);
    };
    for (const comcp::duration wait : {10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms}) next_after(wait);
    for (int i = 0; i < 3; ++i) next_after(1s);
    CHECK(sockets.running());

    taker->refuses = false;
    const int before = taker->attempts;
    time.advance(1s);
    CHECK(taker->taken.size() == 5); // all that are left, at once
    CHECK(taker->attempts == before + 5);
    taker->refuses = true;
    clients.emplace_back(port);
    clients.emplace_back(port);
    clients.emplace_back(port);
    time.settle();
    CHECK(taker->attempts == before + 6);
    next_after(10ms); // a success begins anew
    next_after(20ms);

    CHECK(taker->ends == 0);
    sockets.stop();
    sockets.resume();
    time.settle();
    CHECK(taker->ends == 1);
    CHECK_FALSE(sockets.running());
}
