// SPDX-License-Identifier: MIT
#include <comcp/json/source.hpp>
#include <comcp/rpc/parse.hpp>

#include "catch.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

using namespace comcp;
using status = rpc::parsed::status;
using kind = rpc::message::kind;

namespace
{

// An id as it would be echoed; empty when there is none.
std::string echo(const rpc::id& id)
{
    std::string out;
    id.write(out);
    return out;
}

struct verdict
{
    status state;
    std::string id; // of the message, or of the invalid one that revealed it

    bool operator==(const verdict&) const = default;
};

verdict judge(rpc::parser& parser, std::string_view text)
{
    const rpc::parsed& got = parser.parse(text);
    CHECK(got.why.empty() == (got.state == status::message || got.state == status::batch));
    if (got.state == status::invalid) return {got.state, got.id_known ? echo(got.id) : ""};
    CHECK_FALSE(got.id_known);
    return {got.state, got.state == status::message && got.msg.has_id ? echo(got.msg.id) : ""};
}

std::string nested(std::size_t depth)
{
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
    return text + "1" + std::string(depth, '}');
}

} // namespace

TEST_CASE("JSON of the wrong shape is invalid, and only what is not JSON is a parse error (SHAPE 46)")
{
    rpc::parser parser;
    for (const char* text : {"null", "3", "\"x\"", "[]", "{}", "true", " [ ] "}) {
        INFO(text);
        CHECK(judge(parser, text) == verdict{status::invalid, ""});
        CHECK_FALSE(parser.parse(text).has_jsonrpc);
    }
    for (const char* text :
         {"", " ", "{", "}", "nul", "{} {}", "{}x", "{'a':1}", "{\"a\":1,}", "\xEF\xBB\xBF{}", "server up"}) {
        INFO(text);
        CHECK(judge(parser, text) == verdict{status::not_json, ""});
    }
}

TEST_CASE("requests and notifications are told apart by the id (ID 32)")
{
    rpc::parser parser;
    {
        const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"},"more":[]})";
        const rpc::parsed& got = parser.parse(text);
        REQUIRE(got.state == status::message);
        CHECK(got.has_jsonrpc);
        CHECK(got.msg.type == kind::request);
        CHECK(got.msg.has_id);
        CHECK(got.msg.id == rpc::id(1));
        CHECK(got.msg.method == "tools/list");
        REQUIRE(got.msg.params);
        CHECK(got.msg.params->at("cursor") == "x");
        CHECK_FALSE(got.msg.bad_params);
        CHECK(got.msg.text == text);
        CHECK(got.msg.text.data() == text.data());
    }
    {
        const rpc::parsed& got = parser.parse(R"({"method":"notifications/initialized","jsonrpc":"2.0"})");
        REQUIRE(got.state == status::message);
        CHECK(got.msg.type == kind::notification);
        CHECK_FALSE(got.msg.has_id);
        CHECK(got.msg.params == nullptr);
    }
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":null,"method":"tools/list"})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1.5,"method":"tools/list"})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":true,"method":"tools/list"})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":{},"method":"tools/list"})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":[1],"method":"tools/list"})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":5})") == verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":null})") == verdict{status::invalid, "1"});
    // Peers that write every field: null is absent.
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a","params":null,"result":null,"error":null})") ==
          verdict{status::message, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})") == verdict{status::invalid, "1"});
}

TEST_CASE("an id is read as it is written (ID 31)")
{
    rpc::parser parser;
    for (const char* id :
         {"\"init-1\"", "42", "\"req-abc\"", "-7", "9007199254740993", "0", "\"0\"", "\"\"", "-9223372036854775808",
          "9223372036854775808", "18446744073709551615", "18446744073709551616", "123456789012345678901234",
          "-123456789012345678901234", "\"\xE6\xA4\x9C\"", "\"a\\\"b\\\\\""}) {
        INFO(id);
        for (const char* rest : {R"("method":"ping")", R"("result":{})", R"("error":{"code":1,"message":"m"})"}) {
            const std::string before = R"({"id":)" + std::string(id) + R"(,"jsonrpc":"2.0",)" + rest + "}";
            const std::string after = R"({"jsonrpc":"2.0",)" + std::string(rest) + R"(, "id" : )" + id + " }";
            CHECK(judge(parser, before) == verdict{status::message, id});
            CHECK(judge(parser, after) == verdict{status::message, id});
        }
    }
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1.0,"method":"ping"})") == verdict{status::message, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","\u0069d":5,"method":"ping"})") == verdict{status::message, "5"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","params":{"id":7},"\u0069d":123456789012345678901234,"method":"ping"})") ==
          verdict{status::message, "123456789012345678901234"});
}

TEST_CASE("of two equal keys the last one counts")
{
    rpc::parser parser;
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a","id":2})") == verdict{status::message, "2"});
    CHECK(judge(parser, R"({"jsonrpc":"1.0","id":1,"method":"a","jsonrpc":"2.0"})") == verdict{status::message, "1"});
    CHECK(parser.parse(R"({"jsonrpc":"2.0","method":"a","method":"b"})").msg.method == "b");
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"id":123456789012345678901234,"method":"a"})") ==
          verdict{status::message, "123456789012345678901234"});
}

TEST_CASE("params that are no object are a fault of the request, which keeps its id")
{
    rpc::parser parser;
    for (const char* params : {"[]", "[1,2]", "\"x\"", "3", "false"}) {
        INFO(params);
        const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"a","params":)" + std::string(params) + "}";
        const rpc::parsed& got = parser.parse(text);
        REQUIRE(got.state == status::message);
        CHECK(got.msg.bad_params);
        CHECK(got.msg.params == nullptr);
        CHECK(got.msg.id == rpc::id(1));
    }
}

TEST_CASE("a response has exactly one of result and error (SHAPE 47)")
{
    rpc::parser parser;
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1})") == verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})") ==
          verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"error":"text"})") == verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"error":{}})") == verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}})") ==
          verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}})") ==
          verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}})") ==
          verdict{status::invalid, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"result":null})") == verdict{status::invalid, "1"});
    for (const char* result : {"[]", "3", "\"x\"", "true"}) {
        INFO(result);
        CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(result) + "}") ==
              verdict{status::invalid, "1"});
    }
    CHECK(judge(parser, R"({"jsonrpc":"2.0","result":{}})") == verdict{status::invalid, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":null,"result":{}})") == verdict{status::invalid, ""});

    const rpc::parsed& result = parser.parse(R"({"jsonrpc":"2.0","id":1,"error":null,"result":{"a":1}})");
    REQUIRE(result.state == status::message);
    CHECK(result.msg.type == kind::result);
    CHECK(result.msg.result->at("a") == 1);
    CHECK(result.msg.error == nullptr);

    const rpc::parsed& error =
        parser.parse(R"({"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32000,"message":"m","data":[1]}})");
    REQUIRE(error.state == status::message);
    CHECK(error.msg.type == kind::error);
    CHECK(error.msg.error->at("code") == -32000);
    CHECK(error.msg.result == nullptr);
}

TEST_CASE("an error may come without an id (ID 33)")
{
    rpc::parser parser;
    for (const char* id : {R"("id":null,)", ""}) {
        const std::string text =
            R"({"jsonrpc":"2.0",)" + std::string(id) + R"("error":{"code":-32700,"message":"Parse error"}})";
        const rpc::parsed& got = parser.parse(text);
        REQUIRE(got.state == status::message);
        CHECK(got.msg.type == kind::error);
        CHECK_FALSE(got.msg.has_id);
    }
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":true,"error":{"code":1,"message":"m"}})") ==
          verdict{status::invalid, ""});
}

TEST_CASE("an object without the version is told from a broken message (FRAME 4)")
{
    rpc::parser parser;
    CHECK_FALSE(parser.parse(R"({"level":"info","msg":"db ready"})").has_jsonrpc);
    CHECK_FALSE(parser.parse(R"({"jsonrpc":"1.0","id":1,"method":"a"})").has_jsonrpc);
    CHECK_FALSE(parser.parse(R"({"jsonrpc":2.0,"id":1,"method":"a"})").has_jsonrpc);
    CHECK(parser.parse(R"({"jsonrpc":"2.0"})").has_jsonrpc);
    CHECK(parser.parse(R"({"jsonrpc":"2.0","id":1,"method":5})").has_method);
    CHECK_FALSE(parser.parse(R"({"jsonrpc":"2.0","id":1,"result":3})").has_method);
    // It can be answered by its id all the same.
    CHECK(judge(parser, R"({"id":1,"method":"a"})") == verdict{status::invalid, "1"});
}

TEST_CASE("a batch is judged element by element (A-9)")
{
    rpc::parser parser;
    const std::string text =
        R"( [ {"jsonrpc":"2.0","id":"],[\"","method":"a"} ,3, [] ,)"
        R"({"jsonrpc":"2.0","id":123456789012345678901234,"result":{"x":[1,{"y":"}"}]}},{"id":5}])";
    const rpc::parsed& got = parser.parse(text);
    REQUIRE(got.state == status::batch);
    REQUIRE(got.elements.size() == 5);
    CHECK(got.elements[0].state == status::message);
    CHECK(got.elements[0].msg.id == rpc::id::string("],[\""));
    CHECK(got.elements[0].msg.text == R"({"jsonrpc":"2.0","id":"],[\"","method":"a"})");
    CHECK(got.elements[1].state == status::invalid);
    CHECK(got.elements[2].state == status::invalid);
    CHECK(got.elements[3].state == status::message);
    CHECK(got.elements[3].msg.id == rpc::id::integer_text("123456789012345678901234"));
    CHECK(member_source(got.elements[3].msg.text, "result") == R"({"x":[1,{"y":"}"}]})");
    CHECK(got.elements[4].state == status::invalid);
    CHECK(got.elements[4].id_known);
    CHECK(got.elements[4].id == rpc::id(5));
    CHECK(got.elements[4].msg.text == R"({"id":5})");
}

TEST_CASE("a batch has at most 1024 messages")
{
    rpc::parser parser;
    std::string text = "[{}";
    for (std::size_t i = 1; i < rpc::parser::max_batch; ++i) text += ",{}";
    CHECK(parser.parse(text + "]").elements.size() == 1024);
    CHECK(judge(parser, text + ",{}]") == verdict{status::invalid, ""});
    CHECK(parser.parse(text + ",{}]").elements.empty());
    parser.clear();
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a"})") == verdict{status::message, "1"});
}

TEST_CASE("text that is not UTF-8 is not JSON (FRAME 7)")
{
    rpc::parser parser;
    CHECK(judge(parser, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a\",\"params\":{\"t\":\"\xC3\x28\"}}") ==
          verdict{status::not_json, ""});
    CHECK(judge(parser, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a\",\"\xFF\":1}") == verdict{status::not_json, ""});
    CHECK(judge(parser, "{\"jsonrpc\":\"2.0\",\"id\":\"\xED\xA0\x80\",\"method\":\"a\"}") ==
          verdict{status::not_json, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":3,"method":"a"})") == verdict{status::message, "3"});
}

TEST_CASE("nesting is limited (SEC 143)")
{
    rpc::parser parser(8);
    CHECK(judge(parser, nested(8)) == verdict{status::invalid, ""});
    CHECK(judge(parser, nested(9)) == verdict{status::too_deep, ""});
    CHECK(judge(parser, nested(10000)) == verdict{status::too_deep, ""});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a","params":)" + nested(7) + "}") ==
          verdict{status::message, "1"});
    CHECK(judge(parser, R"({"jsonrpc":"2.0","id":1,"method":"a","params":)" + nested(8) + "}") ==
          verdict{status::too_deep, ""});
    CHECK(judge(parser, std::string(10000, '[')) == verdict{status::too_deep, ""});

    rpc::parser usual;
    CHECK(judge(usual, nested(64)) == verdict{status::invalid, ""});
    CHECK(judge(usual, nested(65)) == verdict{status::too_deep, ""});
}

TEST_CASE("a parser is used again after any text")
{
    rpc::parser parser;
    const std::string large =
        R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"t":")" + std::string(100000, 'x') + "\"}}";
    for (int round = 0; round < 200; ++round) { // a first block that grew at each round would fail long before
        REQUIRE(judge(parser, large) == verdict{status::message, "1"});
        REQUIRE(judge(parser, "[{},{}]").state == status::batch);
        REQUIRE(judge(parser, "no").state == status::not_json);
        REQUIRE(judge(parser, R"({"jsonrpc":"2.0","method":"b"})") == verdict{status::message, ""});
        REQUIRE(parser.parse("{}").elements.empty());
    }
}

TEST_CASE("a message in the usual order is read as in any other spelling")
{
    rpc::parser usual(8);
    rpc::parser general(8);
    const auto same = [&](const std::string& text) {
        INFO(text);
        const rpc::parsed& got = usual.parse(text);
        const std::string spaced = text + ' '; // which is enough to be out of the usual form
        const rpc::parsed& wanted = general.parse(spaced);
        CHECK(got.state == wanted.state);
        if (got.state == status::invalid) CHECK(got.why == wanted.why);
        CHECK(got.has_jsonrpc == wanted.has_jsonrpc);
        CHECK(got.has_method == wanted.has_method);
        CHECK(got.id_known == wanted.id_known);
        if (got.id_known) CHECK(got.id == wanted.id);
        if (got.state != status::message) return;
        CHECK(got.msg.type == wanted.msg.type);
        REQUIRE(got.msg.has_id == wanted.msg.has_id);
        if (got.msg.has_id) CHECK(got.msg.id == wanted.msg.id);
        CHECK(got.msg.method == wanted.msg.method);
        CHECK(got.msg.bad_params == wanted.msg.bad_params);
        CHECK(got.msg.text == text);
        const auto same_object = [](const json::object* a, const json::object* b) {
            REQUIRE((a == nullptr) == (b == nullptr));
            if (a) CHECK(*a == *b);
        };
        same_object(got.msg.params, wanted.msg.params);
        same_object(got.msg.result, wanted.msg.result);
        same_object(got.msg.error, wanted.msg.error);
    };

    const std::string_view bodies[] = {
        "{}",
        R"({"a":[1,2,{"b":"c"}]})",
        " {} ",
        "null",
        "3",
        "[]",
        "\"x\"",
        "",
        "{",
        "}",
        "{}}",
        "{}{}",
        "{}x",
        R"({},"id":2)",
        R"({},"result":{"x":1})",
        R"({},"error":{"code":1,"message":"m"})",
        R"({},"method":"b")",
        R"({},"params":{"x":1})",
        R"({},"more":[1])",
        R"({"a":1,"a":2})",
        "{\"a\":\"\xFF\"}",
    };
    const std::string_view ids[] = {"0",
                                    "7",
                                    "-7",
                                    "01",
                                    "1.0",
                                    "1e3",
                                    "null",
                                    "\"7\"",
                                    "",
                                    "-0",
                                    "123456789012345",
                                    "1234567890123456",
                                    "12345678901234567890123"};
    const std::string_view methods[] = {"a",          "tools/call", "",     "a b",  R"(a\"b)",
                                        R"(a\u0062)", "\xC3\xA4",   "\xFF", "a\x7F"};
    for (const std::string_view body : bodies) {
        for (const std::string_view id : ids) {
            const std::string head = R"({"jsonrpc":"2.0","id":)" + std::string(id);
            const std::string tail = std::string(body) + '}';
            same(head + R"(,"result":)" + tail);
            same(head + R"(, "result":)" + tail);
            for (const std::string_view method : methods)
                same(head + R"(,"method":")" + std::string(method) + R"(","params":)" + tail);
        }
    }
    const std::string whole = R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"t":"}"}})";
    for (std::size_t size = 0; size <= whole.size(); ++size) same(whole.substr(0, size));
    for (std::size_t depth = 5; depth <= 9; ++depth) same(R"({"jsonrpc":"2.0","id":1,"result":)" + nested(depth) + '}');
}
