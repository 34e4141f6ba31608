// SPDX-License-Identifier: MIT
// Lists in pages: what stands on one, how it goes on, and what happens when the list changes in between.
#include "script.hpp"

using namespace script;

namespace
{

struct list_page
{
    std::vector<std::string> names;
    std::optional<std::string> next;
};

/// Asks for one page.
list_page ask(server_stage& s, std::string_view method, const std::optional<std::string>& cursor = {})
{
    s.peer.ask("1", method, cursor ? R"({"cursor":")" + *cursor + R"("})" : "{}");
    const json::object answer = s.peer.next_object();
    REQUIRE(answer.contains("result"));
    list_page page;
    for (const json::key_value_pair& member : answer.at("result").get_object()) {
        if (member.key() == "nextCursor") page.next = std::string(member.value().get_string());
        else
            for (const json::value& item : member.value().get_array())
                page.names.emplace_back(item.at("name").get_string());
    }
    return page;
}

std::vector<std::vector<std::string>> all_pages(server_stage& s, std::string_view method)
{
    std::vector<std::vector<std::string>> pages;
    std::optional<std::string> cursor;
    do {
        list_page page = ask(s, method, cursor);
        pages.push_back(std::move(page.names));
        cursor = std::move(page.next);
    } while (cursor && pages.size() < 100);
    return pages;
}

using pages = std::vector<std::vector<std::string>>;

struct four_lists : server_stage
{
    explicit four_lists(comcp::server_options options) : server_stage(std::move(options))
    {
        for (const std::string name : {"a", "b", "c", "d", "e"}) {
            server.tool(name, "", [] { return ""; });
            server.resource("x:" + name, name, [] { return ""; });
            server.resource_template("y:" + name + "{v}", name, [] { return ""; });
            server.prompt(name, "", [] { return ""; });
        }
    }
};

comcp::server_options pages_of(std::size_t items)
{
    comcp::server_options options;
    options.page_items = items;
    return options;
}

constexpr const char* methods[] = {"tools/list", "resources/list", "resources/templates/list", "prompts/list"};

} // namespace

TEST_CASE("All four lists come in pages of the size that is set [F-3]")
{
    for (const auto* method : methods) {
        INFO(method);
        four_lists two(pages_of(2));
        two.begin();
        CHECK(all_pages(two, method) == pages{{"a", "b"}, {"c", "d"}, {"e"}});
        four_lists five(pages_of(5));
        five.begin();
        CHECK(all_pages(five, method) == pages{{"a", "b", "c", "d", "e"}});
        four_lists none(pages_of(0)); // at least one, or it would never end
        none.begin();
        CHECK(all_pages(none, method) == pages{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}});
    }
}

TEST_CASE("By default a list of some tools is one page without a cursor")
{
    server_stage s;
    s.server.tool("a", "", [] { return ""; });
    s.begin();
    s.peer.ask("1", "tools/list");
    CHECK_FALSE(has(s.peer.next(), "nextCursor"));
}

TEST_CASE("A page ends with the item that reaches the limit of bytes, so it stays a message that a client can read")
{
    comcp::server_options options;
    options.page_bytes = 1000;
    server_stage s(std::move(options));
    for (const std::string name : {"a", "b", "c"}) s.server.tool(name, std::string(600, 'x'), [] { return ""; });
    s.server.tool("d", std::string(5000, 'x'), [] { return ""; });
    s.server.tool("e", "", [] { return ""; });
    s.begin();
    CHECK(all_pages(s, "tools/list") == pages{{"a", "b"}, {"c", "d"}, {"e"}});

    server_stage big;
    for (int i = 0; i < 300; ++i) big.server.tool("t" + std::to_string(i), std::string(10'000, 'x'), [] { return ""; });
    big.begin();
    big.peer.ask("1", "tools/list");
    const std::string first = big.peer.next();
    CHECK(first.size() > 1'000'000);
    CHECK(first.size() < 1'100'000);
    std::size_t count = 0;
    for (const auto& page : all_pages(big, "tools/list")) count += page.size();
    CHECK(count == 300);
}

TEST_CASE("What is added or removed between two pages neither repeats nor hides anything else")
{
    four_lists s(pages_of(2));
    s.begin();
    const list_page first = ask(s, "tools/list");
    REQUIRE(first.next);
    s.server.remove_tool("a");
    s.server.remove_tool("b"); // where the first page ended
    s.server.remove_tool("d");
    s.server.tool("f", "", [] { return ""; });
    s.server.tool("b", "", [] { return ""; }); // comes anew, at the end
    s.server.find_tool("c").title("C");        // stays where it is
    s.peer.skip_all();
    const list_page second = ask(s, "tools/list", first.next);
    CHECK(second.names == std::vector<std::string>{"c", "e"});
    const list_page third = ask(s, "tools/list", second.next);
    CHECK(third.names == std::vector<std::string>{"f", "b"});
    CHECK_FALSE(third.next);
    CHECK(ask(s, "tools/list", first.next).names == second.names); // a cursor holds
}

TEST_CASE("A page whose rest was removed is empty, and what is switched off takes no place")
{
    four_lists s(pages_of(2));
    s.server.find_tool("b").disable();
    s.begin();
    const list_page first = ask(s, "tools/list");
    CHECK(first.names == std::vector<std::string>{"a", "c"});
    s.server.remove_tool("d");
    s.server.remove_tool("e");
    s.peer.skip_all();
    const list_page rest = ask(s, "tools/list", first.next);
    CHECK(rest.names.empty());
    CHECK_FALSE(rest.next);

    four_lists last(pages_of(2));
    for (const auto* name : {"c", "d", "e"}) last.server.find_tool(name).disable();
    last.begin();
    CHECK_FALSE(ask(last, "tools/list").next); // nothing visible follows
}

TEST_CASE("A cursor is good for its own list only, and any other text is refused [F-3]")
{
    four_lists s(pages_of(2));
    s.begin();
    for (const auto* method : methods) {
        const std::string good = *ask(s, method).next;
        std::vector<std::string> bad{R"("")",
                                     R"("x")",
                                     "7",
                                     "{}",
                                     R"("2")",
                                     R"(" )" + good + '"',
                                     '"' + good + R"( ")",
                                     '"' + good + R"(0")",
                                     '"' + good + R"(.0")",
                                     R"("t")",
                                     R"("t-1")",
                                     R"("t02")",
                                     R"("t18446744073709551616")"};
        for (const auto* other : methods)
            if (other != std::string_view(method)) bad.push_back('"' + *ask(s, other).next + '"'); // of another list
        for (const std::string& cursor : bad) {
            INFO(method << ' ' << cursor);
            s.peer.ask("1", method, R"({"cursor":)" + cursor + '}');
            CHECK(s.peer.next() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such cursor"}})");
        }
        s.peer.ask("1", method, R"({"cursor":null})");
        CHECK(s.peer.next_object().contains("result"));
    }
}
