"""Law 5: the characters that searches examine stay under a constant times the text's length.

Counted, never timed: all searching goes through ``scanner`` and ``jsonstream``, which count what they look at
(``test_style`` sees to it that no other module searches).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import toolglot
from tests.casefile import tools_from
from tests.strategies import AUTO, GIVEN, SUBJECTS, dialect_for, markers_for
from toolglot import Message, Parser, ToolCall
from toolglot.scanner import counting

pytestmark = pytest.mark.skipif(
    os.environ.get("HYPOTHESIS_PROFILE") == "quick",
    reason="counted work is the same on every Python: the run on the highest one has it",
)

KB = 1024
EXAMINED = 4
"""Characters examined per character of input, at most: of calls and prose as models write them."""
HARD = 16
"""The same for text made to be searched again and again."""
SPARE = 2 * KB
"""Beside it, whatever the length: what a short text costs."""

TOOLS = tools_from("write_file(path: string, text: string)")
DELIVERIES: dict[str, Callable[[str], Iterable[str]]] = {
    "whole": lambda text: [text],
    "four characters": lambda text: (text[i : i + 4] for i in range(0, len(text), 4)),
}

subjects = pytest.mark.parametrize("subject", SUBJECTS)
# One dialect or more per codec; the others share their code, and 64 KB shows the same.
megabytes = pytest.mark.parametrize(
    "subject",
    [
        *("hermes", "qwen3_coder", "gpt_oss", "llama3_json", "mistral", "gemma", "gemma4", "pythonic"),
        *("bare_pythonic", "loose_keyed", "phi", "glm47", "minimax_m3", GIVEN, AUTO),
    ],
)
deliveries = pytest.mark.parametrize("delivery", DELIVERIES)


def code(size: int, newlines: bool = True) -> str:
    """Text of this size that looks like source code, the same each time."""
    rng = random.Random(size)
    words = (
        "value",
        "return",
        "for",
        "item",
        "in",
        "if",
        '"quoted"',
        "f(x)",
        "a[0]",
        "{k: v}",
        "x<y",
        "'s'",
        "#",
    )
    gaps = (" ", " ", " ", "\n    ") if newlines else (" ",)
    pieces = ["x = "]
    length = len(pieces[0])
    while length < size:
        piece = rng.choice(words) + rng.choice(gaps)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)[: size - 1] + "."


def call_text(subject: str, size: int) -> str:
    """A call with one argument of this size, or prose where the subject writes no calls."""
    if subject == "none":
        return code(size)
    writer = "hermes" if subject == AUTO else subject
    for newlines in (True, False):
        call = ToolCall(name="write_file", arguments={"path": "a.py", "text": code(size, newlines)})
        try:
            return toolglot.render(Message(tool_calls=(call,)), dialect_for(writer))
        except toolglot.RenderError:
            continue
    raise AssertionError(f"{subject} writes no call with a text in it")


def examined(text: str, subject: str, delivery: str, on_defect: Any = "repair") -> int:
    with counting() as count:
        parser = Parser(dialect_for(subject), tools=TOOLS, on_defect=on_defect)
        for delta in DELIVERIES[delivery](text):
            parser.feed(delta)
        parser.close()
    return count.characters


def check(text: str, subject: str, delivery: str) -> None:
    for on_defect in ("repair", "strict"):
        count = examined(text, subject, delivery, on_defect)
        assert count <= EXAMINED * len(text) + SPARE, f"{count / len(text):.1f} per character, {on_defect}"


@subjects
@deliveries
@pytest.mark.parametrize("size", [1 * KB, 4 * KB, 16 * KB, 64 * KB], ids=lambda size: f"{size // KB}KB")
def test_argument(subject: str, delivery: str, size: int) -> None:
    text = call_text(subject, size)
    check(text, subject, delivery)
    calls = toolglot.parse(text, dialect_for(subject), tools=TOOLS).tool_calls
    assert len(calls) == (0 if subject == "none" else 1)


@pytest.mark.slow
@megabytes
@deliveries
def test_megabyte(subject: str, delivery: str) -> None:
    check(call_text(subject, KB * KB), subject, delivery)


@subjects
@deliveries
def test_prose(subject: str, delivery: str) -> None:
    check(code(16 * KB), subject, delivery)


@subjects
def test_counting_sees_the_work(subject: str) -> None:
    """The bound would hold for a counter that sees nothing: a text with markers in it is looked at."""
    if subject == "none":
        return
    assert examined(call_text(subject, 4 * KB), subject, "four characters") >= 4 * KB // 2


def _hard(subject: str) -> dict[str, str]:
    """Text in which a careless search starts again and again."""
    markers = markers_for(subject)
    start = call_text(subject, 64)[:48] if subject != "none" else ""
    hard = {
        "brackets": "[" * 8 * KB,
        "braces": '{"a":' * 2 * KB,
        "quotes": '"' * 8 * KB,
        "backslashes": "\\" * 8 * KB,
        "backticks": "` `` ``` " * KB,
        "blanks": " \n" * 4 * KB,
        "names": "write_file " * KB,
        "calls": "write_file(" * KB,
        "inside a call: quotes": start + '"' * 8 * KB,
        "inside a call: brackets": start + "[{" * 4 * KB,
        "inside a call: blanks": start + " \n" * 4 * KB,
    }
    for marker in markers:
        hard[f"{marker} again"] = marker * (8 * KB // len(marker))
        hard[f"{marker} and text"] = marker + code(8 * KB)
        hard[f"inside a call: {marker}"] = start + (marker + " ") * (8 * KB // (len(marker) + 1))
        if len(marker) > 1:
            hard[f"{marker} cut"] = marker[:-1] * (8 * KB // (len(marker) - 1))
    return hard


@subjects
@deliveries
def test_hard_text(subject: str, delivery: str) -> None:
    over = {}
    for name, text in _hard(subject).items():
        count = examined(text, subject, delivery)
        if count > HARD * len(text) + SPARE:
            over[name] = f"{count / len(text):.1f} per character"
    assert over == {}
