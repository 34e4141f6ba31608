# SPDX-License-Identifier: MIT
"""The second tool set (see ../README.md) on the official Python SDK, over stdio or, with `--http PORT`, Streamable HTTP."""

import functools
import json
import sys

from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.server.mcpserver.resources import FunctionResource
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams, SamplingMessage, TextContent, Tool, ToolChoice, ToolResultContent

from server import serve_http

server = MCPServer("interop-python", version="1.0.0")
inner = server._lowlevel_server  # there is no public way to declare that lists change
inner.create_initialization_options = functools.partial(inner.create_initialization_options,
                                                        NotificationOptions(True, True, True))
LOOKUP = Tool(name="lookup", description="Looks a word up",
              input_schema={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})
# Every kind of choice, and a default of everything.
CHOICES = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "default": "Ada"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 36},
        "ratio": {"type": "number", "default": 0.5},
        "member": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
                 "default": "l"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1,
                 "default": ["a", "c"]},
        "days": {"type": "array", "items": {"anyOf": [{"const": "mon", "title": "Monday"},
                                                      {"const": "tue", "title": "Tuesday"}]}, "default": ["mon"]},
        "note": {"type": "string"},
    },
    "required": ["name", "tags"],
}


@server.tool(description="Has the model use a tool", structured_output=False)
async def ask_tools(prompt: str, ctx: Context) -> str:
    async def sample(messages, mode):
        return await ctx.session.create_message(messages, max_tokens=50, tools=[LOOKUP], tool_choice=ToolChoice(mode=mode),
                                                related_request_id=ctx.request_id)
    question = SamplingMessage(role="user", content=TextContent(text=prompt))
    wanted = await sample([question], "required")
    results = [ToolResultContent(tool_use_id=use.id, content=[TextContent(text=f"{use.input['word']} is a word")])
               for use in wanted.content]
    said = await sample([question, SamplingMessage(role="assistant", content=wanted.content),
                         SamplingMessage(role="user", content=results)], "none")
    return said.content_as_list[0].text


@server.tool(description="Sends the user to a URL", structured_output=False)
async def ask_url(id: str, ctx: Context) -> str:
    said = await ctx.session.elicit_url("Open this", f"https://example.com/open?id={id}", id,
                                        related_request_id=ctx.request_id)
    if said.action == "accept":
        await ctx.session.send_elicit_complete(id, related_request_id=ctx.request_id)
    return f"action={said.action}"


visitors = set()


@server.tool(description="Needs a visit to a URL", structured_output=False)
async def url_first(id: str) -> str:
    if id not in visitors:
        raise UrlElicitationRequiredError([ElicitRequestURLParams(
            message="Sign in first", url=f"https://example.com/sign-in?id={id}", elicitation_id=id)])
    return "signed in"


@server.tool(description="Is what happens at that URL", structured_output=False)
async def visit(id: str, ctx: Context) -> str:
    visitors.add(id)
    await ctx.session.send_elicit_complete(id)
    return "done"


@server.tool(description="Asks the user with every kind of choice", structured_output=False)
async def ask_choices(message: str, ctx: Context) -> str:
    said = await ctx.session.elicit_form(message, CHOICES, related_request_id=ctx.request_id)
    if not 0 <= said.content["age"] <= 150:
        raise ToolError("the SDK does not look whether the answer fits the form")
    return json.dumps(said.content)


def grown() -> str:
    return "I am new"


GROWN = "test://interop/grown"


@server.tool(description="Changes all lists", structured_output=False)
async def grow(ctx: Context) -> str:
    there = "grown" in [tool.name for tool in await server.list_tools()]
    if there:
        server.remove_tool("grown")
        server._resource_manager._resources.pop(GROWN)  # there is no public way
        server.remove_prompt("grown")
    else:
        server.add_tool(grown, description="Was not there before", structured_output=False)
        server.add_resource(FunctionResource(uri=GROWN, name="grown", mime_type="text/plain", fn=lambda: "a new text"))
        server.add_prompt(Prompt.from_function(lambda: "a new prompt", name="grown"))
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    return "shrunk" if there else "grown"


@server.resource("test://interop/there", name="there", mime_type="text/plain")
def there() -> str:
    return "a text"


@server.prompt(name="there", description="Is always there")
def always_there() -> str:
    return "a prompt"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        serve_http(int(sys.argv[2]), server)
    else:
        server.run("stdio")
