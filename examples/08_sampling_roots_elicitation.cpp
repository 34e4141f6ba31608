// SPDX-License-Identifier: MIT
//
// A tool that asks back while it runs: where it may work, what the client's model says, and what the user wants; and
// what it does at a client that refuses, or has nothing to ask. For the client's side see 14_client_features.cpp.
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <iostream>

struct project
{
    std::string name;
};
BOOST_DESCRIBE_STRUCT(project, (), (name))

comcp::task<std::string> name_project(comcp::context& call)
{
    if (!call.capabilities().has("sampling")) throw comcp::tool_error("this client has no model to ask");
    const auto roots = co_await call.list_roots();

    comcp::sampling_request question("Name my project", 20);
    question.system_prompt = "The project is in " + roots.at(0).uri;
    const comcp::sampling_result said = co_await call.sample(question);
    const std::string* text = said.content.at(0).as_text();
    const std::string idea = text ? *text : "no idea"; // for the user to change

    const auto user = co_await call.elicit<project>(idea); // a form made of the struct
    if (!user) throw comcp::tool_error("the user does not want a name");
    co_return user->name;
}

comcp::sampling_result ask_model(comcp::sampling_request asked)
{
    std::cout << "to the model: " << asked.system_prompt << '\n';
    return comcp::sampling_result("Heron", "none");
}

comcp::elicitation_result ask_user(comcp::elicitation_request asked)
{
    std::cout << "to the user: " << asked.message << '\n';
    return comcp::elicitation_result::accept({{"name", "Grey Heron"}});
}

comcp::sampling_result refuse(comcp::sampling_request) { throw comcp::user_rejected(); }

comcp::elicitation_result decline(comcp::elicitation_request) { return comcp::elicitation_result::decline(); }

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
    unwilling.roots({comcp::root("file:///home/ada/heron")}).on_sampling(refuse).on_elicitation(decline);
    comcp::answer named, refused, not_asked;
    const int failed = comcp::run(use(server, able, named)) + comcp::run(use(server, unwilling, refused)) +
                       comcp::run(use(server, unable, not_asked));
    return failed == 0 && comcp::to_text(named) == "Grey Heron" && refused.is_error && not_asked.is_error ? 0 : 1;
}
