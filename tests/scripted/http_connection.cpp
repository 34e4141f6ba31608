// SPDX-License-Identifier: MIT
// One HTTP connection over a stream in memory, with time in the test's hand: what it answers, at which bound it ends,
// and what it does when the client leaves.
#include "script.hpp"

#include "fake_service.hpp"
#include "stream_script.hpp"

#include <comcp/http/listener.hpp>

using namespace script;

namespace
{

/// A client in the test's hand that sees what the server's end is at.
class memory_peer
{
public:
    explicit memory_peer(const comcp::executor& ex)
        : server_(std::make_shared<stream_end>(ex)),
          client_(std::make_shared<stream_end>(ex)),
          hand_(client_)
    {
        server_->self = client_->other = server_;
        client_->self = server_->other = client_;
        client_->room = 65536;
    }

    std::unique_ptr<comcp::any_stream> server_end() { return std::make_unique<memory_stream>(server_); }

    void send(std::string_view bytes) { hand_.send(bytes); }
    std::string receive() { return hand_.take(); }
    void end() { hand_.end(); }
    void reset() { hand_.reset(); }
    void window(std::size_t room) { hand_.takes(room); }
    /// Bytes that the server has not read.
    std::size_t unread() const { return server_->inbox.size(); }
    /// The server has ended its output; it may still read.
    bool ended() const { return client_->ended; }
    bool closed() const { return server_->closed; }

private:
    std::shared_ptr<stream_end> server_;
    std::shared_ptr<stream_end> client_;
    stream_peer hand_;
};

struct http_stage : stage
{
    fake_service service;
    std::optional<http::listener> listener;
    std::optional<running<void>> run;
    memory_peer peer{executor()};

    explicit http_stage(const comcp::http_service_limits& limits = {}) : service(executor(), limits.memory)
    {
        http::listener_options options;
        options.single_threaded = true;
        listener.emplace(executor(), service, limits, options);
        run.emplace(start(listener->run()));
        connect(peer);
    }
    ~http_stage()
    {
        if (!listener) return;
        listener->close();
        settle();
        CHECK(run->done()); // nothing is left behind, whatever a test did
    }

    void connect(memory_peer& with)
    {
        listener->serve(with.server_end());
        settle();
    }
    std::string ask(std::string_view bytes, std::size_t piece = std::string_view::npos)
    {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
            peer.send(bytes.substr(0, piece));
            settle();
        }
        return peer.receive();
    }
};

std::string post(std::string_view target, std::string_view body, std::string_view more = {})
{
    return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

/// The answer without its Date, which must be there once and look like one.
std::string undated(std::string text)
{
    for (std::size_t at = 0; (at = text.find("HTTP/1.1 ", at)) != text.npos;) {
        if (text.substr(at, 13) == "HTTP/1.1 100 ") {
            at += 13;
            continue;
        }
        const std::size_t date = text.find("Date: ", at);
        REQUIRE(date != text.npos);
        REQUIRE(text.substr(date + 31, 6) == " GMT\r\n");
        text.erase(date, 37);
        at += 1;
    }
    return text;
}

std::string echo(std::string_view body, std::string_view more = {})
{
    return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(more) + "\r\n" + std::string(body);
}

constexpr std::string_view closing = "Connection: close\r\n";

bool has_status(const std::string& text, int status)
{
    INFO(text);
    return text.starts_with("HTTP/1.1 " + std::to_string(status) + " ") && has(text, closing);
}

std::size_t answers_in(std::string_view text)
{
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("HTTP/1.1 ", at)) != text.npos; ++at) ++count;
    return count;
}

} // namespace

TEST_CASE("A connection answers one request after the other")
{
    http_stage s;
    CHECK(undated(s.ask(post("/echo", "one"))) == echo("one"));
    CHECK(undated(s.ask(post("/echo", ""))) == echo(""));
    CHECK(undated(s.ask("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")) == echo(""));
    CHECK(s.service.seen().peer == "memory");
    CHECK_FALSE(s.peer.ended());
    CHECK(undated(s.ask(post("/echo", "last", closing))) == echo("last", closing));
    CHECK(s.peer.ended());
    CHECK_FALSE(s.peer.closed()); // the client ends, so that no reset can take the answer away
    s.peer.end();
    s.settle();
    CHECK(s.peer.closed());
}

TEST_CASE("Requests that come together are answered in their order")
{
    http_stage s;
    std::string all;
    std::string expected;
    for (int i = 0; i < 100; ++i) {
        all += post("/echo", std::to_string(i));
        expected += echo(std::to_string(i));
    }
    CHECK(undated(s.ask(all)) == expected);
}

TEST_CASE("What comes while a call runs is kept, within a bound, and served after it")
{
    http_stage s;
    CHECK(s.ask(post("/hold", "first")) == "");
    const std::string large(40 * 1024, 'x');
    s.peer.send(post("/echo", large));
    s.peer.send(post("/echo", large));
    s.peer.send(post("/echo", large));
    s.settle();
    CHECK(s.peer.unread() > 50 * 1024); // a request's worth is read ahead and no more
    CHECK(s.service.seen().handles == 1);
    s.service.release();
    s.settle();
    std::string got = s.peer.receive();
    for (int i = 0; i < 10; ++i) {
        s.settle();
        got += s.peer.receive();
    }
    const bool same = undated(got) == echo("first") + echo(large) + echo(large) + echo(large);
    CHECK(same);
}

TEST_CASE("Wherever a request is cut, the answer is the same")
{
    const std::string chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "3;note=x\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: y\r\n\r\n"; // case 92
    const std::string pair = post("/echo", "hello") + chunked;
    const std::string expected = echo("hello") + echo("abcdefg");
    for (std::size_t cut = 0; cut <= pair.size(); ++cut) {
        INFO(cut);
        http_stage s;
        std::string got = s.ask(std::string_view(pair).substr(0, cut));
        got += s.ask(std::string_view(pair).substr(cut));
        CHECK(undated(got) == expected);
    }
    http_stage s;
    CHECK(undated(s.ask(pair, 1)) == expected);
}

TEST_CASE("Bodies of every size arrive whole, and are counted while they live")
{
    http_stage s;
    s.service.most = 8 * 1024 * 1024;
    for (const std::size_t size : {1u, 1500u, 2047u, 2048u, 16384u, 16385u, 70000u, 300000u, 3000000u}) {
        std::string body(size, 'a');
        for (std::size_t i = 0; i < size; i += 997) body[i] = static_cast<char>('a' + i % 26);
        for (const std::size_t piece : {1000u, 1u << 24}) {
            s.peer.window(1 << 24);
            const bool same = undated(s.ask(post("/echo", body), piece)) == echo(body);
            CHECK(same);
            CHECK(s.service.seen().counted.back() <= std::max<std::size_t>(size, 16384));
        }
    }
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("A small body in one piece is counted exactly")
{
    comcp::http_service_limits limits;
    limits.memory = 1000;
    http_stage s(limits);
    CHECK(undated(s.ask(post("/echo", std::string(1000, 'x')))) == echo(std::string(1000, 'x')));
    CHECK(s.service.seen().counted.back() == 1000);
    CHECK(has_status(s.ask(post("/echo", std::string(1001, 'x'))), 503));
    CHECK(s.service.seen().handles == 1);
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("A length that is only announced costs one small allocation") // case 144
{
    http_stage s;
    s.service.most = 32 * 1024 * 1024;
    s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 33000000\r\n\r\nabc");
    CHECK(s.service.budget->used() == 68 * 1024);
    s.peer.reset();
    s.settle();
    CHECK(s.peer.closed());
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("A body over the limit is refused before it is read") // case 144
{
    http_stage s;
    s.service.most = 1000;
    SECTION("as its length says")
    {
        CHECK(undated(s.ask(post("/echo", std::string(1000, 'x')))) == echo(std::string(1000, 'x')));
        CHECK(has_status(s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), 413));
    }
    SECTION("at the chunk that passes it")
    {
        const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        const std::string chunk = "1f4\r\n" + std::string(500, ' ') + "\r\n";
        CHECK(undated(s.ask(head + chunk + chunk + "0\r\n\r\n")) == echo(std::string(1000, ' ')));
        CHECK(has_status(s.ask(head + chunk + chunk + "1\r\n"), 413));
    }
    CHECK(s.service.seen().handles == 1);
    CHECK(s.service.seen().refuses == 2); // who asks is judged first
    CHECK(s.peer.ended());
}

TEST_CASE("A gigabyte of spaces in chunks is dropped while it is read") // case 144
{
    http_stage s;
    s.service.most = 1024 * 1024;
    s.peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(65536, ' ') + "\r\n";
    for (int i = 0; i < 16384 && !s.peer.closed(); ++i) {
        s.peer.send(chunk);
        s.settle();
        CHECK(s.service.budget->used() <= 1024 * 1024);
        if (i == 100) s.advance(2s); // somebody who still sends then is cut
    }
    CHECK(s.peer.closed());
    CHECK(has_status(s.peer.receive(), 413));
    CHECK(s.service.seen().handles == 0);
}

TEST_CASE("More than the length announces is the next request, and none") // case 144
{
    http_stage s;
    const std::string got = s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789and more\r\n");
    const std::size_t second = got.find("HTTP/1.1 400 ");
    REQUIRE(second != got.npos);
    CHECK(undated(got.substr(0, second)) == echo("0123456789"));
    CHECK(has_status(got.substr(second), 400));
    CHECK(answers_in(got) == 2);
}

TEST_CASE("Heads over a limit get its status at the bound")
{
    comcp::http_service_limits limits;
    limits.head.line = 64;
    limits.head.fields = 256;
    limits.head.field_count = 5;
    http_stage s(limits);
    const std::string line = "GET /echo?" + std::string(64 - 19, 'x') + " HTTP/1.1\r\n";
    REQUIRE(line.size() == 64 + 2);
    SECTION("the request line")
    {
        CHECK(undated(s.ask(line + "Host: a\r\n\r\n")) == echo(""));
        CHECK(has_status(s.ask("x" + line), 414));
    }
    SECTION("all fields together")
    {
        const std::string field = "X: " + std::string(256 - 9 - 5, 'x') + "\r\n";
        CHECK(undated(s.ask(line + "Host: a\r\n" + field + "\r\n")) == echo(""));
        CHECK(has_status(s.ask(line + "Host: a\r\nX" + field + "\r\n"), 431));
    }
    SECTION("the number of fields")
    {
        const std::string four = "a: 1\r\nb: 1\r\nc: 1\r\nd: 1\r\n";
        CHECK(undated(s.ask(line + "Host: a\r\n" + four + "\r\n")) == echo(""));
        CHECK(has_status(s.ask(line + "Host: a\r\n" + four + "e: 1\r\n\r\n"), 431));
    }
    CHECK(s.peer.ended());
    CHECK(s.ask(post("/echo", "after the end")) == "");
    CHECK(s.service.seen().handles == 1);
}

TEST_CASE("What is no request of ours gets one answer and the end")
{
    struct row
    {
        std::string_view bytes;
        int status;
    };
    const row rows[] = {
        {"GET /echo HTTP/1.1\r\n\r\n", 400},
        {"nonsense\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\nHost: a\n\n", 400},
        {"GET /echo HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400}, // case 92
        {"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n", 417},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
    };
    for (const row& each : rows) {
        INFO(each.bytes);
        http_stage s;
        const std::string got = s.ask(std::string(each.bytes) + post("/echo", "smuggled"));
        CHECK(has_status(got, each.status));
        CHECK(answers_in(got) == 1);
        CHECK(s.service.seen().handles == 0);
        CHECK(s.peer.ended());
        s.peer.end();
        s.settle();
        CHECK(s.peer.closed());
    }
}

TEST_CASE("A peer that does not end after the last answer is cut after two seconds")
{
    http_stage s;
    CHECK(has_status(s.ask("nonsense\r\n"), 400));
    s.ask("more of it");
    s.advance(1999ms);
    CHECK_FALSE(s.peer.closed());
    s.advance(1ms);
    CHECK(s.peer.closed());
}

TEST_CASE("An idle connection is closed in time, without a word")
{
    http_stage s;
    SECTION("before the first request") {}
    SECTION("between two requests")
    {
        s.advance(59s);
        CHECK(undated(s.ask(post("/echo", "x"))) == echo("x"));
    }
    s.advance(59999ms);
    CHECK_FALSE(s.peer.closed());
    s.advance(1ms);
    CHECK(s.peer.closed());
    CHECK(s.peer.receive() == "");
}

TEST_CASE("A head must be complete in time, however often a byte comes")
{
    http_stage s;
    s.advance(30s); // idle time is no part of it
    const std::string head = "GET /echo HTTP/1.1\r\nHost: a\r\n";
    std::size_t sent = 0;
    for (int ms = 0; ms < 10000; ms += 500) {
        CHECK(s.ask(std::string_view(head).substr(sent++, 1)) == "");
        s.advance(ms == 9500 ? 499ms : 500ms);
    }
    CHECK(s.peer.receive() == "");
    s.advance(1ms);
    CHECK(has_status(s.peer.receive(), 408));
    CHECK(s.ask("\r\n\r\n") == "");
    CHECK(s.service.seen().refuses == 0);
}

TEST_CASE("A body must be complete in time, from the end of its head")
{
    const bool chunked = GENERATE(false, true);
    http_stage s;
    const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\n";
    s.ask(head);
    s.advance(9s);
    if (chunked) s.ask("Transfer-Encoding: chunked\r\n\r\n5\r\n");
    else s.ask("Content-Length: 5\r\n\r\n");
    s.advance(30s);
    s.ask("ab");
    s.advance(29999ms);
    CHECK(s.peer.receive() == "");
    s.advance(1ms);
    const std::string got = s.peer.receive();
    CHECK(has_status(got, 408));
    CHECK(has(got, "X-Every: answer\r\n")); // what the service wants on every answer
    CHECK(s.ask("cde") == "");              // too late, and never two answers
    CHECK(s.service.seen().handles == 0);
    s.advance(2s);
    CHECK(s.peer.closed());
}

TEST_CASE("The time of a body does not go on while the service works")
{
    http_stage s;
    s.ask(post("/hold", "x"));
    s.advance(10min);
    s.service.release();
    s.settle();
    CHECK(undated(s.peer.receive()) == echo("x"));
}

TEST_CASE("A client that waits for 100 gets it, unless it is refused")
{
    http_stage s;
    constexpr std::string_view expect = "Expect: 100-continue\r\n";
    SECTION("accepted")
    {
        const std::string whole = post("/echo", "body", expect);
        const std::string_view head = std::string_view(whole).substr(0, whole.size() - 4);
        CHECK(s.ask(head) == "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK(undated(s.ask("body")) == echo("body"));
        CHECK(undated(s.ask(post("/echo", "next"))) == echo("next"));
    }
    SECTION("accepted, when the body is there already")
    {
        CHECK(undated(s.ask(post("/echo", "b", expect))) == echo("b"));
    }
    SECTION("refused")
    {
        CHECK(has_status(s.ask("POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"),
                         403));
        CHECK(s.peer.ended());
    }
    SECTION("too large")
    {
        CHECK(has_status(
            s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"), 413));
    }
}

TEST_CASE("A connection lives on after a refusal when the body is short")
{
    http_stage s;
    const std::string refused = "HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nrefused";
    CHECK(undated(s.ask(post("/refuse", std::string(65536, 'x')) + post("/echo", "x"))) == refused + echo("x"));
    CHECK(undated(s.ask("GET /refuse HTTP/1.1\r\nHost: a\r\n\r\n")) == refused);
    CHECK(has_status(s.ask(post("/refuse", std::string(65537, 'x'))), 403));
    CHECK(s.service.seen().handles == 1);
}

TEST_CASE("HTTP/1.0 gets its answer and the end")
{
    http_stage s;
    SECTION("a whole answer")
    {
        CHECK(undated(s.ask("GET /echo HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")) == echo("", closing));
    }
    SECTION("a stream, without chunks")
    {
        s.service.push("one");
        s.service.push("two");
        s.service.finish();
        CHECK(undated(s.ask("GET /stream HTTP/1.0\r\nHost: a\r\n\r\n")) ==
              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nonetwo");
    }
    CHECK(s.peer.ended());
}

TEST_CASE("HEAD gets the head and no content")
{
    http_stage s;
    CHECK(undated(s.ask("HEAD /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")) ==
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n");
    CHECK(undated(s.ask("HEAD /refuse HTTP/1.1\r\nHost: a\r\n\r\n")) ==
          "HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\n");
    CHECK(undated(s.ask("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n")) ==
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n");
    CHECK(undated(s.ask(post("/echo", "x"))) == echo("x"));
}

TEST_CASE("An answer without content has no length")
{
    http_stage s;
    CHECK(undated(s.ask(post("/none", "x"))) == "HTTP/1.1 204 No Content\r\n\r\n");
    CHECK(undated(s.ask(post("/echo", "x"))) == echo("x"));
}

TEST_CASE("A service that fails costs its own request")
{
    http_stage s;
    const std::string got = s.ask(post(GENERATE("/throw", "/field"), "x"));
    CHECK(has_status(got, 500));
    CHECK(has(got, "the service failed\n"));
}

TEST_CASE("A stream is written piece by piece as it comes, and the connection lives on")
{
    http_stage s;
    CHECK(undated(s.ask(post("/stream", ""))) ==
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"); // case 88
    s.service.push("data: 1\n\n");
    s.settle();
    CHECK(s.peer.receive() == "00000009\r\ndata: 1\n\n\r\n");
    s.advance(10min); // a stream has no deadline of its own
    s.service.push(std::string(70000, 'x'));
    s.settle();
    std::string got = s.peer.receive();
    s.settle();
    got += s.peer.receive();
    const bool same = got == "00011170\r\n" + std::string(70000, 'x') + "\r\n";
    CHECK(same);
    s.service.finish();
    s.settle();
    CHECK(s.peer.receive() == "0\r\n\r\n");
    CHECK(s.service.seen().streams_ended == 1);
    CHECK(undated(s.ask(post("/echo", "x"))) == echo("x"));
}

TEST_CASE("A stream is destroyed when its client leaves") // cases 101, 102
{
    http_stage s;
    s.ask(post("/stream", ""));
    CHECK(s.service.seen().streams == 1);
    CHECK(s.service.seen().streams_ended == 0);
    SECTION("in order") { s.peer.end(); }
    SECTION("by a reset") { s.peer.reset(); }
    s.settle();
    CHECK(s.service.seen().streams_ended == 1);
    CHECK(s.peer.closed());
    s.service.push("nobody reads it");
    s.advance(1h);
}

TEST_CASE("A GET whose client has left already opens no stream") // case 101
{
    http_stage s;
    s.peer.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    s.peer.end();
    s.settle();
    CHECK(s.service.seen().streams == s.service.seen().streams_ended);
    CHECK(s.peer.closed());
}

TEST_CASE("A peer that ends its output still gets its answers")
{
    http_stage s;
    SECTION("at once")
    {
        s.peer.send(post("/echo", "one") + post("/echo", "two"));
        s.peer.end();
        s.settle();
        CHECK(undated(s.peer.receive()) == echo("one") + echo("two"));
    }
    SECTION("after a long call")
    {
        s.peer.send(post("/hold", "slow"));
        s.settle();
        s.peer.end();
        s.settle();
        CHECK_FALSE(s.peer.closed());
        s.service.release();
        s.settle();
        CHECK(undated(s.peer.receive()) == echo("slow"));
    }
    SECTION("as a stream")
    {
        s.peer.send(post("/stream", ""));
        s.peer.end();
        s.service.push("one");
        s.service.finish();
        s.settle();
        CHECK(has(s.peer.receive(), "one\r\n0\r\n\r\n"));
    }
    SECTION("with 400, when it ended inside of a request")
    {
        s.peer.send(GENERATE("GET /ec", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab"));
        s.peer.end();
        s.settle();
        CHECK(has_status(s.peer.receive(), 400));
    }
    s.settle();
    CHECK(s.peer.closed());
}

TEST_CASE("A call is cancelled when the connection breaks")
{
    http_stage s;
    s.ask(post("/hold", "x"));
    CHECK(s.service.seen().held_ended == 0);
    s.peer.reset();
    s.settle();
    CHECK(s.service.seen().held_ended == 1);
    CHECK(s.peer.closed());
}

TEST_CASE("A peer that does not read is cut after the write time without progress")
{
    const bool stream = GENERATE(false, true);
    http_stage s;
    s.peer.window(1000);
    if (stream) {
        s.peer.send(post("/stream", ""));
        s.service.push(std::string(5000, 'x'));
    } else {
        s.peer.send(post("/echo", std::string(5000, 'x')));
    }
    s.settle();
    CHECK(s.service.budget->used() > 3000); // what waits for a peer is counted
    CHECK(s.service.budget->used() < 4500);
    for (int i = 0; i < 3; ++i) {
        s.advance(29999ms);
        CHECK(s.peer.receive().size() >= 900); // progress starts the time again
        s.settle();
    }
    s.advance(29999ms);
    CHECK_FALSE(s.peer.closed());
    s.advance(1ms);
    CHECK(s.peer.closed());
    CHECK(s.service.seen().streams_ended == s.service.seen().streams);
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("Output that nobody reads fills the memory of the service, and new bodies are refused until it is read")
{
    comcp::http_service_limits limits;
    limits.memory = 100'000;
    http_stage s(limits);
    s.peer.window(1000);
    const bool stream = GENERATE(false, true);
    s.peer.send(stream ? post("/stream", "") : post("/echo", std::string(99'000, 'x')));
    if (stream) s.service.push(std::string(99'000, 'x'));
    s.settle();
    const std::size_t queued = s.service.budget->used();
    CHECK(queued > 98'000);
    CHECK(queued < 99'000);

    memory_peer other(s.executor());
    s.connect(other);
    const auto ask = [&](std::string_view bytes) {
        other.send(bytes);
        s.settle();
        return other.receive();
    };
    const int handled = s.service.seen().handles;
    const std::string body(2000, 'b');
    const std::string in_chunks =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + body + "\r\n0\r\n\r\n";
    CHECK(undated(ask("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")) == echo(""));
    SECTION("with a length")
    {
        CHECK(undated(ask(post("/echo", body))) ==
              "HTTP/1.1 503 Service Unavailable\r\nX-Every: answer\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Retry-After: 1\r\nContent-Length: 25\r\nConnection: close\r\n\r\nout of memory for bodies\n");
    }
    SECTION("in chunks")
    {
        const std::string answer = ask(in_chunks);
        CHECK(has_status(answer, 503));
        CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
    }
    CHECK(other.ended());
    CHECK(s.service.seen().handles == handled + 1);
    CHECK(s.service.budget->used() == queued);

    s.peer.window(200'000);
    s.settle();
    CHECK(s.peer.receive().size() > 99'000);
    s.advance(1s); // so long the memory of an answer is kept for the next body
    CHECK(s.service.budget->used() == 0);
    memory_peer third(s.executor());
    s.connect(third);
    third.send(post("/echo", body) + in_chunks);
    s.settle();
    CHECK(undated(third.receive()) == echo(body) + echo(body));
}

TEST_CASE("A body that outgrows the memory of the service while it is read is refused then, and gives its memory back")
{
    comcp::http_service_limits limits;
    limits.memory = 100 * 1024; // a body of unknown length begins with 68 KiB, and would go on with four times that
    http_stage s(limits);
    s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string piece = "2000\r\n" + std::string(8192, 'x') + "\r\n";
    std::string answer;
    int pieces = 0;
    for (; answer.empty() && pieces < 20; ++pieces) {
        answer = s.ask(piece);
        if (answer.empty()) CHECK(s.service.budget->used() == 68 * 1024);
    }
    CHECK(pieces == 9); // the one that no longer fits
    CHECK(has_status(answer, 503));
    CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
    CHECK(answer.ends_with("out of memory for bodies\n"));
    CHECK(s.peer.ended());
    CHECK(s.service.seen().handles == 0);
    CHECK(s.service.budget->used() == 0);
    for (int i = 0; i < 3; ++i) CHECK(s.ask(piece) == ""); // the rest is dropped
    CHECK(s.service.budget->used() == 0);
}

TEST_CASE("A connection whose answer waits for its client is read no further than a bound")
{
    http_stage s;
    s.peer.window(0);
    s.peer.send(post("/echo", "one"));
    s.settle();
    s.peer.send(post("/echo", std::string(500000, 'x')));
    s.settle();
    CHECK(s.service.seen().handles == 1);
    const std::size_t unread = s.peer.unread();
    CHECK(unread > 300000);
    s.advance(29s);
    CHECK(s.peer.unread() == unread);
    s.peer.window(1000000);
    s.settle();
    CHECK(s.service.seen().handles == 2);
    CHECK(undated(s.peer.receive()) == echo("one") + echo(std::string(500000, 'x')));
}

TEST_CASE("Connections beyond the limit are told so")
{
    comcp::http_service_limits limits;
    limits.connections = 2;
    http_stage s(limits);
    memory_peer second(s.executor());
    memory_peer third(s.executor());
    s.connect(second);
    s.connect(third);
    const std::string got = third.receive();
    CHECK(has_status(got, 503));
    CHECK(has(got, "Retry-After: 1\r\n"));
    CHECK(third.ended());
    third.end();
    s.settle();
    CHECK(third.closed());
    CHECK(undated(s.ask(post("/echo", "x"))) == echo("x")); // the others are not disturbed

    second.end();
    s.settle();
    CHECK(second.closed());
    memory_peer fourth(s.executor());
    s.connect(fourth);
    fourth.send(post("/echo", "y"));
    s.settle();
    CHECK(undated(fourth.receive()) == echo("y"));

    // Those that get no answer in time are not collected either.
    std::vector<std::unique_ptr<memory_peer>> flood;
    for (int i = 0; i < 100; ++i) s.connect(*flood.emplace_back(std::make_unique<memory_peer>(s.executor())));
    int told = 0;
    for (const auto& each : flood) told += each->receive().empty() ? 0 : 1;
    CHECK(told == 64);
    CHECK(flood.back()->closed());
    s.advance(2s);
    for (const auto& each : flood) CHECK(each->closed());
}

TEST_CASE("A drain closes what is idle, and lets calls end with Connection: close")
{
    http_stage s;
    memory_peer busy(s.executor());
    memory_peer streaming(s.executor());
    memory_peer begun(s.executor());
    memory_peer late(s.executor());
    for (memory_peer* each : {&busy, &streaming, &begun}) s.connect(*each);
    busy.send(post("/hold", "slow"));
    streaming.send(post("/stream", ""));
    begun.send("GET /ec");
    s.ask(post("/echo", "x"));
    auto drained = s.start(s.listener->drain(10s));
    CHECK(s.peer.closed());
    CHECK_FALSE(busy.closed());
    s.connect(late);
    CHECK(late.closed());
    begun.send("ho HTTP/1.1\r\nHost: a\r\n\r\n" + post("/echo", "not this one"));
    s.settle();
    CHECK(undated(begun.receive()) == echo("", closing));

    SECTION("in time")
    {
        // Both calls and streams of the fake wait at one place.
        s.service.finish();
        s.settle();
        CHECK(undated(busy.receive()) == echo("slow", closing));
        CHECK(has(streaming.receive(), "0\r\n\r\n"));
        for (memory_peer* each : {&busy, &streaming, &begun}) each->end();
        s.settle();
    }
    SECTION("or cuts them")
    {
        begun.end();
        s.advance(9999ms);
        CHECK_FALSE(drained.done());
        CHECK_FALSE(busy.closed());
        s.advance(1ms);
        CHECK(busy.closed());
        CHECK(busy.receive() == "");
        CHECK(s.service.seen().held_ended == 1);
        CHECK(s.service.seen().streams_ended == 1);
    }
    CHECK(drained.succeeded());
    CHECK(s.run->succeeded());
}

TEST_CASE("Cancelling run or drain closes everything at once")
{
    http_stage s;
    s.ask(post("/hold", "x"));
    std::optional<running<void>> drained;
    SECTION("run") { s.run->cancel(); }
    SECTION("drain")
    {
        drained.emplace(s.start(s.listener->drain(10s)));
        drained->cancel();
    }
    s.settle();
    CHECK(s.peer.closed());
    CHECK(s.service.seen().held_ended == 1);
    if (drained) CHECK(drained->done());
    CHECK(s.run->done());
}

TEST_CASE("Listener, service and io_context die in any order, with anything in flight")
{
    const int order = GENERATE(range(0, 6));
    const std::string_view target = GENERATE("/hold", "/stream", "/idle", "/body", "/full");
    const bool settled = GENERATE(true, false);
    auto io = std::make_unique<asio::io_context>(1);
    std::optional<comcp::manual_time> time{*io};
    auto service = std::make_unique<fake_service>(io->get_executor());
    std::optional<memory_peer> peer{io->get_executor()};
    http::listener_options options;
    options.single_threaded = order % 2 == 0;
    auto listener =
        std::make_unique<http::listener>(io->get_executor(), *service, comcp::http_service_limits(), options);
    REQUIRE(listener->bind("127.0.0.1", 0).has_value());
    std::optional<running<void>> run{running<void>(io->get_executor(), listener->run())};
    listener->serve(peer->server_end());
    if (target == "/body") peer->send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nabc");
    else if (target == "/full") peer->send(post("/hold", "") + std::string(200000, 'x')); // the reader waits for room
    else if (target != "/idle") peer->send(post(target, "x"));
    time->settle();
    const auto kill = [&](int which) {
        if (which == 0) listener.reset();
        if (which == 1) service.reset();
        if (which == 2) {
            time.reset();
            io.reset();
        }
        if (time && settled) time->settle();
    };
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const int which : orders[order]) kill(which);
    if (settled && order < 3) CHECK(run->done());
}

TEST_CASE("A listener may be destroyed or closed inside of a call")
{
    http_stage s;
    const bool destroy = GENERATE(true, false);
    s.service.seen().inside = [&] {
        if (destroy) s.listener.reset();
        else s.listener->close();
    };
    s.ask(post("/call", "x"));
    CHECK(s.peer.closed());
    CHECK(s.run->done());
}

TEST_CASE("A closed listener asks its service nothing more")
{
    http_stage s;
    s.ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
    s.listener->close();
    s.peer.send("c");
    s.settle();
    CHECK(s.service.seen().handles == 0);
    CHECK(s.run->done());
}
