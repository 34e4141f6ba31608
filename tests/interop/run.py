#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Interop tests: comcp against published MCP clients, servers and tools. See README.md.

One line per case (ok, FAIL or skip, name, seconds), then `N passed, N failed, N skipped`. Exit status 1 on a failure.
"""

import argparse
import contextlib
import fcntl
import fnmatch
import hashlib
import itertools
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv

from http_tap import HttpTap, Served, free_port

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "interop"
NODE_DIR = WORK / "node"
MODULES = NODE_DIR / "node_modules"
PYTHON = WORK / "venv" / "bin" / "python"
GO_PEER = WORK / "go-peer"
TIMEOUT = 60
IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

# What the client scripts print, in this order: a script that ends early has not passed.
CLIENT_CHECKS = ("initialize ping list echo add fail image mixed progress cancel bad_arguments unknown_tool ask_roots "
                 "ask_sampling ask_elicit elicit_refused ask_url roots_changed resources templates read missing_resource "
                 "subscribe prompts prompt bad_prompt complete logging list_changed close").split()
HTTP_CLIENT_CHECKS = [*CLIENT_CHECKS[:-1], "resume", "close", "expired"]


# ---- installing ------------------------------------------------------------------------------------------------------

def digest(*paths, extra=""):
    value = hashlib.sha256(f"{platform.platform()} {extra}".encode())
    for path in paths:
        value.update(path.read_bytes())
    return value.hexdigest()


def run_quietly(command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        tail = [line for line in result.stdout.strip().splitlines() if line.strip()][-3:]
        raise RuntimeError(f"{' '.join(map(str, command[:3]))}: {' | '.join(tail)}")


def install(name, stamp_value, action):
    """None, or why it is not there. Nothing is done when the stamp says that it has been."""
    stamp = WORK / f"{name}.stamp"
    if stamp.exists() and stamp.read_text() == stamp_value:
        return None
    started = time.monotonic()
    stamp.unlink(missing_ok=True)
    try:
        action()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return str(error)
    stamp.write_text(stamp_value)
    print(f"installed {name} peers in {time.monotonic() - started:.0f} s", flush=True)
    return None


def install_npm():
    npm = shutil.which("npm")
    if not npm:
        raise RuntimeError("there is no npm on the PATH")
    NODE_DIR.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / "node" / name, NODE_DIR / name)
    run_quietly([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=NODE_DIR, timeout=900)


def install_python():
    shutil.rmtree(WORK / "venv", ignore_errors=True)
    venv.create(WORK / "venv", with_pip=True, symlinks=True)
    run_quietly([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
                 HERE / "python" / "requirements.txt"], timeout=900)


def install_go():
    go = shutil.which("go")
    if not go:
        raise RuntimeError("there is no go on the PATH")
    run_quietly([go, "build", "-p", "2", "-trimpath", "-mod=readonly", "-o", GO_PEER, "."], cwd=HERE / "go", timeout=900)


def node():
    """Node 24 from the npm package for this machine; the install script of the package `node` would only copy it."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    ours = MODULES / f"node-linux-{machine}" / "bin" / "node"
    return str(ours) if ours.exists() else shutil.which("node") or "node"


def install_all(wanted):
    """{kind: why it is not there or None}"""
    WORK.mkdir(parents=True, exist_ok=True)
    steps = {
        "npm": lambda: install("npm", digest(HERE / "node/package.json", HERE / "node/package-lock.json"), install_npm),
        "python": lambda: install("python", digest(HERE / "python/requirements.txt", extra=sys.version), install_python),
        "go": lambda: install("go", digest(*sorted((HERE / "go").glob("*"))), install_go),
    }
    with open(WORK / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = {kind: steps[kind]() for kind in steps if kind in wanted}
        if "npm" in wanted and not missing["npm"]:
            for script in (HERE / "node").glob("*.mjs"):  # beside node_modules, where imports are looked up
                shutil.copy(script, NODE_DIR / script.name)
    return missing


# ---- running one peer ------------------------------------------------------------------------------------------------

class Outcome:
    def __init__(self, status, stdout, stderr):
        self.status, self.stdout, self.stderr = status, stdout, stderr

    def why(self):
        tail = [line for line in self.stderr.strip().splitlines() if line.strip()][-4:]
        return f"{self.status}; {' | '.join(tail)}" if tail else self.status


def execute(command, env=None, cwd=None):
    """Runs a command in its own process group, which does not outlive the time limit."""
    try:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     env=dict(os.environ, **(env or {})), cwd=cwd, start_new_session=True)
            try:
                status = f"exit status {child.wait(TIMEOUT)}"
            except subprocess.TimeoutExpired:
                status = f"no end within {TIMEOUT} s"
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)  # what it has left behind, too
            child.wait()
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            return Outcome(status, *texts)
    except OSError as error:
        return Outcome(f"cannot be started: {error}", "", "")


def checks_of(outcome, expected):
    """(check, problem or None, detail) for every expected check, from the JSON lines of a client."""
    found = {}
    for line in outcome.stdout.splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and "check" in value:
                found.setdefault(value["check"], value)
    results = []
    for check in expected:
        value = found.pop(check, None)
        if value is None:
            results.append((check, f"not reached: {outcome.why()}", ""))
        else:
            detail = str(value.get("detail", ""))
            results.append((check, None if value.get("ok") is True else detail or "failed", detail))
    results += [(check, "unexpected check", "") for check in found]
    if outcome.status != "exit status 0" and not any(problem for _, problem, _ in results):
        results.append(("exit", outcome.why(), ""))
    return results


# ---- groups of cases -------------------------------------------------------------------------------------------------

class Group:
    """Cases that come from one run of one peer. `names` are known beforehand, for --list and for a skip."""

    def __init__(self, peer, needs, names, run, under_test=None):
        self.peer, self.needs, self.names, self.run, self.under_test = peer, needs, names, run, under_test


def clients(era, lenient=False):
    """{name: (needs, command)}. A command is a function, since the peers may not be installed yet."""
    flags = ["--era", era] + (["--lenient"] if lenient else [])
    go_flags = ["-era", era] + (["-lenient"] if lenient else [])
    found = {
        "ts-v1-client": (["npm"], lambda: [node(), NODE_DIR / "client.mjs", "v1", *flags, "--"]),
        "ts-v2-client": (["npm"], lambda: [node(), NODE_DIR / "client.mjs", "v2", *flags, "--"]),
        "python-client": (["python"], lambda: [PYTHON, HERE / "python" / "client.py", *flags, "--"]),
        "go-client": (["go"], lambda: [GO_PEER, "client", *go_flags, "--"]),
    }
    if era != "legacy":
        del found["ts-v1-client"]  # v1 knows no other era
    return found


def go_client_at(revision, lenient):
    """(needs, command) of the one client that speaks any revision it is told."""
    more = ["-lenient"] if lenient else []
    return ["go"], lambda: [GO_PEER, "client", *more, "-version", revision, "--"]


def client_groups(server, under_test, era, lenient=False, suffix=""):
    """Published clients against one server command."""
    for name, (needs, command) in clients(era, lenient).items():
        yield Group(name + suffix, needs, CLIENT_CHECKS,
                    lambda command=command: checks_of(execute([*command(), *server()]), CLIENT_CHECKS), under_test)


def inspector_groups(server, under_test, suffix="", prefix="", most=4):
    """The Inspector against a server; `server` gives a context of the words that name it. A call takes a second."""
    names = ["tools-call-echo", "tools-list", "tools-call-add", "tools-call-fail"][:most]
    # The npm alias keeps the old one beside the new one.
    inspectors = {
        "inspector-0.15.0": MODULES / "inspector-legacy" / "cli" / "build" / "cli.js",
        "inspector-2.12.0": MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js",
    }
    for name, script in inspectors.items():
        def run(script=script, name=name):
            with tempfile.TemporaryDirectory(prefix="interop-") as home, server() as words_for_it:
                env = {"HOME": home, "MCP_CATALOG_PATH": str(pathlib.Path(home) / "catalog.json"),
                       "PATH": f"{pathlib.Path(node()).parent}:{os.environ['PATH']}"}

                def call(*words):
                    return execute([node(), script, "--cli", *words_for_it, *words], env=env, cwd=home)

                def judge(outcome, test):
                    try:
                        value = json.loads(outcome.stdout)
                    except ValueError:
                        return f"no JSON: {outcome.why()} {outcome.stdout[:200]!r}"
                    return None if outcome.status == "exit status 0" and test(value) else f"{outcome.why()}: {value}"

                def echoed(value):
                    return [block["text"] for block in value["content"]] == ["hello there"]

                def summed(value):
                    return value["structuredContent"] == {"sum": 5}

                words = ["--method", "tools/call", "--tool-name"]
                yield ("tools-call-echo", judge(call(*words, "echo", "--tool-arg", "text=hello there"), echoed), "")
                listing = call("--method", "tools/list")
                yield ("tools-list", judge(listing, lambda v: "echo" in [t["name"] for t in v["tools"]]), "")
                yield ("tools-call-add", judge(call(*words, "add", "--tool-arg", "a=2", "--tool-arg", "b=3"), summed), "")
                failing = call(*words, "fail")
                said = "it failed" in failing.stdout + failing.stderr
                if name == "inspector-2.12.0":  # it tells a tool error by its exit status
                    said = said and failing.status == "exit status 5"
                yield ("tools-call-fail", None if said else f"{failing.why()} {failing.stdout[:200]!r}", "")
        yield Group(prefix + name + suffix, ["npm"], names, lambda run=run: list(itertools.islice(run(), most)), under_test)


PINNED_SDK = ("server-ts-v1", "server-ts-v2", "server-python", "server-go")
OLD_SDK = ("server-ts-v1", "server-go")  # those of them that serve the HTTP+SSE of 2024-11-05


# The published servers, and ours on the four SDKs: name -> (needs, command, table, more arguments).
def servers():
    published = MODULES / "@modelcontextprotocol"
    found = {f"server-{name}": (["npm"], lambda name=name: [node(), published / f"server-{name}" / "dist" / "index.js"],
                                f"server-{name}")
             for name in ("everything", "filesystem", "memory", "sequential-thinking")}
    found["server-python"] = (["python"], lambda: [PYTHON, HERE / "python" / "server.py"], "fixed")
    found["server-go"] = (["go"], lambda: [GO_PEER, "server"], "fixed")
    for version in ("v1", "v2"):
        found[f"server-ts-{version}"] = (["npm"], lambda version=version: [node(), NODE_DIR / f"server_{version}.mjs"], "fixed")
        found[f"server-ts-{version}@more"] = (["npm"], lambda version=version: [node(), NODE_DIR / f"server_{version}.mjs",
                                                                                "--more"], "more")
    found["server-python@more"] = (["python"], lambda: [PYTHON, HERE / "python" / "more_server.py"], "more")
    return found


def load_table(name, server, over="stdio"):
    table = json.loads((HERE / "tables" / f"{name}.json").read_text(encoding="utf-8"))
    table["calls"] = [call for call in table["calls"]
                      if server in call.pop("only", [server]) and over == call.pop("over", over)]
    return table


def fill(value, directory):
    if isinstance(value, str):
        return value.replace("${DIR}", str(directory)).replace("${LONG}", "x" * 300000)
    if isinstance(value, list):
        return [fill(item, directory) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, directory) for key, item in value.items()}
    return value


def wire_problem(lines, table):
    """What is wrong with the messages that the client wrote, or None."""
    sent, ids = [], set()
    calls_cancelled = set()
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            return f"no JSON: {line[:200]!r}"
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return f"no JSON-RPC 2.0 object: {line[:200]!r}"
        sent.append(message)
        if message.get("method") == "initialize":
            ids.clear()  # another session
        if "method" in message and "id" in message:
            if message["id"] in ids or message["id"] is None:
                return f"request id {message['id']!r} is used twice or null"
            ids.add(message["id"])
        if message.get("method") == "notifications/cancelled":
            calls_cancelled.add(message["params"].get("requestId"))
    if not sent or sent[0].get("method") not in ("initialize", "server/discover"):
        return f"the first message is {sent[:1]}"
    for call in table["calls"]:
        if call.get("cancel_after_progress"):
            asked = [m["id"] for m in sent if m.get("method") == "tools/call" and m["params"]["name"] == call["name"]
                     and m["params"].get("arguments") == call["arguments"]]
            if not asked or asked[-1] not in calls_cancelled:
                return f"no notifications/cancelled for the call of {call['check']}"
    return None


def server_groups(client, under_test, era, names=None, suffix=""):
    """One table client against every published server."""
    for server, (needs, command, table_name) in servers().items():
        if era != "legacy" and server not in ("server-ts-v2", "server-python", "server-go"):
            continue  # the others speak no newer era
        table = load_table(table_name, server)
        names = ["connect", "list", *(call["check"] for call in table["calls"]), "close", "wire"]
        if "after" in table:
            names.append("after")

        def run(command=command, table=table, names=names, server=server):
            with tempfile.TemporaryDirectory(prefix="interop-") as scratch:
                base = pathlib.Path(scratch).resolve()
                directory = base / "dir"
                directory.mkdir()
                for name, text in table.get("files", {}).items():
                    path = directory / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8", newline="")
                    path.chmod(0o644)
                filled = fill({k: v for k, v in table.items() if k not in ("files", "after")}, directory)
                filled["era"] = era
                (base / "table.json").write_text(json.dumps(filled), encoding="utf-8")
                log = base / "wire.log"
                log.touch()
                started = [str(word) for word in command()]
                if server == "server-filesystem":
                    started.append(str(directory))
                tap = [sys.executable, HERE / "tap.py", log, "--"]
                outcome = execute([*client(), base / "table.json", "--", *tap, *started])
                after = "after" in table
                results = checks_of(outcome, names[:-2] if after else names[:-1])
                sent = [line[2:] for line in log.read_bytes().splitlines() if line.startswith(b"> ")]
                results.append(("wire", wire_problem(sent, filled), ""))
                if after:
                    wrong = [f"{name}: {got!r}" for name, want in table["after"].items()
                             if (got := read_if_there(directory / name)) != want]
                    results.append(("after", "; ".join(wrong) or None, ""))
                return results
        yield Group(server + suffix, needs, names, run, under_test)


def http_parser_groups(bin_dir):
    """What our HTTP parsers accept, against Node's own parser."""
    program, checks = bin_dir / "http_parse", ("requests", "responses", "bounds")
    yield Group("node-http", ["npm"], checks,
                lambda: checks_of(execute([node(), NODE_DIR / "http_differential.mjs", program]), checks), program)


def wire_groups(bin_dir):
    """What the codec writes, against the official schemas; and docs/revisions.md against the codec."""
    program = bin_dir / "wire_samples"
    yield Group("wire", ["python"], ("schemas", "page"),
                lambda: checks_of(execute([PYTHON, HERE / "wire_samples.py", program]), ("schemas", "page")), program)


def read_if_there(path):
    return path.read_text(encoding="utf-8") if path.exists() else None


# ---- over HTTP -------------------------------------------------------------------------------------------------------

# The event with step 2 of a call that has 7 steps, and step 1 of one that has 9.
STEP_2_OF_7 = rb'(?m)^data:(?=[^\n]*"progress": ?2[.,}])(?=[^\n]*"total": ?7[.,}])'
STEP_1_OF_9 = rb'(?m)^data:(?=[^\n]*"progress": ?1[.,}])(?=[^\n]*"total": ?9[.,}])'


def http_servers():
    """{name: (needs, how to start it)}: the published servers that speak HTTP."""
    found = {}
    for name, (needs, command, _) in servers().items():
        if name == "server-everything":
            def start(env, command=command):
                port = free_port()
                return Served([*command(), "streamableHttp"], {"PORT": str(port), **env}, port)
        elif name.removesuffix("@more") in PINNED_SDK:
            option = "-http" if name == "server-go" else "--http"
            start = lambda env, command=command, option=option: Served([*command(), option, "0"], env)
        else:
            continue
        found[name] = (needs, start)
    return found


class Restarted:
    """A server that is killed in the middle of a call, and started again."""

    def __init__(self, start):
        self.start, self.server, self.starting = start, start(), None

    def arm(self, tap):
        self.tap = tap
        tap.once(STEP_1_OF_9, self.kill)

    def kill(self):
        self.tap.lead_to(None)
        self.server.kill()
        self.starting = threading.Thread(target=self.restart)
        self.starting.start()

    def restart(self):
        self.server = self.start()
        self.tap.lead_to(self.server.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.starting:
            self.starting.join()
        self.server.kill()


def served_words(start):
    """How the Inspector is told of a server that `start` starts."""
    @contextlib.contextmanager
    def words():
        with start({}) as process:
            yield [f"http://127.0.0.1:{process.port}/mcp", "--transport", "http"]
    return words


def kept(name, tap, results):
    """The same results; where something is wrong, all that went over HTTP is kept in a file."""
    path = WORK / "failed" / f"{name.replace(':', '-')}.http"
    path.unlink(missing_ok=True)
    if any(problem for _, problem, _ in results):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(tap.dump())
    return [(check, problem and f"{problem} (see {path})", detail) for check, problem, detail in results]


def http_client_groups(start, under_test, lenient=False, suffix="", needs=()):
    """Published clients against one server that `start` starts."""
    runs = {name: (more, command, HTTP_CLIENT_CHECKS) for name, (more, command) in clients("legacy", lenient).items()}
    for revision in ("2025-03-26", "2025-06-18"):
        runs[f"go-client@{revision}"] = (*go_client_at(revision, lenient), HTTP_CLIENT_CHECKS)
    for sdk in ("v1", "v2"):
        runs[f"ts-{sdk}-client@killed"] = (["npm"], lambda sdk=sdk: [node(), NODE_DIR / "client.mjs", sdk, "--killed",
                                                                     "--"], ["initialize", "killed", "lost", "again"])
    for name, flag in (("python-client", "--killed"), ("go-client", "-killed")):
        more, command = clients("legacy")[name]
        runs[f"{name}@killed"] = (more, lambda command=command, flag=flag: [*command()[:-1], flag, "--"],
                                  ["initialize", "killed", "lost", "again"])
    for name, (more, command, checks) in runs.items():
        full_name = f"http:{name}{suffix}"

        def run(command=command, checks=checks, full_name=full_name):
            with Restarted(lambda: start({})) as server, HttpTap(server.server.port) as tap:
                server.arm(tap)
                tap.once(STEP_2_OF_7, lambda: True)
                return kept(full_name, tap, checks_of(execute([*command(), tap.url]), checks))
        yield Group(full_name, sorted({*more, *needs}), checks, run, under_test)


def http_wire_problem(tap, table):
    """What is wrong with the requests that the client wrote, or None."""
    for number, (method, fields, body) in enumerate(tap.requests):
        accept = fields.get("accept", "")
        begins = b'"initialize"' in body
        if method not in ("POST", "GET", "DELETE"):
            return f"request {number}: {method} {body[:200]!r}"
        if method == "POST" and fields.get("content-type", "").partition(";")[0] != "application/json":
            return f"POST with Content-Type {fields.get('content-type')}"
        if method == "POST" and not ("application/json" in accept and "text/event-stream" in accept):
            return f"POST with Accept {accept}"
        if method == "GET" and "text/event-stream" not in accept:
            return f"GET with Accept {accept}"
        if begins == ("mcp-session-id" in fields):
            return f"request {number} ({body[:60]!r}) has session {fields.get('mcp-session-id')}"
        if not begins and fields.get("mcp-protocol-version") != "2025-11-25":
            return f"request {number} ({body[:60]!r}) has version {fields.get('mcp-protocol-version')}"
    if "DELETE" not in [method for method, _, _ in tap.requests]:
        return "the session was not deleted"
    return wire_problem([body for method, _, body in tap.requests if method == "POST"], table)


def end_session(server, tap):
    """Somebody else, the server for example, ends the session that the client has."""
    fields = {"Mcp-Session-Id": tap.session(), "MCP-Protocol-Version": "2025-11-25"}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/mcp", method="DELETE", headers=fields)
    urllib.request.urlopen(request, timeout=10).close()


def cut(tap, server):
    """Cuts the connection. server-everything sends again what there is and nothing that comes later, so whoever comes
    back to it has to wait until the call is over."""
    if server == "server-everything":
        upstream = tap.upstream
        tap.lead_to(None)
        threading.Timer(0.5, tap.lead_to, [upstream]).start()
    return True


def http_server_groups(client, under_test, suffix=""):
    """One table client against every published server that speaks HTTP."""
    for server, (needs, start) in http_servers().items():
        table = load_table(servers()[server][2], server, "http")
        names = ["connect", "list", *(call["check"] for call in table["calls"]), "close", "wire"]
        full_name = f"http:{server}{suffix}"

        def run(start=start, table=table, names=names, full_name=full_name, server=server):
            filled = fill({**table, "era": "legacy"}, "")
            with start(table.get("env", {})) as process, HttpTap(process.port) as tap, \
                    tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                tap.once(STEP_2_OF_7, lambda: cut(tap, server))
                tap.once(rb'my session ends now"', lambda: end_session(process, tap))
                json.dump(filled, file)
                file.flush()
                results = checks_of(execute([*client(), file.name, tap.url]), names[:-1])
                results.append(("wire", http_wire_problem(tap, filled), ""))
                return kept(full_name, tap, results)
        yield Group(full_name, needs, names, run, under_test)

        table = load_table("killed", server, "http")
        if not table["calls"]:
            continue
        counts = server != "server-everything"  # it has no tool that does
        names = ["connect", "list", *(call["check"] for call in table["calls"]), "close", *(["runs"] if counts else [])]
        full_name = f"http:{server}@killed{suffix}"

        def run_killed(start=start, table=table, names=names, full_name=full_name, counts=counts):
            with tempfile.TemporaryDirectory(prefix="interop-") as scratch:
                path, runs = pathlib.Path(scratch) / "table.json", pathlib.Path(scratch) / "runs"
                path.write_text(json.dumps({**table, "era": "legacy"}))
                with Restarted(lambda: start({"INTEROP_RUNS": str(runs)})) as process, \
                        HttpTap(process.server.port) as tap:
                    process.arm(tap)
                    results = checks_of(execute([*client(), path, tap.url]), [name for name in names if name != "runs"])
                    if counts:
                        ran = read_if_there(runs)
                        results.append(("runs", None if ran == "slow 9\n" else f"it has run: {ran!r}", ""))
                    return kept(full_name, tap, results)
        yield Group(full_name, needs, names, run_killed, under_test)


# ---- the second tool set: the servers with it are among the others ---------------------------------------------------

MORE_CHECKS = "initialize list ask_tools ask_url url_first ask_choices choices_unfit grow close".split()


def more_client_groups(stdio, start, under_test, suffix="", needs=()):
    """Published clients against one server with the second tool set, over stdio and HTTP; the one on Go has no checks."""
    for name, (more, command) in clients("legacy").items():
        if name == "go-client":
            continue
        command = lambda command=command: [*command()[:-1], "--more", "--"]
        needed = sorted({*more, *needs})
        yield Group(f"{name}@more{suffix}", needed, MORE_CHECKS,
                    lambda command=command: checks_of(execute([*command(), *stdio()]), MORE_CHECKS), under_test)
        full_name = f"http:{name}@more{suffix}"

        def run(command=command, full_name=full_name):
            with start({}) as server, HttpTap(server.port) as tap:
                return kept(full_name, tap, checks_of(execute([*command(), tap.url]), MORE_CHECKS))
        yield Group(full_name, needed, MORE_CHECKS, run, under_test)


# ---- over the HTTP+SSE of 2024-11-05 ---------------------------------------------------------------------------------

def old_url(tap):
    return tap.url.replace("/mcp", "/sse")


def old_client_groups(start, under_test, lenient=False, suffix="", needs=()):
    """Published clients against one server that `start` starts."""
    found = {**clients("legacy", lenient), "go-client@2024-11-05": go_client_at("2024-11-05", lenient)}
    for name, (more, command) in found.items():
        full_name = f"sse:{name}{suffix}"

        def run(command=command, full_name=full_name):
            with start({}) as server, HttpTap(server.port) as tap:
                return kept(full_name, tap, checks_of(execute([*command(), old_url(tap)]), CLIENT_CHECKS))
        yield Group(full_name, sorted({*more, *needs}), CLIENT_CHECKS, run, under_test)


def old_wire_problem(tap, table, falls_back):
    """What is wrong with the requests that the client wrote, or None."""
    requests = list(tap.requests)
    if falls_back and [method for method, _, _ in requests[:2]] != ["POST", "GET"]:
        return f"it began with {[method for method, _, _ in requests[:2]]}"
    if falls_back and b'"initialize"' not in requests.pop(0)[2]:
        return "the first POST was no initialize"
    if [method for method, _, _ in requests if method != "POST"] != ["GET"] or requests[0][0] != "GET":
        return f"methods: {[method for method, _, _ in requests]}"
    if requests[0][1].get("accept") != "text/event-stream":
        return f"GET with Accept {requests[0][1].get('accept')}"
    for number, (_, fields, body) in enumerate(requests[1:]):
        if fields.get("content-type") != "application/json":
            return f"POST with Content-Type {fields.get('content-type')}"
        if "mcp-session-id" in fields:
            return f"request {number} ({body[:60]!r}) has a session in a field"
        # 2025-06-18 and newer repeat the revision, also here.
        if fields.get("mcp-protocol-version") != (None if b'"initialize"' in body else "2025-11-25"):
            return f"request {number} ({body[:60]!r}) has version {fields.get('mcp-protocol-version')}"
    return wire_problem([body for _, _, body in requests[1:]], table)


def old_server_groups(client, under_test, suffix=""):
    """One table client against the published servers that speak it, told so or falling back."""
    command = servers()["server-everything"][1]

    def everything(env):
        port = free_port()
        return Served([*command(), "sse"], {"PORT": str(port), **env}, port)

    starts = {"server-everything": everything}
    starts |= {server: http_servers()[server][1] for server in OLD_SDK}
    for server, start in starts.items():
        table = load_table(servers()[server][2], server, "sse")
        names = ["connect", "list", *(call["check"] for call in table["calls"]), "close", "wire"]
        for way, flags in (("", ["--sse"]), ("@fallback", [])):
            full_name = f"sse:{server}{way}{suffix}"

            def run(start=start, table=table, names=names, full_name=full_name, flags=flags):
                filled = fill({**table, "era": "legacy"}, "")
                with start(table.get("env", {})) as process, HttpTap(process.port) as tap, \
                        tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                    json.dump(filled, file)
                    file.flush()
                    results = checks_of(execute([*client(), file.name, *flags, old_url(tap)]), names[:-1])
                    results.append(("wire", old_wire_problem(tap, filled, not flags), ""))
                    return kept(full_name, tap, results)
            yield Group(full_name, servers()[server][0], names, run, under_test)


# ---- known gaps ------------------------------------------------------------------------------------------------------

def pinned_versions():
    """{peer: version} from the lock files, so that a gap says for which version it was seen."""
    npm = json.loads((HERE / "node" / "package-lock.json").read_text())["packages"]
    version = lambda name: npm[f"node_modules/{name}"]["version"]
    pins = dict(line.split("==") for line in (HERE / "python" / "requirements.txt").read_text().split() if "==" in line)
    go = (HERE / "go" / "go.mod").read_text().split("github.com/modelcontextprotocol/go-sdk v")[1].split()[0]
    found = {"ts-v1-client": version("@modelcontextprotocol/sdk"), "server-ts-v1": version("@modelcontextprotocol/sdk"),
             "ts-v2-client": version("@modelcontextprotocol/client"), "server-ts-v2": version("@modelcontextprotocol/server"),
             "inspector-0.15.0": version("inspector-legacy"), "inspector-2.12.0": version("@modelcontextprotocol/inspector"),
             "python-client": pins["mcp"], "server-python": pins["mcp"], "go-client": go, "server-go": go}
    for name in ("everything", "filesystem", "memory", "sequential-thinking"):
        found[f"server-{name}"] = version(f"@modelcontextprotocol/server-{name}")
    return found


def load_gaps(options):
    every = [argparse.Namespace(bin=options.bin, self_check=check, era="all") for check in (False, True)]
    names = {f"{group.peer}/{name}" for each in every for group in all_groups(each) for name in group.names}
    gaps = {}
    for entry in json.loads((HERE / "known_gaps.json").read_text()):
        have = pinned_versions().get(entry["peer"].removeprefix("http:").removeprefix("sse:").split("@")[0])
        if have != entry["version"]:
            sys.exit(f"known_gaps.json: {entry['peer']} is {have} now, look again at {entry['check']} of {entry['version']}")
        name = f"{entry['peer']}/{entry['check']}"
        if name not in names:
            sys.exit(f"known_gaps.json: there is no case {name}")
        gaps[name] = entry["shown_by"]
    return gaps


# ---- the run ---------------------------------------------------------------------------------------------------------

def all_groups(options):
    bin_dir = pathlib.Path(options.bin).resolve()
    if options.self_check:
        # Everything but comcp: the scripts against each other, and the tables against their servers.
        table_client = lambda: [sys.executable, HERE / "reference_client.py"]
        yield from server_groups(table_client, None, "legacy")
        yield from http_server_groups(table_client, None)
        for name in ("server-ts-v1", "server-ts-v2", "server-python"):
            needs, command, _ = servers()[f"{name}@more"]
            yield from more_client_groups(command, http_servers()[f"{name}@more"][1], None, f"@{name}", needs)
        for name in PINNED_SDK:
            yield from http_client_groups(http_servers()[name][1], None, True, f"@{name}", http_servers()[name][0])
        for name in PINNED_SDK:
            needs, command, _ = servers()[name]
            for era in ("legacy", "auto"):
                for group in client_groups(command, None, era, lenient=True, suffix=f"@{era}@{name}"):
                    group.needs = sorted({*group.needs, *needs})
                    yield group
        for name in OLD_SDK:
            yield from old_client_groups(http_servers()[name][1], None, True, f"@{name}", http_servers()[name][0])
        stdio_v1, http_v1 = servers()["server-ts-v1"][1], http_servers()["server-ts-v1"][1]
        yield from inspector_groups(lambda: contextlib.nullcontext(stdio_v1()), None, "@server-ts-v1")
        yield from inspector_groups(served_words(http_v1), None, "@server-ts-v1", "http:", 1)
        return
    server, client = bin_dir / "interop_server", bin_dir / "interop_client"
    for era in ("legacy", "auto") if options.era == "all" else (options.era,):
        suffix = "" if era == "legacy" else f"@{era}"
        yield from client_groups(lambda: [server], server, era, suffix=suffix)
        yield from server_groups(lambda: [client], client, era, suffix=suffix)
    yield from inspector_groups(lambda: contextlib.nullcontext([server]), server)
    yield from http_parser_groups(bin_dir)
    yield from wire_groups(bin_dir)
    start = lambda env: Served([server, "--http", "0"], env)
    yield from http_client_groups(start, server)
    yield from inspector_groups(served_words(start), server, prefix="http:", most=1)
    yield from http_server_groups(lambda: [client], client)
    yield from more_client_groups(lambda: [server, "--more"], lambda env: Served([server, "--more", "--http", "0"], env), server)
    yield from old_client_groups(start, server)
    yield from old_server_groups(lambda: [client], client)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", help="only cases whose name matches, e.g. 'go-client/*'")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and do nothing")
    parser.add_argument("--bin", default=ROOT / "build" / "asan" / "bin", help="where interop_server and interop_client are")
    parser.add_argument("--era", choices=["legacy", "auto", "all"], default="legacy",
                        help="legacy: 2025-11-25; auto: peers negotiate, and so does interop_client")
    parser.add_argument("--install", action="store_true", help="install the peers and stop")
    parser.add_argument("--self-check", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()

    def selected(group):
        names = [f"{group.peer}/{name}" for name in group.names]
        return [name for name in names if not options.only or fnmatch.fnmatch(name, options.only)]

    groups = [group for group in all_groups(options) if selected(group)]
    if options.list:
        print("\n".join(name for group in groups for name in selected(group)))
        return 0

    gaps = load_gaps(options)
    missing = install_all({kind for group in groups for kind in group.needs})
    if options.install:
        for kind, why in missing.items():
            print(f"{kind}: {why or 'installed'}")
        return 1 if any(missing.values()) else 0

    counts = {"ok": 0, "FAIL": 0, "skip": 0}

    def line(word, name, seconds, detail=""):
        counts[word] += 1
        detail = " ".join(detail.split())
        print(f"{word:4} {name} {seconds:.2f} s{f': {detail[:600]}' if detail else ''}", flush=True)

    for group in groups:
        why = [f"no {kind} peers: {missing[kind]}" for kind in group.needs if missing[kind]]
        if why:
            must = IN_CI and any(missing[kind] for kind in group.needs if kind != "go")
            for name in selected(group):
                line("FAIL" if must else "skip", name, 0, "; ".join(why))
            continue
        if group.under_test and not os.access(group.under_test, os.X_OK):
            for name in selected(group):
                line("FAIL", name, 0, f"{group.under_test} is not there: build it first (or give --bin)")
            continue
        started = time.monotonic()
        try:
            results = group.run()
        except Exception as error:  # a defect of the harness must not end the run
            results = [(name, f"{type(error).__name__}: {error}", "") for name in group.names]
        # The time of a case is that of its run: the checks of one connection are not timed one by one.
        seconds = time.monotonic() - started
        wanted = selected(group)
        for check, problem, detail in results:
            name = f"{group.peer}/{check}"
            if name not in wanted and (check in group.names or not problem):
                continue
            if name in gaps:
                if problem:
                    line("skip", name, seconds, f"known gap: {gaps[name]}")
                else:
                    line("FAIL", name, seconds, "works now: take it out of known_gaps.json")
            elif problem:
                line("FAIL", name, seconds, problem)
            else:
                line("ok", name, seconds)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not sum(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
