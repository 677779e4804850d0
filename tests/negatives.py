"""The corpus of texts without a call: ``tests/negatives``, one file a topic.

    python -m tests.negatives [--dialect hermes]

A block is ``=== title``, then, where the text really speaks some dialects outside of any quotation, ``uses:
slug, slug``, then ``--- raw`` and the text (or ``--- raw json`` and one JSON string). Under every other
dialect and under ``auto``, with tools and without, such a text yields no call and comes back as it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import toolglot
from tests.casefile import CaseFileError, tools_from
from tests.delivery import received, run
from tests.places import TESTS

TOOLS = tools_from(
    "get_weather(city: string, days?: integer); search(query: string); run_python(code: string);"
    " send_email(to: string, subject: string, body: string); print(text: string)"
)
"""Tools of the names that the texts mention."""


@dataclass(frozen=True)
class Negative:
    """A text without a call, and the dialects that it speaks nevertheless."""

    file: Path
    line: int
    title: str
    raw: str
    uses: frozenset[str]

    @property
    def id(self) -> str:
        return f"{self.file.name}:{self.line} {self.title}"


def negatives() -> Iterator[Negative]:
    """Every text of the corpus."""
    for file in sorted((TESTS / "negatives").glob("*.txt")):
        lines = file.read_bytes().decode("utf-8").split("\n")
        starts = [number for number, line in enumerate(lines) if line.startswith("=== ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield _read(file, start + 1, lines[start:end])


def _read(file: Path, number: int, block: list[str]) -> Negative:
    where = next((i for i, line in enumerate(block) if line in ("--- raw", "--- raw json")), None)
    if where is None:
        raise CaseFileError(f"{file}:{number}: expected '--- raw' or '--- raw json'")
    text = "\n".join(block[where + 1 :])
    raw = json.loads(text) if block[where].endswith("json") else text
    uses: set[str] = set()
    for line in filter(None, block[1:where]):
        key, _, slugs = line.partition(":")
        if key != "uses":
            raise CaseFileError(f"{file}:{number}: expected 'uses: slug, slug', got {line!r}")
        uses |= {slug.strip() for slug in slugs.split(",")}
    return Negative(file, number, block[0].removeprefix("=== ").strip(), raw, frozenset(uses))


def fault(text: str, dialect: str, *, tools: bool, deltas: Sequence[str] | None = None) -> str | None:
    """What is wrong with the parse of a text that has no call; None where nothing is."""
    offered = TOOLS if tools else None
    got = received(run([text] if deltas is None else deltas, dialect, tools=offered))
    if got.calls:
        return f"{dialect} invents {got.calls}"
    if got.reasoning or got.content != text:
        return f"{dialect} gives {got.content!r} and the reasoning {got.reasoning!r}"
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.negatives", description="texts without a call")
    parser.add_argument("--dialect", action="append", help="only this dialect, or auto")
    options = parser.parse_args(arguments)
    texts = list(negatives())
    faults = 0
    for negative in texts:
        for dialect in options.dialect or [*toolglot.BUNDLED, "auto"]:
            for tools in (True, False):
                wrong = None if dialect in negative.uses else fault(negative.raw, dialect, tools=tools)
                if wrong is not None:
                    faults += 1
                    print(f"{negative.id}: {wrong[:300]}")
    print(f"{len(texts)} texts, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
