// SPDX-License-Identifier: MIT
// Resources as a client uses them: lists and templates, reading, subscriptions and their notices.
#include "script.hpp"

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#else
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_future.hpp>
#endif

using namespace script;

namespace
{

/// Races a reading with a timer, as users write it.
comcp::task<bool> read_in_time(comcp::client& client, comcp::duration patience)
{
    using namespace asio::experimental::awaitable_operators;
    comcp::timer timer(co_await asio::this_coro::executor);
    auto won = co_await (client.read_resource("a:1") || timer.wait_for(patience));
    co_return won.index() == 0;
}

/// A client of a server that has resources.
struct resource_stage : client_stage
{
    explicit resource_stage(comcp::client_options options = {}, std::string_view version = "2025-11-25",
                            std::string_view capabilities = R"({"resources":{"subscribe":true}})")
        : client_stage(std::move(options), "")
    {
        shake_hands(version, capabilities);
    }
};

std::string updated(std::string_view uri)
{
    return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + std::string(uri) +
           "\"}}";
}

} // namespace

// ---- lists ---------------------------------------------------------------------------------------------------------

TEST_CASE("Resources are listed over all pages, each URI once, and a bad one is left out [G-2] [73]")
{
    resource_stage s;
    auto list = s.start(s.client.list_resources());
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"resources/list","params":{}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"resources":[)"
               R"({"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":5,)"
               R"("annotations":{"audience":["user"],"priority":0.5},"icons":[{"src":"https://x/i.png"}],)"
               R"("_meta":{"m":1},"zzz":[2]},{"uri":7,"name":"bad"},{"name":"no uri"}],"nextCursor":"2"}})");
    const heard second = s.peer.expect("resources/list");
    CHECK(second.params().at("cursor").get_string() == "2");
    second.reply(R"({"resources":[{"uri":"file:///a","name":"again"},{"uri":"custom://b"}]})");
    const comcp::resource_list& all = list.value();
    REQUIRE(all.size() == 2);
    CHECK(all.complete);
    CHECK(all.problems.size() == 2);
    const comcp::resource& a = *all.find("file:///a");
    CHECK(a.name == "a");
    CHECK(a.title == "A");
    CHECK(a.display_name() == "A");
    CHECK(a.description == "d");
    CHECK(a.mime_type == "text/plain");
    CHECK(a.size == 5);
    CHECK(a.annotations->audience == std::vector<std::string>{"user"});
    CHECK(a.icons.at(0).src == "https://x/i.png");
    CHECK(a.meta.at("m").as_int64() == 1);
    CHECK(a.extra.at("zzz").at(0).as_int64() == 2);
    CHECK(all.find("custom://b")->display_name() == "custom://b");
    CHECK_FALSE(all.find("file:///c"));
    CHECK(s.peer.quiet());
}

TEST_CASE("Resource templates are listed over all pages [G-3]")
{
    resource_stage s;
    auto list = s.start(s.client.list_resource_templates());
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"resources/templates/list","params":{}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"resourceTemplates":[{"uriTemplate":"file:///{path}",)"
               R"("name":"files","mimeType":"m/t"}],"nextCursor":""}})");
    const heard second = s.peer.expect("resources/templates/list");
    CHECK(second.params().at("cursor").get_string() == ""); // an empty cursor is one [72]
    second.reply(R"({"resourceTemplates":[{"uriTemplate":"db://{table}/{row}","name":"rows"},{"name":"x"}]})");
    REQUIRE(list.value().size() == 2);
    CHECK(list.value().find("file:///{path}")->mime_type == "m/t");
    CHECK(list.value().find("db://{table}/{row}")->name == "rows");
    CHECK(list.value().problems.size() == 1);
}

TEST_CASE("A list that never ends is stopped at the budgets, whatever its items are [71]")
{
    comcp::client_options options;
    options.limits.pages = 2;
    options.limits.items = 3;
    resource_stage s(std::move(options));
    auto list = s.start(s.client.list_resources());
    SECTION("pages")
    {
        s.peer.expect("resources/list").reply(R"({"resources":[{"uri":"a:1"}],"nextCursor":"1"})");
        s.peer.expect("resources/list").reply(R"({"resources":[{"uri":"a:2"}],"nextCursor":"2"})");
        CHECK(has(list.value().why_partial, "2 pages"));
        CHECK(list.value().size() == 2);
    }
    SECTION("items")
    {
        s.peer.expect("resources/list")
            .reply(R"({"resources":[{"uri":"a:1"},{"uri":"a:2"},{"uri":"a:3"},{"uri":"a:4"}]})");
        CHECK(list.value().why_partial == "more than 3 resources");
        CHECK(list.value().size() == 3);
    }
    SECTION("a cursor that comes again")
    {
        s.peer.expect("resources/list").reply(R"({"resources":[{"uri":"a:1"}],"nextCursor":""})");
        s.peer.expect("resources/list").reply(R"({"resources":[{"uri":"a:1"}],"nextCursor":""})");
        CHECK(has(list.value().why_partial, "repeated"));
        CHECK(list.value().size() == 1);
    }
    CHECK_FALSE(list.value().complete);
    CHECK(s.peer.quiet());
}

TEST_CASE("What a server did not declare is not asked for: the list is empty [65]")
{
    client_stage s; // tools only
    CHECK(s.start(s.client.list_resources()).value().empty());
    CHECK(s.start(s.client.list_resource_templates()).value().empty());
    const auto prompts = s.start(s.client.list_prompts()).value();
    CHECK(prompts.empty());
    CHECK(prompts.complete);
    CHECK(s.peer.quiet());
}

TEST_CASE("A declared list whose method is not there is empty, and one that is malformed is an error [66]")
{
    resource_stage s;
    auto none = s.start(s.client.list_resource_templates());
    s.peer.expect("resources/templates/list").refuse(-32601, "Method not found");
    CHECK(none.value().empty());
    CHECK(none.value().complete);
    auto bad = s.start(s.client.list_resources());
    s.peer.expect("resources/list").reply(R"({"resources":{}})");
    CHECK(bad.failed_with(errc::invalid_message));
    CHECK(has(bad.failure().text, "resources is not an array"));
    auto refused = s.start(s.client.list_resources());
    s.peer.expect("resources/list").refuse(-32603, "broken");
    CHECK(refused.failed_with(errc::refused));
    auto partial = s.start(s.client.list_resources());
    s.peer.expect("resources/list").reply(R"({"resources":[{"uri":"a:1"}],"nextCursor":"1"})");
    s.peer.expect("resources/list").refuse(-32602, "Bad cursor");
    CHECK(partial.value().size() == 1);
    CHECK(has(partial.value().why_partial, "page 2 failed: Bad cursor"));
}

// ---- reading -------------------------------------------------------------------------------------------------------

TEST_CASE("A resource is read: texts and bytes, in any number [G-4]")
{
    resource_stage s;
    auto read = s.start(s.client.read_resource("file:///a \"b\""));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a \"b\""}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"file:///a","mimeType":"text/x","text":"T"},)"
               R"({"uri":"file:///b","blob":"AAE=","_meta":{"m":1}}],"_meta":{"r":2},"zzz":3}})");
    const comcp::resource_result& got = read.value();
    REQUIRE(got.contents.size() == 2);
    CHECK(got.contents[0].uri == "file:///a");
    CHECK(got.contents[0].mime_type == "text/x");
    CHECK(got.contents[0].text == "T");
    CHECK(got.contents[1].bytes() == std::string("\0\1", 2));
    CHECK(got.meta.at("r").as_int64() == 2);
    CHECK(got.oddities.empty());
    CHECK(got.source.empty());
}

TEST_CASE("A resource that does not exist is refused, with either code [G-5]")
{
    const int code = GENERATE(-32002, -32602);
    resource_stage s;
    auto read = s.start(s.client.read_resource("file:///none"));
    s.peer.expect("resources/read").refuse(code, "Resource not found", R"({"uri":"file:///none"})");
    CHECK(read.failed_with(errc::refused));
    CHECK(read.failure().rpc->code == code);
    CHECK(read.failure().method == "resources/read");
    CHECK(read.failure().id == "2");
}

TEST_CASE("A malformed result of a reading is no exception [125]")
{
    const auto* result = GENERATE("{}", R"({"contents":null})", R"({"contents":"x"})", R"({"contents":[null,3]})",
                                  R"({"contents":[{"uri":"a:1"}]})");
    resource_stage s;
    auto read = s.start(s.client.read_resource("a:1"));
    s.peer.expect("resources/read").reply(result);
    CHECK(read.value().contents.empty());
    CHECK_FALSE(read.value().oddities.empty());
}

TEST_CASE("The text of a result is kept where the host wants it [51]")
{
    comcp::client_options options;
    options.keep_source = true;
    resource_stage s(std::move(options));
    auto read = s.start(s.client.read_resource("a:1"));
    s.peer.expect("resources/read").reply(R"({"contents":[],"n":12345678901234567890123})");
    CHECK(read.value().source == R"({"contents":[],"n":12345678901234567890123})");
}

TEST_CASE("An operation has the options of a call: time, progress and _meta [116]")
{
    resource_stage s;
    std::vector<double> seen;
    comcp::call_options options;
    options.timeout(10s).idle_timeout(2s).on_progress([&](const comcp::progress& p) { seen.push_back(p.value); });
    json::object meta;
    meta["progressToken"] = "not this one";
    meta["example.com/trace"] = "t1";
    options.meta(meta);
    auto read = s.start(s.client.read_resource("a:1", options));
    const heard asked = s.peer.expect("resources/read");
    CHECK(asked.params().at("_meta") == json::value({{"progressToken", 2}, {"example.com/trace", "t1"}}));
    s.advance(1500ms);
    s.peer.note("notifications/progress", R"({"progressToken":2,"progress":1})");
    s.advance(1500ms);
    CHECK(seen == std::vector<double>{1});
    CHECK_FALSE(read.done());
    s.advance(500ms);
    CHECK(read.failed_with(errc::timed_out));
    CHECK(read.failure().fate == outcome::unknown);
    s.peer.expect("notifications/cancelled");
}

TEST_CASE("An operation that is cancelled is told to the server")
{
    resource_stage s;
    auto read = s.start(s.client.read_resource("a:1"));
    s.peer.expect("resources/read");
    read.cancel();
    s.settle();
    CHECK(read.failed_with(errc::cancelled));
    CHECK(s.peer.expect("notifications/cancelled").params().at("requestId").as_int64() == 2);
}

TEST_CASE("What a server did not declare fails before it is sent [B-6]")
{
    client_stage s; // tools only
    const auto unsupported = [&](auto started) {
        CHECK(started.failed_with(errc::unsupported));
        CHECK(started.failure().fate == outcome::not_sent);
        return started.failure().method;
    };
    CHECK(unsupported(s.start(s.client.read_resource("a:1"))) == "resources/read");
    CHECK(unsupported(s.start(s.client.subscribe("a:1"))) == "resources/subscribe");
    CHECK(unsupported(s.start(s.client.unsubscribe("a:1"))) == "resources/unsubscribe");
    CHECK(unsupported(s.start(s.client.get_prompt("p"))) == "prompts/get");
    CHECK(unsupported(s.start(s.client.complete(comcp::completion_reference::prompt("p"), "a", ""))) ==
          "completion/complete");
    CHECK(unsupported(s.start(s.client.set_log_level(comcp::log_level::debug))) == "logging/setLevel");
    CHECK(s.peer.quiet());
}

// ---- subscriptions -------------------------------------------------------------------------------------------------

TEST_CASE("A subscription is asked for, told of, and ended [G-6]")
{
    std::vector<std::string> seen;
    comcp::client_options options;
    options.on_resource_updated([&](const std::string& uri) { seen.push_back(uri); });
    resource_stage s(std::move(options));
    auto subscribed = s.start(s.client.subscribe("file:///a"));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///a"}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":2,"result":{}})");
    CHECK(subscribed.succeeded());
    s.peer.say(updated("file:///a"), updated("file:///a/part")); // a part of it: passed on as well
    CHECK(seen == std::vector<std::string>{"file:///a", "file:///a/part"});
    auto unsubscribed = s.start(s.client.unsubscribe("file:///a"));
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"file:///a"}})");
    s.peer.say(R"({"jsonrpc":"2.0","id":3,"result":{}})");
    CHECK(unsubscribed.succeeded());
    s.peer.note("notifications/resources/updated", R"({"uri":5})"); // malformed: ignored
    s.peer.note("notifications/resources/updated");
    CHECK(seen.size() == 2);
}

TEST_CASE("Resources without subscribe cannot be subscribed to")
{
    resource_stage s(comcp::client_options(), "2025-11-25", R"({"resources":{"subscribe":false}})");
    CHECK(s.start(s.client.subscribe("a:1")).failed_with(errc::unsupported));
    CHECK(s.peer.quiet());
}

TEST_CASE("Every revision with a handshake has resources")
{
    for (const auto known : comcp::all_revisions) {
        resource_stage s(comcp::client_options(), comcp::to_string(known));
        auto read = s.start(s.client.read_resource("a:1"));
        s.peer.expect("resources/read").reply(R"({"contents":[{"uri":"a:1","text":"t"}]})");
        CHECK(read.value().contents.at(0).text == "t");
    }
}

// ---- other ways to await -------------------------------------------------------------------------------------------

TEST_CASE("An operation completes into a callback, a future, and beside a timer")
{
    resource_stage s;
    int done = 0;
    asio::co_spawn(s.io, s.client.read_resource("a:1"),
                   [&](std::exception_ptr failure, const comcp::resource_result& got) {
                       done += !failure && got.contents.empty() ? 1 : 100;
                   });
    s.peer.expect("resources/read").reply(R"({"contents":[]})");
    CHECK(done == 1);
    auto subscribed = asio::co_spawn(s.io, s.client.subscribe("a:1"), asio::use_future);
    s.peer.expect("resources/subscribe").refuse(-32002, "no");
    CHECK_THROWS_AS(subscribed.get(), comcp::error);
    auto lost = s.start(read_in_time(s.client, 50ms));
    s.peer.expect("resources/read");
    s.advance(50ms);
    CHECK_FALSE(lost.value());
    s.peer.expect("notifications/cancelled");
    auto won = s.start(read_in_time(s.client, 50ms));
    s.peer.expect("resources/read").after(49ms).reply(R"({"contents":[]})");
    CHECK(won.value());
    CHECK(s.peer.quiet());
}
