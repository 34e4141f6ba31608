// SPDX-License-Identifier: MIT
// A server's resources and templates: what is listed, read, and refused.
#include "script.hpp"

using namespace script;

namespace
{

std::string result(std::string_view id, std::string_view text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(text) + '}';
}

std::string refusal(std::string_view id, int code, std::string_view why, std::string_view data = {})
{
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
                       R"(,"message":")" + std::string(why) + '"';
    if (!data.empty()) text += R"(,"data":)" + std::string(data);
    return text + "}}";
}

std::string missing(std::string_view id, std::string_view uri)
{
    return refusal(id, -32002, "no such resource", R"({"uri":")" + std::string(uri) + R"("})");
}

std::string read_params(std::string_view uri)
{
    std::string text = R"({"uri":)";
    comcp::write_string(text, uri);
    return text + '}';
}

/// Reads a resource; gives the answer.
std::string read(server_stage& s, std::string_view uri)
{
    s.peer.ask("1", "resources/read", read_params(uri));
    return s.peer.next();
}

struct page
{
    std::string book;
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(page, (), (book, number))

struct search
{
    std::string word;
    std::optional<int> most;
    bool exact = true;
};
BOOST_DESCRIBE_STRUCT(search, (), (word, most, exact))

comcp::task<std::string> later(comcp::duration time, std::string what)
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return what;
}

} // namespace

// ---- capabilities --------------------------------------------------------------------------------------------------

TEST_CASE("Resources are declared when there are some, or when they are promised [G-1] [67]")
{
    const auto declared = [](auto prepare) {
        server_stage s;
        prepare(s.server);
        s.listen();
        s.peer.ask("1", "initialize", R"({"protocolVersion":"2025-11-25"})");
        std::string text;
        const json::object answer = s.peer.next_object();
        comcp::write_value(text, answer.at("result").at("capabilities"));
        return text;
    };
    const std::string none = R"({"tools":{"listChanged":true},"logging":{}})";
    const std::string some =
        R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}})";
    CHECK(declared([](auto&) {}) == none);
    CHECK(declared([](auto& server) { server.resource("a:b", "b", [] { return ""; }); }) == some);
    CHECK(declared([](auto& server) { server.resource_template("a:{x}", "b", [] { return ""; }); }) == some);
    CHECK(declared([](auto& server) { server.options().offer_resources = true; }) == some);
    CHECK(declared([](auto& server) {
              server.options().offer_resources = true;
              server.options().subscriptions = false;
          }) == R"({"tools":{"listChanged":true},"resources":{"listChanged":true},"logging":{}})");
}

TEST_CASE("Resources that were not declared are no methods, also when one comes later [68]")
{
    server_stage s;
    s.begin();
    s.server.resource("a:b", "b", [] { return ""; });
    CHECK(s.peer.quiet());
    for (const auto* method : {"resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
                               "resources/unsubscribe"}) {
        s.peer.ask("1", method, read_params("a:b"));
        CHECK(s.peer.next() == refusal("1", -32601, "no such method"));
    }
}

// ---- fixed URIs ----------------------------------------------------------------------------------------------------

TEST_CASE("A handler gives text, bytes or contents [G-4]")
{
    server_stage s;
    s.server.resource("x:text", "t", [] { return "Grüße"; }).mime_type("text/plain");
    s.server.resource("x:plain", "t", [] { return std::string("p"); });
    s.server.resource("x:blob", "t", [] { return comcp::blob{std::string("\0\xff", 2), ""}; }).mime_type("a/b");
    s.server.resource("x:typed", "t", [] { return comcp::blob{"x", "c/d"}; }).mime_type("a/b");
    s.server.resource("x:own", "t", [] { return comcp::resource_contents::of_text("x:other", "o", ""); });
    s.server.resource("x:many", "t", [] {
        std::vector<comcp::resource_contents> all(2);
        all[0].text = "1";
        all[1].uri = "x:many/2";
        all[1].blob = "YQ==";
        return all;
    });
    s.server.resource("x:none", "t", [] { return std::vector<comcp::resource_contents>(); });
    s.begin();
    const auto contents = [](std::string_view all) {
        return result("1", R"({"contents":[)" + std::string(all) + "]}");
    };
    CHECK(read(s, "x:text") == contents(R"({"uri":"x:text","mimeType":"text/plain","text":"Grüße"})"));
    CHECK(read(s, "x:plain") == contents(R"({"uri":"x:plain","text":"p"})"));
    CHECK(read(s, "x:blob") == contents(R"({"uri":"x:blob","mimeType":"a/b","blob":"AP8="})"));
    CHECK(read(s, "x:typed") == contents(R"({"uri":"x:typed","mimeType":"c/d","blob":"eA=="})"));
    CHECK(read(s, "x:own") == contents(R"({"uri":"x:other","text":"o"})"));
    CHECK(read(s, "x:many") == contents(R"({"uri":"x:many","text":"1"},{"uri":"x:many/2","blob":"YQ=="})"));
    CHECK(read(s, "x:none") == contents(""));
}

TEST_CASE("A handler may take the URI and its context, be a coroutine, and be cancelled")
{
    server_stage s;
    s.server.resource("x:uri", "", [](std::string uri) { return uri; });
    s.server.resource("x:context", "", [](comcp::context& ctx) { return ctx.client().name(); });
    s.server.resource("x:both", "", [](std::string uri, comcp::context& ctx) { return uri + ctx.request_id(); });
    s.server.resource("x:later", "", [](std::string uri) { return later(10ms, uri); });
    s.begin();
    CHECK(read(s, "x:uri") == result("1", R"({"contents":[{"uri":"x:uri","text":"x:uri"}]})"));
    CHECK(read(s, "x:context") == result("1", R"({"contents":[{"uri":"x:context","text":"script"}]})"));
    CHECK(read(s, "x:both") == result("1", R"({"contents":[{"uri":"x:both","text":"x:both1"}]})"));
    s.peer.ask("2", "resources/read", read_params("x:later"));
    s.peer.ask("3", "resources/read", read_params("x:later"));
    s.peer.note("notifications/cancelled", R"({"requestId":2})");
    CHECK(s.peer.quiet());
    s.advance(10ms);
    CHECK(s.peer.next() == result("3", R"({"contents":[{"uri":"x:later","text":"x:later"}]})"));
    CHECK(s.peer.quiet());
}

TEST_CASE("A handler runs on the host's executor, a blocking one only there")
{
    comcp::manual_executor host;
    server_stage s;
    s.server.handlers_on(host.executor());
    s.server.resource("x:slow", "", comcp::blocking([](std::string uri) { return uri; }));
    s.server.resource("x:bad", "", comcp::blocking([]() -> std::string { throw comcp::resource_not_found(); }));
    s.begin();
    s.peer.ask("1", "resources/read", read_params("x:slow"));
    s.peer.ask("2", "resources/read", read_params("x:bad"));
    CHECK(s.peer.quiet());
    while (host.pump(10) != 0) {
    }
    CHECK(s.peer.next() == result("1", R"({"contents":[{"uri":"x:slow","text":"x:slow"}]})"));
    CHECK(s.peer.next() == missing("2", "x:bad"));

    server_stage without;
    without.server.resource("x:slow", "", comcp::blocking([] { return ""; }));
    auto served = without.start(without.server.serve(without.peer.wire().take_transport()));
    CHECK(served.failed_with(errc::invalid_argument));
}

TEST_CASE("A handler's failure is an internal error, and only what is meant for a peer is told [G-5]")
{
    server_stage s;
    s.server.resource("x:secret", "", []() -> std::string { throw std::runtime_error("secret"); });
    s.server.resource("x:odd", "", []() -> std::string { throw 7; });
    s.server.resource("x:told", "", []() -> std::string { throw comcp::tool_error("no disk"); });
    s.server.resource("x:coded", "", []() -> std::string { throw comcp::request_error(-5, "mine"); });
    s.server.resource("x:gone", "", []() -> std::string { throw comcp::resource_not_found(); });
    s.server.resource("x:late", "", []() -> comcp::task<std::string> {
        co_await later(1ms, "");
        throw comcp::resource_not_found();
    });
    s.begin();
    CHECK(read(s, "x:secret") == refusal("1", -32603, "the resource could not be read"));
    CHECK(read(s, "x:odd") == refusal("1", -32603, "the resource could not be read"));
    CHECK(read(s, "x:told") == refusal("1", -32603, "no disk"));
    CHECK(read(s, "x:coded") == refusal("1", -5, "mine"));
    CHECK(read(s, "x:gone") == missing("1", "x:gone"));
    s.peer.ask("2", "resources/read", read_params("x:late"));
    s.advance(1ms);
    CHECK(s.peer.next() == missing("2", "x:late"));
    CHECK(s.peer.quiet());
}

TEST_CASE("What is not there, or switched off, is not found; a request without a URI is malformed [G-5]")
{
    for (const auto version : comcp::all_revisions) {
        server_stage s;
        auto a = s.server.resource("x:a", "", [] { return "a"; });
        a.disable();
        s.begin(comcp::to_string(version));
        CHECK(read(s, "x:a") == missing("1", "x:a"));
        CHECK(read(s, "x:b\"") == refusal("1", -32002, "no such resource", R"({"uri":"x:b\""})"));
        CHECK(read(s, "") == missing("1", ""));
        for (const auto* params : {"{}", R"({"uri":7})", R"({"uri":null})"}) {
            s.peer.ask("1", "resources/read", params);
            CHECK(s.peer.next() == refusal("1", -32602, "the uri is missing"));
        }
    }
}

TEST_CASE("A resource may be removed while it is read, by itself too")
{
    server_stage s;
    s.server.resource("x:self", "", [&] {
        s.server.find_resource("x:self").remove();
        return std::string(200, 'x');
    });
    s.server.resource("x:slow", "", [] { return later(10ms, "old"); });
    s.begin();
    CHECK(has(read(s, "x:self"), std::string(200, 'x')));
    s.peer.expect("notifications/resources/list_changed");
    s.peer.ask("2", "resources/read", read_params("x:slow"));
    CHECK(s.server.find_resource("x:slow").remove());
    CHECK_FALSE(s.server.find_resource("x:slow").remove());
    s.peer.expect("notifications/resources/list_changed");
    CHECK(read(s, "x:slow") == missing("1", "x:slow"));
    s.advance(10ms);
    CHECK(has(s.peer.next(), R"("text":"old")"));
}

// ---- templates -----------------------------------------------------------------------------------------------------

TEST_CASE("A template's variables are bound to a struct, numbers too, or handed over as a map")
{
    server_stage s;
    s.server.resource_template("book://{book}/{number}", "pages",
                               [](page p) { return p.book + "." + std::to_string(p.number + 1); });
    s.server.resource_template("find:{word}{?most,exact}", "search", [](search q, comcp::context&) {
        return q.word + ':' + (q.most ? std::to_string(*q.most) : "all") + (q.exact ? " exact" : "");
    });
    s.server.resource_template("map:{a}/{b}", "map", [](comcp::uri_variables v) { return v.at("b") + v.at("a"); });
    s.server.resource_template("uri:{a}", "uri", [](std::string uri) { return uri; }).mime_type("a/b");
    s.server.resource_template("none:{a}", "none", [] { return later(1ms, "none"); });
    s.begin();
    const auto text = [&](std::string_view uri) {
        s.peer.ask("1", "resources/read", read_params(uri));
        s.advance(1ms);
        const json::object answer = s.peer.next_object();
        if (!answer.contains("result")) return std::string("-");
        const json::object& only = answer.at("result").at("contents").at(0).get_object();
        CHECK(only.at("uri").get_string() == uri);
        return std::string(comcp::string_member(only, "text").value_or("?"));
    };
    CHECK(text("book://Emma/41") == "Emma.42");
    CHECK(text("book://a%20b/41") == "a b.42");
    CHECK(text("book://Emma/many") == "-");
    CHECK(text("book://Emma/4/1") == "-");
    CHECK(text("find:7") == "7:all exact");
    CHECK(text("find:x?most=3&exact=false") == "x:3");
    CHECK(text("find:x?most=x") == "-");
    CHECK(text("map:1/2") == "21");
    CHECK(text("uri:%41") == "uri:%41");
    CHECK(text("none:x") == "none");
    CHECK(read(s, "uri:x") == result("1", R"({"contents":[{"uri":"uri:x","mimeType":"a/b","text":"uri:x"}]})"));
}

TEST_CASE("A resource comes before templates, and of these the first whose variables fit")
{
    server_stage s;
    s.server.resource_template("x:{number}{?book}", "", [](page p) { return "number " + std::to_string(p.number); });
    s.server.resource_template("x:{any}", "", [] { return "any"; });
    s.server.resource("x:1", "", [] { return "itself"; });
    auto second = s.server.resource_template("x:{+all}", "", [](comcp::uri_variables v) { return v.at("all"); });
    s.begin();
    CHECK(has(read(s, "x:1"), R"("text":"itself")"));
    CHECK(has(read(s, "x:a"), R"("text":"any")"));
    CHECK(has(read(s, "x:a/b"), R"("text":"a/b")"));
    CHECK(has(read(s, "x:2?book=b"), R"("text":"number 2")"));
    second.disable();
    s.peer.expect("notifications/resources/list_changed");
    CHECK(read(s, "x:a/b") == missing("1", "x:a/b"));
}

TEST_CASE("The variables of a file URI lead nowhere else [G-8]")
{
    server_stage s;
    s.server.resource_template("file:///base/{name}", "",
                               [](comcp::uri_variables v) { return "name " + v.at("name"); });
    s.server.resource_template("FILE:///all/{+path}", "",
                               [](comcp::uri_variables v) { return "path " + v.at("path"); });
    s.server.resource_template("note:///{+path}", "", [](comcp::uri_variables v) { return "note " + v.at("path"); });
    s.begin();
    CHECK(has(read(s, "file:///base/a.txt"), "name a.txt"));
    CHECK(has(read(s, "file:///base/..."), "name ..."));
    CHECK(has(read(s, "FILE:///all/a/b..c"), "path a/b..c"));
    for (const auto* uri :
         {"file:///base/..", "file:///base/%2e%2e", "file:///base/%2E.", "file:///base/..%2Fx", "file:///base/..%5Cx",
          "file:///base/a%00b", "file:///base/../etc", "FILE:///all/../etc", "FILE:///all/a/../../etc",
          "FILE:///all/a%2f..%2fetc", "FILE:///all/a/..", "FILE:///all//etc/passwd", "FILE:///all/%2fetc/passwd"}) {
        INFO(uri);
        CHECK(has(read(s, uri), "-32002"));
    }
    CHECK(has(read(s, "note:///a/../b"), "note a/../b")); // what that means is the handler's to say
}

TEST_CASE("A registration that cannot work fails at once")
{
    server_stage s;
    const auto fails = [&](auto make) {
        try {
            make();
        } catch (const comcp::error& e) {
            return e.fault().code == errc::invalid_argument;
        }
        return false;
    };
    s.server.resource("x:a", "", [] { return ""; });
    s.server.resource_template("x:{a}", "", [] { return ""; });
    CHECK(fails([&] { s.server.resource("x:a", "", [] { return ""; }); }));
    CHECK(fails([&] { s.server.resource("", "", [] { return ""; }); }));
    // RFC 3986 (G-8)
    for (const auto* none :
         {"no scheme or spaces", "x", "/a", "x:a b", "1x:a", "x_y:a", "x:\xc3\xa4", "x:<a>", "x:%", "x:%zz"}) {
        INFO(none);
        CHECK(fails([&] { s.server.resource(none, "", [] { return ""; }); }));
    }
    for (const auto* none : {"{a}", "x-y+z.1:a", "X:%20", "urn:a:b?c#d"}) {
        INFO(none);
        CHECK(fails([&] { s.server.resource(none, "", [] { return ""; }); }) == (none[0] == '{'));
    }
    CHECK(fails([&] { s.server.resource_template("/a/{b}", "", [] { return ""; }); }));
    CHECK(fails([&] { s.server.resource("x:b", "", [](page) { return ""; }); }));
    CHECK(fails([&] { s.server.resource_template("x:{a}", "", [] { return ""; }); }));
    CHECK(fails([&] { s.server.resource_template("x:{a", "", [] { return ""; }); }));
    CHECK(fails([&] { s.server.resource_template("", "", [] { return ""; }); }));
    CHECK(fails([&] { s.server.resource_template("x:{book}", "", [](page) { return ""; }); }));
    CHECK(fails([&] { s.server.find_resource_template("x:{a}").complete("b", std::vector<std::string>{"c"}); }));
}

// ---- lists ---------------------------------------------------------------------------------------------------------

TEST_CASE("Resources and templates are listed as each revision has them [G-2] [G-3]")
{
    const auto listed = [](std::string_view version, std::string_view method) {
        server_stage s;
        comcp::content_annotations hints;
        hints.priority = 0.5;
        hints.last_modified = "2025-01-01";
        json::object meta;
        meta["k"] = 1;
        s.server.resource("x:a", "a", [] { return ""; })
            .title("A")
            .description("an a")
            .mime_type("t/p")
            .annotations(hints)
            .size(7)
            .icons({comcp::icon("https://i")})
            .meta(meta);
        s.server.resource_template("x:{a}", "b", [] { return ""; })
            .title("B")
            .description("a b")
            .mime_type("t/p")
            .annotations(hints)
            .icons({comcp::icon("https://i")})
            .meta(meta);
        s.begin(version);
        s.peer.ask("1", method);
        return s.peer.next();
    };
    const auto resource = [](const std::string& title, const std::string& date, const std::string& icons,
                             const std::string& meta) {
        return result("1", R"({"resources":[{"uri":"x:a","name":"a",)" + title +
                               R"("description":"an a","mimeType":"t/p","annotations":{"priority":0.5)" + date +
                               R"(},"size":7)" + icons + meta + "}]}");
    };
    const auto pattern = [](const std::string& title, const std::string& date, const std::string& icons,
                            const std::string& meta) {
        return result("1", R"({"resourceTemplates":[{"uriTemplate":"x:{a}","name":"b",)" + title +
                               R"("description":"a b","mimeType":"t/p","annotations":{"priority":0.5)" + date + '}' +
                               icons + meta + "}]}");
    };
    const std::string date = R"(,"lastModified":"2025-01-01")";
    const std::string icons = R"(,"icons":[{"src":"https://i"}])";
    const std::string meta = R"(,"_meta":{"k":1})";
    CHECK(listed("2024-11-05", "resources/list") == resource("", "", "", ""));
    CHECK(listed("2025-03-26", "resources/list") == resource("", "", "", ""));
    CHECK(listed("2025-06-18", "resources/list") == resource(R"("title":"A",)", date, "", meta));
    CHECK(listed("2025-11-25", "resources/list") == resource(R"("title":"A",)", date, icons, meta));
    CHECK(listed("2024-11-05", "resources/templates/list") == pattern("", "", "", ""));
    CHECK(listed("2025-03-26", "resources/templates/list") == pattern("", "", "", ""));
    CHECK(listed("2025-06-18", "resources/templates/list") == pattern(R"("title":"B",)", date, "", meta));
    CHECK(listed("2025-11-25", "resources/templates/list") == pattern(R"("title":"B",)", date, icons, meta));
}
