// SPDX-License-Identifier: MIT
//
// The operations of a client: see client/core.hpp for what they are and client/client.hpp for what they promise.
#pragma once

#include <comcp/client/client_session.hpp>
#include <comcp/client/core.hpp>
#include <comcp/client/pages.hpp>
#include <comcp/session/raw_call.hpp>
#include <comcp/session/wait_list.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// The handshake as a request.
class initialize_call final : public pending_call
{
public:
    initialize_call(session& in, const client_options& options, const identity& who)
        : pending_call(in.lot(), method::initialize),
          options_(options),
          who_(who)
    {}
    wire::initialize_result take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override
    {
        wire::write_initialize_params(out, options_.newest, client_session::capabilities(options_), who_);
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        auto read = wire::read_initialize_result(*answer.result, options_.newest);
        if (!read) return read.error();
        result_ = std::move(*read);
        return std::nullopt;
    }

    const client_options& options_;
    const identity& who_;
    wire::initialize_result result_;
};

/// One page of tools/list.
class list_call final : public pending_call
{
public:
    list_call(session& in, tool_pages& pages) : pending_call(in.lot(), method::tools_list), pages_(pages) {}

private:
    void write_params(std::string& out) const override
    {
        out += '{';
        if (pages_.next()) write_string(out += R"("cursor":)", *pages_.next());
        out += '}';
    }
    std::optional<fault> read_result(const rpc::message& answer) override { return pages_.add(*answer.result); }

    tool_pages& pages_;
};

/// One tools/call.
class tool_request final : public pending_call
{
public:
    tool_request(session& in, notice_pump& notices, std::string_view tool, const args& arguments,
                 const call_options& options, bool wants_token, bool keep_source, const any_output_cap& cap)
        : pending_call(in.lot(), method::tools_call),
          session_(in),
          notices_(notices),
          tool_(tool),
          arguments_(arguments),
          wants_token_(wants_token),
          keep_source_(keep_source),
          result_(cap)
    {
        if (options.progress_handler()) progress_ = std::make_shared<progress_state>(options.progress_handler());
    }
    ~tool_request() override
    {
        if (progress_) notices_.forget(*progress_);
    }
    answer&& take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override
    {
        const progress_token token(id());
        session_.codec().write_call_params(out, tool_, arguments_.text(), wants_token_ ? &token : nullptr,
                                           session_.spoken());
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        std::string_view source;
        if (keep_source_) source = member_source(answer.text, "result").value_or("");
        read_tool_result(*answer.result, source, result_);
        return std::nullopt;
    }
    void on_progress(const progress& notice) override
    {
        if (progress_) notices_.progressed(session_, progress_, notice);
    }

    session& session_;
    notice_pump& notices_;
    std::string_view tool_;
    const args& arguments_;
    bool wants_token_;
    bool keep_source_;
    std::shared_ptr<progress_state> progress_;
    comcp::answer result_;
};

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

COMCP_DECL std::shared_ptr<session> open_session(const std::shared_ptr<client_core>& core)
{
    if (!core->current) throw error(fail(errc::closed, "the client is not connected"));
    return core->current;
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
    auto owned_role = std::make_unique<client_session>(*made, core->options);
    client_session* const role = owned_role.get();
    if (core->role) role->take_over(*core->role);
    core->begin_opening(made);
    made->set_role(std::move(owned_role));
    co_await session::start(made);

    initialize_call hello(*made, *core->options, core->who);
    co_await session::perform(made, hello, call_timeouts{limit, limit});
    role->server = hello.take();
    made->speak(role->server.version);
    made->notify(method::initialized);
    core->expired = false;
    core->role = role;
    if (const auto before = core->replace(made)) {
        std::erase_if(core->retired, [](const auto& each) { return each.expired(); });
        core->retired.push_back(before);
        before->retire();
    }
    made->listen();
}

COMCP_DECL task<void> client_connect(std::shared_ptr<client_core> core, duration limit)
{
    if (core->connecting) throw error(fail(errc::invalid_argument, "the client is connecting already"));
    if (client_connected(*core)) throw error(fail(errc::invalid_argument, "the client is connected already"));
    core->closed = false;
    core->connect_limit = limit;
    auto making = make_session(core, limit);
    co_await std::move(making);
}

// ---- a server that forgot the session (2025-11-25, transports: 404, E-40)
// --------------------------------------------

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
    core->renewing.reset();
    renewal->done = true;
    renewal->waiting.wake_all();
}

struct renewal_ended
{
    void operator()(std::exception_ptr) const {}
};

/// Waits until there is a session that the server knows. It is made beside those that wait: one of them may give up.
COMCP_DECL task<void> renewed(std::shared_ptr<client_core> core)
{
    if (core->closed) throw error(fail(errc::closed, "the client was closed"));
    const comcp::executor ex = co_await asio::this_coro::executor;
    std::shared_ptr<client_renewal> renewal = core->renewing;
    if (!renewal) {
        if (core->connecting) throw error(fail(errc::closed, "the client is not connected"));
        renewal = core->renewing = std::make_shared<client_renewal>(ex);
        asio::co_spawn(ex, renew_session(core, renewal), renewal_ended());
    }
    while (!renewal->done) {
        co_await renewal->waiting.wait();
        const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(asked)) throw error(fail(errc::cancelled, "cancelled before it was sent"));
    }
    if (!renewal->failed) co_return;
    fault why = *renewal->failed;
    why.fate = outcome::not_sent;
    why.text = "the server forgot the session, and a new one could not be made: " + why.text;
    throw error(std::move(why));
}

/// Whether a request that failed is to be made again in a new session.
COMCP_DECL bool wants_renewal(client_core& core, const std::shared_ptr<session>& in, const fault& why,
                              std::string_view method, std::string_view tool)
{
    if (why.code != errc::session_expired || !core.server->lasts()) return false;
    if (core.current == in) core.expired = true;
    replay_facts facts;
    facts.method = method;
    facts.tool = tool;
    facts.sent = why.fate != outcome::not_sent;
    return core.resend(facts);
}

// ---- operations ----------------------------------------------------------------------------------------------------

COMCP_DECL task<tool_list> list_once(std::shared_ptr<client_core> core, std::shared_ptr<session> session,
                                     call_timeouts times)
{
    tool_pages pages(core->options->limits.pages, core->options->limits.tools);
    do {
        std::optional<fault> failed;
        try {
            list_call page(*session, pages);
            co_await session::perform(session, page, times);
        } catch (const error& e) {
            failed = e.fault();
        }
        if (!failed) continue;
        if (failed->rpc && failed->rpc->code == rpc_code::method_not_found && pages.pages() == 0) break;
        if (pages.pages() == 0 || failed->code == errc::cancelled || failed->code == errc::session_expired)
            throw error(std::move(*failed));
        pages.stop("page " + std::to_string(pages.pages() + 1) + " failed: " + failed->text);
    } while (pages.next());
    co_return pages.take();
}

COMCP_DECL task<tool_list> list_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    for (bool again = false;; again = true) {
        if (core->expired) co_await renewed(core);
        const auto session = open_session(core);
        try {
            // The cursors of one session mean nothing in another one: all pages are asked for again.
            co_return co_await list_once(core, session, times);
        } catch (const error& e) {
            if (!wants_renewal(*core, session, e.fault(), method::tools_list, {}) || again) throw;
        }
    }
}

// The hop and the steps of `session::perform` stand in the coroutine itself: this is the hot one, and each frame that
// is not needed is 5 % of a call.
COMCP_DECL task<answer> client_call(std::shared_ptr<client_core> core, std::string tool, args arguments,
                                    call_options options, call_timeouts times)
{
    const auto lives = core->lives();
    const executor home = lives ? lives->executor() : executor();
    const executor here = co_await asio::this_coro::executor;
    if (home && here != home) {
        auto there = client_call(core, std::move(tool), std::move(arguments), std::move(options), times);
        co_return co_await run_elsewhere(home, std::move(there));
    }
    if (options.total()) times = call_timeouts{*options.total(), std::min(times.idle, *options.total())};
    if (options.idle()) times.idle = *options.idle();
    const bool wants_token = options.progress_handler() || times.idle < times.total;
    const asio::cancellation_state caller = co_await asio::this_coro::cancellation_state;
    for (bool again = false;; again = true) {
        if (core->expired) co_await renewed(core);
        const auto session = open_session(core);
        try {
            tool_request request(*session, *core->role->notices(), tool, arguments, options, wants_token,
                                 core->options->keep_source, core->cap);
            session->begin(request, times, caller);
            if (request.waits_for_room()) co_await session::wait_for_room(session, request);
            if (request.sent()) co_await session->wait_for_answer(request);
            session::finish(request);
            co_return request.take();
        } catch (const error& e) {
            if (!wants_renewal(*core, session, e.fault(), method::tools_call, tool) || again) throw;
        }
    }
}

COMCP_DECL task<json_result> request_here(std::shared_ptr<client_core> core, std::string what, raw_json params,
                                          call_timeouts times, bool keep_source)
{
    for (bool again = false;; again = true) {
        if (core->expired) co_await renewed(core);
        const auto session = open_session(core);
        try {
            co_return co_await request_raw(session, what, params.text(), times, keep_source);
        } catch (const error& e) {
            if (!wants_renewal(*core, session, e.fault(), what, {}) || again) throw;
        }
    }
}

COMCP_DECL task<void> ping_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    co_await request_here(core, std::string(method::ping), raw_json("{}"), times, false);
}

COMCP_DECL task<void> close_here(std::shared_ptr<client_core> core)
{
    core->closed = true;
    std::vector<std::shared_ptr<session>> all;
    for (const auto& each : core->retired)
        if (auto left = each.lock()) all.push_back(std::move(left));
    if (core->opening) all.push_back(core->opening);
    if (core->current) all.push_back(core->current);
    for (const auto& each : all) each->begin_close(fault(errc::closed, "the session was closed"), false);
    for (const auto& each : all) co_await session::close(each);
}

/// Awaits an operation where the session lives; before there is one, there is no other place to be.
template <class T>
task<T> at_home(const client_core& core, task<T> operation)
{
    const auto lives = core.lives();
    if (!lives || !lives->executor()) return operation;
    return on_executor(lives->executor(), std::move(operation));
}

COMCP_DECL task<tool_list> client_list_tools(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(*core, list_here(core, times));
}

COMCP_DECL task<json_result> client_request(std::shared_ptr<client_core> core, std::string method, raw_json params,
                                            call_timeouts times)
{
    const bool keep_source = core->options->keep_source;
    return at_home(*core, request_here(core, std::move(method), std::move(params), times, keep_source));
}

COMCP_DECL task<void> client_ping(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(*core, ping_here(core, times));
}

COMCP_DECL task<void> client_close(std::shared_ptr<client_core> core) { return at_home(*core, close_here(core)); }

COMCP_DECL void client_abandon(client_core& core)
{
    core.closed = true;
    std::vector<std::shared_ptr<session>> all{core.opening, core.current};
    for (const auto& each : core.retired) all.push_back(each.lock());
    for (const auto& each : all)
        if (each) each->abandon(fault(errc::closed, "the client was destroyed"));
}

COMCP_DECL void client_set_roots(client_core& core, std::vector<root> places)
{
    if (!client_connected(core) || !core.options->offered_roots()) return; // not declared, so not spoken of (B-6)
    core.role->set_roots(std::move(places));
    core.current->notify(method::roots_list_changed);
}

COMCP_DECL bool client_connected(const client_core& core)
{
    return core.current && core.current->open() && !core.expired;
}

COMCP_DECL const wire::initialize_result& client_server(const client_core& core)
{
    if (!core.role) throw error(fail(errc::closed, "the client is not connected"));
    return core.role->server;
}

COMCP_DECL session_statistics client_statistics(const client_core& core)
{
    const auto& lives = core.current ? core.current : core.opening;
    return lives ? lives->statistics() : session_statistics();
}

} // namespace comcp::inline COMCP_ABI::detail
