#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the codec writes, judged by the official schemas, and docs/revisions.md, held against the codec's own tables.

    wire_samples.py PROGRAM

PROGRAM is bin/wire_samples. Needs the package jsonschema. Prints one JSON line per check: {"check", "ok", "detail"}.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "revisions.md"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
SAMPLES = 150
MOST_SHOWN = 5

# Objects that the schema describes in part: what else is in them is the author's.
OPEN = {"_meta", "inputSchema", "outputSchema", "structuredContent", "arguments", "metadata", "experimental", "tasks"}


def closed(schema, name=""):
    """The same schema without room for members that it does not name: those that a revision lacks are then found."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if name in OPEN:
        return schema
    # Parts that only together are the whole cannot be closed one by one.
    made = {key: value if key == "allOf" else closed(value) for key, value in schema.items() if key != "properties"}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        made["properties"] = {key: closed(value, key) for key, value in properties.items()}
        if name == "params":  # the older schemas have `_meta` in the general request alone
            made["properties"].setdefault("_meta", {"type": "object"})
        if not schema.get("additionalProperties"):
            made["additionalProperties"] = False
    return made


class Judge:
    def __init__(self, revision):
        text = (HERE / "schemas" / f"{revision}.schema.json").read_text(encoding="utf-8")
        whole = json.loads(text)
        self.place = "$defs" if "$defs" in whole else "definitions"
        self.kind = jsonschema.Draft202012Validator if self.place == "$defs" else jsonschema.Draft7Validator
        self.definitions = {key: closed(value) for key, value in whole[self.place].items()}
        self.validators = {}

    def why_not(self, definition, value):
        if definition not in self.definitions:
            return f"no definition {definition}"
        if definition not in self.validators:
            schema = {"$ref": f"#/{self.place}/{definition}", self.place: self.definitions}
            self.validators[definition] = self.kind(schema)
        # In the older schemas a request is only its method and params; the rest is JSON-RPC's.
        if "method" in value and "jsonrpc" not in self.definitions[definition].get("properties", {}):
            value = {key: member for key, member in value.items() if key in ("method", "params")}
        error = jsonschema.exceptions.best_match(self.validators[definition].iter_errors(value))
        return f"{error.json_path}: {error.message}"[:300] if error else None


def check_schemas(lines):
    judges = {revision: Judge(revision) for revision in REVISIONS}
    wrong, count, seen = [], 0, {revision: set() for revision in REVISIONS}
    for line in lines:
        if "definition" not in line:
            continue
        count += 1
        seen[line["at"]].add(line["definition"])
        why = judges[line["at"]].why_not(line["definition"], line["json"])
        if why:
            wrong.append(f"{line['at']} {line['definition']}: {why} in {json.dumps(line['json'])[:500]}")
    if count < 4 * 20 * SAMPLES:
        wrong.append(f"only {count} samples")
    # The judge itself: what only a newer revision has is noticed.
    for older, definition, value in (
        ("2025-06-18", "ListToolsResult", {"tools": [{"name": "a", "inputSchema": {"type": "object"}, "icons": []}]}),
        ("2024-11-05", "ListToolsResult", {"tools": [{"name": "a", "inputSchema": {"type": "object"}, "title": "A"}]}),
        ("2025-03-26", "GetPromptResult", {"messages": [{"role": "user", "content": {"type": "resource_link",
                                                                                      "uri": "x:", "name": "a"}}]}),
    ):
        if judges[older].why_not(definition, value) is None:
            wrong.append(f"the judge of {older} takes {json.dumps(value)}")
    return wrong, f"{count} samples, {len(seen['2025-11-25'])} definitions"


def span(since, until):
    if until != REVISIONS[-1]:
        return f"{since} to {until}" if since != until else f"{since} only"
    return "all" if since == REVISIONS[0] else f"{since} and later"


def code(text):
    return f"`{text}`" if text else ""


def expected_tables(lines):
    tables = {"versions": [], "methods": [], "capabilities": [], "members": [], "rules": []}
    for line in lines:
        if line.get("table") == "methods":
            name, kind, side, since, until, needs = line["row"]
            tables["methods"].append((code(name), kind, side, span(since, until), code(needs)))
        elif line.get("table") == "capabilities":
            name, _, side, since, until, _ = line["row"]
            tables["capabilities"].append((code(name), side, span(since, until)))
        elif line.get("table") == "versions":
            version, offered, answered = line["row"]
            tables["versions"].append((code(version), code(offered), answered))
        elif line.get("table") == "rules":
            what, since, until = line["row"]
            whole = REVISIONS.index(until) - REVISIONS.index(since) + 1 == line["count"]
            tables["rules"].append((what, span(since, until) if whole else "some"))
    found = {}  # kind: {revision: members}
    for line in lines:
        if "item" not in line:
            continue
        kind, value = line["item"], line["json"]
        members = found.setdefault(kind, {}).setdefault(line["at"], set())
        if kind == "block":
            members.add(f'type {value["type"]}')
            members.update({f"annotations.{key}" for key in value.get("annotations", {})})
            members.update({"_meta"} & set(value))
        elif kind == "roots":
            members.update(value["roots"][0])
        elif kind == "sampling/createMessage":
            members.update(value)
            members.update({"content as an array" for message in value["messages"] if isinstance(message["content"], list)})
            found.setdefault("sampled message", {}).setdefault(line["at"], set()).update(*value["messages"])
        elif kind == "completion/complete":
            members.update(value)
            members.update({f"ref.{key}" for key in value["ref"]})
        elif kind == "resource link":
            members.update(set(value) - {"_meta", "annotations"})
        elif kind == "answer to a form":
            members.update({"lists of strings" for each in value["content"].values() if isinstance(each, list)})
        else:
            members.update(value)
    for kind, by_revision in found.items():
        first = min(by_revision)
        for number, revision in enumerate(REVISIONS):
            if revision <= first:
                continue
            older = by_revision[REVISIONS[number - 1]]
            for member in sorted(by_revision[revision] - older):
                tables["members"].append((kind, code(member), revision))
            if older - by_revision[revision]:
                tables["members"].append((kind, f"{sorted(older - by_revision[revision])} are gone", revision))
    return tables


def page_tables():
    """The rows below each heading `## ... <!-- table NAME -->`, less the explaining last column of `members`."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {}
    for name, body in re.findall(r"<!-- table (\w+) -->\n(.*?)(?=\n<!--|\n#|\Z)", text, re.DOTALL):
        rows = [line for line in body.splitlines() if line.startswith("|")][2:]
        tables[name] = [tuple(cell.strip() for cell in row.strip().strip("|").split("|")) for row in rows]
    tables["members"] = [row[:3] for row in tables.get("members", [])]
    return tables


def check_page(lines):
    wrong, expected, shown = [], expected_tables(lines), page_tables()
    for name, rows in expected.items():
        there = shown.get(name, [])
        for row in sorted(set(rows) - set(there)):
            wrong.append(f"missing in the table {name}: | {' | '.join(row)} |")
        for row in sorted(set(there) - set(rows)):
            wrong.append(f"not so in the table {name}: | {' | '.join(row)} |")
        if len(there) != len(set(there)):
            wrong.append(f"a row is twice in the table {name}")
    return wrong, f"{sum(map(len, shown.values()))} rows"


def main():
    output = subprocess.run([sys.argv[1], str(SAMPLES)], stdout=subprocess.PIPE, check=True, text=True,
                            encoding="utf-8").stdout  # fmt: skip
    lines = [json.loads(line) for line in output.splitlines()]
    for name, check in (("schemas", check_schemas), ("page", check_page)):
        wrong, detail = check(copy.deepcopy(lines))
        shown = "; ".join(wrong[:MOST_SHOWN]) + (f"; and {len(wrong) - MOST_SHOWN} more" if len(wrong) > MOST_SHOWN else "")
        print(json.dumps({"check": name, "ok": not wrong, "detail": shown or detail}))


if __name__ == "__main__":
    main()
