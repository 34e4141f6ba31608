#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benchmarks of comcp beside the load generator's own programs.

  run.py --brief   runs every program shortly and checks its answers, not its speed; the last line is
                   `N passed, N failed, N skipped`
  run.py --assert  measures (a few minutes, on a quiet machine) and holds the figures against their bars; one JSON
                   object a line; the exit status says whether all bars were met
  run.py --assert --only compile,memory,...   some groups: server client memory start ping compile
                                              http http_client http_memory http_crowd middleware

COMCP_BIN names the folder of the programs, by default build/release/bin. All figures are medians of interleaved
repetitions, everything pinned to one core, and given as ratios to `rawpeer` and `floor` within the same repetition:
absolute figures move with the machine (load/README.md says more).
"""
import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

import crowd

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BIN = os.path.abspath(os.environ.get("COMCP_BIN") or os.path.join(ROOT, "build", "release", "bin"))


def program(name):
    return os.path.join(BIN, name)


SERVER = [program("bench_server"), "--stdio"]
FLOOR = [program("floor"), "coro"]
RAW = [program("rawpeer"), "stdio"]
# The port stands in their place.
HTTP_SERVER = [program("bench_server"), "--http", "PORT"]
HTTP_FLOOR = [program("floor"), "http", "PORT"]
HTTP_RAW = [program("rawpeer"), "http", "PORT"]
PEERS = os.path.join(ROOT, "build", "bench-peers")
TOOL_CHAIN_PEERS = ("go-sdk", "rmcp")  # built by load/peers/build.sh
INTEROP_NODE = os.path.join(ROOT, "build", "interop", "node")  # installed by tests/interop/run.py


def json_of(command, timeout=300):
    """The JSON object that the program prints last."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0 or not done.stdout.strip():
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def load(peer, calls, *options):
    """One run of the load generator against a server: calls per second, p50 in us, peak memory in MiB."""
    got = json_of([program("mcpload"), "stdio", "--json", "-n", str(calls), "--warmup", str(calls // 5), *options,
                   "--", *peer])
    return {"rate": got["rps"], "p50": got["p50_us"], "mib": got["peer_hwm_kib"] / 1024}


def client(calls, *options):
    got = json_of([program("bench_client"), "-n", str(calls), "--warmup", str(calls // 5), *options, "--", *RAW])
    return {"rate": got["calls_per_s"], "p50": got["p50_us"], "mib": got["peak_kib"] / 1024}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class HttpServer:
    """A server that is asked to serve a free port of 127.0.0.1, and serves once it can be entered."""

    def __init__(self, command, cwd=None):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        command = [str(self.port) if word == "PORT" else word for word in command]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=cwd)
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > until:
                    self.__exit__()
                    raise RuntimeError(f"{' '.join(command)} does not serve its port") from None
                time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(15)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def kib(self, row):
        """VmRSS, VmHWM, ... of the server."""
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(row + ":"))


def http_load(peer, calls, *options, cwd=None):
    """One run of the load generator against an HTTP server."""
    with HttpServer(peer, cwd) as server:
        got = json_of([program("mcpload"), "http", "--json", "-n", str(calls), "--warmup", str(calls // 5), "--pid",
                       str(server.child.pid), *options, server.url])
        return {"rate": got["rps"], "p50": got["p50_us"], "mib": server.kib("VmHWM") / 1024}


def with_server(work, *arguments):
    crowd.raise_descriptor_limit()
    with HttpServer(HTTP_SERVER) as server:
        return work(server, *arguments)


def http_client(calls, *options):
    with HttpServer(HTTP_RAW) as server:
        got = json_of([program("bench_client"), "-n", str(calls), "--warmup", str(calls // 5), *options, server.url])
        return {"rate": got["calls_per_s"], "p50": got["p50_us"], "mib": got["peak_kib"] / 1024}


class Session:
    """A plain MCP conversation with a server, for what the load generator does not do."""

    def __init__(self, command):
        self.started = time.perf_counter()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.lines = os.fdopen(os.dup(self.child.stdout.fileno()), "rb", buffering=1 << 16)
        self.write({"id": 0, "method": "initialize",
                    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                               "clientInfo": {"name": "run.py", "version": "1"}}})
        self.answer(0)
        self.ready = time.perf_counter() - self.started
        self.write({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.lines.close()
        self.child.stdout.close()
        try:
            self.child.wait(15)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def write(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self.child.stdin.fileno(), data):]

    def call(self, number, tool, **arguments):
        self.write({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def answer(self, number=None):
        """The next answer; its id must be `number`, where one is given."""
        line = self.lines.readline()
        if not line:
            raise RuntimeError("the server closed its output")
        got = json.loads(line)
        if "result" not in got or got["result"].get("isError") or number not in (None, got["id"]):
            raise RuntimeError(f"unexpected answer: {line[:200]!r}")
        return got

    def peak_mib(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def stalled_reader(tool, size, calls, window, stall):
    """Sends `calls` of `size` bytes with `window` in flight and reads nothing for `stall` seconds, then everything.
    Gives the server's peak memory in MiB; every call must be answered with its text."""
    text = "x" * size
    with Session(SERVER) as session:
        room = threading.Semaphore(window)
        failed = []

        def send():
            try:
                for number in range(1, calls + 1):
                    room.acquire()
                    session.call(number, tool, text=text)
            except OSError as error:
                failed.append(error)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        time.sleep(stall)
        missing = set(range(1, calls + 1))
        while missing:
            got = session.answer()
            if got["result"]["content"][0]["text"] != text:
                raise RuntimeError("the text did not come back")
            missing.remove(got["id"])
            room.release()
        sender.join()
        if failed:
            raise failed[0]
        return session.peak_mib()


def ping_under_load(burn, pings):
    """Median time in ms of a ping while a coroutine tool waits and a blocking tool uses `burn` ms of processor time."""
    with Session(SERVER + ["--threads"]) as session:
        session.call(1, "burn", milliseconds=burn)
        session.call(2, "wait", milliseconds=burn)
        times, others = [], set()
        for number in range(100, 100 + pings):
            begin = time.perf_counter()
            session.write({"id": number, "method": "ping"})
            while (got := session.answer())["id"] != number:
                others.add(got["id"])
            if others:  # the load is over
                break
            times.append(time.perf_counter() - begin)
            time.sleep(burn / 1000 / pings / 4)
        while others != {1, 2}:
            others.add(session.answer()["id"])
        if not times:
            raise RuntimeError("no ping was answered while the tools ran")
        return statistics.median(times) * 1000


def start_ms(command):
    with Session(command) as session:
        return session.ready * 1000


# ---- --brief ---------------------------------------------------------------------------------------------------------

def brief():
    passed = failed = skipped = 0

    def check(name, needs, run):
        nonlocal passed, failed, skipped
        missing = [each for each in needs if not os.access(program(each), os.X_OK)]
        if missing:
            skipped += 1
            print(f"skipped {name}: no {', '.join(missing)} in {BIN}")
            return
        try:
            run()
            passed += 1
            print(f"ok      {name}")
        except Exception as error:  # whatever it is, the other programs are still run
            failed += 1
            print(f"FAILED  {name}: {error}")

    def expect_exit(command, status):
        got = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20).returncode
        if got != status:
            raise RuntimeError(f"exit {got}, not {status}")

    for name in ("bench_server", "bench_client"):
        check(f"{name} --help", [name], lambda: expect_exit([program(name), "--help"], 0))
        check(f"{name} with an unknown option", [name], lambda: expect_exit([program(name), "--no-such-option"], 2))
    loaded = ["bench_server", "mcpload"]
    check("echo, 1 in flight", loaded, lambda: load(SERVER, 200))
    check("echo, 64 in flight", loaded, lambda: load(SERVER, 2000, "-w", "64"))
    check("echo_later, 64 in flight", loaded, lambda: load(SERVER, 2000, "-w", "64", "-t", "echo_later"))
    check("echo, 64 KiB", loaded, lambda: load(SERVER, 50, "-s", "65536"))
    check("echo, 1 MiB", loaded, lambda: load(SERVER, 20, "-s", "1048576"))
    check("echo, escapes", loaded, lambda: load(SERVER, 50, "-s", "4096", "--text", "escapes"))
    check("client, 64 in flight", ["bench_client", "rawpeer"], lambda: client(1000, "-w", "64"))
    check("client, 64 KiB", ["bench_client", "rawpeer"], lambda: client(50, "-s", "65536"))
    check("client of bench_server", ["bench_client", "bench_server"],
          lambda: json_of([program("bench_client"), "-n", "100", "-w", "8", "--", *SERVER]))
    check("a reader that stops", ["bench_server"], lambda: stalled_reader("echo_later", 65536, 128, 64, 0.1))
    check("ping under load", ["bench_server"], lambda: ping_under_load(100, 20))
    check("http echo, 1 connection", loaded, lambda: http_load(HTTP_SERVER, 200))
    check("http echo, 64 connections", loaded, lambda: http_load(HTTP_SERVER, 2000, "-c", "64"))
    check("http echo_later, 64 connections", loaded, lambda: http_load(HTTP_SERVER, 2000, "-c", "64", "-t", "echo_later"))
    check("http echo, a session for each connection", loaded,
          lambda: http_load(HTTP_SERVER, 1000, "-c", "16", "--own-session"))
    check("http echo, 1 MiB", loaded, lambda: http_load(HTTP_SERVER, 20, "-s", "1048576"))
    check("http, a crowd of idle clients", ["bench_server"], lambda: with_server(crowd.crowd, 1000))
    check("http, forgotten sessions", ["bench_server"], lambda: with_server(crowd.forgotten_sessions, 5000))
    check("http client, 64 in flight", ["bench_client", "rawpeer"], lambda: http_client(1000, "-w", "64"))
    check("http client, 64 KiB", ["bench_client", "rawpeer"], lambda: http_client(50, "-s", "65536"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed


# ---- --assert --------------------------------------------------------------------------------------------------------

class Figures:
    def __init__(self):
        self.missed = 0

    def report(self, figure, value, bar, at_least=False, **more):
        met = value >= bar if at_least else value <= bar
        self.missed += not met
        print(json.dumps({"figure": figure, "value": round(value, 3), "bar": f"{'>=' if at_least else '<='} {bar}",
                          "met": met, **more}), flush=True)


def median_ratio(ours, theirs, what):
    return statistics.median(a[what] / b[what] for a, b in zip(ours, theirs))


def repeat(times, runs):
    """Runs each of `runs` once, and all of that `times` times: what is compared stands side by side in time."""
    got = {name: [] for name in runs}
    for _ in range(times):
        for name, run in runs.items():
            got[name].append(run())
    return got


def compare(figures, figure, got, ours, theirs, what, bar, at_least=False):
    figures.report(f"{figure} / {theirs}", median_ratio(got[ours], got[theirs], what), bar, at_least,
                   ours=round(statistics.median(each[what] for each in got[ours]), 2),
                   theirs=round(statistics.median(each[what] for each in got[theirs]), 2))


def measure_server(figures, times):
    wide = ["-w", "64"]
    got = repeat(times, {"floor": lambda: load(FLOOR, 300000, *wide), "rawpeer": lambda: load(RAW, 300000, *wide),
                         "echo": lambda: load(SERVER, 300000, *wide),
                         "echo_later": lambda: load(SERVER, 200000, *wide, "-t", "echo_later")})
    compare(figures, "echo, 64 in flight, calls/s", got, "echo", "floor", "rate", 0.8, True)
    compare(figures, "echo_later, 64 in flight, calls/s", got, "echo_later", "floor", "rate", 0.65, True)
    for name, calls, options, bar in (("echo", 50000, [], 1.3), ("echo 64 KiB", 4000, ["-s", "65536"], 1.25),
                                      ("echo 1 MiB", 300, ["-s", "1048576"], 1.25)):
        got = repeat(times, {"floor": lambda: load(FLOOR, calls, *options), "rawpeer": lambda: load(RAW, calls, *options),
                             "echo": lambda: load(SERVER, calls, *options)})
        compare(figures, f"{name}, 1 in flight, p50 us", got, "echo", "floor", "p50", bar)


def measure_client(figures, times):
    got = repeat(times, {"mcpload": lambda: load(RAW, 50000), "client": lambda: client(50000)})
    compare(figures, "client, 1 in flight, p50 us", got, "client", "mcpload", "p50", 2.0)
    wide = ["-w", "64"]
    got = repeat(times, {"mcpload": lambda: load(RAW, 300000, *wide), "client": lambda: client(300000, *wide)})
    compare(figures, "client, 64 in flight, calls/s", got, "client", "mcpload", "rate", 0.4, True)


def measure_memory(figures, times):
    small = repeat(times, {"echo": lambda: load(SERVER, 50000, "-w", "64"),
                           "echo_later": lambda: load(SERVER, 50000, "-w", "64", "-t", "echo_later")})
    for tool, runs in small.items():
        figures.report(f"{tool}, 64 in flight, peak MiB", statistics.median(each["mib"] for each in runs), 8)
    for tool in ("echo", "echo_later"):
        peak = statistics.median(stalled_reader(tool, 1 << 20, 128, 64, 1.5) for _ in range(times))
        figures.report(f"{tool}, 1 MiB, 64 in flight, a reader that stops, peak MiB", peak, 16)


def measure_start(figures, times):
    got = repeat(times * 3, {"floor": lambda: start_ms(FLOOR), "ours": lambda: start_ms(SERVER)})
    figures.report("spawn to initialize answered, ms", statistics.median(got["ours"]), 10,
                   floor=round(statistics.median(got["floor"]), 2))


def measure_ping(figures, times):
    figures.report("ping while a tool burns 2 s, median ms",
                   statistics.median(ping_under_load(2000, 200) for _ in range(times)), 20)


def measure_compile(figures, times):
    command = [sys.executable, os.path.join(HERE, "bench_compile.py"), "--times", str(times)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for each in map(json.loads, lines):
        figures.report(**each)


def build_peers():
    """The servers on the Go SDK and on rmcp, where their tool chains are; says what is left out, and why."""
    made = [os.path.join(PEERS, name) for name in TOOL_CHAIN_PEERS]
    if all(os.access(peer, os.X_OK) for peer in made):
        return
    said = subprocess.run([os.path.join(HERE, "load", "peers", "build.sh")], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=1800).stdout.strip().splitlines()
    for peer, name in zip(made, TOOL_CHAIN_PEERS):
        if not os.access(peer, os.X_OK):
            why = [line for line in said if line.startswith(f"skipped {name}: ")] or said[-1:] or ["it was not built"]
            print(json.dumps({"left_out": name, "why": why[0].removeprefix(f"skipped {name}: ")}), flush=True)


def http_peers():
    """Servers of other SDKs, measured for comparison where they are installed: see load/README.md."""
    found = {}
    modules = os.path.join(INTEROP_NODE, "node_modules")
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, "")
    node = os.path.join(modules, f"node-linux-{machine}", "bin", "node")
    if os.access(node, os.X_OK) and os.path.isdir(os.path.join(modules, "@modelcontextprotocol", "sdk")):
        # Imports are looked up from where a script is.
        scripts = os.path.join(INTEROP_NODE, "load-peers")
        shutil.copytree(os.path.join(HERE, "load", "peers", "ts"), scripts, dirs_exist_ok=True)
        found["ts-v1"] = [node, os.path.join(scripts, "v1-http.mjs"), "PORT", "stateful", "json"]
    else:
        print(json.dumps({"left_out": "ts-v1", "why": "tests/interop/run.py --install has not brought it"}), flush=True)
    for name in TOOL_CHAIN_PEERS:
        peer = os.path.join(PEERS, name)
        if os.access(peer, os.X_OK):
            found[name] = [peer, "PORT"]
    return found


def measure_http(figures, times):
    others = http_peers()
    for name, calls, options, bar in (("http echo", 30000, [], 1.6), ("http echo 64 KiB", 3000, ["-s", "65536"], 1.4),
                                      ("http echo 1 MiB", 200, ["-s", "1048576"], 1.4)):
        got = repeat(times, {"floor": lambda: http_load(HTTP_FLOOR, calls, *options),
                             "rawpeer": lambda: http_load(HTTP_RAW, calls, *options),
                             "echo": lambda: http_load(HTTP_SERVER, calls, *options)})
        compare(figures, f"{name}, 1 connection, p50 us", got, "echo", "floor", "p50", bar)
    wide = ["-c", "64"]
    got = repeat(times, {"floor": lambda: http_load(HTTP_FLOOR, 100000, *wide),
                         "rawpeer": lambda: http_load(HTTP_RAW, 100000, *wide),
                         "echo": lambda: http_load(HTTP_SERVER, 100000, *wide),
                         **{name: lambda peer=peer: http_load(peer, 3000, *wide) for name, peer in others.items()}})
    compare(figures, "http echo, 64 connections, calls/s", got, "echo", "floor", "rate", 0.6, True)
    for name in others:
        compare(figures, "http echo, 64 connections, calls/s", got, "echo", name, "rate", 1, True)


def measure_http_client(figures, times):
    """mcpload with as many connections as there are calls in flight does what the client does."""
    got = repeat(times, {"mcpload": lambda: http_load(HTTP_RAW, 30000), "client": lambda: http_client(30000)})
    compare(figures, "http client, 1 in flight, p50 us", got, "client", "mcpload", "p50", 2.0)
    got = repeat(times, {"mcpload": lambda: http_load(HTTP_RAW, 100000, "-c", "64"),
                         "client": lambda: http_client(100000, "-w", "64")})
    compare(figures, "http client, 64 in flight, calls/s", got, "client", "mcpload", "rate", 0.4, True)


def measure_http_memory(figures, times):
    def peak(calls, *options):
        return statistics.median(http_load(HTTP_SERVER, calls, *options)["mib"] for _ in range(times))

    figures.report("http, 64 connections, peak MiB", peak(20000, "-c", "64"), 12)
    one = peak(200, "-s", "1048576")
    figures.report("http, 1 MiB on one connection, peak MiB", one, 16)
    many = peak(640, "-c", "64", "-s", "1048576")
    figures.report("http, 1 MiB on each of 64 connections, MiB more a connection", (many - one) / 64, 3)


def measure_http_crowd(figures, _):
    crowd.raise_descriptor_limit()
    with HttpServer(HTTP_SERVER) as server:
        got = crowd.crowd(server, 1000)
    figures.report("http, an idle connection, KiB", got["connection_kib"], 8)
    figures.report("http, an idle session, KiB", got["session_kib"], 16)
    figures.report("http, 1000 idle connections, sessions and streams: slowest ping, ms", max(got["pings"]) * 1000, 50,
                   stream_kib=round(got["stream_kib"], 2))
    with HttpServer(HTTP_SERVER) as server:
        figures.report("http, a newcomer after 5000 forgotten sessions, ms",
                       crowd.forgotten_sessions(server, 5000) * 1000, 50)


def measure_middleware(figures, times):
    """What it costs to ask whether there is a chain: the same server twice, built so that it cannot have one and as it
    is. They take turns in starting first. Only a quiet machine can tell 0.98 from 1: with other work on its cores, single
    pairs went from 0.55 to 1.5, and the same program measured against itself gave 0.93 and 0.80."""
    peers = {kind: [program(f"bench_server_{kind}"), "--stdio"] for kind in ("chain", "direct")}
    for tool, calls, bar in (("echo", 200000, 0.98), ("echo_later", 150000, 0.98)):
        got = {kind: [] for kind in peers}
        for turn in range(max(times, MIDDLEWARE_TURNS)):
            for kind in sorted(peers, reverse=turn % 2 == 1):
                got[kind].append(load(peers[kind], calls, "-w", "64", "-t", tool))
        ratios = sorted(a["rate"] / b["rate"] for a, b in zip(got["chain"], got["direct"]))
        rates = {kind: statistics.median(each["rate"] for each in runs) for kind, runs in got.items()}
        figures.report(f"{tool}, 64 in flight, empty chain, calls/s / direct", rates["chain"] / rates["direct"], bar,
                       True, ours=round(rates["chain"]), theirs=round(rates["direct"]),
                       pairs=[round(ratios[0], 3), round(statistics.median(ratios), 3), round(ratios[-1], 3)])


MIDDLEWARE_TURNS = 15  # never fewer than seven
GROUPS = {"server": measure_server, "client": measure_client, "memory": measure_memory, "start": measure_start,
          "ping": measure_ping, "compile": measure_compile, "http": measure_http, "http_client": measure_http_client,
          "http_memory": measure_http_memory, "http_crowd": measure_http_crowd, "middleware": measure_middleware}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--brief", action="store_true")
    kind.add_argument("--assert", action="store_true", dest="measure")
    parser.add_argument("--only", default=",".join(GROUPS), help="with --assert: the groups to measure")
    parser.add_argument("--times", type=int, default=3, help="with --assert: repetitions (3)")
    options = parser.parse_args()
    if options.brief:
        return 1 if brief() else 0
    if "http" in options.only.split(","):
        build_peers()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # this process and all that it starts, like taskset
    figures = Figures()
    for group in options.only.split(","):
        if group not in GROUPS:
            parser.error(f"no group {group}: there are {', '.join(GROUPS)}")
        GROUPS[group](figures, options.times)
    return 1 if figures.missed else 0


sys.exit(main())
