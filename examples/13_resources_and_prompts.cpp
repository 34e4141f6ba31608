// SPDX-License-Identifier: MIT
//
// A server of notes: a resource of its own URI, one for each note through a template, and a prompt whose argument is
// completed while a person types. Clients that have subscribed to the list of topics are told of a new note.
#include <comcp/stdio.hpp>

#include <map>
#include <string>
#include <vector>

using notes = std::map<std::string, std::vector<std::string>>;

struct note_place // the variables of the template
{
    std::string topic;
    unsigned number = 0;
};
BOOST_DESCRIBE_STRUCT(note_place, (), (topic, number))

struct summary_args // the arguments of the prompt; what is optional need not be given
{
    std::string topic;
    std::optional<std::string> tone;
};
BOOST_DESCRIBE_STRUCT(summary_args, (), (topic, tone))

struct add_args
{
    std::string topic;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(add_args, (), (topic, text))

int main()
{
    notes all{{"shopping", {"milk", "bread"}}, {"shipping", {"a parcel to Ada"}}};
    comcp::server server("notes", "1.0.0");

    server.resource("note://topics", "topics", [&] {
        std::string text;
        for (const auto& [topic, items] : all) text += topic + '\n';
        return text;
    });

    server
        .resource_template("note://{topic}/{number}", "notes",
                           [&](note_place at) -> std::string {
                               const auto found = all.find(at.topic);
                               if (found == all.end() || at.number == 0 || at.number > found->second.size())
                                   throw comcp::resource_not_found();
                               return found->second[at.number - 1];
                           })
        .mime_type("text/plain");

    const auto topics_like = [&](std::string typed) {
        std::vector<std::string> found;
        for (const auto& [topic, items] : all)
            if (topic.starts_with(typed)) found.push_back(topic);
        return found;
    };
    server
        .prompt("summarize", "Sums the notes of a topic up",
                [&](summary_args a) {
                    std::string text = "Sum this up" + (a.tone ? ", " + *a.tone : "") + ":";
                    if (const auto found = all.find(a.topic); found != all.end())
                        for (const std::string& each : found->second) text += "\n- " + each;
                    return text;
                })
        .complete("topic", topics_like)
        .complete("tone", {"friendly", "formal"});

    server.tool("add_note", "Adds a note", [&](add_args a) {
        all[a.topic].push_back(a.text);
        server.resource_updated("note://topics");
        return "note://" + a.topic + '/' + std::to_string(all[a.topic].size());
    });

    return comcp::run_stdio(server);
}
