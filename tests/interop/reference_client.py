#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A plain implementation of the table format (README.md), legacy era only, over stdio or HTTP, without any SDK.

It stands in for interop_client in `run.py --self-check`, so that a table that is wrong about its server shows, and
with --dump it prints what the server really answers, which is how the tables were made.

    reference_client.py TABLE.json [--dump] -- CMD ARGS...
    reference_client.py TABLE.json [--dump] URL
"""

import http.client
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request


class Peer:
    """Correlates; how a message is sent and how the connection ends is said by what derives from it."""

    def __init__(self, table):
        self.table, self.step, self.next_id, self.lock = table, {}, 0, threading.Lock()
        self.answers, self.progress = {}, {}
        self.updated, self.logs, self.notices = [], [], []  # what came since the step began
        self.told = threading.Condition()  # guards them

    def take(self, message):
        if "method" not in message:
            if message.get("id") in self.answers:
                self.answers[message["id"]].put(message)
        elif "id" in message:
            self.send(id=message["id"], **self.serve(message["method"], message.get("params", {})))
        elif message["method"] == "notifications/progress":
            token = message["params"]["progressToken"]
            if token in self.progress:
                self.progress[token](message["params"])
        elif message["method"] == "notifications/resources/updated":
            with self.told:
                self.updated.append(message["params"]["uri"])
                self.told.notify_all()
        elif message["method"] == "notifications/message":
            with self.told:
                self.logs.append(message["params"])
                self.told.notify_all()
        elif message["method"].endswith("/list_changed"):
            self.notice(message["method"].split("/")[1])
        elif message["method"] == "notifications/elicitation/complete":
            self.notice("completed " + message["params"]["elicitationId"])

    def notice(self, line):
        with self.told:
            self.notices.append(line)
            self.told.notify_all()

    def serve(self, method, params):
        if method == "roots/list" and "roots" in self.table:
            return {"result": {"roots": [{"uri": uri} for uri in self.table["roots"]]}}
        if method in ("sampling/createMessage", "elicitation/create") and "answers" in self.table:
            return self.answer(params)
        if method == "sampling/createMessage" and "sampling" in self.table:
            return {"result": {"role": "assistant", "model": "interop-model", "stopReason": "endTurn",
                               "content": {"type": "text", "text": self.table["sampling"]}}}
        if method == "elicitation/create" and "elicitation" in self.table:
            of = "elicitation"
            if params.get("mode") == "url":
                of = "url_elicitation"
                self.notice("url " + params["url"])
            return {"result": self.step.get(of, self.table[of])}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": "no such method"}}

    def answer(self, params):
        """What the step says, with the defaults of a form; an answer that does not fit it is not sent."""
        asked = self.step.setdefault("asked", [])
        asked.append(params)
        answer = self.step["answers"][len(asked) - 1]
        form = params.get("requestedSchema", {}).get("properties", {})
        for name, field in form.items() if answer.get("action") == "accept" else ():
            if "default" in field:
                answer["content"].setdefault(name, field["default"])
            if "maximum" in field and answer["content"][name] > field["maximum"]:
                return {"error": {"code": -32603, "message": f"{name} does not fit the form"}}
        return {"result": answer}

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

    def begin(self):
        offers = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}
        capabilities = {name: value for name, value in offers.items() if name in self.table}
        if "url_elicitation" in self.table:
            capabilities["elicitation"]["url"] = {}
        if "answers" in self.table:
            capabilities |= {"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}
        result = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                                             "clientInfo": {"name": "reference", "version": "1"}})
        self.send(method="notifications/initialized")
        return result


class Program(Peer):
    def __init__(self, command, table):
        super().__init__(table)
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
            self.take(json.loads(line))
        for waiting in list(self.answers.values()):
            waiting.put({"error": {"code": 0, "message": "the server left"}})

    def close(self):
        with self.lock:
            self.child.stdin.close()
        try:
            self.child.wait(2)
            return "left at end of input"
        except subprocess.TimeoutExpired:  # several published servers do not look for it
            self.child.terminate()
            self.child.wait(5)
            return "had to be ended"


class Web(Peer):
    """Streamable HTTP: a thread for each request that may be answered by a stream."""

    def __init__(self, url, table):
        super().__init__(table)
        self.url, self.session = url, None
        self.pause = 0.2  # s before a stream is resumed, where the server does not say

    def open(self, method, message=None, last_event=None):
        fields = {"Accept": "application/json, text/event-stream"}
        if message:
            fields["Content-Type"] = "application/json"
        if self.session:
            fields |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"}
        if last_event:
            fields["Last-Event-ID"] = last_event
        body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else None
        response = urllib.request.urlopen(urllib.request.Request(self.url, body, fields, method=method), timeout=60)
        if method == "POST" and "Mcp-Session-Id" in response.headers:
            self.session = response.headers["Mcp-Session-Id"]
        return response

    def send(self, **message):
        if "method" in message and "id" in message:
            threading.Thread(target=self.call, args=(message,), daemon=True).start()
            return
        self.open("POST", message).close()
        if message.get("method") == "notifications/initialized":
            # Open before the first call: what a server asks on this stream may be lost while there is none.
            threading.Thread(target=self.listen, args=(self.listening(),), daemon=True).start()

    def call(self, message):
        number, resuming = message["id"], False
        try:
            response = self.open("POST", message)
            if response.headers["Content-Type"].startswith("application/json"):
                return self.take(json.load(response))
            last, answered = self.events(response)
            while not answered:
                resuming = True
                time.sleep(self.pause)
                newer, answered = self.events(self.open("GET", last_event=last))
                last = newer or last
        except urllib.error.HTTPError as error:
            if error.code not in (400, 404) or resuming:  # 400 of server-everything
                return self.take({"id": number, "error": {"code": 0, "message": str(error), "unknown": resuming}})
            self.session = None  # it is gone, and this call was not begun
            self.begin()
            self.call(message)
        except Exception as error:
            self.take({"id": number, "error": {"code": 0, "message": repr(error)}})

    def listening(self):
        """A stream for what the server asks when no call of ours is the reason, or None."""
        try:
            return self.open("GET")
        except OSError:
            return None

    def listen(self, response):
        while response:
            self.events(response)
            response = self.listening()

    def events(self, response):
        """The id of the last event, and whether an answer was among them."""
        last, data = None, ""
        try:
            with response:
                for line in response:
                    name, _, value = line.decode().rstrip("\r\n").partition(":")
                    if name == "id":
                        last = value.strip()
                    elif name == "retry":
                        self.pause = int(value) / 1000
                    elif name == "data":
                        data += value.removeprefix(" ")
                    elif line.strip() == b"" and data:
                        message, data = json.loads(data), ""
                        self.take(message)
                        if "method" not in message:
                            return last, True
        except (OSError, http.client.HTTPException):
            pass
        return last, False

    def close(self):
        self.open("DELETE").close()
        return "session deleted"


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
    if call.get("expect_unknown"):
        return None if error and error.get("unknown") else f"wanted an unknown outcome, got {message}"
    if "expect_asked" in call and not subset(call["expect_asked"], call.get("asked")):
        return f"asked: got {call.get('asked')}, wanted {call['expect_asked']}"
    if "expect_urls" in call and not subset(call["expect_urls"], (error or {}).get("data", {}).get("elicitations")):
        return f"URLs: got {message}, wanted {call['expect_urls']}"
    if "expect_error_code" in call:
        return None if error and error["code"] == call["expect_error_code"] else f"wanted an error, got {message}"
    if error:
        return f"error: {error}"
    result = message["result"]
    if "method" in call:
        if "expect_result" in call and not subset(call["expect_result"], result):
            return f"result: got {result}, wanted {call['expect_result']}"
        return None
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


def not_told(call, peer):
    """What is wrong with the notices that came since the step began, or None."""
    for member, notices in (("expect_updated", peer.updated), ("expect_logs", peer.logs),
                            ("expect_notices", peer.notices)):
        want = call.get(member)
        if want is None:
            continue
        with peer.told:  # 0.3 s for one that should not come
            peer.told.wait_for(lambda: len(notices) >= (len(want) or 1), 5 if want else 0.3)
        if not subset(want, sorted(notices) if member == "expect_notices" else notices):
            return f"{member}: got {notices}, wanted {want}"
    return None


def main():
    arguments = sys.argv[1:]
    with open(arguments[0], encoding="utf-8") as file:
        table = json.load(file)
    over_http = "--" not in arguments
    split = len(arguments) - 1 if over_http else arguments.index("--")
    dump = "--dump" in arguments[:split]
    all_ok = True

    def report(check, problem, detail=""):
        nonlocal all_ok
        all_ok = all_ok and not problem
        print(json.dumps({"check": check, "ok": not problem, "detail": problem or detail}), flush=True)

    peer = Web(arguments[-1], table) if over_http else Program(arguments[split + 1:], table)
    try:
        result = peer.begin()
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

        def on_progress(params, events=events, enough=enough, cancel_after=cancel_after):
            events.append(params)
            if cancel_after and len(events) >= cancel_after:
                enough.set()

        peer.step = call
        peer.updated.clear()
        peer.logs.clear()
        peer.notices.clear()
        if "set_roots" in call:
            table["roots"] = call["set_roots"]
            peer.send(method="notifications/roots/list_changed")
        wants = cancel_after or "expect_progress_at_least" in call
        params = {"name": call.get("name"), "arguments": call.get("arguments", {})}
        if "method" in call:
            params = call.get("params", {})
        number = peer.start(call.get("method", "tools/call"), params, on_progress if wants else None)
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
        report(call["check"], wrong(call, message, events) or not_told(call, peer))

    try:
        report("close", None, peer.close())
    except OSError as error:
        report("close", repr(error))
    sys.exit(0 if all_ok else 1)


main()
