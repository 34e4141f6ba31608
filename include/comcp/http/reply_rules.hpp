// SPDX-License-Identifier: MIT
//
// What a client makes of the head of a response: one table of what was sent, the status and the media type, for every
// place that asks. It reads no body and sends nothing again.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/media.hpp>
#include <comcp/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

enum class sent_kind {
    request,      ///< POST of a request
    notification, ///< POST of a notification or of an answer
    listen,       ///< GET, for a stream
    end_session,  ///< DELETE
};

/// Media types are compared without case and parameters (HTTP 84).
enum class content {
    none, ///< no Content-Type
    json,
    events,
    other,
};

enum class reply {
    json,              ///< the body is the answer
    stream,            ///< the body is a stream of events
    accepted,          ///< nothing more comes; the body, if any, is drained and ignored
    no_stream_offered, ///< the server has no stream to listen to, which is no error (E-34)
    session_gone,      ///< a new session is needed (E-40)
    unauthorized,      ///< authorization is needed, or more of it
    redirected,        ///< the endpoint is elsewhere: see Location
    busy,              ///< later perhaps: see Retry-After
    refused,           ///< any other status that is no success
    unexpected,        ///< a success whose content is no answer to what was sent
};

struct reply_facts
{
    sent_kind sent = sent_kind::request;
    int status = 200;
    http::content content = http::content::none;
    bool in_session = false;  ///< what was sent carried a session id
    bool challenge = false;   ///< there is a WWW-Authenticate
    bool retry_after = false; ///< there is a Retry-After
};

struct reply_rule
{
    reply what = reply::unexpected;
    /// What is known of a request that gets no answer: `not_sent` when it certainly never ran, else `unknown`.
    outcome fate = outcome::unknown;
    /// The body may hold the JSON-RPC answer all the same: read it, up to the limit of a message, and ask
    /// `answer_counts` before this rule is applied.
    bool look_in_body = false;

    bool operator==(const reply_rule&) const = default;
};

namespace detail
{

// Statuses that refuse the request for its form, its place or its sender, before anything ran. Of other errors, 500
// and those of gateways above all, that is not known.
constexpr bool never_ran(int status) noexcept
{
    constexpr std::array statuses = {400, 401, 402, 403, 404, 405, 406, 407, 408, 411, 412, 413, 414,
                                     415, 417, 421, 425, 426, 428, 429, 431, 451, 501, 505, 511};
    for (const int known : statuses) {
        if (known == status) return true;
    }
    return false;
}

constexpr reply_rule success_rule(const reply_facts& facts) noexcept
{
    switch (facts.sent) {
    case sent_kind::request:
        if (facts.status == 200 && facts.content == content::json) return {reply::json};
        if (facts.status == 200 && facts.content == content::events) return {reply::stream};
        return {reply::unexpected, outcome::unknown, facts.content == content::json || facts.content == content::none};
    case sent_kind::listen:
        if (facts.status == 200 && facts.content == content::events) return {reply::stream};
        // HTML, server-sent events: 204 tells a client not to come again.
        if (facts.status == 204) return {reply::no_stream_offered};
        return {reply::unexpected};
    case sent_kind::notification: // any success will do, whatever comes with it (HTTP 85, 86)
    case sent_kind::end_session: break;
    }
    return {reply::accepted};
}

} // namespace detail

/// The table.
constexpr reply_rule judge_reply(const reply_facts& facts) noexcept
{
    const int status = facts.status;
    if (status >= 200 && status <= 299) return detail::success_rule(facts);

    reply_rule rule{reply::refused, detail::never_ran(status) ? outcome::not_sent : outcome::unknown};
    // A JSON-RPC answer in the body beats the status, but not the ones that ask for another request first.
    rule.look_in_body = facts.sent == sent_kind::request && facts.content == content::json;
    switch (status) {
    case 301:
    case 302:
    case 307:
    case 308: return {reply::redirected, outcome::not_sent};
    case 303: return {reply::redirected, outcome::unknown}; // it is what a server says that has done the work
    case 401: return {reply::unauthorized, outcome::not_sent};
    case 403:
        if (facts.challenge) return {reply::unauthorized, outcome::not_sent};
        break;
    case 404:
        if (facts.in_session) rule.what = reply::session_gone;
        break;
    case 405:
        if (facts.sent == sent_kind::listen) rule.what = reply::no_stream_offered;
        break;
    case 429: rule.what = reply::busy; break;
    case 503:
        if (!facts.retry_after) break;
        // A server that says when to come again has turned the request away; one that does not may be a gateway that
        // lost its server on the way.
        rule.what = reply::busy;
        rule.fate = outcome::not_sent;
        break;
    default: break;
    }
    return rule;
}

/// Whether a JSON-RPC answer with the id of the request, found in the body, counts instead of the rule. `error_code`
/// is that of the answer, nothing when it is a result.
///
/// Whoever answers has understood the request, so it may have run, and is not sent again. But servers also say that the
/// session is gone (E-40) in an error with the id of the request: with the code that SDKs use for just that.
constexpr bool answer_counts(const reply_rule& rule, std::optional<std::int64_t> error_code) noexcept
{
    if (!rule.look_in_body) return false;
    constexpr std::int64_t session_not_found = -32001;
    return rule.what != reply::session_gone || error_code != session_not_found;
}

/// Whether a JSON-RPC error says that the server does not know the session of a request that carried one, whatever the
/// status beside it: some servers say so with 200 or 400, which makes it no less true. The code alone is not enough,
/// since -32000 is anybody's; the words alone neither. They stand at the beginning or behind a colon, so that the
/// sessions of a tool ("Browser session not found") are not ours.
///
/// It is taken as proof that the request did not run, as a 404 is: a server looks for the session before it looks at
/// the request, and one that has not found it has nothing to run it in. A tool that uses just these words for something
/// of its own is called once more in a new session at most, having said that it did nothing.
inline bool tells_session_gone(std::int64_t code, std::string_view message) noexcept
{
    if (code != -32000 && code != -32001) return false;
    constexpr std::array<std::string_view, 4> phrases = {"session not found", "unknown session", "invalid session",
                                                         "no valid session id"};
    for (std::size_t at = 0;;) {
        const std::string_view rest = message.substr(at);
        for (const std::string_view phrase : phrases)
            if (equal_ignoring_case(rest.substr(0, phrase.size()), phrase)) return true;
        const std::size_t colon = rest.find(": ");
        if (colon == rest.npos) return false;
        at += colon + 2;
    }
}

/// The facts of a response.
inline reply_facts reply_facts_of(sent_kind sent, bool in_session, int status, const fields& head)
{
    reply_facts out{sent, status, content::other, in_session, head.has("WWW-Authenticate"), head.has("Retry-After")};
    if (!head.has("Content-Type")) out.content = content::none;
    else if (has_media_type(head, "application/json")) out.content = content::json;
    else if (has_media_type(head, "text/event-stream")) out.content = content::events;
    return out;
}

} // namespace comcp::inline COMCP_ABI::http
