// SPDX-License-Identifier: MIT
//
// How a call is taken in and run: see server/tool_entry.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/tool_entry.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::shared_ptr<inbound> tool_call::admit() const
{
    auto admitted = owner.admit(request, route);
    if (!admitted || !request.params) return admitted;
    const json::object* meta = object_member(*request.params, "_meta");
    const json::value* token = meta ? member(*meta, "progressToken") : nullptr;
    if (!token) return admitted;
    if (const json::string* text = token->if_string())
        admitted->token = progress_token::string(std::string(text->data(), text->size()));
    else if (token->is_int64()) admitted->token = progress_token(token->get_int64());
    else if (token->is_uint64()) admitted->token = progress_token(token->get_uint64());
    else if (token->is_double()) admitted->token = exact_token();
    return admitted;
}

COMCP_DECL context tool_call::make_context(const std::shared_ptr<inbound>& admitted, bool is_elsewhere) const
{
    context made(environment, admitted, is_elsewhere);
    std::shared_ptr<const std::string> source;
    std::shared_ptr<const json::object> meta;
    if (!arguments_text.empty()) source = std::make_shared<const std::string>(arguments_text);
    if (const json::object* sent = request.params ? object_member(*request.params, "_meta") : nullptr)
        meta = std::make_shared<const json::object>(*sent, json::storage_ptr());
    made.attach(std::move(source), std::move(meta));
    return made;
}

COMCP_DECL std::optional<progress_token> tool_call::exact_token() const
{
    auto text = member_source(request.text, "params");
    if (text) text = member_source(*text, "_meta");
    if (text) text = member_source(*text, "progressToken");
    return text ? rpc::id::from_number(*text) : std::nullopt;
}

COMCP_DECL tool_entry::tool_entry(comcp::tool described, erased_handler handler)
    : info(std::move(described)),
      handler_(std::move(handler))
{
    const handler_type& type = *handler_.type;
    if (type.described) {
        const struct_facts& facts = type.described->facts();
        check_notes(facts.members, notes_, facts.beside).value();
        info.input_schema = struct_schema(facts, type.described->schema, schema_scope{schema_use::arguments}, notes_);
    } else if (!type.raw) {
        info.input_schema["type"] = "object";
        info.input_schema["properties"].emplace_object();
        info.input_schema["additionalProperties"] = false;
    }
    if (type.output_schema) info.output_schema = type.output_schema();
}

COMCP_DECL void tool_entry::describe(std::string name, field note)
{
    const argument_type* described = handler_.type->described;
    if (!described) throw_fault(fail(errc::invalid_argument, "tool \"" + info.name + "\" has no described arguments"));
    const struct_facts& facts = described->facts();
    notes changed = notes_;
    changed.add(std::move(name), std::move(note));
    check_notes(facts.members, changed, facts.beside).value();
    notes_ = std::move(changed);
    info.input_schema = struct_schema(facts, described->schema, schema_scope{schema_use::arguments}, notes_);
}

COMCP_DECL void tool_entry::call(std::shared_ptr<const tool_entry> self, const tool_call& call) const
{
    const handler_type& type = *handler_.type;
    if (call.elsewhere && !type.start) return run_elsewhere(self, call);
    erased_object given(*type.given);
    if (!bind(call, given.get())) return;
    if (type.start) {
        auto admitted = call.admit();
        if (!admitted) return;
        if (call.elsewhere) {
            call.owner.spawn_on(call.elsewhere, admitted,
                                type.start(handler_.function, given.get(), call.owner.codec(),
                                           call.make_context(admitted, true), true));
        } else {
            auto body = type.start(handler_.function, given.get(), call.owner.codec(),
                                   call.make_context(admitted, false), false);
            call.owner.spawn(std::move(admitted), std::move(body));
        }
    } else if (type.blocking) {
        call.owner.answer_error(&call.request.id, call.route, rpc_code::internal_error,
                                "this server has no executor for blocking handlers");
    } else {
        run(call, given.get());
    }
}

COMCP_DECL bool tool_entry::bind(const tool_call& call, void* given) const
{
    const handler_type& type = *handler_.type;
    if (type.raw) {
        *static_cast<json::object*>(given) = json::object(call.arguments.get_object(), json::storage_ptr()); // its own
    } else if (type.described) {
        bind_errors errors;
        bind_scope scope{errors};
        scope.extra = &notes_;
        bind_members(call.arguments, given, type.described->facts(), type.described->bind, scope);
        if (!errors.empty()) {
            // The model's mistake, told to it, all at once (2025-11-25, tools: F-14).
            call.now().send_failure("invalid arguments:\n" + errors.text());
            return false;
        }
    }
    return true;
}

COMCP_DECL void tool_entry::answer(const reply& to, void* given, context* ctx) const
{
    try {
        handler_.type->answer(handler_.function.get(), given, ctx, to);
    } catch (...) {
        to.send_exception();
    }
}

/// A short plain function, in the reader's turn: nothing can interleave, so nothing is kept for it.
COMCP_DECL void tool_entry::run(const tool_call& call, void* given) const
{
    if (!handler_.type->takes_context) return answer(call.now(), given, nullptr);
    const auto admitted = call.admit();
    if (!admitted) return;
    context ctx = call.make_context(admitted, false);
    answer(reply(call.owner.codec(), ctx, false), given, &ctx);
}

COMCP_DECL void tool_entry::run_elsewhere(const std::shared_ptr<const tool_entry>& self, const tool_call& call) const
{
    auto given = std::make_unique<erased_object>(*handler_.type->given);
    if (!bind(call, given->get())) return;
    const auto admitted = call.admit();
    if (!admitted) return;
    call.owner.spawn_on(call.elsewhere, admitted,
                        run_plain(self, std::move(given), call.owner.codec(), call.make_context(admitted, true)));
}

COMCP_DECL task<void> tool_entry::run_plain(std::shared_ptr<const tool_entry> self,
                                            std::unique_ptr<erased_object> given, const wire::codec& codec, context ctx)
{
    if (ctx.cancelled()) co_return; // given up while it waited for the host's executor
    self->answer(reply(codec, ctx, true), given->get(), &ctx);
}

} // namespace comcp::inline COMCP_ABI::detail
