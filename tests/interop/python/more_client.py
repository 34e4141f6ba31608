# SPDX-License-Identifier: MIT
"""The second tool set (see ../README.md) for a client on the Python SDK: how it answers, and its checks."""

import json

from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (CreateMessageResult, CreateMessageResultWithTools, ElicitResult, SamplingCapability,
                       SamplingToolsCapability, TextContent, ToolUseContent)

CAPABILITIES = SamplingCapability(tools=SamplingToolsCapability())
TOOLS = ["ask_choices", "ask_tools", "ask_url", "grow", "url_first", "visit"]
DEFAULTS = {"name": "Ada", "age": 36, "ratio": 0.5, "member": True, "colour": "green", "size": "l", "tags": ["a", "c"],
            "days": ["mon"]}


def need(condition, what):
    if not condition:
        raise ValueError(what)


def blocks(message):
    return message.content if isinstance(message.content, list) else [message.content]


async def on_sampling(context, params):
    """The model wants two tools and tells what it got of them."""
    need([tool.name for tool in params.tools or []] == ["lookup"] and
         params.tools[0].input_schema["properties"]["word"]["type"] == "string", f"tools: {params.tools}")
    if params.tool_choice.mode == "required":
        uses = [ToolUseContent(id=id, name="lookup", input={"word": word})
                for id, word in (("use-1", "Ada"), ("use-2", "Bob"))]
        return CreateMessageResultWithTools(role="assistant", model="interop-model", stop_reason="toolUse", content=uses)
    need(params.tool_choice.mode == "none", f"choice of the second round: {params.tool_choice}")
    shape = [(message.role, [block.type for block in blocks(message)]) for message in params.messages]
    need(shape == [("user", ["text"]), ("assistant", ["tool_use"] * 2), ("user", ["tool_result"] * 2)], f"shape: {shape}")
    question, uses, results = map(blocks, params.messages)
    need([use.id for use in uses] == [result.tool_use_id for result in results], f"ids: {uses} {results}")
    text = f"{question[0].text} {', '.join(result.content[0].text for result in results)}"
    return CreateMessageResult(role="assistant", model="interop-model", stop_reason="endTurn",
                               content=TextContent(text=text))


async def on_elicit(context, params):
    if params.mode == "url":
        need(params.message == "Open this" and params.url == f"https://example.com/open?id={params.elicitation_id}",
             f"url: {params}")
        return ElicitResult(action="decline" if params.elicitation_id == "refused" else "accept")
    form = params.requested_schema["properties"]
    need(sorted(form) == sorted([*DEFAULTS, "note"]) and params.requested_schema["required"] == ["name", "tags"],
         f"form: {params}")
    chosen = {name: field["default"] for name, field in form.items() if "default" in field}  # the SDK does not fill them in
    if params.message == "Too old":
        chosen["age"] = 200
    if params.message == "Choose":
        titles = [each["title"] for each in form["size"]["oneOf"] + form["days"]["items"]["anyOf"]]
        need(titles == ["Small", "Large", "Monday", "Tuesday"], f"titles: {titles}")
        chosen |= {"note": "grüß", "colour": "red", "size": "s", "tags": ["b", "c"], "days": ["mon", "tue"], "age": 7}
    return ElicitResult(action="accept", content=chosen)


async def run(client, seen, told, check, same, expect, text_of):
    call = client.call_tool
    completed = "notifications/elicitation/complete"

    async def listing():
        same(sorted(tool.name for tool in (await client.list_tools()).tools), TOOLS, "names")

    async def ask_tools():
        same(text_of(await call("ask_tools", {"prompt": "Who is it?"})), "Who is it? Ada is a word, Bob is a word", "text")

    async def ask_url():
        before = len(seen)
        same(text_of(await call("ask_url", {"id": "one"})), "action=accept", "text")
        same(await told(completed, before, 1), [{"elicitationId": "one"}], "completed")
        before = len(seen)
        same(text_of(await call("ask_url", {"id": "refused"})), "action=decline", "text")
        same(await told(completed, before, 0), [], "completed after it")

    async def url_first():
        try:
            await call("url_first", {"id": "two"})
            raise AssertionError("it has succeeded without a visit")
        except MCPError as error:
            needed = UrlElicitationRequiredError.from_error(error.error).elicitations
        same([(each.mode, each.message, each.url, each.elicitation_id) for each in needed],
             [("url", "Sign in first", "https://example.com/sign-in?id=two", "two")], "URLs")
        before = len(seen)
        same(text_of(await call("visit", {"id": "two"})), "done", "text of the visit")
        same(await told(completed, before, 1), [{"elicitationId": "two"}], "completed")
        same(text_of(await call("url_first", {"id": "two"})), "signed in", "text")

    async def ask_choices():
        same(json.loads(text_of(await call("ask_choices", {"message": "All defaults"}))), DEFAULTS, "defaults")
        chosen = {**DEFAULTS, "age": 7, "colour": "red", "size": "s", "tags": ["b", "c"], "days": ["mon", "tue"],
                  "note": "grüß"}
        same(json.loads(text_of(await call("ask_choices", {"message": "Choose"}))), chosen, "chosen")

    async def choices_unfit():
        result = await call("ask_choices", {"message": "Too old"})
        same(result.is_error, True, "isError")
        return result.content[0].text

    async def grow():
        offered = client.server_capabilities
        expect(offered.tools.list_changed and offered.resources.list_changed and offered.prompts.list_changed,
               "list_changed is not declared")
        for text, there in (("grown", True), ("shrunk", False)):
            before = len(seen)
            same(text_of(await call("grow", {})), text, "text")
            for kind in ("tools", "resources", "prompts"):
                same(len(await told(f"notifications/{kind}/list_changed", before, 1)), 1, f"notices about {kind}")
            names = [[each.name for each in (await client.list_tools()).tools],
                     [each.name for each in (await client.list_resources()).resources],
                     [each.name for each in (await client.list_prompts()).prompts]]
            same(["grown" in each for each in names], [there] * 3, f"lists when {text}")
            if there:
                same(text_of(await call("grown", {})), "I am new", "text of the tool")
                same((await client.read_resource("test://interop/grown")).contents[0].text, "a new text", "resource")
                same((await client.get_prompt("grown")).messages[0].content.text, "a new prompt", "prompt")

    for name, body in dict(list=listing, ask_tools=ask_tools, ask_url=ask_url, url_first=url_first,
                           ask_choices=ask_choices, choices_unfit=choices_unfit, grow=grow).items():
        await check(name, body)
