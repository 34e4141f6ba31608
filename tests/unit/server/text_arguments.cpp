// SPDX-License-Identifier: MIT
// Texts as arguments: strings, numbers, maps, and what does not fit.
#include <comcp/server/text_arguments.hpp>

#include "catch.hpp"

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

#include <map>
#include <optional>
#include <string>

namespace
{

using comcp::detail::bind_texts;
using comcp::detail::text_arguments_of;
using comcp::detail::text_map;

BOOST_DEFINE_ENUM_CLASS(color, red, green)

struct all_kinds
{
    std::string text;
    int number = 0;
    double real = 0.5;
    bool flag = true;
    color shade = color::green;
    std::optional<std::uint8_t> small;
    std::optional<std::string> more;
};
BOOST_DESCRIBE_STRUCT(all_kinds, (), (text, number, real, flag, shade, small, more))

comcp::notes schema_notes(const all_kinds*) { return comcp::notes().add("number", comcp::field().maximum(100)); }

std::string wrong(const text_map& from)
{
    all_kinds to;
    comcp::bind_errors errors;
    bind_texts(from, text_arguments_of<all_kinds>(), &to, errors);
    return errors.text();
}

} // namespace

TEST_CASE("A text is bound as it is where that fits, else as what it spells")
{
    all_kinds to;
    comcp::bind_errors errors;
    bind_texts({{"text", "12"},
                {"number", "-7"},
                {"real", "1e3"},
                {"flag", "false"},
                {"shade", "red"},
                {"small", "200"},
                {"more", "true"},
                {"unknown", "x"}},
               text_arguments_of<all_kinds>(), &to, errors);
    CHECK(errors.text().empty());
    CHECK(to.text == "12");
    CHECK(to.number == -7);
    CHECK(to.real == 1000);
    CHECK_FALSE(to.flag);
    CHECK(to.shade == color::red);
    CHECK(to.small == 200);
    CHECK(to.more == "true");
}

TEST_CASE("What may be missing keeps its default")
{
    all_kinds to;
    comcp::bind_errors errors;
    bind_texts({{"text", ""}, {"number", "0"}}, text_arguments_of<all_kinds>(), &to, errors);
    CHECK(errors.empty());
    CHECK(to.real == 0.5);
    CHECK(to.flag);
    CHECK_FALSE(to.small);
}

TEST_CASE("Every text that does not fit is named")
{
    CHECK(wrong({{"text", "x"}}) == "/number: required member is missing");
    CHECK(wrong({{"text", "x"}, {"number", "x"}, {"flag", "1"}, {"shade", "blue"}}) ==
          "/number: expected integer, got string\n/flag: expected boolean, got integer\n"
          "/shade: expected one of red, green");
    CHECK(wrong({{"text", "x"}, {"number", "101"}}) == "/number: must be at most 100");
    CHECK(wrong({{"text", "x"}, {"number", "1.5"}}) == "/number: expected integer, got number");
    for (const auto* odd : {"", "null", "[1]", "{}", "\"1\"", "07", "1 2", "0x1", "+1"})
        CHECK(wrong({{"text", "x"}, {"number", odd}}) == "/number: expected integer, got string");
    CHECK(wrong({{"text", "x"}, {"number", " 5 "}}).empty()); // JSON allows it
    CHECK(wrong({{"text", "x"}, {"number", "5"}, {"small", "256"}}) == "/small: out of range: must be from 0 to 255");
}

TEST_CASE("A map takes all texts as they are, and nothing takes none")
{
    const text_map from{{"a", "1"}, {"b", ""}};
    comcp::bind_errors errors;
    std::map<std::string, std::string> map;
    bind_texts(from, text_arguments_of<std::map<std::string, std::string>>(), &map, errors);
    CHECK(map == std::map<std::string, std::string>{{"a", "1"}, {"b", ""}});
    text_map same;
    bind_texts(from, text_arguments_of<text_map>(), &same, errors);
    CHECK(same == from);
    comcp::detail::no_arguments none;
    bind_texts(from, text_arguments_of<comcp::detail::no_arguments>(), &none, errors);
    CHECK(errors.empty());
}
