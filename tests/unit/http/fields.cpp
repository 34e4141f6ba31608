// SPDX-License-Identifier: MIT
#include <comcp/http/fields.hpp>

#include "catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace comcp::http;

namespace
{

using texts = std::vector<std::string_view>;

texts items_of(std::string_view list, char separator = ',')
{
    texts out;
    for (std::string_view item; next_item(list, item, separator);) out.push_back(item);
    return out;
}

std::string all(const fields& list)
{
    std::string out;
    for (const field& item : list) out.append(item.name).append("=").append(item.value).append(";");
    return out;
}

} // namespace

TEST_CASE("Fields are found without regard to case and keep their order")
{
    fields list{{"Accept", "a"}, {"X", " \t1 \t"}, {"accept", "b"}};
    CHECK(all(list) == "Accept=a;X=1;accept=b;");
    CHECK(list.size() == 3);
    CHECK(list.find("ACCEPT") == "a");
    CHECK(list.find("x") == "1");
    CHECK_FALSE(list.find("Accep"));
    CHECK(list.find_all("Accept") == texts{"a", "b"});
    CHECK(list.count("accept") == 2);
    CHECK(list.count("y") == 0);
    CHECK(list.has("X"));
    CHECK_FALSE(list.has("Y"));
    CHECK(list[2] == field{"accept", "b"});
}

TEST_CASE("A field is looked for once for how often it is there and for its first value")
{
    fields list{{"Accept", "a"}, {"X", "1"}, {"accept", "b"}};
    CHECK(list.look_for("ACCEPT").count == 2);
    CHECK(list.look_for("ACCEPT").value == "a");
    CHECK(list.look_for("x").count == 1);
    CHECK_FALSE(list.look_for("Accep"));
    list.erase("accept");
    CHECK_FALSE(list.look_for("accept"));
    list.clear();
    CHECK_FALSE(list.look_for("X"));
    list.add(std::string(65, 'n'), "far"); // sizes of names are kept modulo 64
    CHECK_FALSE(list.look_for("n"));
    CHECK(list.look_for(std::string(65, 'N')).value == "far");
}

TEST_CASE("A field that is set replaces all of its name")
{
    fields list{{"A", "1"}, {"B", "2"}, {"a", "3"}, {"C", "4"}};
    list.set("a", "5");
    CHECK(all(list) == "B=2;C=4;a=5;");
    list.set("D", "6");
    CHECK(all(list) == "B=2;C=4;a=5;D=6;");
    CHECK(list.erase("c") == 1);
    CHECK(list.erase("c") == 0);
    CHECK(all(list) == "B=2;a=5;D=6;");
}

TEST_CASE("A value may come from the same fields")
{
    fields list{{"A", std::string(200, 'x')}};
    for (int i = 0; i < 20; ++i) list.add(list[0].name, list[0].value); // grows on the way
    CHECK(list.size() == 21);
    CHECK(list[20].value == std::string(200, 'x'));
    list.set("B", *list.find("A"));
    list.set(list[0].name, list[21].value);
    CHECK(list.size() == 2);
    CHECK(list.find("A") == std::string(200, 'x'));
    CHECK(list.erase(list[0].name) == 1);
    CHECK(list.size() == 1);
}

TEST_CASE("Fields that were cleared give large memory back and keep small memory")
{
    fields list;
    CHECK(list.memory() < 64);
    list.add("A", "1");
    const std::size_t small = list.memory();
    list.clear(2048);
    CHECK(list.empty());
    CHECK(list.memory() == small);
    list.add("A", std::string(5000, 'x'));
    list.clear(2048);
    CHECK(list.memory() < 64);
    list.add("B", "2");
    CHECK(all(list) == "B=2;");
    list.clear();
    CHECK(all(list).empty());
}

TEST_CASE("Lists are split at commas that stand outside of quotes")
{
    CHECK(items_of("a, b,c") == texts{"a", "b", "c"});
    CHECK(items_of("") == texts{});
    CHECK(items_of(" ,, \t,") == texts{});
    CHECK(items_of(",a ,, b,") == texts{"a", "b"});
    CHECK(items_of(R"(x="a,b", y="\",", z)") == texts{R"(x="a,b")", R"(y="\",")", "z"});
    CHECK(items_of(R"("open, b)") == texts{R"("open, b)"});
    CHECK(items_of(R"("\)") == texts{R"("\)"});
    CHECK(items_of("a\\,b") == texts{"a\\", "b"});
    CHECK(items_of("a; b=\";\" ;c", ';') == texts{"a", "b=\";\"", "c"});

    const fields list{{"Connection", "a, Close"}, {"X", "y"}, {"connection", "b"}};
    CHECK(list.items("Connection") == texts{"a", "Close", "b"});
    CHECK(list.lists("connection", "close"));
    CHECK(list.lists("connection", "B"));
    CHECK_FALSE(list.lists("connection", "clos"));
    CHECK_FALSE(list.lists("x", "close"));
}

TEST_CASE("Equal fields have equal names, values and order")
{
    CHECK(fields{{"A", "1"}, {"b", "2"}} == fields{{"a", "1"}, {"B", "2"}});
    CHECK_FALSE(fields{{"A", "x"}} == fields{{"A", "X"}});
    CHECK_FALSE(fields{{"A", "1"}, {"B", "2"}} == fields{{"B", "2"}, {"A", "1"}});
    CHECK_FALSE(fields{{"A", "1"}} == fields{});
}

TEST_CASE("Names and values are judged by their characters")
{
    CHECK(valid_name("Mcp-Session-Id"));
    CHECK(valid_name("!#$%&'*+-.^_`|~09azAZ"));
    for (const char* name : {"", "a b", "a:", "a\r", "a\n", "\x7f", "\x80", "(", ")", "/", "\"", "{", "@"}) {
        CHECK_FALSE(valid_name(name));
    }
    CHECK(valid_value(""));
    CHECK(valid_value("a \t~\x80\xff"));
    for (int c = 0; c < 256; ++c) {
        const char value = static_cast<char>(c);
        CHECK(valid_value({&value, 1}) == (c == '\t' || (c >= 0x20 && c != 0x7f)));
    }
    for (std::size_t size = 1; size <= 25; ++size) { // eight at a time: every character at every place
        for (std::size_t at = 0; at < size; ++at) {
            std::string value(size, 'v');
            bool right = true;
            for (int c = 0; c < 256; ++c) {
                value[at] = static_cast<char>(c);
                right = right && valid_value(value) == (c == '\t' || (c >= 0x20 && c != 0x7f));
            }
            CHECK(right);
        }
    }
    CHECK(valid_target("/a?b=%20"));
    for (const char* target : {"", "a", "*", "/ ", "/#", "/\x7f", "/\x80", "/\r"}) CHECK_FALSE(valid_target(target));
    CHECK(trim(" \t a b\t ") == "a b");
    CHECK(trim(" \t ").empty());
    CHECK(trim("\r\n") == "\r\n");
    CHECK(equal_ignoring_case("aZ[", "Az["));
    CHECK_FALSE(equal_ignoring_case("[", "{"));
    CHECK_FALSE(equal_ignoring_case("a", "ab"));
}
