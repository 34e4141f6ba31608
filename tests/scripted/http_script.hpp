// SPDX-License-Identifier: MIT
//
// An HTTP server that a test plays by hand, over streams in memory: expect this request, reply these bytes, after 2 ms
// some more, then cut. And a client that talks to it, with time in the test's hand.
//
//     http_stage s;
//     s.connect();                                             // with a session
//     auto call = s.start(s.client().call("greet"));
//     s.web.expect("tools/call").reply(text_result("hello"));
//     CHECK(call.succeeded());
#pragma once

#include "script.hpp"
#include "stream_script.hpp"

#include <comcp/client/client.hpp>
#include <comcp/http/request_parser.hpp>
#include <comcp/http/sse.hpp>
#include <comcp/http/streamable_http.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace script
{

namespace http = comcp::http;

/// A URL that is known to be one.
inline http::url url_of(std::string_view text)
{
    auto read = http::url::parse(text);
    REQUIRE(read.has_value());
    return *read;
}

/// One connection of the client.
struct web_connection
{
    web_connection(stream_peer of, std::string origin) : peer(std::move(of)), to(std::move(origin)) {}

    stream_peer peer;
    std::string to;
    http::request_parser parser;
    int requests = 0;
};

/// Gives streams in memory, and refuses or delays when it is told to.
class memory_connector final : public http::connector
{
public:
    explicit memory_connector(comcp::executor ex) : executor_(std::move(ex)) {}

    bool knows(http::scheme) const override { return !tls_missing; }
    comcp::task<std::unique_ptr<comcp::any_stream>> connect(http::url to, comcp::duration within) override
    {
        ++attempts;
        last_limit = within;
        if (delay != comcp::duration::zero()) {
            comcp::timer clock(executor_);
            co_await clock.wait_for(std::min(delay, within));
            if (delay >= within) throw comcp::error(comcp::fail(errc::timed_out, "no connection"));
        }
        if (refuse) throw comcp::error(comcp::fail(errc::peer_gone, "connection refused"));
        memory_streams made(executor_);
        made_.push_back(std::make_shared<web_connection>(made.peer(), to.origin().text()));
        if (room != 0) made_.back()->peer.takes(room);
        co_return std::move(made.first);
    }

    const std::vector<std::shared_ptr<web_connection>>& made() const { return made_; }

    bool refuse = false;
    bool tls_missing = false;
    comcp::duration delay{};
    comcp::duration last_limit{};
    std::size_t room = 0; // of each new connection
    int attempts = 0;

private:
    comcp::executor executor_;
    std::vector<std::shared_ptr<web_connection>> made_;
};

class web;

/// A request that the server was sent, and what it is answered with.
class web_request
{
public:
    web_request(web& by, std::shared_ptr<web_connection> on, http::request_head sent, std::string content)
        : head(std::move(sent)),
          body(std::move(content)),
          by_(&by),
          on_(std::move(on))
    {}

    http::request_head head;
    std::string body;

    std::string field(std::string_view name) const { return std::string(head.fields.find(name).value_or("-")); }
    json::object message() const { return parse(body); }
    std::string method() const
    {
        if (body.empty()) return head.method;
        const json::object read = message();
        return std::string(comcp::string_member(read, "method").value_or("answer"));
    }
    std::string id() const
    {
        const json::object read = message();
        std::string out;
        if (const json::value* found = read.if_contains("id")) comcp::write_value(out, *found);
        return out;
    }
    stream_peer& peer() { return on_->peer; }
    web_connection* connection() const { return on_.get(); }
    /// The client has closed the connection.
    bool cut() const { return on_->peer.ended(); }

    std::string result_text(std::string_view result) const
    {
        return R"({"jsonrpc":"2.0","id":)" + id() + R"(,"result":)" + std::string(result) + '}';
    }

    inline web_request& after(comcp::duration wait);
    inline web_request& raw(std::string_view bytes);
    /// A whole response.
    web_request& answer(int status, std::string_view type, std::string_view content, std::string_view fields = {})
    {
        std::string out = "HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string(fields);
        if (!type.empty()) out += "Content-Type: " + std::string(type) + "\r\n";
        out += "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + std::string(content);
        return raw(out);
    }
    web_request& reply(std::string_view result, std::string_view fields = {})
    {
        return answer(200, "application/json", result_text(result), fields);
    }
    web_request& accepted() { return answer(202, "", ""); }
    /// Begins a stream of events.
    web_request& stream(std::string_view fields = {})
    {
        return raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" +
                   std::string(fields) + "\r\n");
    }
    /// Some bytes of the stream.
    web_request& piece(std::string_view bytes)
    {
        std::string out;
        http::append_chunk(out, bytes);
        return raw(out);
    }
    web_request& event(std::string_view data, std::string_view id = {})
    {
        std::string out;
        http::write_sse_event(out, data, id);
        return piece(out);
    }
    web_request& result(std::string_view text, std::string_view event_id = {})
    {
        return event(result_text(text), event_id);
    }
    web_request& progress(std::string_view token, int value)
    {
        return event(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                     std::string(token) + R"(,"progress":)" + std::to_string(value) + "}}");
    }
    web_request& end_stream() { return raw(http::last_chunk); }
    inline void end();
    inline void reset();

private:
    web* by_;
    std::shared_ptr<web_connection> on_;
};

/// The server.
class web
{
public:
    explicit web(stage& on) : door(std::make_shared<memory_connector>(on.executor())), stage_(on) {}

    std::shared_ptr<memory_connector> door;

    stage& on() { return stage_; }

    /// The oldest request that was not taken; fails the test when there is none.
    web_request next()
    {
        read();
        REQUIRE(!requests_.empty());
        web_request first = std::move(requests_.front());
        requests_.pop_front();
        return first;
    }
    /// The first request of that method (of JSON-RPC, or of HTTP when there is no body), wherever it stands.
    web_request expect(std::string_view method)
    {
        read();
        for (auto each = requests_.begin(); each != requests_.end(); ++each) {
            if (each->method() != method) continue;
            web_request found = std::move(*each);
            requests_.erase(each);
            return found;
        }
        std::string there;
        for (const auto& each : requests_) there += each.method() + ' ';
        FAIL("no " << method << " among: " << there);
        throw 0;
    }
    std::size_t waiting()
    {
        read();
        return requests_.size();
    }
    bool quiet() { return waiting() == 0; }
    std::size_t connections() const { return door->made().size(); }
    std::size_t open_connections() const
    {
        std::size_t count = 0;
        for (const auto& each : door->made())
            if (!each->peer.ended()) ++count;
        return count;
    }

private:
    void read()
    {
        stage_.settle();
        for (const auto& connection : door->made()) {
            const std::string bytes = connection->peer.take();
            std::string_view input = bytes;
            std::string& body = bodies_[connection.get()];
            for (;;) {
                const auto step = connection->parser.step(input);
                input.remove_prefix(step.used);
                INFO("sent: " << bytes);
                REQUIRE(step.what != http::parse_step::kind::failed);
                if (step.what == http::parse_step::kind::need_more) break;
                if (step.what == http::parse_step::kind::body) body += step.body;
                if (step.what != http::parse_step::kind::done) continue;
                ++connection->requests;
                requests_.emplace_back(*this, connection, connection->parser.take_head(), std::exchange(body, {}));
                connection->parser.reset();
            }
        }
    }

    stage& stage_;
    std::map<web_connection*, std::string> bodies_;
    std::deque<web_request> requests_;
};

inline web_request& web_request::after(comcp::duration wait)
{
    by_->on().advance(wait);
    return *this;
}
inline web_request& web_request::raw(std::string_view bytes)
{
    on_->peer.send(bytes);
    by_->on().settle();
    return *this;
}
inline void web_request::end()
{
    on_->peer.end();
    by_->on().settle();
}
inline void web_request::reset()
{
    on_->peer.reset();
    by_->on().settle();
}

/// Waits 1 s before each of 6 attempts, so that a test knows when they come.
struct steady_policy : comcp::default_policy
{
    using reconnect = comcp::policy::fixed;
};

/// What a client is given: the door stays with the test.
class door_of final : public http::connector
{
public:
    explicit door_of(std::shared_ptr<memory_connector> to) : to_(std::move(to)) {}
    bool knows(http::scheme which) const override { return to_->knows(which); }
    comcp::task<std::unique_ptr<comcp::any_stream>> connect(http::url to, comcp::duration within) override
    {
        return to_->connect(std::move(to), within);
    }

private:
    std::shared_ptr<memory_connector> to_;
};

/// A client and the HTTP server that the test plays.
template <class Policy = steady_policy>
class basic_http_stage : public stage
{
public:
    script::web web{*this};

    /// The server's description, with its door.
    comcp::streamable_http server(std::string_view endpoint = "http://server.test/mcp")
    {
        comcp::streamable_http out(endpoint);
        out.connector(std::make_unique<door_of>(web.door));
        return out;
    }

    template <class Server>
    void make(Server where, comcp::client_options options = {}, comcp::policy_state<Policy> policies = {})
    {
        client_ = std::make_unique<comcp::basic_client<Policy>>(std::move(where), comcp::identity("tester", "1"),
                                                                with_chain(std::move(options)), std::move(policies));
    }
    comcp::basic_client<Policy>& client()
    {
        if (!client_) make(server());
        return *client_;
    }
    void destroy_client() { client_.reset(); }

    /// Shakes hands; with an empty session the server gives no id. The GET stream is answered with 405.
    void connect(std::string_view session = "s-1", std::string_view version = "2025-11-25")
    {
        auto connecting = start(client().connect());
        welcome_client(session, version);
        connecting.value();
    }
    /// The server's part of it.
    void welcome_client(std::string_view session = "s-1", std::string_view version = "2025-11-25")
    {
        std::string fields;
        if (!session.empty()) fields = "Mcp-Session-Id: " + std::string(session) + "\r\n";
        web.expect("initialize").reply(welcome(version), fields);
        web.expect("notifications/initialized").accepted();
        if (listens) web.expect("GET").answer(405, "", "");
    }

    bool listens = true; // the client is told to

private:
    std::unique_ptr<comcp::basic_client<Policy>> client_;
};
using http_stage = basic_http_stage<>;

} // namespace script
