// SPDX-License-Identifier: MIT
// The ways into a service: our own listener, another HTTP server that streams, and one that answers only as a whole.
// At each of them a host's judge hears the head alone: whoever it turns away is answered before a byte of a body.
#include <comcp/server/run_http.hpp>

#include "catch.hpp"
#include "raw_client.hpp"

#if defined(COMCP_TEST_HTTPLIB)
#include "../../examples/11_mounted_server/mounted.hpp"
#include "../../examples/16_answer_once/answer_once.hpp"
#endif

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace
{

namespace asio = comcp::asio;

comcp::http_access judge(const comcp::http::request& head)
{
    if (head.fields.find("Authorization") == "Bearer good") return comcp::http_access::allow("somebody");
    comcp::http::response refusal;
    refusal.status = 401;
    refusal.fields.add("WWW-Authenticate", "Bearer realm=\"here\"");
    return comcp::http_access::refuse(std::move(refusal));
}

struct ignored
{
    void operator()(std::exception_ptr) const {}
};

/// A service on a thread of its own, behind one of its entries.
class entry
{
public:
    virtual ~entry() = default;
    virtual std::uint16_t port() const = 0;
};

class own_listener final : public entry
{
public:
    own_listener()
        : served_("served", "1.0"),
          web_(io_.get_executor(), served_, comcp::http_service_options().authorize(judge))
    {
        web_.bind("127.0.0.1", 0);
        asio::co_spawn(io_, web_.serve(), ignored());
        loop_ = std::thread([this] { io_.run(); });
    }
    ~own_listener() override
    {
        asio::post(io_, [this] { web_.close(); });
        loop_.join();
    }
    std::uint16_t port() const override { return web_.port(); }

private:
    asio::io_context io_{1};
    comcp::server served_;
    comcp::http_server web_;
    std::thread loop_;
};

#if defined(COMCP_TEST_HTTPLIB)
class behind_httplib final : public entry
{
public:
    explicit behind_httplib(bool once)
        : served_("served", "1.0"),
          service_(io_.get_executor(), served_, comcp::http_service_options().authorize(judge)),
          streaming_(service_, io_.get_executor())
    {
        const auto answer = [this, once](const httplib::Request& in, httplib::Response& out,
                                         const httplib::ContentReader* body) {
            if (once) answer_once(service_, io_.get_executor(), in, out, body);
            else streaming_.answer(in, out, body);
        };
        const auto without_body = [answer](const httplib::Request& in, httplib::Response& out) {
            answer(in, out, nullptr);
        };
        host_.Post("/mcp", [answer](const httplib::Request& in, httplib::Response& out,
                                    const httplib::ContentReader& body) { answer(in, out, &body); });
        host_.set_payload_max_length(service_.most_body());
        host_.Get("/mcp", without_body).Delete("/mcp", without_body);
        port_ = static_cast<std::uint16_t>(host_.bind_to_any_port("127.0.0.1"));
        loop_ = std::thread([this] { io_.run(); });
        serving_ = std::thread([this] { host_.listen_after_bind(); });
    }
    ~behind_httplib() override
    {
        asio::co_spawn(io_, service_.close(), asio::use_future).get();
        host_.stop();
        serving_.join();
        work_.reset();
        loop_.join();
    }
    std::uint16_t port() const override { return port_; }

private:
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    comcp::server served_;
    comcp::http_service service_;
    mounted streaming_;
    httplib::Server host_;
    std::uint16_t port_ = 0;
    std::thread loop_;
    std::thread serving_;
};
#endif

constexpr std::string_view initialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"raw","version":"1"}}})";

std::string head(std::string_view method, std::uint16_t port, std::string_view more)
{
    std::string out(method);
    out += " /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port);
    out += "\r\nAccept: application/json, text/event-stream\r\n";
    out += more;
    return out + "\r\n";
}

std::string lower(std::string text)
{
    for (char& each : text)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return text;
}

void turns_away_before_the_body(const entry& at, bool has_streams = true)
{
    const std::string_view methods[] = {"POST", "DELETE", "GET"};
    for (const std::string_view method : methods) {
        if (method == "GET" && !has_streams) continue; // 405 for everybody
        INFO(method);
        support::raw_client client(at.port());
        const bool has_body = method == "POST";
        REQUIRE(client.send(
            head(method, at.port(), has_body ? "Content-Type: application/json\r\nContent-Length: 1000000\r\n" : "")));
        const std::string answer = lower(client.until("\r\n\r\n")); // no byte of the body was sent
        CHECK(answer.substr(0, 13) == "http/1.1 401 ");
        CHECK(answer.find("www-authenticate: bearer realm=\"here\"\r\n") != answer.npos);
    }
    support::raw_client client(at.port());
    REQUIRE(client.send(head("POST", at.port(),
                             "Content-Type: application/json\r\nAuthorization: Bearer good\r\n"
                             "Content-Length: " +
                                 std::to_string(initialize.size()) + "\r\n")));
    REQUIRE(client.send(initialize));
    CHECK(client.until("\r\n\r\n").substr(0, 13) == "HTTP/1.1 200 ");
}

} // namespace

TEST_CASE("A host's judge is asked before the body, at our own listener", "[http_entries]")
{
    own_listener at;
    turns_away_before_the_body(at);
}

#if defined(COMCP_TEST_HTTPLIB)
TEST_CASE("A host's judge is asked before the body, behind another HTTP server", "[http_entries]")
{
    const bool once = GENERATE(false, true);
    behind_httplib at(once);
    turns_away_before_the_body(at, !once);

    SECTION("and a body over the limit is not read to its end")
    {
        support::raw_client client(at.port());
        REQUIRE(client.send(head("POST", at.port(),
                                 "Content-Type: application/json\r\nAuthorization: Bearer good\r\n"
                                 "Content-Length: 100000000\r\n")));
        CHECK(client.until("\r\n\r\n").substr(0, 10) == "HTTP/1.1 4"); // 413; 400 by older ones
    }
}
#endif
