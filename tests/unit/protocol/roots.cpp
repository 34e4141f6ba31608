// SPDX-License-Identifier: MIT
#include <comcp/protocol/roots.hpp>

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
    CHECK(comcp::read_roots(object(R"({"roots":5})")).empty());
}

TEST_CASE("roots beyond the bound are dropped", "[protocol]")
{
    comcp::json::object list;
    list["roots"] = comcp::json::array(comcp::max_roots + 1, object(R"({"uri":"file:///a"})"));
    CHECK(comcp::read_roots(list).size() == comcp::max_roots);
}
