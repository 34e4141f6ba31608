// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/elicitation.hpp>

#include "catch.hpp"

#include <boost/describe.hpp>
#include <boost/json/serialize.hpp>

using comcp::elicitation_action;
using comcp::elicitation_mode;
using comcp::elicitation_request;
using comcp::elicitation_result;

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

comcp::client_capabilities able(std::string_view text) { return comcp::client_capabilities(object(text)); }

struct booking
{
    std::string name;
    int seats = 2;
};
BOOST_DESCRIBE_STRUCT(booking, (), (name, seats))

} // namespace

TEST_CASE("a form is read, with its mode or without", "[protocol][H-20]")
{
    const std::string mode = GENERATE("", R"("mode":"form",)");
    const auto read = comcp::read_elicitation_request(
        object("{" + mode + R"("message":"m","requestedSchema":{"type":"object"},"_meta":{"k":1},"x":1})"));
    REQUIRE(read.has_value());
    CHECK(read->mode == elicitation_mode::form);
    CHECK(read->message == "m");
    CHECK(read->requested_schema.contains("type"));
    CHECK(read->meta.contains("k"));
    CHECK(read->extra.contains("x"));
}

TEST_CASE("a request to open a URL is read", "[protocol][H-24]")
{
    const auto read = comcp::read_elicitation_request(
        object(R"({"mode":"url","message":"m","url":"https://x/","elicitationId":"e"})"));
    REQUIRE(read.has_value());
    CHECK(read->mode == elicitation_mode::url);
    CHECK(read->url == "https://x/");
    CHECK(read->elicitation_id == "e");
}

TEST_CASE("a bad request for elicitation is refused with what is wrong", "[protocol]")
{
    const auto [text, what] = GENERATE(table<const char*, const char*>({
        {R"({})", "message must be a string"},
        {R"({"message":"m"})", "requestedSchema must be an object"},
        {R"({"message":"m","mode":"voice"})", "mode must be form or url"},
        {R"({"message":"m","mode":"url"})", "url must be a string"},
        {R"({"message":"m","mode":"url","url":"https://x/"})", "elicitationId must be a string"},
    }));
    const auto read = comcp::read_elicitation_request(object(text));
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().text == what);
}

TEST_CASE("an answer is accept, decline or cancel, and only what is accepted has content", "[protocol][H-23]")
{
    const auto accepted = comcp::read_elicitation_result(object(R"({"action":"accept","content":{"a":1}})"));
    REQUIRE(accepted.has_value());
    CHECK(accepted->accepted());
    CHECK(accepted->content.contains("a"));
    const auto declined = comcp::read_elicitation_result(object(R"({"action":"decline","content":{"a":1}})"));
    REQUIRE(declined.has_value());
    CHECK(declined->action == elicitation_action::decline);
    CHECK(declined->content.empty());
    CHECK(comcp::read_elicitation_result(object(R"({"action":"cancel"})"))->action == elicitation_action::cancel);
    CHECK(comcp::read_elicitation_result(object(R"({"action":"cancel","content":7})")).has_value());
    for (const char* text :
         {"{}", R"({"action":"yes"})", R"({"action":true})", R"({"action":"accept","content":[1]})"}) {
        CHECK_FALSE(comcp::read_elicitation_result(object(text)).has_value());
    }
}

TEST_CASE("a mode that a client did not declare is not used", "[protocol][H-20]")
{
    const auto form = elicitation_request::form("m", {});
    const auto url = elicitation_request::url_mode("m", "https://x/", "e");
    const auto [text, form_ok, url_ok] = GENERATE(table<const char*, bool, bool>({
        {R"({})", false, false},
        {R"({"elicitation":{}})", true, false},
        {R"({"elicitation":{"form":{}}})", true, false},
        {R"({"elicitation":{"url":{}}})", false, true},
        {R"({"elicitation":{"form":{},"url":{}}})", true, true},
    }));
    CHECK(!comcp::check_elicitation(form, able(text)) == form_ok);
    CHECK(!comcp::check_elicitation(url, able(text)) == url_ok);
}

TEST_CASE("the URLs of an error that asks for them are read, and only those", "[protocol][H-24]")
{
    comcp::rpc_error error;
    error.code = comcp::rpc_code::url_elicitation_required;
    error.data = comcp::url_elicitation_data(
        {elicitation_request::url_mode("a", "https://a/", "1"), elicitation_request::url_mode("b", "https://b/", "2")});
    CHECK(comcp::json::serialize(error.data) ==
          R"({"elicitations":[{"mode":"url","message":"a","url":"https://a/","elicitationId":"1"},)"
          R"({"mode":"url","message":"b","url":"https://b/","elicitationId":"2"}]})");
    const auto read = comcp::url_elicitations(error);
    REQUIRE(read.size() == 2);
    CHECK(read[1].url == "https://b/");

    auto& items = error.data.as_object()["elicitations"].as_array();
    items.push_back(5);
    items.push_back(object(R"({"message":"m","requestedSchema":{}})"));
    items.push_back(object(R"({"mode":"url","message":"m"})"));
    CHECK(comcp::url_elicitations(error).size() == 2);
    for (int i = 0; i < 200; ++i) items.push_back(comcp::json::value(items[0]));
    CHECK(comcp::url_elicitations(error).size() == comcp::max_url_elicitations);
    error.code = comcp::rpc_code::invalid_params;
    CHECK(comcp::url_elicitations(error).empty());
    error.code = comcp::rpc_code::url_elicitation_required;
    error.data = nullptr;
    CHECK(comcp::url_elicitations(error).empty());
}

TEST_CASE("the id of a finished elicitation is read", "[protocol]")
{
    CHECK(comcp::read_elicitation_complete(object(R"({"elicitationId":"e"})")) == "e");
    CHECK(comcp::read_elicitation_complete(object(R"({"elicitationId":5})")).empty());
}

TEST_CASE("an accepted form is bound to its struct", "[protocol]")
{
    const auto bound = comcp::read_form_answer<booking>(elicitation_result::accept(object(R"({"name":"Ada","x":1})")));
    REQUIRE(bound.has_value());
    REQUIRE(bound->accepted());
    CHECK((*bound)->name == "Ada");
    CHECK((*bound)->seats == 2);

    const auto declined = comcp::read_form_answer<booking>(elicitation_result::decline());
    REQUIRE(declined.has_value());
    CHECK_FALSE(declined->accepted());
    CHECK(declined->action == elicitation_action::decline);

    const auto unfit = comcp::read_form_answer<booking>(elicitation_result::accept(object(R"({"seats":"two"})")));
    REQUIRE_FALSE(unfit.has_value());
    CHECK(unfit.error().code == comcp::errc::invalid_message);
    CHECK(unfit.error().text == "the answer does not fit the form: /name: required member is missing\n"
                                "/seats: expected integer, got string");
}
