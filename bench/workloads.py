"""The texts that are measured, and the deltas in which they come.

Promises: the same texts in every process and every run; deltas are pieces of four characters with the
format's markers whole, as a model's tokens are, and joined they are the text.

Does not: import toolglot, or a peer: each worker reads this module in an environment of its own.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KB = 1024
SIZES = (1, 8, 64, 256)
DELTA = 4
"""Characters of a delta, about as many as a token has."""

Call = tuple[str, dict[str, Any]]

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        },
    },
]


@dataclass(frozen=True)
class Workload:
    """One text: ``kind`` groups the sizes of one shape, ``size`` is the KB of its long part (0: has none)."""

    kind: str
    size: int
    dialect: str
    text: str
    calls: list[Call]
    tools: list[dict[str, Any]] = field(default_factory=lambda: TOOLS)

    @property
    def id(self) -> str:
        """The name of the row."""
        return f"{self.kind} {self.size} KB" if self.size else self.kind

    @property
    def deltas(self) -> list[str]:
        """The text in pieces of a token's size."""
        return split(self.text, FORMATS[self.dialect].marks)


@dataclass(frozen=True)
class Format:
    """How one dialect writes calls, and the markers that are one token each."""

    write: Callable[[list[Call]], str]
    marks: tuple[str, ...]


def source(size: int, *, blank: str = "\n    ", seed: int = 7) -> str:
    """``size`` characters that look like source code: words, quotes, newlines; ASCII."""
    draw = random.Random(seed)
    words = [
        "value",
        "return",
        "for",
        "item",
        "in",
        "self",
        "data",
        "name",
        "if",
        "not",
        "None",
        "print",
        "x",
        "result",
    ]
    pieces: list[str] = []
    length = column = 0
    while length < size:
        word = draw.choice(words)
        if draw.random() < 0.06:
            word = f'"{word}"'
        gap = blank if column > 60 else " "
        column = 0 if column > 60 else column + len(word) + 1
        pieces.append(word + gap)
        length += len(word) + len(gap)
    return "".join(pieces)[: size - 1] + "."


def unheard(size: int, seed: int = 7) -> str:
    """``size`` characters of prose whose words are all made up: hardly four of them come twice in a row."""
    draw = random.Random(seed)
    words: list[str] = []
    length = 0
    while length < size:
        words.append("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))))
        length += len(words[-1]) + 1
    return " ".join(words)[: size - 1] + "."


def escaped(size: int) -> str:
    """Text of which JSON escapes nearly every other character; about ``size`` characters when written."""
    line = 'say("\\d+\t\\"x\\"")\r\n"é\u0001"\\\\'
    return line * (size // (len(json.dumps(line)) - 2))


def split(text: str, marks: tuple[str, ...]) -> list[str]:
    """Markers whole, the rest in pieces of ``DELTA`` characters."""
    parts = re.split("(" + "|".join(map(re.escape, marks)) + ")", text) if marks else [text]
    pieces: list[str] = []
    for at, part in enumerate(parts):
        step = len(part) or 1 if at % 2 else DELTA
        pieces.extend(part[i : i + step] for i in range(0, len(part), step))
    return pieces


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hermes(calls: list[Call]) -> str:
    return "\n".join(
        f"<tool_call>\n{_json({'name': name, 'arguments': arguments})}\n</tool_call>"
        for name, arguments in calls
    )


def _tagged(calls: list[Call]) -> str:
    return "\n".join(
        f"<tool_call>\n<function={name}>\n"
        + "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
        + "</function>\n</tool_call>"
        for name, arguments in calls
    )


def _pairs(calls: list[Call]) -> str:
    return "\n".join(
        f"<tool_call>{name}\n"
        + "".join(f"<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n" for k, v in arguments.items())
        + "</tool_call>"
        for name, arguments in calls
    )


def _channels(calls: list[Call]) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{_json(arguments)}<|call|>"
        for name, arguments in calls
    )


def _python(calls: list[Call]) -> str:
    shown = (
        f"{name}({', '.join(f'{key}={_json(value)}' for key, value in arguments.items())})"
        for name, arguments in calls
    )
    return f"[{', '.join(shown)}]"


def _braces(calls: list[Call]) -> str:
    return "".join(
        f"<|tool_call>call:{name}{{"
        + ",".join(
            f'{key}:<|"|>{value}<|"|>' if isinstance(value, str) else f"{key}:{_json(value)}"
            for key, value in arguments.items()
        )
        + "}<tool_call|>"
        for name, arguments in calls
    )


_QWEN = ("<tool_call>", "</tool_call>", "<think>", "</think>")
FORMATS = {
    "hermes": Format(_hermes, _QWEN),
    "qwen3_coder": Format(_tagged, _QWEN),
    "glm45": Format(_pairs, (*_QWEN, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")),
    "gpt_oss": Format(
        _channels,
        ("<|channel|>", "<|message|>", "<|constrain|>", "<|call|>", "<|start|>", "<|end|>", "<|return|>"),
    ),
    "pythonic": Format(_python, ()),
    "gemma4": Format(_braces, ("<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>")),
}


def workloads() -> list[Workload]:
    """All texts; the sizes of one kind follow one another, the smallest first."""
    made: list[Workload] = []
    for dialect, form in FORMATS.items():
        for size in SIZES:
            calls: list[Call] = [("write_file", {"path": "a.py", "content": source(size * KB)})]
            made.append(Workload(dialect, size, dialect, form.write(calls), calls))
    prose = source(64 * KB, blank="\n")
    made.append(Workload("prose", 64, "hermes", prose, []))
    made.append(Workload("new words", 64, "hermes", unheard(64 * KB), []))
    many: list[Call] = [("get_weather", {"city": f"City{i}", "days": i}) for i in range(20)]
    for dialect in ("hermes", "qwen3_coder"):
        made.append(Workload(f"20 calls {dialect}", 0, dialect, FORMATS[dialect].write(many), many))
    thought = f"<think>\n{source(32 * KB, blank=chr(10))}\n</think>\n\n"
    made.append(Workload("reasoning, then a call", 32, "hermes", thought + _hermes(many[:1]), many[:1]))
    hard: list[Call] = [("write_file", {"path": "a.py", "content": escaped(64 * KB)})]
    made.append(Workload("escapes", 64, "hermes", _hermes(hard), hard))
    return made


def quick() -> list[Workload]:
    """The texts of a quick run: the small and the middle size, and what has no size."""
    return [w for w in workloads() if w.size not in (8, 256)]
