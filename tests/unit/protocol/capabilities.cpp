// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/json/write.hpp>
#include <comcp/protocol/capabilities.hpp>

#include "catch.hpp"

namespace
{

comcp::server_capabilities read(std::string_view text)
{
    return comcp::server_capabilities(comcp::parse_json(text, 64).value().as_object());
}

std::string text_of(const comcp::capability_set& set)
{
    std::string out;
    comcp::write_value(out, set.raw());
    return out;
}

} // namespace

TEST_CASE("presence is the signal of a capability, not its truth value", "[protocol]")
{
    CHECK(read(R"({"tools":{}})").has("tools"));
    CHECK(read(R"({"tools":[]})").has("tools")); // how some languages write an empty map
    CHECK(read(R"({"tools":true})").has("tools"));
    CHECK_FALSE(read(R"({"tools":null})").has("tools"));
    CHECK_FALSE(read(R"({"tools":false})").has("tools"));
    CHECK_FALSE(read(R"({})").has("tools"));
    CHECK_FALSE(comcp::server_capabilities().has("tools"));
}

TEST_CASE("a part of a capability is looked up in its object", "[protocol]")
{
    const auto set =
        read(R"({"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"subscribe":null},
        "elicitation":{"form":{}},"logging":[]})");
    CHECK(set.has("tools", "listChanged"));
    CHECK_FALSE(set.has("tools", "subscribe"));
    CHECK_FALSE(set.has("prompts", "listChanged"));
    CHECK_FALSE(set.has("resources", "subscribe"));
    CHECK(set.has("elicitation", "form"));
    CHECK_FALSE(set.has("elicitation", "url"));
    CHECK_FALSE(set.has("logging", "x"));
    CHECK_FALSE(set.has("absent", "x"));
}

TEST_CASE("unknown members of capabilities are kept as they came", "[protocol]")
{
    const std::string text =
        R"({"elicitation":{"form":{},"zzz":1},"tools":{},"zzz":{},"extensions":{"a/b":{"c":null}}})";
    CHECK(text_of(read(text)) == text);
}

TEST_CASE("declared capabilities are objects, and declaring twice adds", "[protocol]")
{
    comcp::server_capabilities set;
    set.declare("logging").declare("tools").declare("tools", "listChanged").declare("resources", "subscribe");
    set.declare("resources", "listChanged").declare("logging");
    CHECK(text_of(set) ==
          R"({"logging":{},"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}})");
    CHECK(set.has("resources", "subscribe"));
}
