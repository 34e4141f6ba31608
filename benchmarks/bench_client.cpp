// SPDX-License-Identifier: MIT
//
// Loads a server through `comcp::client` and prints one line of figures: what the library costs on the client's side.
// Beside the load generator (load/mcpload) against the same server, for example `rawpeer stdio`.
#include <comcp/http.hpp>
#include <comcp/transport/child_transport.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using clock_type = std::chrono::steady_clock;

static const char usage[] = "usage: bench_client [options] -- COMMAND [ARGUMENT...]\n"
                            "       bench_client [options] URL\n"
                            "  -n N        timed calls of the tool echo (10000)\n"
                            "  -w W        in flight: that many coroutines call in turn (1)\n"
                            "  -s BYTES    size of the text (2)\n"
                            "  --warmup K  calls that are not timed, first (N / 10)\n"
                            "Prints one JSON object. Exit: 0, 1 wrong answers or a failure, 2 usage.\n";

struct settings
{
    long calls = 10000;
    long in_flight = 1;
    long size = 2;
    long warmup = -1;
    std::string url; ///< or a program
    std::string program;
    std::vector<std::string> arguments;
};

// What the calling coroutines share; lives in `measure`, which outlives them.
struct load
{
    comcp::client& client;
    const std::string text;
    long left = 0;
    long running = 0;
    std::vector<double> microseconds;
    std::exception_ptr failure;
    comcp::asio::steady_timer finished;

    load(comcp::client& of, std::string payload, const comcp::executor& ex)
        : client(of),
          text(std::move(payload)),
          finished(ex, clock_type::time_point::max())
    {}
};

static comcp::task<void> call_in_turn(load& shared)
{
    while (shared.left > 0) {
        --shared.left;
        const auto sent = clock_type::now();
        const comcp::answer answer = co_await shared.client.call("echo", comcp::args("text", shared.text));
        shared.microseconds.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - sent).count());
        const std::string* const text = answer.content.size() == 1 ? answer.content.front().as_text() : nullptr;
        if (answer.is_error || !text || *text != shared.text) throw std::runtime_error("the text did not come back");
    }
}

static comcp::task<void> run_phase(load& shared, long calls, long in_flight)
{
    const comcp::executor here = co_await comcp::asio::this_coro::executor;
    shared.microseconds.clear();
    shared.microseconds.reserve(static_cast<std::size_t>(calls));
    shared.left = calls;
    shared.running = in_flight;
    for (long i = 0; i < in_flight; ++i)
        comcp::asio::co_spawn(here, call_in_turn(shared), [&shared](std::exception_ptr failed) {
            if (failed) shared.failure = failed;
            if (--shared.running == 0) shared.finished.cancel();
        });
    comcp::io_error_code cancelled;
    while (shared.running != 0)
        co_await shared.finished.async_wait(comcp::asio::redirect_error(comcp::asio::use_awaitable, cancelled));
    if (shared.failure) std::rethrow_exception(shared.failure);
}

static double processor_seconds()
{
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

static long peak_kib()
{
    long kib = 0;
    char line[256];
    if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
        while (std::fgets(line, sizeof line, status))
            if (std::strncmp(line, "VmHWM:", 6) == 0) std::sscanf(line + 6, "%ld", &kib);
        std::fclose(status);
    }
    return kib;
}

template <class Server>
static comcp::task<void> measure(Server server, settings wanted)
{
    comcp::client client(std::move(server), comcp::identity("bench_client", "1"));
    co_await client.connect();
    const comcp::executor here = co_await comcp::asio::this_coro::executor;
    load shared(client, std::string(static_cast<std::size_t>(wanted.size), 'x'), here);
    if (wanted.warmup > 0) co_await run_phase(shared, wanted.warmup, wanted.in_flight);

    const double used = processor_seconds();
    const auto begin = clock_type::now();
    co_await run_phase(shared, wanted.calls, wanted.in_flight);
    const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
    const double used_now = processor_seconds() - used;
    co_await client.close();

    std::vector<double>& all = shared.microseconds;
    std::sort(all.begin(), all.end());
    const auto at = [&](double part) {
        return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
    };
    const auto calls = static_cast<double>(wanted.calls);
    std::printf("{\"calls\":%ld,\"in_flight\":%ld,\"size\":%ld,\"calls_per_s\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
                "\"max_us\":%.2f,\"cpu_us_per_call\":%.3f,\"peak_kib\":%ld}\n",
                wanted.calls, wanted.in_flight, wanted.size, calls / seconds, at(0.5), at(0.99), all.back(),
                used_now / calls * 1e6, peak_kib());
}

static bool read_number(std::string_view text, long least, long& into)
{
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
    return failed == std::errc() && end == text.data() + text.size() && into >= least;
}

static bool read_options(const std::vector<std::string>& words, settings& out)
{
    std::size_t at = 0;
    for (; at + 1 < words.size() && words[at] != "--"; at += 2) {
        const std::string& value = words[at + 1];
        const bool good = words[at] == "-n"         ? read_number(value, 1, out.calls)
                          : words[at] == "-w"       ? read_number(value, 1, out.in_flight)
                          : words[at] == "-s"       ? read_number(value, 1, out.size)
                          : words[at] == "--warmup" ? read_number(value, 0, out.warmup)
                                                    : false;
        if (!good) return false;
    }
    if (out.warmup < 0) out.warmup = out.calls / 10;
    if (at + 1 == words.size() && words[at].starts_with("http://")) {
        out.url = words[at];
        return true;
    }
    if (at + 1 >= words.size() || words[at] != "--") return false;
    out.program = words[at + 1];
    out.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 2, words.end());
    return true;
}

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    settings wanted;
    if (words.size() == 1 && words[0] == "--help") {
        std::fputs(usage, stdout);
        return 0;
    }
    if (!read_options(words, wanted)) {
        std::fputs(usage, stderr);
        return 2;
    }
    if (!wanted.url.empty()) {
        try {
            return comcp::run(measure(comcp::streamable_http(wanted.url).listen(false), wanted));
        } catch (const std::exception& e) { // it is no URL
            std::fprintf(stderr, "bench_client: %s\n", e.what());
            return 2;
        }
    }
    return comcp::run(measure(comcp::child_process(wanted.program, wanted.arguments), wanted));
}
