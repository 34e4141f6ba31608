# SPDX-License-Identifier: MIT
"""The fixed tool set (see ../README.md) on the official Python SDK, over stdio, both eras."""

import json
import warnings
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
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


if __name__ == "__main__":
    server.run("stdio")
