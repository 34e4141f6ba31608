// SPDX-License-Identifier: MIT
// Limits at their defaults, each at its bound and one beyond; and notices that give way at half of the output's room.
#include "script.hpp"

#include <set>

using namespace script;

namespace
{

constexpr std::size_t stream_buffer = 4 * 1024 * 1024;

/// A page with the tools from `first` up to `last`.
std::string page(int first, int last, std::string_view cursor = {})
{
    std::string out = R"({"tools":[)";
    for (int i = first; i < last; ++i) {
        if (i != first) out += ',';
        out += R"({"name":"t)" + std::to_string(i) + R"(","inputSchema":{}})";
    }
    out += ']';
    if (!cursor.empty()) out += R"(,"nextCursor":")" + std::string(cursor) + '"';
    return out + '}';
}

std::string result_for(int id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + text_result(text) + '}';
}

comcp::task<comcp::sampling_result> think(const comcp::sampling_request&)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(1s);
    co_return comcp::sampling_result("hello", "model-1");
}

struct launches
{
    std::shared_ptr<std::vector<std::string>> seen = std::make_shared<std::vector<std::string>>();

    comcp::duration connect(const comcp::launch_facts& launch) const
    {
        seen->push_back(std::string(launch.program));
        seen->insert(seen->end(), launch.args.begin(), launch.args.end());
        return 3s;
    }
    comcp::call_timeouts call(const comcp::call_facts&) const { return {1s, 1s}; }
    comcp::duration ping() const { return 1s; }
};
struct recording_launches : comcp::default_policy
{
    using timeouts = launches;
};

struct drop_counter
{
    std::shared_ptr<std::size_t> dropped = std::make_shared<std::size_t>(0);
    void on_dropped_notice(std::size_t count) { *dropped += count; }
};
struct counting_drops : comcp::default_policy
{
    using observer = drop_counter;
};

} // namespace

TEST_CASE("A list has 1,000 pages at most")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    for (int i = 0; i < 999; ++i) s.peer.expect("tools/list").reply(page(i, i + 1, std::to_string(i)));
    CHECK_FALSE(list.done());
    const bool more = GENERATE(false, true);
    s.peer.expect("tools/list").reply(page(999, 1000, more ? "more" : ""));
    CHECK(list.value().size() == 1000);
    CHECK(list.value().complete == !more);
    CHECK(list.value().why_partial == (more ? "more than 1000 pages" : ""));
    CHECK(s.peer.quiet());
}

TEST_CASE("A list has 10,000 items at most")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    const bool more = GENERATE(false, true);
    s.peer.expect("tools/list").reply(page(0, 5000, "5000"));
    s.peer.expect("tools/list").reply(page(5000, more ? 10'001 : 10'000));
    CHECK(list.value().size() == 10'000);
    CHECK(list.value().complete == !more);
    CHECK(list.value().why_partial == (more ? "more than 10000 tools" : ""));
    CHECK(s.peer.quiet());
}

TEST_CASE("A client sends while less than 4 MiB are queued")
{
    client_stage s;
    auto probe = s.start(s.client.call("t", comcp::args("text", "")));
    const heard empty = s.peer.expect("tools/call");
    empty.reply(R"({"content":[]})");
    s.peer.wire().reads(false);
    const std::size_t queued = stream_buffer - GENERATE(0u, 1u);
    auto filling = s.start(s.client.call("t", comcp::args("text", std::string(queued - empty.text.size(), 'x'))));
    const auto sent = s.client.statistics().sent;
    auto next = s.start(s.client.call("next"));
    auto last = s.start(s.client.call("last"));
    CHECK(s.client.statistics().sent - sent == (queued < stream_buffer ? 1 : 0));
    s.peer.wire().reads(true);
    CHECK(s.peer.expect("tools/call").text.size() == queued);
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "next");
    CHECK(s.peer.expect("tools/call").params().at("name").get_string() == "last");
}

TEST_CASE("A server reads while less than 4 MiB are queued")
{
    server_stage s;
    std::size_t size = 0;
    int counted = 0;
    s.server.tool("big", "", [&size] { return std::string(size, 'x'); });
    s.server.tool("count", "", [&counted] { return std::to_string(++counted); });
    s.begin();
    s.peer.call("1", "big");
    const std::size_t frame = s.peer.next().size();
    s.peer.wire().reads(false);
    const std::size_t queued = stream_buffer - GENERATE(0u, 1u);
    size = queued - frame;
    s.peer.call("2", "big");
    s.peer.call("3", "count");
    s.peer.call("4", "count");
    CHECK(counted == (queued < stream_buffer ? 1 : 0));
    s.peer.wire().reads(true);
    CHECK(s.peer.next().size() == queued);
    CHECK(s.peer.skip_all() == 2);
    CHECK(counted == 2);
}

TEST_CASE("256 requests of a server are in flight at a client; the 257th is refused and may be made again")
{
    comcp::client_options options;
    options.on_sampling(think);
    client_stage s(std::move(options));
    const auto ask = [&s](int id) {
        s.peer.ask(std::to_string(id), "sampling/createMessage",
                   R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5})");
    };
    for (int id = 1; id <= 256; ++id) ask(id);
    CHECK(s.peer.quiet());
    ask(257);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":257,"error":{"code":-32603,"message":"too many requests",)"
                           R"("data":{"retryable":true}}})");
    s.advance(1s);
    CHECK(s.peer.skip_all() == 256);
    ask(258);
    s.advance(1s);
    CHECK(has(s.peer.next(), R"("id":258,"result")"));
}

TEST_CASE("1,000 calls that start in one turn have 1,000 ids, and each gets its own answer [36]")
{
    comcp::client_options options;
    options.limits.in_flight = 1000;
    client_stage s(std::move(options));
    std::vector<running<comcp::answer>> calls;
    for (int i = 0; i < 1000; ++i) calls.emplace_back(s.executor(), s.client.call("t" + std::to_string(i)));
    s.settle();
    std::set<std::string> ids;
    std::vector<std::string> answers;
    for (int i = 0; i < 1000; ++i) {
        const heard asked = s.peer.expect("tools/call");
        CHECK(ids.insert(asked.id()).second);
        answers.push_back(result_for(std::stoi(asked.id()), asked.params().at("name").get_string()));
    }
    CHECK(s.peer.quiet());
    for (auto each = answers.rbegin(); each != answers.rend(); ++each) s.peer.wire().send(*each);
    s.settle();
    for (std::size_t i = 0; i < calls.size(); ++i) CHECK(comcp::to_text(calls[i].value()) == "t" + std::to_string(i));
}

TEST_CASE("The time of a connect depends on the program and its arguments")
{
    stage s;
    comcp::policy_state<recording_launches> state;
    const comcp::child_process program("no-such-launcher", {"-y", "some-server"});
    comcp::basic_client<recording_launches> client(program, comcp::identity("tester", "1"), {}, state);
    auto connecting = s.start(client.connect());
    CHECK(connecting.failed_with(errc::not_found));
    CHECK(*state.timeouts.seen == std::vector<std::string>{"no-such-launcher", "-y", "some-server"});
}

TEST_CASE("Notices give way at half of the output's room and are counted; the answer comes [18]")
{
    if (with_middleware()) return; // there they wait in the chain first
    comcp::server_options options;
    options.limits.stream_buffer = 20'000;
    comcp::policy_state<counting_drops> state;
    basic_server_stage<counting_drops> s(std::move(options), state);
    s.server.tool("talk", "", [](comcp::context& ctx) {
        for (int i = 1; i <= 200; ++i) {
            ctx.progress(i);
            ctx.log(comcp::log_level::info, "step " + std::to_string(i));
        }
        return std::string("answered");
    });
    s.begin();
    s.peer.wire().reads(false);
    s.peer.call("1", "talk", "{}", R"({"progressToken":"p"})");
    s.peer.wire().reads(true);
    std::size_t bytes = 0;
    std::size_t before_last = 0;
    std::size_t notices = 0;
    std::string last;
    s.settle();
    while (s.peer.wire().has_message()) {
        last = s.peer.wire().take();
        if (!has(last, R"("method":"notifications/)")) break;
        ++notices;
        before_last = bytes;
        bytes += last.size();
    }
    CHECK(before_last < 10'000);
    CHECK(bytes >= 10'000);
    CHECK(last == R"({"jsonrpc":"2.0","id":1,"result":)" + text_result("answered") + '}');
    CHECK(s.peer.quiet());
    CHECK(*state.observer.dropped == 400 - notices);
}
