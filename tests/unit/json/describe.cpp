// SPDX-License-Identifier: MIT
#include <comcp/json/describe.hpp>

#include <comcp/error.hpp>

#include "catch.hpp"

#include <optional>
#include <string>

namespace
{

using comcp::field;
using comcp::notes;

struct base
{
    int id = 0;
};
BOOST_DESCRIBE_STRUCT(base, (), (id))

struct greet_args : base
{
    std::string name;
    std::optional<int> times;
};
BOOST_DESCRIBE_STRUCT(greet_args, (base), (name, times))

struct noted
{
    int a = 0;
};
BOOST_DESCRIBE_STRUCT(noted, (), (a))

notes schema_notes(const noted*) { return notes().add("a", field("from beside")).add("b", field("stray")); }

class guarded
{
public:
    int open = 1;

private:
    int closed = 2;
    BOOST_DESCRIBE_CLASS(guarded, (), (open), (), (closed))
};

struct plain
{
    int a = 0;
};

enum class colour {
    red,
    blue,
};
BOOST_DESCRIBE_ENUM(colour, red, blue)

enum class nameless {
    a,
};

struct no_default
{
    explicit no_default(int) {}
};
BOOST_DESCRIBE_STRUCT(no_default, (), ())

static_assert(comcp::described_struct<greet_args> && comcp::argument_struct<greet_args>);
static_assert(comcp::described_struct<guarded>);
static_assert(!comcp::described_struct<plain> && !comcp::described_struct<std::string> &&
              !comcp::described_struct<int>);
static_assert(comcp::described_struct<no_default> && !comcp::argument_struct<no_default>);
static_assert(comcp::described_enum<colour> && !comcp::described_enum<nameless> && !comcp::described_enum<int>);

} // namespace

TEST_CASE("a struct's members are those of its bases and then its own, in order", "[json]")
{
    const auto& members = comcp::detail::layout<greet_args>::members;
    REQUIRE(members.size() == 3);
    CHECK(members[0].name == "id");
    CHECK(members[1].name == "name");
    CHECK(members[2].name == "times");
    greet_args object;
    CHECK(members[0].address(&object) == &object.id);
    CHECK(members[1].address(&object) == &object.name);
    CHECK(members[2].address(&object) == &object.times);
}

TEST_CASE("private members are no JSON members", "[json]")
{
    const auto& members = comcp::detail::layout<guarded>::members;
    REQUIRE(members.size() == 1);
    CHECK(members[0].name == "open");
}

TEST_CASE("a field keeps what was said", "[json]")
{
    const field empty;
    CHECK(empty.description().empty());
    CHECK(empty.minimum().is_null());
    CHECK(!empty.max_length());
    const field full = field("How often").title("Times").minimum(1).maximum(2.5).min_length(3).max_length(4);
    CHECK(full.description() == "How often");
    CHECK(full.title() == "Times");
    CHECK(full.minimum() == 1);
    CHECK(full.maximum() == 2.5);
    CHECK(full.min_length() == 3U);
    CHECK(full.max_length() == 4U);
    CHECK(field("a").description("b").description() == "b");
    CHECK(field().maximum(~std::uint64_t{0}).maximum().is_uint64());
}

TEST_CASE("of two notes on a member the later one counts", "[json]")
{
    const notes some = notes().add("a", field("1")).add("b", field("2")).add("a", field("3"));
    CHECK(some.find("a")->description() == "3");
    CHECK(some.find("b")->description() == "2");
    CHECK(some.find("c") == nullptr);
}

TEST_CASE("a note for a member that does not exist is found", "[json]")
{
    CHECK(comcp::check_notes<greet_args>().has_value());
    CHECK(comcp::check_notes<greet_args>(notes().add("times", field("x")).add("id", field("y"))).has_value());
    const auto wrong = comcp::check_notes<greet_args>(notes().add("times", field("x")).add("tmies", field("y")));
    REQUIRE(wrong.has_error());
    CHECK(wrong.error().code == comcp::errc::invalid_argument);
    CHECK(wrong.error().text == "a note for the member \"tmies\", which does not exist");
    CHECK(comcp::check_notes<noted>().error().text == "a note for the member \"b\", which does not exist");
    CHECK(comcp::detail::notes_beside<noted>().find("a")->description() == "from beside");
}
