// SPDX-License-Identifier: MIT
//
// How an answer is written: see server/reply.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/protocol/tools.hpp>
#include <comcp/server/context.hpp>
#include <comcp/server/environment.hpp>
#include <comcp/server/reply.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/codec.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL reply::reply(const wire::codec& codec, const context& ctx, bool elsewhere)
    : codec_(&codec),
      at_(ctx.version()),
      context_(&ctx),
      elsewhere_(elsewhere)
{}

/// `write(std::string&)` appends the result object.
template <class Write>
void reply::send(Write write) const
{
    if (owner_) return owner_->answer(*id_, *route_, write);
    if (!elsewhere_) {
        if (session* owner = context_->request()->owner()) owner->answer(*context_->request(), write);
        return;
    }
    std::string text;
    write(text);
    on_session(context_->environment(), context_->request(), true,
               [request = context_->request(), text = std::move(text)](session& owner) {
                   owner.answer(*request, [&](std::string& out) { out += text; });
               });
}

COMCP_DECL void reply::send_nothing() const
{
    send([](std::string& out) { out += R"({"content":[]})"; });
}

COMCP_DECL void reply::send_text(std::string_view text) const
{
    send([&](std::string& out) { codec_->write_text_result(out, text, false, at_); });
}

COMCP_DECL void reply::send_result(const tool_result& value) const
{
    send([&](std::string& out) { codec_->write_tool_result(out, value, at_); });
}

COMCP_DECL void reply::send_structured(std::string_view object) const
{
    send([&](std::string& out) {
        write_string(out += R"({"content":[{"type":"text","text":)", object);
        out += "}]";
        if (at_ >= revision::r2025_06_18) (out += R"(,"structuredContent":)") += object;
        out += '}';
    });
}

COMCP_DECL void reply::send_failure(std::string_view text) const
{
    send([&](std::string& out) { codec_->write_text_result(out, text, true, at_); });
}

COMCP_DECL void reply::send_exception() const
{
    try {
        throw;
    } catch (const tool_error& failure) {
        send_failure(failure.what());
    } catch (...) {
        send_failure("the tool failed");
    }
}

} // namespace comcp::inline COMCP_ABI::detail
