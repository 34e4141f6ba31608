// SPDX-License-Identifier: MIT
//
// How a client gets its sessions, replaces and ends them: see client/core.hpp.
#pragma once

#include <comcp/client/client_session.hpp>
#include <comcp/client/core.hpp>
#include <comcp/client/requests.hpp>
#include <comcp/session/wait_list.hpp>
#include <comcp/timer.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// Marks a client as connecting until the attempt ends.
class connect_attempt
{
public:
    explicit connect_attempt(client_core& of) : core_(of) { core_.connecting = true; }
    connect_attempt(const connect_attempt&) = delete;
    connect_attempt& operator=(const connect_attempt&) = delete;
    ~connect_attempt()
    {
        core_.connecting = false;
        if (const auto left = core_.end_opening()) left->abandon(fault(errc::closed, "the client did not connect"));
    }

private:
    client_core& core_;
};

COMCP_DECL std::shared_ptr<session> open_session(const client_core& core)
{
    if (!core.current) throw error(fail(errc::closed, "the client is not connected"));
    return core.current;
}

/// Asks a new session for what the one before had been asked for, within `limit` altogether. What the server does not
/// grant stays as it is: the host is told of changes that it may have missed (`client_session::missed`).
template <class Question>
task<void> restore(std::shared_ptr<session> in, client_session& role, Question what, time_point by)
{
    comcp::timer clock(in->executor());
    const call_options options;
    const duration left = by - clock.now();
    if (left <= duration::zero() || !declares(role, *in, what.method())) co_return;
    question_call<Question> call(*in, *role.notices(), what, options, false, false);
    try {
        const call_timeouts times{left, left};
        co_await session::perform(in, call, times);
    } catch (const error& e) {
        if (e.code() == errc::cancelled || !in->open()) throw;
    }
}

COMCP_DECL task<void> restore_all(std::shared_ptr<client_core> core, std::shared_ptr<session> in, client_session& role,
                                  duration limit)
{
    comcp::timer clock(in->executor());
    const time_point by = deadline_after(clock.now(), limit);
    if (core->least_log_level) {
        auto restoring = restore(in, role, level_question(*core->least_log_level), by);
        co_await std::move(restoring);
    }
    const std::vector<std::string> wanted(core->subscriptions.begin(), core->subscriptions.end());
    for (const std::string& uri : wanted) {
        auto restoring = restore(in, role, subscription_question(method::resources_subscribe, uri), by);
        co_await std::move(restoring);
    }
}

/// Makes a session, shakes hands, and puts it in the place of the one before.
COMCP_DECL task<void> make_session(std::shared_ptr<client_core> core, duration limit)
{
    const connect_attempt attempt(*core);
    const comcp::executor ex = co_await asio::this_coro::executor;
    transport_settings settings;
    settings.limits = core->options->limits;
    settings.connect = limit;
    settings.reconnect = core->reconnect;
    std::unique_ptr<transport> wire = core->server->make(settings);
    if (!wire) throw error(fail(errc::closed, "the transport of this client was used up"));

    auto made = std::make_shared<session>(ex, std::move(wire), core->options->limits, core->observer);
    made->keep_alive(core->policy);
    made->set_chain(core->options->chain());
    const std::uint64_t roots_seen = core->roots_version;
    auto owned_role = std::make_unique<client_session>(*made, core->options, core->roots);
    client_session* const role = owned_role.get();
    core->begin_opening(made);
    made->set_role(std::move(owned_role));
    co_await session::start(made);

    initialize_call hello(*made, core->options->newest, role->declared(), core->who);
    const call_timeouts times{limit, limit};
    co_await session::perform(made, hello, times);
    role->agree(hello.take());
    made->speak(role->server().version);
    made->notify(method::initialized);
    if (core->least_log_level || !core->subscriptions.empty()) {
        auto restoring = restore_all(core, made, *role, limit);
        co_await std::move(restoring);
    }
    if (role->offers_roots() && core->roots_version != roots_seen) { // meanwhile, and the server may have asked
        role->set_roots(*core->roots);
        made->notify(method::roots_list_changed);
    }
    core->expired = false;
    core->role = role;
    if (const auto before = core->replace(made)) {
        std::erase_if(core->retired, [](const auto& each) { return each.expired(); });
        core->retired.push_back(before);
        before->retire();
    }
    made->listen();
}

/// 2025-11-25, roots: a client must validate its root URIs (H-2).
inline void refuse_bad_roots(const root_list& places)
{
    for (const root& each : places)
        if (auto wrong = check_root(each)) throw error(std::move(*wrong));
}

COMCP_DECL task<void> client_connect(std::shared_ptr<client_core> core, duration limit)
{
    if (core->connecting) throw error(fail(errc::invalid_argument, "the client is connecting already"));
    if (client_connected(*core)) throw error(fail(errc::invalid_argument, "the client is connected already"));
    if (core->roots) refuse_bad_roots(*core->roots);
    core->closed = false;
    core->connect_limit = limit;
    auto making = make_session(core, limit);
    co_await std::move(making);
}

// ---- a server that forgot the session (2025-11-25, transports: 404, E-40) ------------------------------------------

/// One new session for all requests that need one.
struct client_renewal
{
    explicit client_renewal(const executor& ex) : lot(make_parking_lot(ex)), waiting(*lot) {}

    std::shared_ptr<parking_lot> lot;
    wait_list waiting;
    bool done = false;
    std::optional<fault> failed;
};

COMCP_DECL task<void> renew_session(std::shared_ptr<client_core> core, std::shared_ptr<client_renewal> renewal)
{
    try {
        auto making = make_session(core, core->connect_limit);
        co_await std::move(making);
    } catch (const error& e) {
        renewal->failed = e.fault();
    } catch (const std::exception& e) {
        renewal->failed = fail(errc::peer_gone, std::string("connecting failed: ") + e.what());
    } catch (...) {
        renewal->failed = fail(errc::peer_gone, "connecting failed");
    }
    if (!renewal->failed)
        core->role->missed(std::vector<std::string>(core->subscriptions.begin(), core->subscriptions.end()));
    core->renewing.reset();
    renewal->done = true;
    renewal->waiting.wake_all();
}

struct renewal_ended
{
    void operator()(std::exception_ptr) const {}
};

/// Wakes whoever waits: one of them finds its time over.
struct look_at_clock
{
    wait_list* waiting;
    void operator()() const { waiting->wake_all(); }
};

COMCP_DECL task<void> renewed(std::shared_ptr<client_core> core, time_point by)
{
    if (core->closed) throw error(fail(errc::closed, "the client was closed"));
    const comcp::executor ex = co_await asio::this_coro::executor;
    std::shared_ptr<client_renewal> renewal = core->renewing;
    if (!renewal) {
        if (core->connecting) throw error(fail(errc::closed, "the client is not connected"));
        renewal = core->renewing = std::make_shared<client_renewal>(ex);
        asio::co_spawn(ex, renew_session(core, renewal), renewal_ended());
    }
    comcp::timer limit(ex);
    if (by != time_point::max()) limit.start(by, look_at_clock{&renewal->waiting});
    while (!renewal->done) {
        co_await renewal->waiting.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "cancelled before it was sent"));
        if (!renewal->done && limit.now() >= by)
            throw error(fail(errc::timed_out, "the server forgot the session, and no new one was there in time"));
    }
    limit.cancel();
    if (!renewal->failed) co_return;
    fault why = *renewal->failed;
    why.fate = outcome::not_sent;
    why.text = "the server forgot the session, and a new one could not be made: " + why.text;
    throw error(std::move(why));
}

// ---- the end -------------------------------------------------------------------------------------------------------

COMCP_DECL task<void> close_here(std::shared_ptr<client_core> core)
{
    core->closed = true;
    core->subscriptions.clear();
    core->least_log_level.reset();
    std::vector<std::shared_ptr<session>> all;
    for (const auto& each : core->retired)
        if (auto left = each.lock()) all.push_back(std::move(left));
    if (core->opening) all.push_back(core->opening);
    if (core->current) all.push_back(core->current);
    for (const auto& each : all) each->begin_close(fault(errc::closed, "the session was closed"), false);
    for (const auto& each : all) co_await session::close(each);
}

COMCP_DECL task<void> client_close(std::shared_ptr<client_core> core)
{
    return at_home(core->lives(), close_here(core));
}

COMCP_DECL void client_abandon(client_core& core)
{
    core.closed = true;
    std::vector<std::shared_ptr<session>> all{core.opening, core.current};
    for (const auto& each : core.retired) all.push_back(each.lock());
    for (const auto& each : all)
        if (each) each->abandon(fault(errc::closed, "the client was destroyed"));
}

COMCP_DECL void client_set_roots(client_core& core, root_list places)
{
    refuse_bad_roots(places);
    core.roots = std::move(places);
    ++core.roots_version;
    if (!client_connected(core) || !core.role->offers_roots()) return; // not declared, so not spoken of (B-6)
    core.role->set_roots(*core.roots);
    core.current->notify(method::roots_list_changed);
}

COMCP_DECL bool client_connected(const client_core& core)
{
    return core.current && core.current->open() && !core.expired;
}

COMCP_DECL const wire::initialize_result& client_server(const client_core& core)
{
    if (!core.role) throw error(fail(errc::closed, "the client is not connected"));
    return core.role->server();
}

COMCP_DECL session_statistics client_statistics(const client_core& core)
{
    const auto& lives = core.current ? core.current : core.opening;
    return lives ? lives->statistics() : session_statistics();
}

} // namespace comcp::inline COMCP_ABI::detail
