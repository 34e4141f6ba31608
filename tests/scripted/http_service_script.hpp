// SPDX-License-Identifier: MIT
//
// The stage of script.hpp for a server behind HTTP without sockets: requests are values, answers are awaited, streams
// are read by a reader that can stop and leave.
//
//     service_stage s;
//     s.begin();                                     // a client past its handshake
//     auto answer = s.post(call_text("1", "echo"));
//     CHECK(answer.body() == text_answer("1", "hello"));
#pragma once

#include "script.hpp"

#include <comcp/http.hpp>
#include <comcp/http/sse.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace script::hosted // apart from the stage of HTTP clients, which has similar names
{

using namespace script;
namespace http = comcp::http;

/// Reads a stream as fast as it comes, or piece by piece.
class stream_reader
{
    struct state
    {
        std::unique_ptr<http::body_stream> stream;
        std::string text;
        bool ended = false;
    };

public:
    stream_reader(stage& on, std::unique_ptr<http::body_stream> stream) : state_(std::make_shared<state>()), on_(&on)
    {
        state_->stream = std::move(stream);
    }

    /// Reads from now on whatever comes.
    stream_reader& read()
    {
        if (!reading_) reading_.emplace(on_->executor(), pull(state_));
        on_->settle();
        return *this;
    }
    /// Reads what is there, once; the text is empty at the end.
    std::string piece()
    {
        std::string out;
        auto one = on_->start(state_->stream->next(out));
        state_->ended = !one.value();
        return out;
    }
    /// The connection breaks.
    void leave()
    {
        if (reading_) {
            reading_->cancel();
            on_->settle();
        }
        state_->stream.reset();
        on_->settle();
    }

    bool ended()
    {
        read();
        return state_->ended;
    }
    const std::string& text()
    {
        read();
        return state_->text;
    }
    /// The messages so far, in order.
    std::vector<std::string> messages() { return messages_of(text()); }
    /// The ids of all events so far, in order; empty where there is none.
    std::vector<std::string> ids()
    {
        std::vector<std::string> out;
        http::sse_parser parser;
        http::sse_event event;
        parser.feed(text());
        while (parser.next(event)) out.emplace_back(event.has_id ? event.id : std::string_view());
        return out;
    }

    static std::vector<std::string> messages_of(std::string_view text)
    {
        std::vector<std::string> out;
        http::sse_parser parser;
        http::sse_event event;
        parser.feed(text);
        while (parser.next(event))
            if (!event.blank()) out.emplace_back(event.data);
        return out;
    }

private:
    static comcp::task<void> pull(std::shared_ptr<state> from)
    {
        for (;;) {
            const bool more = co_await from->stream->next(from->text);
            if (!more) break;
        }
        from->ended = true;
        from->stream.reset();
    }

    std::shared_ptr<state> state_;
    stage* on_;
    std::optional<running<void>> reading_;
};

/// One request and what becomes of it.
class reply
{
public:
    reply(stage& on, running<http::response> of) : on_(&on), running_(std::move(of)) {}

    bool done() const { return running_.done(); }
    /// The connection breaks while the answer is waited for.
    void cancel()
    {
        running_.cancel();
        on_->settle();
    }
    http::response& response() { return running_.value(); }
    int status() { return response().status; }
    std::string field(std::string_view name) { return std::string(response().fields.find(name).value_or("")); }
    const std::string& body() { return response().body; }
    json::object object() { return parse(body()); }
    int code() { return static_cast<int>(object().at("error").at("code").as_int64()); }
    bool is_stream() { return reader_ || response().stream != nullptr; }
    stream_reader& stream()
    {
        if (!reader_) {
            REQUIRE(status() == 200);
            REQUIRE(response().stream);
            REQUIRE(field("Content-Type") == "text/event-stream");
            reader_.emplace(*on_, std::move(response().stream));
        }
        return *reader_;
    }

private:
    stage* on_;
    running<http::response> running_;
    std::optional<stream_reader> reader_;
};

inline std::string request_text(std::string_view id, std::string_view method, std::string_view params = {})
{
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + '"';
    if (!params.empty()) text += R"(,"params":)" + std::string(params);
    return text + '}';
}

inline std::string notice_text(std::string_view method, std::string_view params = {})
{
    std::string text = R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"';
    if (!params.empty()) text += R"(,"params":)" + std::string(params);
    return text + '}';
}

inline std::string call_text(std::string_view id, std::string_view tool, std::string_view meta = {})
{
    std::string params = R"({"name":")" + std::string(tool) + R"(","arguments":{})";
    if (!meta.empty()) params += R"(,"_meta":)" + std::string(meta);
    return request_text(id, "tools/call", params + '}');
}

inline std::string hello_text(std::string_view version = "2025-11-25", std::string_view capabilities = "{}")
{
    return request_text("0", "initialize",
                        R"({"protocolVersion":")" + std::string(version) + R"(","capabilities":)" +
                            std::string(capabilities) + R"(,"clientInfo":{"name":"script","version":"1"}})");
}

inline std::string answer_text(std::string_view id, std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(result) + '}';
}

/// The answer of a tool that returns a text.
inline std::string text_answer(std::string_view id, std::string_view text)
{
    return answer_text(id, text_result(text));
}

/// An error that answers no request, as HTTP's own answers have it.
inline std::string error_text(int code, std::string_view why)
{
    return R"({"jsonrpc":"2.0","error":{"code":)" + std::to_string(code) + R"(,"message":")" + std::string(why) +
           R"("}})";
}

/// One client as far as HTTP knows it.
struct caller
{
    std::string session;
    std::string version;
    std::string principal; ///< sent as Authorization

    http::request make(std::string_view method, std::string body = {}) const
    {
        http::request out;
        out.method = method;
        out.target = "/mcp";
        out.fields.add("Host", "127.0.0.1:8080");
        if (method == "POST") out.fields.add("Content-Type", "application/json");
        out.fields.add("Accept", method == "GET" ? "text/event-stream" : "application/json, text/event-stream");
        if (!session.empty()) out.fields.add("Mcp-Session-Id", session);
        if (!version.empty()) out.fields.add("MCP-Protocol-Version", version);
        if (!principal.empty()) out.fields.add("Authorization", principal);
        out.body = std::move(body);
        return out;
    }
};

/// Sends a request as an HTTP server does: the head is judged first.
inline comcp::task<http::response> exchange_with(http::service& by, http::request what)
{
    auto refused = co_await by.refuse(what);
    if (refused) co_return std::move(*refused);
    co_return co_await by.handle(std::move(what));
}

/// Every test runs twice: with a strand for each session, and all in one thread.
inline comcp::http_service_options in_both_ways(comcp::http_service_options options)
{
    options.single_threaded(GENERATE(false, true));
    return options;
}

/// A server behind an HTTP service.
class service_stage : public stage
{
public:
    std::unique_ptr<comcp::server> server;
    std::unique_ptr<comcp::http_service> service;
    caller client;

    explicit service_stage(comcp::http_service_options options = {}, comcp::server_options of_server = {})
        : server(std::make_unique<comcp::server>(comcp::identity("served", "1"), std::move(of_server))),
          service(std::make_unique<comcp::http_service>(executor(), *server, in_both_ways(std::move(options))))
    {
        if (!with_middleware()) return;
        server->use(pass_on);
        server->use(pass_on);
    }

    reply send(http::request what) { return reply(*this, start(exchange_with(*service, std::move(what)))); }
    reply post(std::string body) { return send(client.make("POST", std::move(body))); }
    reply get(std::string_view last_event_id = {})
    {
        http::request what = client.make("GET");
        if (!last_event_id.empty()) what.fields.add("Last-Event-ID", last_event_id);
        return send(std::move(what));
    }
    reply end() { return send(client.make("DELETE")); }

    /// A client past its handshake.
    caller connect(std::string_view version = "2025-11-25", std::string_view capabilities = "{}",
                   std::string principal = {})
    {
        caller made;
        made.principal = std::move(principal);
        reply hello = send(made.make("POST", hello_text(version, capabilities)));
        REQUIRE(hello.status() == 200);
        made.session = hello.field("Mcp-Session-Id");
        made.version = version;
        REQUIRE(made.session.size() == 32);
        REQUIRE(send(made.make("POST", notice_text("notifications/initialized"))).status() == 202);
        return made;
    }
    void begin(std::string_view version = "2025-11-25", std::string_view capabilities = "{}")
    {
        client = connect(version, capabilities);
    }
};

inline comcp::task<std::string> wait_for(comcp::duration time, std::string text = "done")
{
    comcp::timer timer(co_await asio::this_coro::executor);
    co_await timer.wait_for(time);
    co_return text;
}

} // namespace script::hosted
