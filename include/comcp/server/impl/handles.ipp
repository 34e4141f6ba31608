// SPDX-License-Identifier: MIT
//
// How what was registered is changed: see server/handles.hpp.
#pragma once

#include <comcp/server/handles.hpp>
#include <comcp/server/prompt_entry.hpp>
#include <comcp/server/resource_entry.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/tool_entry.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

COMCP_DECL entry_handle::entry_handle(std::weak_ptr<server_core> core, entry_kind kind, std::string key)
    : core_(std::move(core)),
      kind_(kind),
      key_(std::move(key))
{}

template <class Entry, class Change>
void entry_handle::edit(Change change)
{
    if (auto core = core_.lock())
        core->offers(kind_).edit(key_, [&](entry& changed) { change(static_cast<Entry&>(changed)); });
}

COMCP_DECL void entry_handle::set_title(std::string text)
{
    edit<entry>([&](entry& changed) { changed.parts().title = std::move(text); });
}

COMCP_DECL void entry_handle::set_description(std::string text)
{
    edit<entry>([&](entry& changed) { changed.parts().description = std::move(text); });
}

COMCP_DECL void entry_handle::set_icons(std::vector<icon> pictures)
{
    edit<entry>([&](entry& changed) { changed.parts().icons = std::move(pictures); });
}

COMCP_DECL void entry_handle::set_meta(json::object value)
{
    edit<entry>([&](entry& changed) { changed.parts().meta = std::move(value); });
}

COMCP_DECL void entry_handle::enable(bool on)
{
    edit<entry>([&](entry& changed) { changed.enabled = on; });
}

COMCP_DECL bool entry_handle::remove()
{
    auto core = core_.lock();
    return core && core->offers(kind_).remove(key_);
}

} // namespace detail

COMCP_DECL tool_handle::tool_handle(std::weak_ptr<detail::server_core> core, std::string name)
    : describing_handle(std::move(core), detail::entry_kind::tool, std::move(name))
{}

COMCP_DECL tool_handle& tool_handle::field(std::string member, comcp::field note)
{
    edit<detail::tool_entry>([&](detail::tool_entry& entry) { entry.describe(std::move(member), std::move(note)); });
    return *this;
}

COMCP_DECL tool_handle& tool_handle::annotations(tool_annotations hints)
{
    edit<detail::tool_entry>([&](detail::tool_entry& entry) { entry.info.annotations = std::move(hints); });
    return *this;
}

COMCP_DECL tool_handle& tool_handle::read_only()
{
    edit<detail::tool_entry>([](detail::tool_entry& entry) { entry.info.annotations.read_only_hint = true; });
    return *this;
}

COMCP_DECL tool_handle& tool_handle::idempotent()
{
    edit<detail::tool_entry>([](detail::tool_entry& entry) { entry.info.annotations.idempotent_hint = true; });
    return *this;
}

COMCP_DECL tool_handle& tool_handle::destructive(bool value)
{
    edit<detail::tool_entry>([&](detail::tool_entry& entry) { entry.info.annotations.destructive_hint = value; });
    return *this;
}

COMCP_DECL tool_handle& tool_handle::output_schema(json::object schema)
{
    edit<detail::tool_entry>([&](detail::tool_entry& entry) { entry.set_output_schema(std::move(schema)); });
    return *this;
}

COMCP_DECL resource_handle::resource_handle(std::weak_ptr<detail::server_core> core, std::string uri)
    : describing_handle(std::move(core), detail::entry_kind::resource, std::move(uri))
{}

COMCP_DECL resource_handle& resource_handle::mime_type(std::string type)
{
    edit<detail::resource_entry>([&](detail::resource_entry& entry) { entry.info.mime_type = std::move(type); });
    return *this;
}

COMCP_DECL resource_handle& resource_handle::annotations(content_annotations hints)
{
    edit<detail::resource_entry>([&](detail::resource_entry& entry) { entry.info.annotations = std::move(hints); });
    return *this;
}

COMCP_DECL resource_handle& resource_handle::size(std::int64_t bytes)
{
    edit<detail::resource_entry>([&](detail::resource_entry& entry) { entry.info.size = bytes; });
    return *this;
}

COMCP_DECL resource_template_handle::resource_template_handle(std::weak_ptr<detail::server_core> core,
                                                              std::string uri_template)
    : describing_handle(std::move(core), detail::entry_kind::resource_template, std::move(uri_template))
{}

COMCP_DECL resource_template_handle& resource_template_handle::mime_type(std::string type)
{
    edit<detail::template_entry>([&](detail::template_entry& entry) { entry.info.mime_type = std::move(type); });
    return *this;
}

COMCP_DECL resource_template_handle& resource_template_handle::annotations(content_annotations hints)
{
    edit<detail::template_entry>([&](detail::template_entry& entry) { entry.info.annotations = std::move(hints); });
    return *this;
}

COMCP_DECL resource_template_handle& resource_template_handle::set_completer(std::string variable,
                                                                             detail::erased_handler completer)
{
    edit<detail::template_entry>(
        [&](detail::template_entry& entry) { entry.set_completer(std::move(variable), std::move(completer)); });
    return *this;
}

COMCP_DECL prompt_handle::prompt_handle(std::weak_ptr<detail::server_core> core, std::string name)
    : describing_handle(std::move(core), detail::entry_kind::prompt, std::move(name))
{}

COMCP_DECL prompt_handle& prompt_handle::argument(std::string name, std::string description, std::string title)
{
    edit<detail::prompt_entry>(
        [&](detail::prompt_entry& entry) { entry.describe(name, std::move(description), std::move(title)); });
    return *this;
}

COMCP_DECL prompt_handle& prompt_handle::set_completer(std::string argument, detail::erased_handler completer)
{
    edit<detail::prompt_entry>(
        [&](detail::prompt_entry& entry) { entry.set_completer(std::move(argument), std::move(completer)); });
    return *this;
}

} // namespace comcp::inline COMCP_ABI
