// SPDX-License-Identifier: MIT
// A URL that was read is written and read again as the same URL, and so are the references that were resolved against
// it. The part of the input after the first newline is the reference.
#include "pieces.hpp"

#include <comcp/http/media.hpp>
#include <comcp/http/url.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace
{

using namespace comcp::http;
using fuzz::require;

void check(const url& value)
{
    const auto again = url::parse(value.text());
    require(again.has_value() || value.text().size() > url::most);
    if (again) require(*again == value && again->text() == value.text());
    require(valid_target(value.target()) && value.path().starts_with('/') && valid_value(value.authority().text()));
    require(value.path().size() + value.query().size() <= value.target().size());
    require(value.port() != 0 && !value.host().empty() && value.host().front() != '[');
    const auto origin = parse_origin(value.origin().text());
    require(origin.has_value() && *origin == value.origin());
    const auto host = parse_authority(value.authority().text());
    require(host.has_value() && *host == value.authority());
    require(is_loopback(value.host()) == is_loopback(host->host));
    // Without dot segments nothing is left to remove.
    require((std::string(value.path()) + "/").find("/../") == std::string::npos);
    require((std::string(value.path()) + "/").find("/./") == std::string::npos);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view first = text.substr(0, text.find('\n'));
    const std::string_view second = text.substr(std::min(first.size() + 1, text.size()));

    // The small readers that share the input: they must only not read past its end.
    static_cast<void>(is_loopback(text));
    static_cast<void>(accept_weight(text, "text/event-stream"));
    if (const auto media = parse_media_type(text)) static_cast<void>(media->parameter("charset"));
    if (const auto bytes = parse_ipv6(text)) require(parse_ipv6(ipv6_text(*bytes)) == bytes);

    const auto base = url::parse(first);
    if (!base) return 0;
    check(*base);
    const auto resolved = base->resolve(second);
    if (resolved) check(*resolved);
    const auto itself = base->resolve(base->text());
    require(!itself.has_value() || *itself == *base);
    return 0;
}
