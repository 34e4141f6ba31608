#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Refuses `co_await` in the condition of if, while, for or switch. Prints where it stands; exit code 1 then.

g++ 12 lays out the frame of such a coroutine wrongly, in silence, when it declares no local variable: see
tests/toolchain/await_in_condition.cpp. Name the value first: `const bool late = co_await x; if (late) ...`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("include", "examples", "tests", "benchmarks")
EXEMPT = ("tests/toolchain/",)  # programs that show what compilers do with it
SUFFIXES = (".hpp", ".ipp", ".cpp")

# Comments and literals, which are blanked. An apostrophe after a digit belongs to the number.
QUIET = re.compile(
    r"""
      //[^\n]*
    | /\*.*?\*/
    | R"(?P<mark>[^()\s\\"]{0,16})\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*"
    | (?<!\w)'(?:\\.|[^'\\\n])+'
    """,
    re.DOTALL | re.VERBOSE,
)
HEAD = re.compile(r"\b(if|while|for|switch)\b(?:\s+constexpr)?\s*\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def inside(text, start):
    """What stands between the parenthesis before `start` and the one that closes it."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return text[start:]


def wrong_places(text):
    text = QUIET.sub(blank, text)
    for match in HEAD.finditer(text):
        head = inside(text, match.end())
        if match[1] == "for" and ";" not in head:
            continue  # over a range: that declares a variable
        if re.search(r"\bco_await\b", head):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def main():
    wrong = 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in SUFFIXES or name.startswith(EXEMPT) or "/node_modules/" in name:
                continue
            for number, word in wrong_places(path.read_text(encoding="utf-8")):
                print(f"{name}:{number}: co_await in the condition of `{word}`: name the value first (g++ 12)")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
