// SPDX-License-Identifier: MIT
// Params of requests, sampling and elicitation as each revision has them.
#include <comcp/error.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

using comcp::content;
using comcp::elicitation_mode;
using comcp::elicitation_result;
using comcp::revision;
using comcp::role;
using comcp::wire::legacy_codec;
using comcp::wire::request_meta;

namespace
{

constexpr revision r1 = revision::r2024_11_05;
constexpr revision r2 = revision::r2025_03_26;
constexpr revision r3 = revision::r2025_06_18;
constexpr revision r4 = revision::r2025_11_25;

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

std::string uri_params(const request_meta& meta)
{
    std::string out;
    legacy_codec().write_uri_params(out, "x://a", meta, r4);
    return out;
}

/// The params, or the fault's text.
std::string sampling(const comcp::sampling_request& request, revision at)
{
    std::string out;
    const auto done = legacy_codec().write_sampling_params(out, request, nullptr, at);
    if (done) return out;
    CHECK(out.empty());
    return done.error().text;
}

std::string elicitation(const comcp::elicitation_request& request, revision at)
{
    std::string out;
    const auto done = legacy_codec().write_elicitation_params(out, request, nullptr, at);
    if (done) return out;
    CHECK(out.empty());
    return done.error().text;
}

std::string answer(const comcp::sampling_result& value, revision at)
{
    std::string out;
    legacy_codec().write_sampling_result(out, value, at);
    return out;
}

std::string answer(const elicitation_result& value, elicitation_mode asked, revision at)
{
    std::string out;
    legacy_codec().write_elicitation_result(out, value, asked, at);
    return out;
}

} // namespace

TEST_CASE("the token of a request joins its other meta members", "[wire][A-20]")
{
    const comcp::progress_token token = comcp::progress_token::string("t");
    const comcp::json::object none;
    const comcp::json::object members = {{"k", 1}, {"progressToken", "old"}};
    CHECK(uri_params({}) == R"({"uri":"x://a"})");
    CHECK(uri_params({nullptr, &none}) == R"({"uri":"x://a"})");
    CHECK(uri_params(&token) == R"({"uri":"x://a","_meta":{"progressToken":"t"}})");
    CHECK(uri_params({nullptr, &members}) == R"({"uri":"x://a","_meta":{"k":1,"progressToken":"old"}})");
    CHECK(uri_params({&token, &members}) == R"({"uri":"x://a","_meta":{"progressToken":"t","k":1}})");
}

TEST_CASE("calls and prompts take their arguments as text", "[wire]")
{
    const comcp::json::object members = {{"k", 1}};
    std::string out;
    legacy_codec().write_call_params(out, "add", R"({"a":1})", {nullptr, &members}, r4);
    CHECK(out == R"({"name":"add","arguments":{"a":1},"_meta":{"k":1}})");
    out.clear();
    legacy_codec().write_prompt_params(out, "p", "", {}, r4);
    CHECK(out == R"({"name":"p"})");
    out.clear();
    legacy_codec().write_prompt_params(out, "p", R"({"a":"1"})", {nullptr, &members}, r4);
    CHECK(out == R"({"name":"p","arguments":{"a":"1"},"_meta":{"k":1}})");
}

TEST_CASE("a resource that is not found has the code of the era", "[wire][G-5]")
{
    for (revision at : comcp::all_revisions) CHECK(legacy_codec().resource_not_found_code(at) == -32002);
}

TEST_CASE("a request for sampling is written with all that it has", "[wire][H-10]")
{
    comcp::sampling_request request("q", 100);
    CHECK(sampling(request, r1) ==
          R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":100})");
    request.preferences.emplace();
    request.preferences->hints = {"a", "b"};
    request.preferences->cost_priority = 0.5;
    request.preferences->speed_priority = 0;
    request.preferences->intelligence_priority = 1;
    request.system_prompt = "s";
    request.include_context = comcp::include_context::all_servers;
    request.temperature = 0.25;
    request.stop_sequences = {"e"};
    request.metadata = comcp::json::object{{"m", 1}};
    request.meta = {{"k", 1}};
    request.extra = {{"x", 2}};
    const std::string expected =
        R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":100,)"
        R"("modelPreferences":{"hints":[{"name":"a"},{"name":"b"}],"costPriority":0.5,"speedPriority":0,)"
        R"("intelligencePriority":1},"systemPrompt":"s","includeContext":"allServers","temperature":0.25,)"
        R"("stopSequences":["e"],"metadata":{"m":1},"_meta":{"k":1},"x":2})";
    for (revision at : comcp::all_revisions) CHECK(sampling(request, at) == expected);
    CHECK(sampling(comcp::read_sampling_request(object(expected)).value(), r4) == expected);

    request = comcp::sampling_request("q", 1);
    request.preferences.emplace();
    CHECK(sampling(request, r4).ends_with(R"("maxTokens":1,"modelPreferences":{}})"));
}

TEST_CASE("several blocks of a message become several messages before 2025-11-25", "[wire][H-12]")
{
    comcp::sampling_request request;
    request.max_tokens = 1;
    request.messages.emplace_back(role::user, std::vector<content>{content::text("a"), content::text("b")});
    CHECK(sampling(request, r3) == R"({"messages":[{"role":"user","content":{"type":"text","text":"a"}},)"
                                   R"({"role":"user","content":{"type":"text","text":"b"}}],"maxTokens":1})");
    CHECK(sampling(request, r4) == R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},)"
                                   R"({"type":"text","text":"b"}]}],"maxTokens":1})");
    request.messages.emplace_back(role::user, std::vector<content>());
    CHECK(sampling(request, r4).ends_with(R"({"role":"user","content":[]}],"maxTokens":1})"));
    CHECK(sampling(request, r3).ends_with(R"("text":"b"}}],"maxTokens":1})"));
}

TEST_CASE("a sampled conversation has audio since 2025-03-26 and never resources", "[wire][H-12]")
{
    comcp::sampling_request request;
    request.messages.emplace_back(role::user, content::audio("QQ==", "audio/wav"));
    request.messages.emplace_back(role::user, content::resource("x://a", "body"));
    CHECK(sampling(request, r1).find(R"({"type":"text","text":"[audio audio/wav, 1 bytes]"})") != std::string::npos);
    for (revision at : {r2, r3, r4}) {
        CHECK(sampling(request, at).find(R"({"type":"audio","data":"QQ==","mimeType":"audio/wav"})") !=
              std::string::npos);
        CHECK(sampling(request, at).find(R"({"type":"text","text":"body"})") != std::string::npos);
    }
}

TEST_CASE("tools in sampling are there since 2025-11-25, and before that they are a fault", "[wire][H-13]")
{
    comcp::sampling_request request;
    request.messages.emplace_back(role::assistant, content::tool_use("1", "add", {{"a", 1}}));
    content given = content::tool_result("1", {content::text("3")}, true);
    std::get<comcp::tool_result_content>(given.block).structured = 3;
    given.meta = {{"m", 1}};
    request.messages.emplace_back(role::user, given);
    request.messages[1].meta = {{"k", 1}};
    const std::string expected =
        R"({"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1","name":"add","input":{"a":1}}},)"
        R"({"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"3"}],)"
        R"("structuredContent":{"result":3},"isError":true,"_meta":{"m":1}},"_meta":{"k":1}}],"maxTokens":0})";
    CHECK(sampling(request, r4) == expected);
    CHECK(sampling(comcp::read_sampling_request(object(expected)).value(), r4) == expected);
    for (revision at : {r1, r2, r3}) {
        CHECK(sampling(request, at) == "revision " + std::string(to_string(at)) + " has no tools in sampling");
    }

    comcp::sampling_request with_tools("q", 1);
    with_tools.tools.emplace_back("add");
    with_tools.tool_choice = comcp::tool_choice::automatic;
    CHECK(
        sampling(with_tools, r4)
            .ends_with(
                R"("maxTokens":1,"tools":[{"name":"add","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}})"));
    CHECK(sampling(with_tools, r3) == "revision 2025-06-18 has no tools in sampling");
}

TEST_CASE("an answer to sampling has one block before 2025-11-25", "[wire][H-12]")
{
    comcp::sampling_result value("a", "m");
    for (revision at : comcp::all_revisions) {
        CHECK(answer(value, at) ==
              R"({"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn"})");
    }
    value.content.push_back(content::tool_use("1", "add", {}));
    value.stop_reason.clear();
    value.meta = {{"k", 1}};
    CHECK(answer(value, r4) == R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use",)"
                               R"("id":"1","name":"add","input":{}}],"model":"m","_meta":{"k":1}})");
    CHECK(answer(value, r3) == R"({"role":"assistant","content":{"type":"text","text":)"
                               R"("a\n[tool use add, id: 1, input: {}]"},"model":"m","_meta":{"k":1}})");
    CHECK(answer(comcp::sampling_result(), r4) == R"({"role":"assistant","content":[],"model":""})");
    CHECK(answer(comcp::sampling_result(), r3) ==
          R"({"role":"assistant","content":{"type":"text","text":""},"model":""})");
}

TEST_CASE("a form is asked for since 2025-06-18, with its mode since 2025-11-25", "[wire][H-20][H-21]")
{
    auto request = comcp::elicitation_request::form(
        "m", object(R"({"type":"object","properties":{"a":{"type":"string","default":"x"}}})"));
    request.meta = {{"k", 1}};
    CHECK(elicitation(request, r1) == "revision 2024-11-05 has no elicitation");
    CHECK(elicitation(request, r2) == "revision 2025-03-26 has no elicitation");
    CHECK(elicitation(request, r3) == R"({"message":"m","requestedSchema":{"type":"object","properties":)"
                                      R"({"a":{"type":"string"}}},"_meta":{"k":1}})");
    CHECK(elicitation(request, r4) == R"({"mode":"form","message":"m","requestedSchema":{"type":"object",)"
                                      R"("properties":{"a":{"type":"string","default":"x"}}},"_meta":{"k":1}})");
    request.requested_schema = object(R"({"type":"object","properties":{"a":{"type":"object"}}})");
    CHECK(elicitation(request, r4).starts_with("no schema of a form: "));
}

TEST_CASE("a URL is asked for since 2025-11-25", "[wire][H-24]")
{
    const auto request = comcp::elicitation_request::url_mode("m", "https://x/", "e");
    CHECK(elicitation(request, r4) == R"({"mode":"url","message":"m","url":"https://x/","elicitationId":"e"})");
    for (revision at : {r1, r2, r3}) {
        CHECK(elicitation(request, at) == "revision " + std::string(to_string(at)) + " has no elicitation by URL");
    }
    CHECK(elicitation(comcp::elicitation_request::url_mode("m", "https://x/", ""), r4) ==
          "an elicitation by URL needs a URL and an id");
    std::string out;
    legacy_codec().write_elicitation_complete_params(out, "e", r4);
    CHECK(out == R"({"elicitationId":"e"})");
}

TEST_CASE("only an accepted form is answered with content", "[wire][H-23]")
{
    auto accepted = elicitation_result::accept(object(R"({"a":1,"b":["x"]})"));
    accepted.meta = {{"k", 1}};
    CHECK(answer(accepted, elicitation_mode::form, r4) ==
          R"({"action":"accept","content":{"a":1,"b":["x"]},"_meta":{"k":1}})");
    CHECK(answer(accepted, elicitation_mode::form, r3) == R"({"action":"accept","content":{"a":1},"_meta":{"k":1}})");
    CHECK(answer(accepted, elicitation_mode::url, r4) == R"({"action":"accept","_meta":{"k":1}})");
    CHECK(answer(elicitation_result::accept(), elicitation_mode::form, r4) == R"({"action":"accept","content":{}})");
    auto declined = elicitation_result::decline();
    declined.content = object(R"({"a":1})");
    CHECK(answer(declined, elicitation_mode::form, r4) == R"({"action":"decline"})");
    CHECK(answer(elicitation_result::cancel(), elicitation_mode::form, r3) == R"({"action":"cancel"})");
}
