// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/identity.hpp>

#include "catch.hpp"

namespace
{

comcp::identity read(std::string_view text)
{
    return comcp::identity::read(comcp::parse_json(text, 64).value().as_object());
}

} // namespace

TEST_CASE("an identity is built by chained setters and shows its title", "[protocol]")
{
    const comcp::identity who = comcp::identity("demo", "0.1").title("Demo").description("d").website_url("https://x/");
    CHECK(who.name() == "demo");
    CHECK(who.version() == "0.1");
    CHECK(who.title() == "Demo");
    CHECK(who.description() == "d");
    CHECK(who.website_url() == "https://x/");
    CHECK(who.display_name() == "Demo");
    CHECK(comcp::identity("demo", "0.1").display_name() == "demo");
}

TEST_CASE("an identity reads all members and keeps those it does not know", "[protocol]")
{
    const comcp::identity who = read(R"({"name":"n","version":"1","title":"t","description":"d","websiteUrl":"u",
        "icons":[{"src":"https://x/i.png","mimeType":"image/png","sizes":["48x48",5,"any"],"theme":"dark","zz":1},
                 {"mimeType":"no src"},7],"zzz":{"a":[1]}})");
    CHECK(who.name() == "n");
    CHECK(who.website_url() == "u");
    REQUIRE(who.icons().size() == 1);
    CHECK(who.icons()[0].src == "https://x/i.png");
    CHECK(who.icons()[0].mime_type == "image/png");
    CHECK(who.icons()[0].sizes == std::vector<std::string>{"48x48", "any"});
    CHECK(who.icons()[0].theme == "dark");
    CHECK(who.icons()[0].extra.at("zz") == 1);
    REQUIRE(who.extra().size() == 1);
    CHECK(who.extra().at("zzz").at("a").at(0) == 1);
}

TEST_CASE("an identity reads null, missing and wrongly typed members as absent", "[protocol]")
{
    for (const char* text : {R"({})", R"({"name":null,"version":null,"title":null,"icons":null})",
                             R"({"name":5,"version":[],"title":{},"icons":"x","description":false})"}) {
        const comcp::identity who = read(text);
        CHECK(who.name().empty());
        CHECK(who.version().empty());
        CHECK(who.title().empty());
        CHECK(who.icons().empty());
        CHECK(who.description().empty());
        CHECK(who.extra().empty());
    }
}
