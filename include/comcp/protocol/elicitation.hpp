// SPDX-License-Identifier: MIT
//
// Elicitation: a server asks the person at the client, with a form or by sending them to a URL. The model of request
// and result, and of the error that says that a URL must be visited first. Forms as data are in protocol/form.hpp. Not
// for secrets: those never go through a form (2025-11-25, elicitation).
#pragma once

#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/form.hpp>
#include <comcp/protocol/read.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace rpc_code
{
/// A URL must be visited before the request can succeed (2025-11-25 alone): see `url_elicitations`.
inline constexpr int url_elicitation_required = -32042;
} // namespace rpc_code

enum class elicitation_action {
    accept,
    decline, ///< the person said no
    cancel,  ///< the person went away without an answer
};

constexpr std::string_view to_string(elicitation_action value) noexcept
{
    return value == elicitation_action::accept ? "accept" : value == elicitation_action::decline ? "decline" : "cancel";
}

enum class elicitation_mode {
    form,
    url, ///< since 2025-11-25
};

/// The params of elicitation/create.
class elicitation_request
{
public:
    elicitation_mode mode = elicitation_mode::form;
    std::string message;           ///< for the person
    json::object requested_schema; ///< of a form: see `form_schema_of`
    std::string url;               ///< of mode url
    std::string elicitation_id;    ///< of mode url; notifications/elicitation/complete names it
    json::object meta;             ///< `_meta`
    json::object extra;            ///< members that the specification does not name

    elicitation_request() = default;

    static elicitation_request form(std::string message, json::object schema)
    {
        elicitation_request made;
        made.message = std::move(message);
        made.requested_schema = std::move(schema);
        return made;
    }
    static elicitation_request url_mode(std::string message, std::string url, std::string id)
    {
        elicitation_request made;
        made.mode = elicitation_mode::url;
        made.message = std::move(message);
        made.url = std::move(url);
        made.elicitation_id = std::move(id);
        return made;
    }
};

/// What the person did. `content` is that of an accepted form; in mode url `accept` means consent to open the URL, not
/// that anything was done there.
class elicitation_result
{
public:
    elicitation_action action = elicitation_action::cancel;
    json::object content;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name

    elicitation_result() = default;
    explicit elicitation_result(elicitation_action what) : action(what) {}

    static elicitation_result accept(json::object content = {})
    {
        elicitation_result made(elicitation_action::accept);
        made.content = std::move(content);
        return made;
    }
    static elicitation_result decline() { return elicitation_result(elicitation_action::decline); }
    static elicitation_result cancel() { return elicitation_result(elicitation_action::cancel); }

    bool accepted() const noexcept { return action == elicitation_action::accept; }
};

/// Reads what a server asks for. The fault is for -32602: a mode that is not known, no message, a form without a
/// schema, or mode url without a URL or id.
result<elicitation_request> read_elicitation_request(const json::object& from);

/// Reads what a client answered. A fault when the action is missing or not known, since nothing may be taken for
/// consent, and when the content of what is accepted is no object.
result<elicitation_result> read_elicitation_result(const json::object& from);

/// Whether a client declared the mode of a request; nothing when it did, else the fault (`errc::unsupported`). A
/// declared elicitation without a mode means forms alone. A client answers -32602.
std::optional<fault> check_elicitation(const elicitation_request& request, const client_capabilities& peer);

/// At most this many URLs are read from one error.
inline constexpr std::size_t max_url_elicitations = 100;

/// The URLs that must be visited before a request can succeed; empty when the error is another one than -32042, or
/// names none. Entries that are not mode url, or lack a URL or an id, are left out.
std::vector<elicitation_request> url_elicitations(const rpc_error& from);

/// The data of an error -32042. All requests must be of mode url.
json::value url_elicitation_data(const std::vector<elicitation_request>& required);

/// The id that notifications/elicitation/complete names; empty when it names none.
std::string read_elicitation_complete(const json::object& from);

/// A form's answer bound to the struct that the form was made of.
template <class T>
class form_answer
{
public:
    elicitation_action action = elicitation_action::cancel;
    std::optional<T> value; ///< when the form was accepted

    form_answer() = default;

    bool accepted() const noexcept { return value.has_value(); }
    explicit operator bool() const noexcept { return accepted(); }
    const T& operator*() const& { return *value; }
    const T* operator->() const { return &*value; }
};

/// Binds an answer. A fault (`errc::invalid_message`) names every member that does not fit; members that the struct
/// does not have are passed over.
template <form_struct T>
result<form_answer<T>> read_form_answer(const elicitation_result& from)
{
    form_answer<T> answer;
    answer.action = from.action;
    if (!from.accepted()) return answer;
    auto bound = bind_form<T>(from.content);
    if (!bound) return std::move(bound).error();
    answer.value = std::move(*bound);
    return answer;
}

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/elicitation.ipp>
#endif
