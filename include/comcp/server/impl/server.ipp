// SPDX-License-Identifier: MIT
//
// A server, what its sessions share, and how things are registered: see server/server.hpp and server/server_core.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/server/prompt_entry.hpp>
#include <comcp/server/resource_entry.hpp>
#include <comcp/server/server.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/server_session.hpp>
#include <comcp/server/tool_entry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

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

COMCP_DECL tool_handle add_tool(const std::shared_ptr<server_core>& core, tool described, tool_handler handler)
{
    std::string name = described.name;
    core->offers(entry_kind::tool).add(std::make_shared<tool_entry>(std::move(described), std::move(handler)));
    return tool_handle(core, std::move(name));
}

COMCP_DECL tool_handle add_tool(const std::shared_ptr<server_core>& core, std::string name, std::string description,
                                tool_handler handler)
{
    tool described(std::move(name));
    described.description = std::move(description);
    return add_tool(core, std::move(described), std::move(handler));
}

COMCP_DECL resource_handle add_resource(const std::shared_ptr<server_core>& core, resource described,
                                        resource_handler handler)
{
    std::string uri = described.uri;
    core->offers(entry_kind::resource).add(std::make_shared<resource_entry>(std::move(described), std::move(handler)));
    return resource_handle(core, std::move(uri));
}

COMCP_DECL resource_template_handle add_template(const std::shared_ptr<server_core>& core, resource_template described,
                                                 resource_handler handler)
{
    std::string pattern = described.uri_template;
    core->offers(entry_kind::resource_template)
        .add(std::make_shared<template_entry>(std::move(described), std::move(handler)));
    return resource_template_handle(core, std::move(pattern));
}

COMCP_DECL prompt_handle add_prompt(const std::shared_ptr<server_core>& core, prompt described, prompt_handler handler)
{
    std::string name = described.name;
    core->offers(entry_kind::prompt).add(std::make_shared<prompt_entry>(std::move(described), std::move(handler)));
    return prompt_handle(core, std::move(name));
}

COMCP_DECL bool remove_tool(server_core& core, std::string_view name)
{
    return core.offers(entry_kind::tool).remove(name);
}

COMCP_DECL void resource_updated(server_core& core, std::string_view uri) { core.subscriptions.updated(uri); }
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

COMCP_DECL server_capabilities server_core::capabilities(bool lasting)
{
    const auto resources = offers(entry_kind::resource).snapshot();
    const auto templates = offers(entry_kind::resource_template).snapshot();
    const auto prompts = offers(entry_kind::prompt).snapshot();
    server_capabilities declared;
    declared.declare("tools", "listChanged");
    if (options.offer_resources || !resources->all().empty() || !templates->all().empty()) {
        if (options.subscriptions && lasting) declared.declare("resources", "subscribe");
        declared.declare("resources", "listChanged");
    }
    if (options.offer_prompts || !prompts->all().empty()) declared.declare("prompts", "listChanged");
    if (options.offer_completions || templates->completes() || prompts->completes()) declared.declare("completions");
    declared.declare("logging");
    return declared;
}

COMCP_DECL void server_core::listen_to_changes()
{
    for (registry& each : offers_)
        each.listen([weak = weak_from_this()] {
            if (auto self = weak.lock()) self->for_all([](live_session& one) { one.wake(); });
        });
}

COMCP_DECL void server_core::add(std::shared_ptr<live_session> started)
{
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= sweep_at_) { // rarely, so that a session costs the same however many there are
        std::erase_if(sessions_, [](const auto& each) { return each->ended(); });
        sweep_at_ = 2 * sessions_.size() + 16;
    }
    sessions_.push_back(std::move(started));
}

COMCP_DECL void server_core::abandon_all()
{
    for_all([](live_session& each) {
        each.post([](session& owner) { owner.abandon(fault(errc::closed, "the server was closed")); });
    });
}

COMCP_DECL void server_core::close_all()
{
    for_all([](live_session& each) {
        each.post([](session& owner) { owner.begin_close(fault(errc::closed, "the server was closed"), false); });
    });
}

/// Over HTTP whoever lets go of a session last may be on another thread: a connection, a drain. It is destroyed where
/// it lives all the same, since a timer of it may be firing there: an armed one stays so up to the close limit after
/// the end.
struct destroy_at_home
{
    struct burial
    {
        explicit burial(session* which) : owned(which) {}
        void operator()() { owned.reset(); }
        std::unique_ptr<session> owned;
    };

    void operator()(session* which) const noexcept
    {
        burial last(which); // in place when there is no executor any more, or no memory
        const comcp::executor home = which->home()->where();
        try {
            if (home) asio::dispatch(home, std::move(last));
        } catch (...) {
        }
    }
};

COMCP_DECL std::shared_ptr<session> make_server_session(const std::shared_ptr<server_core>& core, const executor& ex,
                                                        std::unique_ptr<transport> wire, session_origin from)
{
    const std::shared_ptr<session> made(new session(ex, std::move(wire), core->options.limits, core->observer),
                                        destroy_at_home());
    made->keep_alive(core->policy); // the observer
    made->set_chain(core->chain);
    auto live = std::make_shared<live_session>(*made);
    made->set_role(std::make_unique<server_session>(*made, core, live, std::move(from)));
    core->add(std::move(live));
    return made;
}

COMCP_DECL void check_blocking_handlers(server_core& core)
{
    if (core.handler_executor) return;
    for (const entry_kind kind : all_entry_kinds) {
        const auto offered = core.offers(kind).snapshot();
        for (const entry_ptr& each : offered->all())
            if (each->blocks())
                throw error(fail(errc::invalid_argument, "the blocking handler of \"" + each->key() +
                                                             "\" needs an executor: server.handlers_on(...)"));
    }
}

COMCP_DECL task<fault> serve(std::shared_ptr<server_core> core, std::unique_ptr<transport> wire)
{
    const comcp::executor ex = co_await asio::this_coro::executor;
    check_blocking_handlers(*core);
    const auto started = make_server_session(core, ex, std::move(wire));
    const abandon_on_exit guard(started);
    co_await session::start(started);
    co_await session::wait_ended(started);
    co_return started->why_ended();
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
