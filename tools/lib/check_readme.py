#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the README and docs/ show against what is there.

A C++ block of the README stands below `<!-- examples/NAME.cpp -->` and equals that file without its opening comment.
Examples are short, links name files that exist. With --fix the blocks are written into the README.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?:<!-- (\S+) -->\n)?```cpp\n(.*?)```\n", re.DOTALL)
LINES_OF_CODE = {"examples/01_hello_server.cpp": 12, "examples/02_hello_client.cpp": 9}
LINES_OF_NUMBERED = 80  # fewer than these
NO_CODE = re.compile(r"\s*(//.*|#\s*include\b.*|[{}();]*)\s*")  # blank, comment, include, braces


def without_opening_comment(path):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    while lines and (lines[0].startswith("//") or not lines[0].strip()):
        lines.pop(0)
    return "".join(lines)


def check_blocks(fix):
    text = README.read_text(encoding="utf-8")
    wrong, shown = [], set()

    def compare(match):
        name = match[1]
        if not name or not (ROOT / name).is_file():
            wrong.append(f"README.md: a C++ block without an existing file above it: {match[2].splitlines()[:1]}")
            return match[0]
        shown.add(name)
        code = without_opening_comment(ROOT / name)
        if match[2] != code and not fix:
            wrong.append(f"README.md: the block is not {name} (tools/lib/check_readme.py --fix)")
        return f"<!-- {name} -->\n```cpp\n{code}```\n"

    fixed = BLOCK.sub(compare, text)
    if fix and fixed != text:
        README.write_text(fixed, encoding="utf-8")
    wrong += [f"README.md: {name} is not shown" for name in LINES_OF_CODE if name not in shown]
    return wrong


def check_lengths():
    wrong = []
    for name, most in LINES_OF_CODE.items():
        code = [line for line in (ROOT / name).read_text().splitlines() if not NO_CODE.fullmatch(line)]
        if len(code) > most:
            wrong.append(f"{name}: {len(code)} lines of code, at most {most}")
    for path in sorted((ROOT / "examples").glob("[0-9]*.cpp")):
        lines = len(path.read_text().splitlines())
        if lines >= LINES_OF_NUMBERED:
            wrong.append(f"examples/{path.name}: {lines} lines, fewer than {LINES_OF_NUMBERED} are wanted")
    return wrong


def check_links():
    wrong = []
    for page in [README, *sorted((ROOT / "docs").glob("*.md"))]:
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            if "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")
    return wrong


def main():
    wrong = check_blocks("--fix" in sys.argv[1:]) + check_lengths() + check_links()
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
