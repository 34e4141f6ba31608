// SPDX-License-Identifier: MIT
//
// What a session makes of exchanges, on a transport without sockets: an answer goes back on the exchange that asked,
// and an exchange that ends without one ends its call and nothing else.
#include "script.hpp"

using namespace script;
using comcp::exchange_id;
using comcp::send_hint;
using verdict = comcp::exchange_verdict;

namespace
{

constexpr exchange_id on(std::uint64_t number) { return static_cast<exchange_id>(number); }

comcp::task<std::string> waits_for_roots(comcp::context& ctx)
{
    ctx.progress(1);
    ctx.log(comcp::log_level::info, "asking");
    const auto roots = co_await ctx.list_roots();
    co_return std::to_string(roots.size()) + " roots";
}

comcp::task<std::string> waits_for_ever(comcp::context&)
{
    co_await comcp::timer(co_await asio::this_coro::executor).wait_for(std::chrono::hours(1000));
    co_return "never";
}

comcp::transport_event event(comcp::transport_event::kind what, exchange_id exchange, comcp::fault why = {})
{
    comcp::transport_event happened;
    happened.what = what;
    happened.exchange = exchange;
    happened.why = std::move(why);
    return happened;
}

std::string request(int id, std::string_view method, std::string_view params = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":)" + std::string(params) + '}';
}

} // namespace

// ---- the server's side ---------------------------------------------------------------------------------------------

TEST_CASE("an answer goes back on the exchange that asked, in whatever order answers come", "[exchanges]")
{
    server_stage s;
    s.begin();
    s.peer.wire().send(request(1, "ping"), on(11));
    s.peer.wire().send(request(2, "ping"), on(12));
    CHECK(has(s.peer.next(), R"("id":1)"));
    CHECK(s.peer.wire().hint().exchange == on(11));
    CHECK(s.peer.wire().hint().what == send_hint::kind::answer);
    CHECK(s.peer.wire().hint().status == 200);
    CHECK(has(s.peer.next(), R"("id":2)"));
    CHECK(s.peer.wire().hint().exchange == on(12));
}

TEST_CASE("a server is told the revision, and never listens", "[exchanges]")
{
    server_stage s;
    s.begin("2025-06-18");
    CHECK(s.peer.wire().negotiated() == "2025-06-18");
    CHECK_FALSE(s.peer.wire().listening());
}

TEST_CASE("messages of a handler belong to the exchange of its call, others to none", "[exchanges]")
{
    server_stage s;
    s.server.tool("roots", "", waits_for_roots);
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.wire().send(request(5, "tools/call", R"({"name":"roots","_meta":{"progressToken":"p"}})"), on(40));
    s.peer.expect("notifications/progress");
    CHECK(s.peer.wire().hint().exchange == on(40));
    CHECK(s.peer.wire().hint().what == send_hint::kind::notification);
    s.peer.expect("notifications/message");
    CHECK(s.peer.wire().hint().exchange == on(40));
    const heard roots = s.peer.expect("roots/list");
    CHECK(s.peer.wire().hint().exchange == on(40));
    CHECK(s.peer.wire().hint().what == send_hint::kind::request);
    s.peer.wire().verdicts();

    // Its answer comes on an exchange of its own, which needs none.
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":)" + roots.id() + R"(,"result":{"roots":[]}})", on(41));
    CHECK(has(s.peer.next(), "0 roots"));
    CHECK(s.peer.wire().hint().exchange == on(40));
    CHECK(s.peer.wire().hint().what == send_hint::kind::answer);
    CHECK(s.peer.wire().verdicts() == std::vector<verdict>{{on(41), verdict::kind::completed}});

    s.server.tool("new", "", [] { return "x"; });
    s.peer.expect("notifications/tools/list_changed");
    CHECK(s.peer.wire().hint().exchange == comcp::pipe_exchange);
}

TEST_CASE("what needs no answer completes its exchange", "[exchanges]")
{
    server_stage s;
    s.begin("2025-03-26");
    s.peer.wire().verdicts();
    s.peer.wire().send(R"({"jsonrpc":"2.0","method":"notifications/whatever"})", on(3));
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":77,"result":{}})", on(4));
    s.peer.wire().send(R"([{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","method":"notifications/b"}])",
                       on(5));
    CHECK(s.peer.quiet());
    CHECK(s.peer.wire().verdicts() == std::vector<verdict>{{on(3), verdict::kind::completed},
                                                           {on(4), verdict::kind::completed},
                                                           {on(5), verdict::kind::completed}});
}

TEST_CASE("what is no message is a bad request, an error of a request an answer", "[exchanges]")
{
    server_stage s;
    s.begin();
    s.peer.wire().send("{", on(3));
    CHECK(has(s.peer.next(), "-32700"));
    CHECK(s.peer.wire().hint().status == 400);
    CHECK(s.peer.wire().hint().exchange == on(3));
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":1})", on(4));
    CHECK(has(s.peer.next(), "-32600"));
    CHECK(s.peer.wire().hint().status == 400);
    s.peer.wire().send(request(2, "no/such"), on(5));
    CHECK(has(s.peer.next(), "-32601"));
    CHECK(s.peer.wire().hint().status == 200);
    s.peer.wire().send(request(3, "tools/call", R"({"name":"unknown"})"), on(6));
    CHECK(has(s.peer.next(), "-32602"));
    CHECK(s.peer.wire().hint().status == 200);
}

TEST_CASE("a cancellation that comes on another exchange ends the call and its exchange", "[exchanges]")
{
    server_stage s;
    s.server.tool("slow", "", waits_for_ever);
    s.begin();
    s.peer.wire().send(request(9, "tools/call", R"({"name":"slow"})"), on(20));
    s.settle();
    s.peer.wire().verdicts();
    s.peer.wire().send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})", on(21));
    CHECK(s.peer.quiet());
    CHECK(s.peer.wire().verdicts() ==
          std::vector<verdict>{{on(20), verdict::kind::abandoned}, {on(21), verdict::kind::completed}});
}

TEST_CASE("an id is in use on whatever exchange it came", "[exchanges][ID]")
{
    server_stage s;
    s.server.tool("slow", "", waits_for_ever);
    s.begin();
    s.peer.wire().send(request(9, "tools/call", R"({"name":"slow"})"), on(20));
    s.peer.wire().send(request(9, "ping"), on(21));
    CHECK(has(s.peer.next(), "the id of this request is in use"));
    CHECK(s.peer.wire().hint().exchange == on(21));
}

TEST_CASE("a client that leaves an exchange does not cancel its call in the handshake era", "[exchanges][E-32]")
{
    server_stage s;
    s.server.tool("roots", "", waits_for_roots);
    s.begin("2025-11-25", R"({"roots":{}})");
    s.peer.wire().send(request(5, "tools/call", R"({"name":"roots"})"), on(40));
    s.peer.expect("notifications/message");
    const heard roots = s.peer.expect("roots/list");
    s.peer.wire().send(event(comcp::transport_event::kind::exchange_closed, on(40)));
    roots.reply(R"({"roots":[]})");
    CHECK(has(s.peer.next(), "0 roots"));
    CHECK(s.peer.wire().hint().exchange == on(40));
}

// ---- the client's side ---------------------------------------------------------------------------------------------

TEST_CASE("every request of a client opens an exchange, its notifications none", "[exchanges]")
{
    client_stage s({}, "");
    auto connecting = s.start(s.client.connect());
    const heard hello = s.peer.expect("initialize");
    const auto first = s.peer.wire().hint();
    CHECK(first.what == send_hint::kind::request);
    CHECK(first.exchange != comcp::pipe_exchange);
    CHECK(s.peer.wire().negotiated().empty());
    hello.reply(welcome("2025-06-18"));
    s.peer.expect("notifications/initialized");
    CHECK(s.peer.wire().hint().exchange == comcp::pipe_exchange);
    CHECK(s.peer.wire().negotiated() == "2025-06-18");

    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    const auto second = s.peer.wire().hint();
    CHECK(second.exchange != first.exchange);
    s.peer.wire().verdicts();
    asked.reply(text_result("done"));
    CHECK(comcp::to_text(call.value()) == "done");
    CHECK(s.peer.wire().verdicts() == std::vector<verdict>{{second.exchange, verdict::kind::completed}});
}

TEST_CASE("a failed exchange ends its own call, with the outcome that the transport knows", "[exchanges]")
{
    client_stage s;
    auto one = s.start(s.client.call("a"));
    s.peer.expect("tools/call");
    const exchange_id failing = s.peer.wire().hint().exchange;
    auto two = s.start(s.client.call("b"));
    const heard other = s.peer.expect("tools/call");

    comcp::fault why = comcp::fail(errc::session_expired, "HTTP 404");
    why.fate = outcome::not_sent;
    s.peer.wire().send(event(comcp::transport_event::kind::exchange_failed, failing, why));
    s.settle();
    CHECK(one.failed_with(errc::session_expired));
    CHECK(one.failure().fate == outcome::not_sent);
    CHECK(one.failure().method == "tools/call");
    CHECK_FALSE(two.done());
    other.reply(text_result("still here"));
    CHECK(comcp::to_text(two.value()) == "still here");
}

TEST_CASE("an exchange that closes without the answer is lost, unless it can be resumed", "[exchanges][STREAM]")
{
    const bool resumable = GENERATE(false, true);
    client_stage s;
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    const exchange_id own = s.peer.wire().hint().exchange;
    s.peer.wire().verdicts();
    s.peer.wire().resumable(resumable);
    s.peer.wire().send(event(comcp::transport_event::kind::exchange_closed, own));
    s.settle();
    if (resumable) {
        CHECK_FALSE(call.done());
        CHECK(s.peer.wire().verdicts() == std::vector<verdict>{{own, verdict::kind::resumed}});
        asked.reply(text_result("resumed"));
        CHECK(comcp::to_text(call.value()) == "resumed");
    } else {
        CHECK(call.failed_with(errc::peer_gone));
        CHECK(call.failure().fate == outcome::unknown);
        CHECK(s.peer.wire().verdicts() ==
              std::vector<verdict>{{own, verdict::kind::resumed}, {own, verdict::kind::abandoned}});
    }
}

TEST_CASE("an answer to the request of another exchange ends nothing, whatever it looks like", "[exchanges]")
{
    client_stage s;
    auto one = s.start(s.client.call("a"));
    const heard first = s.peer.expect("tools/call");
    const exchange_id of_first = s.peer.wire().hint().exchange;
    auto two = s.start(s.client.call("b"));
    const heard second = s.peer.expect("tools/call");
    const exchange_id of_second = s.peer.wire().hint().exchange;
    s.peer.wire().verdicts();

    const std::string begin = R"({"jsonrpc":"2.0","id":)" + second.id();
    std::string deep = begin + R"(,"result":{"a":)";
    for (int i = 0; i < 100; ++i) deep += '[';
    for (int i = 0; i < 100; ++i) deep += ']';
    s.peer.wire().send(begin + R"(,"result":{"content":[]}})", of_first);
    s.peer.wire().send(begin + R"(,"error":{"code":1,"message":"no"}})", of_first);
    s.peer.wire().send(begin + R"(,"result":7})", of_first);
    s.peer.wire().send(deep + "}}", of_first);
    s.settle();
    CHECK(s.client.statistics().bad_messages == 4);
    CHECK(s.client.statistics().late_answers == 0);
    comcp::transport_event large = event(comcp::transport_event::kind::oversized, of_first);
    large.skipped.id = comcp::rpc::id(std::stoll(second.id()));
    large.skipped.object = large.skipped.id_present = large.skipped.id_known = large.skipped.has_result = true;
    s.peer.wire().send(large);
    s.settle();
    CHECK(s.client.statistics().oversized == 1);
    CHECK_FALSE(one.done());
    CHECK_FALSE(two.done());
    CHECK(s.peer.wire().verdicts().empty());

    s.peer.wire().send(begin + R"(,"result":)" + text_result("b") + '}', of_second);
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":)" + first.id() + R"(,"result":)" + text_result("a") + '}', of_first);
    s.settle();
    CHECK(comcp::to_text(two.value()) == "b");
    CHECK(comcp::to_text(one.value()) == "a");
}

TEST_CASE("an answer on no exchange in particular ends the call that it names", "[exchanges]")
{
    client_stage s;
    auto one = s.start(s.client.call("a"));
    const heard first = s.peer.expect("tools/call");
    auto two = s.start(s.client.call("b"));
    const heard second = s.peer.expect("tools/call");
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":)" + second.id() + R"(,"result":)" + text_result("b") + '}',
                       comcp::pipe_exchange);
    s.settle();
    CHECK(comcp::to_text(two.value()) == "b");
    CHECK_FALSE(one.done());
    first.reply(text_result("a"));
    CHECK(comcp::to_text(one.value()) == "a");
}

TEST_CASE("an exchange that closes behind its answer is complete", "[exchanges]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    const exchange_id own = s.peer.wire().hint().exchange;
    s.peer.wire().verdicts();
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":)" + asked.id() + R"(,"result":{"content":[]}})", own);
    s.peer.wire().send(event(comcp::transport_event::kind::exchange_closed, own));
    s.settle();
    CHECK(call.succeeded());
    CHECK(s.peer.wire().verdicts() ==
          std::vector<verdict>{{own, verdict::kind::completed}, {own, verdict::kind::completed}});
}

TEST_CASE("a call that is cancelled or timed out gives its exchange up and tells the server", "[exchanges]")
{
    const bool cancelled = GENERATE(true, false);
    client_stage s;
    auto call = s.start(s.client.call("a", {}, comcp::call_options().timeout(2s)));
    s.peer.expect("tools/call");
    const exchange_id own = s.peer.wire().hint().exchange;
    s.peer.wire().verdicts();
    if (cancelled) call.cancel();
    else s.advance(2s);
    s.peer.expect("notifications/cancelled");
    CHECK(s.peer.wire().hint().exchange == comcp::pipe_exchange);
    CHECK(s.peer.wire().verdicts() == std::vector<verdict>{{own, verdict::kind::abandoned}});
    CHECK(call.failed_with(cancelled ? errc::cancelled : errc::timed_out));
}

TEST_CASE("a notification that does not get through ends nothing", "[exchanges]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    const heard asked = s.peer.expect("tools/call");
    s.peer.wire().send(event(comcp::transport_event::kind::exchange_failed, comcp::pipe_exchange,
                             comcp::fail(errc::bad_response, "HTTP 500")));
    s.settle();
    CHECK(s.client.statistics().bad_messages == 1);
    CHECK(s.client.connected());
    asked.reply(text_result("done"));
    CHECK(comcp::to_text(call.value()) == "done");
}
