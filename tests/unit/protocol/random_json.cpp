// SPDX-License-Identifier: MIT
// Every reader on generated JSON: it ends, and what it gives can be written again, within bounds. The same seed gives
// the same JSON on every machine.
#include <comcp/error.hpp>
#include <comcp/protocol/flatten.hpp>
#include <comcp/protocol/uri_template.hpp>
#include <comcp/wire/capabilities.hpp>
#include <comcp/wire/handshake.hpp>
#include <comcp/wire/legacy.hpp>

#include "catch.hpp"

#include <array>
#include <random>

using comcp::revision;

namespace
{

namespace json = comcp::json;

/// Objects with the names that readers look for, and values that are often of the wrong type.
class generator
{
public:
    explicit generator(std::uint32_t seed) : random_(seed) {}

    json::object object(int depth = 5)
    {
        json::object made;
        for (auto left = random_() % 9; left > 0; --left) made[pick(names)] = value(depth - 1);
        return made;
    }

    json::value value(int depth)
    {
        switch (random_() % (depth > 0 ? 10U : 6U)) {
        case 0: return nullptr;
        case 1: return random_() % 2 == 0;
        case 2: return static_cast<std::int64_t>(random_()) - 2'000'000'000;
        case 3: return static_cast<double>(random_()) / 7;
        case 4:
        case 5: return json::value(pick(texts));
        case 6:
        case 7: return array(depth);
        default: return object(depth);
        }
    }

private:
    json::array array(int depth)
    {
        json::array made;
        for (auto left = random_() % 5; left > 0; --left) made.push_back(value(depth - 1));
        return made;
    }

    template <std::size_t Size>
    const char* pick(const std::array<const char*, Size>& from)
    {
        return from[random_() % Size];
    }

    static constexpr std::array names = {"type",
                                         "text",
                                         "content",
                                         "data",
                                         "mimeType",
                                         "resource",
                                         "uri",
                                         "uriTemplate",
                                         "name",
                                         "title",
                                         "description",
                                         "size",
                                         "icons",
                                         "_meta",
                                         "annotations",
                                         "audience",
                                         "priority",
                                         "lastModified",
                                         "blob",
                                         "contents",
                                         "messages",
                                         "role",
                                         "arguments",
                                         "required",
                                         "ref",
                                         "argument",
                                         "value",
                                         "context",
                                         "completion",
                                         "values",
                                         "total",
                                         "hasMore",
                                         "maxTokens",
                                         "tools",
                                         "toolChoice",
                                         "mode",
                                         "id",
                                         "input",
                                         "toolUseId",
                                         "isError",
                                         "message",
                                         "requestedSchema",
                                         "url",
                                         "elicitationId",
                                         "action",
                                         "properties",
                                         "enum",
                                         "enumNames",
                                         "oneOf",
                                         "anyOf",
                                         "const",
                                         "items",
                                         "default",
                                         "minLength",
                                         "maximum",
                                         "format",
                                         "minItems",
                                         "inputSchema",
                                         "roots",
                                         "elicitations",
                                         "modelPreferences",
                                         "hints",
                                         "structuredContent",
                                         "src",
                                         "sampling",
                                         "elicitation",
                                         "form",
                                         "other"};
    static constexpr std::array texts = {
        "",      "text",         "image",      "audio", "resource", "resource_link", "tool_use",   "tool_result",
        "user",  "object",       "string",     "array", "integer",  "number",        "boolean",    "accept",
        "url",   "form",         "ref/prompt", "auto",  "QQ==",     "a@b",           "2025-11-25", "x://a",
        "email", "ref/resource", "assistant"};

    std::mt19937 random_;
};

/// Writes with each revision; nothing may grow beyond bounds, and all is JSON again.
template <class Write>
void check_writing(std::size_t size, const Write& write)
{
    for (revision at : comcp::all_revisions) {
        std::string out;
        write(out, at);
        if (out.empty()) continue; // the revision cannot say it
        // Escapes in texts of texts, and members that are required.
        const bool sound = out.size() <= 20 * size + 500 && comcp::parse_json(out, 64).has_value();
        if (!sound) FAIL(out);
    }
}

} // namespace

TEST_CASE("every reader takes any JSON, and what it read can be written again", "[protocol][wire]")
{
    const auto& codec = comcp::wire::legacy_codec();
    std::size_t read = 0; // how much of it made sense
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        const json::object from = generator(seed).object();
        std::string text;
        comcp::write_value(text, from);
        const std::size_t size = text.size();
        const auto check = [&](const auto& write) { check_writing(size, write); };
        const auto each = [&](const auto& what, const auto& write) {
            if (!what.has_value()) return;
            ++read;
            check([&](std::string& out, revision at) { write(out, *what, at); });
        };

        each(comcp::read_tool(from), [&](auto& out, auto& v, revision at) { codec.write_tool(out, v, at); });
        each(comcp::read_resource(from), [&](auto& out, auto& v, revision at) { codec.write_resource(out, v, at); });
        each(comcp::read_resource_template(from),
             [&](auto& out, auto& v, revision at) { codec.write_resource_template(out, v, at); });
        each(comcp::read_prompt(from), [&](auto& out, auto& v, revision at) { codec.write_prompt(out, v, at); });
        each(comcp::read_completion_request(from),
             [&](auto& out, auto& v, revision at) { codec.write_completion_params(out, v, nullptr, at); });
        each(comcp::read_sampling_request(from), [&](auto& out, auto& v, revision at) {
            static_cast<void>(codec.write_sampling_params(out, v, nullptr, at));
            static_cast<void>(comcp::check_sampling(v, comcp::client_capabilities(from)));
        });
        json::object answer = from;
        answer["role"] = "user"; // else hardly any is one
        answer["model"] = "m";
        each(comcp::read_sampling_result(answer),
             [&](auto& out, auto& v, revision at) { codec.write_sampling_result(out, v, at); });
        each(comcp::read_elicitation_request(from), [&](auto& out, auto& v, revision at) {
            static_cast<void>(codec.write_elicitation_params(out, v, nullptr, at));
            static_cast<void>(comcp::check_elicitation(v, comcp::client_capabilities(from)));
        });
        each(comcp::read_elicitation_result(from), [&](auto& out, auto& v, revision at) {
            codec.write_elicitation_result(out, v, comcp::elicitation_mode::form, at);
        });
        const auto contents = comcp::read_resource_result(from, text);
        check([&](std::string& out, revision at) { codec.write_resource_result(out, contents, at); });
        const auto prompt = comcp::read_prompt_result(from, text);
        check([&](std::string& out, revision at) { codec.write_prompt_result(out, prompt, at); });
        const auto called = comcp::read_tool_result(from, text);
        check([&](std::string& out, revision at) { codec.write_tool_result(out, called, at); });
        const auto completion = comcp::read_completion(from);
        check([&](std::string& out, revision at) { codec.write_completion(out, completion, at); });
        const auto roots = comcp::read_roots(from);
        check([&](std::string& out, revision at) { codec.write_roots(out, roots, at); });
        const comcp::client_capabilities client(from);
        check([&](std::string& out, revision at) { comcp::wire::write_capabilities(out, client, at); });
        comcp::content block;
        std::vector<std::string> oddities;
        comcp::read_sampling_content(from, block, oddities);
        check([&](std::string& out, revision at) { codec.write_content(out, block, at); });

        comcp::rpc_error error;
        error.code = comcp::rpc_code::url_elicitation_required;
        error.data = from;
        read += comcp::url_elicitations(error).size();
        static_cast<void>(comcp::read_log_message(from));
        static_cast<void>(comcp::read_elicitation_complete(from));
    }
    CHECK(read > 130);
}

TEST_CASE("any JSON may stand in the place of a form and of its answer", "[protocol]")
{
    std::size_t problems = 0;
    std::size_t forms = 0;
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        generator make(seed);
        json::object schema = make.object(6);
        json::object content = make.object(3);
        if (seed % 2 == 0) schema["type"] = "object";
        if (seed % 3 == 0) schema["properties"] = make.object(4);
        comcp::fill_defaults(schema, content);
        problems += comcp::check_form(schema, content).size();
        for (revision at : comcp::all_revisions) {
            const auto made = comcp::form_schema_for(schema, at);
            if (!made.has_value()) continue;
            ++forms;
            // A form that was taken is one still.
            CHECK_FALSE(comcp::check_form_schema(*made, at));
        }
    }
    CHECK(problems > 1000);
    CHECK(forms > 20);
}

TEST_CASE("any text may stand in the place of a URI template and of a URI", "[protocol]")
{
    constexpr std::string_view letters = "{}a/?+,%2F0:b=&x";
    std::mt19937 random(1);
    std::size_t templates = 0;
    std::size_t matches = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto text = [&] {
            std::string made;
            for (auto left = random() % 14; left > 0; --left) made += letters[random() % letters.size()];
            return made;
        };
        const auto made = comcp::uri_template::parse(text());
        if (!made.has_value()) continue;
        ++templates;
        const auto found = made->match(text());
        matches += found.has_value();
        // What is expanded from plain values is what matches.
        comcp::uri_variables values;
        for (const std::string& name : made->variables()) values.emplace(name, "v");
        const auto again = made->match(made->expand(values));
        REQUIRE(again);
        std::string both;
        for (const auto& [name, value] : *again) both += value;
        CHECK(made->expand(*again) == made->expand(values));
    }
    CHECK(templates > 200);
    CHECK(matches > 2);
}
