#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the tools themselves: what tools/lib/setup.sh installs, what tools/test and tools/demo start, what the checks
of the sources find, how tools/lib/run_tests.py reports, and what the parts that need more do without it. What they would call is a fake in a folder of its own;
nothing is installed.

Prints `N passed, N failed, N skipped` last. Exit status 1 on a failure.
"""

import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")

# Package: the programs and files by which setup.sh finds it.
PACKAGES = {
    "g++": ["bin/g++"],
    "cmake": ["bin/cmake"],
    "ninja-build": ["bin/ninja"],
    "libasio-dev": ["include/asio/awaitable.hpp"],
    "libboost1.83-dev": ["include/boost/describe.hpp"],
    "libboost-json1.83-dev": ["include/boost/json.hpp", "libboost_json"],
    "catch2": ["include/catch2"],
    "python3": ["bin/python3"],
    "clang-19": ["bin/clang++-19"],
    "clang-format-19": ["bin/clang-format-19"],
    "clang-tidy-19": ["bin/clang-tidy-19"],
    "libclang-rt-19-dev": ["libclang_rt.fuzzer"],
    "shellcheck": ["bin/shellcheck"],
    "ccache": ["bin/ccache"],
    "libcpp-httplib-dev": ["include/httplib.h"],
    "nodejs": ["bin/node"],
    "npm": ["bin/npm"],
    "python3-venv": ["venv"],
}
OF_INTEROP = ("nodejs", "npm", "python3-venv")

FAKES = {
    "id": '[[ $* == -u ]] && echo "${FAKE_UID:-0}"',
    "sudo": 'echo "sudo $*" >>"$WORLD/log"; while [[ $1 == -* ]]; do shift; done; exec "$@"',
    # Only these versions of Boost are packaged.
    "apt-cache": '[[ $2 == libboost-json1.81-dev || $2 == libboost-json1.88-dev ]] || echo "$2 | 1 | here"',
    "apt-get": """
        echo "apt-get $* ($DEBIAN_FRONTEND)" >>"$WORLD/log"
        [[ $1 == install ]] || exit "${FAKE_UPDATE:-0}"
        shift
        for word; do
            [[ $word == -* || -n ${FAKE_USELESS:-} ]] || cp -r "$WORLD/packages/$word/." "$WORLD"
        done
        exit "${FAKE_INSTALL:-0}"
    """,
}

# The system's own headers and libraries are out of sight.
SETUP = """
    . tools/lib/setup.sh
    comcp_setup_has_header() { [[ -e $WORLD/include/$1 ]]; }
    comcp_setup_has_file() { case $1 in *boost_json*) [[ -e $WORLD/libboost_json ]];; *) [[ -e $WORLD/libclang_rt.fuzzer ]];; esac; }
    comcp_setup "$@"
"""


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{BASH}\n{text}\n")
    path.chmod(0o755)


def folder_for(test):
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


class World(unittest.TestCase):
    """A folder with fakes, which are all that PATH has."""

    def setUp(self):
        self.world = folder_for(self)
        (self.world / "bin").mkdir()
        for name in ("env", "cp", "cat", "dirname", "mkdir", "sed", "timeout", "rm", "nproc", "awk"):
            os.symlink(shutil.which(name), self.world / "bin" / name)

    def bash(self, *words, cwd=ROOT, **more):
        env = {"PATH": str(self.world / "bin"), "WORLD": str(self.world), **more}
        done = subprocess.run([BASH, *words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)  # fmt: skip
        return done.returncode, done.stdout

    def log(self):
        path = self.world / "log"
        return path.read_text().splitlines() if path.exists() else []


class Setup(World):
    def setUp(self):
        super().setUp()
        for name, text in FAKES.items():
            write_program(self.world / "bin" / name, text)
        for package, places in PACKAGES.items():
            for place in places:
                text = '[[ $1 != -c || -e $WORLD/venv ]]' if package == "python3" else "echo 12"
                write_program(self.world / "packages" / package / place, text)

    def install(self, *without):
        for package in PACKAGES:
            if package not in without:
                shutil.copytree(self.world / "packages" / package, self.world, dirs_exist_ok=True)

    def setup_for(self, *groups, **more):
        return self.bash("-c", SETUP, "setup", *(groups or ("build", "checks", "interop")), **more)

    def test_nothing_is_done_when_all_is_there(self):
        self.install()
        self.assertEqual(self.setup_for(), (0, ""))
        self.assertEqual(self.log(), [])

    def test_only_what_is_missing_is_installed_and_named_before(self):
        self.install("cmake", "libboost-json1.83-dev", "ccache")
        code, said = self.setup_for()
        self.assertEqual((code, said.splitlines()[-1]), (0, "setup: installing cmake libboost-json1.83-dev ccache"))
        self.assertEqual(self.log(), [
            "apt-get update -qq (noninteractive)",
            "apt-get install -y -qq --no-install-recommends cmake libboost-json1.83-dev ccache (noninteractive)",
        ])  # fmt: skip

    def test_each_package_is_found_missing(self):
        self.install()
        for package, places in PACKAGES.items():
            with self.subTest(package):
                (self.world / places[-1]).unlink()
                code, said = self.setup_for(*(["interop"] if package in OF_INTEROP else ["build", "checks"]))
                self.assertEqual((code, said.splitlines()[-1:]), (0, [f"setup: installing {package}"]))

    def test_a_group_needs_no_more_than_its_own(self):
        self.install("shellcheck", "nodejs")
        self.assertEqual(self.setup_for("build"), (0, ""))

    def test_an_old_compiler_counts_as_missing(self):
        self.install()
        write_program(self.world / "bin/g++", "echo 11")
        code, said = self.setup_for()
        self.assertEqual((code, said.splitlines()[-1]), (0, "setup: installing g++"))

    def test_without_root_it_goes_through_sudo_and_never_asks(self):
        self.install("cmake")
        self.assertEqual(self.setup_for(FAKE_UID="1000")[0], 0)
        self.assertIn("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cmake",
                      self.log())  # fmt: skip

    def test_without_root_and_sudo_it_says_what_to_install(self):
        self.install("cmake", "npm")
        (self.world / "bin/sudo").unlink()
        code, said = self.setup_for(FAKE_UID="1000")
        self.assertEqual(code, 1)
        self.assertIn("setup: missing: cmake npm", said)
        self.assertIn("As root: apt-get install cmake npm", said)
        self.assertEqual(self.log(), [])

    def test_another_system_is_told_what_is_missing_and_how_to_get_it(self):
        self.install("ninja-build", "catch2")
        for name in ("apt-get", "apt-cache"):
            (self.world / "bin" / name).unlink()
        code, said = self.setup_for()
        self.assertEqual(code, 1)
        self.assertIn("setup: missing: ninja-build catch2", said)
        self.assertIn("install them with your system's package manager", said)
        self.assertEqual(self.log(), [])

    def test_old_package_lists_are_tried(self):
        self.install("cmake")
        self.assertEqual(self.setup_for(FAKE_UPDATE="100")[0], 0)

    def test_an_installation_that_fails_is_said(self):
        self.install("cmake")
        code, said = self.setup_for(FAKE_INSTALL="100")
        self.assertEqual(code, 1)
        self.assertIn("apt-get could not install: cmake", said)

    def test_an_installation_that_does_not_help_is_said(self):
        self.install("cmake")
        code, said = self.setup_for(FAKE_USELESS="1")
        self.assertEqual(code, 1)
        self.assertIn("setup: missing: cmake", said)
        self.assertIn("installed, and still not usable", said)

    def test_headers_may_stand_where_the_user_says(self):
        for name in ("CPLUS_INCLUDE_PATH", "CPATH"):
            look = '. tools/lib/setup.sh; comcp_setup_has_header "comcp-test/a.hpp"'
            self.assertEqual(self.bash("-c", look, **{name: f"/nowhere:{self.world}/include"})[0], 1)
            write_program(self.world / "include/comcp-test/a.hpp", "")
            self.assertEqual(self.bash("-c", look, **{name: f"/nowhere:{self.world}/include"})[0], 0)
            (self.world / "include/comcp-test/a.hpp").unlink()

    def test_there_is_a_job_at_least(self):
        count = ". tools/lib/setup.sh; comcp_jobs"
        self.assertEqual(self.bash("-c", count, COMCP_JOBS="7"), (0, "7"))
        (self.world / "bin/awk").unlink()
        write_program(self.world / "bin/awk", "echo 0")
        self.assertEqual(self.bash("-c", count), (0, "1"))


class Commands(World):
    """tools/test and tools/demo in a repository where everything that they start is a fake."""

    def setUp(self):
        super().setUp()
        self.repository = self.world / "repository"
        for name in ("test", "demo"):
            (self.repository / "tools/lib").mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / "tools" / name, self.repository / "tools")
        (self.repository / "tools/lib/setup.sh").write_text(
            'comcp_setup() { echo "setup $*"; [[ $* != "${FAKE_FAILS:-}" ]]; }\ncomcp_jobs() { echo 3; }\n'
        )
        write_program(self.world / "bin/python3", 'echo "python3 $* with $COMCP_JOBS jobs"; exit 5')
        write_program(self.world / "bin/cmake", 'echo "cmake $*" >>"$WORLD/log"; echo "a log"; exit "${FAKE_CMAKE:-0}"')
        write_program(self.repository / "build/release/bin/demo", 'echo "demo $*"; exit 6')

    def start(self, *words, **more):
        return self.bash(self.repository / "tools" / words[0], *words[1:], cwd="/", **more)

    def test_the_tests_run_after_their_set_up(self):
        run = "python3 tools/lib/run_tests.py"
        ready = "setup build checks\n"
        self.assertEqual(self.start("test"), (5, f"{ready}setup interop\n{run} with 3 jobs\n"))
        self.assertEqual(self.start("test", "full"), (5, f"{ready}setup interop\n{run} full with 3 jobs\n"))
        self.assertEqual(self.start("test", "unit", "lint"), (5, f"{ready}{run} unit lint with 3 jobs\n"))

    def test_no_test_runs_without_what_it_needs(self):
        self.assertEqual(self.start("test", FAKE_FAILS="build checks"), (1, "setup build checks\n"))

    def test_the_tests_run_without_other_peers(self):
        code, said = self.start("test", FAKE_FAILS="interop")
        self.assertEqual((code, said.splitlines()[-1]), (5, "python3 tools/lib/run_tests.py with 3 jobs"))

    def test_the_demonstration_is_built_and_started(self):
        code, said = self.start("demo", "--plain", "two words")
        self.assertEqual((code, said.splitlines()[-1]), (6, "demo --plain two words"))
        self.assertEqual(self.log(), ["cmake --preset release",
                                      "cmake --build build/release --target comcp_programs --parallel 3"])  # fmt: skip

    def test_a_demonstration_that_cannot_be_configured_says_why(self):
        self.assertEqual(self.start("demo", FAKE_CMAKE="4"),
                         (1, "setup build\ndemo: configuring build/release\na log\n"))  # fmt: skip
        self.assertEqual(self.start("demo", FAKE_FAILS="build"), (1, "setup build\n"))

    def test_the_demonstration_gets_its_other_server_where_it_can(self):
        package = "@modelcontextprotocol/server-filesystem"
        (self.repository / "tests/interop/node").mkdir(parents=True)
        (self.repository / "tests/interop/node/package.json").write_text(f'{{"dependencies": {{"{package}": "1.2.3"}}}}\n')
        write_program(self.world / "bin/node", "")
        write_program(self.world / "bin/npm", 'echo "npm $*" >>"$WORLD/log"; exit "${FAKE_NPM:-0}"')
        asked = f"npm install --prefix build/demo --ignore-scripts --no-audit --no-fund --loglevel=error {package}@1.2.3"
        self.assertEqual(self.start("demo")[0], 6)
        self.assertEqual(self.log()[-1], asked)
        code, said = self.start("demo", FAKE_NPM="1")
        self.assertIn("demo: npm could not install it", said)
        self.assertEqual(code, 6)
        self.assertEqual(self.log().count(asked), 2)
        write_program(self.repository / "build/demo/node_modules/.bin/mcp-server-filesystem", "")
        self.assertEqual(self.start("demo")[0], 6)
        self.assertEqual(self.log().count(asked), 2)


class Checks(unittest.TestCase):
    """The checks of the sources, on a copy that is spoiled."""

    def setUp(self):
        self.copy = folder_for(self)
        for name in ("include", "tools", "examples", "docs"):
            shutil.copytree(ROOT / name, self.copy / name)
        shutil.copy2(ROOT / "README.md", self.copy)
        (self.copy / "single_include/comcp").mkdir(parents=True)

    def check(self, *words):
        done = subprocess.run([sys.executable, *words], cwd=self.copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60)  # fmt: skip
        return done.returncode, done.stdout

    def spoil(self, name, old, new):
        path = self.copy / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def includes(self, what, problem, header="include/comcp/json/value.hpp"):
        before = (self.copy / header).read_text()
        self.spoil(header, "#pragma once\n", f"#pragma once\n#include <{what}>\n")
        code, said = self.check("tools/lib/check_layers.py")
        (self.copy / header).write_text(before)
        self.assertEqual(code, 1)
        self.assertIn(problem, said)

    def test_includes_point_down_only(self):
        code, said = self.check("tools/lib/check_layers.py")
        self.assertEqual(code, 0, said)
        self.includes("comcp/server/tool.hpp", "layer 1 includes <comcp/server/tool.hpp> of layer 5")
        self.includes("asio/post.hpp", "must do without Asio: json/value.hpp -> <asio/post.hpp>")
        self.includes("comcp/client/answer.hpp", "server/ must not reach client/", "include/comcp/server/tool.hpp")
        self.includes("comcp/http/url.hpp", "stdio.hpp must not reach http/", "include/comcp/transport/stdio.hpp")
        self.includes("comcp/no/such.hpp", "does not exist")

    def test_a_condition_does_not_await(self):
        self.assertEqual(self.check("tools/lib/check_coroutines.py"), (0, ""))
        name = "examples/02_hello_client.cpp"
        (self.copy / name).write_text("task<void> a()\n{\n    if (co_await b()) c();\n}\n")
        code, said = self.check("tools/lib/check_coroutines.py")
        self.assertEqual((code, said.split(": ")[0]), (1, f"{name}:3"))

    def test_the_readme_shows_the_examples_and_they_are_short(self):
        for name in ("tests", "benchmarks", "LICENSE"):  # to which the pages link
            os.symlink(ROOT / name, self.copy / name)
        self.assertEqual(self.check("tools/lib/check_readme.py"), (0, ""))
        name = "examples/01_hello_server.cpp"
        path = self.copy / name
        path.write_text(path.read_text() + "int more = 0;\n" * 12)
        code, said = self.check("tools/lib/check_readme.py")
        self.assertEqual(code, 1)
        self.assertIn(f"README.md: the block is not {name}", said)
        self.assertIn("lines of code, at most 12", said)

    def test_the_single_include_is_that_of_the_headers(self):
        self.assertEqual(self.check("tools/amalgamate.py", "--check")[0], 1)
        self.assertEqual(self.check("tools/amalgamate.py")[0], 0)
        first = (self.copy / "single_include/comcp/comcp.hpp").read_bytes()
        self.assertEqual(self.check("tools/amalgamate.py", "--check")[0], 0)
        self.spoil("include/comcp/limits.hpp", "struct limits", "struct other; struct limits")
        self.assertEqual(self.check("tools/amalgamate.py", "--check")[0], 1)
        self.spoil("include/comcp/limits.hpp", "struct other; ", "")
        self.assertEqual(self.check("tools/amalgamate.py")[0], 0)
        self.assertEqual((self.copy / "single_include/comcp/comcp.hpp").read_bytes(), first)


class Peers(unittest.TestCase):
    """The parts that need npm, where there is none: skipped with the reason, and a failure in continuous integration."""

    def setUp(self):
        self.world = folder_for(self)
        for name in ("interop", "conformance"):
            shutil.copytree(ROOT / "tests" / name, self.world / "tests" / name,
                            ignore=shutil.ignore_patterns("node_modules"))  # fmt: skip
        for name in ("interop_server", "interop_client", "conformance_server", "conformance_client"):
            write_program(self.world / "bin" / name, "exit 1")
        (self.world / "path").mkdir()
        for name in ("sh", "sleep"):
            os.symlink(shutil.which(name), self.world / "path" / name)

    def start(self, part, *words, ci):
        done = subprocess.run([sys.executable, self.world / "tests" / part / "run.py", "--bin", self.world / "bin", *words],
                              env={"PATH": str(self.world / "path"), "CI": ci}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60)  # fmt: skip
        return done.returncode, done.stdout

    def test_without_npm_it_is_skipped_but_not_in_continuous_integration(self):
        for part, words in (("interop", ["--only", "inspector-0.15.0/*"]), ("conformance", [])):
            with self.subTest(part):
                code, said = self.start(part, *words, ci="")
                self.assertEqual(code, 0, said)
                self.assertRegex(said, "(?m)^skip .*there is no npm on the PATH$")
                code, said = self.start(part, *words, ci="true")
                self.assertEqual(code, 1, said)
                self.assertRegex(said, "(?m)^FAIL .*there is no npm on the PATH$")

    def test_without_go_it_is_skipped_also_there(self):
        code, said = self.start("interop", "--only", "go-client/*", ci="true")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "(?m)^skip go-client/.*no go peers")


class Crowd(unittest.TestCase):
    """benchmarks/crowd.py raises its own limit of descriptors, or says what is wrong."""

    def raise_from(self, soft, hard):
        sys.path.insert(0, str(ROOT / "benchmarks"))
        self.addCleanup(sys.path.remove, str(ROOT / "benchmarks"))
        import crowd

        with mock.patch.object(crowd.resource, "getrlimit", return_value=(soft, hard)), \
                mock.patch.object(crowd.resource, "setrlimit") as raised:  # fmt: skip
            crowd.raise_descriptor_limit()
        return [call.args[1] for call in raised.call_args_list]

    def test_the_limit_is_raised_as_far_as_is_needed(self):
        self.assertEqual(self.raise_from(1024, 4096), [(3500, 4096)])
        self.assertEqual(self.raise_from(1024, -1), [(3500, -1)])
        self.assertEqual(self.raise_from(5000, 8192), [])

    def test_a_hard_limit_that_is_too_low_is_said(self):
        with self.assertRaisesRegex(RuntimeError, "^this needs 3500 open descriptors, and the hard limit here is 2000$"):
            self.raise_from(1024, 2000)


class Report(unittest.TestCase):
    """run_tests.py with parts that only say how they ended."""

    def setUp(self):
        sys.path.insert(0, str(ROOT / "tools/lib"))
        self.addCleanup(sys.path.remove, str(ROOT / "tools/lib"))
        import run_tests

        self.module = run_tests
        self.build = folder_for(self)

    def start(self, *words, absent=None, **outcomes):
        module = self.module

        def make(name):
            part = module.Part()
            part.name = name
            part.absent = lambda: absent if name == "unit" else None
            part.run = lambda builder: module.Outcome(*outcomes.get(name, (1, 0, 0)))
            return part

        parts = {name: ("", lambda name=name: make(name)) for name in module.PARTS}
        said = io.StringIO()
        here = os.getcwd()
        with mock.patch.multiple(module, PARTS=parts, IN_QUICK={}, BUILD=self.build), contextlib.redirect_stdout(said), \
                mock.patch.object(sys, "argv", ["tools/test", *words]):  # fmt: skip
            try:
                code = module.main()
            finally:
                os.chdir(here)
        return code, said.getvalue().splitlines()

    def test_the_plan_comes_first_and_the_sum_last(self):
        code, said = self.start("unit", "lint", unit=(3, 0, 0), lint=(2, 0, 0))
        self.assertEqual((code, said[0], said[-1]), (0, "plan: lint unit", "5 passed, 0 failed, 0 skipped"))
        times = said[said.index("times (building included in the first part that needs it):") :]
        self.assertEqual([line.split()[-1] for line in times[1:3]], ["lint", "unit"])

    def test_quick_is_what_runs_unasked(self):
        self.assertEqual(self.start()[1][0], "plan: " + " ".join(self.module.PLANS["quick"]))

    def test_a_part_that_ran_no_case_fails(self):
        for nothing in ((0, 0, 0), (0, 0, 4)):
            code, said = self.start("unit", unit=nothing)
            self.assertEqual(code, 1)
            self.assertIn("    ran no case", said)
            self.assertIn("failed: unit", said)

    def test_a_failure_is_one_in_the_end(self):
        code, said = self.start("unit", "lint", lint=(8, 1, 0))
        self.assertEqual((code, said[-2], said[-1]), (1, "failed: lint", "9 passed, 1 failed, 0 skipped"))

    def test_what_was_skipped_is_said_last(self):
        code, said = self.start("unit", "lint", absent="no reason", lint=(1, 0, 2))
        self.assertEqual(code, 0)
        self.assertEqual(said[-4:], ["skipped:", "  unit: not there yet (no reason)", "  lint: 2 cases",
                                     "1 passed, 0 failed, 3 skipped"])  # fmt: skip

    def test_the_slowest_compile_units_are_named(self):
        (self.build / "asan").mkdir()
        lines = ["# ninja log v5"]
        for number in range(12):
            (self.build / f"asan/{number}.o").touch()
            lines.append(f"0\t{number * 1000 + 500}\t0\t{number}.o\tabc")
        (self.build / "asan/.ninja_log").write_text("\n".join(lines) + "\n")
        with mock.patch.object(self.module, "BUILD", self.build):
            slowest = self.module.slowest_units(["asan"])
        self.assertEqual(len(slowest), 10)
        self.assertEqual(slowest[0], (11.5, "asan", "11.o"))

    def test_what_hangs_is_ended_with_all_that_it_started(self):
        code, output = self.module.run([BASH, "-c", "sleep 1000 & echo begun; wait"], timeout=0.5)
        self.assertEqual(code, None)
        self.assertIn("begun", output)
        self.assertIn("[killed: not finished after 0.5 s]", output)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len({getattr(case, "test_case", case).id() for case, _ in result.failures + result.errors})
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or result.testsRun == skipped else 0


if __name__ == "__main__":
    sys.exit(main())
