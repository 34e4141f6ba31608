// SPDX-License-Identifier: MIT
// What a bridge over HTTP makes of each message and each failure, with both of its sides in the test's hand.
#include "script.hpp"

#include <comcp/transport/message_bridge.hpp>

#include <stdexcept>

using comcp::exchange_id;
using comcp::exchange_verdict;
using comcp::memory_peer;
using comcp::send_hint;
using comcp::transport_event;
using comcp::detail::message_bridge;
using script::has;
using script::outcome;
using namespace std::chrono_literals;
namespace asio = comcp::asio;

namespace
{

constexpr std::string_view hello = R"({"jsonrpc":"2.0","id":"h","method":"initialize","params":{}})";
constexpr std::string_view hello_answer = R"({"jsonrpc":"2.0","id":"h","result":{"protocolVersion":"2025-11-25"}})";
constexpr std::string_view call = R"({"jsonrpc": "2.0","id":7,"method":"tools/call","params":{"name":"t"}})";
constexpr std::string_view answer = R"({"jsonrpc":"2.0","id":7,"result":{"content":[]}})";

struct stage
{
    asio::io_context io{1};
    comcp::manual_time time{io};
    memory_peer host{io.get_executor()};
    memory_peer app{io.get_executor()};
    comcp::limits limits;
    std::shared_ptr<message_bridge> bridge;
    std::optional<script::running<comcp::fault>> running;

    void start()
    {
        bridge =
            std::make_shared<message_bridge>(io.get_executor(), host.take_transport(), app.take_transport(), limits);
        running.emplace(io.get_executor(), message_bridge::run(bridge));
        time.settle();
    }
    /// A bridge past the handshake, whose exchange was number 1.
    void start_open()
    {
        start();
        from_host(hello);
        CHECK(app.take() == hello);
        from_app(hello_answer, 1);
        CHECK(host.take() == hello_answer);
        app.verdicts();
    }
    void from_host(std::string_view text)
    {
        host.send(std::string(text));
        time.settle();
    }
    void from_app(std::string_view text, unsigned exchange = 0)
    {
        app.send(std::string(text), exchange_id(exchange));
        time.settle();
    }
    void fails(unsigned exchange, comcp::errc code, std::string text, outcome fate)
    {
        transport_event event;
        event.what = transport_event::kind::exchange_failed;
        event.exchange = exchange_id(exchange);
        event.why = comcp::fault(code, std::move(text));
        event.why.fate = fate;
        app.send(std::move(event));
        time.settle();
    }
    void closes(unsigned exchange)
    {
        transport_event event;
        event.what = transport_event::kind::exchange_closed;
        event.exchange = exchange_id(exchange);
        app.send(std::move(event));
        time.settle();
    }
    bool over() { return running->done(); }
};

std::string error_for(std::string_view id, int code, std::string_view text, std::string_view data = {})
{
    std::string out = R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
                      R"(,"message":")" + std::string(text) + '"';
    if (!data.empty()) out += R"(,"data":)" + std::string(data);
    return out + "}}";
}

} // namespace

TEST_CASE("A bridge relays texts as they are and tells its transport what they mean")
{
    stage s;
    s.start();
    s.from_host(hello);
    CHECK(s.app.take() == hello);
    CHECK(s.app.hint().what == send_hint::kind::request);
    CHECK(s.app.hint().exchange == exchange_id(1));
    CHECK(s.app.negotiated() == "");
    s.from_app(hello_answer, 1);
    CHECK(s.host.take() == hello_answer);
    CHECK(s.app.negotiated() == "2025-11-25");
    CHECK((s.app.verdicts() == std::vector<exchange_verdict>{{exchange_id(1), exchange_verdict::kind::completed}}));
    CHECK_FALSE(s.app.listening());
    s.from_host(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    CHECK(has(s.app.take(), "initialized"));
    CHECK(s.app.hint().what == send_hint::kind::notification);
    CHECK(s.app.listening());

    s.from_host(call);
    CHECK(s.app.take() == call);
    CHECK(s.app.hint().exchange == exchange_id(2));
    const std::string question = R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})";
    s.from_app(question, 2);
    CHECK(s.host.take() == question);
    CHECK(s.app.verdicts().empty());
    const std::string reply = R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})";
    s.from_host(reply);
    CHECK(s.app.take() == reply);
    CHECK(s.app.hint().what == send_hint::kind::answer);
    const std::string notice = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";
    s.from_app(notice);
    CHECK(s.host.take() == notice);
    s.from_app(answer, 2);
    CHECK(s.host.take() == answer);
    CHECK((s.app.verdicts() == std::vector<exchange_verdict>{{exchange_id(2), exchange_verdict::kind::completed}}));
    CHECK_FALSE(s.over());

    s.host.hang_up();
    s.time.settle();
    REQUIRE(s.over());
    CHECK_FALSE(s.running->value().code);
    CHECK(s.app.finished());
    CHECK(s.app.closed());
    CHECK(s.host.closed());
}

TEST_CASE("What was printed on several lines becomes one")
{
    stage s;
    s.start_open();
    s.from_host(call);
    s.app.take();
    s.from_app("{\n  \"jsonrpc\":\"2.0\",\r\n\"id\":\"7\",\n\"result\":{\"a\":\"b\\nc\"}}\n", 2);
    CHECK(s.host.take() == "{   \"jsonrpc\":\"2.0\",  \"id\":\"7\", \"result\":{\"a\":\"b\\nc\"}} ");
    CHECK(s.app.verdicts().size() == 1); // "7" answers 7
}

TEST_CASE("A request that fails is answered once, with what is known")
{
    stage s;
    s.start_open();
    s.from_host(call);
    SECTION("refused")
    {
        s.fails(2, comcp::errc::unauthorized, "the server answered 401 Unauthorized", outcome::not_sent);
        CHECK(s.host.take() == error_for("7", -32603, "the server answered 401 Unauthorized"));
        CHECK_FALSE(s.over());
    }
    SECTION("broken")
    {
        s.fails(2, comcp::errc::peer_gone, "it broke", outcome::unknown);
        CHECK(s.host.take() == error_for("7", -32603, "it broke"));
        CHECK_FALSE(s.over());
    }
    SECTION("unreachable, which ends the bridge")
    {
        s.from_host(R"({"jsonrpc":"2.0","id":8,"method":"ping"})");
        s.fails(2, comcp::errc::peer_gone, "cannot connect", outcome::not_sent);
        CHECK(s.host.take() == error_for("7", -32603, "cannot connect"));
        CHECK(s.host.take() == error_for("8", -32603, "cannot connect"));
        REQUIRE(s.over());
        CHECK(s.running->value().text == "cannot connect");
    }
    SECTION("of a session that is forgotten, which ends the bridge")
    {
        s.fails(2, comcp::errc::session_expired, "404", outcome::not_sent);
        CHECK(s.host.take() == error_for("7", -32603, "404"));
        REQUIRE(s.over());
        CHECK(s.running->value().code == comcp::errc::session_expired);
        CHECK(s.running->value().text == "the application forgot the session");
    }
    SECTION("closed, and it cannot be resumed")
    {
        s.closes(2);
        CHECK(s.host.take() == error_for("7", -32603, "the server ended the response without an answer"));
    }
    SECTION("closed, and it is resumed")
    {
        s.app.resumable(true);
        s.closes(2);
        CHECK_FALSE(s.host.has_message());
        s.from_app(answer, 2);
        CHECK(s.host.take() == answer);
    }
    SECTION("answered before it closes")
    {
        s.from_app(answer, 2);
        CHECK(s.host.take() == answer);
        s.closes(2);
    }
    SECTION("answered too large")
    {
        transport_event event;
        event.what = transport_event::kind::oversized;
        event.exchange = exchange_id(2);
        event.skipped.object = event.skipped.id_present = event.skipped.has_result = true;
        s.app.send(std::move(event));
        s.time.settle();
        CHECK(s.host.take() == error_for("7", -32603, "the answer is over the size limit"));
    }
    SECTION("answered too deep")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":7,"result":{"a":)" + std::string(100, '[') + std::string(100, ']') + "}}",
                   2);
        CHECK(s.host.take() == error_for("7", -32603, "the answer is nested too deep"));
    }
    SECTION("answered with an error that names nobody")
    {
        s.from_app(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"what?"}})", 2);
        CHECK(s.host.take() == error_for("7", -32603, "the server answered with an error without an id: what?"));
    }
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("A failed notice is nobody's answer, but shows that the application is gone")
{
    stage s;
    s.start_open();
    s.from_host(R"({"jsonrpc":"2.0","method":"notifications/x"})");
    s.fails(0, comcp::errc::bad_response, "400", outcome::not_sent);
    CHECK_FALSE(s.over());
    s.fails(0, comcp::errc::not_found, "no such socket", outcome::not_sent);
    CHECK(s.over());
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("A cancelled request leaves nothing behind")
{
    stage s;
    s.start_open();
    s.from_host(call);
    s.app.take();
    const std::string notice = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})";
    s.from_host(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}})"); // another one
    s.app.take();
    CHECK(s.app.verdicts().empty());
    s.from_host(notice);
    CHECK(s.app.take() == notice);
    CHECK((s.app.verdicts() == std::vector<exchange_verdict>{{exchange_id(2), exchange_verdict::kind::abandoned}}));
    s.host.hang_up();
    s.time.settle();
    CHECK(s.over());
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("initialize is not cancelled")
{
    stage s;
    s.start();
    s.from_host(hello);
    s.from_host(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h"}})");
    CHECK(s.app.verdicts().empty());
    s.from_app(hello_answer, 1);
    CHECK(s.app.negotiated() == "2025-11-25");
}

TEST_CASE("A batch is one exchange that owes several answers")
{
    stage s;
    s.start_open();
    const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},)"
                              R"({"jsonrpc":"2.0","id":"b","method":"ping"}])";
    s.from_host(batch);
    CHECK(s.app.take() == batch);
    CHECK(s.app.hint().what == send_hint::kind::request);
    SECTION("answered one by one")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":"b","result":{}})", 2);
        CHECK(s.app.verdicts().empty());
        s.from_app(R"({"jsonrpc":"2.0","id":1,"result":{}})", 2);
        CHECK(s.app.verdicts().size() == 1);
    }
    SECTION("answered as a batch")
    {
        s.from_app(R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}}])", 2);
        CHECK(s.app.verdicts().size() == 1);
    }
    SECTION("failed: what is left is answered")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":1,"result":{}})", 2);
        s.host.take();
        s.fails(2, comcp::errc::bad_response, "broken", outcome::unknown);
        CHECK(s.host.take() == error_for(R"("b")", -32603, "broken"));
        CHECK_FALSE(s.host.has_message());
    }
    SECTION("of notices alone: nothing is owed")
    {
        s.from_host(R"([{"jsonrpc":"2.0","method":"n"}])");
        s.app.take();
        CHECK(s.app.hint().what == send_hint::kind::notification);
    }
}

TEST_CASE("An answer is relayed once, and only while its exchange owes it")
{
    stage s;
    s.start_open();
    s.from_host(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    s.from_host(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    s.app.take();
    s.app.take();
    const std::string one = R"({"jsonrpc":"2.0","id":1,"result":{}})";
    const std::string two = R"({"jsonrpc":"2.0","id":2,"result":{}})";
    const std::vector<exchange_verdict> first_is_over{{exchange_id(2), exchange_verdict::kind::completed}};
    SECTION("the answer of another request that waits")
    {
        s.from_app(two, 2);
        CHECK_FALSE(s.host.has_message());
        CHECK(s.app.verdicts().empty());
        s.closes(2);
        CHECK(s.host.take() == error_for("1", -32603, "the server ended the response without an answer"));
    }
    SECTION("and the right one after it")
    {
        s.from_app(two, 2);
        s.from_app(one, 2);
        CHECK(s.host.take() == one);
        CHECK(s.app.verdicts() == first_is_over);
    }
    SECTION("an answer too large for another one")
    {
        transport_event event;
        event.what = transport_event::kind::oversized;
        event.exchange = exchange_id(2);
        event.skipped.object = event.skipped.id_present = event.skipped.id_known = event.skipped.has_result = true;
        event.skipped.id = comcp::rpc::id(2);
        s.app.send(event);
        s.time.settle();
        CHECK_FALSE(s.host.has_message());
        event.skipped.id = comcp::rpc::id(1);
        s.app.send(std::move(event));
        s.time.settle();
        CHECK(s.host.take() == error_for("1", -32603, "the answer is over the size limit"));
        CHECK(s.app.verdicts() == first_is_over);
    }
    SECTION("a malformed answer")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":1,"result":5})", 2);
        CHECK(s.host.take() ==
              error_for("1", -32603, R"(the server's answer is malformed: \"result\" is not an object)"));
        CHECK(s.app.verdicts() == first_is_over);
        s.from_app(one, 2); // too late
        s.closes(2);
    }
    SECTION("a malformed answer of nobody")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":2,"result":5})", 2);
        s.from_app(R"({"jsonrpc":"2.0","result":{}})", 2);
        s.from_app("[]", 2);
        CHECK_FALSE(s.host.has_message());
        CHECK(s.app.verdicts().empty());
        s.from_app(one, 2);
        CHECK(s.host.take() == one);
    }
    SECTION("two answers in one response")
    {
        s.from_app(one, 2);
        s.from_app(R"({"jsonrpc":"2.0","id":1,"result":{"again":true}})", 2);
        s.from_app(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"again"}})", 2);
        s.closes(2);
        CHECK(s.host.take() == one);
    }
    SECTION("an answer on the stream of messages that answer nothing")
    {
        s.from_app(one);
        CHECK_FALSE(s.host.has_message());
        s.from_app(one, 2);
        CHECK(s.host.take() == one);
    }
    SECTION("the answer of a request that was cancelled")
    {
        s.from_host(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
        s.from_app(one, 2);
    }
    CHECK_FALSE(s.host.has_message());
    s.from_app(two, 3);
    CHECK(s.host.take() == two);
    CHECK_FALSE(s.host.has_message());
    CHECK_FALSE(s.over());
}

TEST_CASE("Of a batch of answers the host gets those that are owed")
{
    stage s;
    s.start_open();
    s.from_host(R"([{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":"7","method":"ping"}])");
    s.app.take();
    s.from_app(R"([{"jsonrpc":"2.0","id":8,"result":{}}, {"jsonrpc":"2.0","id":7,"result":{ }},)"
               R"({"jsonrpc":"2.0","id":7,"result":{}}, {"jsonrpc":"2.0","method":"n"}])",
               2);
    // A second answer to 7 is taken for one to "7": some servers write every id as a number.
    CHECK(s.host.take() == R"([{"jsonrpc":"2.0","id":7,"result":{ }},{"jsonrpc":"2.0","id":7,"result":{}},)"
                           R"({"jsonrpc":"2.0","method":"n"}])");
    CHECK(s.app.verdicts().size() == 1);
    s.from_app(R"([{"jsonrpc":"2.0","id":7,"result":{}}])", 2);
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("What is no message goes nowhere")
{
    stage s;
    s.start_open();
    s.from_host("noise");
    CHECK(has(s.host.take(), R"("id":null,"error":{"code":-32700)"));
    s.from_host(R"({"jsonrpc":"2.0","id":5,"method":6})");
    CHECK(has(s.host.take(), R"("id":5,"error":{"code":-32600)"));
    s.from_host(R"({"jsonrpc":"2.0","id":5,"result":6})"); // no answer answers an answer
    transport_event event;
    event.what = transport_event::kind::oversized;
    event.skipped.object = event.skipped.has_method = event.skipped.id_present = event.skipped.id_known = true;
    event.skipped.id = comcp::rpc::id(9);
    s.host.send(event);
    s.time.settle();
    CHECK(s.host.take() == error_for("9", -32600, "the message is over the size limit"));
    CHECK_FALSE(s.app.has_message());
    s.app.send(std::move(event)); // a question of the application
    s.time.settle();
    CHECK(s.app.take() == error_for("9", -32600, "the message is over the size limit"));
    s.from_app("noise");
    s.from_app(R"({"jsonrpc":"2.0","id":5,"method":6})");
    CHECK(s.app.take() == error_for("5", -32600, R"(\"method\" is not a string)"));
    s.from_app(R"({"jsonrpc":"2.0","method":6})");
    CHECK_FALSE(s.app.has_message());
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("A message that is nested too deep costs nothing but itself")
{
    stage s;
    s.limits.depth = 8;
    s.start_open();
    const std::string deep = "[[[[[[[[[[]]]]]]]]]]";
    s.from_host(R"([{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}])");
    s.app.take();
    s.app.verdicts();
    SECTION("an answer")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":7,"result":{"a":)" + deep + "}}", 2);
        CHECK(s.host.take() == error_for("7", -32603, "the answer is nested too deep"));
    }
    SECTION("an error")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m","data":)" + deep + "}}", 2);
        CHECK(s.host.take() == error_for("7", -32603, "the answer is nested too deep"));
    }
    SECTION("a notice")
    {
        s.from_app(R"({"jsonrpc":"2.0","method":"n","params":{"a":)" + deep + "}}", 2);
        CHECK_FALSE(s.host.has_message());
        CHECK_FALSE(s.app.has_message());
        s.from_app(R"({"jsonrpc":"2.0","id":7,"result":{}})", 2);
        CHECK(s.host.take() == R"({"jsonrpc":"2.0","id":7,"result":{}})");
    }
    SECTION("a question")
    {
        s.from_app(R"({"jsonrpc":"2.0","id":7,"method":"n","params":{"a":)" + deep + "}}", 2);
        CHECK(s.app.take() == error_for("7", -32600, "the message is nested too deep"));
        s.from_app(R"({"jsonrpc":"2.0","id":7,"result":{}})", 2);
        CHECK(s.host.take() == R"({"jsonrpc":"2.0","id":7,"result":{}})");
    }
    SECTION("what the host says")
    {
        s.from_host(R"({"jsonrpc":"2.0","id":9,"method":"n","params":{"a":)" + deep + "}}");
        CHECK(has(s.host.take(), R"("id":9,"error":{"code":-32700)"));
        s.from_host(R"({"jsonrpc":"2.0","id":7,"result":{"a":)" + deep + "}}");
        CHECK_FALSE(s.host.has_message());
        CHECK_FALSE(s.app.has_message());
        s.from_app(R"({"jsonrpc":"2.0","id":7,"result":{}})", 2);
        CHECK(s.host.take() == R"({"jsonrpc":"2.0","id":7,"result":{}})");
    }
    CHECK(s.app.verdicts().empty()); // the exchange goes on
    s.from_app(R"({"jsonrpc":"2.0","id":8,"result":{}})", 2);
    CHECK(s.host.take() == R"({"jsonrpc":"2.0","id":8,"result":{}})");
    CHECK(s.app.verdicts().size() == 1);
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("Too many requests at a time are refused")
{
    stage s;
    s.limits.in_flight = 2;
    const bool by_size = GENERATE(false, true);
    if (by_size) s.limits = {.message = 100, .in_flight = 100};
    s.start_open();
    s.from_host(call);
    s.from_host(call);
    s.from_host(R"({"jsonrpc":"2.0","id":"more","method":"ping"})");
    CHECK(s.host.take() == error_for(R"("more")", -32603, "too many requests", R"({"retryable":true})"));
    s.from_app(answer, 2);
    s.host.take();
    s.from_host(R"({"jsonrpc":"2.0","id":"more","method":"ping"})");
    CHECK_FALSE(s.host.has_message());
}

TEST_CASE("While the host does not read, the application is not heard")
{
    stage s;
    s.limits.stream_buffer = 100;
    s.start_open();
    s.host.reads(false);
    const std::string notice = R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"0123456789"}})";
    for (int i = 0; i < 10; ++i) s.from_app(notice);
    CHECK_FALSE(s.host.has_message());
    s.from_host(call); // it may still ask
    CHECK(s.app.take() == call);
    s.host.reads(true);
    s.time.settle();
    for (int i = 0; i < 10; ++i) CHECK(s.host.take() == notice);
    CHECK_FALSE(s.over());
}

TEST_CASE("A host that never reads ends its bridge, even if its end of input cannot be seen")
{
    stage s;
    s.limits.stream_buffer = 100;
    s.start_open();
    s.host.reads(false);
    const std::string notice = R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"0123456789"}})";
    for (int i = 0; i < 10; ++i) s.from_app(notice);
    s.from_host(call);
    s.from_host(call); // not heard any more
    s.host.hang_up();
    s.time.advance(29s);
    CHECK_FALSE(s.app.finished());
    SECTION("it reads at last")
    {
        s.host.reads(true);
        s.time.settle();
        for (int i = 0; i < 10; ++i) CHECK(s.host.take() == notice);
        s.from_app(answer, 2);
        s.from_app(answer, 3);
        REQUIRE(s.over());
        CHECK_FALSE(s.running->value().code);
    }
    SECTION("it does not")
    {
        s.time.advance(1s);
        CHECK_FALSE(s.over()); // what is queued may still go
        s.time.advance(10s);
        REQUIRE(s.over());
        CHECK(s.running->value().text == "the host does not read the answers");
    }
}

TEST_CASE("After the end of its input a bridge waits for answers, but not for ever")
{
    stage s;
    s.start_open();
    s.from_host(call);
    s.app.take();
    s.host.hang_up();
    s.time.settle();
    CHECK_FALSE(s.over());
    CHECK_FALSE(s.app.finished());
    SECTION("the answer comes")
    {
        s.time.advance(9s);
        s.from_app(answer, 2);
        CHECK(s.host.take() == answer);
    }
    SECTION("it does not come")
    {
        s.time.advance(9s);
        CHECK_FALSE(s.over());
        s.time.advance(1s);
        CHECK(s.host.take() == error_for("7", -32603, "the bridge was told to end before the answer came"));
    }
    SECTION("it is told to end")
    {
        s.bridge->stop();
        s.time.settle();
        CHECK(s.host.take() == error_for("7", -32603, "the bridge was told to end before the answer came"));
    }
    REQUIRE(s.over());
    CHECK_FALSE(s.running->value().code);
    CHECK(s.app.finished());
}

TEST_CASE("A bridge whose host breaks off says so")
{
    stage s;
    s.start_open();
    s.host.hang_up("reading failed");
    s.time.settle();
    REQUIRE(s.over());
    CHECK(s.running->value().text == "reading failed");
    CHECK(s.app.finished());
}

TEST_CASE("A bridge may end with its io_context")
{
    auto s = std::make_unique<stage>();
    s->start_open();
    s->from_host(call);
    SECTION("while it relays") {}
    SECTION("while it waits for answers")
    {
        s->host.hang_up();
        s->time.settle();
    }
    CHECK_FALSE(s->over());
    if (GENERATE(false, true)) s->bridge.reset();
    s.reset();
}

namespace
{

/// A transport that fails as none of ours does.
class failing_transport final : public comcp::transport
{
public:
    comcp::task<void> open() override { co_return; }
    comcp::task<void> receive(comcp::transport_batch&) override
    {
        throw std::runtime_error("the disk is full");
        co_return; // a coroutine
    }
    std::string& begin(const send_hint&) override { return text_; }
    void commit() override { text_.clear(); }
    void flush() override {}
    std::size_t queued() const override { return 0; }
    std::uint64_t written() const override { return 0; }
    std::error_code write_error() const override { return {}; }
    void on_drained(void (*)(void*), void*) override {}
    void abandon(exchange_id) override {}
    comcp::task<void> finish() override { co_return; }
    void close() noexcept override {}
    void context_gone() noexcept override {}

private:
    std::string text_;
};

} // namespace

TEST_CASE("A bridge that fails says of what")
{
    stage s;
    const bool at_host = GENERATE(true, false);
    std::unique_ptr<comcp::transport> broken = std::make_unique<failing_transport>();
    std::unique_ptr<comcp::transport> sound = at_host ? s.app.take_transport() : s.host.take_transport();
    std::unique_ptr<comcp::transport> host = at_host ? std::move(broken) : std::move(sound);
    std::unique_ptr<comcp::transport> app = at_host ? std::move(sound) : std::move(broken);
    auto bridge =
        std::make_shared<message_bridge>(s.io.get_executor(), std::move(host), std::move(app), comcp::limits());
    script::running<comcp::fault> running(s.io.get_executor(), message_bridge::run(bridge));
    s.time.settle();
    REQUIRE(running.done());
    CHECK(running.value().code == comcp::errc::peer_gone);
    CHECK(running.value().text == "relaying failed: the disk is full");
}
