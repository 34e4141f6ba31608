// SPDX-License-Identifier: MIT
//
// http and https URLs: one type that reads, compares and writes them and resolves references against them (RFC 3986).
// Not for other schemes, and not for decoding: path and query stay percent-encoded, as they go over the wire.
#pragma once

#include <comcp/config.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/host.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

enum class scheme : std::uint8_t {
    http,
    https,
};

constexpr std::string_view scheme_name(scheme which) noexcept { return which == scheme::http ? "http" : "https"; }
constexpr std::uint16_t default_port(scheme which) noexcept { return which == scheme::http ? 80 : 443; }

/// Scheme, host and port: what may share cookies of trust. Comparable, since each host has one form.
struct origin
{
    http::scheme scheme = http::scheme::http;
    std::string host; ///< as in `http::authority::host`: to connect to, without brackets
    std::uint16_t port = 80;

    /// For the Host field: the scheme's default port is left out.
    http::authority authority() const
    {
        http::authority out{host, {}};
        if (port != default_port(scheme)) out.port = port;
        return out;
    }

    /// As browsers send it in Origin: `https://[::1]:8443`.
    std::string text() const { return std::string(scheme_name(scheme)) + "://" + authority().text(); }

    friend bool operator==(const origin&, const origin&) = default;
};

namespace detail
{

// The scheme in front of "://"; `text` keeps what follows.
inline result<scheme> take_scheme(std::string_view& text)
{
    for (const scheme which : {scheme::https, scheme::http}) {
        const std::string_view name = scheme_name(which);
        if (!equal_ignoring_case(text.substr(0, name.size()), name)) continue;
        if (!text.substr(name.size()).starts_with("://")) continue;
        text.remove_prefix(name.size() + 3);
        return which;
    }
    return fail(errc::invalid_argument, "a URL begins with http:// or https://");
}

inline result<origin> make_origin(scheme which, std::string_view host_and_port)
{
    result<authority> parsed = parse_authority(host_and_port);
    if (!parsed) return std::move(parsed).error();
    return origin{which, std::move(parsed->host), parsed->port.value_or(default_port(which))};
}

// Whether `text` begins like "scheme:".
constexpr bool has_scheme(std::string_view text) noexcept
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = to_lower(text[i]);
        if (c == ':') return i != 0;
        const bool letter = c >= 'a' && c <= 'z';
        if (!letter && (i == 0 || (!is_digit(c) && c != '+' && c != '-' && c != '.'))) return false;
    }
    return false;
}

// RFC 3986 section 5.2.4 for a path that begins with '/'.
inline std::string remove_dot_segments(std::string_view path)
{
    std::string out;
    while (!path.empty()) {
        const std::size_t end = path.find('/', 1);
        const std::string_view segment = path.substr(0, end); // with the '/' before it
        path.remove_prefix(segment.size());
        if (segment == "/..") out.erase(out.empty() ? 0 : out.rfind('/'));
        if (segment != "/." && segment != "/..") {
            out += segment;
        } else if (path.empty()) {
            out += '/';
        }
    }
    return out;
}

} // namespace detail

/// Reads what a browser sends in Origin: a scheme, a host and perhaps a port, and nothing after them. `null` and other
/// schemes are errors. *Errors*: `errc::invalid_argument` with the reason.
inline result<origin> parse_origin(std::string_view text)
{
    const result<scheme> which = detail::take_scheme(text);
    if (!which) return which.error();
    return detail::make_origin(*which, text);
}

/// An absolute http or https URL without user name and fragment.
class url
{
public:
    /// Longer texts are refused.
    static constexpr std::size_t most = 8 * 1024;

    /// Reads an absolute URL. A fragment is dropped, dot segments are removed. *Errors*: `errc::invalid_argument` with
    /// the reason; the text is not repeated in it, because it may hold a secret.
    static result<url> parse(std::string_view text)
    {
        if (result<void> bad = check(text); !bad) return std::move(bad).error();
        text = text.substr(0, text.find('#'));
        const result<http::scheme> which = detail::take_scheme(text);
        if (!which) return which.error();
        const std::size_t end = text.find_first_of("/?");
        result<http::origin> origin = detail::make_origin(*which, text.substr(0, end));
        if (!origin) return std::move(origin).error();
        return url(*std::move(origin), end == text.npos ? "" : text.substr(end));
    }

    /// Resolves a reference against this URL, as for Location: an absolute URL, `//host/path`, `/path`, `path`,
    /// `?query` or nothing (RFC 3986 section 5.2). The result may have another origin: compare. *Errors*: as `parse`.
    result<url> resolve(std::string_view reference) const
    {
        if (detail::has_scheme(reference)) return parse(reference);
        if (result<void> bad = check(reference); !bad) return std::move(bad).error();
        reference = reference.substr(0, reference.find('#'));
        if (reference.starts_with("//")) {
            return parse(std::string(scheme_name(origin_.scheme)).append(1, ':').append(reference));
        }
        if (reference.empty()) return *this;
        if (reference.starts_with('/')) return url(origin_, reference);
        const std::string_view base = path();
        const std::string_view kept = reference.starts_with('?') ? base : base.substr(0, base.rfind('/') + 1);
        return url(origin_, std::string(kept).append(reference));
    }

    const http::origin& origin() const noexcept { return origin_; }
    http::scheme scheme() const noexcept { return origin_.scheme; }
    bool secure() const noexcept { return origin_.scheme == http::scheme::https; }
    /// To connect to: an IPv6 address has no brackets here.
    const std::string& host() const noexcept { return origin_.host; }
    std::uint16_t port() const noexcept { return origin_.port; }
    /// For the Host field.
    http::authority authority() const { return origin_.authority(); }

    /// For the request line: path and query, percent-encoded as they were given; at least "/".
    const std::string& target() const noexcept { return target_; }
    std::string_view path() const noexcept { return std::string_view(target_).substr(0, target_.find('?')); }
    /// What follows the question mark; empty when there is none.
    std::string_view query() const noexcept
    {
        return std::string_view(target_).substr(path().size()).substr(has_query());
    }

    std::string text() const { return origin_.text() + target_; }

    friend bool operator==(const url&, const url&) = default;

private:
    url(http::origin origin, std::string_view target) : origin_(std::move(origin))
    {
        const std::size_t query = target.find('?');
        const std::string_view path = target.substr(0, query);
        target_ = path.empty() ? "/" : detail::remove_dot_segments(path);
        if (query != target.npos) target_ += target.substr(query);
    }

    std::size_t has_query() const noexcept { return path().size() < target_.size() ? 1 : 0; }

    static result<void> check(std::string_view text)
    {
        if (text.size() > most) return fail(errc::invalid_argument, "the URL is longer than 8192 characters");
        if (!detail::all(text.substr(0, text.find('#')), detail::target_char)) {
            return fail(errc::invalid_argument, "a URL has no blanks, control and non-ASCII characters: encode them");
        }
        return {};
    }

    http::origin origin_;
    std::string target_;
};

} // namespace comcp::inline COMCP_ABI::http
