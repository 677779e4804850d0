"""Hypothesis strategies for the laws: messages, and text that is hard on a dialect.

Adversarial text is spliced from a dialect's markers and pieces of them, JSON, quotes, fences, names,
blanks, prose, and cut pieces of messages that the dialect itself has written.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from hypothesis import strategies as st

import toolglot
from tests.casefile import tools_from
from tests.delivery import markers_of
from toolglot import Message, ToolCall

GIVEN = "given"
"""Stands for a delimited dialect of the caller's, besides the bundled slugs."""
AUTO = "auto"

SUBJECTS: tuple[str, ...] = (*toolglot.BUNDLED, GIVEN, *({AUTO} - set(toolglot.BUNDLED)))
"""What every law is tested on."""

_SPEC = {
    "id": GIVEN,
    "tool_open": "«act»",
    "tool_close": "«/act»",
    "body_codecs": ["json", "function_xml"],
    "id_prefix": "call_given_",
}

TOOLS = tools_from(
    "ping(); get_weather(city: string, days?: integer, opts?: object);"
    " write_file(path: string, text: string);"
    " find(q: string|null, n: integer, tags: array, on: boolean, ratio: number)"
)
NAMES = ("ping", "get_weather", "write_file", "find", "reboot", "notes.add", "pin")

# fmt: off
_FRAGMENTS = (
    '{"name": "ping", "arguments": {}}', '{"name": "find", "arguments": {"q": "a", "n": 1}}',
    '{"name": "Ada"}', '{"name": "', '"arguments": ', '"parameters": {', '"arguments": "{}"', '"q": "',
    '"a": 1', '{"arguments": {}, ', "{", "}", "[", "]", "(", ")", '"', "'", "\\", '\\"',
    "\\u00e9", "\\ud83d", "\\u",
    ":", ",", ";", "=", "|", "<", ">", "1", "-0", "1e5", "007", "-", "12345678901234567890", "true", "False",
    "None", "null", "nul", "NaN", "{'a': True}",
    "[1, 2,]", "[[", "{}", "[]", "([{", "}])", "“", "”", "‘", "’", "「", "」",
    '"""', "'''",
    "ping()", "ping{}", "find(q='a', n=2)", "find{q:a,n:2}", "call:ping{}", "[ping()]", "[find(q='", "/ping(",
    "ping\nq: a\n", "q: a\n", "n: 2", "\nq: ",
    "```", "```json\n", "\n```", "`", "``", "~~~", "\n", "\n\n", "\r\n", " ", "  ", "\t",
    "Some prose. ", "A word", "é", "東京", "👩‍🚀", "\ud83d", "\x00", "\ufeff", "\u2028", "a<b", "x|y", "&lt;",
    "<think>", "</think>", "<thinking>", "</thinking>",
    *NAMES,
)
# fmt: on


def dialect_for(subject: str) -> Any:
    """What Parser is given for a subject."""
    return toolglot.Dialect.from_dict(_SPEC) if subject == GIVEN else subject


@cache
def markers_for(subject: str) -> tuple[str, ...]:
    return markers_of(dialect_for(subject))


# -- messages --------------------------------------------------------------------------------------


def tools_for(message: Message) -> list[dict[str, Any]]:
    """Tools whose schema says what the message's arguments are: in an untyped format it alone can."""
    tools: dict[str, dict[str, Any]] = {}
    for call in message.tool_calls:
        properties = tools.setdefault(call.name, {})
        for key, value in call.arguments.items():
            properties[key] = {"type": _type(value)}
    return [
        {
            "type": "function",
            "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
        }
        for name, properties in tools.items()
    ]


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {
        str: "string",
        int: "integer",
        float: "number",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return names[type(value)]


_KEYS = st.sampled_from(["city", "q", "_n", "path", "k1", "deepKey"]) | st.sampled_from(
    ["key with space", "a.b", "from", "a-b", "é", '"', "a:b", "</k>", "name", "arguments", ""]
)


def _strings(subject: str) -> st.SearchStrategy[str]:
    plain = st.text("abc xyz\n\t\"'\\<>|{}[]():,=&;é東👩`", max_size=20)
    spliced = st.lists(st.sampled_from([*_plain_fragments(), *markers_for(subject)]), max_size=4).map("".join)
    return plain | spliced


@lru_cache(maxsize=1)
def _plain_fragments() -> tuple[str, ...]:
    """Fragments that any JSON text can hold."""
    return tuple(f for f in _FRAGMENTS if not any("\ud800" <= c <= "\udfff" for c in f))


def values(subject: str) -> st.SearchStrategy[Any]:
    """JSON values; floats that are exact in their shortest spelling."""
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-(10**25), 10**25)
        | st.floats(allow_nan=False, allow_infinity=False)
        | _strings(subject)
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
        max_leaves=5,
    )


@st.composite
def messages(draw: st.DrawFn, subject: str) -> Message:
    """Content, reasoning and up to three calls, each to a tool of its own so that one schema can type it."""
    prose = st.text("abc ,.\n-é東<|[`{", max_size=20)
    content = draw(st.just("") | prose)
    reasoning = draw(st.just("") | prose)
    calls = []
    for number in range(draw(st.integers(0, 3))):
        name = f"{draw(st.sampled_from(['get', 'do_it', 'notes.add', 'a-b', 'x:y']))}{number}"
        arguments = draw(st.dictionaries(_KEYS, values(subject), max_size=3))
        calls.append(ToolCall(name=name, arguments=arguments))
    return Message(content=content, reasoning=reasoning, tool_calls=tuple(calls))


# -- written ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A message of the pool and the text that the subject's dialect wrote for it."""

    text: str
    message: Message
    tools: list[dict[str, Any]]


_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"q": "a"},
    {"city": "Bø", "days": 3},
    {"text": 'line one\nline "two" {x}\n'},
    {"path": "a/b.py", "text": "    if x:\n        y()\n\n"},
    {"n": -12, "on": True, "ratio": 0.5, "none": None},
    {"tags": ["a, b", "c"], "opts": {"k": [1, {"z": "}"}]}},
)


@cache
def pool(subject: str) -> tuple[Written, ...]:
    """Messages that the subject can write, always the same: for ``auto`` those of all bundled dialects."""
    if subject == AUTO:
        return tuple(w for slug in toolglot.BUNDLED if slug != AUTO for w in pool(slug)[::4])
    rng = random.Random(subject)
    found: list[Written] = []
    texts = ("", "One moment.", "Two\n\nparagraphs, 3 < 4.")
    for content, reasoning, count in itertools.product(texts, ("", "Let me see."), range(4)):
        calls = tuple(
            ToolCall(name=f"{rng.choice(('get', 'do_it', 'find'))}{i}", arguments=rng.choice(_ARGUMENTS))
            for i in range(count)
        )
        message = Message(content=content, reasoning=reasoning, tool_calls=calls)
        try:
            text = toolglot.render(message, dialect_for(subject))
        except toolglot.RenderError:
            continue
        found.append(Written(text, message, tools_for(message)))
    return tuple(found)


# -- texts -----------------------------------------------------------------------------------------


@st.composite
def cut_pieces(draw: st.DrawFn, subject: str) -> str:
    """A piece of a written message, often all of it."""
    text = draw(st.sampled_from(pool(subject))).text
    low = draw(st.just(0) | st.integers(0, len(text)))
    high = draw(st.just(len(text)) | st.integers(low, len(text)))
    return text[low:high]


def texts(subject: str) -> st.SearchStrategy[str]:
    """Text that is hard on the subject."""
    markers = markers_for(subject)
    pieces = [m[:i] for m in markers for i in range(1, len(m))] + [
        m[i:] for m in markers for i in range(1, len(m))
    ]
    fragment = st.sampled_from(_FRAGMENTS)
    options: list[st.SearchStrategy[str]] = [fragment, fragment, cut_pieces(subject)]
    if markers:
        options += [st.sampled_from(markers), st.sampled_from(markers), st.sampled_from(pieces)]
    return st.lists(st.one_of(options), max_size=10).map("".join)


@st.composite
def deltas_of(draw: st.DrawFn, text: str) -> list[str]:
    """Some split of a text, empty deltas included."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    bounds = [0, *cuts, len(text)]
    return [text[i:j] for i, j in itertools.pairwise(bounds)]


@st.composite
def options(draw: st.DrawFn, subject: str) -> dict[str, Any]:
    """Any way to call Parser."""
    markers = markers_for(subject)
    tails = [""]
    if markers:
        marker = draw(st.sampled_from(markers))
        cut = draw(st.integers(0, len(marker)))
        tails += [marker, marker + "\n", marker[:cut], f"{marker} x {marker}"]
    return {
        "tools": draw(st.sampled_from([None, [], TOOLS])),
        "on_defect": draw(st.sampled_from(["repair", "strict"])),
        "arguments": draw(st.sampled_from(["stream", "whole"])),
        "finish_reason": draw(st.sampled_from([None, "stop", "length", "tool_calls"])),
        "prompt_tail": draw(st.sampled_from(tails)),
    }


def same_arguments(left: Sequence[ToolCall], right: Sequence[ToolCall]) -> bool:
    """Names and arguments are equal, by JSON type and value."""
    return _spelled(left) == _spelled(right)


def _spelled(calls: Sequence[ToolCall]) -> list[tuple[str, str]]:
    return [(c.name, json.dumps(c.arguments, sort_keys=True, ensure_ascii=False)) for c in calls]
