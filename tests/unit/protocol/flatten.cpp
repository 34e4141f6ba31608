// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/flatten.hpp>

#include "catch.hpp"

namespace
{

std::string flat(std::string_view text, bool keep = false)
{
    return comcp::flatten(
        comcp::read_tool_result(comcp::parse_json(text, 64).value().as_object(), keep ? text : std::string_view()));
}

} // namespace

TEST_CASE("a result is flattened block by block", "[protocol]")
{
    const auto [result, text] = GENERATE(table<std::string, std::string>({
        {R"({"content":[]})", ""},
        {R"({"content":[{"type":"text","text":"a"}]})", "a"},
        {R"({"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"}]})", "a\n\nb"},
        {R"({"content":[{"type":"text","text":"no"}],"isError":true})", "no"},
        // Media are named, never shown.
        {R"({"content":[{"type":"image","data":"iVBORw==","mimeType":"image/png"}]})", "[image image/png, 4 bytes]"},
        {R"({"content":[{"type":"image","data":"","mimeType":"image/png"}]})", "[image image/png, 0 bytes]"},
        {R"({"content":[{"type":"image","data":"QQ=="}]})", "[image, 1 bytes]"},
        {R"({"content":[{"type":"image","data":"https://x/y.png","mimeType":"image/png"}]})",
         "[image image/png, not valid base64]"},
        {R"({"content":[{"type":"audio","data":"QUJD","mimeType":"audio/wav"}]})", "[audio audio/wav, 3 bytes]"},
        // A link has all that it says about itself.
        {R"({"content":[{"type":"resource_link","uri":"file:///a","name":"a","title":"A","mimeType":"text/plain",
             "size":12}]})",
         "[resource link file:///a, name: a, title: A, type: text/plain, 12 bytes]"},
        {R"({"content":[{"type":"resource_link","uri":"file:///a","name":"a","description":"d"}]})",
         "[resource link file:///a, name: a, description: d]"},
        // An embedded text is inlined, a blob is named.
        {R"({"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"body"}}]})",
         "body"},
        {R"({"content":[{"type":"resource","resource":{"uri":"file:///b","mimeType":"x/y","blob":"QUI="}}]})",
         "[resource file:///b x/y, 2 bytes]"},
        // What is not known.
        {R"({"content":[{"type":"error","text":"no"}]})", "no"},
        {R"({"content":[{"type":"chart","points":[1,2.5,18446744073709551615]}]})",
         R"({"type":"chart","points":[1,2.5,18446744073709551615]})"},
        {R"({"content":[null,3,"plain"]})", "null\n3\nplain"},
        {R"({"content":"plain"})", "plain"},
        {R"({"content":null})", ""},
        {R"({})", ""},
        {R"({"toolResult":{"content":[]}})", ""},
        {R"({"toolResult":7})", "7"},
    }));
    CAPTURE(result);
    CHECK(flat(result) == text);
}

TEST_CASE("structured content is added unless a text says the same", "[protocol]")
{
    const auto [result, text] = GENERATE(table<std::string, std::string>({
        {R"({"content":[{"type":"text","text":"6 items"}],"structuredContent":{"n":6}})", "6 items\n{\"n\":6}"},
        {R"({"content":[{"type":"text","text":" { \"b\" : [1], \"a\":2 } "}],"structuredContent":{"a":2,"b":[1]}})",
         R"( { "b" : [1], "a":2 } )"},
        {R"({"content":[{"type":"text","text":"{\"n\":7}"}],"structuredContent":{"n":6}})", "{\"n\":7}\n{\"n\":6}"},
        {R"({"content":[{"type":"text","text":"{not json"}],"structuredContent":{"n":6}})", "{not json\n{\"n\":6}"},
        {R"({"content":[{"type":"text","text":"note"},{"type":"text","text":"{\"n\":6}"}],"structuredContent":{"n":6}})",
         "note\n{\"n\":6}"},
        // A plain value that was wrapped, as some servers do.
        {R"({"content":[{"type":"text","text":"hi"}],"structuredContent":{"result":"hi"}})", "hi"},
        {R"({"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}})", "5"},
        {R"({"content":[{"type":"text","text":"hi"}],"structuredContent":{"result":"ho"}})", "hi\n{\"result\":\"ho\"}"},
        // Not objects.
        {R"({"content":[],"structuredContent":[1,2]})", "[1,2]"},
        {R"({"content":[{"type":"text","text":"[1, 2]"}],"structuredContent":[1,2]})", "[1, 2]"},
        {R"({"content":[{"type":"text","text":"x"}],"structuredContent":"x"})", "x"},
        {R"({"content":[{"type":"text","text":"x"}],"structuredContent":null})", "x"},
    }));
    CAPTURE(result);
    CHECK(flat(result) == text);
}

TEST_CASE("numbers of structured content are exact", "[protocol]")
{
    const std::string written = R"({"id":9007199254740993,"u":18446744073709551615})";
    CHECK(flat(R"({"content":[],"structuredContent":)" + written + "}") == written);

    // With the source kept, so is what no number type can hold.
    const std::string kept = R"({"id":9007199254740993,"f":1.0,"e":1E400,"d":123456789012345678901234567890})";
    CHECK(flat(R"({"content":[],"structuredContent":)" + kept + "}", true) == kept);
    CHECK(flat(R"({"toolResult":{"content":[],"structuredContent":)" + kept + "}}", true) == kept);
}

TEST_CASE("the JSON of an unknown block is cut at 1,000 code points, never inside of one", "[protocol]")
{
    // {"type":"x","d":" takes 17 code points, so 983 of the letters are shown.
    std::string letters;
    for (int i = 0; i < 2000; ++i) letters += "\u8A9E";
    const std::string out = flat(R"({"content":[{"type":"x","d":")" + letters + R"("}]})");
    CHECK(out == R"({"type":"x","d":")" + letters.substr(0, 3 * 983) + "\u2026");
}

TEST_CASE("integers that JavaScript cannot hold are exact, and quoted for those who want it", "[protocol][fidelity]")
{
    const auto shown = [](std::string_view text) { // FIDELITY 52
        const auto result = comcp::read_tool_result(comcp::parse_json(text, 64).value().as_object(), text);
        return comcp::flatten(result, comcp::unsafe_integers::quoted);
    };
    constexpr auto both = R"({"content":[{"type":"text","text":"7795506888185572399"}],)"
                          R"("structuredContent":{"ea":7795506888185572399,"n":1E400}})";
    CHECK(flat(both, true) == "7795506888185572399\n{\"ea\":7795506888185572399,\"n\":1E400}");
    CHECK(shown(both) == "7795506888185572399\n{\"ea\":\"7795506888185572399\",\"n\":1E400}");
    constexpr auto repeated = R"({"content":[{"type":"text","text":"{ \"ea\": 7795506888185572399 }"}],)"
                              R"("structuredContent":{"ea":7795506888185572399}})";
    CHECK(flat(repeated, true) == "{ \"ea\": 7795506888185572399 }");
    CHECK(shown(repeated) == "{ \"ea\": \"7795506888185572399\" }");
}
