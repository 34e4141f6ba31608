# SPDX-License-Identifier: MIT
"""A client on the official Python SDK: the same checks as ../node/client.mjs.

python client.py [--era legacy|auto|modern] [--lenient] [--killed | --more] -- CMD ARGS... | URL
"""

import argparse
import base64
import json
import os
import sys
import time
import traceback
import warnings
from contextlib import asynccontextmanager

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (CreateMessageResult, ElicitResult, Implementation, ListRootsResult, PromptReference,
                       ResourceTemplateReference, Root, TextContent)

import more_client

warnings.simplefilter("ignore", MCPDeprecationWarning)  # roots and sampling

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
TOOLS = ["add", "ask_elicit", "ask_roots", "ask_sampling", "ask_url", "echo", "fail", "grow", "image", "log", "mixed",
         "slow", "touch"]
ROOTS = ["file:///interop/a", "file:///interop/b%20b"]
TRICKY = 'first "quoted" \\ back\nsecond\r\n\ttab \u0001 gr\u00fc\u00df \u65e5\u672c\u8a9e \U0001f600 \u2028 </script> end'

all_ok = True
seen = []  # what the server sent, as JSON values; filled by the tap
waiting = []  # events of who waits for more of it


def report(check, ok, detail):
    global all_ok
    all_ok = all_ok and ok
    print(json.dumps({"check": check, "ok": ok, "detail": str(detail)}), flush=True)


async def check(name, body):
    try:
        report(name, True, await body() or "")
    except Exception as error:  # the next check runs all the same
        where = traceback.extract_tb(error.__traceback__)[-1]
        report(name, False, f"{type(error).__name__}: {error} (line {where.lineno})")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def same(got, want, what):
    expect(got == want, f"{what}: got {got!r}, wanted {want!r}")


def text_of(result):
    same([block.type for block in result.content], ["text"], "blocks")
    return result.content[0].text


@asynccontextmanager
async def tapped(transport):
    """The transport, with a copy of every incoming message in `seen`."""
    async with transport as (read, write):
        put, take = anyio.create_memory_object_stream(0)

        async def pump():
            async with put:
                async for item in read:
                    if not isinstance(item, Exception):
                        seen.append(item.message.model_dump(mode="json", by_alias=True, exclude_none=True))
                        for event in waiting:
                            event.set()
                    await put.send(item)

        async with anyio.create_task_group() as group:
            group.start_soon(pump)
            yield take, write
            group.cancel_scope.cancel()


class Http:
    """One connection over Streamable HTTP, whose session id the SDK keeps to itself."""

    def __init__(self, url):
        self.url, self.session, self.failed = url, None, None
        self.web = httpx2.AsyncClient(timeout=30, event_hooks={"response": [self.note]})

    async def note(self, response):
        self.session = response.headers.get("mcp-session-id", self.session)
        if response.request.method == "POST":
            self.failed = response.status_code if response.is_error else None

    def transport(self):
        return tapped(streamable_http_client(self.url, http_client=self.web))

    async def status(self, method, message=None):
        """The answer to what the SDK would not send by itself."""
        headers = {"mcp-session-id": self.session, "mcp-protocol-version": "2025-11-25",
                   "accept": "application/json, text/event-stream"}
        return (await self.web.request(method, self.url, headers=headers, json=message)).status_code


async def on_roots(context):
    return ListRootsResult(roots=[Root(uri=uri) for uri in ROOTS])


async def on_sampling(context, params):
    same(params.max_tokens, 50, "maxTokens")
    same([message.role for message in params.messages], ["user"], "messages")
    content = params.messages[0].content
    block = content[0] if isinstance(content, list) else content
    return CreateMessageResult(role="assistant", model="interop-model", stop_reason="endTurn",
                               content=TextContent(text=f"model says: {block.text}"))


async def on_elicit(context, params):
    if params.message in ("Decline this", "Cancel this"):
        return ElicitResult(action=params.message.split()[0].lower())
    if params.mode == "url":
        same((params.message, params.url), ("Open it?", "https://example.com/interop"), "URL")
        return ElicitResult(action="accept")
    same(params.message, "Your name?", "message")
    same(params.requested_schema["properties"]["name"]["type"], "string", "type of the field")
    return ElicitResult(action="accept", content={"name": "Ada"})


async def checks(client, era, lenient, over_http, more):
    version = client.protocol_version
    modern = version >= "2026-07-28"
    call = client.call_tool

    async def initialize():
        if era != "auto":
            same(version, "2025-11-25" if era == "legacy" else "2026-07-28", "protocol version")
        info = client.server_info
        if era == "modern":  # a pinned version asks nothing, so there is nothing to see yet
            return f"at {version}"
        expect(info and info.name and info.version, f"server info: {info}")
        expect(client.server_capabilities.tools is not None, "tools capability")
        return f"{info.name} {info.version} at {version}"

    async def ping():
        if modern:
            return "this revision has no ping"
        await client.send_ping()

    async def listing():
        tools = (await client.list_tools()).tools
        same(sorted(tool.name for tool in tools), TOOLS, "names")
        for tool in tools:
            same(tool.input_schema["type"], "object", f"inputSchema of {tool.name}")
            expect(tool.description, f"description of {tool.name}")

    async def echo():
        for text in (TRICKY, "", "x" * 300000):
            result = await call("echo", {"text": text})
            expect(not result.is_error, "is_error")
            same(text_of(result), text, "text")

    async def add():
        for a, b in ((2, 3), (0.5, -2.25), (1e15, 1)):
            result = await call("add", {"a": a, "b": b})
            same(result.structured_content, {"sum": a + b}, "structuredContent")
            same(json.loads(text_of(result)), {"sum": a + b}, "text")

    async def fail():
        result = await call("fail", {})
        same(result.is_error, True, "isError")
        same(text_of(result), "it failed", "text")

    async def image():
        content = (await call("image", {})).content
        same([(block.type, block.mime_type) for block in content], [("image", "image/png")], "blocks")
        same(base64.b64decode(content[0].data)[:8], b"\x89PNG\r\n\x1a\n", "PNG signature")

    async def mixed():
        content = (await call("mixed", {})).content
        same([block.type for block in content], ["text", "image", "audio", "resource_link", "resource"], "kinds")
        _, picture, audio, link, embedded = content
        same(base64.b64decode(picture.data), base64.b64decode(PNG), "bytes of the image")
        same((audio.mime_type, base64.b64decode(audio.data)[:4]), ("audio/wav", b"RIFF"), "audio")
        expect("://" in str(link.uri) and link.name, "resource link")
        expect("://" in str(embedded.resource.uri) and embedded.resource.text, "embedded resource")

    async def progress():
        events = []

        async def on_progress(done, total, message):
            events.append((done, total, message))

        before = len(seen)
        result = await call("slow", {"steps": 4, "delay_ms": 50}, progress_callback=on_progress)
        same(text_of(result), "done", "text")
        wire = [(m["params"]["progress"], m["params"]["total"], m["params"]["message"]) if "method" in m else "answer"
                for m in seen[before:]]
        want = [(i, 4, f"step {i}") for i in range(1, 5)]
        same(wire, want + ["answer"], "wire")
        expect(len(events) >= 2, f"only {len(events)} events")
        same(events, want[:len(events)], "events")
        before = len(seen)
        same(text_of(await call("slow", {"steps": 2, "delay_ms": 10})), "done", "text without a token")
        same([m for m in seen[before:] if m.get("method") == "notifications/progress"], [], "progress without a token")
        return f"{len(events)} of 4 events"

    async def cancel():
        started = time.monotonic()
        with anyio.CancelScope() as scope:
            async def on_progress(done, total, message):
                scope.cancel()

            await call("slow", {"steps": 100, "delay_ms": 100}, progress_callback=on_progress)
        expect(scope.cancelled_caught, "the call ended as if nobody had cancelled it")
        expect(time.monotonic() - started < 5, "the abort took too long")
        same(text_of(await call("echo", {"text": "still here"})), "still here", "echo after it")
        await anyio.sleep(0.3)  # what was under way may still arrive
        before = len(seen)
        await anyio.sleep(0.5)
        same(seen[before:], [], "messages of a call that was cancelled")

    async def bad_arguments():
        result = await call("echo", {"text": 5})
        same(result.is_error, True, "isError")
        return result.content[0].text

    async def unknown_tool():
        try:
            result = await call("no_such_tool", {})
        except MCPError as error:
            same(error.code, -32602, "code")
            return error.message
        expect(lenient and result.is_error, f"no protocol error but {result}")
        return f"tool error: {result.content[0].text}"

    async def ask_roots():
        same(text_of(await call("ask_roots", {})), ",".join(ROOTS), "text")

    async def ask_sampling():
        same(text_of(await call("ask_sampling", {"prompt": 'Why "so"?'})), 'model says: Why "so"?', "text")

    async def ask_elicit():
        same(text_of(await call("ask_elicit", {"message": "Your name?"})), "action=accept name=Ada", "text")

    async def elicit_refused():
        same(text_of(await call("ask_elicit", {"message": "Decline this"})), "action=decline", "text")
        same(text_of(await call("ask_elicit", {"message": "Cancel this"})), "action=cancel", "text")

    async def ask_url():
        before = len(seen)
        same(text_of(await call("ask_url", {"message": "Open it?"})), "action=accept", "text")
        if modern:
            return "this revision does not tell of the end"
        same(await told("notifications/elicitation/complete", before, 1), [{"elicitationId": "interop-1"}], "completed")

    async def roots_changed():
        if modern:
            return "this revision has no notice of it"
        kept, ROOTS[:] = list(ROOTS), ["file:///interop/c"]
        await client.send_roots_list_changed()
        same(text_of(await call("ask_roots", {})), "file:///interop/c", "text")
        ROOTS[:] = kept

    async def failure(of, codes, what):
        try:
            await of
        except MCPError as error:
            expect(lenient or modern or error.code in codes, f"{what}: code {error.code}, wanted {codes}")
            return error.message
        raise AssertionError(f"{what} has succeeded")

    async def told(method, since, count):
        def found():
            return [m.get("params") for m in seen[since:] if m.get("method") == method]
        with anyio.move_on_after(5 if count else 0.3):  # 0.3 s for one that should not come
            while len(found()) < (count or 1):
                waiting[:] = [anyio.Event()]
                await waiting[0].wait()
        return found()

    if more:  # the second tool set
        report("initialize", True, version)
        return await more_client.run(client, seen, told, check, same, expect, text_of)

    async def resources():
        found = [(each.uri, each.name, each.description, each.mime_type)
                 for each in (await client.list_resources()).resources]
        same(sorted(found), [
            ("test://interop/bytes", "bytes", "An image", "image/png"),
            ("test://interop/text", "text", "A text", "text/plain"),
            ("test://interop/watched", "watched", "What touch has written", "text/plain"),
        ], "resources")

    async def templates():
        found = (await client.list_resource_templates()).resource_templates
        same([(each.uri_template, each.name, each.description, each.mime_type) for each in found],
             [("test://interop/items/{id}", "items", "An item by its id", "text/plain")], "templates")

    async def read_one(uri):
        contents = (await client.read_resource(uri)).contents
        same(len(contents), 1, f"contents of {uri}")
        content = contents[0].model_dump(by_alias=True, exclude_none=True)
        return {key: content[key] for key in ("uri", "mimeType", "text", "blob") if key in content}

    async def read():
        for uri, rest in (
            ("test://interop/text", {"mimeType": "text/plain", "text": "a text: grüß 日本語 \U0001f600"}),
            ("test://interop/bytes", {"mimeType": "image/png", "blob": PNG}),
            ("test://interop/items/7", {"mimeType": "text/plain", "text": "item 7"}),
        ):
            same(await read_one(uri), {"uri": uri, **rest}, uri)

    async def missing_resource():
        await failure(client.read_resource("other://nothing"), [-32002], "reading what no template fits")
        return await failure(client.read_resource("test://interop/items/none"), [-32002],
                             "reading an item that is not there")

    async def subscribe():
        if modern:
            return "this revision has other subscriptions"
        uri, method = "test://interop/watched", "notifications/resources/updated"
        await client.subscribe_resource(uri)
        before = len(seen)
        same(text_of(await call("touch", {"text": "once"})), "touched", "text")
        same(await told(method, before, 1), [{"uri": uri}], "updates")
        same((await read_one(uri))["text"], "once", "text after the update")
        await client.unsubscribe_resource(uri)
        before = len(seen)
        same(text_of(await call("touch", {"text": "untouched"})), "touched", "text")
        same(await told(method, before, 0), [], "updates after it")

    async def prompts():
        found = sorted((await client.list_prompts()).prompts, key=lambda each: each.name)
        same([(each.name, each.description, [(a.name, a.description, bool(a.required)) for a in each.arguments or []])
              for each in found], [
            ("greet", "Greets somebody", [("name", "Whom to greet", True), ("tone", "How to greet", False)]),
            ("pictured", "A prompt with an image and a resource", []),
            ("plain", "A prompt without arguments", []),
        ], "prompts")

    async def prompt():
        def said(role, text):
            return {"role": role, "content": {"type": "text", "text": text}}
        for name, given, messages in (
            ("plain", None, [said("user", "a plain prompt")]),
            ("greet", {"name": "Ada"}, [said("user", "Greet Ada"), said("assistant", "I will")]),
            ("greet", {"name": "Ada", "tone": "formal"},
             [said("user", "Greet Ada in a formal tone"), said("assistant", "I will")]),
            ("pictured", None, [
                {"role": "user", "content": {"type": "image", "mimeType": "image/png", "data": PNG}},
                {"role": "user", "content": {"type": "resource", "resource": {
                    "uri": "test://interop/embedded", "mimeType": "text/plain", "text": "embedded text"}}},
            ]),
        ):
            result = await client.get_prompt(name, given)
            same([m.model_dump(mode="json", by_alias=True, exclude_none=True) for m in result.messages], messages, name)

    async def bad_prompt():
        await failure(client.get_prompt("greet", {}), [-32602], "a prompt without its argument")
        return await failure(client.get_prompt("no_such_prompt"), [-32602], "a prompt that is not there")

    async def complete():
        greet, items = PromptReference(name="greet"), ResourceTemplateReference(uri="test://interop/items/{id}")
        for ref, name, value, others, values in (
            (greet, "name", "A", None, ["Ada", "Alan"]),
            (greet, "name", "x", None, []),
            (greet, "tone", "f", {"name": "Ada"}, ["formal to Ada", "friendly to Ada"]),
            (greet, "tone", "fo", {"name": "Ada"}, ["formal to Ada"]),
            (greet, "tone", "f", None, []),
            (items, "id", "al", None, ["alpha", "alphabet"]),
        ):
            result = await client.complete(ref, {"name": name, "value": value}, others)
            same(result.completion.values, values, f"{name}={value}")

    async def logging():
        if modern:
            return "this revision has no level of a session"
        debug = {"level": "debug", "logger": "interop", "data": "a debug line"}
        warning = {"level": "warning", "logger": "interop", "data": "a warning"}
        for level, lines in (("debug", [debug, warning]), ("warning", [warning]), ("error", [])):
            await client.set_logging_level(level)
            before = len(seen)
            same(text_of(await call("log", {})), "logged", "text")
            same(await told("notifications/message", before, len(lines)), lines, f"at {level}")

    async def list_changed():
        if modern:
            return "this revision has other subscriptions"
        for on in (True, False):
            before = len(seen)
            same(text_of(await call("grow", {"on": on})), "grown" if on else "shrunk", "text")
            for kind in ("tools", "resources", "prompts"):
                expect(await told(f"notifications/{kind}/list_changed", before, 1), f"nobody told of the {kind}")
            lists = ((await client.list_tools()).tools, (await client.list_resources()).resources,
                     (await client.list_prompts()).prompts)
            same(["grown" in [each.name for each in found] for found in lists], [on] * 3, f"there after {on}")

    async def resume():
        """The connection is cut after the second step. What follows comes once, and in order."""
        async def on_progress(done, total, message):
            pass

        before = len(seen)
        result = await call("slow", {"steps": 7, "delay_ms": 50}, progress_callback=on_progress)
        same(text_of(result), "done", "text")
        wire = [m["params"]["progress"] if "method" in m else "answer" for m in seen[before:]]
        same(wire, [*range(1, 8), "answer"], "wire")

    for name, body in dict(initialize=initialize, ping=ping, list=listing, echo=echo, add=add, fail=fail, image=image,
                           mixed=mixed, progress=progress, cancel=cancel, bad_arguments=bad_arguments,
                           unknown_tool=unknown_tool, ask_roots=ask_roots, ask_sampling=ask_sampling,
                           ask_elicit=ask_elicit, elicit_refused=elicit_refused, ask_url=ask_url,
                           roots_changed=roots_changed, resources=resources, templates=templates, read=read,
                           missing_resource=missing_resource, subscribe=subscribe, prompts=prompts, prompt=prompt,
                           bad_prompt=bad_prompt, complete=complete, logging=logging, list_changed=list_changed,
                           **({"resume": resume} if over_http else {})).items():
        await check(name, body)


async def killed(connection):
    """Somebody kills the server in the middle of a call and starts it again."""
    http = connection()
    async with http.client() as client:
        async def slow():
            async def on_progress(done, total, message):
                pass
            try:
                await client.call_tool("slow", {"steps": 9, "delay_ms": 100}, read_timeout_seconds=3,
                                       progress_callback=on_progress)
            except MCPError as error:
                return error.message
            raise AssertionError("the call ended as if nothing had happened")

        async def lost():
            try:
                await client.call_tool("echo", {"text": "lost"})
            except MCPError as error:
                same(http.failed, 404, "status")
                return error.message
            raise AssertionError("a call in a session that is gone has succeeded")

        report("initialize", True, "")
        await check("killed", slow)
        await check("lost", lost)
    again = connection()

    async def echo():
        async with again.client() as client:
            same(text_of(await client.call_tool("echo", {"text": "again"})), "again", "text")
    await check("again", echo)


async def expired(connection):
    """A session that somebody else ended."""
    http = connection()
    async with http.client() as client:
        status = await http.status("DELETE")
        expect(status in (200, 204), f"status of DELETE: {status}")
        try:
            await client.call_tool("echo", {"text": "lost"})
            raise AssertionError("a call in a session that is gone has succeeded")
        except MCPError as error:
            detail = error.message
    async with connection().client() as client:
        same(text_of(await client.call_tool("echo", {"text": "again"})), "again", "text")
    return detail


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "auto", "modern"], default="legacy")
    parser.add_argument("--lenient", action="store_true")
    parser.add_argument("--killed", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    old = options.command[0].endswith("/sse")  # the HTTP+SSE of 2024-11-05
    over_http = options.command[0].startswith("http:") and not old
    mode = "2026-07-28" if options.era == "modern" else options.era

    def client_on(transport):
        if options.more:
            return Client(transport, mode=mode, sampling_callback=more_client.on_sampling,
                          sampling_capabilities=more_client.CAPABILITIES, elicitation_callback=more_client.on_elicit,
                          read_timeout_seconds=20)
        return Client(transport, mode=mode, sampling_callback=on_sampling, list_roots_callback=on_roots,
                      elicitation_callback=on_elicit, read_timeout_seconds=20,
                      client_info=Implementation(name="interop-python", version="1.0.0"))

    def connection():
        http = Http(options.command[0])
        http.client = lambda: client_on(http.transport())
        return http

    if options.killed:
        await killed(connection)
        sys.exit(0 if all_ok else 1)
    if over_http:
        http = connection()
        transport = http.transport()
    elif old:
        transport = tapped(sse_client(options.command[0]))
    else:
        transport = tapped(stdio_client(StdioServerParameters(command=options.command[0], args=options.command[1:],
                                                              env=dict(os.environ))))
    connected = False
    try:
        async with client_on(transport) as client:
            connected = True
            await checks(client, options.era, options.lenient, over_http, options.more)
            started = time.monotonic()
        took = time.monotonic() - started
        if over_http:
            same(await http.status("POST", {"jsonrpc": "2.0", "id": "late", "method": "ping"}), 404, "status after it")
        expect(took < 1.9, f"the server did not leave at end of input ({took:.1f} s)")
        report("close", True, "")
    except Exception as error:
        report("close" if connected else "initialize", False, repr(error))
    if over_http and connected and not options.more:
        await check("expired", lambda: expired(connection))
    sys.exit(0 if all_ok else 1)


anyio.run(main)
