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
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "interop"
NODE_DIR = WORK / "node"
MODULES = NODE_DIR / "node_modules"
PYTHON = WORK / "venv" / "bin" / "python"
GO_PEER = WORK / "go-peer"
TIMEOUT = 60
IN_CI = os.environ.get("CI") == "true"

# What the client scripts print, in this order: a script that ends early has not passed.
CLIENT_CHECKS = ("initialize ping list echo add fail image mixed progress cancel bad_arguments unknown_tool ask_roots "
                 "ask_sampling ask_elicit close").split()


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


def client_groups(server, under_test, era, lenient=False, suffix=""):
    """Published clients against one server command (a function: the peers are not installed yet)."""
    flags = ["--era", era] + (["--lenient"] if lenient else [])
    go_flags = ["-era", era] + (["-lenient"] if lenient else [])
    commands = {
        "ts-v1-client": (["npm"], lambda: [node(), NODE_DIR / "client.mjs", "v1", *flags, "--"]),
        "ts-v2-client": (["npm"], lambda: [node(), NODE_DIR / "client.mjs", "v2", *flags, "--"]),
        "python-client": (["python"], lambda: [PYTHON, HERE / "python" / "client.py", *flags, "--"]),
        "go-client": (["go"], lambda: [GO_PEER, "client", *go_flags, "--"]),
    }
    for name, (needs, command) in commands.items():
        if name == "ts-v1-client" and era != "legacy":
            continue  # v1 knows no other era
        yield Group(name + suffix, needs, CLIENT_CHECKS,
                    lambda command=command: checks_of(execute([*command(), *server()]), CLIENT_CHECKS), under_test)


def inspector_groups(server, under_test, suffix=""):
    # The npm alias keeps the old one beside the new one.
    inspectors = {
        "inspector-0.15.0": MODULES / "inspector-legacy" / "cli" / "build" / "cli.js",
        "inspector-2.12.0": MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js",
    }
    for name, script in inspectors.items():
        def run(script=script, name=name):
            with tempfile.TemporaryDirectory(prefix="interop-") as home:
                env = {"HOME": home, "MCP_CATALOG_PATH": str(pathlib.Path(home) / "catalog.json"),
                       "PATH": f"{pathlib.Path(node()).parent}:{os.environ['PATH']}"}

                def call(*words):
                    return execute([node(), script, "--cli", *server(), *words], env=env, cwd=home)

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

                listing = call("--method", "tools/list")
                yield ("tools-list", judge(listing, lambda v: "echo" in [t["name"] for t in v["tools"]]), "")
                words = ["--method", "tools/call", "--tool-name"]
                yield ("tools-call-echo", judge(call(*words, "echo", "--tool-arg", "text=hello there"), echoed), "")
                yield ("tools-call-add", judge(call(*words, "add", "--tool-arg", "a=2", "--tool-arg", "b=3"), summed), "")
                failing = call(*words, "fail")
                said = "it failed" in failing.stdout + failing.stderr
                if name == "inspector-2.12.0":  # it tells a tool error by its exit status
                    said = said and failing.status == "exit status 5"
                yield ("tools-call-fail", None if said else f"{failing.why()} {failing.stdout[:200]!r}", "")
        yield Group(name + suffix, ["npm"], ["tools-list", "tools-call-echo", "tools-call-add", "tools-call-fail"],
                    lambda run=run: list(run()), under_test)


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
    return found


def load_table(name, server):
    table = json.loads((HERE / "tables" / f"{name}.json").read_text(encoding="utf-8"))
    table["calls"] = [call for call in table["calls"] if server in call.pop("only", [server])]
    return table


def fill(value, directory):
    if isinstance(value, str):
        return value.replace("${DIR}", str(directory)).replace("${LONG}", "x" * 300000)
    if isinstance(value, list):
        return [fill(item, directory) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, directory) for key, item in value.items()}
    return value


def wire_problem(log, table):
    """What is wrong with what the client wrote, or None."""
    sent, ids, last_call = [], set(), None
    calls_cancelled = set()
    for line in log.read_bytes().splitlines():
        if not line.startswith(b"> "):
            continue
        try:
            message = json.loads(line[2:])
        except ValueError:
            return f"a line is no JSON: {line[2:200]!r}"
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return f"no JSON-RPC 2.0 object: {line[2:200]!r}"
        sent.append(message)
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
                results.append(("wire", wire_problem(log, filled), ""))
                if after:
                    wrong = [f"{name}: {got!r}" for name, want in table["after"].items()
                             if (got := read_if_there(directory / name)) != want]
                    results.append(("after", "; ".join(wrong) or None, ""))
                return results
        yield Group(server + suffix, needs, names, run, under_test)


def read_if_there(path):
    return path.read_text(encoding="utf-8") if path.exists() else None


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


def load_gaps():
    gaps = {}
    for entry in json.loads((HERE / "known_gaps.json").read_text()):
        have = pinned_versions().get(entry["peer"].split("@")[0])
        if have != entry["version"]:
            sys.exit(f"known_gaps.json: {entry['peer']} is {have} now, look again at {entry['check']} of {entry['version']}")
        gaps[f"{entry['peer']}/{entry['check']}"] = entry["shown_by"]
    return gaps


# ---- the run ---------------------------------------------------------------------------------------------------------

def all_groups(options):
    bin_dir = pathlib.Path(options.bin).resolve()
    if options.self_check:
        # Everything but comcp: the scripts against each other, and the tables against their servers.
        table_client = lambda: [sys.executable, HERE / "reference_client.py"]
        yield from server_groups(table_client, None, "legacy")
        for name in ("server-ts-v1", "server-ts-v2", "server-python", "server-go"):
            needs, command, _ = servers()[name]
            for era in ("legacy", "auto"):
                for group in client_groups(command, None, era, lenient=True, suffix=f"@{era}@{name}"):
                    group.needs = sorted({*group.needs, *needs})
                    yield group
        yield from inspector_groups(servers()["server-ts-v1"][1], None, suffix="@server-ts-v1")
        return
    server, client = bin_dir / "interop_server", bin_dir / "interop_client"
    for era in ("legacy", "auto") if options.era == "all" else (options.era,):
        suffix = "" if era == "legacy" else f"@{era}"
        yield from client_groups(lambda: [server], server, era, suffix=suffix)
        yield from server_groups(lambda: [client], client, era, suffix=suffix)
    yield from inspector_groups(lambda: [server], server)


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

    gaps = load_gaps()
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
