// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/form.hpp>

#include "catch.hpp"

#include <boost/describe.hpp>
#include <boost/json/serialize.hpp>

using comcp::revision;

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

/// A schema of one member `a`.
comcp::json::object with(const std::string& property)
{
    return object(R"({"type":"object","properties":{"a":)" + property + "}}");
}

/// What is wrong with a value of the member `a`, without its name.
std::string problem(const std::string& property, const std::string& value)
{
    const auto found = comcp::check_form(with(property), object(R"({"a":)" + value + "}"));
    if (found.empty()) return "";
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].starts_with("a: "));
    return found[0].substr(3);
}

std::string filled(const std::string& property, const char* content = "{}")
{
    comcp::json::object answer = object(content);
    comcp::fill_defaults(with(property), answer);
    return comcp::json::serialize(answer);
}

BOOST_DEFINE_ENUM_CLASS(color, red, green)

struct booking
{
    std::string name;
    std::string mail = "a@b";
    int seats = 2;
    std::optional<double> tip;
    bool vip = true;
    color shade = color::green;
    std::vector<color> more;
};
BOOST_DESCRIBE_STRUCT(booking, (), (name, mail, seats, tip, vip, shade, more))

comcp::notes schema_notes(const booking*)
{
    return comcp::notes()
        .add("mail", comcp::field("Where to write").title("Mail").format("email"))
        .add("seats", comcp::field().minimum(1).maximum(9));
}

struct nested
{
    booking inner;
};
BOOST_DESCRIBE_STRUCT(nested, (), (inner))

struct many_texts
{
    std::vector<std::string> texts;
};
BOOST_DESCRIBE_STRUCT(many_texts, (), (texts))

static_assert(comcp::form_struct<booking>);
static_assert(!comcp::form_struct<nested>);
static_assert(!comcp::form_struct<many_texts>);

} // namespace

TEST_CASE("a form is made of a struct and its notes", "[protocol][H-22]")
{
    const auto schema = comcp::form_schema_of<booking>();
    CHECK(comcp::json::serialize(schema) ==
          R"({"type":"object","properties":{"name":{"type":"string"},)"
          R"("mail":{"type":"string","title":"Mail","description":"Where to write","format":"email","default":"a@b"},)"
          R"("seats":{"type":"integer","minimum":1,"maximum":9,"default":2},"tip":{"type":"number"},)"
          R"("vip":{"type":"boolean","default":true},)"
          R"("shade":{"type":"string","enum":["red","green"],"default":"green"},)"
          R"("more":{"type":"array","items":{"type":"string","enum":["red","green"]}}},"required":["name","more"]})");
    CHECK_FALSE(comcp::check_form_schema(schema));
}

TEST_CASE("an answer is bound to the struct, and what the struct lacks is passed over", "[protocol]")
{
    const auto bound = comcp::bind_form<booking>(object(R"({"name":"Ada","more":["red"],"tip":1,"other":"x"})"));
    REQUIRE(bound.has_value());
    CHECK(bound->name == "Ada");
    CHECK(bound->mail == "a@b");
    CHECK(bound->tip == 1);
    CHECK(bound->more == std::vector<color>{color::red});
    CHECK_FALSE(comcp::bind_form<booking>(object(R"({"name":"Ada","more":["blue"]})")).has_value());
}

TEST_CASE("members that were left out get their defaults", "[protocol][H-22]")
{
    CHECK(filled(R"({"type":"string","default":"x"})") == R"({"a":"x"})");
    CHECK(filled(R"({"type":"string","default":"x"})", R"({"a":"y"})") == R"({"a":"y"})");
    CHECK(filled(R"({"type":"integer","default":3})") == R"({"a":3})");
    CHECK(filled(R"({"type":"number","default":0.5})") == R"({"a":5E-1})");
    CHECK(filled(R"({"type":"boolean","default":false})") == R"({"a":false})");
    CHECK(filled(R"({"type":"string","enum":["x"],"default":"x"})") == R"({"a":"x"})");
    CHECK(filled(R"({"type":"array","items":{"type":"string","enum":["x"]},"default":["x"]})") == R"({"a":["x"]})");
    CHECK(filled(R"({"type":"string"})") == "{}");
    // A default that does not fit is none.
    CHECK(filled(R"({"type":"string","default":5})") == "{}");
    CHECK(filled(R"({"type":"string","enum":["x"],"default":"y"})") == "{}");
    CHECK(filled(R"({"type":"string","default":null})") == "{}");
    CHECK(filled(R"({"default":{"deep":1}})") == "{}");
}

TEST_CASE("an answer is checked by the form", "[protocol][H-27]")
{
    CHECK(problem(R"({"type":"string"})", "5") == "expected string, got number");
    CHECK(problem(R"({"type":"string"})", "null") == "expected string, got null");
    CHECK(problem(R"({"type":"string","minLength":2,"maxLength":3})", R"("é")") == "shorter than 2 characters");
    CHECK(problem(R"({"type":"string","minLength":2,"maxLength":3})", R"("éé")").empty());
    CHECK(problem(R"({"type":"string","minLength":2,"maxLength":3})", R"("éééé")") == "longer than 3 characters");
    CHECK(problem(R"({"type":"string","format":"email"})", R"("x")") == "not of the format email");
    CHECK(problem(R"({"type":"string","enum":["x","y"]})", R"("y")").empty());
    CHECK(problem(R"({"type":"string","enum":["x","y"]})", R"("z")") == "not one of the choices");
    CHECK(problem(R"({"type":"string","oneOf":[{"const":"x","title":"X"}]})", R"("x")").empty());
    CHECK(problem(R"({"type":"string","oneOf":[{"const":"x","title":"X"}]})", R"("X")") == "not one of the choices");
    CHECK(problem(R"({"type":"integer"})", "2.5") == "expected integer, got a fraction");
    CHECK(problem(R"({"type":"integer"})", "2.0").empty());
    CHECK(problem(R"({"type":"integer"})", R"("2")") == "expected integer, got string");
    CHECK(problem(R"({"type":"number","minimum":1,"maximum":2.5})", "0.5") == "less than 1");
    CHECK(problem(R"({"type":"number","minimum":1,"maximum":2.5})", "2.5").empty());
    CHECK(problem(R"({"type":"number","minimum":1,"maximum":2.5})", "3") == "greater than 2.5");
    CHECK(problem(R"({"type":"boolean"})", "true").empty());
    CHECK(problem(R"({"type":"boolean"})", "1") == "expected boolean, got number");
    const std::string several =
        R"({"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2})";
    CHECK(problem(several, R"(["x"])").empty());
    CHECK(problem(several, "[]") == "fewer than 1 choices");
    CHECK(problem(several, R"(["x","y","x"])") == "more than 2 choices");
    CHECK(problem(several, R"(["z"])") == "not one of the choices");
    CHECK(problem(several, "[1]") == "expected strings, got number");
    CHECK(problem(several, R"("x")") == "expected array, got string");
    const std::string titled = R"({"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}})";
    CHECK(problem(titled, R"(["x"])").empty());
    CHECK(problem(titled, R"(["X"])") == "not one of the choices");
}

TEST_CASE("required members must be there, and unknown ones must be plain", "[protocol]")
{
    const auto schema = object(
        R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b",5]})");
    CHECK(comcp::check_form(schema, object(R"({"a":"x","c":["y"],"d":{"deep":1}})")) ==
          std::vector<std::string>{"b: required member is missing",
                                   "d: expected string, number, boolean or an array of strings"});
}

TEST_CASE("the number of problems and the text of each are bounded", "[protocol]")
{
    comcp::json::object content;
    for (int i = 0; i < 100; ++i) content[std::string(100, 'k') + std::to_string(i)] = nullptr;
    const auto found = comcp::check_form({}, content);
    CHECK(found.size() == comcp::max_form_problems);
    CHECK(found[0] == std::string(64, 'k') + ": expected string, number, boolean or an array of strings");
}

TEST_CASE("what is no flat form is refused", "[protocol][H-22]")
{
    const auto why = [](const comcp::json::object& schema) {
        const auto wrong = comcp::check_form_schema(schema);
        if (!wrong) return std::string();
        CHECK(wrong->code == comcp::errc::invalid_argument);
        return wrong->text.substr(std::string("no schema of a form: ").size());
    };
    const std::string not_plain = "member \"a\" must be a string, number, integer, boolean or a choice of strings";
    CHECK(why(object("{}")) == "its type must be object, and properties must be there");
    CHECK(why(object(R"({"type":"array","properties":{}})")) ==
          "its type must be object, and properties must be there");
    CHECK(why(object(R"({"type":"object","properties":{}})")).empty());
    CHECK(why(object(R"({"type":"object","properties":{},"required":["x"]})")) ==
          "required names a member that does not exist");
    CHECK(why(object(R"({"type":"object","properties":{},"required":5})")) == "required must be an array");
    CHECK(why(with(R"({"type":"object"})")) == not_plain);
    CHECK(why(with(R"({"type":["string","null"]})")) == not_plain);
    CHECK(why(with("5")) == not_plain);
    CHECK(why(with(R"({"type":"array","items":{"type":"string"}})")) == not_plain);
    CHECK(why(with(R"({"type":"array","items":{"type":"integer","enum":[1]}})")) == not_plain);
    CHECK(why(with(R"({"type":"string","enum":[1]})")) == not_plain);
    CHECK(why(with(R"({"type":"string","oneOf":[{"const":"x"}]})")) == not_plain);
    CHECK(why(with(R"({"type":"string","format":"ipv4"})")) ==
          "the format of member \"a\" must be email, uri, date or date-time");
    CHECK(why(with(R"({"type":"string","oneOf":[{"const":"x","title":"X"}]})")).empty());
    CHECK(why(with(R"({"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}})")).empty());

    comcp::json::object many;
    for (std::size_t i = 0; i <= comcp::max_form_members; ++i) many[std::to_string(i)] = object(R"({"type":"string"})");
    comcp::json::object schema = object(R"({"type":"object"})");
    schema["properties"] = std::move(many);
    CHECK(why(schema) == "too many members");
}

TEST_CASE("a form is rewritten for 2025-06-18 where that keeps its meaning", "[protocol][H-21]")
{
    const auto old = [](const std::string& property) {
        const auto made = comcp::form_schema_for(with(property), revision::r2025_06_18);
        return made.has_value() ? comcp::json::serialize(made->at("properties").at("a")) : made.error().code.message();
    };
    CHECK(old(R"({"type":"string","default":"x","minLength":1})") == R"({"type":"string","minLength":1})");
    CHECK(old(R"({"type":"integer","default":1,"maximum":3})") == R"({"type":"integer","maximum":3})");
    CHECK(old(R"({"type":"boolean","default":true})") == R"({"type":"boolean","default":true})");
    CHECK(old(R"({"type":"string","title":"T","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]})") ==
          R"({"type":"string","title":"T","enum":["x","y"],"enumNames":["X","Y"]})");
    CHECK(old(R"({"type":"string","enum":["x"],"enumNames":["X"],"default":"x"})") ==
          R"({"type":"string","enum":["x"],"enumNames":["X"]})");
    CHECK(old(R"({"type":"array","items":{"type":"string","enum":["x"]}})") == "not supported");

    const auto schema = object(R"({"$schema":"s","type":"object","properties":{},"required":[]})");
    CHECK(comcp::json::serialize(*comcp::form_schema_for(schema, revision::r2025_06_18)) ==
          R"({"type":"object","properties":{},"required":[]})");
    CHECK(*comcp::form_schema_for(schema, revision::r2025_11_25) == schema);
    for (revision at : {revision::r2024_11_05, revision::r2025_03_26}) {
        CHECK(comcp::form_schema_for(schema, at).error().code == comcp::errc::unsupported);
    }
}
