// SPDX-License-Identifier: MIT
//
// The demonstration: a client that starts servers as child processes, lists their tools and calls several at once with
// progress, gives one call up, and lets one run into its deadline. It works on the files of this repository. Then two
// clients of one server over HTTP.
//
//     demo [DIRECTORY]
//
// COMCP_DEMO_FILESYSTEM names the program of the published filesystem server; without it the usual places are tried.
// expect: three calls at once.*cancelled, and the server was told.*no answer within the time limit.*client [12]: 100 %
#include <comcp/http.hpp>
#include <comcp/stdio.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace comcp::asio::experimental::awaitable_operators;
namespace fs = std::filesystem;

/// A line for each call: bars that are redrawn on a terminal, elsewhere a line at each quarter.
class progress_board
{
public:
    explicit progress_board(std::vector<std::string> names)
        : names_(std::move(names)),
          done_(names_.size()),
          terminal_(::isatty(STDOUT_FILENO) == 1)
    {
        if (terminal_) std::cout << std::string(names_.size(), '\n');
    }

    void update(std::size_t row, const comcp::progress& now)
    {
        const double before = std::exchange(done_[row], now.value / now.total.value_or(now.value));
        if (terminal_) return draw();
        if (static_cast<int>(before * 4) != static_cast<int>(done_[row] * 4))
            std::cout << "  " << names_[row] << ": " << static_cast<int>(done_[row] * 100) << " %\n";
    }

private:
    void draw() const
    {
        std::cout << "\x1b[" << names_.size() << 'A'; // up to the first bar
        for (std::size_t row = 0; row < names_.size(); ++row) {
            const auto filled = static_cast<std::size_t>(done_[row] * 40);
            std::cout << "\r\x1b[K  [" << std::string(filled, '#') << std::string(40 - filled, '.') << "] "
                      << names_[row] << '\n';
        }
        std::cout << std::flush;
    }

    std::vector<std::string> names_;
    std::vector<double> done_;
    bool terminal_;
};

/// The first lines of an answer's first text.
void print(const comcp::answer& answer)
{
    const std::string* text = answer.content.empty() ? nullptr : answer.content.front().as_text();
    std::istringstream lines(text ? *text : comcp::to_text(answer));
    std::string line;
    for (int shown = 0; shown < 4 && std::getline(lines, line); ++shown) std::cout << "  " << line << '\n';
    if (lines.peek() != EOF) std::cout << "  ...\n";
}

void introduce(const comcp::wire::initialize_result& hello, const comcp::tool_list& tools)
{
    std::cout << "connected to " << hello.server.name() << ' ' << hello.server.version() << ", revision "
              << comcp::to_string(hello.version) << "\n  tools:";
    for (const comcp::tool& tool : tools) std::cout << ' ' << tool.name;
    std::cout << '\n';
}

comcp::task<comcp::answer> survey(comcp::client& client, std::string directory, progress_board& board, std::size_t row)
{
    comcp::call_options options;
    options.on_progress([&board, row](const comcp::progress& now) { board.update(row, now); });
    co_return co_await client.call("survey", comcp::args("directory", directory, "pace_ms", 15), options);
}

comcp::task<void> use_our_server(fs::path program, fs::path root)
{
    comcp::child_process surveyor(program.string());
    surveyor.on_stderr([](std::string_view text) { std::cout << "  server: " << text; });
    comcp::client client(surveyor, comcp::identity("demo", COMCP_VERSION));
    co_await client.connect();
    const comcp::tool_list tools = co_await client.list_tools();
    introduce(client.server(), tools);

    std::cout << "\nthree calls at once:\n";
    progress_board board({"include", "tests", "examples"});
    auto first = survey(client, (root / "include").string(), board, 0);
    auto second = survey(client, (root / "tests").string(), board, 1);
    auto third = survey(client, (root / "examples").string(), board, 2);
    const auto [include, tests, examples] = co_await (std::move(first) && std::move(second) && std::move(third));
    std::cout << "  include:  " << comcp::to_text(include) << "\n  tests:    " << comcp::to_text(tests)
              << "\n  examples: " << comcp::to_text(examples) << '\n';

    std::cout << "\na call that is given up after 0.3 s:\n";
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    const comcp::args everything("directory", root.string(), "pace_ms", 20);
    const auto ended = co_await (client.call("survey", everything) || timer.wait_for(300ms));
    if (ended.index() != 1) throw std::runtime_error("the call was answered before it could be given up");
    std::cout << "  cancelled, and the server was told\n";

    std::cout << "\na call with a deadline of 0.3 s:\n";
    comcp::call_options hurried;
    hurried.timeout(300ms);
    const auto late = co_await comcp::as_result(client.call("survey", everything, hurried));
    if (late || late.error().code != comcp::errc::timed_out) throw std::runtime_error("the deadline did not hold");
    std::cout << "  " << late.error().text << '\n';
    co_await client.ping(); // the session is as good as new
    co_await client.close();
}

comcp::task<std::string> count(comcp::context& call)
{
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    for (int i = 1; i <= 20; ++i) {
        co_await timer.wait_for(20ms);
        call.progress(i, 20);
    }
    co_return "counted to 20";
}

comcp::task<void> count_over_http(std::string url, progress_board& board, std::size_t row)
{
    comcp::client client(comcp::streamable_http(url), comcp::identity("demo", COMCP_VERSION));
    co_await client.connect();
    comcp::call_options options;
    options.on_progress([&board, row](const comcp::progress& now) { board.update(row, now); });
    co_await client.call("count", {}, options);
    co_await client.close(); // its session ends at the server
}

comcp::task<void> two_clients(comcp::http_server& server)
{
    progress_board board({"client 1", "client 2"});
    co_await (count_over_http(server.url(), board, 0) && count_over_http(server.url(), board, 1));
    co_await server.drain(1s);
}

comcp::task<void> use_http()
{
    comcp::server counter("counter", COMCP_VERSION);
    counter.tool("count", "Counts to 20", count);
    comcp::http_service_options options;
    options.single_threaded();
    comcp::http_server server(co_await comcp::asio::this_coro::executor, counter, options);
    server.bind("localhost", 0);
    std::cout << "\ntwo clients of one server at " << server.url() << ":\n";
    co_await (server.serve() && two_clients(server));
}

comcp::task<void> use_filesystem_server(fs::path program, fs::path root)
{
    comcp::client client(comcp::child_process(program.string(), {root.string()}),
                         comcp::identity("demo", COMCP_VERSION));
    co_await client.connect();
    const comcp::tool_list tools = co_await client.list_tools();
    introduce(client.server(), tools);

    std::cout << "\nthree calls at once:\n";
    const comcp::args where("path", root.string());
    const comcp::args head("path", (root / "README.md").string(), "head", 3);
    const comcp::args pattern("path", (root / "include").string(), "pattern", "**/client*.hpp");
    const auto [list, text, found] =
        co_await (client.call("list_directory", where) && client.call("read_text_file", head) &&
                  client.call("search_files", pattern));
    print(list);
    print(text);
    print(found);
    co_await client.close();
}

fs::path find_filesystem_server(const fs::path& root)
{
    if (const char* named = std::getenv("COMCP_DEMO_FILESYSTEM")) return named;
    for (const char* place : {"build/interop/node", "build/demo"}) {
        const fs::path program = root / place / "node_modules/.bin/mcp-server-filesystem";
        if (fs::exists(program)) return program;
    }
    return {};
}

comcp::task<void> demonstrate(fs::path self, fs::path root)
{
    co_await use_our_server(fs::path(self).replace_filename("demo_server"), root);
    co_await use_http();

    const fs::path filesystem = find_filesystem_server(root);
    if (filesystem.empty()) {
        std::cout << "\nThe filesystem server (Node.js) is not installed: that part is left out.\n";
        co_return;
    }
    std::cout << '\n';
    const auto used = co_await comcp::as_result(use_filesystem_server(filesystem, root));
    if (!used) throw std::runtime_error("the filesystem server cannot be used here: " + used.error().text);
}

/// The repository: the nearest folder around the program that has our headers, else the current one.
fs::path find_root(const fs::path& self)
{
    for (fs::path at = fs::absolute(self); at != at.root_path(); at = at.parent_path())
        if (fs::exists(at / "include/comcp")) return at;
    return fs::current_path();
}

int main(int argc, char** argv)
{
    const fs::path root = argc > 1 ? fs::absolute(argv[1]) : find_root(argv[0]);
    return comcp::run(demonstrate(argv[0], root));
}
