// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/wire/handshake.hpp>

#include "catch.hpp"

using comcp::revision;

namespace
{

comcp::json::object object(std::string_view text) { return comcp::parse_json(text, 64).value().as_object(); }

comcp::identity demo()
{
    std::vector<comcp::icon> icons;
    icons.emplace_back("https://x/i.png", "image/png").sizes = {"48x48"};
    return comcp::identity("demo", "0.1").title("Demo").description("d\"").website_url("https://x/").icons(icons);
}

comcp::result<comcp::wire::initialize_result> answer(std::string_view text)
{
    return comcp::wire::read_initialize_result(object(text), comcp::latest_legacy);
}

} // namespace

TEST_CASE("the server answers a known revision with itself and any other text with its newest", "[wire][B-3]")
{
    for (revision r : comcp::all_revisions) CHECK(comcp::wire::negotiate(to_string(r)) == r);
    // The revision without a handshake is never negotiated by one (B-4).
    for (const char* text : {"", "1999-01-01", "2099-01-01", "2026-07-28", "2025-11-24", "nonsense"}) {
        CHECK(comcp::wire::negotiate(text) == revision::r2025_11_25);
    }
}

TEST_CASE("initialize params are written as the offered revision has them", "[wire]")
{
    const auto [at, client] = GENERATE(table<revision, std::string>({
        {revision::r2024_11_05, R"({"name":"demo","version":"0.1"})"},
        {revision::r2025_03_26, R"({"name":"demo","version":"0.1"})"},
        {revision::r2025_06_18, R"({"name":"demo","version":"0.1","title":"Demo"})"},
        {revision::r2025_11_25,
         R"({"name":"demo","version":"0.1","title":"Demo","description":"d\"","websiteUrl":"https://x/",)"
         R"("icons":[{"src":"https://x/i.png","mimeType":"image/png","sizes":["48x48"]}]})"},
    }));
    std::string out;
    comcp::wire::write_initialize_params(out, at, R"({"roots":{}})", demo());
    CHECK(out == R"({"protocolVersion":")" + std::string(to_string(at)) +
                     R"(","capabilities":{"roots":{}},"clientInfo":)" + client + "}");
}

TEST_CASE("absent optional members of an identity are not written, least of all as null", "[wire]")
{
    std::string out;
    comcp::wire::write_initialize_params(out, comcp::latest_legacy, comcp::client_capabilities(),
                                         comcp::identity("cpp", "1"));
    CHECK(out == R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cpp","version":"1"}})");
    out.clear();
    comcp::wire::write_initialize_params(out, comcp::latest_legacy, "", comcp::identity("cpp", "1"));
    CHECK(out == R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cpp","version":"1"}})");
}

TEST_CASE("the initialize result is written with and without instructions", "[wire]")
{
    comcp::server_capabilities capabilities;
    capabilities.declare("tools", "listChanged");
    std::string out;
    comcp::wire::write_initialize_result(out, revision::r2025_06_18, capabilities, comcp::identity("srv", "1"));
    CHECK(out == R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},)"
                 R"("serverInfo":{"name":"srv","version":"1"}})");
    out.clear();
    comcp::wire::write_initialize_result(out, revision::r2024_11_05, {}, comcp::identity("srv", "1"), "be\nkind");
    CHECK(out == R"({"protocolVersion":"2024-11-05","capabilities":{},)"
                 R"("serverInfo":{"name":"srv","version":"1"},"instructions":"be\nkind"})");
}

TEST_CASE("what is written reads back", "[wire]")
{
    std::string out;
    comcp::client_capabilities wants;
    wants.declare("roots", "listChanged");
    comcp::wire::write_initialize_params(out, comcp::latest_legacy, wants, demo());
    const auto params = comcp::wire::read_initialize_params(object(out));
    CHECK(params.protocol_version == "2025-11-25");
    CHECK(params.capabilities.has("roots", "listChanged"));
    CHECK(params.client.description() == "d\"");
    CHECK(params.client.icons().at(0).sizes.at(0) == "48x48");

    out.clear();
    comcp::server_capabilities has;
    has.declare("tools");
    comcp::wire::write_initialize_result(out, revision::r2025_03_26, has, comcp::identity("srv", "1"), "hello");
    const auto got = answer(out);
    REQUIRE(got.has_value());
    CHECK(got->version == revision::r2025_03_26);
    CHECK(got->capabilities.has("tools"));
    CHECK(got->server.name() == "srv");
    CHECK(got->instructions == "hello");
}

TEST_CASE("initialize params are never a fault, whatever is missing", "[wire]")
{
    for (const char* text : {"{}", R"({"protocolVersion":null,"capabilities":null,"clientInfo":null})",
                             R"({"protocolVersion":20250618,"capabilities":[],"clientInfo":"x"})"}) {
        const auto params = comcp::wire::read_initialize_params(object(text));
        CHECK(params.protocol_version.empty());
        CHECK(params.capabilities.raw().empty());
        CHECK(params.client.name().empty());
        CHECK(comcp::wire::negotiate(params.protocol_version) == comcp::latest_legacy);
    }
    const auto grown = comcp::wire::read_initialize_params(
        object(R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"zzz":1},"zzz":{}}})"));
    CHECK(grown.capabilities.has("elicitation", "form"));
    CHECK(grown.capabilities.has("zzz"));
}

TEST_CASE("an answer without a usable version is a fault that names what was offered", "[wire]")
{
    const auto [text, code, why] = GENERATE(table<std::string, comcp::errc, std::string>({
        {R"({"protocolVersion":"1999-01-01"})", comcp::errc::unsupported, "the unknown protocolVersion \"1999-01-01\""},
        {R"({"protocolVersion":""})", comcp::errc::unsupported, "the unknown protocolVersion \"\""},
        {R"({"protocolVersion":"2026-07-28"})", comcp::errc::unsupported, "the unknown protocolVersion \"2026-07-28\""},
        {R"({})", comcp::errc::invalid_message, "no protocolVersion"},
        {R"({"protocolVersion":null})", comcp::errc::invalid_message, "no protocolVersion"},
        {R"({"protocolVersion":20250618})", comcp::errc::invalid_message, "a protocolVersion that is not a string"},
    }));
    CAPTURE(text);
    const auto got = answer(text);
    REQUIRE(got.has_error());
    CHECK(got.error().code == code);
    CHECK(got.error().text ==
          "the server answered initialize with " + why + "; we offered protocolVersion \"2025-11-25\"");
}

TEST_CASE("an answer with nothing but a version is enough", "[wire]")
{
    for (const char* text :
         {R"({"protocolVersion":"2025-06-18"})",
          R"({"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":null,"instructions":null,"zzz":1})"}) {
        const auto got = answer(text);
        REQUIRE(got.has_value());
        CHECK(got->version == revision::r2025_06_18);
        CHECK(got->capabilities.raw().empty());
        CHECK(got->server.name().empty());
        CHECK(got->instructions.empty());
    }
}
