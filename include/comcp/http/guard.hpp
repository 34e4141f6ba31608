// SPDX-License-Identifier: MIT
//
// The judgement on the head of a request to an MCP endpoint, before its body is read: Host and Origin first (a page in
// a browser must not reach a local server through DNS rebinding), then path, method, media types and version. One for
// every HTTP server in front of the endpoint. Not for authorization, sessions and what stands in the body.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/host.hpp>
#include <comcp/http/media.hpp>
#include <comcp/http/url.hpp>
#include <comcp/result.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

/// Whom and what an endpoint takes. By default the loopback names with any port, in Host as in Origin.
struct guard_settings
{
    /// The path of the endpoint; a query makes no difference. Empty: any path, because somebody else has looked.
    std::string path = "/mcp";
    /// Further hosts by which clients reach the endpoint: "mcp.example.com" with any port, "mcp.example.com:8443" with
    /// that one, "[2001:db8::1]".
    std::vector<std::string> hosts = {};
    /// Further origins of pages that may call it: "https://app.example.com", "chrome-extension://abcdef".
    std::vector<std::string> origins = {};
    /// Loopback names are one family: localhost, names below it, 127.0.0.0/8, [::1].
    bool loopback = true;
    /// POST brings messages; else it is answered with 405.
    bool posts = true;
    /// GET opens a stream; else it is answered with 405.
    bool streams = true;
    /// DELETE ends a session; else it is answered with 405.
    bool sessions = true;
    /// Which values of MCP-Protocol-Version are served; null looks at none.
    bool (*supports)(std::string_view version) = nullptr;
};

/// What the guard says.
struct verdict
{
    int status = 0;        ///< 0: go on. Else the answer, which has no content of the endpoint's; 204 is a preflight's
    std::string_view text; ///< the reason of a refusal, for its body; without the peer's bytes
    /// What the answer carries, be it a refusal or what the endpoint answers (CORS, Allow, Accept-Encoding).
    fields answer_fields;
    /// Which forms the client accepts as the answer of a POST; at least one when it may go on.
    bool json = false;
    bool stream = false;

    bool accepted() const noexcept { return status == 0; }
};

/// Immutable, and safe to share.
class guard
{
public:
    /// *Errors*: `errc::invalid_argument` for a host or origin that is none.
    static result<guard> make(guard_settings settings = {})
    {
        guard out;
        for (const std::string& text : settings.hosts) {
            result<authority> host = parse_authority(text);
            if (!host) return fail(errc::invalid_argument, "the allowed host " + text + ": " + host.error().text);
            host->host = without_dot(host->host);
            out.hosts_.push_back(*std::move(host));
        }
        for (const std::string& text : settings.origins) {
            if (result<origin> known = parse_origin(text)) out.origins_.push_back(*std::move(known));
            else if (of_other_scheme(text)) out.other_origins_.push_back(text);
            else return fail(errc::invalid_argument, "the allowed origin " + text + ": " + known.error().text);
        }
        if (settings.streams) out.allow_ += "GET, ";
        if (settings.posts) out.allow_ += "POST, ";
        if (settings.sessions) out.allow_ += "DELETE, ";
        out.allow_ += "OPTIONS";
        out.settings_ = std::move(settings);
        return out;
    }

    verdict check(std::string_view method, std::string_view target, const fields& head) const
    {
        verdict out;
        const judged seen(head);
        for (std::size_t i = 0; i < seen.of.size(); ++i) {
            const std::string_view twice = judged::rows[i].twice;
            if (seen.of[i].count > 1 && !twice.empty()) return refuse(out, 400, twice);
        }

        const std::string_view host = seen[judged::host].value;
        if (!(settings_.loopback && is_usual_loopback(host))) {
            const result<authority> reached = parse_authority(host);
            if (!reached) return refuse(out, 400, "Host is missing or not a host");
            if (!allowed(*reached)) return refuse(out, 403, "this Host is not on the list of allowed hosts");
        }

        if (const fields::named& page = seen[judged::origin]) {
            // 2025-11-25, transports: an invalid Origin is answered with 403; one that is absent is not invalid (E-2).
            if (!allowed(page.value)) return refuse(out, 403, "this Origin is not on the list of allowed origins");
            out.answer_fields.add("Access-Control-Allow-Origin", page.value);
            out.answer_fields.add("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
            out.answer_fields.add("Vary", "Origin");
        }

        if (!settings_.path.empty() && target.substr(0, target.find('?')) != settings_.path) {
            return refuse(out, 404, "the endpoint has another path");
        }
        if (method == "OPTIONS") return answer_options(out, head);
        const bool post = method == "POST" && settings_.posts;
        if (!post && !(method == "GET" && settings_.streams) && !(method == "DELETE" && settings_.sessions)) {
            out.answer_fields.add("Allow", allow_);
            return refuse(out, 405, "this method is not offered");
        }
        // RFC 9110 section 10.1.1.
        const fields::named& expected = seen[judged::expect];
        if (expected && !(expected.count == 1 && equal_ignoring_case(expected.value, "100-continue"))) {
            return refuse(out, 417, "an expectation other than 100-continue");
        }
        if (const fields::named& version = seen[judged::version]; version && settings_.supports) {
            // 2025-11-25, transports: an invalid or unsupported version is answered with 400 (E-42).
            if (!settings_.supports(version.value)) {
                return refuse(out, 400, "this MCP-Protocol-Version is not supported");
            }
        }

        // 2025-11-25, transports: clients list both forms. Many do not, so a client gets a form that it accepts, and
        // 406 only if it accepts neither (E-43). No Accept accepts everything (RFC 9110 section 12.5.1).
        const fields::named& accepted = seen[judged::accept];
        const bool usual = accepted.count == 1 && accepted.value == usual_accept;
        out.json = usual || accepts(head, "application/json");
        out.stream = usual || accepts(head, "text/event-stream");
        if (post) return check_content(out, head, seen);
        if (method == "GET" && !out.stream) return refuse(out, 406, "a stream is text/event-stream");
        return out;
    }

private:
    guard() = default;

    /// The fields that the judgement is about, found in one pass.
    struct judged
    {
        enum which : std::size_t { host, origin, type, authorization, session, event, version, accept, expect };
        struct row
        {
            std::string_view name;
            std::string_view twice; // two values for one meaning: others may take the other one; empty: a list
        };
        static constexpr auto rows = std::to_array<row>({
            {"Host", "more than one Host"},
            {"Origin", "more than one Origin"},
            {"Content-Type", "more than one Content-Type"},
            {"Authorization", "more than one Authorization"},
            {"Mcp-Session-Id", "more than one Mcp-Session-Id"},
            {"Last-Event-ID", "more than one Last-Event-ID"},
            {"MCP-Protocol-Version", "more than one MCP-Protocol-Version"},
            {"Accept", {}},
            {"Expect", {}},
        });

        explicit judged(const fields& head)
        {
            for (const field& each : head) {
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    if (same_name(each.name, rows[i].name) && of[i].count++ == 0) of[i].value = each.value;
                }
            }
        }
        const fields::named& operator[](which one) const { return of[one]; }

        std::array<fields::named, rows.size()> of{};
    };

    static verdict& refuse(verdict& out, int status, std::string_view text)
    {
        out.status = status;
        out.text = text;
        return out;
    }

    // The commonest spellings of this machine, which need not be taken apart.
    static bool is_usual_loopback(std::string_view host)
    {
        for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
            if (!host.starts_with(name)) continue;
            host.remove_prefix(name.size());
            if (host.empty()) return true;
            const bool in_range = host.size() <= 5 || (host.size() == 6 && host <= ":65535");
            return host.size() >= 2 && in_range && host[0] == ':' && host[1] != '0' &&
                   std::ranges::all_of(host.substr(1), detail::is_digit);
        }
        return false;
    }

    // Such as "chrome-extension://abcdef": a scheme that we know nothing about, and no path.
    static bool of_other_scheme(std::string_view text)
    {
        const std::size_t end = text.find("://");
        const std::string_view scheme = text.substr(0, end);
        return end != text.npos && valid_name(scheme) && !equal_ignoring_case(scheme, "http") &&
               !equal_ignoring_case(scheme, "https") && valid_name(text.substr(end + 3));
    }

    static std::string without_dot(std::string_view host)
    {
        if (host.ends_with('.')) host.remove_suffix(1);
        return std::string(host);
    }

    bool allowed(const authority& host) const
    {
        if (settings_.loopback && is_loopback(host.host)) return true;
        const std::string name = without_dot(host.host);
        return std::ranges::any_of(hosts_, [&](const authority& known) {
            if (known.host != name) return false;
            // Without a port it is the one of the scheme, which the head does not tell.
            if (!host.port) return !known.port || *known.port == 80 || *known.port == 443;
            return !known.port || *known.port == *host.port;
        });
    }

    bool allowed(std::string_view page) const
    {
        const result<origin> from = parse_origin(page);
        if (!from) return std::ranges::find(other_origins_, page) != other_origins_.end();
        if (settings_.loopback && is_loopback(from->host)) return true;
        return std::ranges::find(origins_, *from) != origins_.end();
    }

    verdict& answer_options(verdict& out, const fields& head) const
    {
        out.status = 204;
        out.answer_fields.add("Allow", allow_);
        if (!head.has("Origin")) return out;
        out.answer_fields.add("Access-Control-Allow-Methods", allow_);
        // Names, because a wildcard does not cover Authorization (E-5). The ones of parameters are the tools' own.
        std::string names = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, "
                            "Mcp-Method, Mcp-Name";
        constexpr std::string_view parameter = "mcp-param-";
        for (const std::string_view name : head.items("Access-Control-Request-Headers")) {
            if (equal_ignoring_case(name.substr(0, parameter.size()), parameter) && valid_name(name)) {
                names.append(", ").append(name);
            }
        }
        out.answer_fields.add("Access-Control-Allow-Headers", names);
        out.answer_fields.add("Access-Control-Max-Age", "7200");
        return out;
    }

    static verdict& check_content(verdict& out, const fields& head, const judged& seen)
    {
        if (!is_media_type(seen[judged::type].value, "application/json")) {
            return refuse(out, 415, "the content must be application/json");
        }
        for (const std::string_view coding : head.items("Content-Encoding")) {
            if (equal_ignoring_case(coding, "identity")) continue;
            out.answer_fields.add("Accept-Encoding", "identity");
            return refuse(out, 415, "content codings are not supported");
        }
        if (!out.json && !out.stream) {
            return refuse(out, 406, "an answer is application/json or text/event-stream");
        }
        return out;
    }

    guard_settings settings_;
    std::vector<authority> hosts_;
    std::vector<origin> origins_;
    std::vector<std::string> other_origins_; // of other schemes: compared as they are
    std::string allow_;
};

} // namespace comcp::inline COMCP_ABI::http
