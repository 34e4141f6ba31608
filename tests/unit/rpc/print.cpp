// SPDX-License-Identifier: MIT
#include <comcp/rpc/parse.hpp>
#include <comcp/rpc/print.hpp>

#include "catch.hpp"

#include <string>

using namespace comcp;

TEST_CASE("messages are appended as one line of JSON")
{
    std::string out = "before ";
    SECTION("a request with a number")
    {
        rpc::write_request(out, 7, "tools/call", R"({"name":"a"})");
        CHECK(out == R"(before {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}})");
    }
    SECTION("a request with an id")
    {
        rpc::write_request(out, rpc::id::string("7"), "ping");
        CHECK(out == R"(before {"jsonrpc":"2.0","id":"7","method":"ping"})");
    }
    SECTION("a notification")
    {
        rpc::write_notification(out, "notifications/initialized");
        CHECK(out == R"(before {"jsonrpc":"2.0","method":"notifications/initialized"})");
    }
    SECTION("a notification with params")
    {
        rpc::write_notification(out, "n", R"({"a":1})");
        CHECK(out == R"(before {"jsonrpc":"2.0","method":"n","params":{"a":1}})");
    }
    SECTION("a result")
    {
        rpc::write_result(out, rpc::id(-7), "{}");
        CHECK(out == R"(before {"jsonrpc":"2.0","id":-7,"result":{}})");
    }
    SECTION("a result in parts")
    {
        rpc::begin_result(out, rpc::id(1));
        out += R"({"content":[]})";
        rpc::end_message(out);
        CHECK(out == R"(before {"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
    }
    SECTION("an error")
    {
        const rpc::id id(1);
        rpc::write_error(out, &id, -32601, "no \"x\"\n", R"({"a":null})");
        CHECK(out ==
              R"(before {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \"x\"\n","data":{"a":null}}})");
    }
    SECTION("an error without an id")
    {
        rpc::write_error(out, nullptr, -32700, "not JSON");
        CHECK(out == R"(before {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}})");
    }
}

TEST_CASE("a message stays on one line whatever is put into it (FRAME 8)")
{
    std::string out = "kept\n";
    rpc::write_result(out, rpc::id::string("a\nb"), "{\r\n  \"k\": 1,\n  \"s\": \"x\\ny\"\n}\n");
    CHECK(out == "kept\n{\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"result\":{    \"k\": 1,   \"s\": \"x\\ny\" } }");

    out.clear();
    rpc::write_request(out, 1, "a\"\r\nb", "{\n}");
    CHECK(out == R"({"jsonrpc":"2.0","id":1,"method":"a\"\r\nb","params":{ }})");

    out.clear();
    rpc::write_error(out, nullptr, 1, "", "[\n]");
    CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"","data":[ ]}})");
}

TEST_CASE("what is printed is read back as the same message")
{
    rpc::parser parser;
    std::string out;
    rpc::write_request(out, 9007199254740993, "m\xE2\x80\x94", R"({"a":1})");
    const rpc::parsed& request = parser.parse(out);
    REQUIRE(request.state == rpc::parsed::status::message);
    CHECK(request.msg.type == rpc::message::kind::request);
    CHECK(request.msg.id == rpc::id(9007199254740993));
    CHECK(request.msg.method == "m\xE2\x80\x94");
    REQUIRE(request.msg.params);
    CHECK(request.msg.params->at("a") == 1);

    out.clear();
    rpc::write_error(out, nullptr, -32603, "x");
    const rpc::parsed& error = parser.parse(out);
    REQUIRE(error.state == rpc::parsed::status::message);
    CHECK(error.msg.type == rpc::message::kind::error);
    CHECK_FALSE(error.msg.has_id);
}
