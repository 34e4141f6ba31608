// SPDX-License-Identifier: MIT
//
// Requests to a server over HTTP: see server/http_service.hpp.
#pragma once

#include <comcp/rpc/print.hpp>
#include <comcp/server/http_core.hpp>
#include <comcp/server/http_service.hpp>
#include <comcp/server/left_calls.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// An answer of HTTP's own: a JSON-RPC error without an id, which answers no request.
inline http::response http_error_answer(int status, std::int64_t code, std::string_view text, http::fields carried)
{
    http::response out;
    out.status = status;
    out.fields = std::move(carried);
    out.fields.add("Content-Type", "application/json");
    if (status == 503) out.fields.add("Retry-After", "1");
    rpc::write_error_without_id(out.body, code, text);
    return out;
}

inline http::response http_error_answer(int status, std::string_view text, http::fields carried)
{
    const int code = status >= 500 ? rpc_code::internal_error : rpc_code::invalid_request;
    return http_error_answer(status, code, text, std::move(carried));
}

/// A session that got no id.
inline http::response refuse_name(const fault& why, http::fields carried)
{
    const bool full = why.code == errc::busy;
    return http_error_answer(503, full ? "no room for another session" : "the session could not be named",
                             std::move(carried));
}

/// The stream of one exchange, pulled from wherever the HTTP server runs.
class exchange_stream final : public http::body_stream
{
public:
    exchange_stream(std::shared_ptr<http::exchange> from, std::uint32_t reader, duration keep_alive,
                    std::shared_ptr<session> owner, session_lease lease, bool here)
        : from_(std::move(from)),
          reader_(reader),
          keep_alive_(keep_alive),
          owner_(std::move(owner)),
          lease_(std::move(lease)),
          here_(here)
    {}

    ~exchange_stream() override
    {
        if (here_) from_->leave(reader_);
        else owner_->home()->post([from = std::move(from_), owner = owner_, reader = reader_] { from->leave(reader); });
    }

    task<bool> next(std::string& out) override
    {
        auto more = http::exchange::next(from_, reader_, keep_alive_, out);
        if (here_) return more;
        return on_executor(owner_->executor(), std::move(more));
    }

private:
    std::shared_ptr<http::exchange> from_;
    std::uint32_t reader_;
    duration keep_alive_;
    std::shared_ptr<session> owner_;
    session_lease lease_;
    bool here_;
};

/// A session that ends leaves the table.
class forget_session
{
public:
    forget_session(std::weak_ptr<session_table> in, std::string id) : table_(std::move(in)), id_(std::move(id)) {}
    void operator()() const
    {
        if (const auto in = table_.lock()) in->forget(id_);
    }

private:
    std::weak_ptr<session_table> table_;
    std::string id_;
};

/// Whoever waits for the head of an exchange and is cancelled leaves it.
class leave_on_exit
{
public:
    explicit leave_on_exit(std::shared_ptr<http::exchange> from) : from_(std::move(from)) {}
    leave_on_exit(const leave_on_exit&) = delete;
    leave_on_exit& operator=(const leave_on_exit&) = delete;
    ~leave_on_exit()
    {
        if (from_) from_->leave(http::exchange::first_reader);
    }
    void stay() { from_.reset(); }

private:
    std::shared_ptr<http::exchange> from_;
};

COMCP_DECL http_core::http_core(comcp::executor ex, std::weak_ptr<server_core> served, http_service_options chosen,
                                http_guards checked, const comcp::limits& bounds)
    : options(std::move(chosen)),
      most_body(bounds.message),
      memory(std::make_shared<http::budget>(options.limits.memory)),
      streams(std::make_shared<http::budget>(options.limits.streams)),
      table(std::make_shared<session_table>(options.is_single_threaded() ? ex : comcp::executor(asio::make_strand(ex)),
                                            options.limits.sessions, options.limits.session_idle, options.random)),
      keeper(make_keeper()),
      executor_(std::move(ex)),
      lot_(make_parking_lot(executor_)),
      served_(std::move(served)),
      guards_(std::move(checked)),
      depth_(bounds.depth)
{
    lot_->link(*this);
    auto shared = std::make_shared<http::session_transport_settings>();
    shared->stream_buffer = bounds.stream_buffer;
    shared->store.events = options.limits.stored_events;
    shared->store.stream_bytes = options.limits.stored_bytes;
    shared->store.session_bytes = 2 * options.limits.stored_bytes;
    shared->retry = options.retry_after();
    shared->memory = memory;
    shared->kept = std::make_shared<http::budget>(options.limits.memory);
    shared->streams = streams;
    shared->resumable = options.is_resumable() && options.has_sessions();
    shared->standalone = options.has_sessions();
    settings_ = shared;
    if (options.old_paths().stream.empty()) return;
    auto old = std::make_shared<http::session_transport_settings>(*shared);
    old->resumable = false;
    old->standalone = old->one_stream = true;
    old_settings_ = std::move(old);
}

COMCP_DECL http_core::~http_core()
{
    if (executor_) lot_->unlink(*this);
}

// ---- the head ------------------------------------------------------------------------------------------------------

COMCP_DECL http_core::refusal http_core::refuse_before_authorization(http::request& head) const
{
    http::verdict judged = guard_of(place_of(head)).check(head.method, head.target, head.fields);
    if (judged.status == 204) {
        http::response preflight;
        preflight.status = 204;
        preflight.fields = std::move(judged.answer_fields);
        return preflight;
    }
    if (!judged.accepted()) return http_error_answer(judged.status, judged.text, std::move(judged.answer_fields));
    head.answer_fields = std::move(judged.answer_fields);
    head.takes_json = judged.json;
    head.takes_stream = judged.stream;
    if (closed()) return http_error_answer(503, "the server takes no more requests", head.answer_fields);
    if (head.whole_answer && head.method == "GET" && place_of(head) == place::endpoint) {
        // 2025-11-25, transports: 405 is what a server without this stream says (E-34).
        http::fields carried = head.answer_fields;
        carried.add("Allow", "POST, DELETE, OPTIONS");
        return http_error_answer(405, "this server answers once and has no streams", std::move(carried));
    }
    return std::nullopt;
}

COMCP_DECL http_core::refusal http_core::refuse_after_authorization(http::request& head) const
{
    const place at = place_of(head);
    if (at == place::old_stream) return std::nullopt;
    if (at == place::old_messages) return refuse_old_message(head);
    if (!options.has_sessions()) return std::nullopt;
    const auto id = session_id_of(head);
    if (!id) {
        if (head.method == "POST") return std::nullopt; // it may be the first of a session
        return http_error_answer(400, "Mcp-Session-Id is missing", head.answer_fields);
    }
    // 2025-11-25, transports: a session that has ended is answered with 404 (E-40). Another's looks like none (K-9).
    if (!table->knows(*id, head.principal))
        return http_error_answer(404, "the session is unknown or has ended", head.answer_fields);
    return std::nullopt;
}

COMCP_DECL task<http_core::refusal> http_core::refuse(std::shared_ptr<http_core> self, http::request& head)
{
    refusal refused = self->refuse_before_authorization(head);
    if (!refused && self->options.authorizer()) refused = co_await authorize(self, head);
    if (!refused && self->keeper) refused = co_await look_for_session(self, head);
    if (!refused) refused = self->refuse_after_authorization(head);
    co_return refused;
}

COMCP_DECL task<http_core::refusal> http_core::authorize(std::shared_ptr<http_core> self, http::request& head)
{
    const http_authorizer& judge = self->options.authorizer();
    std::optional<http_access> access;
    try {
        if (judge.is_plain()) access.emplace(judge.call(head));
        else access.emplace(co_await judge.call_slow(head));
    } catch (...) {
        access.emplace(http_access::refuse(http_error_answer(500, "the authorization failed", {})));
    }
    if (!access->allowed()) {
        http::response refused = std::move(access->refusal());
        for (const http::field& each : head.answer_fields) refused.fields.add(each.name, each.value);
        co_return refused;
    }
    head.principal = std::move(access->principal());
    co_return std::nullopt;
}

// ---- whole requests ------------------------------------------------------------------------------------------------

COMCP_DECL http_core::refusal http_core::refuse_body(http::request& whole) const
{
    if (closed()) return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    if (whole.body.size() > most_body)
        return http_error_answer(413, "the message is over the size limit", std::move(whole.answer_fields));
    if (whole.counted.bytes() != 0 || whole.body.empty()) return std::nullopt;
    // An HTTP server of the host that does not count.
    whole.counted = http::budget_share(memory);
    if (whole.counted.grow(whole.body.size())) return std::nullopt;
    return http_error_answer(503, "too many requests at once", std::move(whole.answer_fields));
}

COMCP_DECL task<http::response> http_core::handle(std::shared_ptr<http_core> self, http::request whole)
{
    if (auto refused = self->refuse_body(whole)) co_return std::move(*refused);
    try {
        if (self->has_left(whole)) { // since its head was judged
            auto refused = co_await look_for_session(self, whole);
            if (refused) co_return std::move(*refused);
        }
        auto answer = answer_to(self, whole);
        co_return co_await std::move(answer);
    } catch (...) {
        // Cancelled, or out of memory: whoever is still there gets an answer.
    }
    co_return http_error_answer(500, "the request failed", std::move(whole.answer_fields));
}

COMCP_DECL task<http::response> http_core::answer_to(const std::shared_ptr<http_core>& self, http::request& whole)
{
    if (self->place_of(whole) != place::endpoint) return answer_to_old(self, whole);
    const bool is_post = whole.method == "POST";
    const bool is_get = whole.method == "GET";
    const auto id = self->session_id_of(whole);
    if (is_post && !id) {
        const comcp::executor ex = self->executor_of_session();
        return self->at_session(ex, first_post(self, ex, whole));
    }
    const bool is_delete = whole.method == "DELETE";
    session_table::in_use used;
    if (id && (is_post || is_get || is_delete))
        used =
            self->table->find(*id, whole.principal, is_post ? session_lease::kind::call : session_lease::kind::stream);
    if (!used || used.wire->one_stream()) return unknown_session(whole);
    if (is_delete) return end_session(self, whole);
    const comcp::executor& ex = used.owner->executor();
    return self->at_session(ex,
                            is_get ? open_stream(self, std::move(used), whole) : post(self, std::move(used), whole));
}

COMCP_DECL std::optional<std::string_view> http_core::session_id_of(const http::request& head) const
{
    return options.has_sessions() ? head.fields.find("Mcp-Session-Id") : std::nullopt;
}

COMCP_DECL bool http_core::has_left(const http::request& whole) const
{
    if (!keeper || place_of(whole) != place::endpoint) return false;
    const auto id = session_id_of(whole);
    return id && !table->knows(*id, whole.principal);
}

COMCP_DECL task<http::response> http_core::at_session(const comcp::executor& ex, task<http::response> answer) const
{
    if (options.is_single_threaded()) return answer;
    return on_executor(ex, std::move(answer));
}

COMCP_DECL task<http::response> http_core::unknown_session(http::request& whole)
{
    co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));
}

COMCP_DECL task<http::response> http_core::end_session(std::shared_ptr<http_core> self, http::request& whole)
{
    const std::string id(*self->session_id_of(whole));
    const auto kept = self->keeper ? self->table->kept(id, whole.principal) : nullptr;
    if (!self->table->remove(id, whole.principal))
        co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));
    if (kept) { // else it could be found in the store again
        auto erased = session_keeper::erased(self->keeper, kept);
        const result<void> done = co_await on_executor(self->keeper->executor(), std::move(erased));
        if (!done) co_return http_error_answer(503, "the session could not be erased", std::move(whole.answer_fields));
    }
    http::response gone;
    gone.status = 204;
    gone.fields = std::move(whole.answer_fields);
    co_return gone;
}

COMCP_DECL task<http::response> http_core::post(std::shared_ptr<http_core> self, session_table::in_use used,
                                                http::request& whole)
{
    const std::shared_ptr<session> owner = std::move(used.owner);
    if (!owner->open())
        co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));
    const auto posted = std::make_shared<posted_exchange>(*used.wire, form_of(whole, self->options.is_resumable()),
                                                          std::move(used.lease));
    leave_on_exit guard(posted);
    posted->count(std::move(whole.counted));
    if (used.kept) {
        used.kept->renew();
        posted->owes(ids_of_calls(whole.body));
    }
    used.wire->deliver(posted, std::move(whole.body));
    if (posted->head() == http::exchange_head::undecided) co_await http::exchange::wait_head(posted);
    guard.stay();
    co_return self->answer_of(posted, owner, whole);
}

COMCP_DECL task<http::response> http_core::first_post(std::shared_ptr<http_core> self, comcp::executor ex,
                                                      http::request& whole)
{
    const auto served = self->served_.lock();
    if (!served) co_return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    const bool stateless = !self->options.has_sessions();
    session_origin from;
    from.principal = whole.principal;
    if (stateless) {
        // 2025-06-18, transports: without the field it is the revision that had none (E-42).
        const auto version = whole.fields.find("MCP-Protocol-Version");
        from.assumed = version ? parse_revision(*version) : revision::r2025_03_26;
    }
    auto carrier = std::make_unique<http::session_transport>(ex, self->settings_);
    http::session_transport& wire = *carrier;
    const auto kept = self->keeper ? std::make_shared<kept_session>(self->keeper) : nullptr;
    from.kept = kept;
    if (whole.whole_answer) wire.answer_once();
    const std::shared_ptr<session> owner = make_server_session(served, ex, std::move(carrier), std::move(from));
    session_lease lease = self->table->adopt(owner, &wire, whole.principal, kept);
    if (!lease) {
        owner->abandon(fault(errc::closed, "there are too many sessions"));
        co_return http_error_answer(503, "no room for another session", std::move(whole.answer_fields));
    }
    const auto posted = std::make_shared<posted_exchange>(wire, form_of(whole, false), std::move(lease));
    leave_on_exit guard(posted);
    posted->count(std::move(whole.counted));
    co_await session::start(owner);
    const bool initializes = member_source(whole.body, "method") == R"("initialize")";
    wire.deliver(posted, std::move(whole.body));
    if (posted->head() == http::exchange_head::undecided) co_await http::exchange::wait_head(posted);
    guard.stay();
    if (stateless) co_return self->answer_of(posted, owner, whole);

    if (!owner->negotiated()) {
        // 2025-11-25, transports: a request without its session is a bad one (E-40). What was no message says so
        // itself.
        const bool bad = posted->head() == http::exchange_head::answer && posted->status() == 400;
        if (bad || initializes || posted->head() == http::exchange_head::lost)
            co_return self->answer_of(posted, owner, whole);
        co_return http_error_answer(400, "Mcp-Session-Id is missing", std::move(whole.answer_fields));
    }
    if (!owner->open())
        co_return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    const auto id = self->table->name(posted->lease());
    if (!id) co_return refuse_name(id.error(), std::move(whole.answer_fields));
    wire.on_closed(forget_session(self->table, *id));
    if (kept) {
        kept->serve(owner);
        kept->record.id = *id;
        kept->record.principal = whole.principal;
        wire.report_to(kept);
        co_await kept_session::begin(kept); // nobody holds an id that no other process can find
        if (!owner->open())
            co_return http_error_answer(503, "the server takes no more requests", std::move(whole.answer_fields));
    }
    http::response answer = self->answer_of(posted, owner, whole);
    answer.fields.add("Mcp-Session-Id", *id);
    co_return answer;
}

COMCP_DECL task<http::response> http_core::open_stream(std::shared_ptr<http_core> self, session_table::in_use used,
                                                       http::request& whole)
{
    const std::shared_ptr<session> owner = std::move(used.owner);
    if (!owner->open())
        co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));
    if (used.kept) used.kept->renew();
    http::budget_share slot(self->streams);
    if (!slot.grow(1)) co_return http_error_answer(503, "too many streams", std::move(whole.answer_fields));
    const auto last = whole.fields.find("Last-Event-ID");
    auto opened = last && !last->empty() ? used.wire->resume_stream(*last, std::move(slot))
                                         : used.wire->open_stream(std::move(slot));
    if (opened.state == http::replay_state::malformed && used.kept)
        co_return co_await resume_elsewhere(self, std::move(used), owner, whole);
    if (opened.state != http::replay_state::found) co_return self->refuse_resume(opened.state, whole);
    co_return self->stream_of(std::move(opened.stream), opened.reader, owner, std::move(used.lease), whole);
}

COMCP_DECL http::response http_core::refuse_resume(http::replay_state why, http::request& whole) const
{
    // Never 404, which would end the session.
    const std::string_view text = why == http::replay_state::malformed ? "Last-Event-ID is none of this session"
                                  : why == http::replay_state::unknown
                                      ? "the stream of Last-Event-ID is not kept any more"
                                      : "events after Last-Event-ID are not kept any more";
    return http_error_answer(400, text, std::move(whole.answer_fields));
}

COMCP_DECL http::exchange_form http_core::form_of(const http::request& whole, bool resumable)
{
    http::exchange_form form;
    form.json = whole.takes_json;
    form.stream = whole.takes_stream && !whole.whole_answer;
    form.resumable = resumable;
    return form;
}

COMCP_DECL comcp::executor http_core::executor_of_session() const
{
    if (options.is_single_threaded()) return executor_;
    return asio::make_strand(executor_);
}

COMCP_DECL http::response http_core::answer_of(const std::shared_ptr<posted_exchange>& from,
                                               const std::shared_ptr<session>& owner, http::request& whole) const
{
    http::response out;
    switch (from->head()) {
    case http::exchange_head::undecided:
    case http::exchange_head::lost:
        // No 503, which with Retry-After says that nothing ran.
        return http_error_answer(500, "the session ended before there was an answer", std::move(whole.answer_fields));
    case http::exchange_head::accepted:
        out.status = 202;
        out.fields = std::move(whole.answer_fields);
        return out;
    case http::exchange_head::answer:
        out.status = from->status();
        out.fields = std::move(whole.answer_fields);
        out.fields.add("Content-Type", "application/json");
        out.body = from->take_text();
        return out;
    case http::exchange_head::stream: break;
    }
    return stream_of(from, http::exchange::first_reader, owner, {}, whole);
}

COMCP_DECL http::response http_core::stream_of(std::shared_ptr<http::exchange> from, std::uint32_t reader,
                                               const std::shared_ptr<session>& owner, session_lease lease,
                                               http::request& whole) const
{
    http::response out;
    out.fields = std::move(whole.answer_fields);
    out.fields.add("Content-Type", "text/event-stream");
    out.fields.add("Cache-Control", "no-cache");
    out.fields.add("X-Accel-Buffering", "no"); // E-15
    out.stream = std::make_unique<exchange_stream>(std::move(from), reader, options.limits.keep_alive, owner,
                                                   std::move(lease), options.is_single_threaded());
    return out;
}

// ---- the end -------------------------------------------------------------------------------------------------------

COMCP_DECL void http_core::abandon()
{
    closing_ = true;
    if (keeper) keeper->stop();
    for (const auto& each : table->take_all())
        each->home()->post([each] { each->abandon(fault(errc::closed, "the service was destroyed")); });
}

COMCP_DECL task<void> http_core::finish_calls(std::shared_ptr<http_core> self, duration patience)
{
    self->closing_ = true;
    auto calls = session_table::calls_ended(self->table, patience);
    co_await on_executor(self->table->executor(), std::move(calls));
}

COMCP_DECL task<void> http_core::drain(std::shared_ptr<http_core> self, duration patience)
{
    // A coroutine of its own: when the caller is cancelled, it still waits for what it ends.
    return run_elsewhere(self->table->executor(), drain_here(self, patience));
}

COMCP_DECL task<void> http_core::drain_here(std::shared_ptr<http_core> self, duration patience)
{
    try {
        co_await finish_calls(self, patience);
    } catch (...) {
        // Cancelled: what waits here ends, and so do the sessions.
    }
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation()); // for the close limit at most
    const auto all = self->table->take_all();
    for (const auto& each : all) begin_to_end({each, nullptr}, "the service was closed");
    for (const auto& each : all) {
        auto end = session::wait_ended(each);
        co_await on_executor(each->executor(), std::move(end));
    }
    if (!self->keeper) co_return;
    auto idle = session_keeper::idle(self->keeper);
    co_await on_executor(self->keeper->executor(), std::move(idle));
    self->keeper->stop();
}

} // namespace detail

COMCP_DECL http_service::http_service(executor ex, const std::shared_ptr<detail::server_core>& served,
                                      http_service_options options)
{
    auto checked = detail::make_guards(options);
    core_ = std::make_shared<detail::http_core>(std::move(ex), served, std::move(options), std::move(checked).value(),
                                                served->options.limits);
}

COMCP_DECL http_service::~http_service() { core_->abandon(); }

COMCP_DECL task<std::optional<http::response>> http_service::refuse(http::request& head)
{
    return detail::http_core::refuse(core_, head);
}

COMCP_DECL task<http::response> http_service::handle(http::request whole)
{
    return detail::http_core::handle(core_, std::move(whole));
}

COMCP_DECL std::size_t http_service::most_body() const { return core_->most_body; }

COMCP_DECL std::shared_ptr<http::budget> http_service::memory() const { return core_->memory; }

COMCP_DECL void http_service::abandon() { core_->abandon(); }

COMCP_DECL task<void> http_service::finish_calls(duration patience)
{
    return detail::http_core::finish_calls(core_, patience);
}

COMCP_DECL task<void> http_service::drain(duration patience) { return detail::http_core::drain(core_, patience); }

COMCP_DECL std::size_t http_service::sessions() const { return core_->table->size(); }

COMCP_DECL std::size_t http_service::streams() const { return core_->streams->used(); }

COMCP_DECL const http_service_options& http_service::options() const { return core_->options; }

} // namespace comcp::inline COMCP_ABI
