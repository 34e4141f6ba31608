// SPDX-License-Identifier: MIT
//
// The operations of a client: see client/core.hpp for what they are and client/client.hpp for what they promise.
#pragma once

#include <comcp/client/client_session.hpp>
#include <comcp/client/core.hpp>
#include <comcp/client/requests.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::shared_ptr<session> client_core::lives_elsewhere(const executor& here) const
{
    const std::lock_guard lock(guard);
    const std::shared_ptr<session>& lives = current ? current : opening;
    if (!lives || !lives->executor() || lives->executor() == here) return nullptr; // none when its context has ended
    return lives;
}

// ---- whether a request that failed is made again -------------------------------------------------------------------

/// Requests that change nothing, by their nature.
constexpr bool reads_only(std::string_view what)
{
    constexpr std::array all = {
        method::tools_list,   method::resources_list, method::resources_templates_list, method::resources_read,
        method::prompts_list, method::prompts_get,    method::completion_complete,      method::ping};
    return std::find(all.begin(), all.end(), what) != all.end();
}

/// Requests that may be made twice: the second one changes nothing more.
constexpr bool is_idempotent(std::string_view what)
{
    return what == method::resources_subscribe || what == method::resources_unsubscribe ||
           what == method::logging_set_level;
}

/// The server forgot the session, so that a new one is needed; or the response broke while the session lives on, and
/// nobody knows whether the request ran. The policy decides.
COMCP_DECL bool goes_again(client_core& core, const std::shared_ptr<session>& in, const fault& why,
                           std::string_view method, std::string_view tool, bool opted_in)
{
    const bool forgotten = why.code == errc::session_expired && core.server->lasts();
    const bool broke = why.code == errc::peer_gone && why.fate == outcome::unknown && in->open();
    if (forgotten && core.current == in) core.expired = true;
    if (!forgotten && !broke) return false;
    replay_facts facts;
    facts.method = method;
    facts.tool = tool;
    facts.sent = why.fate != outcome::not_sent;
    facts.opted_in = opted_in;
    facts.read_only = reads_only(method);
    facts.idempotent = is_idempotent(method);
    if (const auto known = core.hints.find(std::string(tool)); known != core.hints.end()) {
        facts.read_only = known->second;
        facts.idempotent = true;
    }
    return core.resend(facts);
}

COMCP_DECL void remember_hints(client_core& core, const tool_list& tools)
{
    core.hints.clear();
    for (const tool& each : tools)
        if (each.annotations.idempotent() && !each.name.empty()) // the empty name stands for no tool
            core.hints[each.name] = each.annotations.read_only();
}

// ---- what the server declared (B-6) --------------------------------------------------------------------------------

COMCP_DECL bool declares(const client_session& role, const session& in, std::string_view what)
{
    const wire::method_info* row = in.codec().find(wire::sender::client, wire::kind::request, what, in.spoken());
    if (!row) return false;
    const server_capabilities& server = role.server().capabilities;
    if (row->capability.empty()) return true;
    return row->part.empty() ? server.has(row->capability) : server.has(row->capability, row->part);
}

COMCP_DECL void require(const client_session& role, const session& in, std::string_view what)
{
    if (declares(role, in, what)) return;
    fault why = fail(errc::unsupported, "the server did not declare what " + std::string(what) + " needs");
    why.method = what;
    throw error(std::move(why));
}

/// The times of a request that may be made again: the total counts over both tries and what lies between them.
class attempts
{
public:
    explicit attempts(call_timeouts whole) : whole_(whole) {}

    /// When all of it must be over, counted from the first time that this is asked.
    time_point by(time_point now)
    {
        if (by_ == not_asked) by_ = deadline_after(now, whole_.total);
        return by_;
    }
    /// For the try that begins now. *Errors*: errc::timed_out when nothing is left.
    call_timeouts left(time_point now)
    {
        call_timeouts out = whole_;
        if (by(now) == time_point::max()) return out;
        out.total = by_ - now;
        if (out.total <= duration::zero()) throw error(fail(errc::timed_out, "no time is left to send it again"));
        return out;
    }

private:
    static constexpr time_point not_asked = time_point::min();

    call_timeouts whole_;
    time_point by_ = not_asked;
};

COMCP_DECL task<void> renew_within(std::shared_ptr<client_core> core, attempts& tries)
{
    const executor here = co_await asio::this_coro::executor;
    const time_point by = tries.by(timer(here).now());
    co_await renewed(core, by);
}

// ---- lists ---------------------------------------------------------------------------------------------------------

template <class Item>
task<list_of<Item>> list_once(std::shared_ptr<client_core> core, std::shared_ptr<session> session, call_timeouts times)
{
    page_collector<Item> pages(core->options->limits);
    const timer clock(session->executor());
    const time_point end = deadline_after(clock.now(), times.total); // of all pages together
    // Tools are asked for whatever was declared: there are servers that have some and declare nothing (NEGO 65, 66).
    if (!std::same_as<Item, tool> && !declares(*core->role, *session, list_traits<Item>::method))
        co_return pages.take();
    do {
        std::optional<fault> failed;
        try {
            page_call<Item> page(*session, pages);
            co_await session::perform(session, page, times);
        } catch (const error& e) {
            failed = e.fault();
        }
        if (!failed) {
            times.total = end - clock.now();
            if (pages.next() && times.total <= duration::zero()) pages.stop("the time for the whole list is over");
            continue;
        }
        if (failed->rpc && failed->rpc->code == rpc_code::method_not_found && pages.pages() == 0) break;
        if (pages.pages() == 0 || failed->code == errc::cancelled || failed->code == errc::session_expired)
            throw error(std::move(*failed));
        pages.stop("page " + std::to_string(pages.pages() + 1) + " failed: " + failed->text);
    } while (pages.next());
    co_return pages.take();
}

template <class Item>
task<list_of<Item>> list_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    attempts tries(times);
    for (bool again = false;; again = true) {
        if (core->expired) co_await renew_within(core, tries);
        const auto session = open_session(*core);
        times = tries.left(session->now());
        try {
            // The cursors of one session mean nothing in another one: all pages are asked for again.
            auto listing = list_once<Item>(core, session, times);
            list_of<Item> all = co_await std::move(listing);
            if constexpr (std::same_as<Item, tool>) remember_hints(*core, all);
            co_return all;
        } catch (const error& e) {
            if (!goes_again(*core, session, e.fault(), list_traits<Item>::method, {}, false) || again) throw;
        }
    }
}

COMCP_DECL task<tool_list> client_list_tools(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(core->lives(), list_here<tool>(core, times));
}

COMCP_DECL task<resource_list> client_list_resources(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(core->lives(), list_here<resource>(core, times));
}

COMCP_DECL task<resource_template_list> client_list_resource_templates(std::shared_ptr<client_core> core,
                                                                       call_timeouts times)
{
    return at_home(core->lives(), list_here<resource_template>(core, times));
}

COMCP_DECL task<prompt_list> client_list_prompts(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(core->lives(), list_here<prompt>(core, times));
}

// ---- calls of tools ------------------------------------------------------------------------------------------------

// The hop and the steps of `session::perform` stand in the coroutine itself: this is the hot one, and each frame that
// is not needed is 5 % of a call. The request stands beside it: Asio uses the memory of a frame again for the next one
// only up to 1020 bytes.
COMCP_DECL task<answer> client_call(std::shared_ptr<client_core> core, std::string tool, args arguments,
                                    call_options options, call_timeouts times)
{
    const bool elsewhere = core->lives_elsewhere(co_await asio::this_coro::executor) != nullptr;
    if (elsewhere) {
        auto there =
            at_home(core->lives(), client_call(core, std::move(tool), std::move(arguments), std::move(options), times));
        co_return co_await std::move(there);
    }
    times = options.within(times);
    const bool wants_token = options.progress_handler() || times.idle < times.total;
    attempts tries(times);
    const asio::cancellation_state caller = co_await asio::this_coro::cancellation_state;
    for (bool again = false;; again = true) {
        if (core->expired) co_await renew_within(core, tries);
        const auto session = open_session(*core);
        const time_point now = session->now();
        times = tries.left(now);
        try {
            const auto request =
                std::make_unique<tool_request>(*session, *core->role->notices(), tool, arguments, options, wants_token,
                                               core->options->keep_source, core->cap);
            if (session->has_chain()) {
                auto performing = session::perform(session, *request, times);
                co_await std::move(performing);
            } else {
                session->begin(*request, times, caller, now);
                if (request->waits_for_room()) co_await session::wait_for_room(session, *request);
                if (request->sent()) co_await session->wait_for_answer(*request);
                session::finish(*request);
            }
            co_return request->take();
        } catch (const error& e) {
            if (!goes_again(*core, session, e.fault(), method::tools_call, tool, options.repeats()) || again) throw;
        }
    }
}

// ---- everything that is one request --------------------------------------------------------------------------------

template <class Question>
task<typename Question::result> ask_here(std::shared_ptr<client_core> core, Question what, call_options options,
                                         call_timeouts times)
{
    times = options.within(times);
    const bool wants_token = options.progress_handler() || times.idle < times.total;
    attempts tries(times);
    for (bool again = false;; again = true) {
        if (core->expired) co_await renew_within(core, tries);
        const auto session = open_session(*core);
        times = tries.left(session->now());
        if constexpr (!std::same_as<Question, raw_question>) require(*core->role, *session, what.method());
        try {
            question_call<Question> call(*session, *core->role->notices(), what, options, wants_token,
                                         core->options->keep_source);
            co_await session::perform(session, call, times);
            co_return call.take();
        } catch (const error& e) {
            if (!goes_again(*core, session, e.fault(), what.method(), {}, options.repeats()) || again) throw;
        }
    }
}

COMCP_DECL task<resource_result> client_read_resource(std::shared_ptr<client_core> core, std::string uri,
                                                      call_options options, call_timeouts times)
{
    return at_home(core->lives(), ask_here(core, read_question(std::move(uri)), std::move(options), times));
}

COMCP_DECL task<prompt_result> client_get_prompt(std::shared_ptr<client_core> core, std::string name, args arguments,
                                                 call_options options, call_timeouts times)
{
    prompt_question what(std::move(name), std::move(arguments));
    return at_home(core->lives(), ask_here(core, std::move(what), std::move(options), times));
}

COMCP_DECL task<completion> client_complete(std::shared_ptr<client_core> core, completion_request what,
                                            call_options options, call_timeouts times)
{
    for (const json::key_value_pair& each : options.meta()) what.meta[each.key()] = each.value();
    return at_home(core->lives(), ask_here(core, completion_question(std::move(what)), std::move(options), times));
}

COMCP_DECL task<json_result> client_request(std::shared_ptr<client_core> core, std::string method, raw_json params,
                                            call_timeouts times)
{
    raw_question what(std::move(method), std::move(params));
    return at_home(core->lives(), ask_here(core, std::move(what), call_options(), times));
}

COMCP_DECL task<void> ping_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    raw_question what(std::string(method::ping), raw_json("{}"));
    auto asking = ask_here(core, std::move(what), call_options(), times);
    co_await std::move(asking);
}

COMCP_DECL task<void> client_ping(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(core->lives(), ping_here(core, times));
}

// ---- what a session has to be told again ---------------------------------------------------------------------------

COMCP_DECL task<void> subscribe_here(std::shared_ptr<client_core> core, std::string uri, call_timeouts times)
{
    auto asking = ask_here(core, subscription_question(method::resources_subscribe, uri), call_options(), times);
    co_await std::move(asking);
    core->subscriptions.insert(std::move(uri));
}

COMCP_DECL task<void> unsubscribe_here(std::shared_ptr<client_core> core, std::string uri, call_timeouts times)
{
    core->subscriptions.erase(uri);
    auto asking =
        ask_here(core, subscription_question(method::resources_unsubscribe, std::move(uri)), call_options(), times);
    co_await std::move(asking);
}

COMCP_DECL task<void> set_log_level_here(std::shared_ptr<client_core> core, log_level least, call_timeouts times)
{
    auto asking = ask_here(core, level_question(least), call_options(), times);
    co_await std::move(asking);
    core->least_log_level = least;
}

COMCP_DECL task<void> client_subscribe(std::shared_ptr<client_core> core, std::string uri, call_timeouts times)
{
    return at_home(core->lives(), subscribe_here(core, std::move(uri), times));
}

COMCP_DECL task<void> client_unsubscribe(std::shared_ptr<client_core> core, std::string uri, call_timeouts times)
{
    return at_home(core->lives(), unsubscribe_here(core, std::move(uri), times));
}

COMCP_DECL task<void> client_set_log_level(std::shared_ptr<client_core> core, log_level least, call_timeouts times)
{
    return at_home(core->lives(), set_log_level_here(core, least, times));
}

} // namespace comcp::inline COMCP_ABI::detail
