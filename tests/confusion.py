"""The confusion matrix of ``auto``: each case and fixture parsed with the dialect named, and with ``auto``.

    python -m tests.confusion [--show]

A text counts if the named dialect finds calls in it. With tools: those of the case, or where it names none
the called names without schemas; without: ``tools=None`` for both. The same means the same names and
arguments in the same order. ``tests/negatives`` is the other half: there ``auto`` may find nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import toolglot
from tests import conformance
from tests.casefile import read
from tests.places import TESTS
from tests.strategies import same_arguments
from toolglot import Dialect


@dataclass(frozen=True)
class Sample:
    """A text of a named dialect, and how it is parsed."""

    id: str
    dialect: str
    raw: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """What a sample gave with its dialect named and with ``auto``."""

    sample: Sample
    tools: bool
    chosen: str
    same: bool


def samples() -> Iterator[Sample]:
    """Every case of a bundled dialect, and every fixture."""
    for file in sorted((TESTS / "cases").glob("*.txt")):
        for case in read(file):
            if isinstance(case.dialect, str) and case.dialect != "auto":
                options = {**case.options, "finish_reason": case.finish}
                yield Sample(case.id, _slug(case.dialect), case.raw, options)
    for fixture in conformance.fixtures():
        options = {
            "tools": [dict(tool) for tool in fixture.tools],
            "prompt_tail": conformance.prompt_tail(fixture),
            "on_defect": "strict",
            "finish_reason": "length" if fixture.truncated else "stop",
        }
        yield Sample(
            fixture.id,
            _slug(conformance.dialect_of(fixture, conformance.STRICT)),
            fixture.raw_output,
            options,
        )


def _slug(name: str) -> str:
    found = toolglot.resolve(name)
    assert isinstance(found, Dialect)
    return found.slug


@cache
def pairs() -> tuple[Pair, ...]:
    """Each sample in which the named dialect finds calls, with tools and without."""
    return tuple(pair for sample in samples() for tools in (True, False) for pair in _compare(sample, tools))


def _compare(sample: Sample, tools: bool) -> Iterator[Pair]:
    options = dict(sample.options)
    if not tools:
        options["tools"] = None
    elif not options["tools"]:
        found = toolglot.parse(sample.raw, sample.dialect, **options).tool_calls
        options["tools"] = {call.name: {} for call in found if call.name}
    named = toolglot.parse(sample.raw, sample.dialect, **options)
    if named.tool_calls:
        auto = toolglot.parse(sample.raw, "auto", **options)
        same = same_arguments(named.tool_calls, auto.tool_calls)
        yield Pair(sample, tools, auto.dialect or "none", same)


def share(tools: bool) -> tuple[int, int]:
    """How many samples are the same, and how many there are."""
    chosen = [pair for pair in pairs() if pair.tools is tools]
    return sum(pair.same for pair in chosen), len(chosen)


def matrix() -> str:
    """The matrix as a table: for each dialect what ``auto`` gave, and what it chose."""
    lines = [
        "| dialect | with tools | without | what auto chose, with tools |",
        "|---|--:|--:|---|",
    ]
    for slug in sorted({pair.sample.dialect for pair in pairs()}):
        own = [pair for pair in pairs() if pair.sample.dialect == slug]
        counts = [_of(own, tools) for tools in (True, False)]
        chosen = Counter(pair.chosen for pair in own if pair.tools)
        names = ", ".join(f"`{name}` {count}" for name, count in chosen.most_common())
        lines.append(f"| `{slug}` | {counts[0]} | {counts[1]} | {names} |")
    lines.append(f"| all | {_of(pairs(), True)} | {_of(pairs(), False)} | |")
    return "\n".join(lines)


def _of(found: Sequence[Pair], tools: bool) -> str:
    asked = [pair.same for pair in found if pair.tools is tools]
    return f"{sum(asked)} of {len(asked)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the matrix and, where asked, each sample that differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.confusion", description="auto beside the named dialects"
    )
    parser.add_argument("--show", action="store_true", help="each sample that differs")
    options = parser.parse_args(arguments)
    print(matrix())
    for tools in (True, False):
        same, count = share(tools)
        word = "with" if tools else "without"
        print(f"\n{word} tools: {same} of {count} the same, {100 * same / count:.1f} %")
        for pair in pairs():
            if pair.tools is tools and not pair.same and (options.show or tools):
                print(f"  {pair.sample.dialect} as {pair.chosen}: {pair.sample.id}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
