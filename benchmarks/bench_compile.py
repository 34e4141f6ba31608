#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to compile a small server: g++ at -O0, median of several runs, one JSON object a line.

  bench_compile.py [--times 3] [--compiler g++]

"linked" is the way of comcp::src: the bodies and Boost.JSON's are compiled once, elsewhere, and linked. "header-only"
compiles all bodies in the unit, which is what a program of one file does. Seconds are processor time: what else the
machine does matters less for it.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = 50

HELLO = """#include <comcp/stdio.hpp>
#include <boost/describe.hpp>

struct greet_args { std::string name; std::optional<int> times; };
BOOST_DESCRIBE_STRUCT(greet_args, (), (name, times))
%s
int main()
{
    comcp::server server("greeter", "1.0.0");
    server.tool("greet", "Greets somebody", [](greet_args a) { return "Hello, " + a.name; });
%s    return comcp::run_stdio(server);
}
"""
STRUCT = """struct args_{0} {{ std::string text_{0}; int count_{0} = 0; }};
BOOST_DESCRIBE_STRUCT(args_{0}, (), (text_{0}, count_{0}))
"""
TOOL = """    server.tool("tool_{0}", "Does it", [](args_{0} a) {{ return a.text_{0} + std::to_string(a.count_{0}); }});
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        hello = os.path.join(folder, "hello.cpp")
        many = os.path.join(folder, "many.cpp")
        numbers = range(TOOLS)
        with open(hello, "w", encoding="utf-8") as file:
            file.write(HELLO % ("", ""))
        with open(many, "w", encoding="utf-8") as file:
            file.write(HELLO % ("".join(map(STRUCT.format, numbers)), "".join(map(TOOL.format, numbers))))

        def seconds(source, *defines):
            command = [options.compiler, "-std=c++20", "-O0", "-I", os.path.join(ROOT, "include"), *defines,
                       "-c", source, "-o", os.path.join(folder, "out.o")]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        separate = "-DCOMCP_SEPARATE"
        runs = {"linked": (hello, separate), "header-only": (hello,), "many": (many, separate)}
        took = {name: [] for name in runs}
        for _ in range(options.times):
            for name, run in runs.items():
                took[name].append(seconds(*run))
    median = {name: statistics.median(all_of) for name, all_of in took.items()}
    more = statistics.median((many - one) / TOOLS for many, one in zip(took["many"], took["linked"]))
    for figure, value, bar in (("compile a hello server, linked, -O0, s", median["linked"], 6),
                               ("compile one further tool, -O0, s", more, 0.15)):
        print(json.dumps({"figure": figure, "value": round(value, 3), "bar": bar,
                          **({"header_only": round(median["header-only"], 3)} if bar == 6 else {})}), flush=True)


main()
