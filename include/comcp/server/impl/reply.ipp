// SPDX-License-Identifier: MIT
//
// How an answer is written: see server/reply.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/protocol/completion.hpp>
#include <comcp/protocol/prompts.hpp>
#include <comcp/protocol/resources.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/handler_error.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/codec.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

// What is told without saying why.
inline constexpr std::string_view tool_failed = "the tool failed";
// What the observer hears: JSON has no word for such a number, and null would be something else.
inline constexpr const char* not_finite_text = "a number of the result is not finite";

COMCP_DECL reply::reply(const handler_environment& shared, session& owner, const rpc::id& id, const answer_route& route,
                        bool owes_structure)
    : codec_(*shared.codec),
      shared_(shared),
      owner_(&owner),
      id_(&id),
      route_(&route),
      owes_structure_(owes_structure)
{}

COMCP_DECL reply::reply(const context& ctx)
    : codec_(*ctx.environment().codec),
      shared_(ctx.environment()),
      context_(&ctx),
      owes_structure_(ctx.owes_structure())
{}

/// `write(std::string&)` appends the result object.
template <class Write>
void reply::send(Write write) const
{
    if (owner_) return owner_->answer(*id_, *route_, write);
    if (!context_->elsewhere()) {
        if (session* owner = context_->request()->owner()) owner->answer(*context_->request(), write);
        return;
    }
    std::string text;
    write(text);
    on_session(shared_, context_->request(), true,
               [request = context_->request(), text = std::move(text)](session& owner) {
                   owner.answer(*request, [&](std::string& out) { out += text; });
               });
}

/// The same for `write` that tells whether all numbers are finite. One that is not makes it an error.
template <class Write>
void reply::send_if_finite(Write write) const
{
    bool finite = true;
    try {
        send([&](std::string& out) {
            finite = write(out);
            if (!finite) throw error(fail(errc::invalid_argument, not_finite_text));
        });
    } catch (const error&) { // it was to go to the session from elsewhere
        send_error(rpc_code::internal_error, "the result could not be written");
    }
    if (!finite) observe_failure(not_finite_text);
}

COMCP_DECL void reply::send_error(std::int64_t code, std::string_view message, std::string_view data) const
{
    if (owner_) return owner_->answer_error(id_, *route_, code, message, data);
    if (!context_->elsewhere()) {
        if (session* owner = context_->request()->owner())
            owner->answer_error(*context_->request(), code, message, data);
        return;
    }
    on_session(shared_, context_->request(), true,
               [request = context_->request(), code, message = std::string(message),
                data = std::string(data)](session& owner) { owner.answer_error(*request, code, message, data); });
}

COMCP_DECL bool reply::owes_structure() const
{
    return owes_structure_ && shared_.peer->version >= revision::r2025_06_18; // before, no client knows of the schema
}

COMCP_DECL void reply::observe_failure(std::string_view why) const
{
    if (owner_) return owner_->observer().handler_failed(id_->text(), why);
    if (context_->cancelled()) return; // what it was made to throw
    const auto tell = [of = shared_.owner, request = context_->request(), why = std::string(why)] {
        if (const auto owner = of.lock()) owner->observer().handler_failed(request->id().text(), why);
    };
    if (context_->elsewhere()) shared_.home->post(tell);
    else tell();
}

COMCP_DECL void reply::send_unstructured() const
{
    observe_failure("the tool declared an output schema, and its result has no structured content");
    send_failure(tool_failed);
}

COMCP_DECL void reply::send_nothing() const
{
    if (owes_structure()) return send_unstructured();
    send([](std::string& out) { out += R"({"content":[]})"; });
}

COMCP_DECL void reply::send_text(std::string_view text) const
{
    if (owes_structure()) return send_unstructured();
    send([&](std::string& out) { codec_.write_text_result(out, text, false, shared_.peer->version); });
}

COMCP_DECL void reply::send_result(const tool_result& value) const
{
    if (!value.structured && !value.is_error && owes_structure()) return send_unstructured();
    bool finite = true;
    send([&](std::string& out) {
        const std::size_t start = out.size();
        finite = codec_.write_tool_result(out, value, shared_.peer->version);
        if (finite) return;
        out.resize(start);
        codec_.write_text_result(out, tool_failed, true, shared_.peer->version);
    });
    if (!finite) observe_failure(not_finite_text);
}

COMCP_DECL void reply::send_structured(std::string_view object) const
{
    send([&](std::string& out) {
        write_string(out += R"({"content":[{"type":"text","text":)", object);
        out += "}]";
        if (shared_.peer->version >= revision::r2025_06_18) (out += R"(,"structuredContent":)") += object;
        out += '}';
    });
}

COMCP_DECL void reply::send_not_finite() const
{
    observe_failure(not_finite_text);
    send_failure(tool_failed);
}

COMCP_DECL void reply::send_failure(std::string_view text) const
{
    send([&](std::string& out) { codec_.write_text_result(out, text, true, shared_.peer->version); });
}

COMCP_DECL void reply::send_resource(const resource_result& value) const
{
    send_if_finite([&](std::string& out) { return codec_.write_resource_result(out, value, shared_.peer->version); });
}

COMCP_DECL void reply::send_prompt(const prompt_result& value) const
{
    send_if_finite([&](std::string& out) { return codec_.write_prompt_result(out, value, shared_.peer->version); });
}

COMCP_DECL void reply::send_completion(const completion& value) const
{
    send_if_finite([&](std::string& out) { return codec_.write_completion(out, value, shared_.peer->version); });
}

COMCP_DECL void reply::send_resource_not_found(std::string_view uri) const
{
    std::string data = R"({"uri":)";
    write_string(data, uri);
    data += '}';
    send_error(codec_.resource_not_found_code(shared_.peer->version), "no such resource", data);
}

/// What a client is told that cannot be sent to a URL by the error for it.
inline std::string text_of(const url_elicitation_required& needed)
{
    std::string text = needed.what();
    for (const elicitation_request& each : needed.required()) ((text += '\n') += each.message + ' ') += each.url;
    return text;
}

/// 2025-11-25, elicitation: only that revision has the error, and only a client that can open URLs understands it.
inline bool can_be_told(const handler_environment& shared, const url_elicitation_required& needed)
{
    if (shared.peer->version < revision::r2025_11_25) return false;
    for (const elicitation_request& each : needed.required())
        if (check_elicitation(each, shared.peer->capabilities)) return false;
    return true;
}

inline std::string data_of(const url_elicitation_required& needed)
{
    std::string data;
    write_value(data, url_elicitation_data(needed.required()));
    return data;
}

COMCP_DECL void reply::send_tool_exception() const
{
    try {
        throw;
    } catch (const tool_error& failure) {
        send_failure(failure.what());
    } catch (const url_elicitation_required& needed) {
        if (!can_be_told(shared_, needed)) return send_failure(text_of(needed));
        send_error(rpc_code::url_elicitation_required, needed.what(), data_of(needed));
    } catch (const request_error& refusal) {
        send_error(refusal.code(), refusal.what());
    } catch (const std::exception& other) {
        observe_failure(other.what());
        send_failure(tool_failed);
    } catch (...) {
        observe_failure("an unknown exception");
        send_failure(tool_failed);
    }
}

COMCP_DECL void reply::send_exception(std::string_view what, std::string_view uri) const
{
    try {
        throw;
    } catch (const resource_not_found& missing) {
        if (uri.empty()) send_error(rpc_code::internal_error, missing.what());
        else send_resource_not_found(uri);
    } catch (const tool_error& failure) {
        send_error(rpc_code::internal_error, failure.what());
    } catch (const url_elicitation_required& needed) {
        if (!can_be_told(shared_, needed)) return send_error(rpc_code::internal_error, text_of(needed));
        send_error(rpc_code::url_elicitation_required, needed.what(), data_of(needed));
    } catch (const request_error& refusal) {
        send_error(refusal.code(), refusal.what());
    } catch (const std::exception& other) {
        observe_failure(other.what());
        send_error(rpc_code::internal_error, what);
    } catch (...) {
        observe_failure("an unknown exception");
        send_error(rpc_code::internal_error, what);
    }
}

} // namespace comcp::inline COMCP_ABI::detail
