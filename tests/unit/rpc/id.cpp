// SPDX-License-Identifier: MIT
#include <comcp/rpc/id.hpp>

#include "catch.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>

using comcp::rpc::id;

namespace
{

std::string written(const id& value)
{
    std::string out = "<";
    value.write(out);
    return out + ">";
}

} // namespace

TEST_CASE("an id is echoed exactly, with its type (ID 31)")
{
    CHECK(written(id(1)) == "<1>");
    CHECK(written(id::string("1")) == R"(<"1">)");
    CHECK(written(id(0)) == "<0>");
    CHECK(written(id::string("")) == R"(<"">)");
    CHECK(written(id(-7)) == "<-7>");
    CHECK(written(id(42)) == "<42>");
    CHECK(written(id(9007199254740993)) == "<9007199254740993>");
    CHECK(written(id(std::numeric_limits<std::int64_t>::min())) == "<-9223372036854775808>");
    CHECK(written(id(std::numeric_limits<std::uint64_t>::max())) == "<18446744073709551615>");
    CHECK(written(id::integer_text("123456789012345678901234")) == "<123456789012345678901234>");
    CHECK(written(id::string("req-abc")) == R"(<"req-abc">)");
    CHECK(written(id::string("a\"\\\n\xE2\x80\x94")) == "<\"a\\\"\\\\\\n\xE2\x80\x94\">");
}

TEST_CASE("ids of different types are different ids (A-2)")
{
    CHECK(id(1) == id(1));
    CHECK(id(1) == id::integer_text("1"));
    CHECK(id(1) != id::string("1"));
    CHECK(id(1) != id(-1));
    CHECK(id::string("a") == id::string("a"));
    CHECK(id() == id(0));

    const std::unordered_set<id> set{id(1), id::string("1"), id(2), id(1), id::string("a")};
    CHECK(set.size() == 4);
    CHECK(set.contains(id::string("1")));
    CHECK_FALSE(set.contains(id::string("2")));
}

TEST_CASE("an id knows its number")
{
    CHECK(id(-7).integer() == -7);
    CHECK(id::integer_text("9007199254740993").integer() == 9007199254740993);
    CHECK(id::integer_text("123456789012345678901234").integer() == std::nullopt);
    CHECK(id::string("5").integer() == std::nullopt);
    CHECK(id::string("5").is_string());
    CHECK_FALSE(id(5).is_string());
    CHECK(id::string("5").text() == "5");
}

TEST_CASE("a string in plain decimal form can stand for an integer (ID 30)")
{
    CHECK(id::string("0").decimal() == 0);
    CHECK(id::string("-12").decimal() == -12);
    CHECK(id(12).decimal() == 12);
    for (const char* text : {"", "-", "00", "01", "-0", "-01", "+1", " 1", "1 ", "1.0", "0x1", "1e2", "a"}) {
        INFO(text);
        CHECK(id::string(text).decimal() == std::nullopt);
    }
}

TEST_CASE("a JSON number is an id when it is an integer")
{
    CHECK(id::from_number("0") == id(0));
    CHECK(id::from_number("-7") == id(-7));
    CHECK(id::from_number("-0") == id(0));
    CHECK(id::from_number("123456789012345678901234") == id::integer_text("123456789012345678901234"));
    CHECK(id::from_number("1.0") == id(1));
    CHECK(id::from_number("12.000") == id(12));
    for (const char* text : {"", "-", "1.5", "1.", ".0", "1e2", "1E400", "01", "+1", "null", "true", "1x", "1.0.0"}) {
        INFO(text);
        CHECK(id::from_number(text) == std::nullopt);
    }
}
