// SPDX-License-Identifier: MIT
// Who is told of what: subscriptions to resources, and changes of each list.
#include <comcp/server/server_session.hpp>

#include "script.hpp"

#include <atomic>
#include <thread>

using namespace script;

namespace
{

std::string done(std::string_view id) { return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})"; }

std::string of(std::string_view uri) { return R"({"uri":")" + std::string(uri) + R"("})"; }

std::string updated(std::string_view uri)
{
    return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + std::string(uri) +
           R"("}})";
}

std::string changed(std::string_view list)
{
    return R"({"jsonrpc":"2.0","method":"notifications/)" + std::string(list) + R"(/list_changed"})";
}

struct two_resources : server_stage
{
    explicit two_resources(comcp::server_options options = {}) : server_stage(std::move(options))
    {
        server.resource("x:a", "a", [] { return "a"; });
        server.resource("x:b", "b", [] { return "b"; });
        server.resource_template("y:{name}", "y", [](comcp::uri_variables v) { return v.at("name"); });
        server.tool("long", "", [] { return std::string(100'000, 'x'); });
    }
    std::string subscribe(std::string_view uri)
    {
        peer.ask("1", "resources/subscribe", of(uri));
        return peer.next();
    }
    std::string unsubscribe(std::string_view uri)
    {
        peer.ask("1", "resources/unsubscribe", of(uri));
        return peer.next();
    }
};

} // namespace

// ---- subscriptions -------------------------------------------------------------------------------------------------

TEST_CASE("Those who have subscribed are told of an update, and nobody else [G-6]")
{
    for (const auto version : comcp::all_revisions) {
        two_resources s;
        s.begin(comcp::to_string(version));
        s.server.resource_updated("x:a");
        CHECK(s.peer.quiet());
        CHECK(s.subscribe("x:a") == done("1"));
        CHECK(s.subscribe("x:a") == done("1")); // once more is once
        CHECK(s.subscribe("y:some") == done("1"));
        s.server.resource_updated("x:a");
        CHECK(s.peer.next() == updated("x:a"));
        s.server.resource_updated("x:b");
        s.server.resource_updated("y:other");
        CHECK(s.peer.quiet());
        s.server.resource_updated("y:some");
        s.server.resource_updated("x:a");
        s.server.resource_updated("y:some"); // one notice
        CHECK(s.peer.next() == updated("y:some"));
        CHECK(s.peer.next() == updated("x:a"));
        CHECK(s.unsubscribe("x:a") == done("1"));
        CHECK(s.unsubscribe("x:a") == done("1")); // it is not subscribed: that is what was asked for
        CHECK(s.unsubscribe("x:nothing") == done("1"));
        s.server.resource_updated("x:a");
        CHECK(s.peer.quiet());
    }
}

TEST_CASE("What is not there cannot be subscribed to, and what is malformed is refused")
{
    two_resources s;
    s.begin();
    CHECK(s.subscribe("x:c") == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no such resource",)"
                                R"("data":{"uri":"x:c"}}})");
    for (const auto* method : {"resources/subscribe", "resources/unsubscribe"}) {
        s.peer.ask("2", method, "{}");
        CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"the uri is missing"}})");
    }
}

TEST_CASE("A server that does not take subscriptions has no such methods, and lists all the same")
{
    comcp::server_options options;
    options.subscriptions = false;
    two_resources s(std::move(options));
    s.begin();
    CHECK(has(s.subscribe("x:a"), "-32601"));
    CHECK(has(s.unsubscribe("x:a"), "-32601"));
    s.server.resource_updated("x:a");
    CHECK(s.peer.quiet());
}

TEST_CASE("Subscriptions are bounded, and one that is given back makes room")
{
    comcp::server_options options;
    options.limits.subscriptions = 2;
    two_resources s(std::move(options));
    s.begin();
    CHECK(s.subscribe("x:a") == done("1"));
    CHECK(s.subscribe("y:1") == done("1"));
    CHECK(s.subscribe("x:a") == done("1")); // there already
    CHECK(s.subscribe("y:2") ==
          R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"too many subscriptions"}})");
    CHECK(s.unsubscribe("y:1") == done("1"));
    CHECK(s.subscribe("y:2") == done("1"));
    s.server.resource_updated("y:1");
    CHECK(s.peer.quiet());
    s.server.resource_updated("y:2");
    CHECK(s.peer.next() == updated("y:2"));
}

TEST_CASE("Updates for which the output has no room wait, one for each resource, and are told later")
{
    comcp::server_options options;
    options.limits.stream_buffer = 200'000;
    two_resources s(std::move(options));
    s.begin();
    s.subscribe("x:a");
    s.subscribe("x:b");
    s.peer.wire().reads(false);
    s.peer.wire().send(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"long"}})");
    s.settle();
    for (int i = 0; i < 1000; ++i) {
        s.server.resource_updated("x:a");
        s.server.resource_updated("x:b");
        s.settle();
    }
    s.server.tool("another", "", [] { return ""; });
    s.server.resource("x:another", "", [] { return ""; });
    s.advance(10s);
    s.peer.wire().reads(true);
    CHECK(has(s.peer.next(), R"("id":7)"));
    CHECK(s.peer.quiet());
    s.advance(5s);
    CHECK(s.peer.next() == changed("tools"));
    CHECK(s.peer.next() == changed("resources"));
    CHECK(s.peer.next() == updated("x:a"));
    CHECK(s.peer.next() == updated("x:b"));
    s.advance(1min);
    CHECK(s.peer.quiet());
    s.server.resource_updated("x:a");
    CHECK(s.peer.next() == updated("x:a"));
}

TEST_CASE("Updates come from any thread, and a session that ends is told no more")
{
    two_resources s;
    s.begin();
    s.subscribe("x:a");
    std::thread other([&] {
        for (int i = 0; i < 100; ++i) s.server.resource_updated("x:a");
    });
    other.join();
    CHECK(s.peer.next() == updated("x:a"));
    CHECK(s.peer.quiet());
    s.peer.hang_up();
    CHECK(s.served->done());
    s.server.resource_updated("x:a");
    s.settle();
}

TEST_CASE("Two sessions have each their own subscriptions")
{
    two_resources s;
    s.begin();
    script::peer second(s);
    auto served = s.start(s.server.serve(second.wire().take_transport()));
    second.ask("0", "initialize", R"({"protocolVersion":"2025-06-18"})");
    second.next();
    s.subscribe("x:a");
    second.ask("1", "resources/subscribe", of("x:b"));
    second.next();
    s.server.resource_updated("x:a");
    s.server.resource_updated("x:b");
    CHECK(s.peer.next() == updated("x:a"));
    CHECK(second.next() == updated("x:b"));
    s.peer.hang_up();
    s.server.resource_updated("x:a");
    s.server.resource_updated("x:b");
    CHECK(second.next() == updated("x:b"));
    CHECK(s.peer.quiet());
    CHECK(second.quiet());
}

TEST_CASE("Registries change on one thread while a session lists, reads and is told on another")
{
    two_resources s;
    s.begin();
    s.subscribe("x:a");
    std::atomic<bool> stop{false};
    std::thread other([&] {
        for (int i = 0; !stop; ++i) {
            auto made = s.server.resource("z:" + std::to_string(i % 7), "", [] { return "z"; });
            made.title("Z").disable();
            auto prompt = s.server.prompt("p", "", [] { return ""; });
            s.server.resource_updated("x:a");
            made.enable();
            made.remove();
            prompt.remove();
        }
    });
    for (int i = 0; i < 50; ++i) {
        s.peer.wire().send(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})");
        s.peer.wire().send(R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"z:1"}})");
        s.peer.wire().send(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})");
        s.settle();
    }
    stop = true;
    other.join();
    CHECK(s.peer.skip_all() >= 150);
}

// ---- lists ---------------------------------------------------------------------------------------------------------

TEST_CASE("Each list has its own notice, and resources and templates are one [G-7] [G-23] [B-17]")
{
    server_stage s;
    s.server.options().offer_resources = true;
    s.server.options().offer_prompts = true;
    s.begin();
    auto tool = s.server.tool("t", "", [] { return ""; });
    CHECK(s.peer.next() == changed("tools"));
    auto resource = s.server.resource("x:a", "", [] { return ""; });
    CHECK(s.peer.next() == changed("resources"));
    auto pattern = s.server.resource_template("x:{a}", "", [] { return ""; });
    CHECK(s.peer.next() == changed("resources"));
    auto prompt = s.server.prompt("p", "", [] { return ""; });
    CHECK(s.peer.next() == changed("prompts"));
    tool.title("T");
    resource.title("R");
    pattern.title("X");
    prompt.title("P");
    CHECK(s.peer.next() == changed("tools"));
    CHECK(s.peer.next() == changed("resources"));
    CHECK(s.peer.next() == changed("prompts"));
    CHECK(s.peer.quiet());
    resource.remove();
    pattern.remove();
    CHECK(s.peer.next() == changed("resources"));
    CHECK(s.peer.quiet());
}

TEST_CASE("What leaves no trace in a list is no change [75]")
{
    server_stage s;
    auto tool = s.server.tool("t", "d", [] { return ""; }).title("T");
    auto prompt = s.server.prompt("p", "", [] { return ""; });
    auto off = s.server.tool("off", "", [] { return ""; });
    off.disable();
    s.begin();
    tool.disable();
    tool.enable();
    tool.title("other");
    tool.title("T");
    s.server.tool("short", "", [] { return ""; }).remove();
    prompt.enable();
    off.title("nobody sees it").description("nor this");
    CHECK(s.peer.quiet());
    off.remove();
    CHECK(s.peer.quiet());
    tool.remove();
    s.server.tool("t", "d", [] { return "new"; }).title("T"); // listed the same: a client need not know
    CHECK(s.peer.quiet());
}

TEST_CASE("What a revision does not show is no change for it [75]")
{
    const auto told = [](std::string_view version, auto change) {
        server_stage s;
        auto tool = s.server.tool("t", "d", [] { return ""; });
        s.begin(version);
        change(tool);
        return !s.peer.quiet();
    };
    const auto title = [](comcp::tool_handle& tool) { tool.title("T"); };
    const auto hint = [](comcp::tool_handle& tool) { tool.read_only(); };
    const auto icons = [](comcp::tool_handle& tool) { tool.icons({comcp::icon("https://i")}); };
    CHECK_FALSE(told("2025-03-26", title));
    CHECK(told("2025-06-18", title));
    CHECK_FALSE(told("2024-11-05", hint));
    CHECK(told("2025-03-26", hint));
    CHECK_FALSE(told("2025-06-18", icons));
    CHECK(told("2025-11-25", icons));
}

TEST_CASE("A list that changes whenever it is listed makes no storm [75]")
{
    server_stage s;
    s.server.tool("t", "", [] { return ""; });
    std::optional<comcp::tool_handle> flapping;
    s.begin();
    int notices = 0;
    for (int round = 0; round < 10; ++round) {
        flapping = s.server.tool("flap", "", [] { return ""; });
        flapping->remove();
        s.peer.ask("1", "tools/list");
        s.peer.next();
        notices += static_cast<int>(s.peer.skip_all());
    }
    CHECK(notices == 0);
}
