"""How much of a long string argument is held back while it is written.

    python -m tests.holding [--dialect hermes]

A call with one declared string of 16 KB, as each dialect writes it, comes in deltas of four characters. After
each delta that ends inside the value, held is what has come and is not covered by an event. Where a dialect
cannot stream, ``holding.toml`` says why. Exit status 1 where one holds more than ``MOST`` without a reason.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

import toolglot
from tests.known import load_toml
from tests.places import TESTS
from toolglot import Arguments, Parser, ToolCall

SIZE = 16_384
DELTA = 4
MOST = 64
"""Characters that may be held of a string argument."""

TOOLS = {"write_file": {"properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}
_FIRST, _LAST = "Beginning", "finished"
_WORDS = (
    "a",
    "line",
    "of",
    "the",
    "report,",
    "with",
    "3",
    "numbers;",
    "names",
    "(some",
    "long)",
    "+",
    "or",
    "= -",
)


def value(size: int = SIZE) -> str:
    """Prose of about ``size`` characters in lines, the same each time."""
    rng = random.Random(size)
    words = [_FIRST]
    length = len(_FIRST)
    while length < size:
        word = rng.choice(_WORDS)
        words.append(("\n" if rng.random() < 0.08 else " ") + word)
        length += len(words[-1])
    return "".join([*words, " ", _LAST])


def held(slug: str) -> int | None:
    """Characters held at most, or None where the dialect cannot write the call."""
    call = ToolCall("write_file", {"path": "notes.txt", "content": value()})
    try:
        text = toolglot.render(call, slug, tools=TOOLS)
    except toolglot.RenderError:
        return None
    start, end = text.index(_FIRST), text.index(_LAST)
    parser = Parser(slug, tools=TOOLS, arguments="stream")
    out = most = 0
    for at in range(0, len(text), DELTA):
        for event in parser.feed(text[at : at + DELTA]):
            if isinstance(event, Arguments):
                out = max(out, event.span[1])
        fed = at + DELTA
        if start < fed <= end:
            most = max(most, fed - max(out, start))
    return most


def why_not(slug: str) -> str | None:
    """Why a dialect holds more than ``MOST``, or None where nothing is listed."""
    found = load_toml(TESTS / "holding.toml").get("cannot", {}).get(slug)
    return str(found) if found else None


def rows() -> list[tuple[str, int | None, str]]:
    """Each bundled dialect, what it holds at most, and why where that is more than ``MOST``."""
    return [(slug, held(slug), why_not(slug) or "") for slug in toolglot.BUNDLED if slug != "none"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per dialect."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.holding", description="What long strings hold back."
    )
    parser.add_argument("--dialect", action="append", help="only this dialect")
    options = parser.parse_args(arguments)
    bad = False
    for slug in options.dialect or [s for s in toolglot.BUNDLED if s != "none"]:
        most, why = held(slug), why_not(slug)
        bad |= (most is None or most > MOST) is (why is None)
        print(f"{slug:20} {'cannot write it' if most is None else most:>6}  {why or ''}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
