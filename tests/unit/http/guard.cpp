// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/http/guard.hpp>

#include "catch.hpp"

#include <initializer_list>
#include <vector>

using comcp::http::field;
using comcp::http::fields;
using comcp::http::guard;
using comcp::http::guard_settings;
using comcp::http::verdict;

namespace
{

const std::string_view json = "application/json";
const std::string_view both = "application/json, text/event-stream";

guard with(guard_settings settings) { return guard::make(std::move(settings)).value(); }

fields post_head(std::initializer_list<field> more = {})
{
    fields head{{"Host", "localhost:8080"}, {"Content-Type", json}, {"Accept", both}};
    for (const field& f : more) head.set(f.name, f.value);
    return head;
}

verdict post(const guard& g, std::initializer_list<field> more = {})
{
    return g.check("POST", "/mcp", post_head(more));
}

int host_status(const guard& g, std::string_view host) { return post(g, {{"Host", host}}).status; }

int origin_status(const guard& g, std::string_view origin) { return post(g, {{"Origin", origin}}).status; }

std::string answer(const verdict& v, std::string_view name)
{
    std::string out;
    for (const std::string_view value : v.answer_fields.find_all(name)) out += std::string(value) + ';';
    return out;
}

} // namespace

TEST_CASE("a plain POST to a local endpoint is accepted, and nothing is added to its answer", "[guard]")
{
    const verdict v = post(with({}));
    CHECK(v.accepted());
    CHECK(v.status == 0);
    CHECK(v.json);
    CHECK(v.stream);
    CHECK(v.answer_fields.empty());
}

TEST_CASE("SEC 141: loopback names are one family, with any port and in any case", "[guard]")
{
    const guard g = with({});
    for (const char* host : {"localhost", "localhost:6575", "LOCALHOST", "LocalHost:1", "localhost.", "localhost.:80",
                             "[::1]", "[::1]:8765", "[0:0:0:0:0:0:0:1]:1", "127.0.0.1", "127.0.0.1.", "127.0.0.1:65535",
                             "127.8.9.10", "app.localhost:3000"}) {
        CAPTURE(host);
        CHECK(host_status(g, host) == 0);
    }
}

TEST_CASE("a Host that is not on the list is refused with 403", "[guard]")
{
    const guard g = with({});
    for (const char* host : {"evil.example.com", "evil.example.com:8080", "localhost.evil.example.com", "evillocalhost",
                             "127.0.0.1.evil.example.com", "192.168.1.1", "0.0.0.0", "[::2]", "[::]", "128.0.0.1"}) {
        CAPTURE(host);
        CHECK(host_status(g, host) == 403);
    }
}

TEST_CASE("a Host that is missing, malformed or there twice is refused with 400", "[guard]")
{
    const guard g = with({});
    for (const char* host :
         {"", "::1", "[::1", "[::1]8080", "localhost:", "localhost:0", "localhost:65536", "localhost:x", "a@localhost",
          "localhost/", "localhost, localhost", "127.1", "0x7f000001", "[::1%25lo]"}) {
        CAPTURE(host);
        CHECK(host_status(g, host) == 400);
    }
    CHECK(g.check("POST", "/mcp", {{"Content-Type", json}}).status == 400);
    CHECK(g.check("POST", "/mcp", {{"Host", "localhost"}, {"host", "localhost"}, {"Content-Type", json}}).status ==
          400);
}

TEST_CASE("hosts on the list are taken with any port, or with the one that is named", "[guard]")
{
    const guard g = with({.hosts = {"MCP.example.com", "api.example.com:8443", "tls.example.com:443", "[2001:DB8::1]"},
                          .loopback = false});
    const std::vector<std::pair<const char*, int>> cases = {
        {"mcp.example.com", 0},      {"MCP.Example.COM:1", 0},    {"mcp.example.com.", 0},
        {"mcp.example.com.:9", 0},   {"xmcp.example.com", 403},   {"mcp.example.com.evil.com", 403},
        {"mcp.example", 403},        {"api.example.com:8443", 0}, {"api.example.com:844", 403},
        {"api.example.com", 403},    {"tls.example.com", 0},      {"tls.example.com:443", 0},
        {"tls.example.com:80", 403}, {"[2001:db8:0:0::1]:5", 0},  {"[2001:db8::2]", 403},
        {"localhost", 403},          {"127.0.0.1:8080", 403},
    };
    for (const auto& [host, status] : cases) {
        CAPTURE(host);
        CHECK(host_status(g, host) == status);
    }
}

TEST_CASE("origins are compared by scheme, host and port, never by a prefix", "[guard]")
{
    const guard g =
        with({.origins = {"https://app.example.com", "http://dev.example.com:3000", "chrome-extension://abc"}});
    const std::vector<std::pair<const char*, int>> cases = {
        {"https://app.example.com", 0},
        {"https://app.example.com:443", 0},
        {"HTTPS://APP.example.com", 0},
        {"http://app.example.com", 403},
        {"https://app.example.com:8443", 403},
        {"https://app.example.com.evil.com", 403},
        {"https://evil.com/https://app.example.com", 403},
        {"https://app.example.com@evil.com", 403},
        {"https://app.example.com/", 403},
        {"http://dev.example.com:3000", 0},
        {"http://dev.example.com", 403},
        {"http://dev.example.com:30000", 403},
        {"chrome-extension://abc", 0},
        {"chrome-extension://abcd", 403},
        {"chrome-extension://ab", 403},
        {"http://localhost", 0},
        {"http://localhost:5173", 0},
        {"https://[::1]:8443", 0},
        {"http://127.0.0.1:3000", 0},
        {"http://localhost.evil.com", 403},
        {"http://localhost:3000.evil.com", 403},
        {"null", 403},
        {"", 403},
        {"*", 403},
        {"localhost", 403},
        {"http://", 403},
        {"http://localhost http://evil.com", 403},
        {"file://", 403},
    };
    for (const auto& [origin, status] : cases) {
        CAPTURE(origin);
        CHECK(origin_status(g, origin) == status);
    }
    CHECK(origin_status(with({.loopback = false}), "http://localhost") == 403);
}

TEST_CASE("the DNS rebinding of a page is refused for every method, before anything else is looked at", "[guard]")
{
    const guard g = with({});
    for (const char* method : {"POST", "GET", "DELETE", "OPTIONS", "PUT", "HEAD"}) {
        CAPTURE(method);
        CHECK(g.check(method, "/x", {{"Host", "evil.example.com"}, {"Origin", "http://evil.example.com"}}).status ==
              403);
        const verdict v = g.check(method, "/mcp", {{"Host", "localhost"}, {"Origin", "http://evil.example.com"}});
        CHECK(v.status == 403);
        CHECK(v.answer_fields.empty());
        CHECK(v.text == "this Origin is not on the list of allowed origins");
    }
}

TEST_CASE("a page on the list gets CORS fields on every answer, others get none", "[guard]")
{
    const guard g = with({.origins = {"https://app.example.com"}});
    for (const verdict& v : {post(g, {{"Origin", "https://app.example.com"}}),
                             post(g, {{"Origin", "https://app.example.com"}, {"Content-Type", "text/plain"}})}) {
        CHECK(answer(v, "Access-Control-Allow-Origin") == "https://app.example.com;");
        CHECK(answer(v, "Access-Control-Expose-Headers") == "Mcp-Session-Id, WWW-Authenticate;");
        CHECK(answer(v, "Vary") == "Origin;");
    }
    CHECK(post(g, {{"Origin", "https://evil.example.com"}}).answer_fields.empty());
    CHECK(post(g).answer_fields.empty());
}

TEST_CASE("a preflight of a page on the list is answered with names", "[guard]")
{
    const guard g = with({});
    const verdict v =
        g.check("OPTIONS", "/mcp",
                {{"Host", "localhost"},
                 {"Origin", "http://localhost:6274"},
                 {"Access-Control-Request-Method", "POST"},
                 {"Access-Control-Request-Headers", "content-type, mcp-param-City, x-other, mcp-param-a b"}});
    CHECK(v.status == 204);
    CHECK(answer(v, "Access-Control-Allow-Origin") == "http://localhost:6274;");
    CHECK(answer(v, "Vary") == "Origin;");
    CHECK(answer(v, "Access-Control-Allow-Methods") == "GET, POST, DELETE, OPTIONS;");
    CHECK(answer(v, "Access-Control-Allow-Headers") == "Content-Type, Accept, Authorization, MCP-Protocol-Version, "
                                                       "Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name, "
                                                       "mcp-param-City;");
    CHECK(answer(v, "Access-Control-Expose-Headers") == "Mcp-Session-Id, WWW-Authenticate;");
    CHECK(answer(v, "Access-Control-Max-Age") == "7200;");

    CHECK(g.check("OPTIONS", "/mcp", {{"Host", "localhost"}, {"Origin", "null"}}).status == 403);
    const verdict plain = g.check("OPTIONS", "/mcp", {{"Host", "localhost"}});
    CHECK(plain.status == 204);
    CHECK(answer(plain, "Allow") == "GET, POST, DELETE, OPTIONS;");
    CHECK(plain.answer_fields.size() == 1);
}

TEST_CASE("HTTP 88: a method that is not offered is answered with 405 and the ones that are", "[guard]")
{
    const guard all = with({});
    for (const char* method : {"PUT", "HEAD", "PATCH", "get", "post", "TRACE", "CONNECT"}) {
        CAPTURE(method);
        const verdict v = all.check(method, "/mcp", post_head());
        CHECK(v.status == 405);
        CHECK(answer(v, "Allow") == "GET, POST, DELETE, OPTIONS;");
    }
    const guard stateless = with({.streams = false, .sessions = false});
    for (const char* method : {"GET", "DELETE"}) {
        const verdict v = stateless.check(method, "/mcp", post_head());
        CHECK(v.status == 405);
        CHECK(answer(v, "Allow") == "POST, OPTIONS;");
    }
    CHECK(with({.streams = false}).check("DELETE", "/mcp", post_head()).status == 0);
    CHECK(answer(with({.sessions = false}).check("DELETE", "/mcp", post_head()), "Allow") == "GET, POST, OPTIONS;");
    const guard listens = with({.posts = false, .sessions = false}); // as the stream of the old HTTP+SSE
    CHECK(listens.check("POST", "/mcp", post_head()).status == 405);
    CHECK(answer(listens.check("POST", "/mcp", post_head()), "Allow") == "GET, OPTIONS;");
    CHECK(listens.check("GET", "/mcp", post_head()).accepted());
}

TEST_CASE("another path is answered with 404", "[guard]")
{
    const guard g = with({});
    const std::vector<std::pair<const char*, int>> cases = {
        {"/mcp", 0}, {"/mcp?a=1", 0}, {"/mcp/", 404}, {"/", 404}, {"/mcpx", 404}, {"/MCP", 404}, {"*", 404}, {"", 404},
    };
    for (const auto& [target, status] : cases) {
        CAPTURE(target);
        CHECK(g.check("POST", target, post_head()).status == status);
    }
    CHECK(with({.path = ""}).check("POST", "/whatever", post_head()).status == 0);
    CHECK(with({.path = "/a/b"}).check("POST", "/a/b", post_head()).status == 0);
}

TEST_CASE("HTTP 84: JSON is told by its media type, in any case and with any parameters", "[guard]")
{
    const guard g = with({});
    for (const char* type : {"application/json", "application/json; charset=utf-8", "Application/JSON",
                             "application/json;charset=\"UTF-8\"", " application/json ", "application/json;"}) {
        CAPTURE(type);
        CHECK(post(g, {{"Content-Type", type}}).status == 0);
    }
    for (const char* type : {"", "text/plain", "application/json-rpc", "application/jsonx", "text/json", "json",
                             "text/plain; application/json", "application/json, application/json"}) {
        CAPTURE(type);
        CHECK(post(g, {{"Content-Type", type}}).status == 415);
    }
    CHECK(g.check("POST", "/mcp", {{"Host", "localhost"}}).status == 415);
}

TEST_CASE("HTTP 89: an answer takes a form that the client accepts, and 406 is only for clients that accept none",
          "[guard]")
{
    const guard g = with({});
    struct form
    {
        const char* accept;
        int status;
        bool json;
        bool stream;
    };
    for (const form& f : std::vector<form>{
             {"application/json, text/event-stream", 0, true, true},
             {"text/event-stream, application/json", 0, true, true},
             {"text/event-stream", 0, false, true},
             {"application/json", 0, true, false},
             {"*/*", 0, true, true},
             {"application/*;q=0.9, text/event-stream", 0, true, true},
             {"Application/JSON; charset=utf-8", 0, true, false},
             {"", 0, true, true},
             {"text/html, */*;q=0.1", 0, true, true},
             {"*/*, application/json;q=0", 0, false, true},
             {"text/html", 406, false, false},
             {"application/json;q=0, text/event-stream;q=0", 406, false, false},
             {"*/*;q=0", 406, false, false},
         }) {
        CAPTURE(f.accept);
        const verdict v = post(g, {{"Accept", f.accept}});
        CHECK(v.status == f.status);
        CHECK(v.json == f.json);
        CHECK(v.stream == f.stream);
    }
    const verdict none = g.check("POST", "/mcp", {{"Host", "localhost"}, {"Content-Type", json}});
    CHECK(none.accepted());
    CHECK(none.json);
    CHECK(none.stream);
}

TEST_CASE("a GET must accept events", "[guard]")
{
    const guard g = with({});
    const auto get = [&](std::string_view accept) {
        return g.check("GET", "/mcp", {{"Host", "localhost"}, {"Accept", accept}}).status;
    };
    CHECK(get("text/event-stream") == 0);
    CHECK(get("TEXT/Event-Stream;q=0.1") == 0);
    CHECK(get("*/*") == 0);
    CHECK(get("text/*") == 0);
    CHECK(get("application/json") == 406);
    CHECK(get("text/event-stream;q=0, */*") == 406);
    CHECK(g.check("GET", "/mcp", {{"Host", "localhost"}}).status == 0);
}

TEST_CASE("HTTP 94: a DELETE needs no content and no Accept", "[guard]")
{
    CHECK(with({}).check("DELETE", "/mcp", {{"Host", "localhost"}, {"Mcp-Session-Id", "x"}}).status == 0);
}

TEST_CASE("an encoded body is refused with what is taken instead", "[guard]")
{
    const guard g = with({});
    for (const char* coding : {"gzip", "br", "identity, gzip", "x"}) {
        CAPTURE(coding);
        const verdict v = post(g, {{"Content-Encoding", coding}});
        CHECK(v.status == 415);
        CHECK(answer(v, "Accept-Encoding") == "identity;");
    }
    CHECK(post(g, {{"Content-Encoding", "identity"}}).status == 0);
    CHECK(post(g, {{"Content-Encoding", ""}}).status == 0);
}

TEST_CASE("a version that is not served is refused with 400, one that is absent is not", "[guard]")
{
    const guard g = with({.supports = [](std::string_view version) { return version == "2025-11-25"; }});
    CHECK(post(g).status == 0);
    CHECK(post(g, {{"mcp-protocol-version", "2025-11-25"}}).status == 0);
    CHECK(post(g, {{"MCP-Protocol-Version", " 2025-11-25\t"}}).status == 0);
    for (const char* version : {"", "2025-11-26", "bogus", "2025-11-25, 2025-11-25", "1"}) {
        CAPTURE(version);
        CHECK(post(g, {{"MCP-Protocol-Version", version}}).status == 400);
        CHECK(g.check("GET", "/mcp", {{"Host", "localhost"}, {"MCP-Protocol-Version", version}}).status == 400);
        CHECK(g.check("DELETE", "/mcp", {{"Host", "localhost"}, {"MCP-Protocol-Version", version}}).status == 400);
        CHECK(post(with({}), {{"MCP-Protocol-Version", version}}).status == 0);
    }
}

TEST_CASE("a field that has one meaning must not be there twice", "[guard]")
{
    const guard g = with({});
    for (const char* name : {"Host", "Origin", "Content-Type", "Authorization", "Mcp-Session-Id", "Last-Event-ID",
                             "MCP-Protocol-Version"}) {
        fields head = post_head({{name, "localhost"}});
        head.add(name, "localhost");
        CAPTURE(name);
        CHECK(g.check("POST", "/mcp", head).status == 400);
        CHECK(g.check("POST", "/mcp", head).text == "more than one " + std::string(name));
        CHECK(g.check("GET", "/mcp", head).status == 400);
    }
    fields mixed = post_head({{"Mcp-Session-Id", "a"}});
    mixed.add("MCP-SESSION-ID", "a");
    CHECK(g.check("POST", "/mcp", mixed).status == 400);
    fields accepts = post_head();
    accepts.add("Accept", "x/y");
    CHECK(g.check("POST", "/mcp", accepts).status == 0);
}

TEST_CASE("the only expectation is 100-continue", "[guard]")
{
    const guard g = with({});
    CHECK(post(g, {{"Expect", "100-Continue"}}).status == 0);
    CHECK(post(g, {{"Expect", "something"}}).status == 417);
    fields twice = post_head({{"Expect", "100-continue"}});
    twice.add("Expect", "other");
    CHECK(g.check("POST", "/mcp", twice).status == 417);
}

TEST_CASE("settings that name no host or origin are refused when the guard is made", "[guard]")
{
    const auto bad = [](guard_settings settings) {
        const auto made = guard::make(std::move(settings));
        REQUIRE(made.has_error());
        CHECK(made.error().code == comcp::errc::invalid_argument);
        return made.error().text;
    };
    CHECK(bad({.hosts = {"http://example.com"}}).starts_with("the allowed host http://example.com: "));
    CHECK(bad({.hosts = {""}}).starts_with("the allowed host : "));
    CHECK(bad({.hosts = {"*"}}).starts_with("the allowed host *: "));
    CHECK(bad({.origins = {"*"}}).starts_with("the allowed origin *: "));
    CHECK(bad({.origins = {"null"}}).starts_with("the allowed origin null: "));
    CHECK(bad({.origins = {"example.com"}}).starts_with("the allowed origin example.com: "));
    CHECK(bad({.origins = {"https://example.com/"}}).starts_with("the allowed origin https://example.com/: "));
    CHECK(bad({.origins = {"https://example.com/path"}}).starts_with("the allowed origin "));
    CHECK(bad({.origins = {"HTTPS://example.com/path"}}).starts_with("the allowed origin "));
    CHECK(bad({.origins = {"http://*.example.com"}}).starts_with("the allowed origin "));
    CHECK(bad({.origins = {"chrome-extension://abc/"}}).starts_with("the allowed origin "));
    CHECK(bad({.origins = {"chrome-extension://"}}).starts_with("the allowed origin "));
    CHECK(guard::make({.origins = {"vscode-webview://abc"}}).has_value());
}
