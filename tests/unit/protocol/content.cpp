// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/content.hpp>

#include "catch.hpp"

#include <boost/json/monotonic_resource.hpp>

namespace
{

struct outcome
{
    comcp::content block;
    std::vector<std::string> oddities;
};

outcome read(std::string_view text)
{
    outcome out;
    comcp::read_content(comcp::parse_json(text, 64).value(), out.block, out.oddities);
    return out;
}

} // namespace

TEST_CASE("the factories make each kind of block", "[protocol]")
{
    CHECK(*comcp::content::text("hi").as_text() == "hi");
    CHECK(comcp::content::text("hi").get_if<comcp::image_content>() == nullptr);

    const comcp::content image = comcp::content::image_bytes("\x89PNG", "image/png");
    CHECK(image.as_text() == nullptr);
    CHECK(image.get_if<comcp::image_content>()->data == "iVBORw==");
    CHECK(image.get_if<comcp::image_content>()->mime_type == "image/png");
    CHECK(comcp::content::image("QQ==", "image/gif").get_if<comcp::image_content>()->data == "QQ==");
    CHECK(comcp::content::audio_bytes("A", "audio/wav").get_if<comcp::audio_content>()->data == "QQ==");

    CHECK(comcp::content::link("file:///a", "a").get_if<comcp::resource_link>()->name == "a");
    const comcp::content text = comcp::content::resource("file:///a", "body");
    CHECK(text.get_if<comcp::embedded_resource>()->text == "body");
    CHECK(text.get_if<comcp::embedded_resource>()->mime_type == "text/plain");
    CHECK_FALSE(text.get_if<comcp::embedded_resource>()->blob);
    const comcp::content blob = comcp::content::resource_bytes("file:///b", "A", "x/y");
    CHECK(blob.get_if<comcp::embedded_resource>()->blob == "QQ==");
    CHECK_FALSE(blob.get_if<comcp::embedded_resource>()->text);
}

TEST_CASE("a sound block of each kind is read without a remark", "[protocol]")
{
    const outcome text = read(R"({"type":"text","text":"hi"})");
    CHECK(*text.block.as_text() == "hi");
    CHECK(text.oddities.empty());

    const outcome image = read(R"({"type":"image","data":"QQ==","mimeType":"image/png"})");
    CHECK(image.block.get_if<comcp::image_content>()->mime_type == "image/png");
    CHECK(image.oddities.empty());

    const outcome audio = read(R"({"type":"audio","data":"QQ==","mimeType":"audio/wav"})");
    CHECK(audio.block.get_if<comcp::audio_content>()->data == "QQ==");
    CHECK(audio.oddities.empty());

    const outcome link = read(R"({"type":"resource_link","uri":"u","name":"n","title":"t","description":"d",
        "mimeType":"m","size":9007199254740993,"icons":[{"src":"i"}]})");
    const auto* l = link.block.get_if<comcp::resource_link>();
    REQUIRE(l);
    CHECK(l->uri == "u");
    CHECK(l->name == "n");
    CHECK(l->title == "t");
    CHECK(l->description == "d");
    CHECK(l->mime_type == "m");
    CHECK(l->size == 9007199254740993);
    CHECK(l->icons.size() == 1);
    CHECK(link.block.extra.empty());
    CHECK(link.oddities.empty());

    const outcome resource =
        read(R"({"type":"resource","resource":{"uri":"u","mimeType":"m","text":"body","_meta":{"a":1}}})");
    const auto* r = resource.block.get_if<comcp::embedded_resource>();
    REQUIRE(r);
    CHECK(r->uri == "u");
    CHECK(r->text == "body");
    CHECK(r->extra.at("_meta").at("a") == 1);
    CHECK(resource.oddities.empty());

    const outcome blob = read(R"({"type":"resource","resource":{"uri":"u","blob":"QQ=="}})");
    CHECK(blob.block.get_if<comcp::embedded_resource>()->blob == "QQ==");
    CHECK(blob.oddities.empty());
}

TEST_CASE("annotations, _meta and unknown members of a block are kept", "[protocol]")
{
    const outcome got = read(R"({"type":"text","text":"hi","zzz":[1],"_meta":{"k":2},
        "annotations":{"audience":["user","robot",5],"priority":1,"lastModified":"2025-01-12T15:00:58Z","q":null}})");
    CHECK(*got.block.as_text() == "hi");
    CHECK(got.block.extra.size() == 1);
    CHECK(got.block.extra.at("zzz").at(0) == 1);
    CHECK(got.block.meta.at("k") == 2);
    REQUIRE(got.block.annotations);
    CHECK(got.block.annotations->audience == std::vector<std::string>{"user", "robot"});
    CHECK(got.block.annotations->priority == 1.0);
    CHECK(got.block.annotations->last_modified == "2025-01-12T15:00:58Z");
    CHECK(got.block.annotations->extra.contains("q"));
}

TEST_CASE("null optional members of a block read as absent", "[protocol]")
{
    const outcome got = read(R"({"type":"text","text":"hi","_meta":null,"annotations":null})");
    CHECK(*got.block.as_text() == "hi");
    CHECK_FALSE(got.block.annotations);
    CHECK(got.block.meta.empty());
    CHECK(got.block.extra.empty());
    CHECK(got.oddities.empty());
}

TEST_CASE("what is not a known block is kept as JSON with a remark, and never fails", "[protocol]")
{
    const auto [text, remark] = GENERATE(table<std::string, std::string>({
        {R"({"type":"error","text":"no"})", "unknown or malformed content block of type error"},
        {R"({"type":"text","text":5})", "unknown or malformed content block of type text"},
        {R"({"type":"text"})", "unknown or malformed content block of type text"},
        {R"({"type":"image","mimeType":"image/png"})", "unknown or malformed content block of type image"},
        {R"({"type":"resource"})", "unknown or malformed content block of type resource"},
        {R"({"type":"resource","resource":"x"})", "unknown or malformed content block of type resource"},
        {R"({"type":"resource","resource":{"uri":"u"}})", "unknown or malformed content block of type resource"},
        {R"({"type":"resource_link","name":"n"})", "unknown or malformed content block of type resource_link"},
        {R"({"text":"no type"})", "content block without a type"},
        {R"({"type":null})", "content block without a type"},
        {R"({})", "content block without a type"},
        {R"(null)", "content block is not an object"},
        {R"(3)", "content block is not an object"},
        {R"([])", "content block is not an object"},
    }));
    CAPTURE(text);
    const outcome got = read(text);
    REQUIRE(got.block.get_if<comcp::unknown_content>());
    CHECK(got.block.get_if<comcp::unknown_content>()->raw == comcp::parse_json(text, 64).value());
    CHECK(got.oddities == std::vector<std::string>{remark});
}

TEST_CASE("a plain string is a text block, and an image without a type an image", "[protocol]")
{
    const outcome plain = read(R"("plain")");
    CHECK(*plain.block.as_text() == "plain");
    CHECK(plain.oddities == std::vector<std::string>{"content block is a plain string"});

    const outcome image = read(R"({"type":"image","data":"QQ=="})");
    CHECK(image.block.get_if<comcp::image_content>()->mime_type.empty());
    CHECK(image.oddities == std::vector<std::string>{"image block without a mimeType"});
}

TEST_CASE("a block owns its memory after the arena of its message is gone", "[protocol]")
{
    comcp::content block;
    std::vector<std::string> oddities;
    {
        comcp::json::monotonic_resource arena;
        const auto value = comcp::parse_json(
            R"({"type":"text","text":"a text that is too long for a small string","_meta":{"k":["deep"]},"z":{"y":"x"}})",
            64, &arena);
        comcp::read_content(value.value(), block, oddities);
    }
    CHECK(*block.as_text() == "a text that is too long for a small string");
    CHECK(block.meta.at("k").at(0) == "deep");
    CHECK(block.extra.at("z").at("y") == "x");
}
