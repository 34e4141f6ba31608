// SPDX-License-Identifier: MIT
#include <comcp/json/write.hpp>

#include <comcp/error.hpp>

#include "catch.hpp"

#include <boost/json/serialize.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

namespace json = comcp::json;

std::string quoted(std::string_view text)
{
    std::string out = ">";
    comcp::write_string(out, text);
    REQUIRE(out.front() == '>'); // what was there stays
    return out.substr(1);
}

template <class T>
std::string written(const T& value)
{
    std::string out;
    comcp::write_json(out, value);
    return out;
}

std::string value_text(const json::value& value)
{
    std::string out;
    comcp::write_value(out, value);
    return out;
}

/// What a strict reader makes of the string.
std::string read_back(const std::string& text)
{
    const json::value value = comcp::parse_json(text, 1).value();
    return std::string(value.as_string().data(), value.as_string().size());
}

enum class colour {
    red,
    dark_blue = 7,
};
BOOST_DESCRIBE_ENUM(colour, red, dark_blue)

struct inner
{
    int number = 0;
    std::optional<std::string> note;
};
BOOST_DESCRIBE_STRUCT(inner, (), (number, note))

struct outer : inner
{
    std::optional<int> first;
    colour paint = colour::dark_blue;
    std::vector<inner> list;
    std::map<std::string, double> rates;
    comcp::raw_json raw{"1E400"};
};
BOOST_DESCRIBE_STRUCT(outer, (inner), (first, paint, list, rates, raw))

struct nothing
{};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

} // namespace

TEST_CASE("write_string escapes what JSON demands and nothing else", "[json]")
{
    CHECK(quoted("") == R"("")");
    CHECK(quoted(std::string_view()) == R"("")");
    CHECK(quoted("plain / text") == R"("plain / text")");
    CHECK(quoted("\"\\\b\f\n\r\t") == R"("\"\\\b\f\n\r\t")");
    CHECK(quoted(std::string_view("\0\x01\x1f\x7f", 4)) == "\"\\u0000\\u0001\\u001f\x7f\"");
    CHECK(quoted("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST_CASE("write_string gives back every byte at every place of every length", "[json]")
{
    const std::array<std::string, 9> specials = {
        "\"", "\\", "\n", "\x01", "\x1f", "\x7f", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (std::size_t length = 0; length <= 72; ++length) {
        CHECK(quoted(std::string(length, 'x')) == '"' + std::string(length, 'x') + '"');
        for (std::size_t place = 0; place <= length; ++place) {
            for (const std::string& special : specials) {
                const std::string text = std::string(place, 'x') + special + std::string(length - place, 'y');
                if (read_back(quoted(text)) != text) FAIL(text);
                const std::string twice = special + text + special;
                if (read_back(quoted(twice)) != twice) FAIL(twice);
            }
        }
    }
}

TEST_CASE("write_string of any single byte between others is what Boost.JSON writes", "[json]")
{
    for (unsigned byte = 0; byte < 0x80; ++byte) {
        for (const std::size_t before : {0U, 7U, 8U, 31U, 32U, 33U}) {
            const std::string text = std::string(before, 'a') + static_cast<char>(byte) + "bcdefghij";
            CHECK(quoted(text) == json::serialize(json::value(text)));
        }
    }
}

TEST_CASE("write_string survives blocks of escapes of every length", "[json]")
{
    for (const char* unit : {"\"", "\x01", "a\n", "\\\xC3\xA9", "\x02\xFF"}) {
        std::string text;
        std::string expected;
        for (int count = 0; count < 300; ++count) {
            if (read_back(quoted(text)) != expected) FAIL(count);
            text += unit;
            expected += std::string_view(unit) == "\x02\xFF" ? "\x02\xEF\xBF\xBD" : unit;
        }
    }
}

TEST_CASE("write_string replaces each byte that is not valid UTF-8", "[json]")
{
    const std::string bad = "\xEF\xBF\xBD";
    const std::vector<std::pair<std::string, std::size_t>> table = {
        {"\x80", 1},             // a continuation without a lead
        {"\xC0\xAF", 2},         // overlong, two bytes
        {"\xC1\xBF", 2},         //
        {"\xE0\x9F\xBF", 3},     // overlong, three bytes
        {"\xF0\x8F\xBF\xBF", 4}, // overlong, four bytes
        {"\xED\xA0\x80", 3},     // a surrogate
        {"\xED\xBF\xBF", 3},     //
        {"\xF4\x90\x80\x80", 4}, // beyond U+10FFFF
        {"\xF5\x80\x80\x80", 4}, //
        {"\xFE", 1},             // never a byte of UTF-8
        {"\xFF", 1},             //
        {"\xC3", 1},             // cut
        {"\xE2\x82", 2},         //
        {"\xF0\x9F\x98", 3},     //
    };
    for (const auto& [sequence, count] : table) {
        std::string replaced;
        for (std::size_t n = 0; n < count; ++n) replaced += bad;
        for (std::size_t before = 0; before <= 40; ++before) {
            const std::string head(before, 'h');
            CHECK(quoted(head + sequence) == '"' + head + replaced + '"');
            CHECK(quoted(head + sequence + "\n tail of text") == '"' + head + replaced + "\\n tail of text\"");
        }
    }
    CHECK(quoted("\xC3(") == '"' + bad + "(\"");
}

TEST_CASE("write_string always writes one line of valid UTF-8", "[json]")
{
    std::mt19937 random(1);
    const std::string letters("ab\"\\\n\x00\x1f\x7f\x80\xA0\xBF\xC3\xA9\xE0\xED\xE2\x82\xAC\xF0\x9F\x98\xF4\xFF", 23);
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        const std::size_t size = random() % 50;
        for (std::size_t at = 0; at < size; ++at) text += random() % 2 ? 'x' : letters[random() % letters.size()];
        const std::string out = quoted(text);
        if (out.find('\n') != std::string::npos || !comcp::parse_json(out, 1)) FAIL(json::serialize(json::value(text)));
    }
}

TEST_CASE("numbers are written exactly", "[json]")
{
    CHECK(written(0) == "0");
    CHECK(written(std::int8_t(-128)) == "-128");
    CHECK(written(std::uint8_t(255)) == "255");
    CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(written(1.0) == "1.0");
    CHECK(written(-0.0) == "-0.0");
    CHECK(written(0.1) == "0.1");
    CHECK(written(0.1F) == "0.1");
    CHECK(written(1e22) == "1e+22");
    CHECK(written(123456789.0) == "123456789.0");
    CHECK(written(5e-324) == "5e-324");
    CHECK(written(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
    CHECK(written(std::nan("")) == "null");
    CHECK(written(std::numeric_limits<double>::infinity()) == "null");
    CHECK(written(-std::numeric_limits<float>::infinity()) == "null");
    CHECK(written(true) == "true");
    CHECK(written(false) == "false");
}

TEST_CASE("doubles read back as the same number", "[json]")
{
    std::mt19937_64 random(2);
    for (int round = 0; round < 20000; ++round) {
        double number = 0;
        const std::uint64_t bits = random();
        std::memcpy(&number, &bits, sizeof(number));
        if (!std::isfinite(number)) continue;
        std::string out;
        comcp::write_double(out, number);
        if (std::strtod(out.c_str(), nullptr) != number) FAIL(out);
        if (!comcp::parse_json(out, 1).value().is_double()) FAIL(out);
    }
}

TEST_CASE("write_value writes compact text that reads back as the same value", "[json]")
{
    CHECK(value_text(nullptr) == "null");
    CHECK(value_text(json::array()) == "[]");
    CHECK(value_text(json::object()) == "{}");
    CHECK(value_text({1, -2, 3.0, "a\nb", nullptr, true, false, json::array{json::object()}}) ==
          "[1,-2,3.0,\"a\\nb\",null,true,false,[{}]]");
    CHECK(value_text({{"b", 1}, {"a\"", {{"c", json::array()}}}}) == R"({"b":1,"a\"":{"c":[]}})");
    CHECK(value_text(std::uint64_t(18446744073709551615U)) == "18446744073709551615");
}

TEST_CASE("write_value agrees with Boost.JSON on random values", "[json]")
{
    std::mt19937 random(3);
    const auto make = [&](const auto& self, int depth) -> json::value {
        switch (random() % (depth > 4 ? 5 : 7)) {
        case 0: return nullptr;
        case 1: return random() % 2 == 0;
        case 2: return static_cast<std::int64_t>(random()) - 0x80000000;
        case 3: return 0x8000000000000000U + random();
        case 4: {
            std::string text;
            for (std::size_t size = random() % 40; size > 0; --size) text += static_cast<char>(random() % 128);
            return json::value(text);
        }
        case 5: {
            json::array array;
            for (std::size_t size = random() % 4; size > 0; --size) array.push_back(self(self, depth + 1));
            return array;
        }
        default: {
            json::object object;
            for (std::size_t size = random() % 4; size > 0; --size) {
                object[std::string(1, static_cast<char>(random() % 128))] = self(self, depth + 1);
            }
            return object;
        }
        }
    };
    for (int round = 0; round < 2000; ++round) {
        const json::value value = make(make, 0);
        CHECK(value_text(value) == json::serialize(value));
        CHECK(comcp::parse_json(value_text(value), 64).value() == value);
    }
}

TEST_CASE("write_json covers the types of the host", "[json]")
{
    CHECK(written("text") == R"("text")");
    CHECK(written(std::string("te\nxt")) == R"("te\nxt")");
    CHECK(written(std::string_view("text")) == R"("text")");
    CHECK(written(static_cast<const char*>("text")) == R"("text")");
    CHECK(written(json::string("text")) == R"("text")");
    CHECK(written(nullptr) == "null");
    CHECK(written(colour::dark_blue) == R"("dark_blue")");
    CHECK(written(static_cast<colour>(3)) == "null");
    CHECK(written(std::optional<int>()) == "null");
    CHECK(written(std::optional<int>(3)) == "3");
    CHECK(written(std::vector<int>{}) == "[]");
    CHECK(written(std::vector<bool>{true, false}) == "[true,false]");
    CHECK(written(std::array<int, 3>{1, 2, 3}) == "[1,2,3]");
    CHECK(written(std::deque<std::optional<int>>{1, std::nullopt}) == "[1,null]");
    CHECK(written(std::set<std::string>{"b", "a"}) == R"(["a","b"])");
    const std::array<double, 2> numbers{1, 2.5};
    CHECK(written(std::span<const double>(numbers)) == "[1.0,2.5]");
    CHECK(written(std::map<std::string, std::vector<int>>{{"b", {1}}, {"a\n", {}}}) == R"({"a\n":[],"b":[1]})");
    CHECK(written(std::unordered_map<std::string, int>{{"k", 1}}) == R"({"k":1})");
    CHECK(written(std::map<std::string_view, int, std::less<>>{}) == "{}");
    CHECK(written(json::value{{"a", 1}}) == R"({"a":1})");
    CHECK(written(json::object{{"a", 1}}) == R"({"a":1})");
    CHECK(written(json::array{1, 2}) == "[1,2]");
    CHECK(written(comcp::raw_json("123456789012345678901234")) == "123456789012345678901234");
}

TEST_CASE("write_json writes described structs and leaves out members that are empty optionals", "[json]")
{
    CHECK(written(nothing()) == "{}");
    CHECK(written(inner()) == R"({"number":0})");
    outer all;
    CHECK(written(all) == R"({"number":0,"paint":"dark_blue","list":[],"rates":{},"raw":1E400})");
    all.note = "n";
    all.first = 1;
    all.list.resize(2);
    all.list[1].note = "";
    all.rates["a"] = 2;
    CHECK(written(all) == R"({"number":0,"note":"n","first":1,"paint":"dark_blue",)"
                          R"("list":[{"number":0},{"number":0,"note":""}],"rates":{"a":2.0},"raw":1E400})");
}
