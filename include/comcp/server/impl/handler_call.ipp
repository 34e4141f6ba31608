// SPDX-License-Identifier: MIT
//
// How a request is taken in and its handler run: see server/handler_call.hpp.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/session/progress_token.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::shared_ptr<inbound> handler_call::admit() const
{
    auto admitted = owner.admit(request, route);
    if (admitted) admitted->token = progress_token_of(request);
    return admitted;
}

COMCP_DECL context handler_call::make_context(const std::shared_ptr<inbound>& admitted) const
{
    context made(environment, admitted, static_cast<bool>(elsewhere));
    std::shared_ptr<const std::string> source;
    std::shared_ptr<const json::object> meta;
    if (!arguments_text.empty()) {
        source = std::make_shared<const std::string>(arguments_text);
        admitted->holds(arguments_text.size());
    }
    if (const json::object* sent = request.params ? object_member(*request.params, "_meta") : nullptr)
        meta = std::make_shared<const json::object>(*sent, json::storage_ptr());
    made.attach(std::move(source), std::move(meta), owes_structure);
    return made;
}

/// A plain handler answers; nothing escapes.
inline void answer_with(const erased_handler& handler, void* given, context* ctx, const reply& to)
{
    try {
        handler.type->answer(handler.function.get(), given, ctx, to);
    } catch (...) {
        handler.type->fail(given, to);
    }
}

COMCP_DECL void handler_call::run(const erased_handler& handler, void* given) const
{
    const handler_type& type = *handler.type;
    if (type.start) {
        auto admitted = admit();
        if (!admitted) return;
        auto body = type.start(handler.function, given, make_context(admitted));
        if (elsewhere) owner.spawn_on(elsewhere, admitted, std::move(body));
        else owner.spawn(std::move(admitted), std::move(body));
        return;
    }
    if (type.blocking)
        return owner.answer_error(&request.id, route, rpc_code::internal_error,
                                  "this server has no executor for blocking handlers");
    // A short plain function, in the reader's turn: nothing can interleave, so nothing is kept for it.
    if (!type.takes_context) return answer_with(handler, given, nullptr, now());
    const auto admitted = admit();
    if (!admitted) return;
    context ctx = make_context(admitted);
    answer_with(handler, given, &ctx, reply(ctx));
}

inline task<void> run_plain(erased_handler handler, std::unique_ptr<erased_object> given, context ctx)
{
    if (ctx.cancelled()) co_return; // given up while it waited for the host's executor
    answer_with(handler, given->get(), &ctx, reply(ctx));
}

COMCP_DECL void handler_call::run_elsewhere(const erased_handler& handler, std::unique_ptr<erased_object> given) const
{
    const auto admitted = admit();
    if (!admitted) return;
    owner.spawn_on(elsewhere, admitted, run_plain(handler, std::move(given), make_context(admitted)));
}

} // namespace comcp::inline COMCP_ABI::detail
