#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a stdio server and keeps a copy of every line that goes through: tap.py LOG -- CMD ARGS...

Each line of LOG is `> ` (to the server) or `< ` (from it) and the line as it was.
"""

import os
import signal
import subprocess
import sys
import threading

split = sys.argv.index("--")
child = subprocess.Popen(sys.argv[split + 1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
log = open(sys.argv[1], "ab", buffering=0)
lock = threading.Lock()


def copy(source, sink, mark):
    try:
        for line in source:
            with lock:
                log.write(mark + line + (b"" if line.endswith(b"\n") else b"\n"))
            sink.write(line)
            sink.flush()
        if sink is child.stdin:
            sink.close()
    except OSError:
        pass


signal.signal(signal.SIGTERM, lambda *_: child.terminate())
threading.Thread(target=copy, args=(sys.stdin.buffer, child.stdin, b"> "), daemon=True).start()
output = threading.Thread(target=copy, args=(child.stdout, sys.stdout.buffer, b"< "), daemon=True)
output.start()
status = child.wait()
output.join(5)
sys.stdout.flush()
# Not sys.exit: the thread that reads our input holds its lock, and the interpreter would abort over it.
os._exit(status if status >= 0 else 128 - status)
