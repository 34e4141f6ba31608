// SPDX-License-Identifier: MIT
// A server on stdio as its client sees it: raw bytes on real descriptors, and how the process ends. The server is
// fixtures/stdio_fixture.cpp. FRAME, PIPE, PROC and the like name the kinds of faults that are kept impossible here.
#include "support.hpp"

#include <sys/socket.h>

#include <pty.h>
#include <termios.h>

#include <set>

namespace
{

namespace json = boost::json;
using support::file;
using support::make_pipe;
using support::process;
using support::streams;

std::string request(const std::string& id, const std::string& method, const std::string& params = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

std::string call(const std::string& id, const std::string& tool, const std::string& arguments = "{}")
{
    return request(id, "tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + "}");
}

std::string text_call(const std::string& id, const std::string& tool, const std::string& text)
{
    return call(id, tool, R"({"text":")" + text + R"("})");
}

const std::string initialize = request(
    "0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})");
const std::string handshake = initialize + "\n" + R"({"jsonrpc":"2.0","method":"notifications/initialized"})" + "\n";
const std::string ping = request("99", "ping");

void open_session(process& server)
{
    server.send(handshake);
    const json::object answer = server.message();
    REQUIRE(answer.at("id") == 0);
    REQUIRE(answer.at("result").at("protocolVersion") == "2025-11-25");
}

class session : public process
{
public:
    explicit session(std::vector<std::string> args = {}, const streams& given = {})
        : process("stdio_fixture", std::move(args), given)
    {
        open_session(*this);
    }
    void send_line(const std::string& text) { send(text + "\n"); }
    /// The text of a successful call, whose answer must be next.
    std::string text(int id)
    {
        const json::object answer = message();
        CHECK(answer.at("id") == id);
        if (!answer.contains("result")) FAIL(json::serialize(answer));
        return std::string(answer.at("result").at("content").at(0).at("text").as_string());
    }
    /// An error answer, which must be next: its code.
    std::int64_t error(const json::value& id)
    {
        const json::object answer = message();
        if (!answer.contains("error")) FAIL(json::serialize(answer).substr(0, 300));
        const json::value* const given = answer.if_contains("id");
        CHECK((given ? *given : json::value()) == id);
        return answer.at("error").at("code").as_int64();
    }
    /// Waits until all that was sent has been taken.
    void in_taken() { send_alone(""); }
    /// The stream is in step: a ping is the next that is answered.
    void in_step()
    {
        send_line(ping);
        const json::object answer = message();
        if (answer.at("id") != 99) FAIL(json::serialize(answer).substr(0, 300));
        CHECK(answer.at("result").as_object().empty());
    }
    /// The end of input ends it in order, and nothing more was said.
    void leaves()
    {
        end_input();
        CHECK(rest().empty());
        CHECK(exit() == "exit 0");
        CHECK(errors().empty());
    }
};

/// The text of a result.
std::string text_of(const json::value& answer)
{
    return std::string(answer.at("result").at("content").at(0).at("text").as_string());
}

std::string repeated(std::string_view part, std::size_t count)
{
    std::string text;
    text.reserve(part.size() * count);
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
}

/// A file with a text in it, at its start, and no name.
file file_with(std::string_view text)
{
    char name[] = "/tmp/comcp_stdio_XXXXXX";
    file made(::mkstemp(name));
    ::unlink(name);
    REQUIRE(::write(made.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::lseek(made.get(), 0, SEEK_SET);
    return made;
}

std::string contents(const file& of)
{
    std::string text(static_cast<std::size_t>(::lseek(of.get(), 0, SEEK_END)), '\0');
    REQUIRE(::pread(of.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
}

std::size_t lines_of(std::string_view text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

// ---- FRAME: bytes and lines

TEST_CASE("lines that end in CR LF are messages like others", "[stdio][frame]")
{
    session server; // FRAME 1
    server.send(ping + "\r\n");
    CHECK(server.message().at("id") == 99);
    server.send(text_call("1", "echo", "a") + "\r");
    server.send_alone("");
    server.send("\n" + text_call("2", "echo", "b") + " \t\r\n");
    CHECK(server.text(1) == "a");
    CHECK(server.text(2) == "b");
    server.leaves();
}

TEST_CASE("blank lines are no messages", "[stdio][frame]")
{
    session server;
    server.send("\n\n\r\n \n\t\r\n" + ping + "\n\n");
    CHECK(server.message().at("id") == 99);
    server.leaves();
}

TEST_CASE("a byte order mark at the start of the stream is skipped", "[stdio][frame]")
{
    const std::string mark = "\xEF\xBB\xBF";
    SECTION("in one read")
    {
        process server("stdio_fixture", {});
        server.send(mark + handshake);
        CHECK(server.message().at("id") == 0);
    }
    SECTION("byte by byte")
    {
        process server("stdio_fixture", {});
        for (const char byte : mark) server.send_alone(std::string(1, byte));
        server.send(handshake);
        CHECK(server.message().at("id") == 0);
    }
    SECTION("and nothing else")
    {
        process server("stdio_fixture", {});
        server.send(mark);
        server.end_input();
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
    }
}

TEST_CASE("a session may arrive byte by byte", "[stdio][frame]")
{
    process server("stdio_fixture", {});
    const std::string all = handshake +
                            text_call("1", "echo",
                                      "a\xE2\x80\x94"
                                      "b") +
                            "\r\n" + ping + "\n";
    for (const char byte : all) server.send_alone(std::string(1, byte));
    CHECK(server.message().at("id") == 0);
    CHECK(text_of(server.message()) == "a\xE2\x80\x94"
                                       "b"); // FRAME 6
    CHECK(server.message().at("id") == 99);
    server.end_input();
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("two messages may be cut anywhere", "[stdio][frame]")
{
    session server;
    const std::string both = text_call("1", "echo", "\xE8\xAA\x9E") + "\r\n" + text_call("2", "echo", "z") + "\n";
    for (std::size_t cut = 1; cut < both.size(); ++cut) {
        server.send_alone(both.substr(0, cut));
        server.send(both.substr(cut));
        REQUIRE(server.text(1) == "\xE8\xAA\x9E");
        REQUIRE(server.text(2) == "z");
    }
    server.leaves();
}

TEST_CASE("text that is no JSON is answered with a parse error, and the server goes on", "[stdio][frame]")
{
    session server; // FRAME 7
    const std::string prefix =
        R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":")";
    const std::vector<std::string> bad = {
        prefix + "\xC3\x28" + R"("}}})",           // invalid UTF-8
        prefix + "\xED\xA0\x80" + R"("}}})",       // a surrogate
        prefix + std::string(1, '\0') + R"("}}})", // a NUL byte in a string
        prefix + "\x01" + R"("}}})",               // a control character
        std::string(3, '\0'),                      // NUL bytes alone
        ping + std::string(1, '\0'),               // and behind a message
        "hello",
        "{",
        "}",
        R"({"jsonrpc":"2.0","id":3,"method":"ping")",
        ping + ping,
        "GET / HTTP/1.1",
        "\xFF\xFE{\0}",
        R"({"jsonrpc":"2.0","id":03,"method":"ping"})",
        "NaN",
        "\xEF\xBB\xBF" + ping, // a mark that is not at the start
    };
    for (const std::string& line : bad) {
        INFO(line);
        server.send_line(line);
        CHECK(server.error(nullptr) == -32700);
        server.in_step();
    }
    server.leaves();
}

TEST_CASE("deep nesting is answered with a parse error, and with the id where there is one", "[stdio][sec]")
{
    session server; // SEC 143
    const std::string deep = repeated(R"({"a":)", 10'000) + "1" + repeated("}", 10'000);
    const std::string arrays = repeated("[", 10'000) + repeated("]", 10'000);
    const auto refused = [&](const std::string& line, const json::value& id) {
        server.send_line(line);
        CHECK(server.error(id) == -32700);
        server.in_step();
    };
    refused(repeated(R"({"a":)", 10'000), nullptr);
    refused(deep, nullptr);
    refused(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + deep + "}", 1);
    refused(R"({"jsonrpc":"2.0","method":"tools/call","params":{"x":)" + arrays + R"(},"id":"late"})", "late");
    refused(R"({"jsonrpc":"2.0","id":)" + arrays + R"(,"method":"ping"})", nullptr);
    refused(repeated("[", 100'000), nullptr);
    refused(repeated("[", 100'000) + repeated("]", 100'000), nullptr);
    // 64 is still well; one more is not.
    const auto ping_of_depth = [](std::size_t depth) {
        return R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + repeated(R"({"a":)", depth - 2) + "{}" +
               repeated("}", depth - 2) + "}";
    };
    server.send_line(ping_of_depth(64));
    CHECK(server.message().at("result").as_object().empty());
    refused(ping_of_depth(65), 1);
    server.leaves();
}

TEST_CASE("JSON of the wrong shape is an invalid request and no parse error", "[stdio][shape]")
{
    session server; // SHAPE 46
    for (const std::string line : {"null", "3", R"("x")", "[]", "{}", "true", R"({"id":7})", R"({"jsonrpc":"1.0"})"}) {
        INFO(line);
        server.send_line(line);
        const json::object answer = server.message();
        CHECK(answer.at("error").at("code") == -32600);
        server.in_step();
    }
    server.send("\n"); // the empty text is no message on stdio
    server.in_step();
    server.leaves();
}

TEST_CASE("of two equal keys the last one counts", "[stdio][frame]")
{
    session server;
    server.send_line(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"nothing","method":"ping"})");
    const json::object answer = server.message();
    CHECK(answer.at("id") == 2);
    CHECK(answer.contains("result"));
    server.leaves();
}

TEST_CASE("ids come back exactly as they were sent", "[stdio][id]")
{
    session server({"--limit", "4096"}); // ID 31
    const std::string digits = "1" + std::string(100, '7');
    for (const std::string& id :
         {std::string(R"("init-1")"), std::string("42"), std::string(R"("req-abc")"), std::string("-7"),
          std::string("9007199254740993"), std::string("18446744073709551615"), std::string("0"), std::string(R"("0")"),
          std::string(R"("")"), std::string(R"("\u00fc \"quoted\" \\")"), digits, "-" + digits}) {
        const json::object ids = json::parse(R"({"id":)" + id + "}").as_object();
        for (const std::string& line :
             {request(id, "ping"), text_call(id, "echo", "e"), text_call(id, "echo_later", "e"), request(id, "no/such"),
              call(id, "no such tool"), call(id, "fail"), text_call(id, "echo", std::string(5000, 'o'))}) {
            server.send_line(line);
            const std::string answer = server.line().value();
            INFO(id << " -> " << answer.substr(0, 300));
            if (json::parse(answer).at("id").is_double()) {
                CHECK(answer.find(R"("id":)" + id + ",") != std::string::npos);
            } else {
                CHECK(json::parse(answer).at("id") == ids.at("id"));
            }
        }
    }
    server.leaves();
}

TEST_CASE("numbers of any size are no trouble", "[stdio][fidelity]")
{
    session server({"--sources"}); // FIDELITY 51, 52
    const std::string numbers = R"({"id":9007199254740993,"u":18446744073709551615,"f":1.0,"e":1E400,"n":-0.0,"big":)" +
                                std::string(400, '9') + R"(,"id2":7795506888185572399})";
    server.send_line(call("1", "source", numbers));
    const std::string answer = server.line().value();
    CHECK(answer.find(R"("structuredContent":)" + numbers) != std::string::npos);
    CHECK(text_of(json::parse(answer)) == numbers);
    server.send_line(R"({"jsonrpc":"2.0","id":1e400,"method":"ping"})");
    CHECK(server.error(nullptr) == -32600);
    server.send_line(call("2", "sleep", R"({"number":1e400})"));
    CHECK(server.message().at("result").at("isError") == true);
    server.send_line(call("3", "sleep", R"({"number":)" + std::string(400, '9') + "}"));
    CHECK(server.message().at("result").at("isError") == true);
    server.in_step();
    server.leaves();
}

TEST_CASE("every message of a server is one line, whatever is in it", "[stdio][frame]")
{
    session server; // FRAME 8
    server.send_line(call("1", "pretty"));
    server.send_line(text_call("2", "echo", R"(a\nb\r\u2028\u0000)"));
    server.send_line(request("3", "tools/list"));
    CHECK(server.text(1) == "{\n  \"k\": 1\r\n}\xE2\x80\xA8\n");
    CHECK(server.text(2) == std::string("a\nb\r\xE2\x80\xA8\0", 8));
    CHECK(server.message().at("id") == 3);
    server.leaves();
}

// ---- FRAME: the size limit

TEST_CASE("a message over the limit fails alone, with its id, and the stream stays in step", "[stdio][frame]")
{
    session server({"--limit", "2000"}); // FRAME 9
    const std::string fill(5000, 'f');
    const std::string decoy = R"({"id":666,"method":"decoy","x":")" + fill + R"("})";
    const auto refused = [&](const std::string& line, const json::value& id) {
        INFO(line.substr(0, 100));
        server.send_line(line);
        CHECK(server.error(id) == -32600);
        server.in_step();
    };
    refused(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":)" + decoy + "}", 7);
    refused(R"({"jsonrpc":"2.0","method":"tools/call","params":)" + decoy + R"(,"id":8})", 8);
    refused(R"({"params":)" + decoy + R"(,"method":"tools/call","id":"nine","jsonrpc":"2.0"})", "nine");
    refused(R"({"params":[{"id":1},[)" + decoy + R"(]],"id":9007199254740993,"method":"ping"})", 9007199254740993);
    refused(R"({"jsonrpc":"2.0","method":"ping","params":)" + decoy + R"(,"id":null})", nullptr);
    refused(R"({"x":")" + fill + R"(","id":5})", nullptr); // no method: nobody's request
    refused(fill, nullptr);
    refused(std::string(5000, '['), nullptr);
    // Neither a notification nor an answer is answered.
    server.send_line(R"({"jsonrpc":"2.0","method":"notifications/x","params":)" + decoy + "}");
    server.send_line(R"({"jsonrpc":"2.0","id":1,"result":)" + decoy + "}");
    server.in_step();
    server.leaves();
}

TEST_CASE("the limit is one of the message, however it arrives", "[stdio][frame]")
{
    session server({"--limit", "3000"}); // FRAME 9
    const auto line_of = [](std::size_t size) {
        const std::string frame = text_call("1", "echo", "");
        return text_call("1", "echo", std::string(size - frame.size(), 'm'));
    };
    for (const std::string& end : {std::string("\n"), std::string("\r\n")}) {
        for (const std::size_t size : {std::size_t(2999), std::size_t(3000), std::size_t(3001), std::size_t(5000)}) {
            const std::string line = line_of(size) + end;
            for (const std::size_t cut :
                 {line.size(), std::size_t(3000), std::size_t(2999), std::size_t(3001), line.size() - 1}) {
                if (cut > line.size()) continue;
                INFO(size << " bytes, cut at " << cut);
                server.send_alone(line.substr(0, cut));
                server.send(line.substr(cut));
                const json::object answer = server.message();
                CHECK(answer.at("id") == 1);
                if (size <= 3000) CHECK(answer.contains("result"));
                else CHECK(answer.at("error").at("code") == -32600);
            }
        }
    }
    server.in_step();
    server.leaves();
}

TEST_CASE("the default limit is 16 MiB", "[stdio][frame]")
{
    session server;
    const std::string frame = text_call("1", "echo", "");
    const std::size_t limit = 16 * 1024 * 1024;
    server.send_line(text_call("1", "echo", std::string(limit - frame.size() + 1, 'm')));
    CHECK(server.error(1) == -32600);
    server.in_step();
    server.send_line(text_call("1", "echo", std::string(limit - frame.size(), 'm')));
    CHECK(server.text(1).size() == limit - frame.size());
    server.leaves();
}

TEST_CASE("a line over the limit that ends with the input is answered too", "[stdio][frame]")
{
    session server({"--limit", "2000"});
    server.send(text_call("4", "echo", std::string(5000, 'e')));
    server.end_input();
    CHECK(server.error(4) == -32600);
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

// ---- PIPE: nothing blocks, nothing stays behind

TEST_CASE("a large answer leaves whole while the server goes idle", "[stdio][pipe]")
{
    session server; // FRAME 10
    for (const int size : {20'000, 65'536, 300'000}) {
        server.send_line(call("1", "big", R"({"number":)" + std::to_string(size) + "}"));
        CHECK(server.text(1) == std::string(static_cast<std::size_t>(size), 'x'));
    }
    server.leaves();
}

TEST_CASE("large answers at once are whole lines for a slow reader", "[stdio][pipe]")
{
    session server; // FRAME 11
    server.read_at_most(1000);
    std::string all;
    for (int i = 1; i <= 16; ++i)
        all += text_call(std::to_string(i), i % 2 ? "echo" : "echo_later",
                         std::string(200'000, static_cast<char>('a' + i))) +
               "\n";
    server.send(all);
    std::set<std::int64_t> seen;
    for (int i = 1; i <= 16; ++i) {
        const json::object answer = server.message();
        const std::int64_t id = answer.at("id").as_int64();
        CHECK(text_of(answer) == std::string(200'000, static_cast<char>('a' + id)));
        CHECK(seen.insert(id).second);
    }
    server.leaves();
}

TEST_CASE("the answer comes though nobody reads stderr", "[stdio][pipe]")
{
    streams given; // PIPE 15
    given.read_errors = false;
    session server({}, given);
    for (int i = 1; i <= 3; ++i) {
        server.send_line(text_call(std::to_string(i), "echo", std::string(128 * 1024, 'e')));
        CHECK(server.text(i).size() == 128 * 1024);
        server.send_line("no JSON " + std::string(128 * 1024, 'n'));
        CHECK(server.error(nullptr) == -32700);
    }
    server.end_input();
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("progress and a large answer reach a slow reader", "[stdio][pipe]")
{
    session server; // PIPE 18
    server.read_at_most(500);
    server.send_line(
        request("5", "tools/call",
                R"({"name":"progress","arguments":{"count":50,"bytes":300000},"_meta":{"progressToken":"p1"}})"));
    double last = 0;
    for (;;) {
        const json::object next = server.message();
        if (next.contains("id")) {
            CHECK(next.at("id") == 5);
            CHECK(text_of(next) == std::string(300'000, 'p'));
            break;
        }
        CHECK(next.at("method") == "notifications/progress");
        CHECK(next.at("params").at("progressToken") == "p1");
        const double value = next.at("params").at("progress").to_number<double>();
        CHECK(value > last);
        last = value;
    }
    CHECK(last == 50);
    server.leaves();
}

TEST_CASE("a client that stops reading for a while gets every answer", "[stdio][pipe]")
{
    session server;
    const std::size_t count = 3000;
    const std::string fill(5000, 'f');
    std::string all;
    for (std::size_t i = 1; i <= count; ++i)
        all += text_call(std::to_string(i), i % 2 ? "echo" : "echo_later", fill) + "\n";
    // 15 MB of requests: the server must stop reading long before their end.
    const std::size_t sent = server.send_without_reading(all, 300);
    CHECK(sent < all.size());
    CHECK(server.running());
    server.send(std::string_view(all).substr(sent));
    std::set<std::int64_t> seen;
    for (std::size_t i = 1; i <= count; ++i) {
        const json::object answer = server.message();
        REQUIRE(text_of(answer) == fill);
        REQUIRE(seen.insert(answer.at("id").as_int64()).second);
    }
    server.leaves();
}

// ---- stdout and stdin belong to the session

TEST_CASE("what a handler prints goes to stderr and not into the stream", "[stdio][frame]")
{
    session server; // FRAME 5
    std::string all;
    for (int i = 1; i <= 8; ++i) all += text_call(std::to_string(i), "echo_later", std::string(50'000, 'e')) + "\n";
    all.insert(all.find('\n') + 1, text_call("9", "print", R"(diag\n)") + "\n");
    server.send(all);
    std::set<std::int64_t> seen;
    for (int i = 1; i <= 9; ++i) seen.insert(server.message().at("id").as_int64());
    CHECK(seen.size() == 9);
    server.wait_for_error("diag\n");
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors() == "diag\n");
}

TEST_CASE("what a handler leaves in the buffer of stdout goes to stderr too", "[stdio][frame]")
{
    session server;
    server.send_line(text_call("1", "print_buffered", "kept back"));
    CHECK(server.text(1) == "printed");
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors() == "kept back");
}

TEST_CASE("a handler that reads stdin finds its end and takes nothing of the stream", "[stdio][frame]")
{
    session server;
    server.send(call("1", "read_stdin") + "\n" + ping + "\n");
    CHECK(server.text(1) == "read 0");
    CHECK(server.message().at("id") == 99);
    server.leaves();
}

TEST_CASE("a program that a handler starts shares neither stdin nor stdout with the session", "[stdio][frame]")
{
    session server;
    server.send(text_call("1", "shell", "cat; echo from the shell") + "\n" + ping + "\n");
    CHECK(server.text(1) == "0");
    CHECK(server.message().at("id") == 99);
    server.wait_for_error("from the shell\n");
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("stdout is the host's again when the server has ended", "[stdio][frame]")
{
    session server({"--goodbye"});
    server.send_line(text_call("1", "print", "stray"));
    CHECK(server.text(1) == "wrote 5");
    server.end_input();
    CHECK(server.rest() == "goodbye\n");
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors() == "stray");
}

TEST_CASE("handlers on threads of the host print beside the stream as well", "[stdio][frame]")
{
    session server({"--pool", "4"});
    std::string all;
    for (int i = 1; i <= 100; ++i)
        all += i % 2 ? text_call(std::to_string(i), "print", "!") + "\n"
                     : text_call(std::to_string(i), "echo", "e") + "\n";
    server.send(all);
    std::set<std::int64_t> seen;
    for (int i = 1; i <= 100; ++i) seen.insert(server.message().at("id").as_int64());
    CHECK(seen.size() == 100);
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors() == std::string(50, '!'));
}

// ---- PROC: how it ends

TEST_CASE("a blank line and then the end of input ends the server at once", "[stdio][proc]")
{
    process server("stdio_fixture", {}); // FRAME 13
    server.send("\n");
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors().empty());
}

TEST_CASE("a last message without a newline is answered", "[stdio][proc]")
{
    session server;
    server.send(ping);
    server.end_input();
    CHECK(server.message().at("id") == 99);
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("handlers that run when the input ends are answered, and then it exits with 0", "[stdio][proc]")
{
    const bool pool = GENERATE(false, true); // PROC 22
    process server("stdio_fixture", pool ? std::vector<std::string>{"--pool", "2"} : std::vector<std::string>());
    server.send(handshake + call("1", "sleep", R"({"number":200})") + "\n" + text_call("2", "echo_later", "e") + "\n");
    server.end_input();
    CHECK(server.message().at("id") == 0);
    std::set<std::int64_t> seen;
    seen.insert(server.message().at("id").as_int64());
    seen.insert(server.message().at("id").as_int64());
    CHECK(seen == std::set<std::int64_t>{1, 2});
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("answers that are queued when the input ends reach a slow reader", "[stdio][proc]")
{
    session server;
    for (int i = 1; i <= 3; ++i) server.send_line(call(std::to_string(i), "big", R"({"number":1000000})"));
    server.end_input();
    server.read_at_most(10'000);
    for (int i = 1; i <= 3; ++i) CHECK(server.text(i).size() == 1'000'000);
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("the end of input ends the server though the host has timers and threads", "[stdio][proc]")
{
    session server({"--timers"}); // PROC 20
    server.send_line(call("1", "tick"));
    CHECK(server.text(1) == "ticking");
    server.leaves();
}

TEST_CASE("a reader that is gone ends the server without a signal", "[stdio][proc]")
{
    session server; // PROC 24
    server.output().close();
    server.send_without_reading(call("1", "big", R"({"number":1000000})") + "\n", 100);
    SECTION("an error while the input goes on")
    {
        CHECK(server.exit() == "exit 1");
        CHECK(server.errors() == "comcp: writing failed: Broken pipe\n");
    }
    SECTION("an orderly end when the input ends too")
    {
        server.end_input();
        CHECK(server.exit() == "exit 0");
        CHECK(server.errors().empty());
    }
}

TEST_CASE("a reader that is gone ends the server though nobody reads stderr any more", "[stdio][proc]")
{
    auto errors = make_pipe();
    streams given;
    given.errors = errors.write.get();
    session server({}, given);
    errors.read.close();
    errors.write.close();
    server.output().close();
    server.send_without_reading(ping + "\n", 100);
    CHECK(server.exit() == "exit 1");
}

TEST_CASE("a full disk behind stdout ends the server with an error", "[stdio][proc]")
{
    const file full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    streams given;
    given.out = full.get();
    process server("stdio_fixture", {}, given);
    server.send(handshake);
    CHECK(server.exit() == "exit 1");
    CHECK(server.errors() == "comcp: writing failed: No space left on device\n");
}

TEST_CASE("a client that reads nothing for too long is given up", "[stdio][proc]")
{
    session server({"--stall", "200", "--close", "200"});
    server.read_at_most(0);
    server.send_line(call("1", "big", R"({"number":1000000})"));
    // Its input stays open and its output full.
    CHECK(server.exit() == "exit 1");
    CHECK(server.errors() == "comcp: the peer does not read its input\n");
}

TEST_CASE("a handler that never ends holds the end up no longer than the close limit", "[stdio][proc]")
{
    SECTION("a coroutine")
    {
        session server({"--close", "200"});
        server.send_line(call("1", "wait"));
        server.send_line(text_call("2", "echo", "other"));
        server.end_input();
        CHECK(server.text(2) == "other");
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
    }
    SECTION("a thread of the host")
    {
        session server({"--close", "200", "--pool", "1"});
        server.send_line(call("1", "burn"));
        server.in_step();
        server.end_input();
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
    }
}

TEST_CASE("a host that closes its server ends it in order", "[stdio][proc]")
{
    session server;
    server.send_line(call("1", "wait"));
    server.send_line(call("2", "close"));
    CHECK(server.text(2) == "closing");
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors().empty());
}

TEST_CASE("a signal ends the server in order, and soon", "[stdio][proc]")
{
    const support::signal_scope usual(SIGHUP, SIG_DFL);
    const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP);
    const auto started = std::chrono::steady_clock::now();
    SECTION("what is queued is still written, and running handlers are cancelled")
    {
        session server;
        server.send_line(call("1", "wait"));
        server.read_at_most(0);
        server.send_line(call("2", "big", R"({"number":400000})"));
        server.in_taken();
        server.signal(signal);
        server.read_at_most(100'000);
        CHECK(server.text(2).size() == 400'000);
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
        CHECK(server.errors().empty());
    }
    SECTION("while nobody reads its output")
    {
        session server;
        server.read_at_most(0);
        server.send_line(call("1", "big", R"({"number":1000000})"));
        server.signal(signal);
        CHECK(server.exit() == "exit 0");
    }
    SECTION("while a thread of the host burns")
    {
        session server({"--pool", "1"});
        server.send_line(call("1", "burn"));
        server.in_step();
        server.signal(signal);
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
    }
    SECTION("after the end of its input, while a handler runs")
    {
        session server;
        server.send_line(call("1", "wait"));
        server.in_step();
        server.end_input();
        server.signal(signal);
        CHECK(server.rest().empty());
        CHECK(server.exit() == "exit 0");
    }
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(8)); // the close limit is 10 s
}

TEST_CASE("a signal that the program ignores does not end the server", "[stdio][proc]")
{
    const support::signal_scope ignored(SIGHUP, SIG_IGN); // as under nohup; it is inherited
    session server;
    server.signal(SIGHUP);
    server.in_step();
    server.leaves();
}

TEST_CASE("a blocking tool without an executor is an error at the start", "[stdio][proc]")
{
    process server("stdio_fixture", {"--burn"});
    CHECK(server.exit() == "exit 1");
    CHECK(server.rest().empty());
    CHECK(server.errors().find("the blocking handler of \"burn\" needs an executor") != std::string::npos);
}

TEST_CASE("a client that dies ends the server, whatever runs in it", "[stdio][proc]")
{
    session server({"--pool", "2"});
    server.send_line(call("1", "sleep", R"({"number":100})"));
    server.output().close();
    server.end_input();
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("a cancelled call is not answered, and does not hold the end up", "[stdio][proc]")
{
    const bool pool = GENERATE(false, true); // ID 38, TIME 117
    session server(pool ? std::vector<std::string>{"--pool", "2"} : std::vector<std::string>());
    server.send_line(call("1", "wait"));
    server.send_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    server.in_step();
    server.leaves();
}

// ---- what stdin and stdout may be

TEST_CASE("a regular file may be stdin, and another stdout", "[stdio][proc]")
{
    const file in = file_with(handshake + call("1", "sleep", R"({"number":100})") + "\n" + ping + "\n");
    SECTION("with a pipe as stdout")
    {
        streams given;
        given.in = in.get();
        process server("stdio_fixture", {}, given);
        const std::string text = server.rest();
        CHECK(lines_of(text) == 3);
        CHECK(text.find("slept") != std::string::npos);
        CHECK(server.exit() == "exit 0");
        CHECK(server.errors().empty());
    }
    SECTION("with a file as stdout")
    {
        const file out = file_with("");
        streams given;
        given.in = in.get();
        given.out = out.get();
        process server("stdio_fixture", {}, given);
        CHECK(server.exit() == "exit 0");
        const std::string text = contents(out);
        CHECK(lines_of(text) == 3);
        CHECK(text.find("slept") != std::string::npos);
    }
}

TEST_CASE("a large file as stdin is answered whole to a slow reader", "[stdio][proc]")
{
    std::string all = handshake;
    for (int i = 1; i <= 2000; ++i) all += text_call(std::to_string(i), "echo_later", std::string(5000, 'f')) + "\n";
    const file in = file_with(all); // 10 MB
    streams given;
    given.in = in.get();
    process server("stdio_fixture", {}, given);
    server.read_at_most(4096);
    CHECK(server.message().at("id") == 0);
    std::set<std::int64_t> seen;
    for (int i = 1; i <= 2000; ++i) {
        const json::object answer = server.message();
        REQUIRE(text_of(answer).size() == 5000);
        REQUIRE(seen.insert(answer.at("id").as_int64()).second);
    }
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("an empty stdin ends the server", "[stdio][proc]")
{
    const file nothing(::open("/dev/null", O_RDWR | O_CLOEXEC)); // PROC 20
    streams given;
    given.in = nothing.get();
    const bool out_too = GENERATE(false, true);
    if (out_too) given.out = nothing.get();
    process server("stdio_fixture", {"--timers"}, given);
    CHECK(server.exit() == "exit 0");
    CHECK(server.rest().empty());
    CHECK(server.errors().empty());
}

TEST_CASE("one socket may be stdin and stdout", "[stdio][proc]")
{
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    file mine(ends[0]);
    file theirs(ends[1]);
    const bool blocking = GENERATE(true, false);
    theirs.non_blocking(!blocking);
    streams given;
    given.in = given.out = theirs.get();
    process server("stdio_fixture", {}, given);
    server.use(mine.duplicate(), mine.duplicate());
    open_session(server);
    server.send(text_call("1", "echo", std::string(500'000, 's')) + "\n");
    CHECK(text_of(server.message()).size() == 500'000);
    SECTION("the writing end is shut")
    {
        server.send(text_call("2", "echo_later", "last") + "\n");
        ::shutdown(mine.get(), SHUT_WR);
        CHECK(server.message().at("id") == 2);
        CHECK(server.exit() == "exit 0");
        CHECK(theirs.non_blocking() == !blocking);
    }
    SECTION("the whole socket is closed")
    {
        theirs.close();
        server.use(file(), file());
        mine.close();
        CHECK(server.exit().starts_with("exit "));
    }
}

TEST_CASE("a terminal may be stdin and stdout", "[stdio][proc]")
{
    int master = -1;
    int slave = -1;
    REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    file mine(master);
    file theirs(slave);
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave, F_SETFD, FD_CLOEXEC);
    termios how{};
    ::tcgetattr(slave, &how);
    const bool raw = GENERATE(false, true);
    if (raw) ::cfmakeraw(&how);
    else how.c_lflag &= static_cast<tcflag_t>(~ECHO);
    ::tcsetattr(slave, TCSANOW, &how);
    streams given;
    given.in = given.out = theirs.get();
    process server("stdio_fixture", {}, given);
    server.use(mine.duplicate(), mine.duplicate());
    open_session(server);
    server.send(text_call("1", "echo", "typed") + "\n");
    CHECK(text_of(server.message()) == "typed");
    SECTION("control-D ends the input")
    {
        if (raw) return; // an ordinary byte then
        server.send("\x04");
        CHECK(server.exit() == "exit 0");
        CHECK_FALSE(theirs.non_blocking());
    }
    SECTION("the terminal goes away")
    {
        theirs.close();
        server.use(file(), file());
        mine.close();
        CHECK(server.exit().starts_with("exit "));
    }
}

TEST_CASE("a second signal ends the server at once", "[stdio][proc]")
{
    // After one signal it takes 1 s while nobody reads. A machine may be slow, but not each time.
    constexpr std::chrono::milliseconds at_once(900);
    auto shortest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5 && shortest >= at_once; ++i) {
        session server;
        server.read_at_most(0);
        server.send_line(call("1", "big", R"({"number":1000000})"));
        server.in_taken();
        const auto begun = std::chrono::steady_clock::now();
        server.signal(SIGTERM);
        server.signal(SIGINT);
        CHECK(server.exit() == "exit 0");
        shortest = std::min(shortest, std::chrono::steady_clock::now() - begun);
    }
    CHECK(shortest < at_once);
}

TEST_CASE("stdin and stdout have their flags back when the server has ended", "[stdio][proc]")
{
    const support::signal_scope usual(SIGHUP, SIG_DFL);
    const bool before = GENERATE(false, true);
    auto in = make_pipe();
    auto out = make_pipe();
    in.read.non_blocking(before);
    out.write.non_blocking(before);
    streams given;
    given.in = in.read.get();
    given.out = out.write.get();
    process server("stdio_fixture", {}, given);
    server.use(in.write.duplicate(), out.read.duplicate());
    in.write.close();
    open_session(server);
    CHECK(in.read.non_blocking());
    CHECK(out.write.non_blocking());
    std::string end = "exit 0";
    SECTION("in order") { server.end_input(); }
    SECTION("with answers still to be written")
    {
        server.send(call("1", "big", R"({"number":1000000})") + "\n");
        server.end_input();
        CHECK(server.message().at("id") == 1);
    }
    SECTION("by a signal, while a handler runs")
    {
        server.send(call("1", "wait") + "\n");
        server.signal(GENERATE(SIGINT, SIGTERM, SIGHUP));
    }
    SECTION("by two signals, while nobody reads")
    {
        server.read_at_most(0);
        server.send(call("1", "big", R"({"number":1000000})") + "\n");
        server.send_alone(""); // it is taken: the output is full
        server.signal(SIGTERM);
        server.signal(SIGINT);
    }
    SECTION("because nobody reads any more")
    {
        out.read.close();
        server.output().close();
        server.send_without_reading(call("1", "big", R"({"number":1000000})") + "\n", 100);
        end = "exit 1";
    }
    CHECK(server.exit() == end);
    CHECK(in.read.non_blocking() == before);
    CHECK(out.write.non_blocking() == before);
}

TEST_CASE("stdin and stdout have their flags back whatever ends first", "[stdio][proc]")
{
    const bool before = GENERATE(false, true);
    const std::string way = GENERATE("cancel", "context", "server");
    auto in = make_pipe();
    auto out = make_pipe();
    in.read.non_blocking(before);
    out.write.non_blocking(before);
    streams given;
    given.in = in.read.get();
    given.out = out.write.get();
    process server("stdio_fixture", {"--end", way}, given);
    server.use(in.write.duplicate(), out.read.duplicate());
    open_session(server);
    server.send(call("1", "wait") + "\n" + call("2", "end") + "\n");
    CHECK(text_of(server.message()) == "ending");
    CHECK(server.exit() == "exit 0");
    CHECK(server.errors() == (before ? "non-blocking: 1 1\n" : "non-blocking: 0 0\n")); // before anything else ended
}

TEST_CASE("a standard descriptor that is not open is an error and no accident", "[stdio][proc]")
{
    const int which = GENERATE(0, 1, 2);
    INFO(which);
    streams given;
    if (which == 0) given.in = streams::closed;
    if (which == 1) given.out = streams::closed;
    if (which == 2) given.errors = streams::closed;
    process server("stdio_fixture", {}, given);
    CHECK(server.exit() == "exit 1");
    if (which != 2) CHECK(server.errors().find("stdin, stdout and stderr must be open") != std::string::npos);
}

// ---- TIME: slow handlers hold nobody up

TEST_CASE("ping and other calls are answered while a thread burns and a coroutine waits", "[stdio][time]")
{
    session server({"--pool", "3"}); // TIME 117
    server.send_line(call("1", "burn"));
    server.send_line(call("2", "wait"));
    for (int i = 0; i < 20; ++i) server.in_step();
    server.send_line(text_call("3", "echo", "meanwhile"));
    CHECK(server.text(3) == "meanwhile");
    server.send_line(call("4", "release"));
    std::set<std::int64_t> seen;
    for (int i = 0; i < 3; ++i) seen.insert(server.message().at("id").as_int64());
    CHECK(seen == std::set<std::int64_t>{1, 2, 4});
    server.leaves();
}
