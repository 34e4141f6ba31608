#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A plain JSON-lines implementation of the table format (README.md), legacy era only, without any SDK.

It stands in for interop_client in `run.py --self-check`, so that a table that is wrong about its server shows, and
with --dump it prints what the server really answers, which is how the tables were made.

    reference_client.py TABLE.json [--dump] -- CMD ARGS...
"""

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time


class Peer:
    def __init__(self, command, table):
        self.table, self.next_id, self.lock = table, 0, threading.Lock()
        self.answers, self.progress = {}, {}
        env = dict(os.environ, **table.get("env", {}))
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
                                      cwd=table.get("cwd"))
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, **message):
        with self.lock:
            if not self.child.stdin.closed:
                self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                self.child.stdin.flush()

    def read(self):
        for line in self.child.stdout:
            message = json.loads(line)
            if "method" not in message:
                if message.get("id") in self.answers:
                    self.answers[message["id"]].put(message)
            elif "id" in message:
                self.send(id=message["id"], **self.serve(message["method"], message.get("params", {})))
            elif message["method"] == "notifications/progress":
                token = message["params"]["progressToken"]
                if token in self.progress:
                    self.progress[token](message["params"])
        for waiting in list(self.answers.values()):
            waiting.put({"error": {"code": 0, "message": "the server left"}})

    def serve(self, method, params):
        if method == "roots/list" and "roots" in self.table:
            return {"result": {"roots": [{"uri": uri} for uri in self.table["roots"]]}}
        if method == "sampling/createMessage" and "sampling" in self.table:
            return {"result": {"role": "assistant", "model": "interop-model", "stopReason": "endTurn",
                               "content": {"type": "text", "text": self.table["sampling"]}}}
        if method == "elicitation/create" and "elicitation" in self.table:
            return {"result": self.table["elicitation"]}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": "no such method"}}

    def start(self, method, params, on_progress=None):
        self.next_id += 1
        number = self.next_id
        self.answers[number] = queue.Queue()
        if on_progress:
            params = {**params, "_meta": {"progressToken": number}}
            self.progress[number] = on_progress
        self.send(id=number, method=method, params=params)
        return number

    def finish(self, number, timeout=30):
        message = self.answers[number].get(timeout=timeout)
        del self.answers[number]
        return message

    def request(self, method, params):
        message = self.finish(self.start(method, params))
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]


def subset(want, got):
    """Objects: every member of want is in got. Everything else is equal."""
    if isinstance(want, dict):
        return isinstance(got, dict) and all(key in got and subset(value, got[key]) for key, value in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(subset, want, got))
    return want == got


def wrong(call, message, events):
    """What is wrong with this answer, or None."""
    error = message.get("error")
    if "expect_error_code" in call:
        return None if error and error["code"] == call["expect_error_code"] else f"wanted an error, got {message}"
    if error:
        return f"error: {error}"
    result = message["result"]
    blocks = result.get("content", [])
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    if result.get("isError", False) != call.get("expect_is_error", False):
        return f"isError: {result}"
    if "expect_text" in call and text != call["expect_text"]:
        return f"text: got {text!r}, wanted {call['expect_text']!r}"
    for part in call.get("expect_text_contains", []):
        if part not in text:
            return f"text: {part!r} is not in {text!r}"
    if "expect_text_lines" in call and sorted(text.split("\n")) != sorted(call["expect_text_lines"]):
        return f"lines: got {sorted(text.split(chr(10)))}, wanted {sorted(call['expect_text_lines'])}"
    if "expect_text_json" in call:
        try:
            value = json.loads(text)
        except ValueError:
            return f"text is no JSON: {text!r}"
        if not subset(call["expect_text_json"], value):
            return f"text as JSON: got {value}, wanted {call['expect_text_json']}"
    if "expect_structured" in call and not subset(call["expect_structured"], result.get("structuredContent")):
        return f"structuredContent: got {result.get('structuredContent')}, wanted {call['expect_structured']}"
    if "expect_content" in call and not subset(call["expect_content"], blocks):
        return f"content: got {blocks}, wanted {call['expect_content']}"
    if len(events) < call.get("expect_progress_at_least", 0):
        return f"only {len(events)} progress notifications"
    if any(a["progress"] >= b["progress"] for a, b in zip(events, events[1:])):
        return f"progress does not increase: {events}"
    return None


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--")
    options, command = arguments[:split], arguments[split + 1:]
    with open(options[0], encoding="utf-8") as file:
        table = json.load(file)
    dump = "--dump" in options
    all_ok = True

    def report(check, problem, detail=""):
        nonlocal all_ok
        all_ok = all_ok and not problem
        print(json.dumps({"check": check, "ok": not problem, "detail": problem or detail}), flush=True)

    peer = Peer(command, table)
    capabilities = {name: value for name, value in (("roots", {}), ("sampling", {}), ("elicitation", {"form": {}}))
                    if name in table}
    try:
        result = peer.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                                             "clientInfo": {"name": "reference", "version": "1"}})
        peer.send(method="notifications/initialized")
        report("connect", None, f"{result['serverInfo'].get('name')} at {result['protocolVersion']}")
    except Exception as error:
        report("connect", repr(error))
        sys.exit(1)

    deadline = time.monotonic() + 5  # some servers add tools only after the handshake
    while True:
        tools, cursor = [], None
        while True:
            page = peer.request("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        names = sorted(tool["name"] for tool in tools)
        if names == sorted(table.get("expect_tools", names)) or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    if dump:
        print(json.dumps(tools, indent=1, ensure_ascii=False))
    report("list", None if names == sorted(table.get("expect_tools", names)) else f"tools: {names}")

    for call in table.get("calls", []):
        events, enough = [], threading.Event()
        cancel_after = call.get("cancel_after_progress", 0)

        def on_progress(params):
            events.append(params)
            if cancel_after and len(events) >= cancel_after:
                enough.set()

        wants = cancel_after or "expect_progress_at_least" in call
        number = peer.start("tools/call", {"name": call["name"], "arguments": call.get("arguments", {})},
                            on_progress if wants else None)
        try:
            if cancel_after:
                if not enough.wait(20):
                    raise queue.Empty
                peer.send(method="notifications/cancelled", params={"requestId": number, "reason": "enough"})
                peer.answers.pop(number, None)  # an answer that comes all the same is dropped
                report(call["check"], None)
                continue
            message = peer.finish(number)
        except queue.Empty:
            report(call["check"], "no answer")
            continue
        if dump:
            print(call["check"], json.dumps(message.get("result", message), indent=1, ensure_ascii=False))
        report(call["check"], wrong(call, message, events))

    with peer.lock:
        peer.child.stdin.close()
    how = "left at end of input"
    try:
        peer.child.wait(2)
    except subprocess.TimeoutExpired:  # several published servers do not look for it
        how = "had to be ended"
        peer.child.terminate()
        peer.child.wait(5)
    report("close", None, how)
    sys.exit(0 if all_ok else 1)


main()
