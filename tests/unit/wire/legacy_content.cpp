// SPDX-License-Identifier: MIT
// Resources, prompts, completion and roots as each revision has them. Tools and blocks: legacy.cpp.
#include <comcp/error.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

using comcp::revision;
using comcp::wire::legacy_codec;

namespace
{

constexpr revision r1 = revision::r2024_11_05;
constexpr revision r2 = revision::r2025_03_26;
constexpr revision r3 = revision::r2025_06_18;
constexpr revision r4 = revision::r2025_11_25;

comcp::json::value json_of(std::string_view text) { return comcp::parse_json(text, 64).value(); }

template <class Value>
std::string written(bool (comcp::wire::codec::*write)(std::string&, const Value&, revision) const, const Value& value,
                    revision at)
{
    std::string out;
    (legacy_codec().*write)(out, value, at);
    return out;
}

comcp::content_annotations annotations()
{
    comcp::content_annotations made;
    made.priority = 1;
    made.last_modified = "2025-01-01T00:00:00Z";
    return made;
}

template <class Item>
Item full(Item made)
{
    made.title = "T";
    made.description = "d";
    made.icons.emplace_back("https://x/i");
    made.meta = {{"k", 1}};
    made.extra = {{"x", 2}};
    return made;
}

} // namespace

TEST_CASE("a resource is written as the revision has it", "[wire][G-2]")
{
    auto item = full(comcp::resource("x://a", "a"));
    item.mime_type = "text/plain";
    item.size = 7;
    item.annotations = annotations();
    const auto text = [&](revision at) { return written(&comcp::wire::codec::write_resource, item, at); };
    const std::string old = R"({"uri":"x://a","name":"a","description":"d","mimeType":"text/plain",)"
                            R"("annotations":{"priority":1},"size":7,"x":2})";
    CHECK(text(r1) == old);
    CHECK(text(r2) == old);
    CHECK(text(r3) == R"({"uri":"x://a","name":"a","title":"T","description":"d","mimeType":"text/plain",)"
                      R"("annotations":{"priority":1,"lastModified":"2025-01-01T00:00:00Z"},"size":7,)"
                      R"("_meta":{"k":1},"x":2})");
    CHECK(text(r4) == R"({"uri":"x://a","name":"a","title":"T","description":"d","mimeType":"text/plain",)"
                      R"("annotations":{"priority":1,"lastModified":"2025-01-01T00:00:00Z"},"size":7,)"
                      R"("icons":[{"src":"https://x/i"}],"_meta":{"k":1},"x":2})");
    for (revision at : comcp::all_revisions) {
        CHECK(written(&comcp::wire::codec::write_resource, comcp::resource("x://a", ""), at) ==
              R"({"uri":"x://a","name":"x://a"})");
    }
    CHECK(text(r4) ==
          written(&comcp::wire::codec::write_resource, comcp::read_resource(json_of(text(r4))).value(), r4));
}

TEST_CASE("a resource template is written as the revision has it", "[wire][G-3]")
{
    const auto item = full(comcp::resource_template("x://{a}", "a"));
    const auto text = [&](revision at) { return written(&comcp::wire::codec::write_resource_template, item, at); };
    CHECK(text(r1) == R"({"uriTemplate":"x://{a}","name":"a","description":"d","x":2})");
    CHECK(text(r2) == text(r1));
    CHECK(text(r3) == R"({"uriTemplate":"x://{a}","name":"a","title":"T","description":"d","_meta":{"k":1},"x":2})");
    CHECK(text(r4) == R"({"uriTemplate":"x://{a}","name":"a","title":"T","description":"d",)"
                      R"("icons":[{"src":"https://x/i"}],"_meta":{"k":1},"x":2})");
    CHECK(text(r4) == written(&comcp::wire::codec::write_resource_template,
                              comcp::read_resource_template(json_of(text(r4))).value(), r4));
}

TEST_CASE("the contents of a resource are written as text or blob", "[wire][G-4]")
{
    auto result = comcp::resource_result::text("x://a", "hi");
    result.contents.push_back(comcp::resource_contents::of_bytes("x://b", "AB", ""));
    result.contents[0].extra = {{"_meta", {{"k", 1}}}, {"x", 2}};
    result.meta = {{"m", 1}};
    const auto text = [&](revision at) { return written(&comcp::wire::codec::write_resource_result, result, at); };
    CHECK(text(r2) == R"({"contents":[{"uri":"x://a","mimeType":"text/plain","text":"hi","x":2},)"
                      R"({"uri":"x://b","blob":"QUI="}],"_meta":{"m":1}})");
    CHECK(text(r3) == R"({"contents":[{"uri":"x://a","mimeType":"text/plain","text":"hi","_meta":{"k":1},"x":2},)"
                      R"({"uri":"x://b","blob":"QUI="}],"_meta":{"m":1}})");
    CHECK(text(r4) == text(r3));
    CHECK(text(r4) == written(&comcp::wire::codec::write_resource_result,
                              comcp::read_resource_result(json_of(text(r4)).as_object()), r4));
    CHECK(written(&comcp::wire::codec::write_resource_result, comcp::resource_result(), r4) == R"({"contents":[]})");
    CHECK(written(&comcp::wire::codec::write_resource_contents, comcp::resource_contents(), r4) ==
          R"({"uri":"","text":""})");
}

TEST_CASE("a prompt is written as the revision has it", "[wire][G-20]")
{
    auto item = full(comcp::prompt("p"));
    item.arguments.emplace_back("a", "e", true).title = "A";
    item.arguments.emplace_back("b").extra = {{"y", 1}};
    const auto text = [&](revision at) { return written(&comcp::wire::codec::write_prompt, item, at); };
    CHECK(text(r1) == R"({"name":"p","description":"d","arguments":[{"name":"a","description":"e","required":true},)"
                      R"({"name":"b","y":1}],"x":2})");
    CHECK(text(r2) == text(r1));
    CHECK(text(r3) == R"({"name":"p","title":"T","description":"d","arguments":[{"name":"a","title":"A",)"
                      R"("description":"e","required":true},{"name":"b","y":1}],"_meta":{"k":1},"x":2})");
    CHECK(text(r4) == R"({"name":"p","title":"T","description":"d","arguments":[{"name":"a","title":"A",)"
                      R"("description":"e","required":true},{"name":"b","y":1}],"icons":[{"src":"https://x/i"}],)"
                      R"("_meta":{"k":1},"x":2})");
    CHECK(text(r4) == written(&comcp::wire::codec::write_prompt, comcp::read_prompt(json_of(text(r4))).value(), r4));
    CHECK(written(&comcp::wire::codec::write_prompt, comcp::prompt("p"), r4) == R"({"name":"p"})");
}

TEST_CASE("the messages of a prompt have only blocks that the revision has", "[wire][G-22]")
{
    comcp::prompt_result result;
    result.description = "d";
    result.messages = {comcp::prompt_message::user("q"),
                       comcp::prompt_message::assistant("a"),
                       {comcp::role::user, comcp::content::audio("QQ==", "audio/wav")},
                       {comcp::role::user, comcp::content::link("x://a", "a")}};
    const auto text = [&](revision at) { return written(&comcp::wire::codec::write_prompt_result, result, at); };
    const std::string start = R"({"description":"d","messages":[{"role":"user","content":{"type":"text","text":"q"}},)"
                              R"({"role":"assistant","content":{"type":"text","text":"a"}},{"role":"user","content":)";
    const std::string link = R"({"role":"user","content":{"type":"text","text":"[resource link x://a, name: a]"}}]})";
    const std::string audio = R"({"type":"audio","data":"QQ==","mimeType":"audio/wav"}},)";
    CHECK(text(r1) == start + R"({"type":"text","text":"[audio audio/wav, 1 bytes]"}},)" + link);
    CHECK(text(r2) == start + audio + link);
    CHECK(text(r3) ==
          start + audio + R"({"role":"user","content":{"type":"resource_link","uri":"x://a","name":"a"}}]})");
    CHECK(text(r4) == text(r3));
    CHECK(text(r4) == written(&comcp::wire::codec::write_prompt_result,
                              comcp::read_prompt_result(json_of(text(r4)).as_object()), r4));
    CHECK(written(&comcp::wire::codec::write_prompt_result, comcp::prompt_result(), r4) == R"({"messages":[]})");
}

TEST_CASE("the use of a tool has no place in a prompt and becomes text", "[wire]")
{
    const auto text = [](const comcp::content& block) {
        return written(&comcp::wire::codec::write_content, block, r4);
    };
    CHECK(text(comcp::content::tool_use("1", "add", {{"a", 1}})) ==
          R"({"type":"text","text":"[tool use add, id: 1, input: {\"a\":1}]"})");
    CHECK(text(comcp::content::tool_result("1", {comcp::content::text("3")})) ==
          R"({"type":"text","text":"[tool result, id: 1]\n3"})");
}

TEST_CASE("completion is asked with its context since 2025-06-18", "[wire][G-30]")
{
    comcp::completion_request request(comcp::completion_reference::prompt("p"), "a", "v");
    request.context = {{"b", "1"}};
    request.meta = {{"k", 1}};
    const comcp::progress_token token(7);
    const auto text = [&](revision at, const comcp::progress_token* its_token = nullptr) {
        std::string out;
        legacy_codec().write_completion_params(out, request, its_token, at);
        return out;
    };
    const std::string start = R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"})";
    CHECK(text(r1) == start + R"(,"_meta":{"k":1}})");
    CHECK(text(r2) == text(r1));
    CHECK(text(r3) == start + R"(,"context":{"arguments":{"b":"1"}},"_meta":{"k":1}})");
    CHECK(text(r4, &token) == start + R"(,"context":{"arguments":{"b":"1"}},"_meta":{"progressToken":7,"k":1}})");
    request = comcp::completion_request(comcp::completion_reference::resource("x://{a}"), "a", "");
    CHECK(text(r4) == R"({"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":""}})");
}

TEST_CASE("at most a hundred suggestions are written", "[wire][G-31]")
{
    comcp::completion few({"a", "b"});
    few.total = 5;
    few.has_more = true;
    few.meta = {{"k", 1}};
    CHECK(written(&comcp::wire::codec::write_completion, few, r4) ==
          R"({"completion":{"values":["a","b"],"total":5,"hasMore":true},"_meta":{"k":1}})");
    const comcp::completion many(std::vector<std::string>(101, "a"));
    const auto read =
        comcp::read_completion(json_of(written(&comcp::wire::codec::write_completion, many, r1)).as_object());
    CHECK(read.values.size() == 100);
    CHECK(read.total == 101);
    CHECK(read.has_more == true);
    CHECK(written(&comcp::wire::codec::write_completion, comcp::completion(), r1) == R"({"completion":{"values":[]}})");
}

TEST_CASE("roots are written with `_meta` since 2025-06-18", "[wire][H-1]")
{
    comcp::root first("file:///a", "A");
    first.meta = {{"k", 1}};
    first.extra = {{"x", 2}};
    const comcp::root_list roots{first, comcp::root("file:///b")};
    CHECK(written(&comcp::wire::codec::write_roots, roots, r2) ==
          R"({"roots":[{"uri":"file:///a","name":"A","x":2},{"uri":"file:///b"}]})");
    CHECK(written(&comcp::wire::codec::write_roots, roots, r3) ==
          R"({"roots":[{"uri":"file:///a","name":"A","_meta":{"k":1},"x":2},{"uri":"file:///b"}]})");
}
