// SPDX-License-Identifier: MIT
//
// What a relay passes on: members that the specification does not name, at every level of every model.
#include <comcp/wire/capabilities.hpp>
#include <comcp/wire/handshake.hpp>
#include <comcp/wire/legacy.hpp>

#include <boost/json/serialize.hpp>

#include "catch.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace json = comcp::json;
using boost::json::serialize;
using comcp::revision;

namespace
{

const auto& codec = comcp::wire::legacy_codec();
constexpr auto newest = revision::r2025_11_25;

json::value parsed(std::string_view text) { return comcp::parse_json(text, 64).value(); }

/// Puts `"x":1` into every object, but for those under keys whose members are names that the peer chose.
void mark(json::value& in, bool open = true)
{
    if (json::array* items = in.if_array()) {
        for (json::value& each : *items) mark(each);
    } else if (json::object* object = in.if_object()) {
        for (json::key_value_pair& each : *object) {
            const bool names = each.key() == "properties" || (each.key() == "arguments" && each.value().is_object());
            mark(each.value(), !names);
        }
        if (open) object->emplace("x", 1);
    }
}

std::string marked(std::string_view text)
{
    json::value value = parsed(text);
    mark(value);
    return serialize(value);
}

/// `pass(object, out)` reads and writes.
template <class Pass>
void passes(std::string_view plain, const Pass& pass)
{
    const std::string text = marked(plain);
    std::string out;
    pass(parsed(text).get_object(), out);
    INFO("in:  " << text << "\nout: " << out);
    CHECK((parsed(out) == parsed(text)));
}

#define ICONS R"("icons":[{"src":"https://a/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}])"
#define HINTS R"("annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-01"})"
#define META R"("_meta":{"k":{}})"

constexpr auto schema = R"({"type":"object","properties":{"a":{"type":"string"}}})";

std::string blocks()
{
    const std::string rest = "," HINTS "," META "}";
    return R"([{"type":"text","text":"t")" + rest + R"(,{"type":"image","data":"QQ==","mimeType":"image/png")" + rest +
           R"(,{"type":"audio","data":"QQ==","mimeType":"audio/wav")" + rest +
           R"(,{"type":"resource_link","uri":"x:a","name":"n","title":"t","description":"d","mimeType":"m","size":1,)" ICONS +
           rest + R"(,{"type":"resource","resource":{"uri":"x:a","mimeType":"m","text":"t",)" META "}" + rest +
           R"(,{"type":"resource","resource":{"uri":"x:a","mimeType":"m","blob":"QQ=="})" + rest +
           R"(,{"type":"hologram","of":{}}])";
}

std::string sampled_blocks()
{
    const std::string rest = "," HINTS "," META "}";
    return R"([{"type":"text","text":"t")" + rest + R"(,{"type":"image","data":"QQ==","mimeType":"image/png")" + rest +
           R"(,{"type":"audio","data":"QQ==","mimeType":"audio/wav")" + rest +
           R"(,{"type":"tool_use","id":"1","name":"n","input":{"a":{}})" + rest +
           R"(,{"type":"tool_result","toolUseId":"1","content":)" + blocks() +
           R"(,"structuredContent":{"a":{}},"isError":true)" + rest + R"(,{"type":"hologram","of":{}}])";
}

std::string tool_text()
{
    return R"({"name":"n","title":"t","description":"d","inputSchema":)" + std::string(schema) + R"(,"outputSchema":)" +
           schema +
           R"(,"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,)"
           R"("openWorldHint":false},"execution":{"taskSupport":"optional"},)" ICONS "," META "}";
}

} // namespace

TEST_CASE("Members that are not known are kept at every level of what a server offers", "[protocol][wire]")
{
    passes(tool_text(), [](const json::object& from, std::string& out) {
        codec.write_tool(out, comcp::read_tool(from).value(), newest);
    });
    passes(R"({"uri":"x:a","name":"n","title":"t","description":"d","mimeType":"m","size":1,)" HINTS "," ICONS "," META
           "}",
           [](const json::object& from, std::string& out) {
               codec.write_resource(out, comcp::read_resource(from).value(), newest);
           });
    passes(R"({"uriTemplate":"x:{a}","name":"n","title":"t","description":"d","mimeType":"m",)" HINTS "," ICONS "," META
           "}",
           [](const json::object& from, std::string& out) {
               codec.write_resource_template(out, comcp::read_resource_template(from).value(), newest);
           });
    // The arguments of a prompt are an array.
    passes(R"({"name":"n","title":"t","description":"d","arguments":[{"name":"a","title":"t","description":"d",)"
           R"("required":true}],)" ICONS "," META "}",
           [](const json::object& from, std::string& out) {
               codec.write_prompt(out, comcp::read_prompt(from).value(), newest);
           });
}

TEST_CASE("Members that are not known are kept at every level of results", "[protocol][wire]")
{
    passes(R"({"content":)" + blocks() + R"(,"structuredContent":{"a":{}},"isError":true,"toolResult":{},)" META "}",
           [](const json::object& from, std::string& out) {
               codec.write_tool_result(out, comcp::read_tool_result(from), newest);
           });
    passes(R"({"contents":[{"uri":"x:a","mimeType":"m","text":"t",)" META R"(},{"uri":"x:b","blob":"QQ=="}],)" META "}",
           [](const json::object& from, std::string& out) {
               codec.write_resource_result(out, comcp::read_resource_result(from), newest);
           });
    const json::value each = parsed(blocks());
    for (const json::value& block : each.get_array())
        passes(R"({"description":"d","messages":[{"role":"assistant","content":)" + serialize(block) + "}]," META "}",
               [](const json::object& from, std::string& out) {
                   codec.write_prompt_result(out, comcp::read_prompt_result(from), newest);
               });
    passes(R"({"completion":{"values":["a"],"total":1,"hasMore":false},)" META "}",
           [](const json::object& from, std::string& out) {
               codec.write_completion(out, comcp::read_completion(from), newest);
           });
    passes(R"({"role":"user","content":)" + sampled_blocks() + R"(,"model":"m","stopReason":"endTurn",)" META "}",
           [](const json::object& from, std::string& out) {
               codec.write_sampling_result(out, comcp::read_sampling_result(from).value(), newest);
           });
    passes(R"({"action":"accept","content":{"a":"b"},)" META "}", [](const json::object& from, std::string& out) {
        codec.write_elicitation_result(out, comcp::read_elicitation_result(from).value(), comcp::elicitation_mode::form,
                                       newest);
    });
}

TEST_CASE("Members that are not known are kept at every level of questions and notices", "[protocol][wire]")
{
    for (const auto* reference :
         {R"({"type":"ref/prompt","name":"n","title":"t"})", R"({"type":"ref/resource","uri":"x:a"})"})
        passes(R"({"ref":)" + std::string(reference) +
                   R"(,"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}},)" META "}",
               [](const json::object& from, std::string& out) {
                   codec.write_completion_params(out, comcp::read_completion_request(from).value(), nullptr, newest);
               });
    passes(R"({"messages":[{"role":"user","content":)" + sampled_blocks() + "," META R"(}],"maxTokens":5,)" +
               R"("modelPreferences":{"hints":[{"name":"a"},{}],"costPriority":1,"speedPriority":0.5,)"
               R"("intelligencePriority":0},"systemPrompt":"s","includeContext":"none","temperature":0.5,)"
               R"("stopSequences":["e"],"metadata":{"m":{}},"tools":[)" +
               tool_text() + R"(],"toolChoice":{"mode":"required"},)" META "}",
           [](const json::object& from, std::string& out) {
               REQUIRE(codec.write_sampling_params(out, comcp::read_sampling_request(from).value(), nullptr, newest)
                           .has_value());
           });
    for (const std::string& how : {R"("mode":"form","requestedSchema":)" + std::string(schema),
                                   std::string(R"("mode":"url","url":"https://x/y","elicitationId":"e")")}) {
        const std::string question = R"({"message":"m",)" + how + "," META "}";
        passes(question, [](const json::object& from, std::string& out) {
            const auto asked = comcp::read_elicitation_request(from).value();
            REQUIRE(codec.write_elicitation_params(out, asked, nullptr, newest).has_value());
        });
    }
    passes(R"({"elicitations":[{"mode":"url","message":"m","url":"https://x/y","elicitationId":"e",)" META "}]}",
           [](const json::object& from, std::string& out) {
               comcp::rpc_error error;
               error.code = comcp::rpc_code::url_elicitation_required;
               error.data = from;
               json::object data = comcp::url_elicitation_data(comcp::url_elicitations(error)).get_object();
               data.emplace("x", 1); // the error itself is kept by whoever has it
               comcp::write_value(out, data);
           });
    passes(R"({"roots":[{"uri":"file:///a","name":"A",)" META "}]," META "}",
           [](const json::object& from, std::string& out) { codec.write_roots(out, comcp::read_roots(from), newest); });
    passes(R"({"progressToken":7,"progress":0.5,"total":2,"message":"m",)" META "}",
           [](const json::object& from, std::string& out) {
               codec.write_progress_params(out, comcp::progress_token(7), comcp::read_progress(from).value(), newest);
           });
    passes(R"({"level":"info","logger":"l","data":{"a":{}},)" META "}", [](const json::object& from, std::string& out) {
        codec.write_log_params(out, comcp::read_log_message(from), newest);
    });
}

TEST_CASE("Members that are not known are kept at every level of the handshake", "[protocol][wire]")
{
    passes(R"({"name":"n","version":"1","title":"t","description":"d","websiteUrl":"https://x",)" ICONS "}",
           [](const json::object& from, std::string& out) {
               comcp::wire::detail::write_identity(out, comcp::identity::read(from), newest);
           });
    passes(R"({"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},)"
           R"("experimental":{"e":{}}})",
           [](const json::object& from, std::string& out) {
               comcp::wire::write_capabilities(out, comcp::client_capabilities(from), newest);
           });
    passes(
        R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"n","version":"1"},)" META
        "}",
        [](const json::object& from, std::string& out) {
            const auto said = comcp::wire::read_initialize_params(from);
            comcp::wire::write_initialize_params(out, newest, said.capabilities, said.client, said.extras);
        });
    passes(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"},)"
           R"("instructions":"i",)" META "}",
           [](const json::object& from, std::string& out) {
               const auto said = comcp::wire::read_initialize_result(from, newest).value();
               comcp::wire::write_initialize_result(out, said.version, said.capabilities, said.server,
                                                    said.instructions, said.extras);
           });
}

TEST_CASE("The title of a reference is not sent to revisions without it", "[protocol][wire]")
{
    const auto asked =
        comcp::read_completion_request(
            parsed(R"({"ref":{"type":"ref/prompt","name":"n","title":"t"},"argument":{"name":"a","value":"v"}})")
                .get_object())
            .value();
    for (const revision at : comcp::all_revisions) {
        std::string out;
        codec.write_completion_params(out, asked, nullptr, at);
        CHECK((out.find("title") != out.npos) == (at >= revision::r2025_06_18));
    }
}

#undef ICONS
#undef HINTS
#undef META
