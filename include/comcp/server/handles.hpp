// SPDX-License-Identifier: MIT
//
// Handles of what was registered at a server, to describe it further or to change it at run time. Every change is
// published at once, and clients are told when it changes what they see. Thread rule: any thread. A handle may outlive
// the server; it then does nothing, as does one of something that was removed.
#pragma once

#include <comcp/json/describe.hpp>
#include <comcp/protocol/content.hpp>
#include <comcp/protocol/icon.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/prompt.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class entry;
enum class entry_kind : std::uint8_t;
class server_core;

/// What all handles do.
class entry_handle
{
public:
    /// Switches it off or on. Off, it is neither listed nor used; calls that run go on.
    void enable(bool on = true);
    void disable() { enable(false); }
    /// Removes it; calls that run go on. False when it was gone already.
    bool remove();

protected:
    entry_handle(std::weak_ptr<server_core> core, entry_kind kind, std::string key);

    void set_title(std::string text);
    void set_description(std::string text);
    void set_icons(std::vector<icon> pictures);
    void set_meta(json::object value);
    /// `change(Entry&)` makes the entry that is published in place of this one.
    template <class Entry, class Change>
    void edit(Change change);

    const std::string& key() const { return key_; }

private:
    std::weak_ptr<server_core> core_;
    entry_kind kind_;
    std::string key_;
};

/// The setters of members that all kinds have.
template <class Handle>
class describing_handle : public entry_handle
{
public:
    Handle& title(std::string text) { return this->set_title(std::move(text)), self(); }
    Handle& description(std::string text) { return this->set_description(std::move(text)), self(); }
    Handle& icons(std::vector<icon> pictures) { return this->set_icons(std::move(pictures)), self(); }
    /// `_meta`.
    Handle& meta(json::object value) { return this->set_meta(std::move(value)), self(); }

protected:
    using entry_handle::entry_handle;
    Handle& self() { return static_cast<Handle&>(*this); }
};

} // namespace detail

/// A tool.
class tool_handle final : public detail::describing_handle<tool_handle>
{
public:
    tool_handle(std::weak_ptr<detail::server_core> core, std::string name);

    /// Describes a member of the arguments: `.field("times", comcp::field("How often").minimum(1).maximum(10))`.
    /// *Errors*: errc::invalid_argument when the arguments have no such member.
    tool_handle& field(std::string member, comcp::field note);
    /// Hints for clients (F-16); `read_only()` and `idempotent()` let a client send a call again after a lost
    /// connection.
    tool_handle& annotations(tool_annotations hints);
    tool_handle& read_only();
    tool_handle& idempotent();
    tool_handle& destructive(bool value);
    /// The schema of `structuredContent`, for a tool whose result is not a described struct. A result without
    /// structured content is then a failure of the handler (F-8). *Errors*: errc::invalid_argument when the schema has
    /// another type than "object", which is added when none is there (F-6).
    tool_handle& output_schema(json::object schema);

    const std::string& name() const { return key(); }
};

/// A resource with a URI of its own.
class resource_handle final : public detail::describing_handle<resource_handle>
{
public:
    resource_handle(std::weak_ptr<detail::server_core> core, std::string uri);

    resource_handle& mime_type(std::string type);
    resource_handle& annotations(content_annotations hints);
    /// In bytes, before any encoding.
    resource_handle& size(std::int64_t bytes);

    const std::string& uri() const { return key(); }
};

/// Resources whose URIs follow a template.
class resource_template_handle final : public detail::describing_handle<resource_template_handle>
{
public:
    resource_template_handle(std::weak_ptr<detail::server_core> core, std::string uri_template);

    resource_template_handle& mime_type(std::string type);
    resource_template_handle& annotations(content_annotations hints);
    /// Suggests values of a variable: see `prompt_handle::complete`.
    template <class Completer>
    resource_template_handle& complete(std::string variable, Completer completer)
    {
        return set_completer(std::move(variable), detail::erase_handler<detail::completion_use>(std::move(completer)));
    }
    resource_template_handle& complete(std::string variable, std::vector<std::string> choice)
    {
        return complete(std::move(variable), detail::fixed_choice{std::move(choice)});
    }

    const std::string& uri_template() const { return key(); }

private:
    resource_template_handle& set_completer(std::string variable, detail::erased_handler completer);
};

/// A prompt.
class prompt_handle final : public detail::describing_handle<prompt_handle>
{
public:
    prompt_handle(std::weak_ptr<detail::server_core> core, std::string name);

    /// Describes an argument. *Errors*: errc::invalid_argument when there is no such argument.
    prompt_handle& argument(std::string name, std::string description, std::string title = {});

    /// Suggests values of an argument while a person types. `completer` takes what was typed, and optionally the other
    /// arguments (`comcp::completion_context`) and a `comcp::context&`; it returns `std::vector<std::string>` or
    /// `comcp::completion`, or a task of these. The first 100 are sent. A fixed choice offers what begins with the
    /// text. *Errors*: errc::invalid_argument when there is no such argument.
    template <class Completer>
    prompt_handle& complete(std::string argument, Completer completer)
    {
        return set_completer(std::move(argument), detail::erase_handler<detail::completion_use>(std::move(completer)));
    }
    prompt_handle& complete(std::string argument, std::vector<std::string> choice)
    {
        return complete(std::move(argument), detail::fixed_choice{std::move(choice)});
    }

    const std::string& name() const { return key(); }

private:
    prompt_handle& set_completer(std::string argument, detail::erased_handler completer);
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/handles.ipp>
#endif
