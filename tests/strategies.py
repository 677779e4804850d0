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
from functools import cache
from typing import Any

from hypothesis import strategies as st

import toolglot
from tests.casefile import tools_from
from tests.delivery import markers_of, valid
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
FRAGMENTS = (
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


KEYS = (
    *("city", "q", "_n", "path", "k1", "deepKey", "city", "q", "path"),
    *("key with space", "a.b", "from", "a-b", "é", '"', "a:b", "</k>", "name", "arguments", ""),
)
_KEYS = st.sampled_from(KEYS)

PROSE = "abc ,.\n-é東<|[`{"
_ALPHABET = "abc xyz\n\t\"'\\<>|{}[]():,=&;é東👩`"


def values_alphabet() -> str:
    """The characters of plain string values."""
    return _ALPHABET


# A strategy is made once per subject: making one for each draw would cost more than the draws.


@cache
def _strings(subject: str) -> st.SearchStrategy[str]:
    plain = st.text(_ALPHABET, max_size=20)
    fragments = [f for f in FRAGMENTS if f == valid(f)]
    return plain | st.lists(st.sampled_from([*fragments, *markers_for(subject)]), max_size=4).map("".join)


@cache
def values(subject: str) -> st.SearchStrategy[Any]:
    """JSON values; floats that are exact in their shortest spelling."""
    numbers = st.integers(-(10**25), 10**25) | st.floats(allow_nan=False, allow_infinity=False)
    strings = _strings(subject)
    scalars = st.one_of(st.sampled_from([None, True, False]), numbers, strings, strings)
    lists = st.lists(scalars, max_size=3)
    objects = st.dictionaries(_KEYS, scalars | lists, max_size=3)
    return st.one_of(scalars, scalars, scalars, lists, objects, st.lists(objects, max_size=2))


@cache
def _calls(subject: str) -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    names = st.sampled_from(["get", "do_it", "notes.add", "a-b", "x:y"])
    return st.lists(st.tuples(names, st.dictionaries(_KEYS, values(subject), max_size=3)), max_size=3)


_PROSE = st.just("") | st.text(PROSE, max_size=20)


@cache
def messages(subject: str) -> st.SearchStrategy[Message]:
    """Content, reasoning and calls, each to a tool of its own so that one schema can type it."""

    def message(content: str, reasoning: str, calls: list[tuple[str, dict[str, Any]]]) -> Message:
        made = (ToolCall(name=f"{name}{i}", arguments=arguments) for i, (name, arguments) in enumerate(calls))
        return Message(content=content, reasoning=reasoning, tool_calls=tuple(made))

    return st.builds(message, _PROSE, _PROSE, _calls(subject))


# -- written ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
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


@cache
def texts(subject: str) -> st.SearchStrategy[str]:
    """Text that is hard on the subject."""
    markers = markers_for(subject)
    pieces = [piece for m in markers for i in range(1, len(m)) for piece in (m[:i], m[i:])]
    fragment = st.sampled_from(FRAGMENTS)
    options = [fragment, fragment, st.sampled_from(pool(subject)).flatmap(_piece)]
    if markers:
        options += [st.sampled_from(markers), st.sampled_from(markers), st.sampled_from(pieces)]
    return st.lists(st.one_of(options), max_size=10).map("".join)


@cache
def _piece(written: Written) -> st.SearchStrategy[str]:
    """A piece of a written message, often all of it."""
    text = written.text
    low = st.just(0) | st.integers(0, len(text))
    high = st.just(len(text)) | st.integers(0, len(text))
    return st.builds(lambda i, j: text[i:j], low, high)


_CUTS = st.lists(st.integers(0, 200), max_size=6)


@st.composite
def deltas_of(draw: st.DrawFn, text: str) -> list[str]:
    """Some split of a text, empty deltas included."""
    bounds = [0, *sorted(min(cut, len(text)) for cut in draw(_CUTS)), len(text)]
    return [text[i:j] for i, j in itertools.pairwise(bounds)]


@cache
def prompt_tails(subject: str) -> tuple[str, ...]:
    """Ends of prompts: markers, whole and cut, with text around them."""
    tails = [""]
    for marker in markers_for(subject):
        tails += [marker, marker + "\n", marker[: len(marker) // 2], f"{marker} x {marker}"]
    return tuple(tails)


@cache
def options(subject: str) -> st.SearchStrategy[dict[str, Any]]:
    """Any way to call Parser."""
    return st.fixed_dictionaries(
        {
            "tools": st.sampled_from([None, [], TOOLS]),
            "on_defect": st.sampled_from(["repair", "strict"]),
            "arguments": st.sampled_from(["stream", "whole"]),
            "finish_reason": st.sampled_from([None, "stop", "length", "tool_calls"]),
            "prompt_tail": st.just("") | st.sampled_from(prompt_tails(subject)),
        }
    )


def same_arguments(left: Sequence[ToolCall], right: Sequence[ToolCall]) -> bool:
    """Names and arguments are equal, by JSON type and value."""
    return _spelled(left) == _spelled(right)


def _spelled(calls: Sequence[ToolCall]) -> list[tuple[str, str]]:
    return [(c.name, json.dumps(c.arguments, sort_keys=True, ensure_ascii=False)) for c in calls]
