"""Raw: calls whose values are text between markers: tagged parameters, key-value pairs, trees.

Promises: a parameter that may be a string is any text up to its close, with none of the markers in it
that would end it or the call; one declared as something else is a JSON value of its schema; one of a few
texts is one of them. Where a tag states the type, it states that of the value which follows. Layout is
read off probes that the codec's own ``write`` wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..bodies import codec_of
from ..schema import Tool
from ..schemawalk import ANY, TEXT, Walk
from .context import Context, counted
from .form import EMPTY, NEVER, Lit, Node, Rep, Token, Upto, Word, alt, one_of, seq
from .values import JSON, LENGTHS, UNHELD, Values, joined

_TEXT: Final = "\ue000"
_KEY: Final = "\ue001"
_SAMPLES: Final[dict[str, Any]] = {
    "string": _TEXT,
    "boolean": True,
    "integer": 1,
    "number": 1,
    "null": None,
    "array": [],
    "object": {},
}
_FREE_KEY: Final = one_of("A-Za-z0-9_.-")


@dataclass(frozen=True)
class _Pairs:
    """How a format writes one argument: ``write`` gives its text, ``close`` is what ends a value."""

    write: Callable[[str, Any], str]
    close: str
    without: tuple[str, ...]
    quote: tuple[str, ...] = ()

    def text(self) -> Node:
        """Any text as a value, and its close."""
        plain = Upto(self.close, (*self.without, *self.quote[:1]))
        if not self.quote:
            return plain
        opener, closer = self.quote[:2]
        return alt((plain, seq(Lit(opener), Upto(closer), Lit(self.close))))

    def around(self, key: str, kind: str) -> tuple[str, str]:
        """What stands before a value of that type, with the key, and behind it."""
        sample = _SAMPLES[kind]
        text = sample if isinstance(sample, str) else json.dumps(sample)
        before, _, after = self.write(key, sample).rpartition(text + self.close)
        return before, after


def tagged_call(context: Context, tool: Tool) -> Node:
    """A tag with the name, and one with each key."""
    body = context.body
    write = codec_of(body.codec).write
    assert body.name is not None
    assert body.param is not None
    tail = body.line + body.name.end
    first = write([(tool.name, {})], body).removesuffix(tail)
    edge = "\n" if body.trim == "newline" else ""
    pairs = _Pairs(
        lambda key, value: write([(tool.name, {key: value})], body).removeprefix(first).removesuffix(tail),
        edge + body.param.end,
        tuple(marker for marker in context.markers if marker != body.param.end),
        body.quote,
    )
    head = counted(lambda count: write([(tool.name, {})], body, count).removesuffix(tail))
    return seq(head, _arguments(context, tool, pairs), Lit(tail))


def kv_call(context: Context, tool: Tool) -> Node:
    """A name, and pairs of key and value."""
    body = context.body
    write = codec_of(body.codec).write
    head = write([(tool.name, {})], body)
    close = body.value_close[0]
    pairs = _Pairs(
        lambda key, value: write([(tool.name, {key: value})], body).removeprefix(head),
        close,
        tuple(marker for marker in context.markers if marker != close),
    )
    return seq(Lit(head), _arguments(context, tool, pairs))


def _arguments(context: Context, tool: Tool, pairs: _Pairs) -> Node:
    values = context.values(JSON, tool)
    fields = values.fields(tool.schema)
    parts = [
        context.written(name, partial(_argument, values, pairs, name, sub))
        for name, sub in fields.named.items()
    ]
    extra = None
    if fields.additional is not None:
        before, after = pairs.around(_KEY, "string")
        opened, _, closed = before.partition(_KEY)
        key = Token(Word(_FREE_KEY, tuple(fields.named)))
        extra = seq(Lit(opened), key, Lit(closed), pairs.text(), Lit(after))
    return joined(parts, fields.required, EMPTY, extra)


def _argument(values: Values, pairs: _Pairs, key: str, schema: object) -> Node:
    """One argument, in each way that its types are written."""
    types = Walk(values.walk.root).types(schema) or ANY
    texts = _texts(schema) if types == TEXT else None
    if texts is not None:
        return alt(_literal(pairs, key, text) for text in texts)
    wanted = sorted(types - {"any"}, reverse=True)
    kinds: dict[tuple[str, str], set[str]] = {}
    for kind in wanted:
        kinds.setdefault(pairs.around(key, kind), set()).add(kind)
    options: list[Node] = []
    for (before, after), alike in kinds.items():
        if "string" in alike:
            values.unheld(schema if isinstance(schema, Mapping) else {}, (*LENGTHS, *UNHELD))
            value = pairs.text()
        else:
            value = seq(values.value(schema, kinds=frozenset(alike)), Lit(pairs.close))
        options.append(seq(Lit(before), value, Lit(after)))
    return alt(options)


def _texts(schema: object) -> list[str] | None:
    """The texts that a schema of strings lists, where it does."""
    if not isinstance(schema, Mapping):
        return None
    members = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(members, (list, tuple)) or not members:
        return None
    return [member for member in members if isinstance(member, str)]


def _literal(pairs: _Pairs, key: str, text: str) -> Node:
    return Lit(pairs.write(key, text))


def tree_call(context: Context, tool: Tool) -> Node:
    """A tag with the name, and an element for each argument and each of its parts."""
    body = context.body
    assert body.name is not None
    head, tail = (
        codec_of(body.codec).write([(tool.name, {})], body).removesuffix(body.name.end),
        body.name.end,
    )
    tree = _Tree(context, context.values(JSON, tool))
    return seq(Lit(head), tree.members(tool.schema, 0), Lit(tail))


class _Tree:
    """Elements of one tool's arguments."""

    _DEEPEST = 8

    def __init__(self, context: Context, values: Values) -> None:
        self._body = context.body
        self._values = values
        self._notes = context.notes
        self._without = (context.body.namespace,)
        self._ends = () if context.body.name is None else (context.body.name.end,)

    def members(self, schema: Mapping[str, Any], depth: int) -> Node:
        """The elements of an object's members."""
        fields = self._values.fields(schema)
        parts = [self._element(name, sub, depth) for name, sub in fields.named.items()]
        extra = self._element(None, fields.additional, depth) if fields.additional is not None else None
        return joined(parts, fields.required, EMPTY, extra)

    def _element(self, name: str | None, schema: object, depth: int) -> Node:
        """An element; of any name where ``name`` is None, which then holds text."""
        space = self._body.namespace
        if name is None:
            return seq(Lit(f"{space}<"), Token(Word(_FREE_KEY, ())), Lit(">"), self._free())
        if not name or any(char in "<>/ \t\r\n" for char in name):
            return NEVER
        return seq(Lit(f"{space}<{name}>"), self._inner(schema, f"{space}</{name}>", depth))

    def _free(self) -> Node:
        self._notes.add("members of any name are left out: the format repeats the name in the close")
        return NEVER

    def _inner(self, schema: object, close: str, depth: int) -> Node:
        types = Walk(self._values.walk.root).types(schema) or ANY
        if "string" in types:
            texts = _texts(schema) if types == TEXT else None
            if texts is not None:
                return alt(Lit(text + close) for text in texts)
            self._values.unheld(schema if isinstance(schema, Mapping) else {}, (*LENGTHS, *UNHELD))
            return Upto(close, self._without)
        if depth > self._DEEPEST or not isinstance(schema, Mapping):
            return NEVER
        if "object" in types and self._values.fields(schema).additional is not None:
            self._notes.add("an object with members of any name is any text up to its close")
            return Upto(close, self._ends)
        options: list[Node] = []
        for kind in sorted(types):
            if kind == "array":
                item = self._element(self._body.item, self._values.walk.items(schema), depth + 1)
                options.append(NEVER if item == NEVER else Rep(item, 1))
            elif kind == "object":
                options.append(self.members(schema, depth + 1))
            else:
                options.append(
                    EMPTY if kind == "null" else self._values.value(schema, kinds=frozenset({kind}))
                )
        return seq(alt(options), Lit(close))
