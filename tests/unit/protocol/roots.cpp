// SPDX-License-Identifier: MIT
#include <comcp/protocol/roots.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

} // namespace

TEST_CASE("roots are read with what is not known of them", "[protocol][H-1]")
{
    const auto read = comcp::read_roots(object(
        R"({"roots":[{"uri":"file:///a","name":"A","_meta":{"k":1},"x":2},{"name":"no uri"},5,{"uri":"file:///b"}]})"));
    REQUIRE(read.size() == 2);
    CHECK(read[0].uri == "file:///a");
    CHECK(read[0].name == "A");
    CHECK(read[0].meta.contains("k"));
    CHECK(read[0].extra.size() == 1);
    CHECK(read[1].name.empty());
    CHECK(read.extra.empty());
    CHECK(comcp::read_roots(object(R"({"roots":5})")).empty());
}

TEST_CASE("what stands beside a list of roots is kept, and goes on with it", "[protocol][wire][H-1]")
{
    const auto text = R"({"roots":[{"uri":"file:///a"}],"_meta":{"k":1},"x":2})";
    const comcp::root_list read = comcp::read_roots(object(text));
    CHECK(read.meta == object(R"({"k":1})"));
    CHECK(read.extra == object(R"({"x":2})"));
    std::string out;
    comcp::wire::legacy_codec().write_roots(out, read, comcp::latest_legacy);
    CHECK(out == text);
    const std::vector<comcp::root> alone = read;
    CHECK(comcp::root_list(alone).extra.empty());
}

TEST_CASE("a root is a file URI without dot segments, however they are written", "[protocol][H-1][H-2]")
{
    for (const auto* sound : {"file:///", "file:///a/b", "file://host/share/", "file:///C:/Users/Ada%20L",
                              "file:///a/...", "file:///.hidden/..x/y.", "file:///100%25"}) {
        INFO(sound);
        CHECK_FALSE(comcp::check_root(comcp::root(sound)));
    }
    for (const auto* bad :
         {"", "/home/ada", "file:/a", "file:a", "http://x/a", "FILE:///a", "file:///a b", "file:///\xc3\xa4",
          "file:///a\n", "file:///a/../b", "file:///a/..", "file:///./a", "file:///a/%2e%2E/b", "file:///a/.%2e",
          "file:///a%2f..%2Fb", "file:///a%5C..", "file:///a/..?b", "file:///a%00", "file:///a%2"}) {
        INFO(bad);
        const auto wrong = comcp::check_root(comcp::root(bad));
        REQUIRE(wrong);
        CHECK(wrong->code == comcp::errc::invalid_argument);
        CHECK(wrong->text.find('"' + std::string(bad) + '"') != std::string::npos);
    }
}

TEST_CASE("roots beyond the bound are dropped", "[protocol]")
{
    comcp::json::object list;
    list["roots"] = comcp::json::array(comcp::max_roots + 1, object(R"({"uri":"file:///a"})"));
    CHECK(comcp::read_roots(list).size() == comcp::max_roots);
}
