// SPDX-License-Identifier: MIT
//
// The operations of a client: see client/core.hpp for what they are and client/client.hpp for what they promise.
#pragma once

#include <comcp/client/client_session.hpp>
#include <comcp/client/core.hpp>
#include <comcp/session/raw_call.hpp>
#include <comcp/transport/child_transport.hpp>

#include <algorithm>
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
        if (!succeeded && core_.current) core_.current->abandon(fault(errc::closed, "the client did not connect"));
    }
    bool succeeded = false;

private:
    client_core& core_;
};

COMCP_DECL std::shared_ptr<session> open_session(const std::shared_ptr<client_core>& core)
{
    if (!core->current || !core->current->negotiated()) throw error(fail(errc::closed, "the client is not connected"));
    return core->current;
}

COMCP_DECL task<void> client_connect(std::shared_ptr<client_core> core, duration limit)
{
    if (core->connecting) throw error(fail(errc::invalid_argument, "the client is connecting already"));
    if (core->current && core->current->open())
        throw error(fail(errc::invalid_argument, "the client is connected already"));
    connect_attempt attempt(*core);
    const comcp::executor ex = co_await asio::this_coro::executor;
    std::unique_ptr<transport> wire = std::move(core->wire);
    if (core->program) wire = make_child_transport(*core->program, core->options->limits);
    if (!wire) throw error(fail(errc::closed, "the transport of this client was used up"));

    auto made = std::make_shared<session>(ex, std::move(wire), core->options->limits, core->observer);
    made->keep_alive(core->policy);
    auto role = std::make_unique<client_session>(*made, core->options);
    core->role = role.get();
    core->current = made;
    made->set_role(std::move(role));
    co_await session::start(made);

    initialize_call hello(*made, *core->options, core->who);
    co_await session::perform(made, hello, call_timeouts{limit, limit});
    core->role->server = hello.take();
    made->speak(core->role->server.version);
    made->notify(method::initialized);
    attempt.succeeded = true;
}

COMCP_DECL task<tool_list> list_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    const auto session = open_session(core);
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
        if (pages.pages() == 0 || failed->code == errc::cancelled) throw error(std::move(*failed));
        pages.stop("page " + std::to_string(pages.pages() + 1) + " failed: " + failed->text);
    } while (pages.next());
    co_return pages.take();
}

// The hop stands in the coroutine itself: this is the hot one, and the frame of `at_home` is 5 % of a call.
COMCP_DECL task<answer> client_call(std::shared_ptr<client_core> core, std::string tool, args arguments,
                                    call_options options, call_timeouts times)
{
    const auto session = open_session(core);
    const executor& home = session->executor();
    const executor here = co_await asio::this_coro::executor;
    if (home && here != home) {
        auto there = client_call(core, std::move(tool), std::move(arguments), std::move(options), times);
        co_return co_await asio::co_spawn(home, std::move(there), asio::use_awaitable);
    }
    if (options.total()) times = call_timeouts{*options.total(), std::min(times.idle, *options.total())};
    if (options.idle()) times.idle = *options.idle();
    const bool wants_token = options.progress_handler() || times.idle < times.total;
    tool_request request(*session, *core->role->notices(), tool, arguments, options, wants_token,
                         core->options->keep_source, core->cap);
    co_await session::perform(session, request, times);
    co_return request.take();
}

COMCP_DECL task<json_result> request_here(std::shared_ptr<client_core> core, std::string what, raw_json params,
                                          call_timeouts times)
{
    const auto session = open_session(core);
    co_return co_await request_raw(session, std::move(what), params.text(), times, core->options->keep_source);
}

COMCP_DECL task<void> ping_here(std::shared_ptr<client_core> core, call_timeouts times)
{
    const auto session = open_session(core);
    co_await request_raw(session, std::string(method::ping), "{}", times, false);
}

COMCP_DECL task<void> close_here(std::shared_ptr<client_core> core)
{
    const auto session = core->current;
    if (session) co_await session::close(session);
}

/// Awaits an operation where the session lives; before there is one, there is no other place to be.
template <class T>
task<T> at_home(const client_core& core, task<T> operation)
{
    if (!core.current || !core.current->executor()) return operation;
    return on_executor(core.current->executor(), std::move(operation));
}

COMCP_DECL task<tool_list> client_list_tools(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(*core, list_here(core, times));
}

COMCP_DECL task<json_result> client_request(std::shared_ptr<client_core> core, std::string method, raw_json params,
                                            call_timeouts times)
{
    return at_home(*core, request_here(core, std::move(method), std::move(params), times));
}

COMCP_DECL task<void> client_ping(std::shared_ptr<client_core> core, call_timeouts times)
{
    return at_home(*core, ping_here(core, times));
}

COMCP_DECL task<void> client_close(std::shared_ptr<client_core> core) { return at_home(*core, close_here(core)); }

COMCP_DECL void client_abandon(client_core& core)
{
    if (core.current) core.current->abandon(fault(errc::closed, "the client was destroyed"));
}

COMCP_DECL void client_set_roots(client_core& core, std::vector<root> places)
{
    if (!client_connected(core) || !core.options->offered_roots()) return; // not declared, so not spoken of (B-6)
    core.role->set_roots(std::move(places));
    core.current->notify(method::roots_list_changed);
}

COMCP_DECL bool client_connected(const client_core& core)
{
    return core.current && core.current->open() && core.current->negotiated();
}

COMCP_DECL const wire::initialize_result& client_server(const client_core& core)
{
    if (!core.role) throw error(fail(errc::closed, "the client is not connected"));
    return core.role->server;
}

COMCP_DECL session_statistics client_statistics(const client_core& core)
{
    return core.current ? core.current->statistics() : session_statistics();
}

} // namespace comcp::inline COMCP_ABI::detail
