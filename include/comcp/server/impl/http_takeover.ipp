// SPDX-License-Identifier: MIT
//
// An HTTP service goes on with sessions and streams of other processes: see server/session_store.hpp.
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/detail/within.hpp>
#include <comcp/server/http_core.hpp>
#include <comcp/server/http_service.hpp>
#include <comcp/server/left_calls.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// At most so many sessions are looked for at the same time.
inline constexpr std::size_t most_searches = 64;

/// Whether it may be a key or the name of a file.
inline bool is_store_key(std::string_view text)
{
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return !text.empty() && text.size() <= 64 && text.find_first_not_of(allowed) == text.npos;
}

/// After which number a session that was taken over goes on: two processes may both have taken it from the same one.
inline result<std::int64_t> random_place(random_source from)
{
    const auto random = random_bytes<3>(from);
    if (!random) return random.error();
    const std::int64_t place = ((*random)[0] << 12 | (*random)[1] << 4 | ((*random)[2] & 15)) + 1;
    return place << 32; // below 2^53, all that a peer may read
}

COMCP_DECL std::shared_ptr<session_keeper> http_core::make_keeper() const
{
    if (!options.store()) return nullptr;
    session_keeper::settings with;
    with.each = options.limits.store_time;
    with.renew = options.limits.session_idle == no_limit ? no_limit : options.limits.session_idle / 2;
    with.queue = options.limits.stored_bytes;
    with.memory = std::make_shared<http::budget>(options.limits.memory);
    auto who = random_token(options.random);
    if (!who) throw error(who.error());
    return std::make_shared<session_keeper>(*options.store(), table->executor(), *std::move(who), std::move(with));
}

// ---- sessions ------------------------------------------------------------------------------------------------------

COMCP_DECL task<http_core::refusal> http_core::look_for_session(std::shared_ptr<http_core> self,
                                                                const http::request& head)
{
    const auto id = head.fields.find("Mcp-Session-Id");
    // What was never given by any process is not worth a question.
    if (!id || id->size() != 32 || !is_store_key(*id) || self->table->knows(*id, head.principal))
        co_return std::nullopt;
    takeover found = takeover::failed;
    try {
        auto asked = take_over(self, std::string(*id), head.principal);
        found = co_await on_executor(self->table->executor(), std::move(asked));
    } catch (...) {
        // Out of memory, or cancelled: nobody waits then.
    }
    // Not 404: the session may well be there.
    if (found == takeover::failed)
        co_return http_error_answer(503, "the session could not be looked for", head.answer_fields);
    if (found == takeover::no_room) co_return http_error_answer(503, "no room for another session", head.answer_fields);
    co_return std::nullopt;
}

COMCP_DECL task<http_core::takeover> http_core::take_over(std::shared_ptr<http_core> self, std::string id,
                                                          std::string principal)
{
    if (self->table->knows(id, principal)) co_return takeover::done; // it came while this waited to run
    const auto before = self->keeper->absent(id);
    if (before == session_keeper::absence::deleted) co_return takeover::unknown;
    if (before == session_keeper::absence::unsure) co_return takeover::failed;
    std::string key = id + ' ' + principal;
    std::shared_ptr<search> asked;
    if (const auto at = self->searches_.find(key); at != self->searches_.end()) {
        asked = at->second;
    } else {
        if (self->searches_.size() >= most_searches) co_return takeover::no_room;
        asked = std::make_shared<search>(self->lot_);
        self->searches_.emplace(key, asked);
        // Nobody's own: whoever asked first may leave.
        asio::co_spawn(self->table->executor(), run_search(self, asked, std::move(key), std::move(id), principal),
                       search_ended());
    }
    while (!asked->found) {
        co_await asked->over.wait();
        const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(state)) throw error(fail(errc::cancelled, "the request was given up"));
    }
    co_return *asked->found;
}

COMCP_DECL task<void> http_core::run_search(std::shared_ptr<http_core> self, std::shared_ptr<search> as,
                                            std::string key, std::string id, std::string principal)
{
    const keeper_work working(self->keeper);
    takeover found = takeover::failed;
    try {
        found = co_await load(self, std::move(id), std::move(principal));
    } catch (...) {
        // Out of memory.
    }
    self->searches_.erase(key);
    as->found = found;
    as->over.wake_all();
}

COMCP_DECL task<http_core::takeover> http_core::load(std::shared_ptr<http_core> self, std::string id,
                                                     std::string principal)
{
    auto asked = self->keeper->store.load(id);
    auto limited = within(self->table->executor(), self->options.limits.store_time, std::move(asked));
    const result<std::optional<std::string>> text = co_await std::move(limited);
    if (!text) co_return takeover::failed;
    if (!*text) co_return takeover::unknown;
    result<session_record> record = read_session_record(**text);
    if (!record || record->id != id || record->principal != principal) co_return takeover::unknown;
    if (++record->generation > session_record::most_generations) co_return takeover::unknown;
    const comcp::executor ex = self->executor_of_session();
    auto going_on = go_on(self, ex, *std::move(record));
    co_return co_await on_executor(ex, std::move(going_on));
}

COMCP_DECL task<http_core::takeover> http_core::go_on(std::shared_ptr<http_core> self, comcp::executor ex,
                                                      session_record with)
{
    const auto served = self->served_.lock();
    if (!served || self->closed()) co_return takeover::failed;
    const result<std::int64_t> place = random_place(self->options.random);
    if (!place) co_return takeover::failed;
    const auto kept = std::make_shared<kept_session>(self->keeper);
    const std::string id = with.id;
    session_origin from;
    from.last_number = *place;
    from.principal = with.principal;
    kept->record = std::move(with);
    kept->taken = true;
    from.kept = kept;
    auto carrier = std::make_unique<http::session_transport>(ex, self->settings_);
    http::session_transport& wire = *carrier;
    const std::shared_ptr<session> owner = make_server_session(served, ex, std::move(carrier), std::move(from));
    const session_lease lease = self->table->adopt(owner, &wire, kept->record.principal, kept);
    if (!lease) {
        owner->abandon(fault(errc::closed, "there are too many sessions"));
        co_return takeover::no_room;
    }
    co_await session::start(owner);
    const auto named = self->table->name(lease, id);
    if (!named) co_return named.error().code == errc::busy ? takeover::no_room : takeover::failed;
    wire.on_closed(forget_session(self->table, id));
    kept->serve(owner);
    wire.report_to(kept);
    co_await kept_session::begin(kept);
    co_return takeover::done;
}

// ---- streams -------------------------------------------------------------------------------------------------------

COMCP_DECL task<http::response> http_core::resume_elsewhere(std::shared_ptr<http_core> self, session_table::in_use used,
                                                            std::shared_ptr<session> owner, http::request& whole)
{
    const std::string seen(*whole.fields.find("Last-Event-ID"));
    const auto at = http::split_event_id(seen);
    if (!at || !is_store_key(at->stream)) co_return self->refuse_resume(http::replay_state::malformed, whole);
    auto asked = kept_session::load_stream(used.kept, std::string(at->stream));
    const result<std::optional<stored_stream>> found = co_await std::move(asked);
    if (!found) co_return http_error_answer(503, "the stream could not be looked for", std::move(whole.answer_fields));
    if (!*found) co_return self->refuse_resume(http::replay_state::malformed, whole);
    if (!owner->open())
        co_return http_error_answer(404, "the session is unknown or has ended", std::move(whole.answer_fields));

    const stored_stream& kept = **found;
    // An event may be on its way to the store when its process dies. Then none that follows it is there either.
    if (at->sequence > kept.last && kept.finished) co_return self->refuse_resume(http::replay_state::unknown, whole);
    const std::uint64_t first = kept.last - std::min<std::uint64_t>(kept.last, kept.events.size()) + 1;
    if (at->sequence + 1 < first) co_return self->refuse_resume(http::replay_state::gone, whole);
    std::vector<http::stored_event> events;
    for (std::uint64_t n = at->sequence + 1; n <= kept.last; ++n) {
        const std::string& text = kept.events[static_cast<std::size_t>(n - first)];
        if (!text.empty()) events.push_back({std::string(at->stream) + '-' + std::to_string(n), text});
    }
    http::budget_share slot(self->streams);
    if (!slot.grow(1)) co_return http_error_answer(503, "too many streams", std::move(whole.answer_fields));
    const bool own_stream = kept.owes.empty();
    const std::string answer = own_stream || kept.finished ? std::string() : answer_left_calls(kept.owes);
    auto opened = used.wire->replay_stream(events, answer, own_stream && !kept.finished, std::move(slot));
    co_return self->stream_of(std::move(opened.stream), opened.reader, owner, std::move(used.lease), whole);
}

} // namespace comcp::inline COMCP_ABI::detail
