// SPDX-License-Identifier: MIT
//
// The resources and prompts of conformance_server, with completion.
#pragma once

#include "server_tools.hpp"

#include <string>
#include <vector>

namespace conformance
{

// ---- resources

inline std::string static_text() { return "This is the content of the static text resource."; }

inline comcp::resource_contents static_binary()
{
    comcp::resource_contents made;
    made.uri = "test://static-binary";
    made.mime_type = "image/png";
    made.blob = std::string(png);
    return made;
}

inline std::string watched() { return "This is the content of the watched resource."; }

struct entry
{
    std::string id;
};
BOOST_DESCRIBE_STRUCT(entry, (), (id))

inline std::string data_of(entry of)
{
    std::string text;
    comcp::write_value(text, json::object{{"id", of.id}, {"templateTest", true}, {"data", "Data for ID: " + of.id}});
    return text;
}

inline void add_resources(comcp::server& to)
{
    to.resource("test://static-text", "Static text", static_text)
        .description("A text that does not change")
        .mime_type("text/plain");
    to.resource("test://static-binary", "Static binary", static_binary)
        .description("An image that does not change")
        .mime_type("image/png");
    to.resource("test://watched-resource", "Watched resource", watched)
        .description("A text to subscribe to")
        .mime_type("text/plain");
    to.resource_template("test://template/{id}/data", "Data by id", data_of)
        .description("The data that belongs to an id")
        .mime_type("application/json");
}

// ---- prompts

struct two_args
{
    std::string arg1;
    std::string arg2;
};
BOOST_DESCRIBE_STRUCT(two_args, (), (arg1, arg2))

struct resource_args
{
    std::string resourceUri; // named as on the wire
};
BOOST_DESCRIBE_STRUCT(resource_args, (), (resourceUri))

inline std::string simple_prompt() { return "This is a simple prompt for testing."; }

inline std::string prompt_with_arguments(two_args given)
{
    return "Prompt with arguments: arg1='" + given.arg1 + "', arg2='" + given.arg2 + "'";
}

inline std::vector<comcp::prompt_message> prompt_with_resource(resource_args given)
{
    return {
        {comcp::role::user, comcp::content::resource(given.resourceUri, "Embedded resource content for testing.")},
        comcp::prompt_message::user("Please process the embedded resource above."),
    };
}

inline std::vector<comcp::prompt_message> prompt_with_image()
{
    return {
        {comcp::role::user, picture()},
        comcp::prompt_message::user("Please analyze the image above."),
    };
}

inline void add_prompts(comcp::server& to)
{
    to.prompt("test_simple_prompt", "A prompt without arguments", simple_prompt);
    to.prompt("test_prompt_with_arguments", "A prompt with two arguments", prompt_with_arguments)
        .argument("arg1", "First test argument")
        .argument("arg2", "Second test argument")
        .complete("arg1", std::vector<std::string>{"paris", "park", "party", "testValue1"});
    to.prompt("test_prompt_with_embedded_resource", "A prompt with a resource in it", prompt_with_resource)
        .argument("resourceUri", "URI of the resource to embed");
    to.prompt("test_prompt_with_image", "A prompt with an image in it", prompt_with_image);
}

inline void add_catalog(comcp::server& to)
{
    add_resources(to);
    add_prompts(to);
}

} // namespace conformance
