// SPDX-License-Identifier: MIT
#include <comcp/http/media.hpp>

#include "catch.hpp"

using namespace comcp::http;

TEST_CASE("Media types are compared without parameters and case")
{
    constexpr auto json = "application/json";
    for (const char* text : {"application/json", "application/json; charset=utf-8", "Application/JSON",
                             "application/json;charset=\"UTF-8\"", "application/json ;a=b;c", " application/json\t",
                             "application/json;"}) {
        INFO(text);
        CHECK(is_media_type(text, json));
    }
    for (const char* text : {"", "application", "application/", "/json", "application/json5", "application/jso",
                             "text/json", "application / json", "application/json, text/plain", "application/json/x",
                             "application/*", "*/*", "application/json charset=utf-8", "\"application/json\""}) {
        INFO(text);
        CHECK_FALSE(is_media_type(text, json));
    }
    CHECK(has_media_type({{"content-type", "application/json;x"}}, json));
    CHECK_FALSE(has_media_type({}, json));
    CHECK_FALSE(has_media_type({{"Content-Type", "application/json"}, {"Content-Type", "application/json"}}, json));
}

TEST_CASE("The parameters of a media type are found and unquoted")
{
    const auto parsed = parse_media_type("Text/Plain; charset=utf-8 ;B=\"x;\\\"y\\\\\"; c; d=\"open");
    REQUIRE(parsed);
    CHECK(parsed->type == "Text");
    CHECK(parsed->subtype == "Plain");
    CHECK(parsed->is("text/plain"));
    CHECK_FALSE(parsed->is("text"));
    CHECK(parsed->parameter("Charset") == "utf-8");
    CHECK(parsed->parameter("b") == "x;\"y\\");
    CHECK_FALSE(parsed->parameter("c"));
    CHECK(parsed->parameter("d") == "open");
}

TEST_CASE("What a peer accepts is decided by its most specific range")
{
    constexpr auto json = "application/json";
    constexpr auto events = "text/event-stream";
    const auto both = [&](const char* accept, int for_json, int for_events) {
        INFO(accept);
        CHECK(accept_weight(accept, json) == for_json);
        CHECK(accept_weight(accept, events) == for_events);
        CHECK(accepts(accept, json) == (for_json > 0));
    };
    both("application/json, text/event-stream", 1000, 1000);
    both("text/event-stream", 0, 1000);
    both("*/*", 1000, 1000);
    both("application/*;q=0.9, text/event-stream", 900, 1000);
    both("application/*", 1000, 0);
    both("APPLICATION/JSON;Q=0.5;x=y", 500, 0);
    both("application/json;charset=utf-8", 1000, 0);
    both("application/json;q=0, */*", 0, 1000);
    both("*/*, application/json;q=0", 0, 1000);
    both("*/*;q=0.1, application/*;q=0.25, application/json;q=0.001", 1, 100);
    both("*/*;q=0", 0, 0);
    both("application/json;q=0, application/json", 1000, 0);
    both("text/html", 0, 0);
    both("", 1000, 1000);
    both(" , ", 1000, 1000);
    both("application/json;q=1.000, text/event-stream;q=0.", 1000, 0);
    both("application/json ; q=0.3 , text/event-stream ; a=\",;q=0\" ; q=0.4", 300, 400);
    both("*/json", 0, 0);

    // A damaged item is as if it were not there.
    for (const char* bad : {"application/json;q=2", "application/json;q=1.001", "application/json;q=0.0001",
                            "application/json;q=", "application/json;q=-1", "application/json;q=x", "application",
                            "application/json;q=0,5", "application/json;q=0x1", "/", "*"}) {
        INFO(bad);
        CHECK(accept_weight(std::string("text/event-stream;q=0.7, ") + bad, events) == 700);
    }
    CHECK(accept_weight("text/html, application/json;q=2", json) == 0);
    CHECK(accept_weight("application/json;q=2", json) == 1000); // nothing that could be understood was said
}

TEST_CASE("Accept may stand on several lines, or on none")
{
    const fields two{{"Accept", "application/json;q=0.5"}, {"X", "text/html"}, {"accept", "text/event-stream"}};
    CHECK(accept_weight(two, "application/json") == 500);
    CHECK(accepts(two, "text/event-stream"));
    CHECK_FALSE(accepts(two, "text/html"));
    CHECK(accepts(fields{}, "text/html"));
}
