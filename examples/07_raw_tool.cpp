// SPDX-License-Identifier: MIT
//
// Without structs: a schema written by hand, arguments as JSON (checked only to be an object), and a result with every
// kind of content.
// expect: ^text image/png audio/wav report.pdf note://1 .a text.*the text of a note.*there is no kind "smell".$
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <boost/json/parse.hpp>

#include <iostream>

comcp::tool describe_show()
{
    comcp::tool described("show");
    described.title = "Show";
    described.description = "Shows one kind of content, or all";
    described.input_schema = comcp::json::parse(R"({
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["text", "image", "audio", "link", "resource", "all"]}},
        "required": ["kind"]
    })")
                                 .as_object();
    described.annotations.read_only_hint = true; // hints for clients
    return described;
}

comcp::tool_result show(comcp::json::object asked)
{
    const std::string kind(comcp::string_member(asked, "kind").value_or("")); // may be missing or no string
    comcp::tool_result result;
    const auto add = [&](const char* name, comcp::content block) {
        if (kind == name || kind == "all") result.content.push_back(std::move(block));
    };
    add("text", comcp::content::text("a text"));
    add("image", comcp::content::image_bytes("\x89PNG\r\n\x1a\n", "image/png")); // the bytes of a file
    add("audio", comcp::content::audio("UklGRg==", "audio/wav"));                // or base64 that is there already
    add("link", comcp::content::link("file:///srv/report.pdf", "report.pdf"));
    add("resource", comcp::content::resource("note://1", "the text of a note"));
    if (result.content.empty()) return comcp::tool_result::error("there is no kind \"" + kind + "\"");
    result.structured = comcp::json::object{{"blocks", result.content.size()}};
    return result;
}

/// One name for each kind: `block.block` is a variant.
std::string name_of(const comcp::content& block)
{
    if (block.as_text()) return "text";
    if (const auto* image = block.get_if<comcp::image_content>()) return image->mime_type;
    if (const auto* audio = block.get_if<comcp::audio_content>()) return audio->mime_type;
    if (const auto* link = block.get_if<comcp::resource_link>()) return link->name;
    if (const auto* resource = block.get_if<comcp::embedded_resource>()) return resource->uri;
    return "something newer";
}

comcp::task<void> use(comcp::server& server)
{
    const auto here = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(here);
    comcp::asio::co_spawn(here, server.serve(std::move(pipe.second)), comcp::asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("example", "1.0.0"));
    co_await client.connect();
    const auto all = co_await client.call("show", comcp::args("kind", "all"));
    const auto none = co_await client.call("show", comcp::args("kind", "smell"));
    co_await client.close();

    std::string names;
    for (const comcp::content& block : all.content) names += name_of(block) + ' ';
    std::cout << names << '\n' << comcp::to_text(all) << '\n' << comcp::to_text(none) << '\n';
    if (names != "text image/png audio/wav report.pdf note://1 " || all.is_error || !none.is_error)
        throw std::runtime_error("that was not expected");
}

int main()
{
    comcp::server server("raw", "1.0.0");
    server.raw_tool(describe_show(), show);
    return comcp::run(use(server));
}
