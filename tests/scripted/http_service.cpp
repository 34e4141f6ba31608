// SPDX-License-Identifier: MIT
// A server behind HTTP: which request is answered how. Streams that break, ends and destruction have their own files.
#include "http_service_script.hpp"

using namespace script::hosted;

namespace
{

const std::string missing = error_text(-32600, "Mcp-Session-Id is missing");
const std::string unknown = error_text(-32600, "the session is unknown or has ended");

} // namespace

TEST_CASE("A handshake over HTTP gives a session id with its answer")
{
    service_stage s;
    auto hello = s.post(hello_text());
    CHECK(hello.status() == 200);
    CHECK(hello.field("Content-Type") == "application/json");
    CHECK(hello.object().at("result").at("protocolVersion").get_string() == "2025-11-25");
    s.client.session = hello.field("Mcp-Session-Id");
    CHECK(s.client.session.size() == 32);
    CHECK(s.service->sessions() == 1);

    auto ready = s.post(notice_text("notifications/initialized"));
    CHECK(ready.status() == 202);
    CHECK(ready.body().empty());
    CHECK(ready.field("Content-Type").empty());
}

TEST_CASE("An answer that comes first is one JSON text")
{
    service_stage s;
    s.server->tool("echo", "", [] { return "e"; });
    s.begin();
    auto answer = s.post(call_text("7", "echo"));
    CHECK(answer.status() == 200);
    CHECK(answer.field("Content-Type") == "application/json");
    CHECK_FALSE(answer.is_stream());
    CHECK(answer.body() == text_answer("7", "e"));
}

TEST_CASE("What a handler says before its answer makes a stream, in order and with the answer last [E-17]")
{
    service_stage s;
    s.server->tool("work", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.progress(1);
        ctx.log(comcp::log_level::info, "half");
        std::string text = co_await wait_for(1s);
        co_return text;
    });
    s.begin("2025-06-18");
    auto answer = s.post(call_text("7", "work", R"({"progressToken":"t"})"));
    REQUIRE(answer.done());
    CHECK(answer.status() == 200);
    CHECK(answer.field("X-Accel-Buffering") == "no");
    CHECK(answer.field("Cache-Control") == "no-cache");
    auto& stream = answer.stream();
    CHECK(stream.messages().size() == 2);
    CHECK_FALSE(stream.ended());
    s.advance(1s);
    CHECK(stream.ended());
    const auto messages = stream.messages();
    REQUIRE(messages.size() == 3);
    CHECK(messages[0] ==
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}})");
    CHECK(has(messages[1], "notifications/message"));
    CHECK(messages[2] == text_answer("7", "done"));
    CHECK(s.service->streams() == 0);
}

TEST_CASE("A session ends with DELETE, and is unknown from then on [94] [106]")
{
    service_stage s;
    s.begin();
    auto gone = s.end();
    CHECK(gone.status() == 204);
    CHECK(gone.body().empty());
    CHECK(s.service->sessions() == 0);
    auto again = s.end();
    CHECK(again.status() == 404);
    CHECK(again.body() == unknown);
    CHECK(s.post(call_text("1", "echo")).body() == unknown);
    CHECK(s.get().status() == 404);
}

TEST_CASE("DELETE ends calls and streams of its session in order: whoever waits is told that nothing is known")
{
    service_stage s;
    bool cancelled = false;
    s.server->tool("slow", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        try {
            std::string text = co_await wait_for(1h);
            co_return text;
        } catch (...) {
            cancelled = ctx.cancelled();
            throw;
        }
    });
    s.begin();
    auto call = s.post(call_text("1", "slow"));
    auto stream = s.get();
    CHECK_FALSE(stream.stream().ended());
    CHECK(s.end().status() == 204);
    CHECK(cancelled);
    CHECK(call.status() == 500);
    CHECK(call.field("Retry-After").empty()); // with it, a client could take the call for one that never ran
    CHECK(call.body() == error_text(-32603, "the session ended before there was an answer"));
    CHECK(stream.stream().ended());
    CHECK(s.service->streams() == 0);
}

// ---- which session -------------------------------------------------------------------------------------------------

TEST_CASE("A request without a session is a bad one, and makes none [106]")
{
    service_stage s;
    s.server->tool("echo", "", [] { return "e"; });
    const bool with_version = GENERATE(false, true);
    if (with_version) s.client.version = "2025-11-25";
    SECTION("a notification or an answer")
    {
        const auto* text = GENERATE(R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                                    R"({"jsonrpc":"2.0","id":1,"result":{}})");
        auto answer = s.post(text);
        CHECK(answer.status() == 400);
        CHECK(answer.body() == missing);
    }
    SECTION("a ping, which a session would answer")
    {
        auto answer = s.post(request_text("1", "ping"));
        CHECK(answer.status() == 400);
        CHECK(answer.body() == missing);
    }
    SECTION("a method that is not there")
    {
        auto answer = s.post(request_text("1", "server/discover"));
        CHECK(answer.status() == 400);
        CHECK(answer.body() == missing);
    }
    SECTION("a call, which says what is missing")
    {
        auto answer = s.post(call_text("1", "echo"));
        CHECK(answer.status() == 400);
        CHECK(answer.body() ==
              R"({"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize comes first"}})");
    }
    SECTION("GET and DELETE")
    {
        auto stream = s.get();
        CHECK(stream.status() == 400);
        CHECK(stream.body() == missing);
        CHECK(s.end().status() == 400);
    }
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->streams() == 0);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("A session id that was never given is unknown, whatever is asked [106]")
{
    service_stage s;
    s.begin();
    s.client.session = GENERATE(as<std::string>(), "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\x7F", "-");
    CHECK(s.post(call_text("1", "echo")).status() == 404);
    CHECK(s.post(hello_text()).status() == 404);
    CHECK(s.post("junk").status() == 404);
    CHECK(s.get().status() == 404);
    CHECK(s.get("1-2-3").status() == 404);
    CHECK(s.end().status() == 404);
    CHECK(s.service->sessions() == 1);
}

TEST_CASE("A second initialize of a session is refused, and one without the field makes another session")
{
    service_stage s;
    s.begin();
    auto twice = s.post(hello_text());
    CHECK(twice.status() == 400);
    CHECK(twice.object().at("error").at("message").get_string() == "initialized already");
    s.connect();
    CHECK(s.service->sessions() == 2);
}

TEST_CASE("Two clients at once have two sessions, also with the same ids [39] [109]")
{
    service_stage s;
    auto hello_a = s.send(caller().make("POST", hello_text()));
    auto hello_b = s.send(caller().make("POST", hello_text()));
    CHECK(hello_a.status() == 200);
    CHECK(hello_b.status() == 200);
    CHECK(hello_a.field("Mcp-Session-Id") != hello_b.field("Mcp-Session-Id"));
    s.server->tool("who", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        std::string version(comcp::to_string(ctx.version()));
        co_await wait_for(version == "2025-11-25" ? 2s : 1s);
        co_return version;
    });
    const caller one = s.connect("2025-11-25");
    const caller two = s.connect("2025-03-26");
    CHECK(one.session != two.session);
    auto first = s.send(one.make("POST", call_text("1", "who")));
    auto second = s.send(two.make("POST", call_text("1", "who")));
    const auto ping = [&s](const caller& by) { return s.send(by.make("POST", request_text("2", "ping"))).body(); };
    CHECK(ping(one) == answer_text("2", "{}"));
    CHECK(ping(two) == answer_text("2", "{}"));
    CHECK_FALSE(first.done());
    CHECK_FALSE(second.done());
    s.advance(1s);
    CHECK_FALSE(first.done()); // [39]: the second one ends first
    CHECK(second.body() == text_answer("1", "2025-03-26"));
    CHECK(ping(one) == answer_text("2", "{}"));
    CHECK_FALSE(first.done());
    s.advance(1s);
    CHECK(first.body() == text_answer("1", "2025-11-25"));
}

TEST_CASE("An id that is in flight in its session is refused on every other request")
{
    service_stage s;
    s.server->tool("slow", "", [] { return wait_for(1s); });
    s.begin();
    auto first = s.post(call_text("1", "slow"));
    auto second = s.post(call_text("1", "slow"));
    CHECK(second.status() == 400);
    CHECK(second.code() == -32600);
    s.advance(1s);
    CHECK(first.body() == text_answer("1", "done"));
}

TEST_CASE("Beyond the requests in flight of its session a request is refused, until one of them is answered")
{
    comcp::server_options options;
    options.limits.in_flight = 2;
    service_stage s({}, std::move(options));
    s.server->tool("slow", "", [] { return wait_for(2s); });
    s.begin();
    const caller other = s.connect();
    const auto refused = [&s](std::string_view id) {
        auto answer = s.post(call_text(id, "slow"));
        CHECK(answer.status() == 200);
        CHECK(answer.field("Content-Type") == "application/json");
        CHECK(answer.body() == R"({"jsonrpc":"2.0","id":)" + std::string(id) +
                                   R"(,"error":{"code":-32603,"message":"too many requests",)"
                                   R"("data":{"retryable":true}}})");
    };
    auto first = s.post(call_text("1", "slow"));
    s.advance(1s);
    auto second = s.post(call_text("2", "slow"));
    refused("3");
    CHECK(s.post(request_text("4", "ping")).body() == answer_text("4", "{}"));
    auto elsewhere = s.send(other.make("POST", call_text("1", "slow"))); // each session has its own room
    CHECK_FALSE(first.done());
    s.advance(1s);
    CHECK(first.body() == text_answer("1", "done"));
    CHECK_FALSE(second.done());
    auto third = s.post(call_text("3", "slow"));
    refused("5");
    s.advance(1s);
    CHECK(second.body() == text_answer("2", "done"));
    CHECK(elsewhere.body() == text_answer("1", "done"));
    CHECK_FALSE(third.done());
    s.advance(1s);
    CHECK(third.body() == text_answer("3", "done"));
}

TEST_CASE("Sessions belong to their principal; to all others they do not exist [K-9]")
{
    comcp::http_service_options options;
    const bool as_coroutine = GENERATE(false, true);
    if (as_coroutine)
        options.authorize([](const http::request& head) -> comcp::task<comcp::http_access> {
            const std::string who(head.fields.find("Authorization").value_or(""));
            co_await wait_for(1ms);
            co_return comcp::http_access::allow(who);
        });
    else
        options.authorize([](const http::request& head) {
            return comcp::http_access::allow(std::string(head.fields.find("Authorization").value_or("")));
        });
    service_stage s(std::move(options));
    s.server->tool("who", "", [](comcp::context& ctx) { return ctx.principal(); });
    const auto send = [&](http::request what) {
        auto sent = s.send(std::move(what));
        s.advance(1ms);
        return sent;
    };
    caller ada;
    ada.principal = "ada";
    ada.session = send(ada.make("POST", hello_text())).field("Mcp-Session-Id");
    REQUIRE(ada.session.size() == 32);
    CHECK(send(ada.make("POST", call_text("1", "who"))).body() == text_answer("1", "ada"));

    caller other = ada;
    other.principal = GENERATE(as<std::string>(), "", "bob", "Ada");
    CHECK(send(other.make("POST", call_text("2", "who"))).body() == unknown);
    CHECK(send(other.make("GET")).status() == 404);
    CHECK(send(other.make("DELETE")).status() == 404);
    CHECK(send(ada.make("POST", call_text("3", "who"))).status() == 200);
}

TEST_CASE("What the authorization refuses is answered as it says, before sessions are looked at")
{
    comcp::http_service_options options;
    const int how = GENERATE(0, 1, 2);
    options.authorize([how](const http::request& head) -> comcp::http_access {
        if (how == 1) throw std::runtime_error("the key store is gone");
        if (how == 2 && head.method == "POST") return comcp::http_access::allow();
        http::response answer;
        answer.status = 401;
        answer.fields.add("WWW-Authenticate", "Bearer");
        return comcp::http_access::refuse(std::move(answer));
    });
    service_stage s(std::move(options));
    s.client.session = "unknown";
    http::request what = s.client.make("GET");
    what.fields.add("Origin", "http://localhost:3000");
    auto answer = s.send(std::move(what));
    CHECK(answer.status() == (how == 1 ? 500 : 401));
    CHECK_FALSE(has(answer.body(), "key store"));
    if (how != 1) CHECK(answer.field("WWW-Authenticate") == "Bearer");
    CHECK(answer.field("Access-Control-Allow-Origin") == "http://localhost:3000");
    if (how == 2) CHECK(s.post("{}").status() == 404);
}

// ---- what is no message --------------------------------------------------------------------------------------------

TEST_CASE("A body that is no message is a bad request, and the session goes on [143]")
{
    service_stage s;
    s.begin();
    std::string deep;
    for (int i = 0; i < 10000; ++i) deep += R"({"a":)";
    const auto bad = GENERATE_COPY(
        as<std::pair<std::string, int>>(), std::pair(std::string(), -32700), std::pair(std::string("junk"), -32700),
        std::pair(std::string("{\"a\":"), -32700), std::pair(std::string("[]"), -32600),
        std::pair(std::string("1"), -32600), std::pair(std::string(R"({"id":1,"method":"ping"})"), -32600),
        std::pair(std::string(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600), std::pair(deep, -32700));
    auto answer = s.post(bad.first);
    CHECK(answer.status() == 400);
    CHECK(answer.field("Content-Type") == "application/json");
    CHECK(answer.code() == bad.second);
    CHECK(s.post(request_text("2", "ping")).body() == answer_text("2", "{}"));
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("Without a session, a body that is no message says so itself")
{
    service_stage s;
    auto answer = s.post("junk");
    CHECK(answer.status() == 400);
    CHECK(answer.code() == -32700);
    CHECK(s.service->sessions() == 0);
}

TEST_CASE("Errors of well-formed requests are answers like any other")
{
    service_stage s;
    s.begin();
    // An unknown method is answered whole, and leaves nothing open: SHAPE 44.
    const std::string unknown = request_text(R"("123-abc")", "foo/bar");
    const std::string no_such =
        R"({"jsonrpc":"2.0","id":"123-abc","error":{"code":-32601,"message":"no such method"}})";
    auto none = s.post(unknown);
    CHECK(none.status() == 200);
    CHECK_FALSE(none.is_stream());
    CHECK(none.body() == no_such);
    http::request streams_only = s.client.make("POST", unknown);
    streams_only.fields.set("Accept", "text/event-stream");
    auto streamed = s.send(std::move(streams_only));
    CHECK(streamed.stream().messages() == std::vector{no_such});
    CHECK(streamed.stream().ended());
    auto tool = s.post(call_text("2", "nothing"));
    CHECK(tool.status() == 200);
    CHECK(tool.code() == -32602);
}

TEST_CASE("A batch is one answer where the revision has batches, and a bad request elsewhere [A-9]")
{
    service_stage s;
    s.server->tool("echo", "", [] { return "e"; });
    s.server->tool("slow", "", [] { return wait_for(1s); });
    const std::string both = '[' + call_text("1", "slow") + ',' + call_text("2", "echo") + ']';
    SECTION("2025-03-26")
    {
        s.begin("2025-03-26");
        auto answer = s.post(both);
        CHECK_FALSE(answer.done());
        s.advance(1s);
        CHECK(answer.status() == 200);
        CHECK(answer.body() == '[' + text_answer("2", "e") + ',' + text_answer("1", "done") + ']');

        auto notices = s.post('[' + notice_text("notifications/x") + ',' + notice_text("notifications/y") + ']');
        CHECK(notices.status() == 202);
        CHECK(notices.body().empty());

        auto cancelled = s.post('[' + call_text("3", "slow") + ']');
        CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":3})")).status() == 202);
        CHECK(cancelled.done());
    }
    SECTION("later")
    {
        s.begin(GENERATE("2025-06-18", "2025-11-25"));
        auto answer = s.post(both);
        CHECK(answer.status() == 400);
        CHECK(answer.code() == -32600);
    }
    SECTION("initialize in a batch")
    {
        auto answer = s.post('[' + hello_text() + ']');
        CHECK(answer.status() == 400);
        CHECK(s.service->sessions() == 0);
    }
}

TEST_CASE("Notifications and answers are taken with 202 and nothing else [86]")
{
    service_stage s;
    s.begin();
    const auto* text = GENERATE(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})",
                                R"({"jsonrpc":"2.0","method":"notifications/never/heard/of"})",
                                R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})",
                                R"({"jsonrpc":"2.0","id":77,"result":{}})",
                                R"({"jsonrpc":"2.0","id":77,"error":{"code":-1,"message":"no"}})");
    auto answer = s.post(text);
    CHECK(answer.status() == 202);
    CHECK(answer.body().empty());
    CHECK_FALSE(answer.is_stream());
    CHECK(answer.response().fields.empty());
}

// ---- the head ------------------------------------------------------------------------------------------------------

TEST_CASE("A client gets a form that it accepts, and 406 only if nothing fits [89]")
{
    service_stage s;
    s.server->tool("echo", "", [] { return "e"; });
    s.begin();
    struct accept
    {
        const char* text;
        bool json;
    };
    const auto wanted =
        GENERATE(accept{"application/json, text/event-stream", true}, accept{"application/json", true},
                 accept{"*/*", true}, accept{"application/*;q=0.9, text/event-stream", true}, accept{"", true},
                 accept{"text/event-stream", false}, accept{"TEXT/Event-Stream;q=0.1", false});
    http::request what = s.client.make("POST", call_text("1", "echo"));
    what.fields.erase("Accept");
    if (*wanted.text) what.fields.add("Accept", wanted.text);
    auto answer = s.send(std::move(what));
    CHECK(answer.status() == 200);
    CHECK(answer.is_stream() != wanted.json);
    if (wanted.json) CHECK(answer.body() == text_answer("1", "e"));
    else CHECK(answer.stream().messages() == std::vector{text_answer("1", "e")});
}

TEST_CASE("An error of HTTP is JSON even for a client that wants only streams")
{
    service_stage s;
    s.begin();
    http::request what = s.client.make("POST", "junk");
    what.fields.set("Accept", "text/event-stream");
    auto answer = s.send(std::move(what));
    CHECK(answer.status() == 400);
    CHECK(answer.field("Content-Type") == "application/json");
}

TEST_CASE("A head that is refused is refused before its body and before its session [84] [88] [89] [141] [E-2]")
{
    service_stage s;
    s.begin();
    struct head
    {
        const char* method;
        const char* name;
        const char* value;
        int status;
    };
    const auto bad =
        GENERATE(head{"POST", "Accept", "text/html", 406}, head{"GET", "Accept", "application/json", 406},
                 head{"POST", "Content-Type", "text/plain", 415}, head{"POST", "Content-Type", "", 415},
                 head{"POST", "Host", "evil.example.com", 403}, head{"GET", "Host", "evil.example.com", 403},
                 head{"DELETE", "Host", "evil.example.com", 403}, head{"OPTIONS", "Host", "evil.example.com", 403},
                 head{"PUT", "Host", "evil.example.com", 403}, head{"POST", "Origin", "https://evil.example.com", 403},
                 head{"GET", "Origin", "null", 403}, head{"DELETE", "Origin", "https://evil.example.com", 403},
                 head{"OPTIONS", "Origin", "https://evil.example.com", 403},
                 head{"POST", "MCP-Protocol-Version", "2026-07-28", 400}, head{"GET", "MCP-Protocol-Version", "1", 400},
                 head{"DELETE", "MCP-Protocol-Version", "latest", 400});
    http::request what = s.client.make(bad.method);
    what.fields.erase(bad.name);
    if (*bad.value) what.fields.add(bad.name, bad.value);
    auto refused = s.start(s.service->refuse(what));
    REQUIRE(refused.value());
    CHECK(refused.value()->status == bad.status);
    CHECK(refused.value()->fields.find("Content-Type") == "application/json");
    CHECK_FALSE(refused.value()->stream);
}

TEST_CASE("Loopback names with any port, JSON in any spelling, and any known version may go on [84] [141]")
{
    service_stage s;
    s.begin();
    struct head
    {
        const char* name;
        const char* value;
    };
    const auto good =
        GENERATE(head{"Host", "localhost:6575"}, head{"Host", "LOCALHOST"}, head{"Host", "[::1]"},
                 head{"Host", "[::1]:8765"}, head{"Host", "127.0.0.1."}, head{"Origin", "http://localhost:3000"},
                 head{"Content-Type", "application/json; charset=utf-8"}, head{"Content-Type", "Application/JSON"},
                 head{"Content-Type", R"(application/json;charset="UTF-8")"},
                 head{"MCP-Protocol-Version", "2025-03-26"}, head{"MCP-Protocol-Version", "2025-06-18"});
    http::request what = s.client.make("POST", request_text("1", "ping"));
    what.fields.set(good.name, good.value);
    CHECK(s.send(std::move(what)).body() == answer_text("1", "{}"));
}

TEST_CASE("Without MCP-Protocol-Version it is the one of the session [E-42]")
{
    service_stage s;
    s.begin("2025-03-26");
    s.client.version.clear();
    CHECK(s.post('[' + request_text("1", "ping") + ']').body() == '[' + answer_text("1", "{}") + ']');
}

TEST_CASE("Other paths and methods are told so, and a query makes no difference")
{
    service_stage s(comcp::http_service_options().path("/tools/mcp"));
    const auto status = [&](std::string_view method, std::string_view target) {
        http::request what = s.client.make(method, method == "POST" ? request_text("1", "ping") : "");
        what.target = target;
        return s.send(std::move(what));
    };
    CHECK(status("POST", "/mcp").status() == 404);
    CHECK(status("POST", "/tools/mcp/").status() == 404);
    CHECK(status("GET", "/").status() == 404);
    CHECK(status("POST", "/tools/mcp?x=1").body() == missing);
    auto put = status("PUT", "/tools/mcp");
    CHECK(put.status() == 405);
    CHECK(put.field("Allow") == "GET, POST, DELETE, OPTIONS");
    auto options = status("OPTIONS", "/tools/mcp");
    CHECK(options.status() == 204);
    CHECK(options.body().empty());
}

TEST_CASE("Every answer to a page that may call carries what its browser asks for [E-5]")
{
    service_stage s(
        comcp::http_service_options().allow_host("mcp.example.com").allow_origin("https://app.example.com"));
    s.server->tool("work", "", [](comcp::context& ctx) {
        ctx.log(comcp::log_level::info, "x");
        return "w";
    });
    s.begin();
    const auto from_page = [&](http::request what) {
        what.fields.set("Host", "mcp.example.com");
        what.fields.add("Origin", "https://app.example.com");
        auto answer = s.send(std::move(what));
        CHECK(answer.field("Access-Control-Allow-Origin") == "https://app.example.com");
        return answer.status();
    };
    caller fresh;
    CHECK(from_page(fresh.make("POST", hello_text())) == 200);
    CHECK(from_page(s.client.make("POST", call_text("1", "work"))) == 200);
    CHECK(from_page(s.client.make("POST", request_text("2", "ping"))) == 200);
    CHECK(from_page(s.client.make("POST", notice_text("x"))) == 202);
    CHECK(from_page(s.client.make("POST", "junk")) == 400);
    CHECK(from_page(s.client.make("PUT")) == 405);
    CHECK(from_page(s.client.make("GET")) == 200);
    CHECK(from_page(s.client.make("DELETE")) == 204);
    CHECK(from_page(s.client.make("DELETE")) == 404);
}

TEST_CASE("An allowed host or origin that is none is told when the service is made")
{
    service_stage s;
    const auto make = [&](comcp::http_service_options options) {
        comcp::http_service made(s.executor(), *s.server, std::move(options));
    };
    CHECK_THROWS_AS(make(comcp::http_service_options().allow_host("a b")), comcp::error);
    CHECK_THROWS_AS(make(comcp::http_service_options().allow_origin("nowhere")), comcp::error);
    CHECK_THROWS_AS(comcp::http_service_options().retry(0s), comcp::error);
}

// ---- talk beside the answer ----------------------------------------------------------------------------------------

TEST_CASE("A cancellation that is posted ends the exchange of the other POST [E-32]")
{
    service_stage s;
    bool ended = false;
    s.server->tool("slow", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        if (ctx.request_id() == "2") ctx.log(comcp::log_level::info, "begun");
        try {
            std::string text = co_await wait_for(1h);
            co_return text;
        } catch (...) {
            ended = true;
            throw;
        }
    });
    s.begin("2025-06-18");
    SECTION("nothing was sent: a stream that ends")
    {
        auto call = s.post(call_text("1", "slow"));
        CHECK_FALSE(call.done());
        CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":1})")).status() == 202);
        CHECK(ended);
        CHECK(call.stream().ended());
        CHECK(call.stream().text().empty());
    }
    SECTION("nothing was sent, and the client takes no stream")
    {
        http::request what = s.client.make("POST", call_text("1", "slow"));
        what.whole_answer = GENERATE(false, true);
        if (!what.whole_answer) what.fields.set("Accept", "application/json");
        auto call = s.send(std::move(what));
        CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":1})")).status() == 202);
        CHECK(call.status() == 202);
        CHECK(call.body().empty());
    }
    SECTION("the stream has begun: it ends without an answer")
    {
        auto call = s.post(call_text("2", "slow"));
        CHECK(call.stream().messages().size() == 1);
        CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":2})")).status() == 202);
        CHECK(call.stream().ended());
        CHECK(call.stream().messages().size() == 1);
    }
    CHECK(s.service->streams() == 0);
    CHECK(s.service->memory()->used() == 0);
}

TEST_CASE("A cancelled call that had sent nothing does not ask its client to come back [E-36]")
{
    service_stage s;
    s.server->tool("slow", "", [](comcp::context&) { return wait_for(1h); });
    s.begin("2025-11-25");
    auto call = s.post(call_text("1", "slow"));
    CHECK(s.post(notice_text("notifications/cancelled", R"({"requestId":1})")).status() == 202);
    CHECK(call.stream().ended());
    CHECK(call.stream().text().empty()); // neither an id nor a time to retry
}

TEST_CASE("A host that can answer only once gets a whole answer, whatever its client accepts")
{
    service_stage s;
    s.server->tool("hello", "", [] { return "hello"; });
    s.begin("2025-11-25");
    http::request what = s.client.make("POST", call_text("1", "hello"));
    what.whole_answer = true;
    what.fields.set("Accept", "text/event-stream");
    auto call = s.send(std::move(what));
    CHECK(call.status() == 200);
    CHECK(call.body() == text_answer("1", "hello"));
}

TEST_CASE("Behind a host that can answer only once there are no streams: what needs one is dropped, or fails at once")
{
    const bool with_sessions = GENERATE(true, false);
    service_stage s(comcp::http_service_options().sessions(with_sessions));
    comcp::fault why;
    s.server->tool("ask", "", [&](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.progress(1);
        ctx.log(comcp::log_level::warning, "dropped");
        const auto roots = co_await comcp::as_result(ctx.list_roots());
        if (!roots) why = roots.error();
        co_return "asked";
    });
    const auto send = [&](std::string_view method, std::string body) {
        http::request what = s.client.make(method, std::move(body));
        what.whole_answer = true;
        return s.send(std::move(what));
    };
    auto hello = send("POST", hello_text("2025-11-25", R"({"roots":{}})"));
    CHECK(hello.status() == 200);
    s.client.session = hello.field("Mcp-Session-Id");
    s.client.version = "2025-11-25";
    CHECK(send("POST", notice_text("notifications/initialized")).status() == 202);

    auto call = send("POST", call_text("1", "ask", R"({"progressToken":1})"));
    CHECK(call.status() == 200); // without a wait
    CHECK(call.field("Content-Type") == "application/json");
    CHECK(call.body() == text_answer("1", "asked"));
    CHECK(why.code == comcp::errc::unsupported);
    CHECK(why.fate == comcp::outcome::not_sent);
    CHECK(has(why.text, with_sessions ? "no stream to hear it on" : "did not declare"));

    s.server->tool("new", "", [] { return "n"; }); // nobody is told
    auto listening = send("GET", "");
    CHECK(listening.status() == 405);
    CHECK(listening.field("Allow") == (with_sessions ? "POST, DELETE, OPTIONS" : "POST, OPTIONS"));
    CHECK(s.service->streams() == 0);
    CHECK(s.service->memory()->used() == 0);
    CHECK(send("DELETE", "").status() == (with_sessions ? 204 : 405));
}

TEST_CASE("The authorization is asked before the body also by a host that answers once")
{
    comcp::http_service_options options;
    options.authorize([](const http::request& head) -> comcp::http_access {
        CHECK(head.body.empty());
        if (head.fields.find("Authorization") == "Bearer good") return comcp::http_access::allow("ada");
        http::response answer;
        answer.status = 401;
        return comcp::http_access::refuse(std::move(answer));
    });
    service_stage s(std::move(options));
    s.server->tool("who", "", [](comcp::context& ctx) { return ctx.principal(); });
    const auto head = [&](std::string principal, std::string_view method = "POST") {
        s.client.principal = std::move(principal);
        http::request what = s.client.make(method);
        what.whole_answer = true;
        return what;
    };
    for (const char* method : {"POST", "GET"}) {
        http::request bad = head("Bearer bad", method);
        const auto refused = s.run(s.service->refuse(bad));
        REQUIRE(refused);
        CHECK(refused->status == (bad.method == "GET" ? 405 : 401));
    }
    http::request good = head("Bearer good");
    CHECK_FALSE(s.run(s.service->refuse(good)));
    CHECK(good.principal == "ada");
    good.body = hello_text();
    s.client.session = std::string(*s.run(s.service->handle(std::move(good))).fields.find("Mcp-Session-Id"));
    http::request call = head("Bearer good");
    CHECK_FALSE(s.run(s.service->refuse(call)));
    call.body = call_text("1", "who");
    CHECK(s.run(s.service->handle(std::move(call))).body == text_answer("1", "ada"));
}

TEST_CASE("Calls that run without a session are bounded like sessions")
{
    comcp::http_service_options options;
    options.sessions(false);
    options.limits.sessions = 2;
    service_stage s(options);
    s.server->tool("slow", "", [](comcp::context&) { return wait_for(1s); });
    auto one = s.post(call_text("1", "slow"));
    auto two = s.post(call_text("1", "slow"));
    auto refused = s.post(call_text("1", "slow"));
    CHECK(refused.status() == 503);
    CHECK(refused.field("Retry-After") == "1");
    s.advance(1s);
    CHECK(one.status() == 200);
    CHECK(two.status() == 200);
    CHECK(s.post(request_text("2", "ping")).status() == 200);
}

TEST_CASE("A handler asks its client on the stream of its POST, and another POST brings the answer [E-31]")
{
    service_stage s;
    s.server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        const auto roots = co_await ctx.list_roots();
        co_return roots.at(0).uri;
    });
    s.begin("2025-06-18", R"({"roots":{}})");
    auto standalone = s.get();
    auto call = s.post(call_text("1", "ask"));
    REQUIRE(call.stream().messages().size() == 1);
    CHECK(call.stream().messages()[0] == R"({"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}})");
    auto told = s.post(answer_text("1", R"({"roots":[{"uri":"file:///w"}]})"));
    CHECK(told.status() == 202);
    CHECK(call.stream().ended());
    CHECK(call.stream().messages().at(1) == text_answer("1", "file:///w"));
    CHECK(standalone.stream().messages().empty());
}

TEST_CASE("A handler that asks without a stream for it asks on the client's own stream")
{
    service_stage s;
    s.server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.progress(1);
        ctx.log(comcp::log_level::info, "dropped");
        const auto roots = co_await ctx.list_roots();
        co_return roots.at(0).uri;
    });
    s.begin("2025-06-18", R"({"roots":{}})");
    auto standalone = s.get();
    http::request what = s.client.make("POST", call_text("1", "ask", R"({"progressToken":1})"));
    what.whole_answer = true;
    auto call = s.send(std::move(what));
    CHECK_FALSE(call.done());
    REQUIRE(standalone.stream().messages().size() == 1);
    CHECK(has(standalone.stream().messages()[0], "roots/list"));
    CHECK(s.post(answer_text("1", R"({"roots":[{"uri":"file:///w"}]})")).status() == 202);
    CHECK(call.status() == 200);
    CHECK(call.body() == text_answer("1", "file:///w"));
}

TEST_CASE("A request of ours that times out is cancelled where it was asked")
{
    comcp::server_options options;
    options.limits.server_request = 5s;
    service_stage s({}, std::move(options));
    s.server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        co_await ctx.list_roots();
        co_return "";
    });
    s.begin("2025-06-18", R"({"roots":{}})");
    auto call = s.post(call_text("1", "ask"));
    s.advance(5s);
    CHECK(call.stream().ended());
    const auto messages = call.stream().messages();
    REQUIRE(messages.size() == 3);
    CHECK(has(messages[1], "notifications/cancelled"));
    CHECK(has(messages[2], R"("isError":true)"));
}

// ---- stateless -----------------------------------------------------------------------------------------------------

TEST_CASE("A stateless service gives no session id and asks for none")
{
    service_stage s(comcp::http_service_options().sessions(false));
    s.server->tool("who", "", [](comcp::context& ctx) { return std::string(comcp::to_string(ctx.version())); });
    s.server->tool("work", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        ctx.log(comcp::log_level::info, "x");
        std::string text = co_await wait_for(1s);
        co_return text;
    });
    s.server->tool("ask", "", [](comcp::context& ctx) -> comcp::task<std::string> {
        co_await ctx.list_roots();
        co_return "";
    });

    auto hello = s.post(hello_text("2025-06-18"));
    CHECK(hello.status() == 200);
    CHECK(hello.field("Mcp-Session-Id").empty());
    CHECK(hello.object().at("result").at("protocolVersion").get_string() == "2025-06-18");
    CHECK(s.post(notice_text("notifications/initialized")).status() == 202);

    SECTION("each request stands for itself, in the revision that it names [E-42]")
    {
        CHECK(s.post(call_text("1", "who")).body() == text_answer("1", "2025-03-26"));
        CHECK(s.post('[' + request_text("1", "ping") + ']').body() == '[' + answer_text("1", "{}") + ']');
        s.client.version = "2025-11-25";
        CHECK(s.post(call_text("1", "who")).body() == text_answer("1", "2025-11-25"));
        CHECK(s.post("[]").status() == 400);
        s.client.session = "ignored";
        CHECK(s.post(call_text("1", "who")).status() == 200);
    }
    SECTION("two at once may use the same id")
    {
        auto first = s.post(call_text("1", "work"));
        auto second = s.post(call_text("1", "work"));
        s.advance(1s);
        for (auto* each : {&first, &second}) {
            CHECK(each->stream().ended());
            CHECK(each->stream().messages().at(1) == text_answer("1", "done"));
            CHECK(each->stream().ids() == std::vector<std::string>(2));
        }
    }
    SECTION("GET and DELETE are not offered [88]")
    {
        auto get = s.get();
        CHECK(get.status() == 405);
        CHECK(get.field("Allow") == "POST, OPTIONS");
        CHECK(s.end().status() == 405);
    }
    SECTION("a client cannot be asked") { CHECK(has(s.post(call_text("1", "ask")).body(), R"("isError":true)")); }
    CHECK(s.service->sessions() == 0);
    CHECK(s.service->streams() == 0);
    CHECK(s.service->memory()->used() == 0);
}
