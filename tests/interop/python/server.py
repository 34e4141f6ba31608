# SPDX-License-Identifier: MIT
"""The fixed tool set (see ../README.md) on the official Python SDK, over stdio (both eras) or, with `--http PORT`,
Streamable HTTP."""

import json
import os
import socket
import sys
import warnings
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (AudioContent, CallToolResult, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
                       ElicitRequestFormParams, EmbeddedResource, ImageContent, InputRequiredResult, ListRootsRequest,
                       ResourceLink, SamplingMessage, TextContent, TextResourceContents)
from pydantic import BaseModel, StrictStr

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


def serve_http(port):
    """Prints the URL on the first line of standard output."""
    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    # So late that the call is over by then: this SDK may lose an event that comes while others are sent again.
    app = server.streamable_http_app(event_store=Events(), retry_interval=700)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        serve_http(int(sys.argv[2]))
    else:
        server.run("stdio")
