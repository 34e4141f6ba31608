// SPDX-License-Identifier: MIT
// What a server asks and tells a client: its requests, progress, logs, and batches.
#include "script.hpp"

#include <algorithm>
#include <fstream>
#include <string>

using namespace script;

namespace
{

comcp::task<json::object> fixed(json::object answer) { co_return answer; }

json::object one(std::string_view key, json::value value)
{
    json::object made;
    made[json::string_view(key.data(), key.size())] = std::move(value);
    return made;
}

std::string error_of(const json::object& answer)
{
    const json::object& error = answer.at("error").get_object();
    return std::to_string(error.at("code").as_int64()) + ' ' + std::string(error.at("message").get_string());
}

std::string log_line(int i)
{
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)" + std::to_string(i) +
           "}}";
}

std::string progress_line(int i)
{
    return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":)" +
           std::to_string(i) + "}}";
}

#if defined(__OPTIMIZE__)
/// The memory of this process.
long resident_kib()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    return 0;
}
#endif

/// A callback's coroutine that takes its time.
comcp::task<void> note_down_slowly(std::vector<double>* seen, double value, int* at_work)
{
    CHECK(++*at_work == 1); // one at a time
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(10ms);
    seen->push_back(value);
    --*at_work;
}

/// What is an answer to a question for the model, whatever more is in it.
json::object echoed(const json::value& what)
{
    return {{"role", "user"}, {"model", "m"}, {"content", json::array()}, {"echo", what}};
}

comcp::task<json::object> answer_later(std::vector<std::string>* ends)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    std::string end = "answered";
    try {
        co_await timer.wait_for(1s);
    } catch (...) {
        end = "cancelled";
    }
    ends->push_back(end);
    json::object answer = echoed(nullptr);
    answer["action"] = "decline";
    co_return answer;
}

const char* const form = R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})";

} // namespace

// ---- requests of the server
// ------------------------------------------------------------------------------------------

TEST_CASE("A client answers what it declared, under the id as it came")
{
    comcp::client_options options;
    options.roots({comcp::root("file:///a", "A"), comcp::root("file:///b")});
    options.on_sampling([](json::object params) { return fixed(echoed(params.at("x"))); });
    options.on_elicitation([](json::object) { return fixed(one("action", "accept")); });
    client_stage s(std::move(options));
    s.peer.ask("\"r\"", "roots/list");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///a","name":"A"},)"
                           R"({"uri":"file:///b"}]}})");
    s.peer.ask("0", "sampling/createMessage", R"({"x":7})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":0,"result":{"role":"user","model":"m","content":[],"echo":7}})");
    s.peer.ask("123456789012345678901234", "elicitation/create", form);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":123456789012345678901234,"result":{"action":"accept"}})");
    s.peer.ask("-7", "ping");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":-7,"result":{}})");
}

TEST_CASE("A client refuses what it did not declare, and unknown methods, and ignores unknown notices [41] [43]")
{
    client_stage s;
    const auto* method =
        GENERATE("roots/list", "sampling/createMessage", "elicitation/create", "x/y", "initialize", "tools/call", "");
    s.peer.ask("5", method, "{}");
    const json::object answer = s.peer.next_object();
    CHECK(answer.at("id").as_int64() == 5);
    CHECK(error_of(answer).starts_with("-32601 "));
    s.peer.note("notifications/unknown", R"({"a":1})");
    s.peer.note("notifications/message");
    s.peer.note("notifications/progress", R"({"progressToken":99,"progress":1})");
    s.peer.note("notifications/progress", R"({"progress":"x"})");
    s.peer.note("notifications/cancelled", R"({"requestId":[]})");
    s.peer.note("notifications/tools/list_changed"); // undeclared, and nobody listens [68]
    CHECK(s.peer.quiet());
    CHECK(s.client.connected());
}

TEST_CASE("The list of tools has changed: the host is told, whether the server declared it or not [68]")
{
    int told = 0;
    comcp::client_options options;
    options.on_tools_changed([&] {
        ++told;
        throw std::runtime_error("a callback's own failure");
    });
    client_stage s(std::move(options));
    s.peer.note("notifications/tools/list_changed");
    s.peer.note("notifications/tools/list_changed", "{}");
    CHECK(told == 2);
    CHECK(s.client.connected());
    CHECK(s.peer.quiet());
}

TEST_CASE("What a handler of the host throws is answered as an error with its id [34]")
{
    comcp::client_options options;
    options.on_sampling([](json::object params) -> comcp::task<json::object> {
        if (params.contains("plain")) throw std::runtime_error("secret");
        if (params.contains("odd")) throw 5;
        throw comcp::request_error(-1, "the user said no");
    });
    client_stage s(std::move(options));
    s.peer.ask("1", "sampling/createMessage", "{}");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"the user said no"}})");
    s.peer.ask("2", "sampling/createMessage", R"({"plain":1})");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the client's handler failed"}})");
    s.peer.ask("3", "sampling/createMessage", R"({"odd":1})");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"the client's handler failed"}})");
    s.peer.ask("4", "sampling/createMessage", "[1]");
    CHECK(error_of(s.peer.next_object()).starts_with("-32602 "));
}

TEST_CASE("A server may cancel its own request, or reuse an id of ours, and it must not reuse its own")
{
    std::vector<std::string> ends;
    comcp::client_options options;
    options.on_sampling([&](json::object) { return answer_later(&ends); });
    client_stage s(std::move(options));
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    s.peer.ask("2", "sampling/createMessage", "{}"); // our call has id 2 as well: another direction, another id (A-4)
    s.peer.ask("2", "sampling/createMessage", "{}");
    CHECK(error_of(s.peer.next_object()).starts_with("-32600 "));
    s.peer.ask("3", "ping"); // a handler at work holds up nothing
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":3,"result":{}})");
    s.peer.note("notifications/cancelled", R"({"requestId":2,"reason":"x"})");
    CHECK(ends == std::vector<std::string>{"cancelled"});
    CHECK(s.peer.quiet()); // no answer to a cancelled request
    asked.reply(R"({"content":[]})");
    CHECK(call.succeeded());
    s.peer.ask("4", "sampling/createMessage", "{}");
    s.advance(1s);
    CHECK(s.peer.next().starts_with(R"({"jsonrpc":"2.0","id":4,"result":{"role":"user",)"));
}

TEST_CASE("Roots can be changed while connected, by a client that declared them")
{
    comcp::client_options options;
    options.roots({});
    client_stage s(std::move(options));
    s.client.set_roots({comcp::root("file:///new")});
    s.settle();
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})");
    s.peer.ask("1", "roots/list");
    CHECK(has(s.peer.next(), "file:///new"));
}

TEST_CASE("A client that declared no roots sends no notice about them [B-6]")
{
    client_stage s;
    s.client.set_roots({comcp::root("file:///new")});
    CHECK(s.peer.quiet());
    s.peer.ask("1", "roots/list");
    CHECK(error_of(s.peer.next_object()).starts_with("-32601 "));
}

TEST_CASE("More requests than the limit are refused at once and may be tried again")
{
    std::vector<std::string> ends;
    comcp::client_options options;
    options.limits.in_flight = 2;
    options.on_elicitation([&](json::object) { return answer_later(&ends); });
    client_stage s(std::move(options));
    for (const char* id : {"1", "2", "3"}) s.peer.ask(id, "elicitation/create", form);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"too many requests",)"
                           R"("data":{"retryable":true}}})");
    s.advance(1s);
    CHECK(s.peer.skip_all() == 2);
}

// ---- batches
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("A client of 2025-03-26 takes batches and gathers its answers [A-8]")
{
    client_stage s(comcp::client_options(), "2025-03-26");
    auto a = s.start(s.client.call("a"));
    auto b = s.start(s.client.call("b"));
    s.peer.skip_all();
    s.peer.say(R"([{"jsonrpc":"2.0","id":3,"result":{"content":[]}}, {"jsonrpc":"2.0","id":2,"result":{"content":[]}},)"
               R"({"jsonrpc":"2.0","method":"notifications/message","params":{}}])");
    CHECK(a.succeeded());
    CHECK(b.succeeded());
    CHECK(s.peer.quiet());
    s.peer.say(R"([{"jsonrpc":"2.0","id":"x","method":"ping"},7,{"jsonrpc":"2.0","id":"y","method":"nope"}])");
    CHECK(s.peer.next() == R"([{"jsonrpc":"2.0","id":"x","result":{}},)"
                           R"({"jsonrpc":"2.0","id":"y","error":{"code":-32601,"message":"no such method"}}])");
    CHECK(s.client.statistics().bad_messages == 1);
}

TEST_CASE("A client of a later revision takes no batches [A-9]")
{
    client_stage s;
    auto a = s.start(s.client.call("a"));
    s.peer.skip_all();
    s.peer.say(R"([{"jsonrpc":"2.0","id":2,"result":{"content":[]}}])");
    CHECK_FALSE(a.done());
    CHECK(s.client.statistics().bad_messages == 1);
    CHECK(s.client.connected());
}

// ---- progress and logs
// -----------------------------------------------------------------------------------------------

TEST_CASE("A plain callback gets every notice of progress, in order, before the answer")
{
    client_stage s;
    std::vector<std::string> seen;
    comcp::call_options options;
    options.on_progress([&](const comcp::progress& p) {
        seen.push_back(std::to_string(p.value) + '/' + std::to_string(p.total.value_or(-1)) + ' ' + p.message);
        throw std::runtime_error("a callback's own failure");
    });
    auto call = s.start(s.client.call("a", comcp::args(), options));
    CHECK(has(s.peer.next(), R"("_meta":{"progressToken":2})"));
    s.peer.say(progress_line(1),
               R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1.5,)"
               R"("total":3,"message":"half"}})",
               R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})", progress_line(9));
    CHECK(seen == std::vector<std::string>{"1.000000/-1.000000 ", "1.500000/3.000000 half"});
    CHECK(call.succeeded());
}

TEST_CASE("A slow callback gets the newest progress only, one at a time, and none after the end")
{
    client_stage s;
    std::vector<double> seen;
    int at_work = 0;
    comcp::call_options options;
    options.on_progress([&](const comcp::progress& p) { return note_down_slowly(&seen, p.value, &at_work); });
    auto call = s.start(s.client.call("a", comcp::args(), options));
    s.peer.skip_all();
    for (int i = 1; i <= 5; ++i) s.peer.say(progress_line(i));
    s.advance(10ms); // 1 is done and 5 has begun
    for (int i = 6; i <= 9; ++i) s.peer.say(progress_line(i));
    s.advance(10ms);
    CHECK(seen == std::vector<double>{1, 5});
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})"); // the answer waits for no callback
    CHECK(call.succeeded());
    s.peer.say(progress_line(10));
    s.advance(1s);
    CHECK(seen == std::vector<double>{1, 5, 9}); // 9 had begun
}

TEST_CASE("A flood of notices before an answer is held by nobody")
{
    comcp::client_options log_options;
    std::vector<double> logs;
    int at_work = 0;
    log_options.on_log([&](const comcp::log_message& m) {
        return note_down_slowly(&logs, static_cast<double>(m.data.as_int64()), &at_work);
    });
    client_stage s(std::move(log_options));
    std::vector<double> seen;
    int progress_at_work = 0;
    comcp::call_options options;
    options.on_progress([&](const comcp::progress& p) { return note_down_slowly(&seen, p.value, &progress_at_work); });
    auto call = s.start(s.client.call("a", comcp::args(), options));
#if defined(__OPTIMIZE__)
    const int flood = 500'000; // of each of the two kinds
    const long before = resident_kib();
#else
    const int flood = 50'000; // with sanitizers the whole million takes more than half a minute
#endif
    for (int i = 1; i <= flood; ++i) {
        s.peer.wire().send(progress_line(i));
        s.peer.wire().send(log_line(i));
        if (i % 1000 == 0) s.settle();
    }
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})");
    CHECK(call.succeeded());
#if defined(__OPTIMIZE__)
    CHECK(resident_kib() - before <= 2048);
#endif
    CHECK(s.client.statistics().received == std::size_t(flood) * 2 + 2); // with both answers
    CHECK(s.client.statistics().dropped_notices >= std::size_t(flood) - 1'000);
    s.advance(1h);
    CHECK(logs.size() + s.client.statistics().dropped_notices == std::size_t(flood));
    CHECK(logs.size() <= 258);
    CHECK(std::is_sorted(logs.begin(), logs.end()));
    CHECK(seen.size() <= 2);
}

TEST_CASE("A plain log callback gets everything in order")
{
    std::vector<std::string> seen;
    comcp::client_options options;
    options.on_log([&](const comcp::log_message& m) {
        std::string data;
        comcp::write_value(data, m.data);
        seen.push_back(std::string(comcp::to_string(m.level)) + ' ' + m.logger + ' ' + data);
    });
    client_stage s(std::move(options));
    s.peer.note("notifications/message", R"({"level":"warning","logger":"db","data":{"a":[1]}})");
    s.peer.note("notifications/message", R"({"level":"unheard","data":"x"})");
    s.peer.note("notifications/message", R"({})");
    CHECK(seen == std::vector<std::string>{R"(warning db {"a":[1]})", R"(info  "x")", "info  null"});
}

TEST_CASE("A slow log callback has a bounded queue: further messages are dropped and counted")
{
    std::vector<double> seen;
    int at_work = 0;
    comcp::client_options options;
    options.limits.notices = 2;
    options.on_log([&](const comcp::log_message& m) {
        return note_down_slowly(&seen, static_cast<double>(m.data.as_int64()), &at_work);
    });
    client_stage s(std::move(options));
    for (int i = 1; i <= 5; ++i) s.peer.say(log_line(i)); // 1 at work, 2 and 3 wait
    CHECK(s.client.statistics().dropped_notices == 2);
    s.advance(30ms);
    CHECK(seen == std::vector<double>{1, 2, 3});
    s.peer.say(log_line(6));
    s.advance(10ms);
    CHECK(seen.back() == 6);
    s.peer.say(log_line(7));
    s.run(s.client.close()); // does not wait for the callback, which is cancelled
    CHECK(seen.back() == 6);
}

TEST_CASE("Logs and progress keep their order when one callback is slow")
{
    std::vector<double> seen;
    int at_work = 0;
    comcp::client_options options;
    options.on_log([&](const comcp::log_message& m) {
        return note_down_slowly(&seen, static_cast<double>(m.data.as_int64()), &at_work);
    });
    client_stage s(std::move(options));
    comcp::call_options call_options;
    call_options.on_progress([&](const comcp::progress& p) { seen.push_back(p.value); });
    auto call = s.start(s.client.call("a", comcp::args(), call_options));
    s.peer.say(progress_line(1), log_line(2), progress_line(3), log_line(4), progress_line(5));
    s.advance(1s);
    REQUIRE(seen.size() == 4);
    CHECK(seen[0] == 1);
    CHECK(seen[1] == 2);
    CHECK(seen[2] == 5); // 3 gave its place to the newer 5
    CHECK(seen[3] == 4);
}

// ---- changed lists and resources -----------------------------------------------------------------------------------

namespace
{

/// A host that lists again whenever the list has changed.
struct lists_again
{
    comcp::client** client;
    comcp::task<void> operator()() const
    {
        auto listing = (*client)->list_tools();
        const comcp::tool_list all = co_await std::move(listing);
        CHECK(all.empty());
    }
};

comcp::task<void> note_down_later(std::vector<std::string>* seen, std::string what)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(10ms);
    seen->push_back(what);
}

std::string updated(std::string_view uri)
{
    return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + std::string(uri) +
           "\"}}";
}

std::string changed(std::string_view list)
{
    return R"({"jsonrpc":"2.0","method":"notifications/)" + std::string(list) + R"(/list_changed"})";
}

} // namespace

TEST_CASE("A burst of 200 changes of the list leads to two lists: one at work, and one more [76]")
{
    comcp::client* client = nullptr;
    comcp::client_options options;
    options.on_tools_changed(lists_again{&client});
    client_stage s(std::move(options));
    client = &s.client;
    for (int i = 0; i < 200; ++i) s.peer.wire().send(changed("tools"));
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    CHECK(s.peer.quiet());
    CHECK(s.client.statistics().dropped_notices == 0);
    s.peer.say(changed("tools"));
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    CHECK(s.peer.quiet());
}

TEST_CASE("Changes of each list have their own callback")
{
    std::vector<std::string> seen;
    comcp::client_options options;
    options.on_tools_changed([&] { seen.push_back("tools"); });
    options.on_resources_changed([&] { seen.push_back("resources"); });
    options.on_prompts_changed([&]() -> comcp::task<void> { return note_down_later(&seen, "prompts"); });
    client_stage s(std::move(options));
    s.peer.say(changed("resources"), changed("prompts"), changed("prompts"), changed("tools"), changed("tools"),
               changed("resources"));
    CHECK(seen == std::vector<std::string>{"resources"}); // the others keep their order behind the slow one
    s.advance(1s);
    CHECK(seen == std::vector<std::string>{"resources", "prompts", "prompts", "tools", "resources"});
}

TEST_CASE("Updates of one resource that wait are one call, and those of many are bounded")
{
    std::vector<std::string> seen;
    comcp::client_options options;
    options.limits.notices = 2;
    options.on_resource_updated([&](const std::string& uri) { return note_down_later(&seen, uri); });
    client_stage s(std::move(options));
    s.peer.say(updated("a:1"), updated("a:2"), updated("a:1"), updated("a:2"), updated("a:3"), updated("a:1"));
    CHECK(s.client.statistics().dropped_notices == 1); // a:3
    s.advance(1s);
    CHECK(seen == std::vector<std::string>{"a:1", "a:2", "a:1"});
    s.peer.say(updated("a:3"));
    s.advance(1s);
    CHECK(seen.back() == "a:3");
}

TEST_CASE("What nobody listens to is held by nobody")
{
    client_stage s;
    for (int i = 0; i < 10; ++i) s.peer.say(updated("a:1"), changed("resources"), changed("prompts"));
    CHECK(s.client.statistics().dropped_notices == 0);
    CHECK(s.peer.quiet());
    CHECK(s.client.connected());
}
