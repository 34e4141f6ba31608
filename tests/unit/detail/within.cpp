// SPDX-License-Identifier: MIT
#include "../../scripted/script.hpp"

#include <comcp/detail/within.hpp>

#include <stdexcept>
#include <string>

using namespace script;
using comcp::detail::within;

namespace
{

struct noted
{
    bool* flag;
    ~noted() { *flag = true; }
};

comcp::task<std::string> takes(comcp::duration time, bool& over)
{
    const noted end{&over};
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return "done";
}

comcp::task<void> throws(bool ours)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    co_await asio::post(ex, asio::use_awaitable);
    if (ours) throw comcp::error(comcp::fail(errc::not_found, "nothing there"));
    throw std::runtime_error("broken");
}

} // namespace

TEST_CASE("An operation within its time gives what it gives")
{
    stage s;
    bool over = false;
    auto got = s.start(within(s.executor(), 2s, takes(1s, over)));
    s.advance(1s);
    CHECK(got.value().value() == "done");
    CHECK(over);
}

TEST_CASE("An operation beyond its time is cancelled, and its time is a fault")
{
    stage s;
    bool over = false;
    auto got = s.start(within(s.executor(), 1s, takes(1h, over)));
    CHECK_FALSE(got.done());
    s.advance(1s);
    CHECK(got.value().error().code == errc::timed_out);
    CHECK(over);
}

TEST_CASE("What an operation throws is a fault")
{
    stage s;
    auto ours = s.start(within(s.executor(), 1s, throws(true)));
    CHECK(ours.value().error().code == errc::not_found);
    auto other = s.start(within(s.executor(), 1s, throws(false)));
    CHECK(other.value().error().code == errc::handler_failed);
    CHECK(other.value().error().text == "broken");
}

TEST_CASE("Who waits may be cancelled, and the operation with it")
{
    stage s;
    bool over = false;
    auto got = s.start(within(s.executor(), 1h, takes(1h, over)));
    got.cancel();
    s.settle();
    CHECK(got.failed_with(errc::cancelled));
    CHECK(over);
}

TEST_CASE("A context may die while an operation is waited for")
{
    bool over = false;
    {
        stage s;
        auto got = s.start(within(s.executor(), 1h, takes(1h, over)));
        CHECK_FALSE(got.done());
    }
    CHECK(over);
}
