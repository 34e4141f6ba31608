// SPDX-License-Identifier: MIT
//
// The tools of conformance_server that ask the client: its model (sampling) and its user (elicitation).
#pragma once

#include <comcp/server/server.hpp>

#include <boost/json/parse.hpp>

#include <string>

namespace conformance
{

namespace json = comcp::json;

struct prompt_args
{
    std::string prompt;
};
BOOST_DESCRIBE_STRUCT(prompt_args, (), (prompt))

struct message_args
{
    std::string message;
};
BOOST_DESCRIBE_STRUCT(message_args, (), (message))

/// What the user is asked for.
struct contact
{
    std::string username;
    std::string email;
};
BOOST_DESCRIBE_STRUCT(contact, (), (username, email))

inline comcp::notes schema_notes(const contact*)
{
    comcp::notes of;
    of.add("username", comcp::field("The user's name"));
    of.add("email", comcp::field("The user's address"));
    return of;
}

enum class standing { active = 1, inactive, pending }; // a zero would be no default
BOOST_DESCRIBE_ENUM(standing, active, inactive, pending)

/// A default of every primitive type.
struct profile
{
    std::string name = "John Doe";
    int age = 30;
    double score = 95.5;
    standing status = standing::active;
    bool verified = true;
};
BOOST_DESCRIBE_STRUCT(profile, (), (name, age, score, status, verified))

/// Every way in which a form may have a choice.
inline json::object choices()
{
    return json::parse(R"({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {
                "type": "string",
                "oneOf": [
                    {"const": "value1", "title": "First Option"},
                    {"const": "value2", "title": "Second Option"},
                    {"const": "value3", "title": "Third Option"}
                ]
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]}
            },
            "titledMulti": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"const": "value1", "title": "First Choice"},
                        {"const": "value2", "title": "Second Choice"},
                        {"const": "value3", "title": "Third Choice"}
                    ]
                }
            }
        }
    })")
        .as_object();
}

inline std::string shown(const comcp::elicitation_result& answer)
{
    std::string text = "action=";
    text += to_string(answer.action);
    text += ", content=";
    comcp::write_value(text, answer.content);
    return text;
}

inline comcp::task<std::string> sampling(prompt_args given, comcp::context& call)
{
    const comcp::sampling_request question(std::move(given.prompt), 100);
    const comcp::sampling_result answer = co_await call.sample(question);
    const std::string* text = answer.content.at(0).as_text();
    co_return "LLM response: " + (text ? *text : "none that is text");
}

inline comcp::task<std::string> elicitation(message_args given, comcp::context& call)
{
    const auto form = comcp::elicitation_request::form(given.message, comcp::form_schema_of<contact>());
    const comcp::elicitation_result answer = co_await call.elicit(form);
    co_return "User response: " + shown(answer);
}

inline comcp::task<std::string> elicitation_defaults(comcp::context& call)
{
    const auto form = comcp::elicitation_request::form("Please check the defaults", comcp::form_schema_of<profile>());
    const comcp::elicitation_result answer = co_await call.elicit(form);
    co_return "Elicitation completed: " + shown(answer);
}

inline comcp::task<std::string> elicitation_enums(comcp::context& call)
{
    const auto form = comcp::elicitation_request::form("Please choose", choices());
    const comcp::elicitation_result answer = co_await call.elicit(form);
    co_return "Elicitation completed: " + shown(answer);
}

inline void add_questions(comcp::server& to)
{
    to.tool("test_sampling", "Asks the client's model", sampling);
    to.tool("test_elicitation", "Asks the client's user for a name and an address", elicitation);
    to.tool("test_elicitation_sep1034_defaults", "Asks with a default of every type", elicitation_defaults);
    to.tool("test_elicitation_sep1330_enums", "Asks with every kind of choice", elicitation_enums);
}

} // namespace conformance
