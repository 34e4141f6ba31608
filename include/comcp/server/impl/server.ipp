// SPDX-License-Identifier: MIT
//
// A server, what its sessions share, and the tools that it offers: see server/server.hpp, server/server_core.hpp and
// server/registry.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/server/server.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/server_session.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL tool_handle::tool_handle(std::weak_ptr<detail::server_core> core, std::string name)
    : core_(std::move(core)),
      name_(std::move(name))
{}

/// `change(tool_entry&)` returns whether there is something to publish.
template <class Change>
tool_handle& tool_handle::edit(Change change)
{
    if (auto core = core_.lock()) core->tools.edit(name_, std::move(change));
    return *this;
}

COMCP_DECL tool_handle& tool_handle::field(std::string member, comcp::field note)
{
    return edit([&](detail::tool_entry& entry) {
        entry.describe(std::move(member), std::move(note));
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::title(std::string text)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.title = std::move(text);
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::description(std::string text)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.description = std::move(text);
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::annotations(tool_annotations hints)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.annotations = std::move(hints);
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::read_only()
{
    return edit([](detail::tool_entry& entry) {
        entry.info.annotations.read_only_hint = true;
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::idempotent()
{
    return edit([](detail::tool_entry& entry) {
        entry.info.annotations.idempotent_hint = true;
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::destructive(bool value)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.annotations.destructive_hint = value;
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::output_schema(json::object schema)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.output_schema = std::move(schema);
        return true;
    });
}

COMCP_DECL tool_handle& tool_handle::meta(json::object value)
{
    return edit([&](detail::tool_entry& entry) {
        entry.info.meta = std::move(value);
        return true;
    });
}

COMCP_DECL void tool_handle::enable(bool on)
{
    edit([&](detail::tool_entry& entry) { return std::exchange(entry.enabled, on) != on; });
}

COMCP_DECL bool tool_handle::remove()
{
    auto core = core_.lock();
    return core && core->tools.remove(name_);
}

namespace detail
{

COMCP_DECL std::shared_ptr<server_core> make_server(identity who, server_options options, std::shared_ptr<void> policy,
                                                    observer_ref observer)
{
    auto core = std::make_shared<server_core>(std::move(who), std::move(options));
    core->policy = std::move(policy);
    core->observer = observer;
    core->listen_to_changes();
    return core;
}

COMCP_DECL tool_handle add_tool(const std::shared_ptr<server_core>& core, tool described, erased_handler handler)
{
    std::string name = described.name;
    core->tools.add(std::make_shared<tool_entry>(std::move(described), std::move(handler)));
    return tool_handle(core, std::move(name));
}

COMCP_DECL tool_handle add_tool(const std::shared_ptr<server_core>& core, std::string name, std::string description,
                                erased_handler handler)
{
    tool described(std::move(name));
    described.description = std::move(description);
    return add_tool(core, std::move(described), std::move(handler));
}

COMCP_DECL bool remove_tool(server_core& core, std::string_view name) { return core.tools.remove(name); }
COMCP_DECL void set_handler_executor(server_core& core, executor ex) { core.handler_executor = std::move(ex); }
COMCP_DECL void add_middleware(server_core& core, middleware part)
{
    auto longer = core.chain ? *core.chain : middleware_chain();
    longer.push_back(std::move(part));
    core.chain = std::make_shared<const middleware_chain>(std::move(longer));
}

COMCP_DECL server_options& options_of(server_core& core) { return core.options; }
COMCP_DECL const identity& identity_of(const server_core& core) { return core.who; }
COMCP_DECL void close_server(server_core& core) { core.close_all(); }
COMCP_DECL void abandon_server(server_core& core) { core.abandon_all(); }

COMCP_DECL server_capabilities server_core::capabilities() const
{
    server_capabilities declared;
    declared.declare("tools", "listChanged").declare("logging");
    return declared;
}

COMCP_DECL void server_core::listen_to_changes()
{
    tools.listen([weak = weak_from_this()] {
        if (auto self = weak.lock())
            self->post_to_all([](session& each) { each.tell_role(role_event::tools_changed); });
    });
}

COMCP_DECL void server_core::add(const std::shared_ptr<session>& started)
{
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= sweep_at_) { // rarely, so that a session costs the same however many there are
        std::erase_if(sessions_, [](const live_session& each) { return each.owner.expired(); });
        sweep_at_ = 2 * sessions_.size() + 16;
    }
    sessions_.push_back({started->home(), started});
}

COMCP_DECL void server_core::abandon_all()
{
    post_to_all([](session& each) { each.abandon(fault(errc::closed, "the server was closed")); });
}

COMCP_DECL void server_core::close_all()
{
    post_to_all([](session& each) { each.begin_close(fault(errc::closed, "the server was closed"), false); });
}

COMCP_DECL std::shared_ptr<session> make_server_session(const std::shared_ptr<server_core>& core, const executor& ex,
                                                        std::unique_ptr<transport> wire, session_origin from)
{
    auto made = std::make_shared<session>(ex, std::move(wire), core->options.limits, core->observer);
    made->keep_alive(core->policy); // the observer
    made->set_chain(core->chain);
    made->set_role(std::make_unique<server_session>(*made, core, std::move(from)));
    core->add(made);
    return made;
}

COMCP_DECL void check_blocking_tools(const server_core& core)
{
    const auto tools = core.tools.snapshot();
    for (const auto& each : tools->all())
        if (each->blocks() && !core.handler_executor)
            throw error(fail(errc::invalid_argument, "the blocking tool \"" + each->info.name +
                                                         "\" needs an executor: server.handlers_on(...)"));
}

COMCP_DECL task<fault> serve(std::shared_ptr<server_core> core, std::unique_ptr<transport> wire)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    check_blocking_tools(*core);
    const auto started = make_server_session(core, ex, std::move(wire));
    const abandon_on_exit guard(started);
    co_await session::start(started);
    co_await session::wait_ended(started);
    co_return started->why_ended();
}

COMCP_DECL void tool_registry::listen(on_change listener)
{
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
}

COMCP_DECL std::shared_ptr<const tool_set> tool_registry::snapshot() const
{
    const std::lock_guard lock(mutex_);
    return current_;
}

COMCP_DECL void tool_registry::add(std::shared_ptr<const tool_entry> entry)
{
    change([&](std::vector<std::shared_ptr<const tool_entry>>& entries) {
        if (entry->info.name.empty()) throw error(fail(errc::invalid_argument, "a tool needs a name"));
        if (current_->find_any(entry->info.name))
            throw error(fail(errc::invalid_argument, "there is a tool \"" + entry->info.name + "\" already"));
        entries.push_back(std::move(entry));
        return true;
    });
}

COMCP_DECL bool tool_registry::remove(std::string_view name)
{
    return change([&](std::vector<std::shared_ptr<const tool_entry>>& entries) {
        return std::erase_if(entries, [&](const auto& each) { return each->info.name == name; }) != 0;
    });
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
