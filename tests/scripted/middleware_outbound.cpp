// SPDX-License-Identifier: MIT
//
// Middleware around what a session asks itself: a client's calls and a server's requests to its client.
#include "script.hpp"

#include <functional>
#include <stdexcept>
#include <vector>

using namespace script;
using comcp::direction;
using comcp::middleware_message;
using comcp::middleware_next;
using comcp::middleware_reply;
using reply_task = comcp::task<middleware_reply>;
using lines = std::vector<std::string>;

namespace
{

comcp::task<void> sleep(comcp::duration time)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
}

comcp::client_options with(comcp::middleware part)
{
    comcp::client_options options;
    options.use(std::move(part));
    return options;
}

/// Holds calls of the tool "held" for some time before they go on.
reply_task hold(comcp::duration time, lines* ends, middleware_message message, middleware_next next)
{
    if (has(message.params, R"("held")")) {
        try {
            co_await sleep(time);
        } catch (...) {
            ends->push_back("given up");
            throw;
        }
    }
    auto going = next(std::move(message));
    try {
        auto reply = co_await std::move(going);
        ends->push_back("passed");
        co_return reply;
    } catch (...) {
        ends->push_back("failed");
        throw;
    }
}

comcp::middleware holding(comcp::duration time, lines& ends)
{
    return [=, to = &ends](middleware_message message, middleware_next next) {
        return hold(time, to, std::move(message), std::move(next));
    };
}

/// Waits without heeding its cancellation, then goes on all the same.
reply_task stubborn(middleware_message message, middleware_next next)
{
    if (message.method == "tools/call") {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await sleep(1s);
    }
    auto going = next(std::move(message));
    co_return co_await std::move(going);
}

comcp::call_options within(comcp::duration total) { return comcp::call_options().timeout(total); }

std::string cancelled(int id, std::string_view reason)
{
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
           R"(,"reason":")" + std::string(reason) + "\"}}";
}

std::string call_of(int id, std::string_view tool, std::string_view rest = {})
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
           std::string(tool) + R"(","arguments":{})" + std::string(rest) + "}}";
}

std::string progress_of(int id, int value)
{
    return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + std::to_string(id) +
           R"(,"progress":)" + std::to_string(value) + "}}";
}

std::string result_of(int id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + text_result(text) + '}';
}

} // namespace

// ---- what a part can do --------------------------------------------------------------------------------------------

TEST_CASE("a part changes the params of a call and its result", "[middleware]")
{
    client_stage s(with([](middleware_message message, middleware_next next) -> reply_task {
        const bool calls = message.method == "tools/call";
        if (calls) message.params = "{\"name\":\"other\",\n\"arguments\":{}}";
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (calls) reply.result = text_result("changed");
        co_return reply;
    }));
    auto call = s.start(s.client.call("greet"));
    const heard asked = s.peer.expect("tools/call");
    CHECK(asked.text == R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"other", "arguments":{}}})");
    asked.reply(text_result("asked"));
    CHECK(comcp::to_text(call.value()) == "changed");
    CHECK(s.peer.quiet());
}

TEST_CASE("a part sees every request of a client, with the server's name once it is known", "[middleware]")
{
    lines seen;
    client_stage s(with([&](middleware_message message, middleware_next next) -> reply_task {
        seen.push_back((message.way == direction::inbound ? "< " : "> ") + message.method + ' ' + message.id + ' ' +
                       message.peer);
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    }));
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(R"({"tools":[]})");
    auto ping = s.start(s.client.ping());
    s.peer.expect("ping").reply("{}");
    s.peer.ask("\"q\"", "ping");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":"q","result":{}})");
    CHECK(list.succeeded());
    CHECK(ping.succeeded());
    CHECK(seen == lines{"> initialize 1 ", "> notifications/initialized  scripted", "> tools/list 2 scripted",
                        "> ping 3 scripted", "< ping \"q\" scripted"});
    CHECK(s.peer.quiet());
}

TEST_CASE("a part answers a call without sending it", "[middleware]")
{
    client_stage s(with([](middleware_message message, middleware_next next) -> reply_task {
        if (has(message.params, R"("cached")")) co_return middleware_reply(text_result("from here"));
        if (has(message.params, R"("refused")"))
            co_return middleware_reply(comcp::rpc_error{-32000, "not today", json::value{{"k", 1}}});
        if (has(message.params, R"("garbage")")) co_return middleware_reply("{");
        if (has(message.params, R"("empty")")) co_return middleware_reply();
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    }));
    auto cached = s.start(s.client.call("cached"));
    CHECK(comcp::to_text(cached.value()) == "from here");
    auto refused = s.start(s.client.call("refused"));
    CHECK(refused.failed_with(errc::refused));
    CHECK(refused.failure().rpc->code == -32000);
    CHECK(refused.failure().rpc->data.at("k").as_int64() == 1);
    auto garbage = s.start(s.client.call("garbage"));
    CHECK(garbage.failed_with(errc::invalid_message));
    auto empty = s.start(s.client.call("empty"));
    CHECK(empty.failed_with(errc::invalid_message));
    CHECK(s.peer.quiet());
    auto sent = s.start(s.client.call("real"));
    CHECK(s.peer.next() == call_of(6, "real"));
}

TEST_CASE("what a part throws is what the caller gets", "[middleware]")
{
    client_stage s(with([](middleware_message message, middleware_next next) -> reply_task {
        if (has(message.params, R"("error")")) throw comcp::error(comcp::fail(errc::too_many, "over the budget"));
        if (has(message.params, R"("request_error")")) throw comcp::request_error(-1, "no");
        if (has(message.params, R"("system")"))
            throw std::system_error(std::make_error_code(std::errc::no_space_on_device));
        if (has(message.params, R"("other")")) throw std::runtime_error("oops");
        if (has(message.params, R"("number")")) throw 5;
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    }));
    auto error = s.start(s.client.call("error"));
    CHECK(error.failed_with(errc::too_many));
    CHECK(error.failure().text == "over the budget");
    CHECK(error.failure().fate == outcome::not_sent);
    CHECK(error.failure().method == "tools/call");
    auto request_error = s.start(s.client.call("request_error"));
    CHECK(request_error.failed_with(errc::refused));
    auto system = s.start(s.client.call("system"));
    CHECK(system.failure().code == std::errc::no_space_on_device);
    auto other = s.start(s.client.call("other"));
    CHECK(other.failed_with(errc::handler_failed));
    CHECK(other.failure().text == "a middleware failed: oops");
    auto number = s.start(s.client.call("number"));
    CHECK(number.failed_with(errc::handler_failed));
    CHECK(s.peer.quiet());
}

TEST_CASE("a refusal of the peer is a reply with an error, and then an error for the caller", "[middleware]")
{
    const bool hides = GENERATE(false, true);
    lines seen;
    client_stage s(with([&](middleware_message message, middleware_next next) -> reply_task {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (!reply.error) co_return reply;
        seen.push_back(std::to_string(reply.error->code) + ' ' + reply.error->message);
        if (hides) co_return middleware_reply(text_result("instead"));
        co_return reply;
    }));
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call").refuse(-32602, "Unknown tool: a", R"({"x":[1]})");
    CHECK(seen == lines{"-32602 Unknown tool: a"});
    if (hides) {
        CHECK(comcp::to_text(call.value()) == "instead");
    } else {
        CHECK(call.failed_with(errc::refused));
        CHECK(call.failure().fate == outcome::refused);
        CHECK(call.failure().id == "2");
        CHECK(call.failure().rpc->data.at("x").at(0).as_int64() == 1);
    }
    CHECK(s.peer.quiet());
}

TEST_CASE("nothing is sent twice: a call goes on only once", "[middleware]")
{
    client_stage s(with([](middleware_message message, middleware_next next) -> reply_task {
        auto going = next(message);
        auto reply = co_await std::move(going);
        if (message.method != "tools/call") co_return reply;
        auto again = next(message);
        co_return co_await std::move(again);
    }));
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call").reply(text_result("x"));
    CHECK(call.failed_with(errc::invalid_argument));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(s.peer.quiet());
}

// ---- deadlines and cancellation ------------------------------------------------------------------------------------

TEST_CASE("the deadline ends a call that a part holds, and it is never sent", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(1h, ends)));
    ends.clear();
    auto call = s.start(s.client.call("held", comcp::args(), within(100ms)));
    s.advance(99ms);
    CHECK_FALSE(call.done());
    s.advance(1ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(call.failure().id.empty());
    CHECK(ends == lines{"given up"});
    s.advance(2h);
    CHECK(s.peer.quiet());
}

TEST_CASE("a call whose time is over is not sent by a part that heeds nothing", "[middleware]")
{
    client_stage s(with(stubborn));
    auto call = s.start(s.client.call("a", comcp::args(), within(100ms)));
    auto given_up = s.start(s.client.call("b"));
    s.advance(10ms);
    given_up.cancel();
    s.advance(90ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(given_up.failed_with(errc::cancelled));
    CHECK(given_up.failure().fate == outcome::not_sent);
    s.advance(10s);
    CHECK(s.peer.quiet());
    auto next = s.start(s.client.call("c"));
    s.advance(1s);
    s.peer.expect("tools/call").reply(text_result("c"));
    CHECK(comcp::to_text(next.value()) == "c");
}

TEST_CASE("a call that has ended is not sent when there is room at last, whatever its part heeds", "[middleware]")
{
    comcp::client_options options = with(stubborn);
    options.limits.in_flight = 1;
    client_stage s(std::move(options));
    auto first = s.start(s.client.call("first"));
    s.advance(1s);
    const heard asked = s.peer.expect("tools/call");
    const bool late = GENERATE(false, true);
    auto waits = s.start(late ? s.client.call("a", comcp::args(), within(1500ms)) : s.client.call("a"));
    s.advance(1s); // it is past its part now, and waits for room
    CHECK_FALSE(waits.done());
    if (late) s.advance(500ms);
    else waits.cancel();
    s.settle();
    CHECK(waits.failed_with(late ? errc::timed_out : errc::cancelled));
    CHECK(waits.failure().fate == outcome::not_sent);
    asked.reply(text_result("first"));
    CHECK(comcp::to_text(first.value()) == "first");
    s.advance(10s);
    CHECK(s.peer.quiet());
    auto next = s.start(s.client.call("next"));
    s.advance(1s);
    s.peer.expect("tools/call").reply(text_result("next"));
    CHECK(comcp::to_text(next.value()) == "next");
}

TEST_CASE("the peer is told of a sent call that has ended, whatever its part heeds", "[middleware]")
{
    client_stage s(with(stubborn));
    const bool late = GENERATE(false, true);
    auto call = s.start(late ? s.client.call("a", comcp::args(), within(1500ms)) : s.client.call("a"));
    s.advance(1s);
    CHECK(s.peer.next() == call_of(2, "a"));
    if (late) s.advance(500ms);
    else call.cancel();
    s.settle();
    CHECK(call.failed_with(late ? errc::timed_out : errc::cancelled));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(call.failure().id == "2");
    CHECK(s.peer.next() == cancelled(2, late ? "timed out" : "cancelled by the caller"));
    s.peer.say(result_of(2, "late"));
    CHECK(s.client.statistics().late_answers == 1);
    CHECK(s.peer.quiet());
    s.run(s.client.close()); // nothing of it is left to wait for
}

TEST_CASE("the deadline ends a call that was sent, and the peer is told", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(40ms, ends)));
    ends.clear();
    const auto* tool = GENERATE("held", "at once");
    auto call = s.start(s.client.call(tool, comcp::args(), within(100ms)));
    s.advance(40ms);
    CHECK(s.peer.next() == call_of(2, tool));
    s.advance(59ms);
    CHECK_FALSE(call.done());
    s.advance(1ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(call.failure().fate == outcome::unknown);
    CHECK(call.failure().id == "2");
    CHECK(s.peer.next() == cancelled(2, "timed out"));
    CHECK(ends == lines{"passed", "failed"}); // the notice, and the call
    s.peer.say(result_of(2, "late"));
    CHECK(s.client.statistics().late_answers == 1);
    CHECK(s.peer.quiet());
}

TEST_CASE("progress restarts the idle clock of a call in a chain", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(1ms, ends)));
    auto call = s.start(s.client.call("slow", comcp::args(), comcp::call_options().timeout(1s).idle_timeout(100ms)));
    CHECK(s.peer.next() == call_of(2, "slow", R"(,"_meta":{"progressToken":2})"));
    s.advance(90ms);
    s.peer.say(progress_of(2, 1));
    s.advance(90ms);
    CHECK_FALSE(call.done());
    s.advance(10ms);
    CHECK(call.failed_with(errc::timed_out));
    CHECK(s.peer.next() == cancelled(2, "timed out"));
    CHECK(s.peer.quiet());
}

TEST_CASE("the caller's cancellation reaches the part, and the peer when it was asked", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(50ms, ends)));
    ends.clear();
    auto held = s.start(s.client.call("held"));
    held.cancel();
    s.settle();
    CHECK(held.failed_with(errc::cancelled));
    CHECK(held.failure().fate == outcome::not_sent);
    CHECK(ends == lines{"given up"});
    CHECK(s.peer.quiet());

    auto sent = s.start(s.client.call("sent"));
    CHECK(s.peer.next() == call_of(3, "sent"));
    sent.cancel();
    s.settle();
    CHECK(sent.failed_with(errc::cancelled));
    CHECK(sent.failure().fate == outcome::unknown);
    CHECK(s.peer.next() == cancelled(3, "cancelled by the caller"));

    running<comcp::answer> at_once(s.executor(), s.client.call("never"));
    at_once.cancel();
    s.settle();
    CHECK((at_once.done() && !at_once.succeeded()));
    CHECK(s.peer.quiet());
}

TEST_CASE("a call that ends with its session says why, wherever it is", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(1h, ends)));
    auto held = s.start(s.client.call("held"));
    auto sent = s.start(s.client.call("sent"));
    const bool closes = GENERATE(true, false);
    if (closes) s.run(s.client.close());
    else s.peer.hang_up();
    s.settle();
    CHECK(held.failed_with(closes ? errc::closed : errc::peer_gone));
    CHECK(held.failure().fate == outcome::not_sent);
    CHECK(sent.failed_with(closes ? errc::closed : errc::peer_gone));
    CHECK(sent.failure().fate == outcome::unknown);
    auto later = s.start(s.client.call("later"));
    CHECK(later.failed_with(closes ? errc::closed : errc::peer_gone));
    CHECK(later.failure().fate == outcome::not_sent);
}

// ---- what else belongs to a call
// -------------------------------------------------------------------------------------

TEST_CASE("progress is delivered before the answer, also when both come at once", "[middleware]")
{
    const bool slow = GENERATE(false, true);
    std::vector<double> values;
    comcp::call_options options;
    options.on_progress([&](const comcp::progress& notice) { values.push_back(notice.value); });
    client_stage s(with([=](middleware_message message, middleware_next next) -> reply_task {
        if (slow && message.method == "notifications/progress") co_await sleep(5ms);
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    }));
    auto call = s.start(s.client.call("a", comcp::args(), options));
    CHECK(s.peer.next() == call_of(2, "a", R"(,"_meta":{"progressToken":2})"));
    s.peer.say(progress_of(2, 1));
    s.peer.say(progress_of(2, 2), progress_of(2, 3), result_of(2, "x"));
    s.advance(20ms);
    CHECK(comcp::to_text(call.value()) == "x");
    CHECK(values == std::vector<double>{1, 2, 3});
    s.peer.say(progress_of(2, 4));
    s.advance(20ms);
    CHECK(values.size() == 3);
    CHECK(s.peer.quiet());
}

TEST_CASE("the output cap and the kept source apply to what comes out of the chain", "[middleware]")
{
    struct short_policy : comcp::default_policy
    {
        using output_cap = comcp::policy::reject;
    };
    comcp::client_options options = with([](middleware_message message, middleware_next next) -> reply_task {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (has(reply.result, "short")) reply.result = text_result(std::string(20, 'x'));
        co_return reply;
    });
    options.keep_source = true;
    comcp::policy_state<short_policy> state;
    state.output_cap = comcp::policy::reject(10);
    basic_client_stage<short_policy> s(std::move(options), "2025-11-25", state);
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call").reply(text_result("short"));
    CHECK_THROWS_AS(comcp::to_text(call.value()), comcp::error);
    CHECK(call.value().source == text_result(std::string(20, 'x')));
    CHECK(s.peer.quiet());
}

TEST_CASE("a request that its exchange did not carry stays not sent", "[middleware]")
{
    lines ends;
    client_stage s(with(holding(1ms, ends)));
    auto call = s.start(s.client.call("a"));
    CHECK(s.peer.next() == call_of(2, "a"));
    comcp::transport_event failed;
    failed.what = comcp::transport_event::kind::exchange_failed;
    failed.exchange = s.peer.wire().hint().exchange;
    failed.why = comcp::fail(errc::busy, "HTTP 503");
    failed.why.fate = outcome::not_sent;
    if (GENERATE(false, true)) { // the refusal may quote an error, which is no reply to the request
        failed.why.rpc = std::make_shared<const comcp::rpc_error>(comcp::rpc_error{-32001, "Session not found", {}});
        failed.why.http = std::make_shared<const comcp::http_error>(comcp::http_error{503, {}, {}});
    }
    s.peer.wire().send(failed);
    s.settle();
    CHECK(call.failed_with(errc::busy));
    CHECK(call.failure().fate == outcome::not_sent);
    CHECK(s.peer.quiet());
}

TEST_CASE("the first call goes out after the notice that the handshake is done", "[middleware]")
{
    comcp::client_options options = with([](middleware_message message, middleware_next next) -> reply_task {
        if (message.method == "notifications/initialized") co_await sleep(10ms);
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    client_stage s(std::move(options), "");
    auto connecting = s.start(s.client.connect());
    s.peer.expect("initialize").reply(welcome());
    CHECK(connecting.succeeded());
    auto call = s.start(s.client.call("a"));
    s.advance(9ms);
    CHECK(s.peer.quiet());
    s.advance(1ms);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    CHECK(s.peer.next() == call_of(2, "a"));
}

// ---- requests of a server to its client ----------------------------------------------------------------------------

namespace
{

comcp::task<json::object> answer_sampling(json::object params)
{
    json::object result;
    result["role"] = "assistant";
    result["content"] = json::value{{"type", "text"}, {"text", params.at("ask").get_string()}};
    result["model"] = "m";
    co_return result;
}

comcp::task<std::string> ask_client(comcp::context ctx)
{
    json::object params;
    params["ask"] = "question";
    const json::object answer = co_await ctx.sample(std::move(params));
    co_return std::string(answer.at("content").at("text").get_string());
}

comcp::middleware noting(lines& into, std::string who)
{
    return [to = &into, who](middleware_message message, middleware_next next) -> reply_task {
        if (message.is_request)
            to->push_back(who + (message.way == direction::inbound ? " < " : " > ") + message.method);
        if (message.method == "sampling/createMessage") {
            const auto at = message.params.find("question");
            message.params.insert(at, who + ' ');
        }
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    };
}

} // namespace

TEST_CASE("what a handler asks the client passes the chains of both", "[middleware]")
{
    lines seen;
    stage s;
    comcp::memory_pipe pipe(s.executor());
    comcp::server server("served", "1");
    server.use(noting(seen, "server"));
    server.tool("ask", "", [](comcp::context& ctx) { return ask_client(ctx); });
    comcp::client_options options = with(noting(seen, "client"));
    options.on_sampling(answer_sampling);
    comcp::client client(std::move(pipe.first), comcp::identity("tester", "1"), std::move(options));
    auto served = s.start(server.serve(std::move(pipe.second)));
    s.run(client.connect());
    seen.clear();
    auto call = s.start(client.call("ask"));
    CHECK(comcp::to_text(call.value()) == "server client question");
    CHECK(seen == lines{"client > tools/call", "server < tools/call", "server > sampling/createMessage",
                        "client < sampling/createMessage"});
    s.run(client.close());
    CHECK(served.succeeded());
}

TEST_CASE("a handler that is cancelled takes its request to the client with it", "[middleware]")
{
    lines seen;
    server_stage s;
    s.server.use(noting(seen, "a"));
    s.server.tool("ask", "", [](comcp::context& ctx) { return ask_client(ctx); });
    s.begin("2025-11-25", R"({"sampling":{}})");
    s.peer.call("1", "ask");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"ask":"a question"}})");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(s.peer.next() == cancelled(1, "cancelled by the caller"));
    s.peer.say(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    CHECK(s.peer.quiet());
}
