// SPDX-License-Identifier: MIT
//
// The tools of conformance_server that ask nobody: every kind of content, notices on the way, failure, a connection
// that ends in mid-call, and a schema that must come out as it went in.
#pragma once

#include <comcp/server/server.hpp>
#include <comcp/timer.hpp>

#include <boost/json/parse.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace conformance
{

namespace json = comcp::json;
using namespace std::chrono_literals;

/// One pixel, and two samples.
inline constexpr std::string_view png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
inline constexpr std::string_view wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

inline comcp::content picture() { return comcp::content::image(std::string(png), "image/png"); }

inline comcp::task<void> pause(comcp::duration time)
{
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    co_await timer.wait_for(time);
}

inline std::string simple_text() { return "This is a simple text response for testing."; }

inline comcp::content sound() { return comcp::content::audio(std::string(wav), "audio/wav"); }

inline comcp::content embedded_resource()
{
    return comcp::content::resource("test://embedded-resource", "This is an embedded resource content.");
}

inline std::vector<comcp::content> multiple_content_types()
{
    return {
        comcp::content::text("Multiple content types test:"),
        picture(),
        comcp::content::resource("test://mixed-content-resource", R"({"test":"data","value":123})", "application/json"),
    };
}

inline comcp::task<std::string> with_logging(comcp::context& call)
{
    call.log(comcp::log_level::info, "Tool execution started");
    co_await pause(50ms);
    call.log(comcp::log_level::info, "Tool processing data");
    co_await pause(50ms);
    call.log(comcp::log_level::info, "Tool execution completed");
    co_return "Tool with logging executed";
}

inline comcp::task<std::string> with_progress(comcp::context& call)
{
    call.progress(0, 100);
    co_await pause(50ms);
    call.progress(50, 100);
    co_await pause(50ms);
    call.progress(100, 100);
    co_return "Tool with progress executed";
}

inline std::string error_handling() { throw comcp::tool_error("This tool intentionally returns an error for testing"); }

/// The client has to come back for the answer.
inline comcp::task<std::string> reconnection(comcp::context& call)
{
    call.close_stream();
    co_await pause(100ms);
    co_return "Reconnection test completed successfully";
}

inline comcp::tool json_schema_tool()
{
    comcp::tool made("json_schema_2020_12_tool");
    made.description = "Tool with JSON Schema 2020-12 features";
    made.input_schema = json::parse(R"({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })")
                            .as_object();
    return made;
}

inline std::string json_schema_call(json::object given) { return std::to_string(given.size()) + " arguments"; }

inline void add_tools(comcp::server& to)
{
    to.tool("test_simple_text", "Returns simple text", simple_text);
    to.tool("test_image_content", "Returns an image", picture);
    to.tool("test_audio_content", "Returns audio", sound);
    to.tool("test_embedded_resource", "Returns an embedded resource", embedded_resource);
    to.tool("test_multiple_content_types", "Returns text, an image and a resource", multiple_content_types);
    to.tool("test_tool_with_logging", "Logs while it runs", with_logging);
    to.tool("test_tool_with_progress", "Reports progress", with_progress);
    to.tool("test_error_handling", "Always fails", error_handling);
    to.tool("test_reconnection", "Ends the connection before it answers", reconnection);
    to.raw_tool(json_schema_tool(), json_schema_call);
}

} // namespace conformance
