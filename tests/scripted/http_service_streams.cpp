// SPDX-License-Identifier: MIT
// Streams of a server behind HTTP: a client's own, those that break and are resumed, silence, and readers that stop.
#include "http_service_script.hpp"

#include <algorithm>

using namespace script::hosted;

namespace
{

const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

comcp::http_service_options plain()
{
    comcp::http_service_options options;
    options.resumable(false);
    return options;
}

/// Logs "1", waits a second, logs "2", waits a second and answers.
comcp::task<std::string> counts(comcp::context ctx)
{
    ctx.log(comcp::log_level::info, "1");
    co_await wait_for(1s);
    ctx.log(comcp::log_level::info, "2");
    co_await wait_for(1s);
    co_return "counted";
}

/// Asks the client 40 times, a millisecond apart, without waiting for its answers.
comcp::task<std::string> ask_often(comcp::context ctx)
{
    const auto ex = co_await asio::this_coro::executor;
    for (int i = 0; i < 40; ++i) {
        asio::co_spawn(ex, ctx.list_roots(), [](std::exception_ptr, const std::vector<comcp::root>&) {});
        co_await wait_for(1ms);
    }
    co_await wait_for(1min);
    co_return "asked";
}

std::string logged(std::string_view text)
{
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")" +
           std::string(text) + R"("}})";
}

const std::vector<std::string> counted = {logged("1"), logged("2"), text_answer("1", "counted")};

std::vector<std::string> from(const std::vector<std::string>& all, std::size_t first)
{
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

} // namespace

// ---- a client's own stream -----------------------------------------------------------------------------------------

TEST_CASE("A stream of a GET is there at once and tells of changes [88] [E-33]")
{
    service_stage s;
    s.begin("2025-06-18");
    auto get = s.get();
    REQUIRE(get.done());
    auto& stream = get.stream();
    CHECK(get.field("X-Accel-Buffering") == "no");
    CHECK(stream.text().empty());
    CHECK(s.service->streams() == 1);
    s.server->tool("new", "", [] {});
    CHECK(stream.messages() == std::vector{changed});
    CHECK_FALSE(stream.ended());
    stream.leave();
    CHECK(s.service->streams() == 0);
}

TEST_CASE("What is said while no GET is open waits for one, and is told once")
{
    service_stage s(plain());
    s.begin();
    s.server->tool("a", "", [] {});
    s.settle();
    s.server->tool("b", "", [] {});
    s.settle();
    auto first = s.get();
    CHECK(first.stream().messages() == std::vector{changed, changed});
    first.stream().leave();
    auto second = s.get();
    CHECK(second.stream().messages().empty());
    s.server->tool("c", "", [] {});
    CHECK(second.stream().messages().size() == 1);
}

TEST_CASE("With two streams open every message goes on one, the newest [E-33]")
{
    service_stage s;
    s.begin();
    auto first = s.get();
    CHECK(first.stream().messages().empty());
    auto second = s.get();
    CHECK(second.stream().messages().empty());
    CHECK(s.service->streams() == 2);
    s.server->tool("a", "", [] {});
    CHECK(second.stream().messages().size() == 1);
    CHECK(first.stream().messages().empty());
    CHECK_FALSE(first.stream().ended());

    SECTION("the older one leaves first")
    {
        first.stream().leave();
        s.server->tool("b", "", [] {});
        CHECK(second.stream().messages().size() == 2);
    }
    SECTION("the newer one leaves first: what follows waits for the next")
    {
        second.stream().leave();
        s.server->tool("b", "", [] {});
        s.settle();
        CHECK(first.stream().messages().empty());
        auto third = s.get();
        CHECK(third.stream().messages().size() == 1);
        CHECK(s.service->streams() == 2);
    }
    SECTION("both end with their session")
    {
        CHECK(s.end().status() == 204);
        CHECK(first.stream().ended());
        CHECK(second.stream().ended());
        CHECK(s.service->streams() == 0);
    }
}

TEST_CASE("What a cancelled call had asked is taken back on the stream on which it was asked")
{
    service_stage s;
    s.server->tool("ask", "", [](comcp::context ctx) -> comcp::task<std::string> {
        const auto places = co_await ctx.list_roots();
        co_return std::to_string(places.size());
    });
    s.begin("2025-06-18", R"({"roots":{}})");
    auto standalone = s.get();
    auto call = s.post(call_text("1", "ask"));
    const auto asked = call.stream().messages();
    REQUIRE(asked.size() == 1);
    const std::int64_t id = parse(asked[0]).at("id").as_int64();
    CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":1})")).status() == 202);
    const auto all = call.stream().messages();
    REQUIRE(all.size() == 2);
    const json::object notice = parse(all[1]);
    CHECK(notice.at("method").as_string() == "notifications/cancelled");
    CHECK(notice.at("params").at("requestId").as_int64() == id);
    CHECK(call.stream().ended());
    CHECK(standalone.stream().messages().empty());
}

// ---- resumption ----------------------------------------------------------------------------------------------------

TEST_CASE("A stream begins with an event that has only an id, from 2025-11-25 on [80] [E-36] [E-37]")
{
    service_stage s(comcp::http_service_options().retry(1500ms));
    s.server->tool("count", "", counts);
    const std::string version = GENERATE("2025-03-26", "2025-06-18", "2025-11-25");
    const bool of_get = GENERATE(false, true);
    s.begin(version);
    auto answer = of_get ? s.get() : s.post(call_text("1", "count"));
    const std::string text = answer.stream().text();
    if (version == "2025-11-25") {
        REQUIRE(text.starts_with("retry: 1500\n\nid: "));
        const auto end = text.find("\ndata: \n\n");
        REQUIRE(end != text.npos);
        CHECK(text.find("\n\n", 13) > end); // one event
    } else {
        CHECK_FALSE(has(text, "retry"));
        CHECK(text.empty() == of_get);
    }
}

TEST_CASE("Every event has an id of its own, unless streams are not resumable")
{
    const bool resumable = GENERATE(false, true);
    service_stage s(comcp::http_service_options().resumable(resumable));
    s.server->tool("count", "", counts);
    s.begin("2025-06-18");
    auto a = s.post(call_text("1", "count"));
    auto b = s.post(call_text("2", "count"));
    s.advance(2s);
    auto all = a.stream().ids();
    const auto others = b.stream().ids();
    all.insert(all.end(), others.begin(), others.end());
    REQUIRE(all.size() == 6);
    if (!resumable) {
        CHECK(all == std::vector<std::string>(6));
        CHECK(s.get("x-1-1").status() == 400);
        return;
    }
    std::sort(all.begin(), all.end());
    CHECK(std::unique(all.begin(), all.end()) == all.end());
    CHECK_FALSE(all.front().empty());
}

TEST_CASE("A POST's stream that broke is resumed behind any event, before and after its answer [97] [E-35]")
{
    service_stage s;
    s.server->tool("count", "", counts);
    s.begin();
    auto call = s.post(call_text("1", "count"));
    const bool answered = GENERATE(false, true);
    const bool broken = GENERATE(false, true); // else the server has not noticed yet
    if (answered) s.advance(2s);
    const auto ids = call.stream().ids(); // [retry], priming, then messages
    REQUIRE(ids.size() == (answered ? 4u : 2u));
    if (broken) call.stream().leave();
    if (!answered) s.advance(1s);

    const std::size_t seen = answered ? GENERATE(0u, 1u, 2u, 3u) : GENERATE(0u, 1u);
    if (seen >= ids.size()) return;
    auto again = s.get(ids[seen]);
    CHECK(again.status() == 200);
    if (!answered) {
        CHECK(again.stream().messages() ==
              std::vector<std::string>(counted.begin() + static_cast<std::ptrdiff_t>(seen), counted.begin() + 2));
        CHECK_FALSE(again.stream().ended());
        if (!broken) CHECK(call.stream().ended()); // another reader came in its place
        s.advance(1s);
    }
    CHECK(again.stream().messages() == from(counted, seen));
    CHECK(again.stream().ended());
    CHECK(s.service->streams() == 0);

    again = s.get(ids[seen]); // once more, from what is kept
    CHECK(again.stream().messages() == from(counted, seen));
    CHECK(again.stream().ended());
}

TEST_CASE("An answer that came while nobody was connected is replayed [97]")
{
    service_stage s;
    s.server->tool("count", "", counts);
    s.begin("2025-06-18");
    auto call = s.post(call_text("1", "count"));
    const auto ids = call.stream().ids();
    call.stream().leave();
    s.advance(29min);
    auto again = s.get(ids.at(0));
    CHECK(again.stream().messages() == from(counted, 1));
    CHECK(again.stream().ended());
}

TEST_CASE("A connection that breaks before anything was sent loses the answer, and the handler runs on [E-32]")
{
    service_stage s;
    int ran = 0;
    s.server->tool("slow", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        co_await wait_for(1s);
        ctx.log(comcp::log_level::info, "nobody hears it");
        ++ran;
        co_return "late";
    });
    s.begin();
    auto standalone = s.get();
    auto call = s.post(call_text("1", "slow"));
    CHECK_FALSE(call.done());
    call.cancel();
    CHECK(call.done());
    s.advance(1s);
    CHECK(ran == 1);
    CHECK(standalone.stream().messages().empty());
    CHECK(s.service->memory()->used() == 0);
    CHECK(s.post(request_text("2", "ping")).status() == 200);
}

TEST_CASE("A client's own stream is resumed where it broke, and goes on")
{
    service_stage s;
    s.begin();
    auto first = s.get();
    s.server->tool("a", "", [] {});
    const auto ids = first.stream().ids();
    REQUIRE(ids.size() == 2);
    const bool broken = GENERATE(false, true);
    if (broken) first.stream().leave();
    s.server->tool("b", "", [] {});
    s.settle();
    auto again = s.get(ids[1]);
    CHECK(again.stream().messages() == std::vector{changed});
    if (!broken) CHECK(first.stream().ended());
    s.server->tool("c", "", [] {});
    CHECK(again.stream().messages() == std::vector{changed, changed});
    CHECK(s.service->streams() == 1);
}

TEST_CASE("A stream that another took the place of is replayed, and ends")
{
    service_stage s;
    s.begin();
    auto first = s.get();
    const auto ids = first.stream().ids();
    s.server->tool("a", "", [] {});
    auto second = s.get();
    first.stream().leave();
    auto again = s.get(ids.at(0));
    CHECK(again.stream().messages() == std::vector{changed});
    CHECK(again.stream().ended());
    CHECK_FALSE(second.stream().ended());
}

TEST_CASE("Ids that lead nowhere replay nothing, and never look like the end of the session [98]")
{
    service_stage s;
    s.server->tool("count", "", counts);
    const caller other = s.connect();
    auto foreign = s.send(other.make("POST", call_text("1", "count")));
    const std::string of_other = foreign.stream().ids().at(0);
    s.begin();
    auto call = s.post(call_text("1", "count"));
    const std::string own = call.stream().ids().at(0);
    const std::string prefix = own.substr(0, own.rfind('-', own.rfind('-') - 1));

    SECTION("malformed, or of another session")
    {
        for (const std::string& id :
             {std::string("x"), std::string("--"), of_other, prefix, prefix + "-1", prefix + "-1-", prefix + "--1",
              prefix + "-1-1-1", own + "9999999999999999999999", std::string(4000, 'a')}) {
            auto answer = s.get(id);
            CHECK(answer.status() == 400);
            CHECK(answer.field("Content-Type") == "application/json");
            CHECK_FALSE(answer.is_stream());
        }
    }
    SECTION("never given, or of a stream that is not kept")
    {
        CHECK(s.get(prefix + "-1-999").status() == 400);
        CHECK(s.get(prefix + "-77-1").status() == 400);
    }
    CHECK(call.stream().messages().size() == 1);
    CHECK(foreign.stream().messages().size() == 1);
    s.advance(2s);
    CHECK(call.stream().messages() == counted);
}

TEST_CASE("Another principal cannot resume a stream, even with its session id [K-9] [98]")
{
    comcp::http_service_options options;
    options.authorize([](const http::request& head) {
        return comcp::http_access::allow(std::string(head.fields.find("Authorization").value_or("")));
    });
    service_stage s(std::move(options));
    s.server->tool("count", "", counts);
    s.client = s.connect("2025-11-25", "{}", "ada");
    auto call = s.post(call_text("1", "count"));
    const std::string id = call.stream().ids().at(0);
    call.stream().leave();
    s.client.principal = "bob";
    CHECK(s.get(id).status() == 404);
    s.client.principal = "ada";
    CHECK(s.get(id).status() == 200);
}

TEST_CASE("A resume past what is kept is refused clearly")
{
    comcp::http_service_options options;
    options.limits.stored_events = 2;
    service_stage s(std::move(options));
    s.server->tool("talk", "", [](comcp::context& ctx) {
        for (int i = 0; i < 5; ++i) ctx.log(comcp::log_level::info, std::to_string(i));
        return "";
    });
    s.begin();
    auto call = s.post(call_text("1", "talk"));
    const auto ids = call.stream().ids();
    REQUIRE(ids.size() == 7); // priming, five, the answer
    auto gone = s.get(ids[2]);
    CHECK(gone.status() == 400);
    CHECK(gone.body() == error_text(-32600, "events after Last-Event-ID are not kept any more"));
    CHECK(s.get(ids[4]).stream().messages().size() == 2);
    CHECK(s.get(ids[6]).stream().messages().empty());
}

TEST_CASE("What a service keeps of all streams is bounded: beyond it a stream goes on without ids")
{
    comcp::http_service_options options;
    options.limits.memory = 1000; // two events of a little more than 300 and a third one that is too much
    service_stage s(std::move(options));
    s.server->tool("talk", "", [](comcp::context& ctx) {
        for (int i = 0; i < 4; ++i) ctx.log(comcp::log_level::info, std::string(200, 'x'));
        return "";
    });
    s.begin("2025-06-18");
    auto call = s.post(call_text("1", "talk"));
    const auto ids = call.stream().ids();
    REQUIRE(ids.size() == 5);
    CHECK_FALSE(ids[0].empty());
    CHECK(ids[4].empty());
    CHECK(call.stream().messages().size() == 5);
    CHECK(s.get(ids[0]).status() == 400);
}

// ---- silence -------------------------------------------------------------------------------------------------------

TEST_CASE("A stream that is silent for 15 s carries a comment [99] [E-15]")
{
    service_stage s(plain());
    s.server->tool("begin", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.log(comcp::log_level::info, "begun");
        std::string text = co_await wait_for(1h);
        co_return text;
    });
    s.begin("2025-06-18");
    const bool of_get = GENERATE(false, true);
    auto answer = of_get ? s.get() : s.post(call_text("1", "begin"));
    auto& stream = answer.stream();
    const std::string before = stream.text();
    s.advance(15s - 1ms);
    CHECK(stream.text() == before);
    s.advance(1ms);
    CHECK(stream.text() == before + ": keep-alive\n\n");
    s.advance(14s);
    s.server->tool("new", "", [] {}); // only the GET hears of it
    const std::string then = stream.text();
    s.advance(1s);
    CHECK((stream.text() == then) == of_get);
    s.advance(13s);
    const std::string later = stream.text();
    s.advance(1s);
    CHECK((stream.text() != later) == of_get);
}

TEST_CASE("The timer of a stream dies with it [102]")
{
    service_stage s;
    s.begin();
    auto get = s.get();
    CHECK_FALSE(get.stream().ended());
    get.stream().leave();
    s.advance(1min);
    CHECK(s.service->streams() == 0);
    auto other = s.get();
    CHECK_FALSE(other.stream().ended());
    CHECK(s.end().status() == 204);
    s.advance(1min);
    CHECK(other.stream().ended());
}

TEST_CASE("A reader that is at work with what it has gets no comments")
{
    service_stage s(plain());
    s.begin();
    auto get = s.get();
    s.server->tool("new", "", [] {});
    s.settle();
    CHECK(stream_reader::messages_of(get.stream().piece()).size() == 1);
    s.advance(10min);
    s.server->tool("other", "", [] {});
    s.settle();
    CHECK(get.stream().piece() == "data: " + changed + "\n\n");
}

// ---- readers that stop ---------------------------------------------------------------------------------------------

TEST_CASE("A stream whose reader stopped is cut, and what is kept of it can be asked for")
{
    comcp::server_options small;
    small.limits.stream_buffer = 2000;
    service_stage s({}, std::move(small));
    s.server->tool("ask", "", ask_often);
    s.begin("2025-11-25", R"({"roots":{}})");
    auto call = s.post(call_text("1", "ask"));
    const std::string first = call.stream().piece(); // and no more
    std::size_t most = 0;
    for (int i = 0; i < 40; ++i) {
        s.advance(1ms);
        most = std::max(most, s.service->memory()->used());
    }
    CHECK(most < 2000 + 500); // with the request that is being worked on
    CHECK(s.service->streams() == 0);
    CHECK(call.stream().ended());
    http::sse_parser parser;
    http::sse_event event;
    parser.feed(first);
    REQUIRE(parser.next(event));
    CHECK(s.get(event.id).stream().messages().size() == 40);
}

TEST_CASE("Notices wait for a reader that stopped, each once, and the stream stays")
{
    comcp::server_options small;
    small.limits.stream_buffer = 2000;
    service_stage s(plain(), std::move(small));
    s.begin();
    auto get = s.get();
    for (int i = 0; i < 200; ++i) {
        s.server->tool("t" + std::to_string(i), "", [] {});
        s.settle();
    }
    CHECK(s.service->memory()->used() < 1000 + 200);
    CHECK(s.service->streams() == 1);
    const std::size_t before = get.stream().messages().size();
    CHECK(before < 20);
    s.advance(10s);
    CHECK(get.stream().messages().size() == before + 1);
}

TEST_CASE("Without a reader what waits is bounded too")
{
    comcp::server_options small;
    small.limits.stream_buffer = 2000;
    service_stage s(plain(), std::move(small));
    s.begin();
    std::size_t most = 0;
    for (int i = 0; i < 200; ++i) {
        s.server->tool("t" + std::to_string(i), "", [] {});
        s.settle();
        most = std::max(most, s.service->memory()->used());
    }
    CHECK(most < 2000 + 200);
    CHECK(s.get().stream().messages().size() > 2);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("Progress and log give way on a stream that is not read, and the answer comes")
{
    comcp::server_options small;
    small.limits.stream_buffer = 4000;
    service_stage s(plain(), std::move(small));
    s.server->tool("talk", "", [](comcp::context& ctx) {
        for (int i = 0; i < 1000; ++i) ctx.log(comcp::log_level::info, "x");
        return std::string(10000, 'a');
    });
    s.begin();
    auto call = s.post(call_text("1", "talk"));
    const auto messages = call.stream().messages();
    CHECK(messages.size() > 10);
    CHECK(messages.size() < 40);
    CHECK(messages.back() == text_answer("1", std::string(10000, 'a')));
    CHECK(call.stream().ended());
}

TEST_CASE("Beyond the service's streams a GET is refused, and a POST is answered whole")
{
    comcp::http_service_options options;
    options.limits.streams = 2;
    service_stage s(std::move(options));
    s.server->tool("talk", "", [](comcp::context& ctx) {
        ctx.log(comcp::log_level::info, "x");
        return "t";
    });
    s.begin();
    auto first = s.get();
    auto second = s.get();
    CHECK_FALSE(second.stream().ended());
    auto third = s.get();
    CHECK(third.status() == 503);
    CHECK(third.field("Retry-After") == "1");
    CHECK(third.body() == error_text(-32603, "too many streams"));
    auto call = s.post(call_text("1", "talk"));
    CHECK_FALSE(call.is_stream());
    CHECK(call.body() == text_answer("1", "t"));
    first.stream().leave();
    CHECK(s.post(call_text("2", "talk")).is_stream());
}

TEST_CASE("A client that opens a stream and leaves at once, a thousand times [101]")
{
    service_stage s;
    s.begin();
    for (int i = 0; i < 1000; ++i) {
        auto get = s.start(exchange_with(*s.service, s.client.make("GET")));
        auto stream = std::move(get.value().stream);
        if (i % 3 == 1) s.settle();
        if (i % 3 == 2) {
            std::string out;
            auto next = s.start(stream->next(out));
            next.cancel();
            if (i % 2) s.settle();
            stream.reset();
            s.settle();
        }
    }
    s.settle();
    CHECK(s.service->streams() == 0);
    CHECK(s.post(request_text("1", "ping")).status() == 200);
}
