// SPDX-License-Identifier: MIT
//
// A tool that asks back while it runs: where it may work, what the client's model says, and what the user wants. The
// client answers with handlers that are set before it connects; what has no handler is not offered to servers.
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <boost/json/parse.hpp>

#include <iostream>

namespace json = comcp::json;

comcp::task<std::string> name_project(comcp::context& call)
{
    if (!call.capabilities().has("sampling")) throw comcp::tool_error("this client has no model to ask");
    const auto roots = co_await call.list_roots();

    json::object prompt; // params and results are those of the specification
    prompt["messages"] = json::parse(R"([{"role":"user","content":{"type":"text","text":"Name my project"}}])");
    prompt["systemPrompt"] = "The project is in " + roots.at(0).uri;
    prompt["maxTokens"] = 20;
    const json::object said = co_await call.sample(prompt);

    json::object question;
    question["message"] = said.at("content").at("text"); // what the model said, for the user to change
    question["requestedSchema"] = json::parse(R"({"type":"object","properties":{"name":{"type":"string"}}})");
    const json::object user = co_await call.elicit(question);
    if (user.at("action").as_string() != "accept") throw comcp::tool_error("the user does not want a name");
    co_return std::string(user.at("content").at("name").as_string());
}

comcp::task<json::object> ask_model(json::object asked)
{
    std::cout << "to the model: " << asked["systemPrompt"] << '\n';
    co_return json::parse(R"({"role":"assistant","model":"none","content":{"type":"text","text":"Heron"}})")
        .as_object();
}

comcp::task<json::object> ask_user(json::object asked)
{
    std::cout << "to the user: " << asked["message"] << '\n';
    co_return json::parse(R"({"action":"accept","content":{"name":"Grey Heron"}})").as_object();
}

comcp::task<json::object> refuse(json::object)
{
    throw comcp::request_error(-1, "the user said no"); // a JSON-RPC error of one's choice
    co_return json::object();
}

comcp::task<void> use(comcp::server& server, comcp::client_options options, comcp::answer& answer)
{
    const auto here = co_await comcp::asio::this_coro::executor;
    comcp::memory_pipe pipe(here);
    comcp::asio::co_spawn(here, server.serve(std::move(pipe.second)), comcp::asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("example", "1.0.0"), options);
    co_await client.connect();
    answer = co_await client.call("name_project");
    std::cout << comcp::to_text(answer) << '\n';
    co_await client.close();
}

int main()
{
    comcp::server server("namer", "1.0.0");
    server.tool("name_project", "Finds a name for the project", name_project);

    comcp::client_options able, unwilling, unable;
    able.roots({comcp::root("file:///home/ada/heron")}).on_sampling(ask_model).on_elicitation(ask_user);
    unwilling.roots({comcp::root("file:///home/ada/heron")}).on_sampling(refuse).on_elicitation(refuse);
    comcp::answer named, refused, not_asked;
    const int failed = comcp::run(use(server, able, named)) + comcp::run(use(server, unwilling, refused)) +
                       comcp::run(use(server, unable, not_asked));
    return failed == 0 && comcp::to_text(named) == "Grey Heron" && refused.is_error && not_asked.is_error ? 0 : 1;
}
