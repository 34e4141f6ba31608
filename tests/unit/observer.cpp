// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/observer.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

namespace
{

struct all_hooks
{
    std::vector<std::string> seen;

    void on_send(std::string_view text) { seen.push_back("send " + std::string(text)); }
    void on_receive(std::string_view text) { seen.push_back("receive " + std::string(text)); }
    void on_bad_message(std::string_view why, std::string_view text)
    {
        seen.push_back("bad " + std::string(why) + ' ' + std::string(text));
    }
    void on_dropped_notice(std::size_t count) { seen.push_back("dropped " + std::to_string(count)); }
    void on_late_answer(std::string_view id) { seen.push_back("late " + std::string(id)); }
    void on_handler_failed(std::string_view id, std::string_view why)
    {
        seen.push_back("failed " + std::string(id) + ' ' + std::string(why));
    }
    void on_closed(const comcp::fault& why) { seen.push_back("closed " + why.text); }
};

struct one_hook
{
    int sent = 0;
    void on_send(std::string_view) { ++sent; }
};

void use_all(comcp::observer_ref observer)
{
    observer.send("a");
    observer.receive("b");
    observer.bad_message("c", "d");
    observer.dropped_notice(5);
    observer.late_answer("6");
    observer.handler_failed("7", "h");
    observer.closed(comcp::fail(comcp::errc::closed, "g"));
}

} // namespace

TEST_CASE("an observer gets every hook that it has", "[observer]")
{
    all_hooks observer;
    const comcp::observer_ref ref(observer);
    use_all(ref);
    CHECK(observer.seen ==
          std::vector<std::string>{"send a", "receive b", "bad c d", "dropped 5", "late 6", "failed 7 h", "closed g"});
    CHECK(ref.wants_bad_message());
    CHECK(ref.wants_late_answer());
}

TEST_CASE("hooks that an observer does not have are not called", "[observer]")
{
    one_hook observer;
    const comcp::observer_ref ref(observer);
    use_all(ref);
    CHECK(observer.sent == 1);
    CHECK_FALSE(ref.wants_bad_message());
    CHECK_FALSE(ref.wants_late_answer());

    use_all(comcp::observer_ref());
    comcp::null_observer none;
    use_all(comcp::observer_ref(none));
}
