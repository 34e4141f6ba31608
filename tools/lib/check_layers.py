#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks include/comcp against the layers below, and the form of each header. Prints what is wrong; exit code 1 then.

With --pure it prints instead an include of every header that does no I/O: those programs may use that have neither
exceptions nor RTTI.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"

# Includes point down only. An entry is a header, or a folder (with a slash at its end); the longest entry that fits a
# header decides. A header that no entry fits is an error, so that its layer is chosen and not guessed.
LAYERS = [
    (7, "umbrella", "comcp.hpp stdio.hpp socket.hpp http.hpp middleware.hpp src.hpp"),
    (6, "fleet", "pool/ gateway/ auth/ tls.hpp tls/"),
    (5, "roles", "client/ server/"),
    (4, "session", "session/ middleware/"),
    (3, "transport", "transport/ http/"),
    (2, "protocol", "protocol/ wire/"),
    (1, "json, rpc", "json/ rpc/"),
    (0, "base", "config.hpp asio.hpp error.hpp result.hpp task.hpp timer.hpp limits.hpp policy.hpp observer.hpp"
                " version.hpp fwd.hpp policy/ detail/"),
]  # fmt: skip

# Never include each other, in either direction, directly or not.
STRANGERS = [("client/", "server/")]

# Must not reach, directly or not.
OUT_OF_REACH = [("stdio.hpp", "http/"), ("json/", "rpc/"), ("protocol/", "wire/"), ("pool/", "gateway/")]

# Values and bytes in, values out: no Asio, directly or through another header.
PURE = (
    "json/ rpc/ protocol/ wire/ transport/framing.hpp transport/socket_address.hpp"
    " http/body.hpp http/chunked.hpp http/date.hpp http/event_store.hpp http/fields.hpp http/grammar.hpp"
    " http/guard.hpp http/host.hpp http/limits.hpp http/line.hpp http/media.hpp http/message.hpp http/parser.hpp"
    " http/print.hpp http/refusal.hpp http/reply_rules.hpp http/request_parser.hpp http/response_parser.hpp"
    " http/retry_after.hpp http/sse.hpp http/sse_endpoint.hpp http/listen_address.hpp http/status.hpp http/url.hpp"
    " middleware/redact.hpp config.hpp version.hpp result.hpp limits.hpp policy.hpp policy/ detail/random.hpp"
).split()

# Only these may include OpenSSL.
OPENSSL = "tls.hpp tls/ detail/tls/ auth/".split()

MOST_LINES = 600
SPDX = "// SPDX-License-Identifier: MIT"


def fits(name, entry):
    return name.startswith(entry) if entry.endswith("/") else name == entry


def layer_of(name):
    best = max(
        ((len(entry), layer) for layer, _, entries in LAYERS for entry in entries.split() if fits(name, entry)),
        default=None,
    )
    return None if best is None else best[1]


class Header:
    def __init__(self, path):
        self.path = path
        self.name = path.relative_to(INCLUDE / "comcp").as_posix()
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.includes = []  # (line, name below comcp/)
        self.foreign = []  # (line, name)
        self.wrong = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            if match[1] == '"':
                self.say(number, f'write #include <comcp/...> and not "{match[2]}"')
            elif match[2].startswith("comcp/"):
                self.includes.append((number, match[2].removeprefix("comcp/")))
            else:
                self.foreign.append((number, match[2]))

    def say(self, number, text):
        self.wrong.append(f"include/comcp/{self.name}:{number}: {text}")

    def check_form(self):
        if not self.lines or self.lines[0] != SPDX:
            self.say(1, f"the first line must be {SPDX}")
        elif not re.match(r"// *\w", next((line for line in self.lines[1:] if line.strip() != "//"), "")):
            self.say(2, "a comment must say here what the header is for")
        if self.path.suffix == ".hpp" and "#pragma once" not in self.lines:
            self.say(1, "no #pragma once")
        if len(self.lines) > MOST_LINES:
            self.say(MOST_LINES, f"{len(self.lines)} lines; more than {MOST_LINES} are two headers")


def reached(headers, start):
    """name -> the header that includes it, for all that `start` includes, directly or not."""
    found, todo = {}, [start]
    while todo:
        name = todo.pop()
        for _, other in headers[name].includes if name in headers else ():
            if other not in found:
                found[other] = name
                todo.append(other)
    return found


def chain(found, start, end):
    names = [end]
    while names[-1] != start and len(names) < 50:
        names.append(found[names[-1]])
    return " -> ".join(reversed(names))


def is_asio(name):
    return re.match(r"(boost/)?asio([./])", name) is not None


def check(headers):
    for name, header in headers.items():
        header.check_form()
        layer = layer_of(name)
        if layer is None:
            header.say(1, "is in no layer; add it to the table in tools/lib/check_layers.py")
            continue
        for number, other in header.includes:
            above = layer_of(other)
            if other not in headers:
                header.say(number, f"<comcp/{other}> does not exist")
            elif above is not None and above > layer:
                header.say(number, f"layer {layer} includes <comcp/{other}> of layer {above}")
        for number, other in header.foreign:
            if other in ("asio.hpp", "boost/asio.hpp"):
                header.say(number, f"<{other}> takes half a second more than the parts that are needed")
            if other.startswith("openssl/") and not any(fits(name, entry) for entry in OPENSSL):
                header.say(number, "only the TLS headers may include OpenSSL")

        found = reached(headers, name)
        if name in found:
            header.say(1, "includes itself: " + chain(found, name, found[name]) + f" -> {name}")
        forbidden = [(a, b) for a, b in OUT_OF_REACH] + STRANGERS + [(b, a) for a, b in STRANGERS]
        for here, there in forbidden:
            if fits(name, here):
                for other in sorted(found):
                    if fits(other, there):
                        header.say(1, f"{here} must not reach {there}: {chain(found, name, other)}")
                        break
        if any(fits(name, entry) for entry in PURE):
            for other in [name, *sorted(found)]:
                asio = [include for _, include in headers[other].foreign if is_asio(include)] if other in headers else []
                if asio:
                    way = name if other == name else chain(found, name, other)
                    header.say(1, f"must do without Asio: {way} -> <{asio[0]}>")
                    break


def pure_headers(headers):
    """What is pure by name or stands in the layers 0 to 2, unless it reaches Asio or is the exception of comcp."""
    for name, header in headers.items():
        listed = any(fits(name, entry) for entry in PURE)
        if name.endswith(".ipp") or not listed and (layer_of(name) is None or layer_of(name) > 2):
            continue
        reach = [name, *reached(headers, name)]
        asio = any(is_asio(include) for other in reach if other in headers for _, include in headers[other].foreign)
        if not asio and "error.hpp" not in reach:
            yield name


def leave_out_own_headers(headers):
    """The bodies of a header (impl/*.ipp) are included at its end and include it themselves: that is no cycle."""
    for name, header in headers.items():
        if header.path.suffix == ".ipp":
            own = {other for other, user in headers.items() if any(of == name for _, of in user.includes)}
            header.includes = [(number, other) for number, other in header.includes if other not in own]


def main():
    paths = sorted(path for suffix in ("hpp", "ipp") for path in (INCLUDE / "comcp").rglob(f"*.{suffix}"))
    headers = {header.name: header for header in map(Header, paths)}
    leave_out_own_headers(headers)
    if "--pure" in sys.argv[1:]:
        print("\n".join(f"#include <comcp/{name}>" for name in pure_headers(headers)))
        return 0
    check(headers)
    wrong = [line for header in headers.values() for line in header.wrong]
    for line in wrong:
        print(line)
    print(f"layers: {len(headers)} headers, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
