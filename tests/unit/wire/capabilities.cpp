// SPDX-License-Identifier: MIT
#include <comcp/wire/capabilities.hpp>

#include "catch.hpp"

using comcp::revision;

namespace
{

constexpr revision r1 = revision::r2024_11_05;
constexpr revision r2 = revision::r2025_03_26;
constexpr revision r3 = revision::r2025_06_18;
constexpr revision r4 = revision::r2025_11_25;

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

std::string client(std::string_view text, revision at)
{
    std::string out;
    comcp::wire::write_capabilities(out, comcp::client_capabilities(object(text)), at);
    return out;
}

std::string server(std::string_view text, revision at)
{
    std::string out;
    comcp::wire::write_capabilities(out, comcp::server_capabilities(object(text)), at);
    return out;
}

} // namespace

TEST_CASE("a client declares what the revision has", "[wire][B-7]")
{
    const char* all = R"({"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},)"
                      R"("elicitation":{"form":{},"url":{}},"tasks":{"list":{}}})";
    CHECK(client(all, r1) == R"({"roots":{"listChanged":true},"sampling":{}})");
    CHECK(client(all, r2) == client(all, r1));
    CHECK(client(all, r3) == R"({"roots":{"listChanged":true},"sampling":{},"elicitation":{}})");
    CHECK(client(all, r4) == all);
}

TEST_CASE("a server declares what the revision has", "[wire][B-8]")
{
    const char* all = R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},)"
                      R"("prompts":{},"logging":{},"completions":{},"tasks":{}})";
    const std::string first = R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},)"
                              R"("prompts":{},"logging":{})";
    CHECK(server(all, r1) == first + "}");
    CHECK(server(all, r2) == first + R"(,"completions":{}})");
    CHECK(server(all, r3) == server(all, r2));
    CHECK(server(all, r4) == all);
}

TEST_CASE("a client that only opens URLs declares no elicitation to a revision that has forms alone", "[wire][H-20]")
{
    CHECK(client(R"({"elicitation":{"url":{}}})", r3) == "{}");
    CHECK(client(R"({"elicitation":{"url":{}}})", r4) == R"({"elicitation":{"url":{}}})");
    CHECK(client(R"({"elicitation":{"form":{}}})", r3) == R"({"elicitation":{}})");
    CHECK(client(R"({"elicitation":{}})", r3) == R"({"elicitation":{}})");
}

TEST_CASE("capabilities that no revision names go out as they are", "[wire][B-9]")
{
    for (revision at : comcp::all_revisions) {
        CHECK(client(R"({"experimental":{"x":{"y":1}},"extensions":{"a/b":{}},"roots":{"later":1},"odd":5})", at) ==
              R"({"experimental":{"x":{"y":1}},"extensions":{"a/b":{}},"roots":{"later":1},"odd":5})");
        CHECK(server("{}", at) == "{}");
    }
}
