// SPDX-License-Identifier: MIT
// Cursors, pages and the comparison of lists, without a session.
#include <comcp/server/listing.hpp>
#include <comcp/server/tool_entry.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace
{

using namespace comcp::detail;
using comcp::revision;

entry_ptr make(std::string name, std::uint64_t number, bool enabled = true, std::string title = {})
{
    comcp::tool described(std::move(name));
    described.title = std::move(title);
    auto made = std::make_shared<tool_entry>(std::move(described), make_tool_handler([] { return ""; }));
    made->number = number;
    made->enabled = enabled;
    return made;
}

std::string page(const entry_set& list, std::uint64_t after, std::size_t items, std::size_t bytes = 1'000'000)
{
    std::string out;
    write_page(out, "tools", entry_kind::tool, list, after, page_limits{items, bytes}, comcp::wire::legacy_codec(),
               revision::r2025_11_25);
    return out;
}

std::string item(const std::string& name)
{
    return R"({"name":")" + name + R"(","inputSchema":{"type":"object","properties":{},"additionalProperties":false}})";
}

} // namespace

TEST_CASE("A cursor reads back, for its own list only")
{
    const entry_set list({}, 17);
    for (const entry_kind kind : all_entry_kinds) {
        for (const std::uint64_t after : {1, 9, 17}) {
            const std::string cursor = write_cursor(kind, after);
            CHECK(read_cursor(kind, cursor, list) == after);
            for (const entry_kind other : all_entry_kinds)
                if (other != kind) CHECK_FALSE(read_cursor(other, cursor, list));
            for (std::size_t size = 0; size < cursor.size(); ++size)
                CHECK(read_cursor(kind, cursor.substr(0, size), list).has_value() == (size == 2)); // "t1" of "t17"
        }
        CHECK_FALSE(read_cursor(kind, write_cursor(kind, 18), list));
        CHECK_FALSE(read_cursor(kind, write_cursor(kind, 0), list));
    }
    for (const auto* odd :
         {"", "t", "t ", "t 1", "t1 ", "t+1", "t-1", "t01", "T1", "1", "t1t", "t99999999999999999999"})
        CHECK_FALSE(read_cursor(entry_kind::tool, odd, list));
}

TEST_CASE("A page has its items, and a cursor exactly when something visible follows")
{
    const entry_set list({make("a", 1), make("b", 3, false), make("c", 4), make("d", 9, false)}, 9);
    CHECK(page(list, 0, 2) == R"({"tools":[)" + item("a") + ',' + item("c") + "]}");
    CHECK(page(list, 0, 1) == R"({"tools":[)" + item("a") + R"(],"nextCursor":"t1"})");
    CHECK(page(list, 1, 1) == R"({"tools":[)" + item("c") + "]}");
    CHECK(page(list, 2, 1) == R"({"tools":[)" + item("c") + "]}");
    CHECK(page(list, 4, 1) == R"({"tools":[]})");
    CHECK(page(entry_set(), 0, 5) == R"({"tools":[]})");
}

TEST_CASE("A page ends with the item that reaches its bytes")
{
    const entry_set list({make("a", 1), make("b", 2), make("c", 3)}, 3);
    const std::size_t one = item("a").size();
    CHECK(page(list, 0, 10, 0) == R"({"tools":[)" + item("a") + R"(],"nextCursor":"t1"})");
    CHECK(page(list, 0, 10, one) == R"({"tools":[)" + item("a") + R"(],"nextCursor":"t1"})");
    CHECK(page(list, 0, 10, one + 1) == R"({"tools":[)" + item("a") + ',' + item("b") + R"(],"nextCursor":"t2"})");
    CHECK(page(list, 0, 10, 3 * one) == R"({"tools":[)" + item("a") + ',' + item("b") + ',' + item("c") + "]}");
}

TEST_CASE("Two lists are the same when a client sees the same in both")
{
    const auto same = [](std::vector<entry_ptr> left, std::vector<entry_ptr> right,
                         revision at = revision::r2025_11_25) {
        const entry_set one(left);
        const entry_set other(right);
        const bool both = same_list(one, other, comcp::wire::legacy_codec(), at);
        CHECK(both == same_list(other, one, comcp::wire::legacy_codec(), at));
        return both;
    };
    const entry_ptr a = make("a", 1);
    const entry_ptr b = make("b", 2);
    CHECK(same({}, {}));
    CHECK(same({a, b}, {a, b}));
    CHECK(same({a}, {make("a", 7)}));
    CHECK(same({a, make("x", 3, false)}, {a}));
    CHECK(same({make("x", 3, false), a, b}, {a, make("y", 4, false), b}));
    CHECK_FALSE(same({a}, {}));
    CHECK_FALSE(same({a, b}, {b, a}));
    CHECK_FALSE(same({a}, {make("a", 1, false)}));
    CHECK_FALSE(same({a}, {make("a", 1, true, "T")}));
    CHECK(same({a}, {make("a", 1, true, "T")}, revision::r2025_03_26));
}

TEST_CASE("A registry numbers what it is given, once and for all")
{
    registry all(entry_kind::tool);
    int told = 0;
    all.listen([&] { ++told; });
    const auto tool = [](std::string name) {
        return std::make_shared<tool_entry>(comcp::tool(std::move(name)), make_tool_handler([] { return ""; }));
    };
    all.add(tool("a"));
    all.add(tool("b"));
    CHECK(all.remove("b"));
    CHECK_FALSE(all.remove("b"));
    all.add(tool("b"));
    all.edit("a", [](entry& changed) { changed.parts().title = "A"; });
    all.edit("none", [](entry&) { FAIL("there is none"); });
    CHECK(told == 5);
    const auto now = all.snapshot();
    REQUIRE(now->all().size() == 2);
    CHECK(now->all()[0]->number == 1);
    CHECK(now->all()[1]->number == 3);
    CHECK(now->last_number() == 3);
    CHECK(now->contains("a"));
    CHECK(now->find("a"));
    CHECK_FALSE(now->find("c"));
}
