// SPDX-License-Identifier: MIT
//
// The server of the demonstration: counts what is in a directory, one file after the other, and tells how far it is.
#include <comcp/stdio.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

struct survey_args
{
    std::string directory;
    int pace_ms = 1;
};
BOOST_DESCRIBE_STRUCT(survey_args, (), (directory, pace_ms))

struct survey_result
{
    std::size_t files = 0;
    std::size_t lines = 0;
    std::size_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(survey_result, (), (files, lines, bytes))

/// Says on stderr that a survey did not come to its end: its handler was cancelled.
struct unfinished
{
    std::size_t total;
    std::size_t done = 0;
    ~unfinished()
    {
        if (done != total) std::fprintf(stderr, "the handler ended after %zu of %zu files\n", done, total);
    }
};

std::vector<fs::path> files_below(const fs::path& directory)
{
    if (!fs::is_directory(directory)) throw comcp::tool_error(directory.string() + " is not a directory");
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator at(directory), end; at != end; ++at) {
        const auto name = at->path().filename();
        if (name == "build" || name == ".git" || name == "node_modules") at.disable_recursion_pending();
        else if (at->is_regular_file()) found.push_back(at->path());
    }
    std::ranges::sort(found);
    return found;
}

comcp::task<survey_result> survey(survey_args asked, comcp::context& call)
{
    comcp::timer timer(co_await comcp::asio::this_coro::executor);
    const auto files = files_below(asked.directory);
    unfinished so_far{files.size()};
    survey_result counted;
    for (const fs::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        ++counted.files;
        counted.lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
        counted.bytes += text.size();
        co_await timer.wait_for(std::chrono::milliseconds(asked.pace_ms)); // cancelled: it throws, and so_far speaks
        ++so_far.done;
        call.progress(static_cast<double>(so_far.done), static_cast<double>(so_far.total), path.filename().string());
    }
    co_return counted;
}

int main()
{
    comcp::server server("surveyor", COMCP_VERSION);
    server.tool("survey", "Counts files, lines and bytes of a directory", survey)
        .field("directory", comcp::field("Where to count; build, .git and node_modules are left out"))
        .field("pace_ms", comcp::field("Milliseconds to take for each file").minimum(0).maximum(1000))
        .read_only();
    return comcp::run_stdio(server);
}
