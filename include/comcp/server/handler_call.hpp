// SPDX-License-Identifier: MIT
//
// One request on its way into a handler, whatever it is for: in the reader's turn, as a coroutine of the session, or on
// the host's executor. The running call holds the handler, so what it belongs to may be changed or removed meanwhile.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/erased_object.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/handler.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/session/session.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// Everything it points at ends with the reader's turn.
struct handler_call
{
    session& owner;
    const std::shared_ptr<const handler_environment>& environment;
    const rpc::message& request;
    const answer_route& route;
    const comcp::executor& elsewhere;     ///< the host's executor for handlers; empty: none
    std::string_view arguments_text = {}; ///< where sources are kept, else empty
    bool owes_structure = false;          ///< a tool that declared an output schema

    reply now() const { return reply(*environment, owner, request.id, route, owes_structure); }

    /// Takes the request in for a handler that answers later; null when it was refused.
    std::shared_ptr<inbound> admit() const;

    context make_context(const std::shared_ptr<inbound>& admitted) const;

    /// Runs a handler with what it is given; leads to one answer.
    void run(const erased_handler& handler, void* given) const;
    /// The same for a plain function when there is an executor of the host.
    void run_elsewhere(const erased_handler& handler, std::unique_ptr<erased_object> given) const;
};

/// Runs a handler with what `fill(void* given)` makes. When that returns false the handler is not run, and this returns
/// false; `fill` has answered then, or somebody else will.
template <class Fill>
bool run_handler(erased_handler handler, const handler_call& call, Fill fill)
{
    if (call.elsewhere && !handler.type->start) {
        auto given = std::make_unique<erased_object>(*handler.type->given);
        if (!fill(given->get())) return false;
        call.run_elsewhere(handler, std::move(given));
        return true;
    }
    erased_object given(*handler.type->given);
    if (!fill(given.get())) return false;
    call.run(handler, given.get());
    return true;
}

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/handler_call.ipp>
#endif
