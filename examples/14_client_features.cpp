// SPDX-License-Identifier: MIT
//
// What a host answers the servers that it starts: where they may work (roots), what its model says (sampling), and what
// its user enters in a form or does at a URL (elicitation). What has no handler is not offered to them. Called with
// "serve" this program is the server, one that asks for all of it: it plans a trip.
#include <comcp/stdio.hpp>

#include <iostream>

struct trip
{
    std::string where;
    int days = 3; // a default of the form: the host fills it in for a user who leaves it
};
BOOST_DESCRIBE_STRUCT(trip, (), (where, days))

comcp::task<std::string> plan_trip(comcp::context& call)
{
    const auto wish = co_await call.elicit<trip>("Where do you want to go?");
    if (!wish) throw comcp::tool_error("no trip, then");
    comcp::sampling_request question("Plan " + std::to_string(wish->days) + " days in " + wish->where, 200);
    question.system_prompt = "One line.";
    const comcp::sampling_result plan = co_await call.sample(question);
    const auto paid = co_await call.elicit_url("Pay for it", "https://pay.example.org/7", "payment-7");
    if (!paid.accepted()) throw comcp::tool_error("it must be paid for");
    call.elicitation_complete("payment-7");
    const auto roots = co_await call.list_roots();
    co_return *plan.content.at(0).as_text() + " The tickets are in " + roots.at(0).name + '.';
}

/// A real host shows who asks and every field, and lets the user look again, change, decline or go away.
comcp::task<comcp::elicitation_result> fill_form(comcp::elicitation_request form, comcp::client_context& of)
{
    std::cout << of.server().display_name() << ": " << form.message << '\n';
    comcp::json::object entered;
    for (const auto& field : form.requested_schema.at("properties").as_object())
        if (field.key() == "where") entered[field.key()] = "Oslo";
    co_return comcp::elicitation_result::accept(entered);
}

/// Nothing is opened without the user's consent, and the whole URL is shown.
comcp::elicitation_result open_url(comcp::elicitation_request asked)
{
    std::cout << asked.message << " at " << asked.url << "? yes\n";
    return comcp::elicitation_result::accept();
}

/// A real host asks its user first (or throws comcp::user_rejected()), and then its model.
comcp::sampling_result ask_model(comcp::sampling_request asked)
{
    std::cout << "to the model: " << *asked.messages.back().content.at(0).as_text() << '\n';
    return comcp::sampling_result("Fjord, museum, fjord.", "a model");
}

comcp::task<void> talk(std::string program, comcp::client_options options, std::string& planned)
{
    comcp::child_process server(program, {"serve"});
    comcp::client client(server, comcp::identity("host", "1.0.0"), options);
    co_await client.connect();
    const comcp::answer answer = co_await client.call("plan_trip");
    planned = comcp::to_text(answer);
    co_await client.close();
}

int main(int count, char** words)
{
    comcp::server server("travel agency", "1.0.0");
    server.tool("plan_trip", "Plans a trip with the user", plan_trip);
    if (count > 1 && words[1] == std::string_view("serve")) return comcp::run_stdio(server);

    comcp::client_options options;
    options.roots({comcp::root("file:///home/ada/trips", "Ada's trips")}).on_sampling(ask_model);
    options.on_elicitation(fill_form).on_url_elicitation(open_url);
    options.on_elicitation_complete([](const std::string& id) { std::cout << id << " is done\n"; });
    std::string planned;
    const int failed = comcp::run(talk(words[0], options, planned));
    std::cout << planned << '\n';
    return failed == 0 && planned == "Fjord, museum, fjord. The tickets are in Ada's trips." ? 0 : 1;
}
