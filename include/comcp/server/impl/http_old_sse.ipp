// SPDX-License-Identifier: MIT
//
// The old HTTP+SSE transport (2024-11-05) of an HTTP service: a GET whose stream is a session, and POSTs beside it.
#pragma once

#include <comcp/http/grammar.hpp>
#include <comcp/http/sse.hpp>
#include <comcp/http/url.hpp>
#include <comcp/rpc/parse.hpp>
#include <comcp/server/http_core.hpp>
#include <comcp/server/impl/http_service.ipp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

inline constexpr std::string_view old_session_parameter = "sessionId";

/// The value of a parameter that stands in the query once; as it was written.
COMCP_DECL std::optional<std::string_view> query_parameter(std::string_view target, std::string_view name)
{
    std::optional<std::string_view> found;
    std::string_view query = target.substr(std::min(target.find('?'), target.size()));
    while (!query.empty()) {
        query.remove_prefix(1); // '?' or '&'
        const std::string_view item = query.substr(0, query.find('&'));
        query.remove_prefix(item.size());
        const std::size_t equals = item.find('=');
        if (equals == item.npos || item.substr(0, equals) != name) continue;
        if (found) return std::nullopt; // who else looks at it may take the other one
        found = item.substr(equals + 1);
    }
    return found;
}

/// The stream that is a session: where to post comes first, and the session ends when it goes.
class old_sse_stream final : public http::body_stream
{
public:
    old_sse_stream(std::string endpoint, std::unique_ptr<http::body_stream> events, std::shared_ptr<session_table> in,
                   std::shared_ptr<table_entry> of)
        : endpoint_(std::move(endpoint)),
          events_(std::move(events)),
          table_(std::move(in)),
          entry_(std::move(of))
    {}

    ~old_sse_stream() override { table_->remove(entry_->id, entry_->principal); }

    task<bool> next(std::string& out) override
    {
        if (endpoint_.empty()) return events_->next(out);
        return told(std::exchange(endpoint_, {}), out);
    }

private:
    static task<bool> told(std::string endpoint, std::string& out)
    {
        http::write_sse_event(out, endpoint, {}, "endpoint");
        co_return true;
    }

    std::string endpoint_;
    std::unique_ptr<http::body_stream> events_;
    std::shared_ptr<session_table> table_;
    std::shared_ptr<table_entry> entry_;
};

// ---- where ---------------------------------------------------------------------------------------------------------

COMCP_DECL result<http_guards> make_guards(const http_service_options& options)
{
    http::guard_settings with = options.guard;
    with.supports = [](std::string_view version) { return parse_revision(version).has_value(); };
    with.streams = with.sessions = options.has_sessions();
    auto endpoint = http::guard::make(with);
    if (!endpoint) return endpoint.error();
    http_guards out{*std::move(endpoint), {}, {}};
    const old_sse_paths& old = options.old_paths();
    if (old.stream.empty() && old.messages.empty()) return out;

    for (const std::string* path : {&old.stream, &old.messages}) {
        const bool is_path = path->starts_with('/') && http::detail::all(*path, http::detail::target_char);
        if (!is_path || path->find_first_of("?#") != path->npos || *path == with.path)
            return fail(errc::invalid_argument, "the paths of the old transport must be paths, and other ones");
    }
    if (old.stream == old.messages)
        return fail(errc::invalid_argument, "the stream of the old transport needs a path of its own");
    if (!http::detail::all(old.announced, http::detail::target_char) || old.announced.find('#') != old.announced.npos)
        return fail(errc::invalid_argument, "what clients of the old transport are told must be a path or a URL");
    with.sessions = false;
    with.path = old.stream;
    with.streams = true;
    with.posts = false;
    auto stream = http::guard::make(with);
    with.path = old.messages;
    with.streams = false;
    with.posts = true;
    auto messages = http::guard::make(std::move(with));
    out.old_stream.emplace(std::move(stream).value());
    out.old_messages.emplace(std::move(messages).value());
    return out;
}

COMCP_DECL http_core::place http_core::place_of(const http::request& head) const
{
    if (!old_settings_) return place::endpoint;
    const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
    if (path == options.old_paths().stream) return place::old_stream;
    return path == options.old_paths().messages ? place::old_messages : place::endpoint;
}

COMCP_DECL const http::guard& http_core::guard_of(place where) const
{
    switch (where) {
    case place::old_stream: return *guards_.old_stream;
    case place::old_messages: return *guards_.old_messages;
    case place::endpoint: break;
    }
    return guards_.endpoint;
}

COMCP_DECL http_core::refusal http_core::refuse_old_message(const http::request& head) const
{
    const auto id = query_parameter(head.target, old_session_parameter);
    if (!id) return http_error_answer(400, "sessionId is missing", head.answer_fields);
    if (!table->knows(*id, head.principal)) // another's looks like none (K-9)
        return http_error_answer(404, "the session is unknown or has ended", head.answer_fields);
    return std::nullopt;
}

// ---- requests ------------------------------------------------------------------------------------------------------

COMCP_DECL task<http::response> http_core::answer_to_old(const std::shared_ptr<http_core>& self, http::request& whole)
{
    if (whole.method == "GET") {
        const comcp::executor ex = self->executor_of_session();
        return self->at_session(ex, open_old(self, ex, whole));
    }
    const auto id = query_parameter(whole.target, old_session_parameter);
    session_table::in_use used;
    if (id) used = self->table->find(*id, whole.principal, session_lease::kind::call);
    if (!used || !used.wire->one_stream()) return unknown_session(whole);
    const comcp::executor& ex = used.owner->executor();
    return self->at_session(ex, post_old(self, std::move(used), whole));
}

COMCP_DECL task<http::response> http_core::open_old(std::shared_ptr<http_core> self, comcp::executor ex,
                                                    http::request& whole)
{
    const auto served = self->served_.lock();
    if (!served) co_return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    if (whole.whole_answer)
        co_return http_error_answer(501, "streams cannot be served here", std::move(whole.answer_fields));
    http::budget_share slot(self->streams);
    if (!slot.grow(1)) co_return http_error_answer(503, "too many streams", std::move(whole.answer_fields));
    session_origin from;
    from.principal = whole.principal;
    auto carrier = std::make_unique<http::session_transport>(ex, self->old_settings_);
    http::session_transport& wire = *carrier;
    const std::shared_ptr<session> owner = make_server_session(served, ex, std::move(carrier), std::move(from));
    const session_lease made = self->table->adopt(owner, &wire, whole.principal);
    result<std::string> id = fail(errc::busy, "too many sessions");
    if (made) id = self->table->name(made);
    if (!id) {
        owner->abandon(id.error());
        co_return refuse_name(id.error(), std::move(whole.answer_fields));
    }
    wire.on_closed(forget_session(self->table, *id));
    co_await session::start(owner);
    auto opened = wire.open_stream(std::move(slot));
    // A stream keeps its session, but nobody waits for it when the service ends.
    session_lease lease = self->table->find(*id, whole.principal, session_lease::kind::stream).lease;
    if (!lease) co_return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    const std::string& announced = self->options.old_paths().announced;
    std::string endpoint = announced + (announced.find('?') == announced.npos ? '?' : '&');
    endpoint.append(old_session_parameter).append("=").append(*id);
    const std::shared_ptr<table_entry> entry = lease.entry();
    http::response out = self->stream_of(std::move(opened.stream), opened.reader, owner, std::move(lease), whole);
    out.stream = std::make_unique<old_sse_stream>(std::move(endpoint), std::move(out.stream), self->table, entry);
    co_return out;
}

COMCP_DECL http_core::refusal http_core::refuse_unreadable(const http::request& whole) const
{
    using status = rpc::parsed::status;
    rpc::parser parser(depth_);
    const rpc::parsed& read = parser.parse(whole.body);
    if (read.state == status::message || read.state == status::batch || read.id_known) return std::nullopt;
    const bool not_json = read.state == status::not_json || read.state == status::too_deep;
    return http_error_answer(400, not_json ? rpc_code::parse_error : rpc_code::invalid_request, read.why,
                             whole.answer_fields);
}

COMCP_DECL task<http::response> http_core::post_old(std::shared_ptr<http_core> self, session_table::in_use used,
                                                    http::request& whole)
{
    if (auto refused = self->refuse_unreadable(whole)) co_return std::move(*refused);
    const std::shared_ptr<session> owner = std::move(used.owner);
    if (!owner->open())
        co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));
    // While its stream is full the session reads nothing.
    if (used.wire->waiting() >= owner->bounds().in_flight)
        co_return http_error_answer(503, "too many requests wait", std::move(whole.answer_fields));
    // It keeps the session busy, and counts the body, until its answer is on the stream.
    http::exchange_form form;
    form.json = form.stream = false;
    const auto posted = std::make_shared<posted_exchange>(*used.wire, form, std::move(used.lease));
    posted->count(std::move(whole.counted));
    used.wire->deliver(posted, std::move(whole.body));
    http::response out;
    out.status = 202;
    out.fields = std::move(whole.answer_fields);
    co_return out;
}

} // namespace comcp::inline COMCP_ABI::detail
