// SPDX-License-Identifier: MIT
#include <comcp/http/refusal.hpp>

#include "catch.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

using namespace comcp::http;
using comcp::errc;
using comcp::outcome;

namespace
{

refusal of(int status, std::initializer_list<field> with = {})
{
    response_head head;
    head.status = status;
    for (const field& each : with) head.fields.add(each.name, each.value);
    return read_refusal(head);
}

/// Where it leads, or why not.
std::string led(int status, std::string_view location, bool other_origins = false, unsigned followed = 0,
                std::string_view from = "https://h.test/a/mcp")
{
    comcp::fault why = comcp::fail(errc::bad_response, "moved");
    const unsigned before = followed;
    const refusal moved = location.empty() ? of(status) : of(status, {{"Location", std::string(location)}});
    const auto to = redirect_target(moved, *url::parse(from), other_origins, followed, why);
    if (to) CHECK(followed == before + 1);
    return to ? to->text() : "! " + why.text;
}

} // namespace

TEST_CASE("A refusal keeps what the client's error tells")
{
    const refusal read = of(
        429, {{"WWW-Authenticate", "Bearer"}, {"www-authenticate", "Basic"}, {"Location", "/x"}, {"Retry-After", "7"}});
    CHECK(read.status == 429);
    CHECK(read.challenge == "Bearer, Basic");
    CHECK(read.location == "/x");
    CHECK(read.retry_after == std::chrono::seconds(7));
    const refusal bare = of(500);
    CHECK(bare.challenge.empty());
    CHECK(bare.location.empty());
    CHECK_FALSE(bare.retry_after);
    const field date{"Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT"};
    CHECK_FALSE(of(503, {date}).retry_after); // by whose clock?
    CHECK(of(503, {date, {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}).retry_after == std::chrono::seconds(10));
}

TEST_CASE("A refusal becomes a fault by its rule and its status")
{
    const auto code = [](int status, reply what) { return to_fault(of(status), {what}, {}, {}).code; };
    CHECK(code(401, reply::unauthorized) == errc::unauthorized);
    CHECK(code(403, reply::refused) == errc::forbidden);
    CHECK(code(404, reply::refused) == errc::bad_response);
    CHECK(code(404, reply::session_gone) == errc::session_expired);
    CHECK(code(429, reply::busy) == errc::busy);
    CHECK(code(500, reply::refused) == errc::bad_response);

    const auto text = [](reply what, std::string_view problem, std::string_view body) {
        return to_fault(of(200), {what, outcome::not_sent}, problem, body).text;
    };
    CHECK(text(reply::refused, {}, "a\r\n\tb\x7F") == "the server answered 200 OK: a   b ");
    CHECK(text(reply::refused, {}, std::string(300, 'x')).ends_with(std::string(200, 'x') + "..."));
    CHECK(text(reply::refused, "it is empty", "x") == "the server answered 200 OK, but it is empty");
    CHECK(text(reply::unexpected, {}, "x") ==
          "the server answered 200 OK, whose content is no answer: neither JSON nor a stream of events");
    CHECK(to_fault(of(200), {reply::refused, outcome::not_sent}, {}, {}).fate == outcome::not_sent);
    CHECK(to_fault(of(418), {reply::refused}, {}, {}).http->status == 418);
}

TEST_CASE("Only 307 and 308 are followed, three times, at the same origin (HTTP 91)")
{
    CHECK(led(307, "/b") == "https://h.test/b");
    CHECK(led(308, "mcp/") == "https://h.test/a/mcp/");
    for (const int status : {301, 302, 303}) CHECK(led(status, "/b") == "! moved: it moved to https://h.test/b");
    CHECK(led(307, "") == "! moved, without a usable Location");
    CHECK(led(307, "ftp://h.test/") == "! moved, without a usable Location");
    CHECK(led(307, "/b", false, 2) == "https://h.test/b");
    CHECK(led(307, "/b", false, 3) == "! moved: it moved to https://h.test/b, after 3 other redirects");
    CHECK(led(307, "https://o.test/b") == "! moved: it moved to https://o.test/b, which is another origin");
    CHECK(led(307, "https://o.test/b", true) == "https://o.test/b");
    CHECK(led(307, "http://o.test/b", true) == "! moved: it moved to http://o.test/b, which is another origin");
    CHECK(led(307, "http://o.test/b", true, 0, "http://h.test/") == "http://o.test/b");
}

TEST_CASE("Content is encoded unless it says that it is not")
{
    CHECK_FALSE(is_encoded({}));
    CHECK_FALSE(is_encoded({{"Content-Encoding", "identity"}}));
    CHECK(is_encoded({{"Content-Encoding", "identity, gzip"}}));
    CHECK(is_encoded({{"content-encoding", "br"}}));
}
