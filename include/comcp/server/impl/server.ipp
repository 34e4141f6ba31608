// SPDX-License-Identifier: MIT
//
// What all sessions of a server share, and the tools that it offers: see server/server_core.hpp and
// server/registry.hpp.
#pragma once

#include <comcp/server/server_core.hpp>
#include <comcp/server/server_session.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

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

COMCP_DECL task<fault> serve(std::shared_ptr<server_core> core, std::unique_ptr<transport> wire)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    const auto tools = core->tools.snapshot();
    for (const auto& each : tools->all())
        if (each->blocks() && !core->handler_executor)
            throw error(fail(errc::invalid_argument, "the blocking tool \"" + each->info.name +
                                                         "\" needs an executor: server.handlers_on(...)"));
    auto started = std::make_shared<session>(ex, std::move(wire), core->options.limits, core->observer);
    started->keep_alive(core->policy); // the observer
    started->set_role(std::make_unique<server_session>(*started, core));
    const abandon_on_exit guard(started);
    core->add(started);
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

} // namespace comcp::inline COMCP_ABI::detail
