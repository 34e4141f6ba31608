// SPDX-License-Identifier: MIT
//
// Where a client of the old HTTP+SSE transport posts its messages: what the `endpoint` event says, judged. Text in, URL
// out.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/url.hpp>
#include <comcp/result.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

/// The endpoint that the stream at `stream` named: `/v1/messages?s=1`, `messages?s=1` or a whole URL (2024-11-05,
/// transports; HTTP 95). `prefix`, like "/api", is what a proxy takes off the paths that its server sees.
///
/// *Errors*: errc::bad_response when it is empty, no http or https URL, has a user name, or is longer than url::most;
/// and for another origin, to which credentials and messages would go (E-51). The text does not repeat it: it names a
/// session.
inline result<url> sse_endpoint(const url& stream, std::string_view told, std::string_view prefix = {})
{
    constexpr std::string_view blanks = " \t\r\n"; // URLs are read without those around them
    told.remove_prefix(std::min(told.find_first_not_of(blanks), told.size()));
    told = told.substr(0, told.find_last_not_of(blanks) + 1);
    if (told.empty()) return fail(errc::bad_response, "the server named an empty endpoint");
    const result<url> to = stream.resolve(told);
    if (!to) return fail(errc::bad_response, "the server named an endpoint that is none: " + to.error().text);
    if (to->origin() != stream.origin())
        return fail(errc::bad_response, "the server named an endpoint at another origin, " + to->origin().text() +
                                            " instead of " + stream.origin().text());
    if (prefix.empty()) return *to;
    const result<url> behind = stream.resolve(std::string(prefix) + to->target());
    if (!behind) return fail(errc::bad_response, "the endpoint with its prefix is none: " + behind.error().text);
    return *behind;
}

} // namespace comcp::inline COMCP_ABI::http
