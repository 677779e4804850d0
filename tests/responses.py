"""Response templates of others, and what toolglot and transformers read with them.

``published``: templates and schemas as they are found in the wild, in ``response_templates.json``, with texts
and what they mean. ``differences``: the public fixtures, and the examples of dialects, in which transformers
reads something else with an exported template, each with its reason, in ``response_templates.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import toolglot
from tests.known import load_toml
from tests.places import TESTS
from toolglot.derive.response_template import losses, to_response_template
from toolglot.dialect import Dialect
from toolglot.errors import ResponseTemplateError
from toolglot.registry import load_file

REASONING = ("reasoning_content", "thinking", "reasoning")
RAISES = "raises"


@dataclass(frozen=True)
class Read:
    """A message's parts; calls as JSON, so that ``1``, ``1.0`` and ``True`` differ."""

    content: str
    reasoning: str
    calls: tuple[tuple[str, str], ...]

    def stripped(self) -> Read:
        return Read(self.content.strip(), self.reasoning.strip(), self.calls)


def by_toolglot(
    text: str, dialect: Dialect, prompt: str = "", tools: Any = None, finish: str | None = None
) -> Read:
    message = toolglot.parse(text, dialect, prompt_tail=prompt, tools=tools, finish_reason=finish)
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    return Read(message.content, message.reasoning, _calls(calls))


def by_transformers(
    text: str, template: dict[str, Any], prompt: str = "", tools: Any = None, *, each: bool = False
) -> Read | str:
    """What transformers reads, whole or with ``each`` character on its own; RAISES where it raises."""
    parsing = import_module("transformers.utils.chat_parsing")
    try:
        parser = parsing.ResponseParser(template, prefix=prompt, tools=tools)
        for delta in text if each else [text]:
            parser.feed(delta)
        message, _ = parser.finalize()
    except (ValueError, KeyError):
        return RAISES
    functions = [call["function"] for call in message.get("tool_calls", ())]
    calls = [(function["name"], function.get("arguments", {})) for function in functions]
    reasoning = next((message[name] for name in REASONING if name in message), "")
    return Read(message.get("content", ""), reasoning, _calls(calls))


def meant(row: Mapping[str, Any]) -> Read:
    return Read(row.get("content", ""), row.get("reasoning", ""), _calls(row.get("calls", ())))


def _calls(calls: Sequence[Sequence[Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, json.dumps(arguments, sort_keys=True)) for name, arguments in calls)


def tools_for(calls: Sequence[Sequence[Any]], names: Sequence[str] = ()) -> list[dict[str, Any]] | None:
    """Tools whose parameters have the types of the arguments: raw text has none without them."""
    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    for name, arguments in calls:
        for key, value in arguments.items():
            found.setdefault(name, {})[key] = {"type": _type(value)}
        found.setdefault(name, {})
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": properties}}
        for name, properties in found.items()
    ]
    return [{"type": "function", "function": tool} for tool in tools] or None


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


@lru_cache(maxsize=1)
def published() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, Any] = json.loads((TESTS / "response_templates.json").read_text(encoding="utf-8"))
    return {"templates": found["templates"], "schemas": found["schemas"]}


@lru_cache(maxsize=1)
def differences() -> dict[str, str]:
    """The reason for each fixture, and each example as ``dialect#number``, that is read otherwise."""
    rows = load_toml(TESTS / "response_templates.toml")["difference"]
    return {name: row["reason"] for row in rows for name in row["where"]}


# -- for the docs ------------------------------------------------------------------------------------


def exports() -> str:
    """Each bundled dialect: whether it can be written as a response template, and what stays behind."""
    rows = ["| dialect | written | what it does not carry, or why it cannot be written |", "|---|---|---|"]
    for slug in toolglot.BUNDLED:
        dialect = load_file(slug)
        try:
            to_response_template(dialect)
        except ResponseTemplateError as error:
            rows.append(f"| `{slug}` | no | {_cell(str(error).split(': ', 1)[1])} |")
        else:
            rows.append(f"| `{slug}` | yes | {_cell('; '.join(losses(dialect)))} |")
    return "\n".join(rows)


def unlike() -> str:
    """The reasons for which transformers reads something else, with the fixtures and examples."""
    found: dict[str, list[str]] = {}
    for where, reason in differences().items():
        found.setdefault(reason, []).append(where)
    rows = ["| reason | fixtures, and examples as dialect#number |", "|---|---|"]
    for reason, places in sorted(found.items(), key=lambda item: -len(item[1])):
        rows.append(f"| {_cell(reason)} | {', '.join(f'`{where}`' for where in places)} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", "\\n")
