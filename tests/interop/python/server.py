# SPDX-License-Identifier: MIT
"""The fixed tool set (see ../README.md) on the official Python SDK, over stdio (both eras) or, with `--http PORT`,
Streamable HTTP."""

import base64
import json
import os
import socket
import sys
import warnings
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, Prompt, UserMessage
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (AudioContent, CallToolResult, Completion, CreateMessageRequest, CreateMessageRequestParams,
                       ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, EmbeddedResource, EmptyResult,
                       ImageContent, InputRequiredResult, ListRootsRequest, ResourceLink, SamplingMessage, SetLevelRequestParams,
                       SubscribeRequestParams, TextContent, TextResourceContents, UnsubscribeRequestParams)
from pydantic import BaseModel, Field, StrictStr

warnings.simplefilter("ignore", MCPDeprecationWarning)  # roots and sampling

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

server = MCPServer("interop-python", version="1.0.0")


class Sum(BaseModel):
    sum: float


def text(value: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=value)], is_error=is_error)


async def ask(ctx: Context, request):
    """The client's response, or None when the tool must first return what `ask_again` gives (2026-07-28)."""
    if ctx.protocol_version >= "2026-07-28":
        return (ctx.input_responses or {}).get("it")
    session = ctx.session
    if isinstance(request, ListRootsRequest):
        return await session.list_roots()
    if isinstance(request, CreateMessageRequest):
        return await session.create_message(request.params.messages, max_tokens=request.params.max_tokens)
    if request.params.mode == "url":
        place = request.params
        return await session.elicit_url(place.message, place.url, place.elicitation_id,
                                        related_request_id=ctx.request_context.request_id)
    return await session.elicit_form(request.params.message, request.params.requested_schema,
                                     related_request_id=ctx.request_context.request_id)


def ask_again(request) -> InputRequiredResult:
    return InputRequiredResult(input_requests={"it": request})


@server.tool(description="Gives the text back", structured_output=False)
def echo(text: StrictStr) -> str:
    return text


@server.tool(description="Adds two numbers")
def add(a: float, b: float) -> Annotated[CallToolResult, Sum]:
    value = {"sum": a + b}
    return CallToolResult(content=[TextContent(text=json.dumps(value))], structured_content=value)


@server.tool(description="Works in steps", structured_output=False)
async def slow(steps: int, delay_ms: int, ctx: Context) -> str:
    if path := os.environ.get("INTEROP_RUNS"):  # for counting how often it ran, whatever became of its answer
        with open(path, "a", encoding="ascii") as runs:
            runs.write(f"slow {steps}\n")
    for i in range(1, steps + 1):
        await anyio.sleep(delay_ms / 1000)
        await ctx.report_progress(i, steps, f"step {i}")
    return "done"


@server.tool(description="Fails", structured_output=False)
def fail() -> CallToolResult:
    return text("it failed", is_error=True)


@server.tool(description="One image", structured_output=False)
def image() -> CallToolResult:
    return CallToolResult(content=[ImageContent(data=PNG, mime_type="image/png")])


@server.tool(description="Every kind of block", structured_output=False)
def mixed() -> CallToolResult:
    return CallToolResult(content=[
        TextContent(text="mixed"),
        ImageContent(data=PNG, mime_type="image/png"),
        AudioContent(data=WAV, mime_type="audio/wav"),
        ResourceLink(uri="file:///interop/linked.txt", name="linked.txt", mime_type="text/plain"),
        EmbeddedResource(resource=TextResourceContents(uri="test://interop/embedded", mime_type="text/plain",
                                                       text="embedded text")),
    ])


@server.tool(description="Lists the roots of the client", structured_output=False)
async def ask_roots(ctx: Context) -> CallToolResult | InputRequiredResult:
    request = ListRootsRequest()
    answer = await ask(ctx, request)
    return ask_again(request) if answer is None else text(",".join(str(root.uri) for root in answer.roots))


@server.tool(description="Asks the model", structured_output=False)
async def ask_sampling(prompt: str, ctx: Context) -> CallToolResult | InputRequiredResult:
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=50))
    answer = await ask(ctx, request)
    return ask_again(request) if answer is None else text(answer.content.text)


@server.tool(description="Asks the user", structured_output=False)
async def ask_elicit(message: str, ctx: Context) -> CallToolResult | InputRequiredResult:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    request = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    answer = await ask(ctx, request)
    if answer is None:
        return ask_again(request)
    return text(f"action=accept name={answer.content['name']}" if answer.action == "accept" else f"action={answer.action}")


@server.tool(description="Sends the user to a URL", structured_output=False)
async def ask_url(message: str, ctx: Context) -> CallToolResult | InputRequiredResult:
    place = ElicitRequestURLParams(message=message, url="https://example.com/interop", elicitation_id="interop-1")
    answer = await ask(ctx, request := ElicitRequest(params=place))
    if answer is None:
        return ask_again(request)
    if answer.action == "accept" and ctx.protocol_version < "2026-07-28":  # since then nobody is told
        await ctx.session.send_elicit_complete("interop-1", related_request_id=ctx.request_id)
    return text(f"action={answer.action}")


# ---- resources, prompts and what goes with them. The SDK keeps neither subscriptions nor the level of the handshake era.

WATCHED = "test://interop/watched"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
state = {"touched": "untouched", "level": "info", "subscribed": set()}


@server.resource("test://interop/bytes", name="bytes", description="An image", mime_type="image/png")
def read_bytes() -> bytes:
    return base64.b64decode(PNG)


@server.resource("test://interop/text", name="text", description="A text", mime_type="text/plain")
def read_text() -> str:
    return "a text: grüß 日本語 \U0001f600"


@server.resource(WATCHED, name="watched", description="What touch has written", mime_type="text/plain")
def read_watched() -> str:
    return state["touched"]


@server.resource("test://interop/items/{id}", name="items", description="An item by its id", mime_type="text/plain")
def read_item(id: str) -> str:
    if id == "none":
        raise ResourceNotFoundError("no such item")
    return f"item {id}"


async def subscribe(ctx, params: SubscribeRequestParams) -> EmptyResult:
    state["subscribed"].add(str(params.uri))
    return EmptyResult()


async def unsubscribe(ctx, params: UnsubscribeRequestParams) -> EmptyResult:
    state["subscribed"].discard(str(params.uri))
    return EmptyResult()


async def set_level(ctx, params: SetLevelRequestParams) -> EmptyResult:
    state["level"] = params.level
    return EmptyResult()


for method, model, handler in (("resources/subscribe", SubscribeRequestParams, subscribe),
                               ("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe),
                               ("logging/setLevel", SetLevelRequestParams, set_level)):
    server._lowlevel_server.add_request_handler(method, model, handler)  # there is no public way


@server.tool(description="Changes the resource " + WATCHED, structured_output=False)
async def touch(text: str, ctx: Context) -> str:
    state["touched"] = text
    if WATCHED in state["subscribed"]:
        await ctx.session.send_resource_updated(WATCHED)
    return "touched"


@server.tool(description="Logs at debug and at warning", structured_output=False)
async def log(ctx: Context) -> str:
    for level, line in (("debug", "a debug line"), ("warning", "a warning")):
        if LEVELS.index(level) >= LEVELS.index(state["level"]):
            await ctx.session.send_log_message(level, line, "interop", related_request_id=ctx.request_id)
    return "logged"


@server.prompt(description="Greets somebody")
def greet(name: Annotated[str, Field(description="Whom to greet")],
          tone: Annotated[str | None, Field(description="How to greet")] = None) -> list[Message]:
    how = f" in a {tone} tone" if tone else ""
    return [UserMessage(f"Greet {name}{how}"), AssistantMessage("I will")]


@server.prompt(description="A prompt with an image and a resource")
def pictured() -> list[Message]:
    embedded = TextResourceContents(uri="test://interop/embedded", mime_type="text/plain", text="embedded text")
    return [UserMessage(ImageContent(data=PNG, mime_type="image/png")), UserMessage(EmbeddedResource(resource=embedded))]


@server.prompt(description="A prompt without arguments")
def plain() -> str:
    return "a plain prompt"


# What is not always there. The SDK tells nobody by itself, and has no public way to remove a resource.

def grown() -> str:
    return "grown"


@server.tool(description="Adds a tool, a resource and a prompt", structured_output=False)
async def grow(on: bool, ctx: Context) -> str:
    uri = "test://interop/grown"
    if on:
        server.add_tool(grown, structured_output=False)
        server.add_resource(FunctionResource(uri=uri, name="grown", fn=grown))
        server.add_prompt(Prompt.from_function(grown))
    else:
        server.remove_tool("grown")
        del server._resource_manager._resources[uri]
        server.remove_prompt("grown")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    return "grown" if on else "shrunk"


@server.completion()
async def complete(ref, argument, context):
    others = context.arguments or {} if context else {}
    choice = {"name": ["Ada", "Alan", "Grace"], "id": ["alpha", "alphabet", "beta"],
              "tone": [f"{kind} to {others['name']}" for kind in ("formal", "friendly")] if "name" in others else []}
    return Completion(values=[each for each in choice[argument.name] if each.startswith(argument.value)])


class Events(EventStore):
    """The id of an event is its place."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events) - 1)

    async def replay_events_after(self, last_event_id, send_callback):
        first = int(last_event_id) + 1
        stream = self.events[first - 1][0]
        for number, (of, message) in enumerate(self.events[first:], first):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def serve_http(port, served=server):
    """Prints the URL on the first line of standard output."""
    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    # So late that the call is over by then: this SDK may lose an event that comes while others are sent again.
    app = served.streamable_http_app(event_store=Events(), retry_interval=700)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        serve_http(int(sys.argv[2]))
    else:
        server.run("stdio")
