// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

#include <set>

using comcp::revision;
using comcp::wire::kind;
using comcp::wire::legacy_codec;
using comcp::wire::sender;

namespace
{

constexpr revision r1 = revision::r2024_11_05;
constexpr revision r2 = revision::r2025_03_26;
constexpr revision r3 = revision::r2025_06_18;
constexpr revision r4 = revision::r2025_11_25;

comcp::json::value json_of(std::string_view text) { return comcp::parse_json(text, 64).value(); }

std::string written(const comcp::tool& item, revision at)
{
    std::string out;
    legacy_codec().write_tool(out, item, at);
    return out;
}

std::string written(const comcp::content& block, revision at)
{
    std::string out;
    legacy_codec().write_content(out, block, at);
    return out;
}

std::string written(const comcp::tool_result& value, revision at)
{
    std::string out;
    legacy_codec().write_tool_result(out, value, at);
    return out;
}

std::set<std::string_view> methods(sender from, kind what, revision at)
{
    std::set<std::string_view> names;
    for (const auto& row : comcp::wire::legacy_methods) {
        if (legacy_codec().find(from, what, row.name, at)) names.insert(row.name);
    }
    return names;
}

std::set<std::string_view> joined(std::set<std::string_view> a, const std::set<std::string_view>& b)
{
    a.insert(b.begin(), b.end());
    return a;
}

} // namespace

// ---- the table of methods

TEST_CASE("each revision has exactly the methods of its schema", "[wire][B-14][B-15][B-16]")
{
    const std::set<std::string_view> client_requests = {
        "initialize",         "ping",         "resources/list", "resources/templates/list",
        "resources/read",     "tools/list",   "tools/call",     "resources/subscribe",
        "logging/setLevel",   "prompts/list", "prompts/get",    "resources/unsubscribe",
        "completion/complete"};
    const std::set<std::string_view> server_requests = {"ping", "sampling/createMessage", "roots/list"};
    const std::set<std::string_view> client_notes = {"notifications/cancelled", "notifications/initialized",
                                                     "notifications/progress", "notifications/roots/list_changed"};
    const std::set<std::string_view> server_notes = {"notifications/cancelled",
                                                     "notifications/progress",
                                                     "notifications/message",
                                                     "notifications/resources/updated",
                                                     "notifications/resources/list_changed",
                                                     "notifications/prompts/list_changed",
                                                     "notifications/tools/list_changed"};
    const std::set<std::string_view> tasks = {"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"};

    for (revision at : comcp::all_revisions) {
        CAPTURE(to_string(at));
        const bool last = at == r4;
        auto from_server = server_requests;
        if (at >= r3) from_server.insert("elicitation/create");
        CHECK(methods(sender::client, kind::request, at) == (last ? joined(client_requests, tasks) : client_requests));
        CHECK(methods(sender::server, kind::request, at) == (last ? joined(from_server, tasks) : from_server));
        CHECK(methods(sender::client, kind::notification, at) ==
              (last ? joined(client_notes, {"notifications/tasks/status"}) : client_notes));
        CHECK(methods(sender::server, kind::notification, at) ==
              (last ? joined(server_notes, {"notifications/tasks/status", "notifications/elicitation/complete"})
                    : server_notes));
    }
}

TEST_CASE("methods of the other era do not exist", "[wire]")
{
    for (revision at : comcp::all_revisions) {
        for (const char* name : {"server/discover", "subscriptions/listen", "tasks/update", "foo/bar", ""}) {
            CHECK(legacy_codec().find(sender::client, kind::request, name, at) == nullptr);
        }
    }
}

TEST_CASE("methods name the capability that they need", "[wire]")
{
    const auto row = [](std::string_view name, revision at) {
        return legacy_codec().find(sender::client, kind::request, name, at);
    };
    CHECK(row("tools/call", r4)->capability == "tools");
    CHECK(row("tools/call", r4)->part.empty());
    CHECK(row("resources/subscribe", r1)->capability == "resources");
    CHECK(row("resources/subscribe", r1)->part == "subscribe");
    CHECK(row("completion/complete", r1)->capability.empty());
    CHECK(row("completion/complete", r2)->capability == "completions");
    CHECK(row("initialize", r4)->capability.empty());
    CHECK(row("ping", r4)->capability.empty());
    const auto* changed =
        legacy_codec().find(sender::server, kind::notification, "notifications/tools/list_changed", r4);
    CHECK(changed->capability == "tools");
    CHECK(changed->part == "listChanged");
}

TEST_CASE("batches, closed exchanges and unreadable ids are what each revision says", "[wire]")
{
    const auto& codec = legacy_codec();
    CHECK(codec.receives_batches(r1));
    CHECK(codec.receives_batches(r2));
    CHECK_FALSE(codec.receives_batches(r3));
    CHECK_FALSE(codec.receives_batches(r4));
    for (revision at : comcp::all_revisions) CHECK_FALSE(codec.close_cancels(at));
    CHECK(codec.null_error_id(r1));
    CHECK(codec.null_error_id(r2));
    CHECK(codec.null_error_id(r3));
    CHECK_FALSE(codec.null_error_id(r4));
}

// ---- params

TEST_CASE("call params always have arguments, and the token keeps its type", "[wire]")
{
    std::string out;
    legacy_codec().write_call_params(out, "greet", "", nullptr, r4);
    CHECK(out == R"({"name":"greet","arguments":{}})");
    out.clear();
    const comcp::progress_token number(7);
    legacy_codec().write_call_params(out, "a\"b", R"({"n":9007199254740993})", &number, r4);
    CHECK(out == R"({"name":"a\"b","arguments":{"n":9007199254740993},"_meta":{"progressToken":7}})");
    out.clear();
    const auto text = comcp::progress_token::string("7");
    legacy_codec().write_call_params(out, "x", "{}", &text, r1);
    CHECK(out == R"({"name":"x","arguments":{},"_meta":{"progressToken":"7"}})");
}

TEST_CASE("cancelled params have a reason only when there is one", "[wire]")
{
    std::string out;
    legacy_codec().write_cancelled_params(out, comcp::rpc::id(5), "", r4);
    CHECK(out == R"({"requestId":5})");
    out.clear();
    legacy_codec().write_cancelled_params(out, comcp::rpc::id::string("a"), "timed out", r1);
    CHECK(out == R"({"requestId":"a","reason":"timed out"})");
}

TEST_CASE("progress has a message from 2025-03-26 on", "[wire]")
{
    const comcp::progress_token token(1);
    comcp::progress now;
    now.value = 50;
    std::string out;
    legacy_codec().write_progress_params(out, token, now, r4);
    CHECK(out == R"({"progressToken":1,"progress":50})");
    now.value = 0.5;
    now.total = 100;
    now.message = "half";
    for (revision at : comcp::all_revisions) {
        out.clear();
        legacy_codec().write_progress_params(out, token, now, at);
        CHECK(out == (at == r1 ? R"({"progressToken":1,"progress":0.5,"total":100})"
                               : R"({"progressToken":1,"progress":0.5,"total":100,"message":"half"})"));
    }
}

TEST_CASE("a log message always has data", "[wire]")
{
    comcp::log_message message;
    message.level = comcp::log_level::warning;
    std::string out;
    legacy_codec().write_log_params(out, message, r4);
    CHECK(out == R"({"level":"warning","data":null})");
    message.logger = "db";
    message.data = {{"a", 1}};
    out.clear();
    legacy_codec().write_log_params(out, message, r1);
    CHECK(out == R"({"level":"warning","logger":"db","data":{"a":1}})");
}

// ---- tools

TEST_CASE("a tool is written with what each revision has", "[wire][F-4][F-10]")
{
    const auto item = comcp::read_tool(json_of(R"({"name":"n","title":"t","description":"d",
        "inputSchema":{"type":"object"},"outputSchema":{"type":"object","x":1},
        "annotations":{"title":"at","readOnlyHint":true,"openWorldHint":false},
        "icons":[{"src":"i","theme":"dark"}],"_meta":{"m":1},"execution":{"taskSupport":"optional"},"zz":null})"))
                          .value();
    CHECK(written(item, r1) == R"({"name":"n","description":"d","inputSchema":{"type":"object"},"zz":null})");
    CHECK(written(item, r2) == R"({"name":"n","description":"d","inputSchema":{"type":"object"},)"
                               R"("annotations":{"title":"at","readOnlyHint":true,"openWorldHint":false},"zz":null})");
    CHECK(written(item, r3) == R"({"name":"n","title":"t","description":"d","inputSchema":{"type":"object"},)"
                               R"("outputSchema":{"type":"object","x":1},)"
                               R"("annotations":{"title":"at","readOnlyHint":true,"openWorldHint":false},)"
                               R"("_meta":{"m":1},"zz":null})");
    CHECK(written(item, r4) == R"({"name":"n","title":"t","description":"d","inputSchema":{"type":"object"},)"
                               R"("outputSchema":{"type":"object","x":1},)"
                               R"("annotations":{"title":"at","readOnlyHint":true,"openWorldHint":false},)"
                               R"("icons":[{"src":"i","theme":"dark"}],"_meta":{"m":1},)"
                               R"("execution":{"taskSupport":"optional"},"zz":null})");
}

TEST_CASE("a bare tool has only what is required, and its schema always a type", "[wire][F-6]")
{
    comcp::tool item("n");
    for (revision at : comcp::all_revisions) {
        CHECK(written(item, at) == R"({"name":"n","inputSchema":{"type":"object"}})");
    }
    item.input_schema["properties"] = comcp::json::object();
    CHECK(written(item, r4) == R"({"name":"n","inputSchema":{"type":"object","properties":{}}})");
}

TEST_CASE("an output schema that is not of an object is not sent", "[wire][F-7]")
{
    for (const char* schema : {R"({"type":"array"})", R"({})", R"({"type":["object","null"]})", R"({"anyOf":[]})"}) {
        comcp::tool item("n");
        item.output_schema = json_of(schema).as_object();
        for (revision at : comcp::all_revisions) {
            CHECK(written(item, at) == R"({"name":"n","inputSchema":{"type":"object"}})");
        }
    }
}

// ---- content

TEST_CASE("blocks that all revisions have are written alike", "[wire]")
{
    for (revision at : comcp::all_revisions) {
        CHECK(written(comcp::content::text("a\"\n\xFF"), at) ==
              "{\"type\":\"text\",\"text\":\"a\\\"\\n\xEF\xBF\xBD\"}");
        CHECK(written(comcp::content::image("QQ==", "image/png"), at) ==
              R"({"type":"image","data":"QQ==","mimeType":"image/png"})");
        CHECK(written(comcp::content::resource("file:///a", "body"), at) ==
              R"({"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"body"}})");
        CHECK(written(comcp::content::resource_bytes("file:///a", "A", "x/y"), at) ==
              R"({"type":"resource","resource":{"uri":"file:///a","mimeType":"x/y","blob":"QQ=="}})");
        comcp::embedded_resource empty;
        empty.uri = "u";
        CHECK(written(comcp::content::resource(empty), at) ==
              R"({"type":"resource","resource":{"uri":"u","text":""}})");
    }
}

TEST_CASE("blocks that a revision lacks become text", "[wire][F-10]")
{
    const comcp::content audio = comcp::content::audio("QQ==", "audio/wav");
    CHECK(written(audio, r1) == R"({"type":"text","text":"[audio audio/wav, 1 bytes]"})");
    for (revision at : {r2, r3, r4}) {
        CHECK(written(audio, at) == R"({"type":"audio","data":"QQ==","mimeType":"audio/wav"})");
    }

    comcp::resource_link full;
    full.uri = "u";
    full.name = "n";
    full.title = "t";
    full.description = "d";
    full.mime_type = "m";
    full.size = 5;
    full.icons.emplace_back("i");
    const comcp::content link = comcp::content::link(full);
    for (revision at : {r1, r2}) {
        CHECK(written(link, at) ==
              R"({"type":"text","text":"[resource link u, name: n, title: t, type: m, 5 bytes, description: d]"})");
    }
    CHECK(written(link, r3) == R"({"type":"resource_link","uri":"u","name":"n","title":"t","description":"d",)"
                               R"("mimeType":"m","size":5})");
    CHECK(written(link, r4) == R"({"type":"resource_link","uri":"u","name":"n","title":"t","description":"d",)"
                               R"("mimeType":"m","size":5,"icons":[{"src":"i"}]})");
    CHECK(written(comcp::content::link("u", ""), r4) == R"({"type":"resource_link","uri":"u","name":"u"})");
}

TEST_CASE("annotations and _meta of a block follow the revision", "[wire]")
{
    comcp::content block = comcp::content::text("a");
    block.annotations.emplace();
    CHECK(written(block, r4) == R"({"type":"text","text":"a"})");
    block.annotations->last_modified = "2025-01-12T15:00:58Z";
    CHECK(written(block, r2) == R"({"type":"text","text":"a"})");
    block.annotations->audience = {"user"};
    block.annotations->priority = 0.5;
    block.meta["k"] = 1;
    for (revision at : {r1, r2}) {
        CHECK(written(block, at) == R"({"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5}})");
    }
    for (revision at : {r3, r4}) {
        CHECK(written(block, at) == R"({"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5,)"
                                    R"("lastModified":"2025-01-12T15:00:58Z"},"_meta":{"k":1}})");
    }
}

TEST_CASE("an unknown block goes on as it came, and what is no block becomes text", "[wire]")
{
    const comcp::content chart(comcp::unknown_content{json_of(R"({"type":"chart","n":[1]})")});
    CHECK(written(chart, r4) == R"({"type":"chart","n":[1]})");
    CHECK(written(comcp::content(comcp::unknown_content{nullptr}), r4) == R"({"type":"text","text":"null"})");
    CHECK(written(comcp::content(comcp::unknown_content{3}), r1) == R"({"type":"text","text":"3"})");
}

// ---- results

TEST_CASE("a text result is the same by both ways of writing it", "[wire]")
{
    for (revision at : comcp::all_revisions) {
        for (const char* text : {"", "hi", "a\"b\\c\n", "\u8A9E"}) {
            std::string fast;
            legacy_codec().write_text_result(fast, text, false, at);
            CHECK(fast == written(comcp::tool_result::text(text), at));
            fast.clear();
            legacy_codec().write_text_result(fast, text, true, at);
            CHECK(fast == written(comcp::tool_result::error(text), at));
        }
    }
    CHECK(written(comcp::tool_result::text("hi"), r4) == R"({"content":[{"type":"text","text":"hi"}]})");
    CHECK(written(comcp::tool_result::error("no"), r4) ==
          R"({"content":[{"type":"text","text":"no"}],"isError":true})");
    CHECK(written(comcp::tool_result(), r1) == R"({"content":[]})");
}

TEST_CASE("structured content is sent as an object, and only to who knows it", "[wire][F-7][F-8]")
{
    const auto [value, text, old_text, object] = GENERATE(table<std::string, std::string, std::string, std::string>({
        // the value, the text blocks beside it, those for who gets no structure, what is sent as structure
        {R"({"n":6})", "6 items", R"(,{"type":"text","text":"{\"n\":6}"})", R"({"n":6})"},
        {R"({"n":6})", R"({\"n\":6})", "", R"({"n":6})"},
    }));
    comcp::tool_result result;
    result.content.push_back(comcp::content::text(json_of('"' + text + '"').as_string().c_str()));
    result.structured = json_of(value);
    const std::string block = R"({"type":"text","text":")" + text + R"("})";
    for (revision at : {r1, r2}) CHECK(written(result, at) == R"({"content":[)" + block + old_text + "]}");
    for (revision at : {r3, r4}) {
        CHECK(written(result, at) == R"({"content":[)" + block + R"(],"structuredContent":)" + object + "}");
    }
}

TEST_CASE("structured content that is no object is wrapped, and always there as text too", "[wire][F-8]")
{
    for (const char* value : {"[1,2]", "5", "null", "true"}) {
        comcp::tool_result result;
        result.structured = json_of(value);
        const std::string content = R"({"content":[{"type":"text","text":")" + std::string(value) + R"("}])";
        for (revision at : {r1, r2}) CHECK(written(result, at) == content + "}");
        for (revision at : {r3, r4}) {
            CHECK(written(result, at) == content + R"(,"structuredContent":{"result":)" + value + "}}");
        }
        result.content.push_back(comcp::content::text("note"));
        CHECK(written(result, r4) == R"({"content":[{"type":"text","text":"note"},{"type":"text","text":")" +
                                         std::string(value) + R"("}],"structuredContent":{"result":)" + value + "}}");
    }
}

TEST_CASE("a result with structure alone gets its text block", "[wire][F-8]")
{
    comcp::tool_result result;
    result.structured = json_of(R"({"a":"b"})");
    result.is_error = true;
    result.meta["m"] = 1;
    CHECK(written(result, r4) ==
          R"({"content":[{"type":"text","text":"{\"a\":\"b\"}"}],"structuredContent":{"a":"b"},"isError":true,)"
          R"("_meta":{"m":1}})");
}

TEST_CASE("a relayed result keeps the digits of its numbers and stays on one line", "[wire]")
{
    const std::string text = "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"structuredContent\":{\n \"e\":1E400,"
                             "\r\n\"id\":9007199254740993,\"d\":123456789012345678901234567890}}";
    const auto read = comcp::read_tool_result(json_of(text).as_object(), text);
    CHECK(written(read, r4) == R"({"content":[{"type":"text","text":"x"}],"structuredContent":{ "e":1E400,)"
                               R"("id":9007199254740993,"d":123456789012345678901234567890}})");
}

TEST_CASE("no writer emits null for what is absent", "[wire]")
{
    comcp::tool_result result;
    result.content.push_back(comcp::content::text("a"));
    result.content.push_back(comcp::content::image("QQ==", "image/png"));
    result.content.push_back(comcp::content::link("u", "n"));
    result.content.push_back(comcp::content::resource("u", "t"));
    for (revision at : comcp::all_revisions) {
        CHECK(written(result, at).find("null") == std::string::npos);
        CHECK(written(comcp::tool("n"), at).find("null") == std::string::npos);
    }
}
