#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of comcp. Start it as tools/test, which first installs what is missing."""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
JOBS = os.environ.get("COMCP_JOBS") or str(os.cpu_count() or 1)
TIMEOUT = 600  # seconds that one test program may take
BUILD_TIMEOUT = 3 * 3600
SUITES = ("unit", "scripted", "integration")


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list = field(default_factory=list)  # why something was skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def plural(count, word):
    return f"{count} {word}" + ("" if count == 1 else "s")


# ---- running programs


def environment(**more):
    env = dict(os.environ)
    env.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    env.setdefault("TSAN_OPTIONS", "halt_on_error=0:second_deadlock_stack=1")
    env.update({key: str(value) for key, value in more.items()})
    return env


def run(command, timeout=TIMEOUT, cwd=ROOT, heartbeat=None, **env):
    """Runs to the end or to the timeout, with its whole process group; returns (exit code or None, output)."""
    with subprocess.Popen(
        [str(word) for word in command], cwd=cwd, env=environment(**env), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + timeout
        while True:
            try:
                output, _ = process.communicate(timeout=min(30, max(0.1, deadline - time.monotonic())))
                return process.returncode, output
            except subprocess.TimeoutExpired as expired:
                if time.monotonic() >= deadline:
                    os.killpg(process.pid, signal.SIGKILL)
                    output, _ = process.communicate()
                    return None, output + f"\n[killed: not finished after {timeout} s]\n"
                if heartbeat:
                    so_far = (expired.output or b"").decode(errors="replace").rstrip().splitlines()
                    print(f"    {heartbeat}: {so_far[-1][:100] if so_far else 'still running'}", flush=True)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise


def show(output, lines=150):
    kept = output.rstrip().splitlines()
    if len(kept) > lines:
        print(f"    [... {len(kept) - lines} lines left out]")
        kept = kept[-lines:]
    for line in kept:
        print("    " + line)
    sys.stdout.flush()


def summary_of(output):
    """The last `N passed, N failed, N skipped` line of one of our own programs, or None."""
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", output, re.MULTILINE)
    return Outcome(*map(int, found[-1])) if found else None


def catch_summary(output):
    """Counts of a Catch2 run (generation 2 or 3), or None."""
    match = re.search(r"^All tests passed \(.* in (\d+) test cases?\)", output, re.MULTILINE)
    if match:
        return Outcome(passed=int(match[1]))
    match = re.search(r"^test cases:\s*(\d+)\s*(\|.*)?$", output, re.MULTILINE)
    if not match:
        return None
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", match[2] or "")}
    return Outcome(counts.get("passed", 0), counts.get("failed", 0), counts.get("skipped", 0))


# ---- building


class Builder:
    """Configures and builds presets; all targets that the plan needs of a preset are built in one go."""

    def __init__(self):
        self.wanted = {}
        self.state = {}  # preset -> "ok", "failed" (some target), "broken" (not configured)
        self.used = []

    def want(self, preset, targets):
        self.wanted.setdefault(preset, set()).update(targets)

    def build(self, preset, targets):
        """True if the targets are built."""
        if preset not in self.state:
            self.used.append(preset)
            self.state[preset] = self.first_build(preset)
        if self.state[preset] != "failed":
            return self.state[preset] == "ok"
        code, output = self.ninja(preset, targets)  # something does not build; perhaps not what is asked for
        if code != 0:
            failed = re.findall(r"^FAILED: (\S+)", output, re.MULTILINE) or [output.strip()[-200:]]
            print(f"    does not build with preset {preset}: {' '.join(failed)}")
        return code == 0

    def first_build(self, preset):
        targets = sorted(self.wanted.get(preset, ()))
        start = time.monotonic()
        print(f"  building {preset}: {' '.join(targets)} ({JOBS} jobs)", flush=True)
        code, output = run(["cmake", "--preset", preset], BUILD_TIMEOUT)
        if code != 0:
            show(output)
            return "broken"
        code, output = self.ninja(preset, targets)
        print(f"  built {preset} in {time.monotonic() - start:.0f} s" + ("" if code == 0 else ": FAILED"), flush=True)
        if code != 0:
            (BUILD / preset / "build.log").write_text(output)
            show(compiler_errors(output))
            print(f"    everything is in build/{preset}/build.log", flush=True)
        return "ok" if code == 0 else "failed"

    def ninja(self, preset, targets):
        command = ["cmake", "--build", BUILD / preset, "--parallel", JOBS, "--target", *sorted(targets), "--", "-k", "0"]
        return run(command, BUILD_TIMEOUT, heartbeat=f"building {preset}")


def compiler_errors(output):
    """The errors with the three lines after each, without the notes about every candidate."""
    lines, kept, until = output.splitlines(), [], -1
    for number, line in enumerate(lines):
        if re.search(r"\berror:|undefined reference|multiple definition|^FAILED: |^ninja: error", line):
            until = number + (0 if line.startswith("FAILED: ") else 3)
        if number <= until and not re.match(r"\[\d+/\d+\] ", line):
            kept.append(line)
    return "\n".join(kept) or output


def slowest_units(presets, count=10):
    units = []
    for preset in presets:
        log = BUILD / preset / ".ninja_log"
        times = {}
        if log.exists():
            for line in log.read_text(errors="replace").splitlines()[1:]:
                fields = line.split("\t")
                if len(fields) >= 4 and fields[3].endswith((".o", ".gch", ".pch")) and (BUILD / preset / fields[3]).exists():
                    times[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
        for output, seconds in times.items():
            name = re.sub(r"CMakeFiles/[^/]+\.dir/", "", output)
            units.append((seconds, preset, name))
    return sorted(units, reverse=True)[:count]


# ---- parts


class Part:
    """One part of a plan. `absent` gives a reason while there is nothing to run; `targets` is what must be built."""

    name = ""
    preset = None

    def absent(self):
        return None

    def targets(self):
        return []

    def run(self, builder):
        raise NotImplementedError


def sources(*patterns):
    return [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()]


class Lint(Part):
    name = "lint"

    def __init__(self, *options):
        self.options = options

    def run(self, builder):
        code, output = run([sys.executable, ROOT / "tools/lint", *self.options], 3600, heartbeat="lint")
        show(output)
        outcome = summary_of(output) or Outcome()
        if code != 0 and not outcome.failed:
            outcome.failed = 1
        return outcome


class Suites(Part):
    """Catch2 programs under one preset."""

    def __init__(self, name, preset, suites):
        self.name, self.preset, self.suites = name, preset, suites

    def present(self):
        found = []
        for suite in self.suites:
            if any("fixtures" not in path.parts for path in sources(f"tests/{suite}/**/*.cpp")):
                found.append(suite)
        return found

    def absent(self):
        return None if self.present() else "no sources in " + ", ".join(f"tests/{suite}/" for suite in self.suites)

    def targets(self):
        return [f"{suite}_tests" for suite in self.present()]

    def run(self, builder):
        total = Outcome()
        for suite in self.present():
            program = f"{suite}_tests"
            if not builder.build(self.preset, [program]):
                total.add(Outcome(failed=1))
                continue
            # Whole sessions run once more with middleware around every message that changes nothing.
            ways = {"": {}, " with middleware": {"COMCP_TEST_MIDDLEWARE": "1"}} if suite == "scripted" else {"": {}}
            with ThreadPoolExecutor(len(ways)) as pool:
                for outcome in pool.map(lambda way: self.run_suite(program, *way), ways.items()):
                    total.add(outcome)
        return total

    def run_suite(self, program, how, env):
        bin_dir = BUILD / self.preset / "bin"
        code, output = run([bin_dir / program], cwd=bin_dir, **env)
        outcome = catch_summary(output) or Outcome()
        if code != 0:
            show(output)
            print(f"    {program}{how} ended with {'a timeout' if code is None else code}")
            outcome.failed = max(outcome.failed, 1)
        elif outcome.passed == 0:
            print(f"    {program}{how} ran no test case")
            outcome.failed = 1
        else:
            print(f"    {program}{how}: {output.rstrip().splitlines()[-1]}", flush=True)
        return outcome


class CTest(Part):
    """Tests that are registered with ctest under one label."""

    def __init__(self, name, pattern, target, preset="asan", only="."):
        self.name, self.pattern, self.target, self.preset, self.only = name, pattern, target, preset, only

    def absent(self):
        return None if sources(*self.pattern) else "nothing in " + " ".join(self.pattern)

    def targets(self):
        return [self.target]

    def run(self, builder):
        if not builder.build(self.preset, self.targets()):
            return Outcome(failed=1)
        command = ["ctest", "--test-dir", BUILD / self.preset, "-L", f"^{self.name}$", "-R", self.only,
                   "--output-on-failure", "--no-tests=error", "--parallel", JOBS]  # fmt: skip
        code, output = run(command, 3600)
        ran = re.search(r"(\d+)% tests passed, (\d+) tests? failed out of (\d+)", output)
        outcome = Outcome()
        if ran:
            skipped = len(re.findall(r"\*\*\*Skipped|\*\*\*Not Run \(Disabled\)", output))
            outcome = Outcome(int(ran[3]) - int(ran[2]) - skipped, int(ran[2]), skipped)
        if code != 0:
            show(output)
            outcome.failed = max(outcome.failed, 1)
        return outcome


class Fuzz(Part):
    name = "fuzz"

    def __init__(self, preset, seconds):
        self.preset, self.seconds = preset, seconds

    def fuzzers(self):
        return sorted(path.stem for path in sources("tests/fuzz/*.cpp") if path.stem != "standalone_main")

    def absent(self):
        return None if self.fuzzers() else "no fuzzer in tests/fuzz/"

    def targets(self):
        return ["comcp_fuzzers"]

    def run(self, builder):
        if not builder.build(self.preset, self.targets()):
            return Outcome(failed=1)
        total = Outcome()
        with ThreadPoolExecutor(int(JOBS)) as pool:
            for outcome in pool.map(self.run_fuzzer, self.fuzzers()):
                total.add(outcome)
        return total

    def run_fuzzer(self, name):
        corpus = BUILD / self.preset / "fuzz" / name  # finds stay there; the seeds are only read
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "tests/fuzz/seeds" / name
        command = [BUILD / self.preset / "bin" / f"fuzz_{name}", f"-max_total_time={self.seconds}", corpus]
        code, output = run(command + ([seeds] if seeds.is_dir() else []), self.seconds + TIMEOUT, cwd=corpus)
        if code != 0:
            show(output)
            print(f"    fuzz_{name} failed; the input is in {corpus.relative_to(ROOT)}")
            return Outcome(failed=1)
        print(f"    fuzz_{name}: " + (output.strip().splitlines() or ["ran"])[-1], flush=True)
        return Outcome(passed=1)


class Script(Part):
    """A run.py of its own that prints `N passed, N failed, N skipped` last."""

    def __init__(self, name, script, preset, targets, arguments=()):
        self.name, self.script, self.preset, self.build_targets = name, script, preset, targets
        self.arguments = arguments

    def absent(self):
        return None if (ROOT / self.script).exists() else f"no {self.script}"

    def targets(self):
        return self.build_targets

    def run(self, builder):
        if self.preset and not builder.build(self.preset, self.targets()):
            return Outcome(failed=1)
        command = [sys.executable, ROOT / self.script, *self.arguments]
        code, output = run(command, 3600, heartbeat=self.name, COMCP_BIN=BUILD / (self.preset or "") / "bin")
        outcome = summary_of(output)
        if outcome is None:
            outcome = Outcome(passed=1) if code == 0 else Outcome(failed=1)
        if code != 0:
            outcome.failed = max(outcome.failed, 1)
        outcome.notes += re.findall(r"^\s*(?:skip|skipped|SKIP)\b[: ]+(.+)$", output, re.MULTILINE)
        if outcome.failed or self.name == "bench":
            show(output)
        return outcome


class Release(Part):
    """The suites and examples once more, optimised."""

    name = "release"
    preset = "release"

    def __init__(self):
        self.parts = [Suites("suites", "release", SUITES), examples("release")]

    def present(self):
        return [part for part in self.parts if not part.absent()]

    def absent(self):
        return None if self.present() else "no suite and no example"

    def targets(self):
        return sorted({target for part in self.present() for target in part.targets()} | {"comcp_programs"})

    def run(self, builder):
        total = Outcome()
        if not builder.build(self.preset, ["comcp_programs"]):
            total.add(Outcome(failed=1))
        for part in self.present():
            total.add(part.run(builder))
        return total


class Matrix(Part):
    """The suites with the newest Asio, Boost and Catch2, and with Boost.Asio; with that also the examples."""

    name = "matrix"

    def __init__(self):
        self.parts = [
            Suites("newest", "newest", SUITES),
            CTest("consumer", ["tests/consumer/pure/main.cpp"], "consumer_pure", "newest", "^consumer_pure$"),
            Suites("newest-boost-asio", "newest-boost-asio", ["unit", "scripted"]),
            examples("newest-boost-asio"),
            CTest("consumer", ["tests/consumer/find_package/main.cpp"], "comcp_src", "newest-boost-asio",
                  "^consumer_find_package$"),
        ]

    def absent(self):
        print("matrix: looking for the newest Asio, Boost and Catch2", flush=True)
        code, output = run(["tools/lib/newest.sh"], 1800, heartbeat="matrix")
        last = (output.strip().splitlines() or ["tools/lib/newest.sh failed"])[-1]
        if code != 0:
            return f"NOTHING was tested with newer versions: {last}"
        print(f"matrix: {last}", flush=True)
        return None

    def run(self, builder):
        for part in self.parts:
            builder.want(part.preset, part.targets())
        total = Outcome()
        for part in self.parts:
            total.add(part.run(builder))
        return total


def examples(preset="asan"):
    return CTest("examples", ["examples/*.cpp", "examples/*/main.cpp"], "comcp_examples", preset)


PROGRAMS = ["comcp_programs"]
CONFORMANCE = ["comcp_conformance"]
BENCHMARKS = ["comcp_benchmarks"]

# name -> (what it does, how it is made in quick, how it is made in full or when it is named)
PARTS = {
    "lint": ("style, layers, each header alone (in quick after what is not ours), clang-tidy, shellcheck, single include",
             lambda: Lint("--full")),
    "tools": ("tests/tools: what the tools install, start and report",
              lambda: Script("tools", "tests/tools/run.py", None, [])),
    "unit": ("tests/unit", lambda: Suites("unit", "asan", ["unit"])),
    "scripted": ("tests/scripted: sessions against a scripted peer", lambda: Suites("scripted", "asan", ["scripted"])),
    "integration": ("tests/integration: loopback and children", lambda: Suites("integration", "asan", ["integration"])),
    "toolchain": ("tests/toolchain: known compiler bugs",
                  lambda: CTest("toolchain", ["tests/toolchain/*.cpp"], "comcp_toolchain")),
    "consumer": ("comcp installed, and as a single include",
                 lambda: CTest("consumer", ["include/comcp/comcp.hpp"], "comcp_consumer")),
    "examples": ("each example runs", examples),
    "fuzz": ("each fuzzer, 60 s (5 s in quick)", lambda: Fuzz("clang-asan", 60)),
    "interop": ("other SDKs as peers", lambda: Script("interop", "tests/interop/run.py", "asan", PROGRAMS)),
    "conformance": ("the protocol's conformance suite",
                    lambda: Script("conformance", "tests/conformance/run.py", "asan", CONFORMANCE)),
    "bench": ("benchmarks with their limits asserted (brief and without limits in quick)",
              lambda: Script("bench", "benchmarks/run.py", "release",
                             BENCHMARKS + ["benchmark_server_chain", "benchmark_server_direct"], ["--assert"])),
    "crowd": ("a thousand idle connections, sessions and streams do not delay a ping",
              lambda: Script("crowd", "benchmarks/run.py", "release", BENCHMARKS, ["--assert", "--only", "http_crowd"])),
    "release": ("suites and examples, optimised", Release),
    "clang": ("suites with clang and its sanitizers", lambda: Suites("clang", "clang-asan", SUITES)),
    "tsan": ("suites with the thread sanitizer", lambda: Suites("tsan", "tsan", SUITES)),
    "matrix": ("suites with the newest Asio, Boost and Catch2 that Debian packages; suites and examples with Boost.Asio",
               Matrix),
}  # fmt: skip

IN_QUICK = {
    "lint": Lint,
    "fuzz": lambda: Fuzz("asan", 5),
    # With the sanitizers, for no figure is looked at; an optimised build of everything takes minutes more.
    "bench": lambda: Script("bench", "benchmarks/run.py", "asan", BENCHMARKS, ["--brief"]),
}

PLANS = {
    "quick": ["lint", "tools", "unit", "scripted", "integration", "toolchain", "consumer", "examples", "fuzz", "interop",
              "conformance", "bench"],
    "full": ["lint", "tools", "unit", "scripted", "integration", "toolchain", "consumer", "examples", "fuzz", "interop",
             "conformance", "bench", "crowd", "release", "clang", "tsan", "matrix"],
}  # fmt: skip


def make_plan(words):
    """[Part] in the order of PARTS, each once; a part that is named is run as in full."""
    quick, named = set(), set()
    for word in words:
        if word == "quick":
            quick.update(PLANS["quick"])
        else:
            named.update(PLANS.get(word, [word]))
    plan = []
    for name, (_, make) in PARTS.items():
        if name in named:
            plan.append(make())
        elif name in quick:
            plan.append(IN_QUICK.get(name, make)())
    return plan


def main():
    listing = "\n".join(f"  {name:12} {text}" for name, (text, _) in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="tools/test", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Builds and tests comcp. Without arguments: quick.",
        epilog=f"quick: {' '.join(PLANS['quick'])}\nfull:  {' '.join(PLANS['full'])}\n\nparts:\n{listing}\n\n"
               "COMCP_JOBS=N sets the number of compile jobs. With CI=true the interop and conformance parts fail where\n"
               "npm or Python peers are missing; what needs Go is skipped, and said. The exit code is 1 if anything failed.",
    )  # fmt: skip
    parser.add_argument("what", nargs="*", default=["quick"], metavar="quick|full|PART")
    words = parser.parse_args().what
    unknown = [word for word in words if word not in PARTS and word not in PLANS]
    if unknown:
        parser.error(f"no part {' '.join(unknown)}; known are {' '.join([*PLANS, *PARTS])}")

    os.chdir(ROOT)
    BUILD.mkdir(exist_ok=True)
    plan, skipped = [], []
    for part in make_plan(words):
        why = part.absent()
        if why:
            skipped.append((part.name, why if part.name == "matrix" else f"not there yet ({why})"))
        else:
            plan.append(part)
    builder = Builder()
    for part in plan:
        if part.preset:
            builder.want(part.preset, part.targets())
    print("plan: " + (" ".join(part.name for part in plan) or "nothing"), flush=True)

    total, times, failed_parts = Outcome(skipped=len(skipped)), [], []
    for part in plan:
        print(f"{part.name}", flush=True)
        start = time.monotonic()
        outcome = part.run(builder)
        seconds = time.monotonic() - start
        if outcome.passed + outcome.failed == 0:
            print("    ran no case")
            outcome.failed = 1
        print(f"  {part.name}: {outcome} ({seconds:.1f} s)", flush=True)
        total.add(outcome)
        times.append((part.name, seconds))
        if outcome.failed:
            failed_parts.append(part.name)
        if outcome.skipped:
            skipped.append((part.name, "; ".join(outcome.notes) or plural(outcome.skipped, "case")))

    print("\ntimes (building included in the first part that needs it):")
    for name, seconds in times:
        print(f"  {seconds:7.1f} s  {name}")
    slow = slowest_units(builder.used)
    if slow:
        print("slowest compile units:")
        for seconds, preset, name in slow:
            print(f"  {seconds:7.1f} s  {preset}: {name}")
    if skipped:
        print("skipped:")
        for name, why in skipped:
            print(f"  {name}: {why}")
    if failed_parts:
        print("failed: " + " ".join(failed_parts))
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that run() ends what it started
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
