// SPDX-License-Identifier: MIT
// A server that ends the connection of a call which goes on, so that its client comes back for the answer (E-36).
#include "http_service_script.hpp"

using namespace script::hosted;

namespace
{

/// Ends its connection, says "1" after a second, and answers after two.
comcp::task<std::string> parts(comcp::context ctx)
{
    ctx.close_stream();
    co_await wait_for(1s);
    ctx.log(comcp::log_level::info, "1");
    co_await wait_for(1s);
    co_return "at last";
}

std::string logged(std::string_view text)
{
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")" +
           std::string(text) + R"("}})";
}

const std::vector<std::string> all = {logged("1"), text_answer("1", "at last")};

} // namespace

TEST_CASE("A handler ends its connection behind an event with an id, and the client comes back for the answer [E-36]")
{
    service_stage s(comcp::http_service_options().retry(1500ms));
    s.server->tool("part", "", parts);
    s.begin();
    auto call = s.post(call_text("1", "part"));
    const std::string id = call.stream().ids().at(0);
    CHECK(call.stream().text() == "retry: 1500\n\nid: " + id + "\ndata: \n\n");
    CHECK(call.stream().ended());
    CHECK(s.service->streams() == 0);
    CHECK(s.service->sessions() == 1);

    SECTION("before the answer")
    {
        auto again = s.get(id);
        CHECK(again.stream().messages().empty());
        CHECK_FALSE(again.stream().ended());
        s.advance(2s);
        CHECK(again.stream().messages() == all);
        CHECK(again.stream().ended());
    }
    SECTION("after the answer")
    {
        s.advance(10min);
        auto again = s.get(id);
        CHECK(again.stream().messages() == all);
        CHECK(again.stream().ended());
    }
    SECTION("twice, when the connection breaks in between")
    {
        auto again = s.get(id);
        s.advance(1s);
        const auto ids = again.stream().ids();
        CHECK(again.stream().messages() == std::vector{all[0]});
        again.stream().leave();
        s.advance(1s);
        CHECK(s.get(ids.back()).stream().messages() == std::vector{all[1]});
    }
    SECTION("never: the call runs on, and its session ends like any other")
    {
        CHECK(s.end().status() == 204);
        CHECK(s.service->sessions() == 0);
    }
    CHECK(s.service->streams() == 0);
}

TEST_CASE("A handler says when the client is to come back, and may do so again")
{
    service_stage s(comcp::http_service_options().retry(1500ms));
    s.server->tool("part", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.close_stream(250ms);
        ctx.close_stream(1ms); // nobody is there any more
        co_await wait_for(1s);
        ctx.close_stream(20s);
        co_return "at last";
    });
    s.begin();
    auto call = s.post(call_text("1", "part"));
    const std::string id = call.stream().ids().at(0);
    CHECK(call.stream().text() == "retry: 1500\n\nid: " + id + "\ndata: \n\nretry: 250\n\n");
    CHECK(call.stream().ended());
    auto again = s.get(id);
    CHECK(again.stream().text().empty());
    s.advance(1s);
    CHECK(again.stream().text() == "retry: 20000\n\n");
    CHECK(again.stream().ended());
    CHECK(s.get(id).stream().messages() == std::vector{text_answer("1", "at last")});
}

TEST_CASE("What was said before the connection ends still goes out, however slowly it is read")
{
    service_stage s;
    s.server->tool("part", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.log(comcp::log_level::info, "1");
        ctx.close_stream();
        ctx.log(comcp::log_level::info, "2");
        co_await wait_for(1s);
        co_return "at last";
    });
    s.begin();
    auto call = s.post(call_text("1", "part"));
    SECTION("the client reads all of it")
    {
        s.advance(1s);
        const std::string text = call.stream().piece();
        CHECK(stream_reader::messages_of(text) == std::vector{logged("1")});
        CHECK(call.stream().piece().empty());
        CHECK(call.stream().ended());
    }
    SECTION("the client has come back before that")
    {
        REQUIRE(call.done());
        auto next = s.post(call_text("2", "part"));
        std::string id = next.stream().ids().at(0); // of the second stream
        id.replace(id.find('-'), id.npos, "-1-1");
        auto again = s.get(id);
        CHECK(call.stream().text().empty());
        CHECK(call.stream().ended());
        s.advance(1s);
        CHECK(again.stream().messages() == std::vector{logged("1"), logged("2"), text_answer("1", "at last")});
        CHECK(again.stream().ended());
    }
    CHECK(s.service->streams() == 0);
}

TEST_CASE("A request to the client waits until it comes back")
{
    service_stage s;
    s.server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.close_stream();
        const auto roots = co_await ctx.list_roots();
        co_return roots.at(0).uri;
    });
    s.begin("2025-11-25", R"({"roots":{}})");
    auto call = s.post(call_text("1", "ask"));
    const std::string id = call.stream().ids().at(0);
    CHECK(call.stream().ended());
    auto again = s.get(id);
    REQUIRE(again.stream().messages().size() == 1);
    const json::object asked = parse(again.stream().messages()[0]);
    CHECK(asked.at("method") == "roots/list");
    const std::string asked_id = std::to_string(asked.at("id").as_int64());
    CHECK(s.post(answer_text(asked_id, R"({"roots":[{"uri":"file:///here"}]})")).status() == 202);
    CHECK(again.stream().messages().back() == text_answer("1", "file:///here"));
    CHECK(again.stream().ended());
}

TEST_CASE("The connection stays where the client could not come back")
{
    // Before 2025-11-25, which does not have it, and without resumption.
    const std::string version = GENERATE("2025-03-26", "2025-06-18", "2025-11-25");
    service_stage s(comcp::http_service_options().resumable(version != "2025-11-25"));
    s.server->tool("part", "", parts);
    s.begin(version);
    auto call = s.post(call_text("1", "part"));
    s.advance(2s);
    CHECK(call.stream().messages() == all);
    CHECK(call.stream().ended());
    CHECK_FALSE(has(call.stream().text(), "retry"));
}

TEST_CASE("Where the answer can only come whole, ending the connection changes nothing")
{
    service_stage s;
    s.server->tool("part", "", parts);
    s.begin();
    http::request what = s.client.make("POST", call_text("1", "part"));
    what.whole_answer = true;
    auto call = s.send(std::move(what));
    CHECK_FALSE(call.done());
    s.advance(2s);
    CHECK(call.body() == text_answer("1", "at last"));
}

TEST_CASE("A handler on another executor ends its connection too, and one whose call was answered ends nothing")
{
    comcp::manual_executor elsewhere;
    service_stage s;
    s.server->handlers_on(elsewhere.executor());
    std::optional<comcp::context> kept;
    s.server->tool("part", "", comcp::blocking([&](comcp::context& ctx) {
                       ctx.close_stream();
                       kept = ctx;
                       return std::string("at last");
                   }));
    s.begin();
    auto call = s.post(call_text("1", "part"));
    CHECK_FALSE(call.done());
    while (elsewhere.pump(1) > 0) s.settle();
    s.settle();
    CHECK(call.done());
    kept->close_stream();
    while (elsewhere.pump(1) > 0) s.settle();
    const std::string id = call.stream().ids().at(0);
    CHECK(call.stream().messages().empty());
    CHECK(call.stream().ended());
    CHECK(s.get(id).stream().messages() == std::vector{text_answer("1", "at last")});
}
