// SPDX-License-Identifier: MIT
#include <comcp/http/reply_rules.hpp>

#include "catch.hpp"

#include <vector>

using comcp::outcome;
using comcp::http::answer_counts;
using comcp::http::content;
using comcp::http::fields;
using comcp::http::judge_reply;
using comcp::http::reply;
using comcp::http::reply_facts;
using comcp::http::reply_facts_of;
using comcp::http::reply_rule;
using comcp::http::sent_kind;

namespace
{

constexpr sent_kind request = sent_kind::request;
constexpr sent_kind notification = sent_kind::notification;
constexpr sent_kind listen_get = sent_kind::listen;
constexpr sent_kind end_session = sent_kind::end_session;

constexpr reply_rule never(reply what, bool look = false) { return {what, outcome::not_sent, look}; }
constexpr reply_rule perhaps(reply what, bool look = false) { return {what, outcome::unknown, look}; }

constexpr reply_rule judge(sent_kind sent, int status, content type = content::none)
{
    return judge_reply({sent, status, type});
}

constexpr reply_rule in_session(sent_kind sent, int status, content type = content::none)
{
    reply_facts facts{sent, status, type};
    facts.in_session = true;
    return judge_reply(facts);
}

} // namespace

static_assert(judge(request, 200, content::json) == perhaps(reply::json));

TEST_CASE("a request is answered by JSON or by a stream", "[reply_rules]")
{
    CHECK(judge(request, 200, content::json) == perhaps(reply::json));
    CHECK(judge(request, 200, content::events) == perhaps(reply::stream));
}

TEST_CASE("a success that brings a request no answer is unexpected, and it may have run", "[reply_rules]")
{
    CHECK(judge(request, 200, content::other) == perhaps(reply::unexpected));
    CHECK(judge(request, 202, content::events) == perhaps(reply::unexpected));
    CHECK(judge(request, 202, content::other) == perhaps(reply::unexpected));
    // Without a type, or with another success, the body is given a chance.
    CHECK(judge(request, 200) == perhaps(reply::unexpected, true));
    CHECK(judge(request, 201, content::json) == perhaps(reply::unexpected, true));
    CHECK(judge(request, 202) == perhaps(reply::unexpected, true));
    CHECK(judge(request, 204) == perhaps(reply::unexpected, true));
}

TEST_CASE("HTTP 85, 86: any success to a notification is a success, whatever its body and type", "[reply_rules]")
{
    for (int status : {200, 201, 202, 204, 299}) {
        for (content type : {content::none, content::json, content::events, content::other}) {
            CHECK(judge(notification, status, type) == perhaps(reply::accepted));
            CHECK(judge(end_session, status, type) == perhaps(reply::accepted));
        }
    }
}

TEST_CASE("HTTP 87: a failure belongs to the one request, and tells whether it ran", "[reply_rules]")
{
    for (int status : {400, 402, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 426, 428, 431, 501, 505}) {
        CAPTURE(status);
        CHECK(judge(request, status) == never(reply::refused));
        CHECK(judge(request, status, content::other) == never(reply::refused));
        CHECK(judge(request, status, content::events) == never(reply::refused));
        CHECK(judge(notification, status) == never(reply::refused));
    }
    for (int status : {409, 410, 418, 422, 424, 500, 502, 503, 504, 507, 520, 599, 600, 999, 300, 304, 305}) {
        CAPTURE(status);
        CHECK(judge(request, status) == perhaps(reply::refused));
        CHECK(judge(notification, status) == perhaps(reply::refused));
    }
}

TEST_CASE("HTTP 88: a server without a stream says 405, which is no error", "[reply_rules]")
{
    CHECK(judge(listen_get, 405) == never(reply::no_stream_offered));
    CHECK(in_session(listen_get, 405) == never(reply::no_stream_offered));
    CHECK(judge(listen_get, 204).what == reply::no_stream_offered);
    CHECK(judge(listen_get, 200, content::events) == perhaps(reply::stream));
    CHECK(judge(listen_get, 200, content::json).what == reply::unexpected);
    CHECK(judge(listen_get, 200).what == reply::unexpected);
    CHECK(judge(listen_get, 404).what == reply::refused);
    CHECK(in_session(listen_get, 404).what == reply::session_gone);
    CHECK(judge(listen_get, 500).what == reply::refused);
}

TEST_CASE("HTTP 91: no redirection is followed with another method, and what came after it may have run",
          "[reply_rules]")
{
    for (sent_kind sent : {request, notification, listen_get, end_session}) {
        for (int status : {301, 302, 307, 308}) CHECK(judge(sent, status, content::json) == never(reply::redirected));
        CHECK(judge(sent, 303) == perhaps(reply::redirected));
    }
}

TEST_CASE("HTTP 93: a session ends whatever the server says to DELETE", "[reply_rules]")
{
    CHECK(in_session(end_session, 200).what == reply::accepted);
    CHECK(in_session(end_session, 404).what == reply::session_gone);
    CHECK(in_session(end_session, 405).what == reply::refused);
    CHECK(in_session(end_session, 400).what == reply::refused);
    CHECK(in_session(end_session, 500).what == reply::refused);
}

TEST_CASE("SESSION 105: a 404 within a session ends it, and the request did not run", "[reply_rules]")
{
    CHECK(in_session(request, 404) == never(reply::session_gone));
    CHECK(in_session(request, 404, content::json) == never(reply::session_gone, true));
    CHECK(in_session(notification, 404, content::json) == never(reply::session_gone));
    CHECK(judge(request, 404, content::json) == never(reply::refused, true));
    CHECK(in_session(request, 400) == never(reply::refused));
}

TEST_CASE("an answer in the body beats the status, but a session that is gone stays gone", "[reply_rules]")
{
    for (int status : {400, 404, 422, 429, 500, 503}) {
        const reply_rule rule = judge(request, status, content::json);
        CAPTURE(status);
        CHECK(rule.look_in_body);
        CHECK(answer_counts(rule, std::nullopt));
        CHECK(answer_counts(rule, -32601));
        CHECK(answer_counts(rule, -32602));
    }
    const reply_rule gone = in_session(request, 404, content::json);
    CHECK(answer_counts(gone, std::nullopt));
    CHECK(answer_counts(gone, -32601));
    CHECK_FALSE(answer_counts(gone, -32001));
    CHECK(answer_counts(gone, -32000));
    CHECK_FALSE(answer_counts(judge(request, 500, content::other), std::nullopt));
    CHECK_FALSE(answer_counts(judge(notification, 400, content::json), std::nullopt));
    CHECK_FALSE(answer_counts(judge(request, 401, content::json), -32000));
}

TEST_CASE("401, and 403 with a challenge, ask for authorization", "[reply_rules]")
{
    for (sent_kind sent : {request, notification, listen_get, end_session}) {
        for (bool challenge : {false, true}) {
            reply_facts facts{sent, 401, content::json};
            facts.challenge = challenge;
            CHECK(judge_reply(facts) == never(reply::unauthorized));
            facts.status = 403;
            CHECK(judge_reply(facts).what == (challenge ? reply::unauthorized : reply::refused));
            CHECK(judge_reply(facts).fate == outcome::not_sent);
        }
    }
}

TEST_CASE("a busy server has not run the request; a gateway that lost its server may have", "[reply_rules]")
{
    CHECK(judge(request, 429) == never(reply::busy));
    reply_facts facts{request, 503};
    facts.retry_after = true;
    CHECK(judge_reply(facts) == never(reply::busy));
    CHECK(judge(request, 503) == perhaps(reply::refused));
    CHECK(judge(listen_get, 429).what == reply::busy);
}

TEST_CASE("no status is without a rule", "[reply_rules]")
{
    for (int status = -1; status < 1100; ++status) {
        for (sent_kind sent : {request, notification, listen_get, end_session}) {
            const reply_rule rule = judge(sent, status, content::json);
            const bool success = status >= 200 && status <= 299;
            if (!success)
                CHECK((rule.what != reply::json && rule.what != reply::stream && rule.what != reply::accepted));
            if (rule.look_in_body) CHECK(sent == request);
        }
    }
}

TEST_CASE("HTTP 84: facts come from the fields, media types without case and parameters", "[reply_rules]")
{
    const auto type = [](std::string_view value) {
        return reply_facts_of(request, false, 200, fields{{"content-type", value}}).content;
    };
    CHECK(type("application/json") == content::json);
    CHECK(type("Application/JSON; charset=utf-8") == content::json);
    CHECK(type("text/event-stream;charset=UTF-8") == content::events);
    CHECK(type("text/html") == content::other);
    CHECK(type("application/json-seq") == content::other);
    CHECK(type("") == content::other);
    CHECK(reply_facts_of(request, false, 200, {}).content == content::none);

    const reply_facts facts = reply_facts_of(
        notification, true, 503, fields{{"Retry-After", "1"}, {"WWW-Authenticate", "Bearer"}, {"Content-Type", "x/y"}});
    CHECK(facts.sent == notification);
    CHECK(facts.status == 503);
    CHECK(facts.in_session);
    CHECK(facts.challenge);
    CHECK(facts.retry_after);
    CHECK_FALSE(reply_facts_of(request, false, 503, {}).retry_after);
}

TEST_CASE("A session that is not known is told by code and words together [107]", "[reply_rules]")
{
    using comcp::http::tells_session_gone;
    for (const char* text :
         {"Session not found", "session not found: 1234", "SESSION NOT FOUND", "Session not found or expired",
          "Unknown session", "Invalid session ID", "Error: Session not found", "Bad Request: x: unknown session 7",
          "Bad Request: No valid session ID provided"}) {
        INFO(text);
        CHECK(tells_session_gone(-32000, text));
        CHECK(tells_session_gone(-32001, text));
        CHECK_FALSE(tells_session_gone(-32600, text));
        CHECK_FALSE(tells_session_gone(404, text));
    }
    for (const char* text : {"", ":", ": ", "Request timed out", "Browser session not found", "the session not found",
                             "Session", "session  not found", "Not found:session not found", "No valid session"}) {
        INFO(text);
        CHECK_FALSE(tells_session_gone(-32000, text));
    }
}
