// SPDX-License-Identifier: MIT
//
// A registered tool with its handler erased, and how one call runs through it. The registry owns the entry and every
// running call holds it, so a tool may be changed or removed while it runs.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/rpc/message.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/server/tool.hpp>
#include <comcp/session/inbound.hpp>
#include <comcp/session/session.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// One tools/call on its way into a handler. Everything it points at ends with the reader's turn.
struct tool_call
{
    session& owner;
    const std::shared_ptr<const handler_environment>& environment;
    const rpc::message& request;
    const answer_route& route;
    const json::value& arguments;     // an object
    std::string_view arguments_text;  // where sources are kept, else empty
    const comcp::executor& elsewhere; // the host's executor for handlers; empty: none

    reply now() const { return reply(owner.codec(), owner.spoken(), owner, &request.id, &route); }

    /// Takes the request in for a handler that answers later; null when it was refused.
    std::shared_ptr<inbound> admit() const;

    context make_context(const std::shared_ptr<inbound>& admitted, bool is_elsewhere) const;

private:
    /// A token beyond every integer type is still sent back digit by digit.
    std::optional<progress_token> exact_token() const;
};

class tool_entry final
{
public:
    /// Makes the schemas. *Errors*: errc::invalid_argument when a note names no member.
    tool_entry(comcp::tool described, erased_handler handler);
    /// Shares the handler: to be changed and published in place of the other.
    tool_entry(const tool_entry&) = default;
    tool_entry& operator=(const tool_entry&) = delete;
    ~tool_entry() = default;

    /// Runs one call; leads to one answer.
    void call(std::shared_ptr<const tool_entry> self, const tool_call& call) const;
    /// Describes a member of the arguments. *Errors*: errc::invalid_argument when there is no such member.
    void describe(std::string name, field note);
    /// Needs an executor of the host to run on.
    bool blocks() const { return handler_.type->blocking; }

    comcp::tool info;
    bool enabled = true;

private:
    /// False when the arguments do not bind; it is answered then.
    bool bind(const tool_call& call, void* given) const;
    /// A plain handler answers; nothing escapes.
    void answer(const reply& to, void* given, context* ctx) const;
    void run(const tool_call& call, void* given) const;
    void run_elsewhere(const std::shared_ptr<const tool_entry>& self, const tool_call& call) const;
    static task<void> run_plain(std::shared_ptr<const tool_entry> self, std::unique_ptr<erased_object> given,
                                const wire::codec& codec, context ctx);

    erased_handler handler_;
    notes notes_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/tool_entry.ipp>
#endif
