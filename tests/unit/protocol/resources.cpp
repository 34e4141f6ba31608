// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/resources.hpp>

#include "catch.hpp"

#include <boost/json/serialize.hpp>

namespace
{

comcp::json::value json_of(std::string_view text) { return comcp::parse_json(text, 64).value(); }

} // namespace

TEST_CASE("a resource is read with all that it has, and what is not known is kept", "[protocol][G-2]")
{
    const auto read = comcp::read_resource(json_of(
        R"({"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":3,)"
        R"("annotations":{"audience":["user"],"priority":0.5},"icons":[{"src":"https://x/i"}],"_meta":{"k":1},"x":2})"));
    REQUIRE(read.has_value());
    CHECK(read->uri == "file:///a");
    CHECK(read->name == "a");
    CHECK(read->display_name() == "A");
    CHECK(read->description == "d");
    CHECK(read->mime_type == "text/plain");
    CHECK(read->size == 3);
    CHECK(read->annotations->priority == 0.5);
    CHECK(read->icons.at(0).src == "https://x/i");
    CHECK(comcp::json::serialize(read->meta) == R"({"k":1})");
    CHECK(comcp::json::serialize(read->extra) == R"({"x":2})");
}

TEST_CASE("what a resource lacks or has of the wrong type reads as not given", "[protocol]")
{
    const auto read = comcp::read_resource(
        json_of(R"({"uri":"x://a","name":5,"size":"big","annotations":[],"icons":{},"_meta":null,"mimeType":null})"));
    REQUIRE(read.has_value());
    CHECK(read->name.empty());
    CHECK(read->display_name() == "x://a");
    CHECK_FALSE(read->size);
    CHECK_FALSE(read->annotations);
    CHECK(read->icons.empty());
    CHECK(read->meta.empty());
}

TEST_CASE("only a resource that has no URI cannot be read", "[protocol]")
{
    CHECK(comcp::read_resource(json_of("5")).error().text == "a resource that is not an object");
    CHECK(comcp::read_resource(json_of(R"({"name":"a"})")).error().text == "a resource without a uri");
    CHECK(comcp::read_resource_template(json_of("[]")).error().text == "a resource template that is not an object");
    CHECK(comcp::read_resource_template(json_of(R"({"uriTemplate":1})")).error().text ==
          "a resource template without a uriTemplate");
}

TEST_CASE("a resource template is read with all that it has", "[protocol][G-3]")
{
    const auto read = comcp::read_resource_template(
        json_of(R"({"uriTemplate":"x://{id}","name":"n","title":"T","description":"d","mimeType":"m","size":1,)"
                R"("annotations":{"priority":1},"_meta":{"k":1}})"));
    REQUIRE(read.has_value());
    CHECK(read->uri_template == "x://{id}");
    CHECK(read->display_name() == "T");
    CHECK(read->description == "d");
    CHECK(read->mime_type == "m");
    CHECK(read->annotations->priority == 1);
    CHECK(comcp::json::serialize(read->extra) == R"({"size":1})");
}

TEST_CASE("the contents of a resource are texts and blobs", "[protocol][G-4]")
{
    const std::string text = R"({"contents":[{"uri":"x://a","mimeType":"text/plain","text":"hi","_meta":{"k":1}},)"
                             R"({"uri":"x://b","blob":"QUI="}],"_meta":{"m":1},"more":true})";
    const auto read = comcp::read_resource_result(json_of(text).as_object(), text);
    CHECK(read.oddities.empty());
    CHECK(read.source == text);
    REQUIRE(read.contents.size() == 2);
    CHECK(read.contents[0].text == "hi");
    CHECK(read.contents[0].bytes() == "hi");
    CHECK(comcp::json::serialize(read.contents[0].extra) == R"({"_meta":{"k":1}})");
    CHECK(read.contents[1].uri == "x://b");
    CHECK(read.contents[1].blob == "QUI=");
    CHECK(read.contents[1].bytes() == "AB");
    CHECK(comcp::json::serialize(read.meta) == R"({"m":1})");
    CHECK(comcp::json::serialize(read.extra) == R"({"more":true})");
}

TEST_CASE("what is malformed in the contents of a resource is named and the rest is read", "[protocol]")
{
    const auto odd = comcp::read_resource_result(json_of(R"({"contents":[5,{"uri":"x"},{"text":""}]})").as_object());
    REQUIRE(odd.contents.size() == 1);
    CHECK(odd.contents[0].text == "");
    CHECK(odd.oddities == std::vector<std::string>(2, "contents with neither text nor blob"));
    const auto none = comcp::read_resource_result(json_of(R"({"contents":{}})").as_object());
    CHECK(none.oddities == std::vector<std::string>{"result without an array of contents"});
    CHECK(none.contents.empty());
}

TEST_CASE("resource contents are made of text or of bytes and give them back", "[protocol]")
{
    const auto text = comcp::resource_contents::of_text("x://a", "hi");
    CHECK(text.mime_type == "text/plain");
    CHECK(text.bytes() == "hi");
    const std::string raw("\0\xFF", 2);
    const auto blob = comcp::resource_contents::of_bytes("x://b", raw, "image/png");
    CHECK(blob.blob == "AP8=");
    CHECK(blob.bytes() == raw);
    comcp::resource_contents bad;
    CHECK_FALSE(bad.bytes());
    bad.blob = "AP8";
    CHECK_FALSE(bad.bytes());
}

TEST_CASE("contents beyond the bound are dropped", "[protocol]")
{
    comcp::json::array items(comcp::max_content_blocks + 1, json_of(R"({"text":""})"));
    comcp::json::object result;
    result["contents"] = std::move(items);
    const auto read = comcp::read_resource_result(result);
    CHECK(read.contents.size() == comcp::max_content_blocks);
    CHECK(read.oddities == std::vector<std::string>{"too many contents: the rest is dropped"});
}
