// SPDX-License-Identifier: MIT
//
// Middleware around what comes in: requests of the peer, notifications both ways, and who may die when. What a session
// asks itself is in middleware_outbound.cpp.
#include "script.hpp"

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/experimental/awaitable_operators.hpp>
#else
#include <asio/experimental/awaitable_operators.hpp>
#endif

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

struct word
{
    std::string text;
};
BOOST_DESCRIBE_STRUCT(word, (), (text))

std::string said(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + text_result(text) + '}';
}

std::string refused(std::string_view id, int code, std::string_view message, std::string_view data = {})
{
    std::string out = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
                      R"(,"message":")" + std::string(message) + '"';
    if (!data.empty()) out += R"(,"data":)" + std::string(data);
    return out + "}}";
}

comcp::task<void> sleep(comcp::duration time)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
}

/// Writes down what passes, both ways, and how it ended.
reply_task note(lines* into, std::string name, middleware_message message, middleware_next next)
{
    const std::string what = name + (message.way == direction::inbound ? " < " : " > ") + message.method;
    into->push_back(what);
    try {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        into->push_back(what + " done");
        co_return reply;
    } catch (...) {
        into->push_back(what + " failed");
        throw;
    }
}

comcp::middleware noting(lines& into, std::string name)
{
    return [to = &into, name](middleware_message message, middleware_next next) {
        return note(to, name, std::move(message), std::move(next));
    };
}

/// Holds the messages of one method for some time, before they go on.
comcp::middleware holding(std::string method, comcp::duration time, direction way = direction::inbound,
                          lines* ends = nullptr)
{
    return [=](middleware_message message, middleware_next next) -> reply_task {
        if (message.way == way && message.method == method) {
            try {
                co_await sleep(time);
            } catch (...) {
                if (ends) ends->push_back("given up");
                throw;
            }
        }
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    };
}

/// A server with tools that write down what became of them.
struct tools_stage : server_stage
{
    lines ends;
    int echoes = 0;

    explicit tools_stage(comcp::server_options options = {}) : server_stage(std::move(options))
    {
        server.tool("echo", "", [this](word given) {
            ++echoes;
            return given.text;
        });
        server.tool("slow", "", [this] { return slow(this); });
        server.tool("hang", "", hang);
        server.tool("talk", "", [](comcp::context& ctx) {
            ctx.progress(1, 2);
            ctx.log(comcp::log_level::info, "half");
            ctx.progress(2, 2);
            return "told";
        });
    }

    static comcp::task<std::string> slow(tools_stage* self)
    {
        bool cancelled = false;
        try {
            co_await sleep(100ms);
        } catch (...) {
            cancelled = true;
        }
        self->ends.push_back(cancelled ? "cancelled" : "done");
        co_return "slept";
    }

    /// Ends after a second and does not listen to cancellation.
    static comcp::task<std::string> hang()
    {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await sleep(1s);
        co_return "hung";
    }

    void echo(std::string_view id, std::string_view text)
    {
        peer.call(id, "echo", R"({"text":")" + std::string(text) + "\"}");
    }
};

} // namespace

// ---- requests of the peer ------------------------------------------------------------------------------------------

TEST_CASE("parts run in the order in which they were given, the first outermost, both ways", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.server.use(noting(seen, "b"));
    s.begin();
    CHECK(seen == lines{"a < initialize", "b < initialize", "b < initialize done", "a < initialize done",
                        "a < notifications/initialized", "b < notifications/initialized",
                        "b < notifications/initialized done", "a < notifications/initialized done"});
    seen.clear();
    s.echo("1", "x");
    CHECK(s.peer.next() == said("1", "x"));
    CHECK(seen == lines{"a < tools/call", "b < tools/call", "b < tools/call done", "a < tools/call done"});
    seen.clear();
    s.server.tool("new", "", [] { return ""; });
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    CHECK(seen == lines{"a > notifications/tools/list_changed", "b > notifications/tools/list_changed",
                        "b > notifications/tools/list_changed done", "a > notifications/tools/list_changed done"});
    CHECK(s.peer.quiet());
}

TEST_CASE("a part can change the params, the method and the result", "[middleware]")
{
    tools_stage s;
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (message.method == "x/echo") message.method = "tools/call";
        if (has(message.params, "Ada")) message.params = R"({"name":"echo","arguments":{"text":"Bob"}})";
        const bool wraps = has(message.params, "wrap");
        message.id = "77"; // has no effect
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (wraps) reply.result = "{\"content\":[],\n\"was\":" + reply.result + "}";
        co_return reply;
    });
    s.begin();
    s.echo("1", "Ada");
    CHECK(s.peer.next() == said("1", "Bob"));
    s.echo("\"two\"", "wrap");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","id":"two","result":{"content":[], "was":)" + text_result("wrap") + "}}");
    s.peer.ask("3", "x/echo", R"({"name":"echo","arguments":{"text":"by another name"}})");
    CHECK(s.peer.next() == said("3", "by another name"));
    CHECK(s.peer.quiet());
}

TEST_CASE("a part sees who asks for what", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use([&](middleware_message message, middleware_next next) -> reply_task {
        seen.push_back(message.id + ' ' + message.peer + ' ' + std::string(to_string(message.version)) + ' ' +
                       (message.is_request ? "asks " : "tells ") + message.params);
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin("2025-06-18");
    s.echo("\"a\"", "b");
    s.peer.ask("7", "ping");
    CHECK(s.peer.skip_all() == 2);
    CHECK(seen.size() == 4);
    CHECK(seen.at(0) == R"(0  2025-11-25 asks {"protocolVersion":"2025-06-18","capabilities":{},)"
                        R"("clientInfo":{"name":"script","version":"1"}})");
    CHECK(seen.at(1) == " script 2025-06-18 tells ");
    CHECK(seen.at(2) == R"("a" script 2025-06-18 asks {"name":"echo","arguments":{"text":"b"}})");
    CHECK(seen.at(3) == "7 script 2025-06-18 asks ");
}

TEST_CASE("a part can answer by itself, refuse, or fail", "[middleware]")
{
    tools_stage s;
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (has(message.params, "by itself")) co_return middleware_reply(text_result("mine"));
        if (has(message.params, "refuse")) throw comcp::request_error(-32000, "come again \"tomorrow\"");
        if (has(message.params, "data")) {
            json::object data;
            data["at"] = json::array{1, "x"};
            co_return middleware_reply(comcp::rpc_error{-32001, "no", data});
        }
        if (has(message.params, "throw")) throw std::runtime_error("a secret of the host");
        if (has(message.params, "error")) throw comcp::error(comcp::fail(errc::busy, "a secret of the host"));
        if (has(message.params, "nothing")) co_return middleware_reply();
        if (has(message.params, "garbage")) message.params = "{\"name\":";
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin();
    s.echo("1", "by itself");
    CHECK(s.peer.next() == said("1", "mine"));
    s.echo("2", "refuse");
    CHECK(s.peer.next() == refused("2", -32000, R"(come again \"tomorrow\")"));
    s.echo("3", "data");
    CHECK(s.peer.next() == refused("3", -32001, "no", R"({"at":[1,"x"]})"));
    s.echo("4", "throw");
    CHECK(s.peer.next() == refused("4", -32603, "the request failed on its way"));
    s.echo("5", "error");
    CHECK(s.peer.next() == refused("5", -32603, "the request failed on its way"));
    s.echo("6", "nothing");
    CHECK(s.peer.next() == refused("6", -32603, "the request was not answered"));
    s.echo("7", "garbage");
    CHECK(s.peer.next() == refused("7", -32602, "the params were made unreadable on their way"));
    CHECK(s.echoes == 0);
    s.echo("8", "fine");
    CHECK(s.peer.next() == said("8", "fine"));
    CHECK(s.peer.quiet());
}

TEST_CASE("nothing runs twice: a message goes on only once", "[middleware]")
{
    const bool catches = GENERATE(false, true);
    std::vector<std::error_code> failed;
    tools_stage s;
    s.server.use([&](middleware_message message, middleware_next next) -> reply_task {
        auto going = next(message);
        auto reply = co_await std::move(going);
        if (message.method != "tools/call") co_return reply;
        try {
            auto again = next(message);
            auto second = co_await std::move(again);
        } catch (const comcp::error& e) {
            failed.push_back(e.code());
            if (!catches) throw;
        }
        co_return reply;
    });
    s.begin();
    s.echo("1", "once");
    CHECK(s.peer.next() == (catches ? said("1", "once") : refused("1", -32603, "the request failed on its way")));
    CHECK(failed == std::vector<std::error_code>{make_error_code(errc::invalid_argument)});
    CHECK(s.echoes == 1);
    CHECK(s.peer.quiet());
}

TEST_CASE("an error of the handler is a reply, which parts can pass on or change", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use([&](middleware_message message, middleware_next next) -> reply_task {
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (!reply.error) co_return reply;
        std::string data;
        comcp::write_value(data, reply.error->data);
        seen.push_back(std::to_string(reply.error->code) + ' ' + reply.error->message + ' ' + data);
        if (reply.error->code == -32601) co_return middleware_reply("{\"instead\":1}");
        co_return reply;
    });
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (message.method == "x/data")
            co_return middleware_reply(comcp::rpc_error{5, "with data", json::value{{"k", 0.5}}});
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin();
    s.peer.call("1", "missing");
    CHECK(s.peer.next() == refused("1", -32602, "unknown tool: missing"));
    s.peer.ask("2", "x/data");
    CHECK(s.peer.next() == refused("2", 5, "with data", R"({"k":0.5})"));
    s.peer.ask("3", "x/nothing");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":3,"result":{"instead":1}})");
    CHECK(seen == lines{"-32602 unknown tool: missing null", R"(5 with data {"k":0.5})", "-32601 no such method null"});
    CHECK(s.peer.quiet());
}

TEST_CASE("progress and log go out in order and before the answer, also past a part that suspends", "[middleware]")
{
    const auto slow = GENERATE("none", "notifications/progress", "notifications/message");
    tools_stage s;
    s.server.use(holding(slow, 10ms, direction::outbound));
    s.begin();
    s.peer.call("1", "talk", "{}", R"({"progressToken":"p"})");
    s.peer.ask("2", "ping");
    s.advance(1s);
    lines sent;
    for (std::size_t i = 0; i < 5; ++i) sent.push_back(s.peer.next());
    const std::string ping = R"({"jsonrpc":"2.0","id":2,"result":{}})";
    const lines told = {
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}})",
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"half"}})",
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2,"total":2}})",
        said("1", "told")};
    std::erase(sent, ping);
    CHECK(sent == told);
    CHECK(s.peer.quiet());
}

// ---- cancellation --------------------------------------------------------------------------------------------------

TEST_CASE("the peer cancels a request that a part still holds", "[middleware]")
{
    lines held;
    tools_stage s;
    s.server.use(holding("tools/call", 50ms, direction::inbound, &held));
    s.begin();
    s.echo("1", "never");
    s.echo("2", "later");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(held == lines{"given up"});
    s.advance(1s);
    CHECK(s.peer.next() == said("2", "later"));
    CHECK(s.echoes == 1);
    s.echo("1", "the id is free again");
    s.advance(50ms);
    CHECK(s.peer.next() == said("1", "the id is free again"));
    CHECK(s.peer.quiet());
}

TEST_CASE("the peer cancels a request while its handler runs: the handler is told once", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.begin();
    seen.clear();
    s.peer.call("1", "slow");
    s.advance(10ms);
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    CHECK(s.ends == lines{"cancelled"});
    s.advance(1s);
    CHECK(s.ends == lines{"cancelled"});
    CHECK(std::count(seen.begin(), seen.end(), "a < tools/call failed") == 1);
    CHECK(s.peer.quiet());
    s.peer.call("1", "slow");
    s.advance(100ms);
    CHECK(s.peer.next() == said("1", "slept"));
}

TEST_CASE("requests that are cancelled as they come do not fill the session", "[middleware]")
{
    comcp::server_options options;
    options.limits.in_flight = 2;
    tools_stage s(options);
    s.server.use(pass_on);
    s.begin();
    for (int i = 1; i <= 6; ++i) {
        const std::string id = std::to_string(i);
        s.peer.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":"slow"}})",
                   R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}");
    }
    s.advance(1s);
    CHECK(s.peer.quiet());
    s.echo("9", "room");
    CHECK(s.peer.next() == said("9", "room"));
}

TEST_CASE("a part that gives up on its own cancels the handler", "[middleware]")
{
    tools_stage s;
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (message.method != "tools/call") {
            auto going = next(std::move(message));
            co_return co_await std::move(going);
        }
        using namespace asio::experimental::awaitable_operators;
        comcp::timer timer(co_await asio::this_coro::executor);
        auto going = next(std::move(message));
        auto patience = timer.wait_for(20ms);
        auto first = co_await (std::move(going) || std::move(patience));
        if (first.index() == 1) throw comcp::request_error(-32001, "took too long");
        co_return std::get<0>(std::move(first));
    });
    s.begin();
    s.peer.call("1", "slow");
    s.advance(19ms);
    CHECK(s.ends.empty());
    CHECK(s.peer.quiet());
    s.advance(1ms);
    CHECK(s.ends == lines{"cancelled"});
    CHECK(s.peer.next() == refused("1", -32001, "took too long"));
    s.echo("2", "fast");
    CHECK(s.peer.next() == said("2", "fast"));
    s.advance(1s);
    CHECK(s.ends == lines{"cancelled"});
    CHECK(s.peer.quiet());
}

// ---- bounds --------------------------------------------------------------------------------------------------------

TEST_CASE("a request counts once against the limit of requests in flight, wherever it is", "[middleware]")
{
    const bool in_handler = GENERATE(false, true);
    comcp::server_options options;
    options.limits.in_flight = 2;
    tools_stage s(options);
    if (!in_handler) s.server.use(holding("tools/call", 10ms));
    s.server.use(pass_on);
    s.begin();
    s.peer.call("1", "slow");
    s.peer.call("2", "slow");
    CHECK(s.peer.quiet());
    s.echo("3", "x");
    CHECK(s.peer.next() == refused("3", -32603, "too many requests", R"({"retryable":true})"));
    s.advance(1s);
    CHECK(s.peer.next() == said("1", "slept"));
    CHECK(s.peer.next() == said("2", "slept"));
    s.peer.call("4", "slow");
    s.peer.call("5", "slow");
    s.advance(1s);
    CHECK(s.peer.next() == said("4", "slept"));
    CHECK(s.peer.next() == said("5", "slept"));
    CHECK(s.peer.quiet());
}

TEST_CASE("handlers that do not heed their cancellation stay counted", "[middleware]")
{
    comcp::server_options options;
    options.limits.in_flight = 2;
    tools_stage s(options);
    s.server.use(pass_on);
    s.begin();
    s.peer.call("1", "hang");
    s.peer.call("2", "hang");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    s.peer.note("notifications/cancelled", R"({"requestId":2})");
    s.echo("3", "x");
    CHECK(s.peer.next() == refused("3", -32603, "too many requests", R"({"retryable":true})"));
    s.advance(1s);
    s.echo("4", "y");
    CHECK(s.peer.next() == said("4", "y"));
    CHECK(s.peer.quiet());
}

// ---- batches, handshake, ping
// ----------------------------------------------------------------------------------------

TEST_CASE("requests of a batch pass one by one and are answered in one array", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (has(message.params, "refuse")) throw comcp::request_error(1, "no");
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin("2025-03-26");
    seen.clear();
    s.peer.say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}},)"
               R"({"jsonrpc":"2.0","method":"notifications/x"},)"
               R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"refuse"}},)"
               R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{}},)"
               R"({"jsonrpc":"2.0","id":4,"method":"ping"}])");
    CHECK(s.peer.quiet());
    s.advance(100ms);
    const std::string answer = s.peer.next();
    CHECK(parse(R"({"all":)" + answer + "}").at("all").get_array().size() == 4);
    for (const auto& each : {said("1", "slept"), refused("2", 1, "no"), refused("3", -32600, "initialized already"),
                             std::string(R"({"jsonrpc":"2.0","id":4,"result":{}})")})
        CHECK(has(answer, each));
    CHECK(std::count(seen.begin(), seen.end(), "a < notifications/x") == 1);
    CHECK(s.peer.quiet());
}

TEST_CASE("initialize passes the chain: it can be refused and its result changed", "[middleware]")
{
    bool refuses = true;
    tools_stage s;
    s.server.use([&](middleware_message message, middleware_next next) -> reply_task {
        const bool shakes_hands = message.method == "initialize";
        if (shakes_hands && refuses) throw comcp::request_error(-32000, "not yet");
        auto going = next(std::move(message));
        auto reply = co_await std::move(going);
        if (shakes_hands) reply.result.insert(1, R"("x":1,)");
        co_return reply;
    });
    s.listen();
    const auto* hello = R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}})";
    s.peer.ask("0", "initialize", hello);
    CHECK(s.peer.next() == refused("0", -32000, "not yet"));
    s.peer.ask("1", "tools/call", R"({"name":"echo"})");
    CHECK(s.peer.next() == refused("1", -32600, "initialize comes first"));
    refuses = false;
    s.peer.ask("2", "initialize", hello);
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"result":{"x":1,"protocolVersion":"2025-06-18",)"
                           R"("capabilities":{"tools":{"listChanged":true},"logging":{}},)"
                           R"("serverInfo":{"name":"served","version":"1"}}})");
    s.echo("3", "on");
    CHECK(s.peer.next() == said("3", "on"));
    CHECK(s.peer.quiet());
}

TEST_CASE("what is no good request never gets into the chain", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.begin();
    seen.clear();
    s.peer.ask("1", "tools/call", "[1]");
    CHECK(s.peer.next() == refused("1", -32602, "params must be an object"));
    s.peer.say("{");
    CHECK(has(s.peer.next(), "-32700"));
    s.peer.call("2", "slow");
    seen.clear();
    s.echo("2", "the same id");
    CHECK(s.peer.next() == refused("2", -32600, "the id of this request is in use"));
    CHECK(seen.empty());
    s.advance(1s);
    CHECK(s.peer.next() == said("2", "slept"));
    CHECK(s.peer.quiet());
}

// ---- notifications -------------------------------------------------------------------------------------------------

TEST_CASE("notifications of the peer pass one at a time and in order, and delay nothing else", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.server.use(holding("notifications/x", 10ms));
    s.begin();
    seen.clear();
    s.peer.say(R"({"jsonrpc":"2.0","method":"notifications/x","params":{"n":1}})",
               R"({"jsonrpc":"2.0","method":"notifications/y"})", R"({"jsonrpc":"2.0","id":1,"method":"ping"})",
               R"({"jsonrpc":"2.0","method":"notifications/z","params":{}})");
    CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
    std::erase_if(seen, [](const std::string& each) { return has(each, "ping"); });
    CHECK(seen == lines{"a < notifications/x"});
    s.advance(10ms);
    CHECK(seen == lines{"a < notifications/x", "a < notifications/x done", "a < notifications/y",
                        "a < notifications/y done", "a < notifications/z", "a < notifications/z done"});
    CHECK(s.peer.quiet());
}

TEST_CASE("notifications that wait are bounded, but a cancellation always gets through", "[middleware]")
{
    lines seen;
    comcp::server_options options;
    options.limits.notices = 3;
    tools_stage s(options);
    s.server.use(noting(seen, "a"));
    s.server.use(holding("notifications/x", 10ms));
    s.begin();
    s.peer.call("1", "slow");
    seen.clear();
    for (int i = 0; i < 20; ++i) s.peer.note("notifications/x");
    s.peer.note("notifications/cancelled", R"({"requestId":1})");
    s.advance(45ms); // one had begun, three waited
    CHECK(std::count(seen.begin(), seen.end(), "a < notifications/x done") == 4);
    CHECK(s.ends == lines{"cancelled"});
    s.advance(1s);
    CHECK(s.peer.quiet());
}

TEST_CASE("a notification can be dropped, changed, or lost to a part that fails", "[middleware]")
{
    tools_stage s;
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (message.method == "notifications/message") co_return middleware_reply();
        if (has(message.params, R"("progress":1)")) throw std::runtime_error("x");
        if (has(message.params, R"("progress":2)")) message.params = R"({"progressToken":1,"progress":20})";
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin();
    s.peer.call("1", "talk", "{}", R"({"progressToken":1})");
    CHECK(s.peer.next() ==
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":20}})");
    CHECK(s.peer.next() == said("1", "told"));
    CHECK(s.peer.quiet());
}

// ---- the end -------------------------------------------------------------------------------------------------------

TEST_CASE("after the end of its input a server still answers what is in the chain", "[middleware]")
{
    tools_stage s;
    s.server.use(holding("tools/call", 50ms));
    s.begin();
    s.echo("1", "late");
    s.peer.hang_up();
    CHECK_FALSE(s.served->done());
    s.advance(50ms);
    CHECK(s.peer.next() == said("1", "late"));
    CHECK(s.served->succeeded());
}

TEST_CASE("a server that closes cancels what its parts wait for, and answers nothing more", "[middleware]")
{
    lines held;
    tools_stage s;
    s.server.use(holding("tools/call", 1h, direction::inbound, &held));
    s.begin();
    s.echo("1", "never");
    s.server.close();
    s.settle();
    CHECK(held == lines{"given up"});
    CHECK(s.served->succeeded());
    CHECK(s.echoes == 0);
    CHECK(s.peer.quiet());
}

namespace
{

/// Client, server and io_context, each with a part that waits, to be destroyed one by one.
struct waiting_parts
{
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time{*io};
    std::optional<comcp::memory_pipe> pipe{io->get_executor()};
    std::unique_ptr<comcp::client> client;
    std::unique_ptr<comcp::server> server = std::make_unique<comcp::server>("served", "1");
    std::optional<running<comcp::fault>> served;
    std::optional<running<comcp::answer>> call;

    /// Before or after what comes next, for an hour.
    static comcp::middleware waits(std::string method, direction way, bool after)
    {
        return [=](middleware_message message, middleware_next next) -> reply_task {
            const bool mine = message.method == method && message.way == way;
            if (mine && !after) co_await sleep(1h);
            auto going = next(std::move(message));
            auto reply = co_await std::move(going);
            if (mine && after) co_await sleep(1h);
            co_return reply;
        };
    }

    explicit waiting_parts(int where)
    {
        comcp::client_options options;
        options.use(pass_on);
        if (where < 2) options.use(waits("tools/call", direction::outbound, where == 1));
        if (where == 2) options.use(waits("notifications/message", direction::inbound, false));
        server->use(pass_on);
        if (where == 3 || where == 4) server->use(waits("tools/call", direction::inbound, where == 4));
        if (where == 5) server->use(waits("notifications/message", direction::outbound, false));
        server->use(pass_on);
        server->tool("work", "", [where](comcp::context& ctx) -> comcp::task<std::string> {
            ctx.log(comcp::log_level::info, "working");
            if (where == 6) co_await sleep(1h);
            co_return "worked";
        });
        client =
            std::make_unique<comcp::client>(std::move(pipe->first), comcp::identity("tester", "1"), std::move(options));
        served.emplace(io->get_executor(), server->serve(std::move(pipe->second)));
        time->settle();
        running<void> connecting(io->get_executor(), client->connect());
        time->settle();
        connecting.value();
        call.emplace(io->get_executor(), client->call("work"));
        time->settle();
    }
    void kill(int which, bool settles)
    {
        if (which == 0) client.reset();
        if (which == 1) server.reset();
        if (which == 2) {
            time.reset();
            io.reset();
        }
        if (settles && time) time->settle();
    }
};

} // namespace

TEST_CASE("client, server and io_context die in any order while parts wait", "[middleware]")
{
    const int where = GENERATE(range(0, 7));
    const int order = GENERATE(range(0, 6));
    const bool settles = GENERATE(true, false);
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    waiting_parts p(where);
    CHECK(p.call->done() == (where == 2));
    for (const int which : orders[order]) p.kill(which, settles);
    if (settles && order < 4) CHECK(p.call->done());
}

TEST_CASE("a client that closes while parts wait ends its calls as closed, and both ends are joined", "[middleware]")
{
    const int where = GENERATE(range(0, 7));
    waiting_parts p(where);
    running<void> closing(p.io->get_executor(), p.client->close());
    p.time->advance(20s);
    CHECK(closing.succeeded());
    CHECK(p.served->done());
    REQUIRE(p.call->done());
    if (where == 2) return;
    CHECK(p.call->failed_with(errc::closed));
    CHECK(p.call->failure().fate == (where == 0 ? outcome::not_sent : outcome::unknown));
}

TEST_CASE("two sessions share one chain and do not wait for each other", "[middleware]")
{
    lines seen;
    tools_stage s;
    s.server.use(noting(seen, "a"));
    s.server.use([](middleware_message message, middleware_next next) -> reply_task {
        if (has(message.params, "held")) co_await sleep(10ms);
        auto going = next(std::move(message));
        co_return co_await std::move(going);
    });
    s.begin();
    script::peer second(s);
    auto served = s.start(s.server.serve(second.wire().take_transport()));
    second.ask("0", "initialize",
               R"({"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"other","version":"1"}})");
    CHECK(has(second.next(), "2024-11-05"));
    seen.clear();
    s.echo("1", "held");
    second.call("1", "echo", R"({"text":"at once"})");
    CHECK(second.next() == said("1", "at once"));
    CHECK(s.peer.quiet());
    second.hang_up();
    CHECK(served.succeeded());
    s.advance(10ms);
    CHECK(s.peer.next() == said("1", "held"));
    CHECK(seen == lines{"a < tools/call", "a < tools/call", "a < tools/call done", "a < tools/call done"});
}
