#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The protocol's conformance suite against conformance_server and conformance_client. See README.md.

One line per case (ok, FAIL or skip, name, seconds), then `N passed, N failed, N skipped`. Exit status 1 on a failure.
"""

import argparse
import contextlib
import ctypes
import fcntl
import fnmatch
import hashlib
import itertools
import json
import os
import pathlib
import platform
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "conformance"
MODULES = WORK / "node_modules"
RESULTS = WORK / "results"
IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

REVISION = "2025-11-25"
HELLO = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "run.py", "version": "1"}}
START_LIMIT = 20  # seconds until a server has said where it is
END_LIMIT = 20  # until it has left after SIGTERM
SERVER_LIMIT = 180  # one run of a server suite
CLIENT_LIMIT = 60  # one client scenario

NOWHERE = "http://127.0.0.1:9/mcp"
# What a server offers: the method, the list in its result, what each is called.
LISTS = {"tools/list": ("tools", "name"), "prompts/list": ("prompts", "name"), "resources/list": ("resources", "uri"),
         "resources/templates/list": ("resourceTemplates", "uriTemplate")}  # fmt: skip

# Both versions stand side by side in node/package.json under these names.
SUITES = {"0.1.16": "conformance-0.1", "0.2.0-alpha.12": "conformance-0.2"}

# ---- installing ------------------------------------------------------------------------------------------------------

def install():
    """None, or why the suite is not there. Nothing is done when the stamp says that it has been."""
    WORK.mkdir(parents=True, exist_ok=True)
    files = [HERE / "node" / name for name in ("package.json", "package-lock.json", ".npmrc")]
    wanted = hashlib.sha256(platform.platform().encode() + b"".join(file.read_bytes() for file in files)).hexdigest()
    stamp = WORK / "stamp"
    with open(WORK / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            return None
        npm = shutil.which("npm")
        if not npm:
            return "there is no npm on the PATH"
        started = time.monotonic()
        stamp.unlink(missing_ok=True)
        for file in files:
            shutil.copy(file, WORK / file.name)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        ended = execute(command, 600, cwd=WORK)
        if ended.status != 0:
            return f"npm ci: {ended.why()}"
        stamp.write_text(wanted)
        print(f"installed the suite in {time.monotonic() - started:.0f} s", flush=True)
    return None


def node():
    """Node 24 from the npm package for this machine: the suite does not start on older ones."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    ours = MODULES / f"node-linux-{machine}" / "bin" / "node"
    return str(ours) if ours.exists() else shutil.which("node") or "node"


def pinned_version(alias):
    return json.loads((HERE / "node" / "package-lock.json").read_text())["packages"][f"node_modules/{alias}"]["version"]


# ---- running programs ------------------------------------------------------------------------------------------------

class Ended:
    """How a program ended: `status` is its exit status, or None after the time limit."""

    def __init__(self, status, stdout, stderr):
        self.status, self.stdout, self.stderr = status, stdout, stderr

    def why(self):
        words = "no end within the time limit" if self.status is None else f"exit status {self.status}"
        tail = [line.strip() for line in (self.stderr.strip() or self.stdout.strip()).splitlines() if line.strip()][-6:]
        return f"{words}; {' | '.join(tail)}" if tail else words


def die_with_us():
    """In the child: it is killed when we are, whoever does it. The suite's own children end with their connections."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def kill_group(process):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # what it has left behind, too


def execute(command, limit, cwd=None, given=None):
    """Runs a command in its own process group, which outlives neither the command nor the time limit."""
    with subprocess.Popen(
        [str(word) for word in command], cwd=cwd, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL if given is None else subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=die_with_us,
    ) as process:  # fmt: skip
        try:
            stdout, stderr = process.communicate(given, limit)
            return Ended(process.returncode, stdout, stderr)
        except subprocess.TimeoutExpired:
            kill_group(process)
            return Ended(None, *process.communicate())
        finally:
            kill_group(process)


class Server:
    """conformance_server over HTTP, from its first line to the end that it makes after SIGTERM."""

    def __init__(self, program):
        self.log = (RESULTS / "server.log").open("w+")
        self.process = subprocess.Popen([program, "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.log, start_new_session=True, preexec_fn=die_with_us)  # fmt: skip
        self.url = self.first_line()

    def first_line(self):
        end, text = time.monotonic() + START_LIMIT, b""
        while b"\n" not in text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not piece:
                kill_group(self.process)
                self.process.wait()
                raise RuntimeError(f"conformance_server did not say where it is: {self.said()}")
            text += piece
        return text.decode().splitlines()[0]

    def port(self):
        return int(re.search(r":(\d+)/", self.url)[1])

    def at(self, host):
        return f"http://{host}:{self.port()}/mcp"

    def said(self):
        self.log.seek(0)
        return " | ".join(self.log.read().strip().splitlines()[-6:])

    def stop(self):
        """What was wrong with its end, or None. A sanitizer reports through the exit status."""
        if self.process.poll() is not None:
            return f"it ended by itself with {self.process.returncode}: {self.said()}"
        self.process.terminate()
        try:
            status = self.process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            return f"no end within {END_LIMIT} s after SIGTERM: {self.said()}"
        return None if status == 0 else f"exit status {status}: {self.said()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_group(self.process)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Session:
    """A handshake and requests over HTTP, as far as they are answered with JSON."""

    def __init__(self, server):
        self.url, self.session, self.last = server.url, None, 0
        self.request("initialize", HELLO | {"capabilities": self.offered})
        self.post({"method": "notifications/initialized"})

    offered = {}  # our capabilities

    def post(self, message):
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            fields |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": REVISION}
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        request = urllib.request.Request(self.url, body, fields, method="POST")
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            self.session = answer.headers.get("Mcp-Session-Id", self.session)
            return answer.read()

    def answer(self, message):
        return json.loads(self.post(message))

    def request(self, method, params):
        self.last += 1
        return self.answer({"id": self.last, "method": method, "params": params})["result"]

    def offers(self):
        """{method: the names in its list}"""
        return {method: sorted(each[key] for each in self.request(method, {})[member])
                for method, (member, key) in LISTS.items()}  # fmt: skip


class StdioSession(Session):
    """The same over stdio, with a model that says `because`."""

    offered = {"sampling": {}}

    def __init__(self, command):
        self.questions, self.last = [], 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr,
                                        text=True, start_new_session=True, preexec_fn=die_with_us)  # fmt: skip
        self.watchdog = threading.Timer(30, kill_group, [self.process])
        self.watchdog.start()
        self.request("initialize", HELLO | {"capabilities": self.offered})
        self.post({"method": "notifications/initialized"})

    def post(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def answer(self, message):
        self.post(message)
        for line in self.process.stdout:
            got = json.loads(line)
            if got.get("method") == "sampling/createMessage":
                self.questions.append(got)
                said = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "because"}}
                self.post({"id": got["id"], "result": said})
            elif "method" not in got and got["id"] == message["id"]:
                return got
        raise OSError(f"no answer to {message['method']}")

    def end(self):
        self.process.stdin.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_group(self.process)
        self.process.wait()
        self.process.stdout.close()
        self.watchdog.cancel()


# ---- judging ---------------------------------------------------------------------------------------------------------

def scenario_of(folder):
    """`server-ping-2026-01-31T12-00-00-000Z` is of `ping`; the suite writes no `server-` before those of clients."""
    return re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", folder)


def read_checks(results, side):
    """{scenario: [check]} of all that a run has left."""
    found = {}
    for file in sorted(pathlib.Path(results).glob("*/checks.json")):
        name = scenario_of(file.parent.name)
        found[name.removeprefix("server-") if side == "server" else name] = json.loads(file.read_text(encoding="utf-8"))
    return found


def judge(checks, expected):
    """{check id: what is wrong with it}. A run that checked nothing is as wrong as one that failed."""
    if checks is None:
        return {"*": "the scenario did not run"}
    problems = {}
    succeeded = {check["id"] for check in checks if check["status"] == "SUCCESS"}
    for check in checks:
        if check["status"] in ("FAILURE", "WARNING"):
            problems[check["id"]] = f"{check['status']}: {check.get('errorMessage') or check.get('description')}"
    for name in expected:
        if name not in succeeded:
            problems.setdefault(name, "it was not checked")
    for name in succeeded.difference(expected):
        problems.setdefault(name, "it is not in expected.json")
    return problems


def without_gaps(problems, gaps):
    """What is wrong beside the gaps that are known: their checks must fail, or they are no gaps any more."""
    left = {name: why for name, why in problems.items() if name not in gaps}
    for name in gaps:
        if name not in problems:
            left[name] = "it works now: take it out of known_gaps.json"
    return left


def load_expected(text, pinned):
    """expected.json, which is of the versions that are installed and of no other."""
    expected = json.loads(text)
    if set(expected) != set(pinned):
        raise SystemExit(f"expected.json is of {', '.join(expected)}; installed are {', '.join(pinned)}")
    return expected


def load_gaps(text, expected):
    """{(version, side, scenario): {check id: why}}. An entry for what is never run is a mistake."""
    gaps = {}
    for entry in json.loads(text):
        key = entry["suite"], entry["side"], entry["scenario"]
        if entry["scenario"] not in expected.get(entry["suite"], {}).get(entry["side"], {}):
            raise SystemExit(f"known_gaps.json: {' '.join(key)} is not run")
        gaps.setdefault(key, {})[entry["check"]] = entry["why"]
    return gaps


# ---- the legs: each gives (case, problem or None, seconds, known gap or None) ----------------------------------------

class Run:
    def __init__(self, bin_dir):
        self.server, self.client = bin_dir / "conformance_server", bin_dir / "conformance_client"
        pinned = {pinned_version(alias) for alias in SUITES.values()}
        self.expected = load_expected((HERE / "expected.json").read_text(), pinned)
        self.gaps = load_gaps((HERE / "known_gaps.json").read_text(), self.expected)

    def suite(self, version, *words):
        return [node(), MODULES / SUITES[version] / "dist" / "index.js", *words]

    def results(self, name):
        folder = RESULTS / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def verdict(self, version, side, scenario, checks, more=None):
        """(problem, known gap) of one scenario. `more` is what is wrong with it beside its checks."""
        gaps = self.gaps.get((version, side, scenario), {})
        problems = without_gaps(judge(checks, self.expected[version][side][scenario]), gaps)
        if more and not gaps:
            problems["exit"] = more
        text = "; ".join(f"{name}: {why}" for name, why in problems.items())
        return text or None, "; ".join(f"{name}: {why}" for name, why in gaps.items()) or None

    def server_leg(self, version, url):
        """All scenarios of a version, one after another against one server."""
        started = time.monotonic()
        runs = ["--suite active", "--suite pending"] if version == "0.1.16" else [f"--requirements {REVISION}"]
        checks, crashed = {}, []
        for words in runs:
            folder = self.results(f"{version}-server{words.replace('--', '-').replace(' ', '-')}")
            ended = execute(self.suite(version, "server", "--url", url, *words.split(), "-o", folder), SERVER_LIMIT)
            (folder / "stdout.txt").write_text(ended.stdout + ended.stderr)
            checks |= read_checks(folder, "server")
            failed = any(check["status"] == "FAILURE" for each in checks.values() for check in each)
            if ended.status != 0 and not (ended.status == 1 and failed):
                crashed.append(f"{words}: {ended.why()}")
        seconds = (time.monotonic() - started) / max(1, len(checks))  # each: the suite does not say
        for scenario in self.expected[version]["server"]:
            problem, gap = self.verdict(version, "server", scenario, checks.pop(scenario, None))
            yield f"{version}/server/{scenario}", problem, seconds, gap
        for scenario in checks:
            yield f"{version}/server/{scenario}", "it is not in expected.json", seconds, None
        yield f"{version}/server/run", "; ".join(crashed) or None, 0, None

    def client_case(self, version, scenario):
        started = time.monotonic()
        folder = self.results(f"{version}-client-{scenario}")
        # The suite splits the command at blanks and looks at the exit status only sometimes.
        script = folder / "client.sh"
        script.write_text(f"""#!/bin/sh
'{self.client}' "$@"
status=$?
echo $status >'{folder}/status'
exit $status
""")
        script.chmod(0o755)
        words = ["--scenario", scenario, "-o", folder]
        if version != "0.1.16":
            words += ["--spec-version", REVISION]
        ended = execute(self.suite(version, "client", "--command", script, *words), CLIENT_LIMIT)
        (folder / "stdout.txt").write_text(ended.stdout + ended.stderr)
        status = (folder / "status").read_text().strip() if (folder / "status").exists() else "none"
        wrong = [] if status == "0" else [f"exit status of the client: {status}"]
        if ended.status != 0:
            wrong.append(f"the suite: {ended.why()}")
        said = [line for file in folder.glob("*/stderr.txt") for line in file.read_text().splitlines() if line.strip()]
        if wrong and said:
            wrong.append(" | ".join(said[-4:]))
        checks = read_checks(folder, "client").get(scenario)
        problem, gap = self.verdict(version, "client", scenario, checks, "; ".join(wrong))
        return f"{version}/client/{scenario}", problem, time.monotonic() - started, gap

    # ---- what the suite has no scenario for

    def program_cases(self):
        def case(name, problem):
            return f"program/{name}", problem, 0, None

        for program in (self.server, self.client):
            helped, refused = execute([program, "--help"], 10), execute([program, "--no-such-option"], 10)
            yield case(f"{program.name} --help",
                       None if helped.status == 0 and "usage:" in helped.stdout else helped.why())
            yield case(f"{program.name} with an unknown option",
                       None if refused.status == 2 and "usage:" in refused.stderr else refused.why())
        for name, words in (("an unknown option before the URL", ["--bogus", NOWHERE]),
                            ("an option behind the URL", [NOWHERE, "--help"]), ("two URLs", [NOWHERE, NOWHERE]),
                            ("no argument", [])):  # fmt: skip
            refused = execute([self.client, *words], 10)
            yield case(f"conformance_client with {name}",
                       None if refused.status == 2 and "usage:" in refused.stderr else refused.why())
        yield case("conformance_server --stdio", self.stdio_problem())

    def stdio_problem(self):
        """The same server as over HTTP: all that it offers by name, a call, and a question on the way."""
        try:
            with Server(self.server) as server:
                offered = Session(server).offers()
            with StdioSession([self.server, "--stdio"]) as session:
                mine = session.offers()
                simple = session.request("tools/call", {"name": "test_simple_text"})
                asked = session.request("tools/call", {"name": "test_sampling", "arguments": {"prompt": "why"}})
                status = session.end()
        except (KeyError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        question = session.questions[0].get("params", {}) if len(session.questions) == 1 else {}
        wrong = {f"{name}: {mine[name]}, over HTTP {offered[name]}" for name in LISTS if mine[name] != offered[name]}
        wrong |= {f"no {name}" for name in LISTS if not mine[name]}
        if simple["content"] != [{"type": "text", "text": "This is a simple text response for testing."}]:
            wrong.add(str(simple))
        if [message["content"] for message in question.get("messages", [])] != [{"type": "text", "text": "why"}]:
            wrong.add(f"it asked {session.questions}")
        if "because" not in asked["content"][0]["text"]:
            wrong.add(str(asked))
        if status != 0:
            wrong.add(f"exit status {status}")
        return "; ".join(sorted(wrong)) or None

    def ipv6_problem(self, server):
        """The same port at ::1."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(server.at("[::1]"), json.dumps(body).encode(), fields, method="POST")
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                return None if answer.status == 200 else f"status {answer.status}"
        except OSError as error:
            return str(error)

    def names(self):
        """What will run, in this order."""
        for version, sides in self.expected.items():
            yield from (f"{version}/server/{scenario}" for scenario in sides["server"])
            yield f"{version}/server/run"
        for version, sides in self.expected.items():
            yield from (f"{version}/client/{scenario}" for scenario in sides["client"])

    def cases(self, wanted):
        wants = lambda prefix: any(name.startswith(prefix) for name in wanted)
        if any(wants(f"{version}/server/") for version in SUITES):
            with Server(self.server) as server:
                # One version by address, the other by name: both must be served.
                for version, host in zip(SUITES, ("127.0.0.1", "localhost")):
                    if wants(f"{version}/server/"):
                        yield from self.server_leg(version, server.at(host))
                there = has_ipv6()
                yield ("program/conformance_server at ::1", self.ipv6_problem(server) if there else None, 0,
                       None if there else "this machine has no ::1")
                yield "program/conformance_server after SIGTERM", server.stop(), 0, None
        for version, sides in self.expected.items():
            for scenario in sides["client"]:
                if f"{version}/client/{scenario}" in wanted:
                    yield self.client_case(version, scenario)
        yield from self.program_cases()


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def self_test():
    """The judge is judged first: test_run.py."""
    started = time.monotonic()
    suite = unittest.defaultTestLoader.discover(str(HERE), "test_*.py")
    result = unittest.TestResult()
    suite.run(result)
    problems = [text for _, text in result.failures + result.errors]
    if not result.testsRun:
        problems.append("no test of the wrapper ran")
    return "wrapper/self-test", "\n".join(problems) or None, time.monotonic() - started, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", help="only scenarios whose name matches, e.g. '0.1.16/client/*'")
    parser.add_argument("--list", action="store_true", help="print the names of the scenarios and do nothing")
    parser.add_argument("--bin", default=os.environ.get("COMCP_BIN", ROOT / "build" / "asan" / "bin"),
                        help="where conformance_server and conformance_client are")  # fmt: skip
    parser.add_argument("--install", action="store_true", help="install the suite and stop")
    options = parser.parse_args()

    run = Run(pathlib.Path(options.bin).resolve())
    wanted = [name for name in run.names() if not options.only or fnmatch.fnmatch(name, options.only)]
    if not wanted:
        parser.error(f"no scenario matches {options.only}")
    if options.list:
        print("\n".join(wanted))
        return 0
    missing = install()
    if options.install:
        print(missing or "installed")
        return 1 if missing else 0

    counts = {"ok": 0, "FAIL": 0, "skip": 0}

    def line(word, name, seconds, detail=""):
        counts[word] += 1
        detail = " ".join(detail.split())
        print(f"{word:4} {name} {seconds:.2f} s{f': {detail[:1000]}' if detail else ''}", flush=True)

    RESULTS.mkdir(parents=True, exist_ok=True)
    cases = [self_test()]
    absent = [str(program) for program in (run.server, run.client) if not os.access(program, os.X_OK)]
    if absent:
        cases.append(("programs", f"not there, build them first (or give --bin): {' '.join(absent)}", 0, None))
    elif missing:
        line("FAIL" if IN_CI else "skip", "suite", 0, missing)
    else:
        cases = itertools.chain(cases, run.cases(set(wanted)))
    try:
        for name, problem, seconds, gap in cases:
            line("FAIL" if problem else "skip" if gap else "ok", name, seconds, problem or gap or "")
    except RuntimeError as error:
        line("FAIL", "run", 0, str(error))
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    sys.exit(main())
