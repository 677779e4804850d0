"""Calls: the text of one call, for each body codec.

Promises: what stands around the arguments is not spelled here a second time: a probe call is written by
the codec's own ``write`` and cut at its arguments, so that grammar and ``render`` cannot drift apart. Where
the format counts calls, any number stands in the count's place.

Does not: know what stands around and between calls (``answer``), nor values (``values``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ..bodies import codec_of
from ..bodies.bracevalue import key_stops
from ..bodies.json_calls import write_object
from ..dialect import Body
from ..schema import Tool
from .context import Context, counted
from .form import NEVER, Chars, Lit, Node, Rep, Token, Upto, Word, listed, one_of, seq
from .raw import kv_call, tagged_call, tree_call
from .values import JSON, PYTHON, Notation, Values, joined

_PROBE: Final[dict[str, Any]] = {"\ue000": 1}


def one_call(context: Context, tool: Tool) -> Node:
    """The text of one call of ``tool``; ``NEVER``, and a note, where the format cannot write one."""
    node = context.written(tool.name, lambda: _WRITERS[context.body.codec](context, tool))
    if node == NEVER:
        context.notes.add(f"{tool.name}: the format cannot write its arguments")
    return node


def all_calls(context: Context, call: Node, parallel: bool) -> Node:
    """What a codec that writes all calls at once makes of them."""
    codec, body = codec_of(context.body.codec), context.body
    most = None if parallel else 1
    if codec.several != "all":
        return call
    if body.codec == "call_lines":
        return listed(call, Lit(body.line), 1, most)
    return seq(Lit("["), listed(call, Lit(", "), 1, most), Lit("]"))


def _json_call(context: Context, tool: Tool) -> Node:
    """A call whose arguments are one JSON object."""
    body = context.body
    probe = json.dumps(_PROBE, ensure_ascii=False)

    def written(count: int) -> str:
        if body.codec in {"json_object", "json_array"}:
            return write_object(tool.name, _PROBE, body, count)
        codec, calls = codec_of(body.codec), [(tool.name, _PROBE)]
        if codec.several == "all":
            return codec.write(calls, body)[1:-1]
        return codec.write(calls, body, count) if codec.several == "counted" else codec.write(calls, body)

    head = counted(lambda count: written(count).partition(probe)[0])
    tail = written(0).partition(probe)[2]
    members = context.values(JSON, tool).members(tool.schema)
    return seq(head, Lit("{"), members, Lit("}"), Lit(tail))


def _python_call(context: Context, tool: Tool) -> Node:
    """NAME(key=value, …), in Python's words."""
    head, _, tail = codec_of("bare_call").write([(tool.name, {})], context.body).rpartition(")")
    values = context.values(PYTHON, tool)
    fields = values.fields(tool.schema)
    parts = [
        context.written(name, partial(_keyword, context, values, name, sub))
        for name, sub in fields.named.items()
    ]
    extra = None
    if fields.additional is not None:
        name = Token(Word(_NAME, tuple(fields.named)))
        extra = seq(name, Lit("="), values.value(fields.additional))
    return seq(Lit(head), joined(parts, fields.required, PYTHON.separator, extra), Lit(")" + tail))


_NAME: Final = one_of("A-Za-z_")


def _keyword(context: Context, values: Values, name: str, schema: object) -> Node:
    codec_of("bare_call").write([("probe", {name: None})], context.body)
    return seq(Lit(f"{name}="), values.value(schema))


def _brace_call(context: Context, tool: Tool) -> Node:
    """NAME{key:value,…}, with strings between delimiters."""
    body = context.body
    head = codec_of(body.codec).write([(tool.name, {})], body).removesuffix("{}")
    values = context.values(_braces(body, context.markers), tool)
    return seq(Lit(head + "{"), values.members(tool.schema), Lit("}"))


def _braces(body: Body, markers: tuple[str, ...]) -> Notation:
    opener, closer = body.delims[0]
    stops = "".join(sorted({*(stop[0] for stop in key_stops(body)), *"\"'`<> \t\r\n\\"}))
    name = Chars(tuple((char, char) for char in stops), negated=True)
    return Notation(
        *("null", "true", "false"),
        string=seq(Lit(opener), Upto(closer, tuple(marker for marker in markers if marker != closer))),
        quoted=lambda text: opener + text + closer,
        key=lambda key: Lit(key + ":") if all(map(name.holds, key)) and key else NEVER,
        keys=lambda without: seq(Token(Word(name, without)), Lit(":")),
        separator=Lit(","),
    )


def _keyed_call(context: Context, tool: Tool) -> Node:
    """A name, and a line for each argument; there has to be one, and none is a list or an object."""
    values = context.values(_KEYED, tool)
    fields = values.fields(tool.schema)
    parts = [seq(_KEYED.key(name), values.value(sub, kinds=_FLAT)) for name, sub in fields.named.items()]
    return seq(Lit(tool.name + "\n"), joined(parts, fields.required, _KEYED.separator, None, some=True))


_FLAT: Final = frozenset({"string", "integer", "number", "boolean", "null"})
_CHAR: Final = one_of('"\\\n\r', negated=True)
_LINE: Final = Token(seq(Lit('"'), Rep(_CHAR), Lit('"')))
_KEYED: Final = Notation(
    *("null", "true", "false"),
    string=_LINE,
    quoted=lambda text: f'"{text}"',
    key=lambda key: Lit(key + ": "),
    keys=lambda without: NEVER,
    separator=Lit("\n"),
    char=_CHAR,
)

_WRITERS: Final[dict[str, Callable[[Context, Tool], Node]]] = {
    "json_object": _json_call,
    "json_array": _json_call,
    "json_keyed": _json_call,
    "name_then_json": _json_call,
    "header_json": _json_call,
    "labelled_lines": _json_call,
    "positional_text": _json_call,
    "pythonic": _python_call,
    "bare_call": _python_call,
    "call_lines": _python_call,
    "braces": _brace_call,
    "keyed_lines": _keyed_call,
    "tagged": tagged_call,
    "kv_pairs": kv_call,
    "xml_tree": tree_call,
}
