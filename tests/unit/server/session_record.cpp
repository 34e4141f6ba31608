// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <comcp/server/session_record.hpp>

#include <string>

using comcp::detail::read_session_record;
using comcp::detail::session_record;
using comcp::detail::write_session_record;

namespace
{

session_record full()
{
    session_record out;
    out.id = "abc";
    out.principal = "ada \"the\" first";
    out.generation = 3;
    out.version = comcp::revision::r2025_06_18;
    out.capabilities.declare("roots", "listChanged");
    out.client = comcp::identity("tester", "1.2").title("Tester");
    out.level = comcp::log_level::warning;
    out.subscriptions = {"file:///a", "file:///b"};
    return out;
}

const std::string text =
    R"({"format":1,"id":"abc","principal":"ada \"the\" first","generation":3,"version":"2025-06-18",)"
    R"("capabilities":{"roots":{"listChanged":true}},"client":{"name":"tester","version":"1.2","title":"Tester"},)"
    R"("level":"warning","subscriptions":["file:///a","file:///b"]})";

std::string with(std::string_view what, std::string_view instead)
{
    std::string out = text;
    const std::size_t at = out.find(what);
    REQUIRE(at != out.npos);
    return out.replace(at, what.size(), instead);
}

} // namespace

TEST_CASE("A session's record is written and read back")
{
    CHECK(write_session_record(full()) == text);
    const auto read = read_session_record(text);
    REQUIRE(read.has_value());
    CHECK(read->id == "abc");
    CHECK(read->principal == "ada \"the\" first");
    CHECK(read->generation == 3);
    CHECK(read->version == comcp::revision::r2025_06_18);
    CHECK(read->capabilities.has("roots", "listChanged"));
    CHECK(read->client.title() == "Tester");
    CHECK(read->level == comcp::log_level::warning);
    CHECK(read->subscriptions == std::vector<std::string>{"file:///a", "file:///b"});
    CHECK(write_session_record(*read) == text);
}

TEST_CASE("A record of a later release is read as far as it is known")
{
    CHECK(write_session_record(*read_session_record(with("\"level\"", R"("new":{"x":[1]},"level")"))) == text);
    const auto read = read_session_record(with(R"(,"subscriptions":["file:///a","file:///b"])", ""));
    REQUIRE(read.has_value());
    CHECK(read->subscriptions.empty());
}

TEST_CASE("What is no whole record is a fault")
{
    for (std::size_t size = 0; size < text.size(); ++size)
        CHECK_FALSE(read_session_record(text.substr(0, size)).has_value());
    CHECK_FALSE(read_session_record("[]").has_value());
    CHECK(read_session_record(with("\"format\":1", "\"format\":2")).error().code == comcp::errc::unsupported);
    CHECK(read_session_record(text + std::string(1024 * 1024, ' ')).error().code == comcp::errc::too_large);
    CHECK_FALSE(read_session_record(with(R"("id":"abc",)", "")).has_value());
    CHECK_FALSE(read_session_record(with(R"("principal")", R"("other")")).has_value()); // or it would be anybody's
    CHECK_FALSE(read_session_record(with("2025-06-18", "2031-01-01")).has_value());
    CHECK_FALSE(read_session_record(with("warning", "loud")).has_value());
    for (const char* generation : {"0", "-1", "1048577", "9223372036854775807", "\"3\"", "null"})
        CHECK_FALSE(
            read_session_record(with("\"generation\":3", "\"generation\":" + std::string(generation))).has_value());
    CHECK(read_session_record(with("\"generation\":3", "\"generation\":1048576")).has_value());
}
