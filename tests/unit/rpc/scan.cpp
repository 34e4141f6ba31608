// SPDX-License-Identifier: MIT
#include <comcp/rpc/scan.hpp>

#include "catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>

using namespace comcp;

namespace
{

// The facts in one line, to compare them at once.
std::string print(const rpc::oversize_facts& facts)
{
    std::string out = facts.object ? "object" : "other";
    if (facts.id_present) out += " id=";
    if (facts.id_known) facts.id.write(out);
    if (facts.has_method) out += " method=" + facts.method;
    if (facts.has_result) out += " result";
    if (facts.has_error) out += " error";
    return out;
}

std::string scan(std::string_view text)
{
    rpc::oversize_scanner whole;
    whole.feed(text);
    CHECK(whole.facts().bytes == text.size());
    const std::string expected = print(whole.facts());

    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        rpc::oversize_scanner scanner;
        scanner.feed(text.substr(0, cut));
        scanner.feed(text.substr(cut));
        if (print(scanner.facts()) != expected) FAIL("cut at " << cut << ": " << print(scanner.facts()));
    }
    rpc::oversize_scanner bytes;
    for (const char& byte : text) bytes.feed({&byte, 1});
    CHECK(print(bytes.facts()) == expected);
    return expected;
}

} // namespace

TEST_CASE("the id is found wherever it stands")
{
    const std::string big = R"({"name":"t","arguments":{"id":"no","s":"}{\"],\\","a":[[{}],"]"]}})";
    CHECK(scan(R"({"jsonrpc":"2.0","id":17,"method":"tools/call","params":)" + big + "}") ==
          "object id=17 method=tools/call");
    CHECK(scan(R"({"jsonrpc":"2.0","method":"tools/call","params":)" + big + R"(,"id":17})") ==
          "object id=17 method=tools/call");
    CHECK(scan(R"({"result":)" + big + R"( , "id" : "a\"b" , "jsonrpc":"2.0"})") == R"(object id="a\"b" result)");
    CHECK(scan(R"({"error":)" + big + R"(,"id":null})") == "object id= error");
    CHECK(scan(R"( { "method" : "notifications/message" , "params":)" + big + " } ") ==
          "object method=notifications/message");
    CHECK(scan(R"({"\u0069d":9007199254740993,"meth\u006fd":"a\u002fb","x\"id":3})") ==
          "object id=9007199254740993 method=a/b");
    CHECK(scan(R"({"\u006d\u0065\u0074\u0068\u006f\u0064":"m"})") == "object method=m");
}

TEST_CASE("nested members and text in strings are not taken for the envelope")
{
    CHECK(scan(R"({"params":{"id":1,"method":"x","result":{},"error":{}},"s":"\"id\":2,"})") == "object");
    CHECK(scan(R"({"a":["id",1,{"id":2}],"b":"id","c":"\\","id":3})") == "object id=3");
    CHECK(scan(R"({"a":"\\\"","id":4})") == "object id=4");
    CHECK(scan(R"({"a":"{[","b":"]}","id":5}{"id":6})") == "object id=5");
    CHECK(scan(R"({"idx":1,"i":2,"":3,"ID":4})") == "object");
}

TEST_CASE("an id that cannot be echoed is not known")
{
    for (const char* id : {"null", "1.5", "true", "{}", "[1]", "01", "1e3", "\"\xC3\x28\"", "\"\\q\"", "\"\n\""}) {
        INFO(id);
        CHECK(scan(R"({"id":)" + std::string(id) + R"(,"method":"m"})") == "object id= method=m");
    }
    CHECK(scan(R"({"id":-7})") == "object id=-7");
    CHECK(scan(R"({"id":123456789012345678901234})") == "object id=123456789012345678901234");
    CHECK(scan(R"({"id":""})") == R"(object id="")");
}

TEST_CASE("null counts as absent and the last of equal keys counts")
{
    CHECK(scan(R"({"result":{},"error":null,"id":1})") == "object id=1 result");
    CHECK(scan(R"({"result":null,"error":{},"id":1})") == "object id=1 error");
    CHECK(scan(R"({"method":null,"id":1,"id":2})") == "object id=2");
    CHECK(scan(R"({"id":1,"id":null})") == "object id=");
    CHECK(scan(R"({"method":5,"id":"x"})") == R"(object id="x")");
}

TEST_CASE("what is kept of an id and a method is limited")
{
    const std::string id256(256, 'i');
    const std::string method128(128, 'm');
    CHECK(scan(R"({"id":")" + id256 + R"(","method":")" + method128 + "\"}") ==
          "object id=\"" + id256 + "\" method=" + method128);
    CHECK(scan(R"({"id":")" + id256 + R"(i","method":")" + method128 + "m\"}") == "object id= method=");
    CHECK(scan(R"({"id":)" + std::string(256, '1') + "}") == "object id=" + std::string(256, '1'));
    CHECK(scan(R"({"id":)" + std::string(257, '1') + "}") == "object id=");
    CHECK(scan("{\"" + std::string(300, 'k') + R"(":1,"id":2})") == "object id=2");
}

TEST_CASE("what is no object has no facts")
{
    for (const char* text : {"", " ", "null", "\"id\"", "3", "server {\"id\":1}", R"([{"id":1,"method":"a"}])"}) {
        INFO(text);
        CHECK(scan(text) == "other");
    }
    for (const char* text : {"{", "{\"id\"", "{\"id\":", "{}}}]", "{]", "{\"a\":]}", "{\"a\" 1}", "{,,}"}) {
        INFO(text);
        CHECK(scan(text) == "object");
    }
}

TEST_CASE("strings full of quotes and backslashes take time in proportion to their size")
{
    for (const char* unit : {"\\\\", "\\\"", "x"}) {
        std::string text = R"({"params":{"t":")";
        while (text.size() < 4 * 1024 * 1024) text += unit;
        text += R"("},"id":8})";
        rpc::oversize_scanner scanner;
        scanner.feed(text); // were each backslash to search to the end for a quote, this would take hours
        CHECK(print(scanner.facts()) == "object id=8");
    }
}
