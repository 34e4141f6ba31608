// SPDX-License-Identifier: MIT
// Real child processes: start, pipes, exit, the orderly stop, and every order of destruction. Nothing sleeps: each test
// waits for the event itself.
#include <comcp/detail/sigpipe.hpp>
#include <comcp/transport/child.hpp>

#include "catch.hpp"
#include "exit_status.hpp"

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#else
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_future.hpp>
#endif

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace std::chrono_literals;
using comcp::child_process;
using comcp::errc;
using comcp::executor;
using comcp::exit_status;
using comcp::task;
using comcp::detail::child;
using comcp::detail::exit_watch;
using comcp::detail::unique_fd;
using comcp::detail::write_without_sigpipe;
namespace asio = comcp::asio;

using owned_child = std::unique_ptr<child>;

std::string fixture()
{
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "child_fixture").string();
}

child_process fixture(std::vector<std::string> args)
{
    return child_process(fixture(), std::move(args)).name("fixture");
}

owned_child start(asio::io_context& io, const child_process& what, exit_watch watch = exit_watch::pidfd)
{
    auto made = child::spawn(io.get_executor(), what, watch);
    if (made.has_error()) FAIL(made.error().text);
    return std::move(*made);
}

/// Runs the loop until `done`; a hang is a failure.
template <class Condition>
void run_until(asio::io_context& io, const Condition& done)
{
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    io.restart();
    while (!done() && std::chrono::steady_clock::now() < deadline) {
        if (io.run_one_until(deadline) == 0) io.restart();
    }
    REQUIRE(done());
}

/// The result of a coroutine; an exception of it is thrown here.
template <class T>
T run(asio::io_context& io, task<T> work)
{
    std::optional<T> value;
    std::exception_ptr failure;
    bool done = false;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr failed, T made) {
        failure = failed;
        value = std::move(made);
        done = true;
    });
    run_until(io, [&] { return done; });
    if (failure) std::rethrow_exception(failure);
    return *value;
}

/// What the child writes to stdout up to a line end or, with `all`, to the end.
task<std::string> read_output(child& from, bool all)
{
    std::string text;
    std::string chunk(4096, '\0');
    while (all || !text.ends_with('\n')) {
        comcp::io_error_code failed;
        const std::size_t n = co_await from.output().async_read_some(asio::buffer(chunk.data(), all ? chunk.size() : 1),
                                                                     asio::redirect_error(asio::use_awaitable, failed));
        if (failed) break;
        text.append(chunk.data(), n);
    }
    co_return text;
}

std::string read_line(asio::io_context& io, child& from) { return run(io, read_output(from, false)); }

std::string read_all(asio::io_context& io, child& from) { return run(io, read_output(from, true)); }

/// Whether the operation ends before a timer.
template <class T>
task<bool> wins(task<T> operation, comcp::duration patience)
{
    using namespace asio::experimental::awaitable_operators;
    comcp::timer timer(co_await asio::this_coro::executor);
    auto race = std::move(operation) || timer.wait_for(patience);
    const auto won = co_await std::move(race);
    co_return won.index() == 0;
}

template <class T>
T get(asio::io_context& io, std::future<T> future)
{
    run_until(io, [&] { return future.wait_for(0s) == std::future_status::ready; });
    return future.get();
}

exit_status exit_of(asio::io_context& io, child& of)
{
    const auto status = run(io, of.wait_exit(60s));
    REQUIRE(status.has_value());
    return *status;
}

ssize_t write_text(int fd, std::string_view text)
{
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return write_without_sigpipe(fd, &piece, 1);
}

/// A process that is not ours: a descriptor of it is taken while it lives, so its number cannot deceive.
class other_process
{
public:
    explicit other_process(pid_t pid) : fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

    bool known() const { return fd_.get() >= 0; }
    bool gone_within(int milliseconds) const
    {
        pollfd ask{fd_.get(), POLLIN, 0};
        return ::poll(&ask, 1, milliseconds) == 1;
    }

private:
    unique_fd fd_;
};

/// Neither running nor a zombie.
bool no_trace_of(pid_t pid) { return ::kill(pid, 0) < 0 && errno == ESRCH; }

std::size_t open_descriptors()
{
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

/// Sets what the process does with a signal, for one scope.
class signal_scope
{
public:
    signal_scope(int signal, void (*handler)(int)) : signal_(signal)
    {
        struct sigaction action{};
        action.sa_handler = handler; // without SA_RESTART: every call of ours may be interrupted
        ::sigaction(signal, &action, &before_);
    }
    ~signal_scope() { ::sigaction(signal_, &before_, nullptr); }
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    int signal_;
    struct sigaction before_{};
};

std::atomic<int> signals_seen = 0;

void count_signal(int) { ++signals_seen; }

} // namespace

// ---- start and pipes

TEST_CASE("a child echoes what it is sent and exits when its input ends", "[child]")
{
    asio::io_context io;
    auto cat = start(io, fixture({"echo"}));
    CHECK(write_text(cat->input().native_handle(), "hello\n") == 6);
    CHECK(read_line(io, *cat) == "hello\n");
    CHECK_FALSE(cat->status().has_value());
    CHECK(cat->describe_end() == "server \"fixture\" is still running");
    cat->close_input();
    CHECK(read_all(io, *cat).empty());
    CHECK(exit_of(io, *cat) == exit_status{true, 0, 0});
    CHECK(cat->status() == exit_status{true, 0, 0});
    CHECK(no_trace_of(cat->pid())); // reaped as soon as it ended
}

TEST_CASE("the pipes of a child are non-blocking here and blocking there", "[child]")
{
    asio::io_context io;
    auto cat = start(io, fixture({"echo"}));
    CHECK((::fcntl(cat->input().native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(cat->output().native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    const std::string message(100'000, 'm'); // the child's blocking writes deliver it whole
    CHECK(write_text(cat->input().native_handle(), message) > 0);
    cat->close_input();
    const std::string back = read_all(io, *cat);
    CHECK_FALSE(back.empty());
    CHECK(message.starts_with(back));
    CHECK(exit_of(io, *cat).code == 0);
}

TEST_CASE("the exit code and the killing signal are told", "[child]")
{
    const auto watch = GENERATE(exit_watch::pidfd, exit_watch::polling);
    asio::io_context io;
    auto three = start(io, fixture({"exit", "3"}), watch);
    CHECK(exit_of(io, *three) == exit_status{true, 3, 0});
    CHECK(three->describe_end() == "server \"fixture\" exited with code 3");
    auto killed = start(io, fixture({"raise", "9"}), watch);
    CHECK(exit_of(io, *killed) == exit_status{false, 0, SIGKILL});
    CHECK(killed->describe_end() == "server \"fixture\" was killed by signal 9 (SIGKILL)");
}

TEST_CASE("arguments arrive as they are", "[child]")
{
    asio::io_context io;
    auto made = start(io, fixture({"arguments", "", "two words", "$HOME", "*"}).arg("\xC3\xBC\n"));
    CHECK(read_all(io, *made) == "[]\n[two words]\n[$HOME]\n[*]\n[\xC3\xBC\n]\n");
}

TEST_CASE("a program that is not there is named together with the PATH that was searched", "[child]")
{
    asio::io_context io;
    const auto spawn = [&](const child_process& what) { return child::spawn(io.get_executor(), what); };

    auto missing = spawn(child_process("no-such-server").name("files").env("PATH", "/opt/x:/bin"));
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::not_found);
    CHECK(missing.error().text ==
          "server \"files\": program \"no-such-server\" not found; searched its PATH \"/opt/x:/bin\"");

    missing = spawn(child_process("/no/such/server"));
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::not_found);
    CHECK(missing.error().text == "server \"/no/such/server\": program \"/no/such/server\" not found");

    missing = spawn(child_process("/etc/passwd"));
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::not_found);
    CHECK(missing.error().text == "server \"/etc/passwd\": program \"/etc/passwd\" is not an executable file");
}

TEST_CASE("a program is looked up in the PATH of the child and not of the host", "[child]")
{
    asio::io_context io;
    auto found = start(io, child_process("true").without_env("PATH")); // the system's default
    CHECK(exit_of(io, *found).code == 0);
    CHECK(child::spawn(io.get_executor(), child_process("true").env("PATH", "")).has_error());
    CHECK(child::spawn(io.get_executor(), child_process("true").env("PATH", "/opt/x")).has_error());
    const std::string bin = std::filesystem::path(fixture()).parent_path();
    auto mine = start(io, child_process("child_fixture", {"exit", "5"}).env("PATH", "/opt/x:" + bin));
    CHECK(exit_of(io, *mine).code == 5);
}

TEST_CASE("a child runs in its working directory, and finds its program from there", "[child]")
{
    asio::io_context io;
    auto made = start(io, fixture({"directory"}).directory("/usr/bin"));
    CHECK(read_all(io, *made) == std::filesystem::canonical("/usr/bin").string());

    auto relative = start(
        io, child_process("./child_fixture", {"exit", "4"}).directory(std::filesystem::path(fixture()).parent_path()));
    CHECK(exit_of(io, *relative).code == 4);

    auto missing = child::spawn(io.get_executor(), child_process("/bin/true").directory("/no/such/place"));
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::not_found);
    CHECK(missing.error().text ==
          "server \"/bin/true\": working directory \"/no/such/place\": No such file or directory");
}

TEST_CASE("a program that cannot be executed tells the system's reason", "[child]")
{
    const auto folder = std::filesystem::temp_directory_path() / ("comcp_exec_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto script = [&](const char* name, const char* text) {
        const auto path = folder / name;
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path.string();
    };
    asio::io_context io;
    const std::string lost = script("lost", "#!/no/such/interpreter\n");
    auto failed = child::spawn(io.get_executor(), child_process(lost).name("lost"));
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == errc::spawn_failed);
    CHECK(failed.error().text == "server \"lost\": program \"" + lost +
                                     "\" could not be executed: No such file or directory (its interpreter?)");
    const std::string data = script("data", "neither a script nor a binary\n");
    failed = child::spawn(io.get_executor(), child_process(data).name("data"));
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == errc::spawn_failed);
    CHECK(failed.error().text == "server \"data\": program \"" + data + "\" could not be executed: Exec format error");
    CHECK(::waitpid(-1, nullptr, WNOHANG) < 0); // nothing is left of the failures
    std::filesystem::remove_all(folder);
}

TEST_CASE("values that no process can get are refused", "[child]")
{
    asio::io_context io;
    const auto code = [&](const child_process& what) {
        auto made = child::spawn(io.get_executor(), what);
        REQUIRE(made.has_error());
        return made.error().code;
    };
    const std::string zero("a\0b", 3);
    CHECK(code(child_process("")) == errc::invalid_argument);
    CHECK(code(child_process(zero)) == errc::invalid_argument);
    CHECK(code(child_process("/bin/true", {zero})) == errc::invalid_argument);
    CHECK(code(child_process("/bin/true").env("", "x")) == errc::invalid_argument);
    CHECK(code(child_process("/bin/true").env("A=B", "x")) == errc::invalid_argument);
    CHECK(code(child_process("/bin/true").env("A", zero)) == errc::invalid_argument);
}

TEST_CASE("a child gets the allowed and the declared variables, or all", "[child]")
{
    ::setenv("COMCP_TEST_SECRET", "s", 1);
    ::setenv("LC_COMCP_TEST", "l", 1);
    asio::io_context io;
    const auto variables = [&](const child_process& what) {
        auto made = start(io, what);
        const std::string text = read_all(io, *made);
        std::set<std::string> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) lines.insert(line);
        return lines;
    };
    auto got = variables(fixture({"environment"}).env("TOKEN", "t=1").env("PATH", "/p"));
    CHECK(got.count("TOKEN=t=1") == 1);
    CHECK(got.count("PATH=/p") == 1);
    CHECK(got.count("LC_COMCP_TEST=l") == 1);
    CHECK(got.count("COMCP_TEST_SECRET=s") == 0);
    got = variables(fixture({"environment"}).inherit_environment().without_env("LC_COMCP_TEST"));
    CHECK(got.count("COMCP_TEST_SECRET=s") == 1);
    CHECK(got.count("LC_COMCP_TEST=l") == 0);
    ::unsetenv("COMCP_TEST_SECRET");
    ::unsetenv("LC_COMCP_TEST");
}

TEST_CASE("a child leads a process group of its own and inherits neither signals nor descriptors", "[child]")
{
    asio::io_context io;
    const signal_scope ignored(SIGTERM, SIG_IGN);
    const signal_scope handled(SIGUSR1, &count_signal);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);

    auto leader = start(io, fixture({"group"}));
    CHECK(read_all(io, *leader) == "leader");
    auto plain = start(io, fixture({"signals"}));
    CHECK(read_all(io, *plain) == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    sigset_t after;
    ::pthread_sigmask(SIG_SETMASK, &before, &after);
    CHECK(sigismember(&after, SIGINT) == 1); // the host's mask is as it was
    CHECK(sigismember(&after, SIGUSR2) == 0);

    const unique_fd careless(::open("/dev/null", O_RDONLY)); // the host forgot to close it on exec
    auto made = start(io, fixture({"descriptors"}));
    std::vector<std::string> lines;
    for (std::string line; (line = read_line(io, *made)) != "end\n";) lines.push_back(line);
    REQUIRE(lines.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(lines[i].starts_with(std::to_string(i) + " pipe:"));
}

TEST_CASE("a child works in a host that has closed its own standard descriptors", "[child]")
{
    // Pipes made there get the numbers 0 to 2, which the child is about to replace.
    const pid_t host = ::fork();
    if (host == 0) {
        for (int fd = 0; fd < 3; ++fd) ::close(fd);
        asio::io_context io;
        auto made = child::spawn(io.get_executor(), fixture({"descriptors"}));
        if (!made) ::_exit(1);
        const std::string text = run(io, read_output(**made, false));
        if (!text.starts_with("0 pipe:")) ::_exit(2);
        (*made)->close_input();
        const auto status = run(io, (*made)->wait_exit(60s));
        ::_exit(status == exit_status{true, 0, 0} ? 42 : 3);
    }
    int raw = 0;
    REQUIRE(::waitpid(host, &raw, 0) == host);
    CHECK(WIFEXITED(raw));
    CHECK(WEXITSTATUS(raw) == 42);
}

TEST_CASE("a child can be told to die with its parent", "[child]")
{
    // The parent is a process of its own, which is killed without a chance to close anything in order.
    int report[2];
    REQUIRE(::pipe2(report, O_CLOEXEC) == 0);
    const unique_fd in(report[0]);
    unique_fd out(report[1]);
    const pid_t host = ::fork();
    if (host == 0) {
        asio::io_context io;
        auto made = child::spawn(io.get_executor(), fixture({"deaf"}).parent_death_signal(SIGKILL));
        if (!made) ::_exit(1);
        run(io, read_output(**made, false));
        const pid_t pid = (*made)->pid();
        static_cast<void>(!::write(out.get(), &pid, sizeof pid));
        for (;;) ::pause();
    }
    out.reset();
    pid_t pid = 0;
    REQUIRE(::read(in.get(), &pid, sizeof pid) == static_cast<ssize_t>(sizeof pid));
    const other_process deaf(pid);
    REQUIRE(deaf.known());
    ::kill(host, SIGKILL);
    CHECK(deaf.gone_within(60'000));
    ::waitpid(host, nullptr, 0);
}

// ---- stderr

TEST_CASE("a child that fills its stderr is not blocked, and the tail is kept", "[child]")
{
    asio::io_context io;
    auto loud = start(io, fixture({"noise", "262144"}).stderr_tail(100));
    CHECK(read_line(io, *loud) == "ready\n"); // it comes only after all of the noise
    loud->close_input();
    CHECK(exit_of(io, *loud).code == 0);
    const std::string line(63, 'x');
    CHECK(loud->stderr_tail().size() == 100);
    CHECK(loud->stderr_tail() == std::string(25, 'x') + '\n' + line + "\nlast line\n");
    CHECK(loud->describe_end() == "server \"fixture\" exited with code 0; last lines of its stderr: " +
                                      std::string(25, 'x') + " | " + line + " | last line");
}

TEST_CASE("what a child writes to stderr is passed on as it comes", "[child]")
{
    asio::io_context io;
    std::string all;
    auto loud = start(io, fixture({"noise", "200000"}).on_stderr([&](std::string_view text) { all += text; }));
    CHECK(read_line(io, *loud) == "ready\n");
    run_until(io, [&] { return all.ends_with("last line\n"); });
    CHECK(all.size() == 200'010);
}

TEST_CASE("a callback that throws ends neither the loop nor the reading", "[child]")
{
    asio::io_context io;
    int calls = 0;
    auto loud = start(io, fixture({"noise", "200000"}).on_stderr([&](std::string_view) {
        ++calls;
        throw std::runtime_error("the disk is full");
    }));
    CHECK(read_line(io, *loud) == "ready\n");
    loud->close_input();
    CHECK(exit_of(io, *loud).code == 0);
    CHECK(calls > 1);
}

// Fault case: two servers print a line and exit before they answer; each error needs its own server's words.
TEST_CASE("the last words of each child stand in its own error", "[child]")
{
    asio::io_context io;
    auto one = start(io, child_process(fixture(), {"fail", "1", "boom one"}).name("one"));
    auto two = start(io, child_process(fixture(), {"fail", "2", "boom\x1b two"}).name("two"));
    exit_of(io, *one);
    exit_of(io, *two);
    CHECK(one->describe_end() == "server \"one\" exited with code 1; last lines of its stderr: boom one");
    CHECK(two->describe_end() == "server \"two\" exited with code 2; last lines of its stderr: boom? two");
}

// ---- the orderly stop

TEST_CASE("a stop ends a child that obeys the end of input", "[child]")
{
    asio::io_context io;
    auto cat = start(io, fixture({"echo"}));
    CHECK(run(io, cat->stop()) == exit_status{true, 0, 0});
    CHECK(run(io, cat->stop()) == exit_status{true, 0, 0}); // again is fine
}

TEST_CASE("a stop goes on to SIGTERM and to SIGKILL", "[child]")
{
    const auto watch = GENERATE(exit_watch::pidfd, exit_watch::polling);
    asio::io_context io;
    auto deaf = start(io, fixture({"deaf"}).stop_after(10ms, 60s), watch);
    CHECK(read_line(io, *deaf) == "ready\n");
    CHECK(run(io, deaf->stop()) == exit_status{false, 0, SIGTERM});
    auto tidy = start(io, fixture({"tidy"}).stop_after(10ms, 60s), watch);
    CHECK(read_line(io, *tidy) == "ready\n");
    CHECK(run(io, tidy->stop()) == exit_status{true, 7, 0});
    CHECK(tidy->stderr_tail() == "tidied up\n");
    auto stubborn = start(io, fixture({"stubborn"}).stop_after(10ms, 10ms), watch);
    CHECK(read_line(io, *stubborn) == "ready\n");
    CHECK(run(io, stubborn->stop()) == exit_status{false, 0, SIGKILL});
}

TEST_CASE("a stop gives 5 s after the end of input and 2 s after SIGTERM", "[child]")
{
    asio::io_context io;
    comcp::manual_time time(io);
    auto stubborn = start(io, fixture({"stubborn"}));
    CHECK(read_line(io, *stubborn) == "ready\n");
    std::optional<exit_status> stopped;
    asio::co_spawn(io, stubborn->stop(), [&](std::exception_ptr, exit_status status) { stopped = status; });
    const auto pending = [&] {
        time.settle();
        return !stopped.has_value();
    };
    time.advance(5s);
    CHECK(pending());
    time.advance(2s - 1ms);
    CHECK(pending());
    time.advance(1ms);
    run_until(io, [&] { return stopped.has_value(); });
    CHECK(*stopped == exit_status{false, 0, SIGKILL});

    auto deaf = start(io, fixture({"deaf"}));
    stopped.reset();
    asio::co_spawn(io, deaf->stop(), [&](std::exception_ptr, exit_status status) { stopped = status; });
    time.advance(5s - 1ms);
    CHECK(pending());
    CHECK(::kill(deaf->pid(), 0) == 0);
    time.advance(1ms);
    run_until(io, [&] { return stopped.has_value(); });
    CHECK(*stopped == exit_status{false, 0, SIGTERM});
}

TEST_CASE("a child is killed at once when that is asked for", "[child]")
{
    asio::io_context io;
    auto stubborn = start(io, fixture({"stubborn"}));
    stubborn->kill_now();
    CHECK(exit_of(io, *stubborn) == exit_status{false, 0, SIGKILL});
    stubborn->kill_now(); // too late: nothing
}

TEST_CASE("no grandchild survives its launcher", "[child]")
{
    asio::io_context io;
    const std::string launcher = GENERATE("sleep 1000 & echo $!; cat >/dev/null", // obeys the end of input
                                          "sleep 1000 & echo $!; wait",           // needs SIGTERM
                                          "trap '' TERM; sleep 1000 & echo $!; while :; do wait; done", // needs SIGKILL
                                          "(trap '' TERM; sleep 1000) & echo $!; wait",
                                          "sleep 1000 2>/dev/null & echo $!; exit 3"); // it goes first
    const bool stopped = GENERATE(true, false);
    INFO(launcher << (stopped ? ", stopped" : ", destroyed"));
    auto sh = start(io, child_process("/bin/sh", {"-c", launcher}).stop_after(10ms, 50ms));
    const pid_t pid = sh->pid();
    const other_process grandchild(std::stoi(read_line(io, *sh)));
    if (stopped) run(io, sh->stop());
    else sh.reset();
    CHECK((!grandchild.known() || grandchild.gone_within(60'000))); // who was killed before we looked is gone too
    CHECK(no_trace_of(pid));
}

TEST_CASE("a server whose launcher dies of SIGTERM first has the rest of the time to tidy up", "[child]")
{
    asio::io_context io;
    auto sh = start(io, child_process("/bin/sh", {"-c", "\"$0\" tidy-late & wait", fixture()}).stop_after(10ms, 60s));
    CHECK(read_line(io, *sh) == "ready\n");
    CHECK(run(io, sh->stop()) == exit_status{false, 0, SIGTERM});
    CHECK(sh->stderr_tail() == "tidied up\n");
}

TEST_CASE("a wait for the exit ends when its time is over", "[child]")
{
    asio::io_context io;
    auto cat = start(io, fixture({"echo"}));
    CHECK_FALSE(run(io, cat->wait_exit(5ms)).has_value());
    cat->close_input();
    CHECK(exit_of(io, *cat).code == 0);
    CHECK(run(io, cat->wait_exit(0s)) == exit_status{true, 0, 0}); // known already
}

// ---- the host's own affairs

TEST_CASE("a wait for the exit and a stop can be raced with a timer", "[child]")
{
    asio::io_context io;
    child_process program = fixture({"stubborn"}); // nothing but SIGKILL ends it
    program.stop_after(60s, 60s);
    const auto stubborn = start(io, program);
    CHECK(read_line(io, *stubborn) == "ready\n");
    CHECK_FALSE(run(io, wins(stubborn->wait_exit(60s), 1ms)));
    CHECK_FALSE(run(io, wins(stubborn->stop(), 1ms)));
    stubborn->kill_now(); // the stop that was given up goes on: it is not waited for
    CHECK(run(io, wins(stubborn->wait_exit(60s), 60s)));
    CHECK(stubborn->status() == exit_status{false, 0, SIGKILL});

    const auto obedient = start(io, fixture({"echo"}));
    CHECK(run(io, wins(obedient->stop(), 60s)));
    CHECK(obedient->status() == exit_status{true, 0, 0});
}

TEST_CASE("a wait for the exit and a stop complete into callbacks and futures", "[child]")
{
    asio::io_context io;
    const auto first = start(io, fixture({"echo"}));
    auto waited = asio::co_spawn(io, first->wait_exit(60s), asio::use_future);
    auto stopped = asio::co_spawn(io, first->stop(), asio::use_future);
    CHECK(get(io, std::move(stopped)) == exit_status{true, 0, 0});
    CHECK(get(io, std::move(waited)) == exit_status{true, 0, 0});

    const auto second = start(io, fixture({"echo"}));
    int ended = 0;
    asio::co_spawn(io, second->wait_exit(60s), [&](std::exception_ptr failed, std::optional<exit_status> how) {
        ended += !failed && how == exit_status{true, 0, 0} ? 1 : 100;
    });
    asio::co_spawn(io, second->stop(), [&](std::exception_ptr failed, exit_status how) {
        ended += !failed && how == exit_status{true, 0, 0} ? 1 : 100;
    });
    run_until(io, [&] { return ended >= 2; });
    CHECK(ended == 2);
}

TEST_CASE("no zombie is left after destruction", "[child]")
{
    asio::io_context io;
    for (const char* mode : {"echo", "stubborn", "exit"}) {
        auto made = start(io, fixture({mode}));
        const pid_t pid = made->pid();
        made.reset();
        CHECK(no_trace_of(pid));
    }
}

TEST_CASE("a host with a SIGCHLD handler keeps its signals and its children", "[child]")
{
    const signal_scope handler(SIGCHLD, &count_signal);
    signals_seen = 0;
    const pid_t own = ::fork();
    if (own == 0) ::_exit(17);
    asio::io_context io;
    auto made = start(io, fixture({"exit", "3"}));
    CHECK(exit_of(io, *made) == exit_status{true, 3, 0});
    made.reset();
    int raw = 0;
    while (::waitpid(own, &raw, 0) < 0 && errno == EINTR) {
    }
    CHECK(WEXITSTATUS(raw) == 17);
    CHECK(signals_seen >= 1);
    struct sigaction now{};
    ::sigaction(SIGCHLD, nullptr, &now);
    CHECK(now.sa_handler == &count_signal);
}

TEST_CASE("in a host that ignores SIGCHLD a child has ended with an unknown status", "[child]")
{
    const auto watch = GENERATE(exit_watch::pidfd, exit_watch::polling);
    const signal_scope ignored(SIGCHLD, SIG_IGN);
    asio::io_context io;
    auto made = start(io, fixture({"fail", "3", "boom"}), watch);
    CHECK(exit_of(io, *made) == exit_status());
    CHECK(made->describe_end() == "server \"fixture\" ended with an unknown status; last lines of its stderr: boom");
    auto other = start(io, fixture({"stubborn"}), watch);
    const pid_t pid = other->pid();
    other.reset();
    CHECK(no_trace_of(pid));
    auto launcher = start(io, child_process("/bin/sh", {"-c", "sleep 1000 & echo $!"}), watch);
    const other_process grandchild(std::stoi(read_line(io, *launcher)));
    exit_of(io, *launcher);
    CHECK((!grandchild.known() || grandchild.gone_within(60'000)));
}

TEST_CASE("in a host that reaps every child itself a child has ended with an unknown status", "[child]")
{
    const auto watch = GENERATE(exit_watch::pidfd, exit_watch::polling);
    asio::io_context io;
    auto made = start(io, fixture({"exit", "3"}), watch);
    CHECK(::waitpid(-1, nullptr, 0) == made->pid());
    CHECK(exit_of(io, *made) == exit_status());
    auto destroyed = start(io, fixture({"exit", "3"}), watch);
    CHECK(::waitpid(-1, nullptr, 0) == destroyed->pid());
    destroyed.reset();
}

TEST_CASE("a child lives on when the thread that started it ends", "[child]")
{
    asio::io_context io;
    owned_child cat;
    std::thread([&] { cat = start(io, fixture({"echo"})); }).join();
    CHECK(write_text(cat->input().native_handle(), "hello\n") == 6);
    CHECK(read_line(io, *cat) == "hello\n");
    CHECK(run(io, cat->stop()) == exit_status{true, 0, 0});
}

TEST_CASE("children that are started at once from several threads share no pipe", "[child]")
{
    struct started
    {
        asio::io_context io;
        std::vector<owned_child> children;
    };
    std::array<started, 4> threads;
    std::vector<std::thread> running;
    for (started& mine : threads) {
        running.emplace_back([&mine] {
            for (int i = 0; i < 25; ++i) {
                auto made = child::spawn(mine.io.get_executor(), fixture({"descriptors"}));
                if (!made) return;
                mine.children.push_back(std::move(*made));
            }
        });
    }
    for (std::thread& t : running) t.join();
    running.clear();

    // All live. The end of input of one must reach it although its siblings go on.
    std::set<std::string> pipes;
    for (started& mine : threads) {
        REQUIRE(mine.children.size() == 25);
        for (const owned_child& each : mine.children) {
            for (std::string line; (line = read_line(mine.io, *each)) != "end\n";) {
                CHECK(line.substr(0, 1).find_first_of("012") == 0);
                CHECK(pipes.insert(line.substr(line.find("pipe:"))).second);
            }
        }
        mine.children[7]->close_input();
        CHECK(exit_of(mine.io, *mine.children[7]) == exit_status{true, 0, 0});
    }
    CHECK(pipes.size() == 300);
}

TEST_CASE("no descriptor is left after many rounds", "[child]")
{
    asio::io_context io;
    const child_process cat("cat"); // a small program: most of a round is its start
    run(io, start(io, cat)->wait_exit(0s));
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 200; ++round) {
        auto made = start(io, cat, round % 2 ? exit_watch::pidfd : exit_watch::polling);
        if (round % 4 < 2) run(io, made->stop());
        CHECK(child::spawn(io.get_executor(), child_process("/bin/true").directory("/no/such/place")).has_error());
    }
    CHECK(open_descriptors() == before);
}

// ---- SIGPIPE

TEST_CASE("a write to a broken pipe is EPIPE and no signal", "[child][sigpipe]")
{
    const auto handler = GENERATE(SIG_DFL, SIG_IGN, &count_signal);
    const signal_scope scope(SIGPIPE, handler);
    signals_seen = 0;
    auto ends = comcp::detail::make_pipe();
    REQUIRE(ends.has_value());
    CHECK(write_text(ends->write.get(), "ab") == 2);
    ends->read.reset();
    errno = 0;
    CHECK(write_text(ends->write.get(), "ab") == -1);
    CHECK(errno == EPIPE);
    CHECK(signals_seen == 0);
    sigset_t mask;
    sigset_t pending;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(sigismember(&mask, SIGPIPE) == 0);
    ::sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("a SIGPIPE that was pending before a write stays pending", "[child][sigpipe]")
{
    const signal_scope scope(SIGPIPE, &count_signal);
    signals_seen = 0;
    sigset_t only_pipe;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&only_pipe);
    sigaddset(&only_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &only_pipe, &before);
    auto ends = comcp::detail::make_pipe();
    REQUIRE(ends.has_value());
    ends->read.reset();

    CHECK(write_text(ends->write.get(), "ab") == -1); // blocked by the host: ours is eaten all the same
    ::sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);

    ::raise(SIGPIPE); // the host's own
    CHECK(write_text(ends->write.get(), "ab") == -1);
    CHECK(errno == EPIPE);
    ::sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 1);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    CHECK(signals_seen == 1);
}

TEST_CASE("writing to a dead child does not kill the host", "[child][sigpipe]")
{
    const signal_scope scope(SIGPIPE, SIG_DFL);
    asio::io_context io;
    auto made = start(io, fixture({"exit", "3"}));
    exit_of(io, *made);
    CHECK(write_text(made->input().native_handle(), "hello\n") == -1);
    CHECK(errno == EPIPE);
    CHECK(made->describe_end() == "server \"fixture\" exited with code 3");
}

// ---- orders of destruction (under AddressSanitizer)

namespace
{

task<void> keep(std::optional<exit_status>& into, bool& ended, child& of, bool stopping)
{
    if (stopping) into = co_await of.stop();
    else into = co_await of.wait_exit(comcp::no_limit);
    ended = true;
}

task<void> own(owned_child of, bool& ended)
{
    co_await of->wait_exit(60s);
    ended = true;
}

} // namespace

TEST_CASE("a child may die after its io_context", "[child][destruction]")
{
    owned_child made;
    pid_t pid = 0;
    const bool ran = GENERATE(true, false);
    const auto watch = GENERATE(exit_watch::pidfd, exit_watch::polling);
    {
        asio::io_context io;
        made = start(io, fixture({"stubborn"}).on_stderr([](std::string_view) {}), watch);
        pid = made->pid();
        if (ran) io.poll();
    }
    CHECK(::kill(pid, 0) == 0);
    made->kill_now();
    made->close_input();
    made.reset();
    CHECK(no_trace_of(pid));
}

TEST_CASE("a child may die in its own stderr callback", "[child][destruction]")
{
    asio::io_context io;
    owned_child made;
    const std::string kept(1000, 'k'); // what the callback captures is still there after the child is gone
    std::string seen;
    pid_t pid = 0;
    made = start(io, fixture({"noise", "100000"}).on_stderr([&made, &seen, kept](std::string_view text) {
        made.reset();
        seen = kept + std::string(text.substr(0, 1));
    }));
    pid = made->pid();
    run_until(io, [&] { return !seen.empty(); });
    CHECK(seen == kept + 'x');
    CHECK(no_trace_of(pid));
    io.restart();
    io.run(); // nothing keeps the loop
}

TEST_CASE("a child may die in the callback with its last words", "[child][destruction]")
{
    asio::io_context io;
    owned_child made;
    bool ended = false;
    std::optional<exit_status> status;
    made = start(io, fixture({"fail", "3", "boom"}).on_stderr([&](std::string_view) { made.reset(); }));
    asio::co_spawn(io, keep(status, ended, *made, false), [](std::exception_ptr) {});
    run_until(io, [&] { return ended; });
    CHECK_FALSE(made);
}

TEST_CASE("a child may die while its exit is awaited", "[child][destruction]")
{
    const bool stopping = GENERATE(true, false);
    std::optional<exit_status> status;
    bool ended = false;

    SECTION("and the caller goes on")
    {
        asio::io_context io;
        auto made = start(io, fixture({"stubborn"}));
        asio::co_spawn(io, keep(status, ended, *made, stopping), [](std::exception_ptr) {});
        io.poll();
        made.reset();
        CHECK_FALSE(ended); // never resumed from inside the destructor
        io.restart();
        io.run();
        CHECK(ended);
        CHECK(status == exit_status{false, 0, SIGKILL});
    }
    SECTION("and then the io_context")
    {
        asio::io_context io;
        auto made = start(io, fixture({"stubborn"}));
        asio::co_spawn(io, keep(status, ended, *made, stopping), [](std::exception_ptr) {});
        io.poll();
        made.reset();
    }
    SECTION("after the io_context")
    {
        owned_child made;
        asio::io_context io;
        made = start(io, fixture({"stubborn"}));
        asio::co_spawn(io, keep(status, ended, *made, stopping), [](std::exception_ptr) {});
        io.poll();
    }
    SECTION("together with the caller that owns it")
    {
        pid_t pid = 0;
        {
            asio::io_context io;
            auto made = start(io, fixture({"stubborn"}));
            pid = made->pid();
            asio::co_spawn(io, own(std::move(made), ended), [](std::exception_ptr) {});
            io.poll();
        }
        CHECK_FALSE(ended);
        CHECK(no_trace_of(pid));
    }
}

TEST_CASE("a child that is owned by its own callback dies with the io_context", "[child][destruction]")
{
    pid_t pid = 0;
    {
        asio::io_context io;
        auto owner = std::make_shared<owned_child>();
        *owner = start(io, fixture({"stubborn"}).on_stderr([owner](std::string_view) {}));
        pid = (*owner)->pid();
        io.poll();
    }
    CHECK(no_trace_of(pid));
}

TEST_CASE("several callers await one exit", "[child]")
{
    asio::io_context io;
    auto cat = start(io, fixture({"echo"}));
    std::array<std::optional<exit_status>, 3> status;
    std::array<bool, 3> ended{};
    for (std::size_t i = 0; i < 3; ++i)
        asio::co_spawn(io, keep(status[i], ended[i], *cat, i == 1), [](std::exception_ptr) {});
    run_until(io, [&] { return ended[0] && ended[1] && ended[2]; });
    for (const auto& each : status) CHECK(each == exit_status{true, 0, 0});
}

TEST_CASE("a cancelled wait leaves nothing behind", "[child][destruction]")
{
    asio::io_context io;
    auto made = start(io, fixture({"deaf"}).stop_after(10ms, 60s));
    CHECK(read_line(io, *made) == "ready\n");
    asio::cancellation_signal cancel;
    std::optional<exit_status> status;
    bool ended = false;
    std::error_code code;
    bool done = false;
    const bool stopping = GENERATE(true, false);
    asio::co_spawn(io, keep(status, ended, *made, stopping),
                   asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr failed) {
                       done = true;
                       try {
                           if (failed) std::rethrow_exception(failed);
                       } catch (const comcp::error& e) {
                           code = e.code();
                       }
                   }));
    io.restart();
    io.poll();
    cancel.emit(asio::cancellation_type::terminal);
    CHECK_FALSE(done);

    SECTION("the caller is resumed")
    {
        run_until(io, [&] { return done; });
        CHECK(code == errc::cancelled);
        CHECK_FALSE(ended);
        if (stopping) CHECK(exit_of(io, *made) == exit_status{false, 0, SIGTERM}); // a stop that was begun goes on
        else CHECK_FALSE(run(io, made->wait_exit(0s)).has_value());
    }
    SECTION("the child dies before the caller is resumed")
    {
        made.reset();
        run_until(io, [&] { return done; });
        CHECK(code == errc::cancelled);
    }
    SECTION("all die before the caller is resumed") { made.reset(); }
}
