"""response_schema: a dialect from the older form of a response template.

A ``response_schema`` is a JSON schema whose nodes say with regular expressions where their text stands.
``response_template`` replaced it in transformers 5.13, and 5.24 drops it when a tokenizer is loaded, but
checkpoints still carry it.

Promises: the literal texts around a part are its markers; keys and transforms of calls mean what they meant.
What cannot be told from them, such as a text that is rewritten before it is read, raises
``ResponseTemplateError``.

Does not: run a pattern, or evaluate JMESPath, of which two spellings are read.

Source: transformers 5.12, ``utils/chat_parsing_utils.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..dialect import Dialect
from ..errors import ResponseTemplateError
from .pattern import Piece, Way, ways
from .template_bodies import read_calls
from .template_import import REASONING, build, delimited, stream
from .template_parts import Calls, table

_FUNCTION: Final = re.compile(r"\[?\{\s*type:\s*'function',\s*function:\s*@\s*\}\]?")
_RENAMED: Final = re.compile(
    r"(\[\*\]\.)?\{\s*type:\s*'function',\s*function:\s*\{\s*name:\s*(\w+),\s*arguments:\s*(\w+)\s*\}\s*\}"
)
_KEY: Final = re.compile(r'"(\w+)":\Z')

Node = Mapping[str, Any]
Data = dict[str, Any]


def read_schema(schema: Node, slug: str) -> Dialect:
    """See ``response_template.from_response_schema``."""
    if not isinstance(schema.get("properties"), Mapping):
        raise ResponseTemplateError("a response schema is an object with properties")
    if "x-regex-substitutions" in schema:
        raise ResponseTemplateError("the schema rewrites the text before it is read (x-regex-substitutions)")
    parts = dict(schema["properties"])
    whole = ways(schema["x-regex"]) if "x-regex" in schema else []
    known = {"role", "content", "tool_calls", *REASONING}
    if unknown := sorted(set(parts) - known):
        raise ResponseTemplateError(f"{unknown[0]!r}: a message has no such part; there are: {sorted(known)}")
    name = next((key for key in REASONING if key in parts), None)
    reasoning = _text_part(name, table(parts, name), whole) if name else None
    calls = _calls(table(parts, "tool_calls"), whole) if "tool_calls" in parts else None
    content = _content(table(parts, "content"), whole, reasoning, calls)
    if reasoning and not reasoning["open"]:
        raise ResponseTemplateError(f"{name}: no literal text stands in front of it")
    return build(stream([], reasoning, content, calls) or delimited([], reasoning, content, calls), slug)


# -- text ----------------------------------------------------------------------------------------------


def _text_part(name: str, node: Node, whole: list[Way]) -> Data:
    """Where a text stands: in its own pattern, or in the whole one under its name."""
    found = ways(node["x-regex"]) if "x-regex" in node else whole
    group = "" if "x-regex" in node else name
    opens, closes = _around(found, group)
    return {"open": opens, "close": closes}


def _content(node: Node, whole: list[Way], reasoning: Data | None, calls: Calls | None) -> Data:
    if "x-regex" in node:
        return _text_part("content", node, whole)
    taken = {*(reasoning or {}).get("close", ()), *(calls.ends if calls else ())}
    stops = [text for way in whole for text in _texts_behind(way) if text not in taken]
    return {"close": list(dict.fromkeys(stops))} if stops else {}


def _texts_behind(way: Way) -> Iterator[str]:
    """The literal texts behind the last group."""
    last = max((number for number, piece in enumerate(way) if piece.kind == "group"), default=-1)
    for piece in way[last + 1 :]:
        if piece.kind == "text" and piece.text.strip():
            yield piece.text.strip()


def _around(found: list[Way], group: str) -> tuple[list[str], list[str]]:
    """The nearest literal texts before and behind a group, or behind the first one if it has no name."""
    opens: list[str] = []
    closes: list[str] = []
    for way in found:
        at = next(
            (n for n, piece in enumerate(way) if piece.kind == "group" and group in {"", piece.text}), -1
        )
        if at < 0:
            continue
        opens += _nearest(reversed(way[:at]))
        closes += _nearest(iter(way[at + 1 :]))
    return list(dict.fromkeys(opens)), list(dict.fromkeys(closes))


def _nearest(pieces: Iterator[Piece]) -> Iterator[str]:
    for piece in pieces:
        if piece.kind == "group":
            return
        if piece.kind == "text" and piece.text.strip():
            yield piece.text.strip()
            return


# -- calls ---------------------------------------------------------------------------------------------


def _calls(node: Node, whole: list[Way]) -> Calls:
    opens, closes = _region(node, whole)
    items = table(node, "items")
    function = table(table(items, "properties"), "function")
    before: list[Way] = [(Piece("text", mark),) for mark in opens] or [(Piece("start"),)]
    after: list[Way] = [(Piece("text", mark),) for mark in closes]
    parser = next((part for part in (node, items) if "x-parser" in part), None)
    if parser is not None:
        return read_calls(before, after, _json(parser, items))
    named, spec = _named(function)
    return read_calls([(*mark, Piece("blank"), *name) for mark in before for name in named], after, spec)


def _region(node: Node, whole: list[Way]) -> tuple[list[str], list[str]]:
    """The markers around a call: of its own pattern, else of the whole one."""
    own = node.get("x-regex-iterator", node.get("x-regex"))
    if own is not None:
        found = _around(ways(own), "")
        if found[0] or found[1]:
            return found
    return _around(whole, "tool_calls")


def _json(parser: Node, items: Node) -> Data:
    """How the keys of a JSON call become its name and arguments."""
    if parser["x-parser"] != "json":
        raise ResponseTemplateError(f"tool_calls: the parser {parser['x-parser']!r} is not read")
    transform = table(parser, "x-parser-args").get("transform")
    name, arguments = "name", "arguments"
    rules = items.get("x-regex-substitutions")
    for rule in rules if isinstance(rules, list) else [rules] if rules else []:
        arguments = _renamed(rule)
    each = False
    if not isinstance(transform, str):
        raise ResponseTemplateError("tool_calls: x-parser-args has no transform")
    if renamed := _RENAMED.fullmatch(transform):
        each, name, arguments = bool(renamed[1]), renamed[2], renamed[3]
    elif not _FUNCTION.fullmatch(transform):
        raise ResponseTemplateError(f"tool_calls: the transform {transform!r} is not read")
    front = "" if each else "content."
    function = {"name": f"{{{front}{name}}}", "arguments": f"{{{front}{arguments}}}"}
    return {
        "content": "json",
        "transform_each": each,
        "transform": {"type": "function", "function": function},
    }


def _renamed(rule: object) -> str:
    """The key that a rewriting turns into ``arguments``, where that is all it does."""
    if not isinstance(rule, list) or len(rule) != 2 or not isinstance(rule[1], str):
        raise ResponseTemplateError("tool_calls: x-regex-substitutions is no list of pairs of texts")
    pattern, text = rule
    spelled = ["".join(piece.text for piece in way if piece.kind == "text") for way in ways(pattern)]
    keys = {found[1] for found in map(_KEY.search, spelled) if found}
    if len(keys) != 1 or _KEY.sub("", text) == text:
        raise ResponseTemplateError(
            "tool_calls: a call is rewritten before it is read (x-regex-substitutions)"
        )
    return keys.pop()


def _named(function: Node) -> tuple[list[Way], Data]:
    """The name's pattern, which goes on up to the arguments, and how those are read."""
    parts = table(function, "properties")
    if "x-regex" in function or "x-regex" not in table(parts, "name"):
        raise ResponseTemplateError("tool_calls: the name has no pattern of its own")
    names = [
        tuple(_as_name(piece) for piece in way if piece.kind != "start")
        for way in ways(parts["name"]["x-regex"])
    ]
    arguments = table(parts, "arguments")
    transform = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
    if "x-regex-key-value" in arguments:
        values = table(arguments, "additionalProperties")
        parser = {"name": "json" if values.get("x-parser") == "json" else "text"}
        content = {"tag_pattern": arguments["x-regex-key-value"], "value_parser": parser}
        return names, {"content": "xml-inline", "content_args": content, "transform": transform}
    if arguments.get("x-parser") != "json":
        raise ResponseTemplateError(
            f"tool_calls: the parser {arguments.get('x-parser')!r} of arguments is not read"
        )
    rest = [piece for way in ways(arguments.get("x-regex", "")) for piece in way if piece.kind == "text"]
    return [(*name, *rest) for name in names], {"content": "json", "transform": transform}


def _as_name(piece: Piece) -> Piece:
    return Piece("group", "name") if piece.kind == "group" else piece
