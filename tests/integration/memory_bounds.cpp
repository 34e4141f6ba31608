// SPDX-License-Identifier: MIT
// How much memory a peer can make us take. Sizes are judged in builds without a sanitizer; with one, only that
// everything is answered.
#include "support.hpp"

#include <set>

namespace
{

namespace json = boost::json;
using support::process;

const std::string handshake =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"t","version":"1"}}})"
    "\n";

std::string call(std::size_t id, const std::string& tool, const std::string& text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" + tool +
           R"(","arguments":{"text":")" + text + "\"}}}\n";
}

/// The process's peak since `before`, in kB, is no more than `most`.
void check_growth(const process& of, long before, long most)
{
    const long grown = support::status_kb(of.pid(), "VmHWM") - before;
    INFO("grown by " << grown << " kB");
    if (!support::sanitized) CHECK(grown <= most);
}

} // namespace

TEST_CASE("a line of twice the limit takes no more than the limit on either side", "[memory]")
{
    process program("oversize_rss", {});
    program.deadline(std::chrono::seconds(240));
    const json::object found = program.message();
    INFO(json::serialize(found));
    CHECK(found.at("answers") == true);
    if (!support::sanitized) CHECK(found.at("small") == true);
    CHECK(program.exit() == "exit 0");
    CHECK(program.errors().empty());
}

TEST_CASE("a client that does not read bounds the server's memory, and gets everything later", "[memory]")
{
    process server("stdio_fixture", {});
    server.send(handshake);
    CHECK(server.message().at("id") == 0);
    const long before = support::status_kb(server.pid(), "VmHWM");
    const std::string fill(5000, 'f');
    std::string all;
    const std::size_t count = support::sanitized ? 3000 : 12'000; // 60 MB
    for (std::size_t i = 1; i <= count; ++i) all += call(i, i % 2 ? "echo" : "echo_later", fill);
    const std::size_t sent = server.send_without_reading(all, 300);
    CHECK(sent < all.size());
    check_growth(server, before, 16 * 1024);
    server.send(std::string_view(all).substr(sent));
    std::set<std::int64_t> seen;
    for (std::size_t i = 1; i <= count; ++i) REQUIRE(seen.insert(server.message().at("id").as_int64()).second);
    check_growth(server, before, 16 * 1024);
    server.end_input();
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("a client that sends rubbish and does not read bounds the server's memory", "[memory]")
{
    process server("stdio_fixture", {"--limit", "1000"});
    server.send(handshake);
    CHECK(server.message().at("id") == 0);
    const long before = support::status_kb(server.pid(), "VmHWM");
    const std::string kinds[] = {"rubbish\n", "[]\n",
                                 R"({"jsonrpc":"2.0","id":1,"method":"x"})"
                                 "\n",
                                 std::string(1200, '[') + "\n"};
    std::string all;
    const std::size_t count = 300'000;
    for (std::size_t i = 0; i < count; ++i) all += kinds[i % 16 == 15 ? 3 : i % 3];
    const std::size_t sent = server.send_without_reading(all, 300);
    CHECK(sent < all.size());
    check_growth(server, before, 16 * 1024);
    server.send(std::string_view(all).substr(sent));
    for (std::size_t i = 0; i < count; ++i) REQUIRE(server.line());
    server.end_input();
    CHECK(server.rest().empty());
    CHECK(server.exit() == "exit 0");
}

TEST_CASE("memory is flat over many calls, and over large ones", "[memory]")
{
    process server("stdio_fixture", {});
    server.send(handshake);
    CHECK(server.message().at("id") == 0);
    const auto many_calls = [&] {
        std::string all;
        for (std::size_t i = 1; i <= 4000; ++i) all += call(i, i % 2 ? "echo" : "echo_later", "small");
        server.send(all);
        for (std::size_t i = 1; i <= 4000; ++i) REQUIRE(server.line());
    };
    const auto large_call = [&] {
        server.send(call(1, "echo", std::string(15 * 1024 * 1024, 'l')));
        REQUIRE(server.line().value().size() > 15 * 1024 * 1024);
    };
    many_calls();
    const long warm = support::status_kb(server.pid(), "VmRSS");
    for (int round = 0; round < (support::sanitized ? 2 : 20); ++round) many_calls();
    if (!support::sanitized) CHECK(support::status_kb(server.pid(), "VmRSS") - warm <= 1024);

    large_call();
    large_call(); // the allocator of the system has found its way by now
    many_calls();
    const long peak = support::status_kb(server.pid(), "VmHWM");
    // The line, its JSON, the arguments and the answer are there at once, and strings grow by doubling.
    if (!support::sanitized) CHECK(peak - warm <= 7 * 16 * 1024);
    for (int round = 0; round < 5; ++round) large_call();
    check_growth(server, peak, 1024);
    many_calls();
    // What is freed stays with the allocator in part (glibc: up to twice the largest block).
    if (!support::sanitized) CHECK(support::status_kb(server.pid(), "VmRSS") - warm <= 3 * 16 * 1024);
    server.end_input();
    CHECK(server.exit() == "exit 0");
}
