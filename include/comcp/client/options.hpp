// SPDX-License-Identifier: MIT
//
// What a client is told beforehand: limits, what it offers to servers, and who is told of notices. Everything that
// takes a function stands here, since operations that are awaited take none.
#pragma once

#include <comcp/client/asked.hpp>
#include <comcp/client/call_options.hpp>
#include <comcp/client/notice_handler.hpp>
#include <comcp/limits.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/protocol/roots.hpp>
#include <comcp/session/middleware.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// Options of a client, set before it connects.
///
/// *Questions of a server.* A handler takes the request of the model, or `json::object` with the params as they came (a
/// relay), and perhaps a `client_context&`; it returns the result of the model (or `json::object`), or a task of it. It
/// is asked only for what was declared and keeps the rules of the specification; anything else is answered with -32602.
/// What it throws is answered: `request_error` with its code, `user_rejected()` with -1, all else with -32603 and a
/// fixed text. Its coroutine is cancelled when the server gives the question up.
///
/// *Notices.* A handler is a plain function, or a coroutine returning `task<void>`. Notices are delivered in order and
/// one at a time, and never hold up an answer. While a coroutine is behind, at most `limits.notices` wait; further ones
/// are dropped and counted. What it throws is ignored.
class client_options
{
public:
    comcp::limits limits;
    /// Keeps the text of every result (`answer::source`), counted in the limits: numbers are exact there.
    bool keep_source = false;
    /// The newest revision that is offered.
    revision newest = latest_legacy;

    /// Offers roots to the server (2025-11-25, roots). Set anew with `client.set_roots`. One that is no `file://` URI,
    /// or has dot segments, makes `connect` fail: errc::invalid_argument (`check_root`).
    client_options& roots(root_list places)
    {
        roots_ = std::move(places);
        offers_roots_ = true;
        return *this;
    }

    /// Answers `sampling/createMessage` (2025-11-25, sampling): takes `sampling_request`, gives `sampling_result`.
    template <class F>
    client_options& on_sampling(F handler)
    {
        sampling_ = detail::erase_question_handler<detail::sampling_question>(std::move(handler));
        return *this;
    }
    /// Declares that the model may be given tools (since 2025-11-25).
    client_options& sampling_tools(bool allowed = true)
    {
        sampling_tools_ = allowed;
        return *this;
    }
    /// Declares that the context of servers can be added to the conversation (since 2025-11-25).
    client_options& sampling_context(bool allowed = true)
    {
        sampling_context_ = allowed;
        return *this;
    }

    /// Answers `elicitation/create` with a form (2025-11-25, elicitation): takes `elicitation_request`, gives
    /// `elicitation_result`. What the user left out gets the defaults of the form. Accepted content that does not fit
    /// the form is not sent: the server is answered -32603, with what is wrong.
    template <class F>
    client_options& on_elicitation(F handler)
    {
        form_ = detail::erase_question_handler<detail::elicitation_question>(std::move(handler));
        return *this;
    }
    /// Answers `elicitation/create` with a URL (since 2025-11-25): `accept` means that the user agrees to open it. Show
    /// the whole URL and who asks, open nothing without consent, and fetch nothing beforehand (H-26).
    template <class F>
    client_options& on_url_elicitation(F handler)
    {
        url_ = detail::erase_question_handler<detail::elicitation_question>(std::move(handler));
        return *this;
    }

    /// Told of the id of an elicitation by URL that is done, `(const std::string&)`, once for each of which the server
    /// spoke in this session: in a question, or in the error of a request (`url_elicitations`). Other ids are ignored
    /// (2025-11-25, elicitation: H-24).
    template <class F>
    client_options& on_elicitation_complete(F handler)
    {
        notices_.elicitation_complete = detail::notice_handler<std::string>(std::move(handler));
        return *this;
    }
    /// Told of log messages of the server, `(const log_message&)`.
    template <class F>
    client_options& on_log(F handler)
    {
        notices_.log = detail::notice_handler<log_message>(std::move(handler));
        return *this;
    }
    /// Told of the URI of a resource that has changed, `(const std::string&)`: one that was subscribed to, or a part of
    /// it. Several changes of one resource may be one call. Also called once for each subscription after the client had
    /// to make a new session, since changes may have been missed.
    template <class F>
    client_options& on_resource_updated(F handler)
    {
        notices_.resource_updated = detail::notice_handler<std::string>(std::move(handler));
        return *this;
    }
    /// Told, `()`, that the list of tools has changed; several changes may be one call. Also called after the client
    /// had to make a new session. The same for the two that follow.
    template <class F>
    client_options& on_tools_changed(F handler)
    {
        notices_.tools_changed = detail::notice_handler<>(std::move(handler));
        return *this;
    }
    /// Resources, or resource templates.
    template <class F>
    client_options& on_resources_changed(F handler)
    {
        notices_.resources_changed = detail::notice_handler<>(std::move(handler));
        return *this;
    }
    template <class F>
    client_options& on_prompts_changed(F handler)
    {
        notices_.prompts_changed = detail::notice_handler<>(std::move(handler));
        return *this;
    }

    /// Adds a part to the chain around every message, inside of the ones before (session/middleware.hpp).
    client_options& use(middleware part)
    {
        auto longer = chain_ ? *chain_ : detail::middleware_chain();
        longer.push_back(std::move(part));
        chain_ = std::make_shared<const detail::middleware_chain>(std::move(longer));
        return *this;
    }

    // For the library.
    const std::shared_ptr<const detail::middleware_chain>& chain() const { return chain_; }
    std::optional<root_list> offered_roots() const
    {
        if (!offers_roots_) return std::nullopt;
        return roots_;
    }
    const detail::question_handler& sampling() const { return sampling_; }
    bool allows_sampling_tools() const { return sampling_tools_; }
    bool allows_sampling_context() const { return sampling_context_; }
    const detail::question_handler& form_elicitation() const { return form_; }
    const detail::question_handler& url_elicitation() const { return url_; }
    const detail::notice_handlers& notices() const { return notices_; }

private:
    root_list roots_; // beside its flag: g++ 12 warns without cause of an optional that is assigned
    bool offers_roots_ = false;
    detail::question_handler sampling_;
    bool sampling_tools_ = false;
    bool sampling_context_ = false;
    detail::question_handler form_;
    detail::question_handler url_;
    detail::notice_handlers notices_;
    std::shared_ptr<const detail::middleware_chain> chain_;
};

} // namespace comcp::inline COMCP_ABI
