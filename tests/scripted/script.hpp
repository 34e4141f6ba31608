// SPDX-License-Identifier: MIT
//
// A stage for whole sessions without sockets and without sleeping: an io_context with time in the test's hand, a peer
// that is a script, and operations that run beside it. Not for tests of one part: those are in unit/.
//
//     script::client_stage s;                                   // a client past its handshake
//     auto call = s.start(s.client.call("greet"));
//     s.peer.expect("tools/call").after(2ms).reply(R"({"content":[]})");
//     CHECK(call.value().content.empty());
#pragma once

#include <comcp/server/manual_executor.hpp>
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include "catch.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace script
{

using namespace std::chrono_literals;
using comcp::errc;
using comcp::outcome;
namespace asio = comcp::asio;
namespace json = comcp::json;

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline json::object parse(std::string_view text)
{
    INFO("message: " << std::string(text.substr(0, 300)));
    const auto value = comcp::parse_json(text, 1000);
    REQUIRE(value.has_value());
    REQUIRE(value->is_object());
    return value->get_object();
}

// ---- operations that run beside the test ---------------------------------------------------------------------------

/// An operation that was started: its end, once it has come, and a way to cancel it.
template <class T>
class running
{
    using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
    struct state
    {
        std::optional<stored> value;
        std::optional<comcp::fault> failed;
        std::exception_ptr other;
        int ends = 0;
        asio::cancellation_signal signal;
    };

public:
    running(const comcp::executor& ex, comcp::task<T> operation) : state_(std::make_shared<state>())
    {
        asio::co_spawn(ex, keep(std::move(operation), state_),
                       asio::bind_cancellation_slot(state_->signal.slot(), kept(state_)));
    }

    bool done() const { return state_->ends != 0; }
    bool succeeded() const { return state_->value.has_value(); }
    /// The result. Fails the test when there is none.
    stored& value()
    {
        if (state_->failed) INFO("it failed: " << state_->failed->text);
        REQUIRE(done());
        if (state_->other) std::rethrow_exception(state_->other);
        if (state_->failed) FAIL("it failed: " << state_->failed->text);
        return *state_->value;
    }
    /// The error. Fails the test when there is none.
    const comcp::fault& failure()
    {
        REQUIRE(done());
        if (state_->other) std::rethrow_exception(state_->other);
        REQUIRE(state_->failed);
        return *state_->failed;
    }
    /// It ended with an exception that is no comcp::error.
    bool threw_other() const { return state_->other != nullptr; }
    bool failed_with(errc code) { return failure().code == code; }
    void cancel() { state_->signal.emit(asio::cancellation_type::terminal); }

private:
    struct kept // the signal must outlive the coroutine
    {
        explicit kept(std::shared_ptr<state> of) : into(std::move(of)) {}
        void operator()(std::exception_ptr failure) const
        {
            if (failure) {
                into->other = failure;
                ++into->ends;
            }
        }
        std::shared_ptr<state> into;
    };

    static comcp::task<void> keep(comcp::task<T> operation, std::shared_ptr<state> into)
    {
        try {
            if constexpr (std::is_void_v<T>) {
                co_await std::move(operation);
                into->value.emplace();
            } else {
                T got = co_await std::move(operation);
                into->value.emplace(std::move(got));
            }
        } catch (const comcp::error& e) {
            into->failed = e.fault();
        } catch (...) {
            into->other = std::current_exception();
        }
        ++into->ends;
    }

    std::shared_ptr<state> state_;
};

/// An io_context and its clock. Made first and destroyed last.
class stage
{
public:
    asio::io_context io{1};
    comcp::manual_time time{io};

    stage() = default;
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    comcp::executor executor() { return io.get_executor(); }
    void settle() { time.settle(); }
    void advance(comcp::duration by) { time.advance(by); }

    /// Starts an operation and runs what can be run without time passing.
    template <class T>
    running<T> start(comcp::task<T> operation)
    {
        running<T> started(executor(), std::move(operation));
        settle();
        return started;
    }

    /// Runs an operation to its end, or fails the test because it hangs.
    template <class T>
    auto run(comcp::task<T> operation)
    {
        running<T> started = start(std::move(operation));
        if (!started.done()) FAIL("the operation hangs");
        return std::move(started.value());
    }
};

// ---- the peer
// --------------------------------------------------------------------------------------------------------

class peer;

/// A message that the peer was sent.
class heard
{
public:
    heard(peer& by, std::string what) : text(std::move(what)), message(parse(text)), by_(&by) {}

    std::string text;
    json::object message;

    std::string method() const { return text_of("method"); }
    /// The id as JSON text; empty when there is none.
    std::string id() const
    {
        const json::value* found = message.if_contains("id");
        std::string out;
        if (found) comcp::write_value(out, *found);
        return out;
    }
    json::object params() const
    {
        const json::object* found = comcp::object_member(message, "params");
        return found ? *found : json::object();
    }

    inline const heard& after(comcp::duration wait) const;
    inline void reply(std::string_view result) const;
    inline void refuse(int code, std::string_view why, std::string_view data = {}) const;

private:
    std::string text_of(std::string_view name) const
    {
        return std::string(comcp::string_member(message, name).value_or(""));
    }
    peer* by_;
};

/// The other side of the session under test, spoken by the test.
class peer
{
public:
    explicit peer(stage& on) : stage_(on), wire_(on.executor()) {}

    comcp::memory_peer& wire() { return wire_; }
    stage& on() { return stage_; }

    /// Sends one message and lets it be handled.
    void say(std::string text)
    {
        wire_.send(std::move(text));
        stage_.settle();
    }
    /// Sends several that arrive together.
    template <class... More>
    void say(std::string first, More... more)
    {
        wire_.send(std::move(first));
        say(std::string(std::move(more))...);
    }
    void ask(std::string_view id, std::string_view method, std::string_view params = {})
    {
        std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + '"';
        if (!params.empty()) text += R"(,"params":)" + std::string(params);
        say(text + '}');
    }
    void note(std::string_view method, std::string_view params = {})
    {
        std::string text = R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"';
        if (!params.empty()) text += R"(,"params":)" + std::string(params);
        say(text + '}');
    }
    /// Calls a tool: `arguments` is the text of an object.
    void call(std::string_view id, std::string_view tool, std::string_view arguments = "{}", std::string_view meta = {})
    {
        std::string params = R"({"name":")" + std::string(tool) + R"(","arguments":)" + std::string(arguments);
        if (!meta.empty()) params += R"(,"_meta":)" + std::string(meta);
        ask(id, "tools/call", params + '}');
    }
    void hang_up(std::string why = {})
    {
        wire_.hang_up(std::move(why));
        stage_.settle();
    }

    /// The text of the next message; fails the test when there is none.
    std::string next()
    {
        stage_.settle();
        REQUIRE(wire_.has_message());
        return wire_.take();
    }
    /// The next message, which is a request or notification of this method.
    heard expect(std::string_view method)
    {
        heard got(*this, next());
        INFO("message: " << got.text.substr(0, 300));
        REQUIRE(got.method() == method);
        return got;
    }
    /// The next message, as JSON.
    json::object next_object() { return parse(next()); }
    /// Nothing more was sent.
    bool quiet()
    {
        stage_.settle();
        if (wire_.has_message()) UNSCOPED_INFO("not quiet: " << wire_.take());
        else return true;
        return false;
    }
    /// Throws away what was sent and returns how many messages that were.
    std::size_t skip_all()
    {
        stage_.settle();
        std::size_t count = 0;
        for (; wire_.has_message(); ++count) wire_.take();
        return count;
    }

private:
    stage& stage_;
    comcp::memory_peer wire_;
};

inline const heard& heard::after(comcp::duration wait) const
{
    by_->on().advance(wait);
    return *this;
}

inline void heard::reply(std::string_view result) const
{
    by_->say(R"({"jsonrpc":"2.0","id":)" + id() + R"(,"result":)" + std::string(result) + '}');
}

inline void heard::refuse(int code, std::string_view why, std::string_view data) const
{
    std::string answer = R"({"jsonrpc":"2.0","id":)" + id() + R"(,"error":{"code":)" + std::to_string(code) +
                         R"(,"message":")" + std::string(why) + '"';
    if (!data.empty()) answer += R"(,"data":)" + std::string(data);
    by_->say(answer + "}}");
}

/// What a server says to initialize.
inline std::string welcome(std::string_view version = "2025-11-25", std::string_view capabilities = R"({"tools":{}})")
{
    return R"({"protocolVersion":")" + std::string(version) + R"(","capabilities":)" + std::string(capabilities) +
           R"(,"serverInfo":{"name":"scripted","version":"1"}})";
}

/// The same with text content, for short.
inline std::string text_result(std::string_view text)
{
    std::string out = R"({"content":[{"type":"text","text":)";
    comcp::write_string(out, text);
    return out + "}]}";
}

// ---- a client or a server, past its handshake in one line ----------------------------------------------------------

/// With COMCP_TEST_MIDDLEWARE set, every stage has a chain that changes nothing: all tests must go as without one.
inline bool with_middleware() { return std::getenv("COMCP_TEST_MIDDLEWARE") != nullptr; }

inline comcp::task<comcp::middleware_reply> pass_on(comcp::middleware_message message, comcp::middleware_next next)
{
    auto going = next(std::move(message));
    auto reply = co_await std::move(going);
    co_return reply;
}

inline comcp::client_options with_chain(comcp::client_options options)
{
    if (with_middleware()) options.use(pass_on).use(pass_on);
    return options;
}

/// A client and the server that a script plays. With an empty version it has not connected yet.
template <class Policy = comcp::default_policy>
class basic_client_stage : public stage
{
public:
    script::peer peer{*this};
    comcp::basic_client<Policy> client;

    explicit basic_client_stage(comcp::client_options options = {}, std::string_view version = "2025-11-25",
                                comcp::policy_state<Policy> policies = {})
        : client(peer.wire().take_transport(), comcp::identity("tester", "1"), with_chain(std::move(options)),
                 std::move(policies))
    {
        if (!version.empty()) shake_hands(version);
    }

    void shake_hands(std::string_view version = "2025-11-25", std::string_view capabilities = R"({"tools":{}})")
    {
        auto connecting = start(client.connect());
        peer.expect("initialize").reply(welcome(version, capabilities));
        peer.expect("notifications/initialized");
        connecting.value();
    }
};
using client_stage = basic_client_stage<>;

/// A server and the client that a script plays. Register tools, then `begin()`.
template <class Policy = comcp::default_policy>
class basic_server_stage : public stage
{
public:
    script::peer peer{*this};
    comcp::basic_server<Policy> server;
    std::optional<running<comcp::fault>> served;

    explicit basic_server_stage(comcp::server_options options = {}, comcp::policy_state<Policy> policies = {})
        : server(comcp::identity("served", "1"), std::move(options), std::move(policies))
    {
        if (!with_middleware()) return;
        server.use(pass_on);
        server.use(pass_on);
    }

    /// Serves, without a handshake.
    void listen() { served = start(server.serve(peer.wire().take_transport())); }

    /// Serves and shakes hands.
    void begin(std::string_view version = "2025-11-25", std::string_view capabilities = "{}")
    {
        listen();
        peer.ask("0", "initialize",
                 R"({"protocolVersion":")" + std::string(version) + R"(","capabilities":)" + std::string(capabilities) +
                     R"(,"clientInfo":{"name":"script","version":"1"}})");
        const json::object answer = peer.next_object();
        REQUIRE(answer.at("result").at("protocolVersion").get_string() == version);
        peer.note("notifications/initialized");
    }
};
using server_stage = basic_server_stage<>;

} // namespace script
