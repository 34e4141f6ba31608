#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses comcp as its users do. ctest runs it, one case at a time.

  find_package   installs comcp, then configures, builds and runs a project that finds it (comcp::comcp and comcp::src)
  two_units      the single include as a user's own header, twice in each of two units, linked without libboost_json
  macros         which macros the single include leaves behind: COMCP_* only
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SINGLE = ROOT / "single_include"
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]

# Macros that configure Asio have to be set before its headers, so these may stay as well.
ALLOWED = re.compile(r"COMCP_\w+|ASIO_STANDALONE|ASIO_HAS_CO_AWAIT|ASIO_HAS_STD_COROUTINE")


def run(*command, **options):
    words = [str(word) for word in command]
    print("+ " + " ".join(words), flush=True)
    return subprocess.run(words, check=True, text=True, **{"stdin": subprocess.DEVNULL, **options})


def find_package(cxx, build, work):
    prefix, project = work / "prefix", work / "project"
    run("cmake", "--install", build, "--prefix", prefix)
    # Without sanitizers, unless the library that was just installed has them; with the same Boost and Asio.
    cache = dict(line.split("=", 1) for line in (build / "CMakeCache.txt").read_text().splitlines() if "=" in line)
    cache = {name.split(":")[0]: value for name, value in cache.items()}
    same = [f"-D{name}={cache[name]}" for name in ("CMAKE_CXX_FLAGS", "Boost_USE_STATIC_LIBS") if name in cache]
    paths = ";".join(filter(None, [str(prefix), cache.get("CMAKE_PREFIX_PATH")]))
    run("cmake", "-G", "Ninja", "-S", HERE / "find_package", "-B", project, f"-DCMAKE_PREFIX_PATH={paths}",
        f"-DCMAKE_CXX_COMPILER={cxx}", *same)
    run("cmake", "--build", project)
    for program in sorted(project.glob("consumer_*")):
        if program.is_file() and os.access(program, os.X_OK):
            run(program)


def two_units(cxx, build, work):
    units = sorted((HERE / "single_include").glob("*.cpp"))
    objects = []
    for unit in units:
        objects.append(work / (unit.stem + ".o"))
        run(cxx, *STRICT, "-DASIO_STANDALONE", "-I", SINGLE, "-c", unit, "-o", objects[-1])
    run(cxx, *objects, "-pthread", "-o", work / "two_units")
    run(work / "two_units")


def macros(cxx, build, work):
    header = (SINGLE / "comcp/comcp.hpp").read_text()
    foreign = dict.fromkeys(re.findall(r"^\s*#\s*include\s*<([^>]+)>", header, re.MULTILINE))
    without = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in foreign
                      if name != "boost/json/src.hpp" and not name.startswith("boost/asio"))  # fmt: skip

    def defined(text):
        listing = run(cxx, "-std=c++20", "-DASIO_STANDALONE", "-I", SINGLE, "-dM", "-E", "-x", "c++", "-",
                      input=text, stdin=None, capture_output=True).stdout  # fmt: skip
        return set(re.findall(r"^#define (\w+)", listing, re.MULTILINE))

    leaked = defined(without + "#include <comcp/comcp.hpp>\n") - defined(without)
    bad = sorted(name for name in leaked if not ALLOWED.fullmatch(name))
    print(f"{len(leaked)} macros: {' '.join(sorted(leaked))}")
    if bad:
        sys.exit(f"leaked macros: {' '.join(bad)}")


def main():
    cases = {"find_package": find_package, "two_units": two_units, "macros": macros}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=cases)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--build", type=Path, required=True, help="build folder of comcp")
    arguments = parser.parse_args()
    work = arguments.build / "consumer" / arguments.case
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        cases[arguments.case](arguments.cxx, arguments.build, work)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"failed with {failed.returncode}\n{failed.stderr or ''}")


if __name__ == "__main__":
    main()
