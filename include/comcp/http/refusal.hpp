// SPDX-License-Identifier: MIT
//
// A response that is no success, as far as a client's error tells of it, and where a redirect leads. Reads heads and
// texts; what is done about it is for those who asked.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/media.hpp>
#include <comcp/http/message.hpp>
#include <comcp/http/reply_rules.hpp>
#include <comcp/http/retry_after.hpp>
#include <comcp/http/status.hpp>
#include <comcp/http/url.hpp>
#include <comcp/result.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

struct refusal
{
    int status = 0;
    std::string challenge; ///< WWW-Authenticate, all of it
    std::string location;
    std::optional<std::chrono::seconds> retry_after;
};

inline refusal read_refusal(const response_head& from)
{
    refusal out;
    out.status = from.status;
    for (const std::string_view each : from.fields.find_all("WWW-Authenticate")) {
        if (!out.challenge.empty()) out.challenge += ", ";
        out.challenge += each;
    }
    out.location = std::string(from.fields.find("Location").value_or(""));
    if (const auto value = from.fields.find("Retry-After")) {
        // The server's own clock: no other is needed for a date.
        const auto date = parse_http_date(from.fields.find("Date").value_or(""));
        out.retry_after = parse_retry_after(*value, date.value_or(std::chrono::sys_seconds()));
        if (!date && value->find(':') != value->npos) out.retry_after.reset();
    }
    return out;
}

/// Whether the content is in a coding, which is never asked for.
inline bool is_encoded(const fields& head)
{
    for (const std::string_view each : head.items("Content-Encoding"))
        if (!equal_ignoring_case(each, "identity")) return true;
    return false;
}

/// Whether a body of no interest may never end.
inline bool may_be_endless(const response_head& response)
{
    return response.body == framing::until_close() || has_media_type(response.fields, "text/event-stream");
}

/// Text of a peer for an error: one line of printable characters, cut.
inline std::string excerpt(std::string_view text)
{
    constexpr std::size_t most = 200;
    std::string out;
    for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
    if (text.size() > most) out += "...";
    return out;
}

/// The error of a request that was answered so. `problem`: what is wrong with a success, where that is known.
inline fault to_fault(const refusal& of, const reply_rule& rule, std::string_view problem, std::string_view body)
{
    errc code = errc::bad_response;
    if (rule.what == reply::session_gone) code = errc::session_expired;
    else if (rule.what == reply::busy) code = errc::busy;
    else if (of.status == 401) code = errc::unauthorized;
    else if (of.status == 403) code = errc::forbidden;
    fault why =
        fail(code, "the server answered " + std::to_string(of.status) + ' ' + std::string(status_text(of.status)));
    why.fate = rule.fate;
    if (!problem.empty()) {
        why.text.append(", but ").append(problem);
    } else if (rule.what == reply::unexpected) {
        why.text += ", whose content is no answer: neither JSON nor a stream of events";
    } else if (const std::string said = excerpt(body); !said.empty()) {
        why.text += ": " + said;
    }
    auto http = std::make_shared<http_error>();
    http->status = of.status;
    http->challenge = of.challenge;
    http->retry_after = of.retry_after;
    why.http = std::move(http);
    return why;
}

/// Where a request may be sent again, the `followed`th time (which is counted), or nothing; `why` then says where it
/// led and why nobody goes there. Only 307 and 308 are followed, at most 3 times: 301, 302 and 303 turn a POST into a
/// GET (HTTP 91). To another origin only if `other_origins`, and never from https to http.
inline std::optional<url> redirect_target(const refusal& of, const url& from, bool other_origins, unsigned& followed,
                                          fault& why)
{
    const result<url> to = from.resolve(of.location);
    if (of.location.empty() || !to) {
        why.text += ", without a usable Location";
        return std::nullopt;
    }
    why.text += ": it moved to " + to->origin().text(); // no more: a query may hold what is secret
    why.text += to->path();
    if (of.status != 307 && of.status != 308) return std::nullopt;
    const bool safe = to->secure() || !from.secure();
    if (to->origin() != from.origin() && !(other_origins && safe)) {
        why.text += ", which is another origin";
        return std::nullopt;
    }
    if (followed++ < 3) return *to;
    why.text += ", after 3 other redirects";
    return std::nullopt;
}

} // namespace comcp::inline COMCP_ABI::http
