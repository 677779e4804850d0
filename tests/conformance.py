"""The public canitoolcall fixtures, through toolglot and judged by canitoolcall's own checks.

    python -m tests.conformance [--mode NAME] [--family NAME] [--id PART] [--show]

Each fixture is parsed whole, and as a stream under the strategies ``one``, ``special``, ``token`` and five
random groupings, and one character a delta. The tokenizers of the fixtures' models cannot be downloaded,
so a stream's tokens are token-like pieces of the text in which each marker of the family stays whole.

Without an option it reports ``on_defect="strict"`` with whole arguments, the dialect given by the fixture's
family, found by ``auto``, or by ``dialect_for_model``; and beside it the defaults: ``repair`` with streamed
arguments, a call counted once its CallEnd has come. Exit status 1 when a strict run fails anywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from canitoolcall.checks import case_status, run_checks
from canitoolcall.chunking import ChunkStrategy, split
from canitoolcall.fixtures import Family, Fixture, load_families, load_fixtures
from canitoolcall.results import CheckResult, Observation, ParsedToolCall, ParseResult, Status, worst_status

import toolglot
from tests.delivery import received, run, tokens
from tests.known import load_toml
from tests.places import TESTS

STRATEGIES = ("one", "special", "token", "rand:1:8", "rand:2:8", "rand:3:8", "rand:4:8", "rand:5:8")
CHAR = "char:0"
NOTE = "the models' tokenizers cannot be downloaded: tokens are word-like pieces, each family marker whole"


@dataclass(frozen=True)
class Mode:
    """How toolglot is asked to parse."""

    name: str
    on_defect: str
    arguments: str
    dialect: str = "family"


STRICT = Mode("strict", "strict", "whole")
DEFAULTS = Mode("defaults", "repair", "stream")
AUTO = Mode("auto", "strict", "whole", "auto")
MODEL = Mode("model", "strict", "whole", "model")
MODES = (STRICT, AUTO, MODEL, DEFAULTS)


@dataclass(frozen=True)
class Outcome:
    """One fixture's result in one mode."""

    fixture: str
    family: str
    status: Status
    detail: str = ""


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    return load_families()


@lru_cache(maxsize=1)
def rules() -> tuple[dict[str, str], ...]:
    return tuple(load_toml(TESTS / "conformance.toml")["rule"])


def dialect_of(fixture: Fixture, mode: Mode) -> str:
    """The dialect that the table gives to a fixture, or that its model's id suggests, or ``auto``."""
    if mode.dialect == "auto":
        return "auto"
    if mode.dialect == "model":
        return toolglot.dialect_for_model(fixture.models[0])[0]
    for rule in rules():
        when = rule.get("when", "")
        if rule["family"] == fixture.family and (when in fixture.tags or when in fixture.models[0]):
            return rule["dialect"]
    raise LookupError(f"no rule for {fixture.id}")


def fixtures() -> list[Fixture]:
    """All fixtures of the families that have a rule."""
    return load_fixtures(families=sorted({rule["family"] for rule in rules()}))


def prompt_tail(fixture: Fixture) -> str:
    """The end of the prompt: the fixture's, else its model's usual one."""
    if fixture.generation_prompt is not None:
        return fixture.generation_prompt
    reference = families()[fixture.family].reference_for(fixture.models[0])
    return (reference.default_generation_prompt or "") if reference else ""


def observe(fixture: Fixture, mode: Mode) -> Observation:
    """Every parse of one fixture."""
    dialect = dialect_of(fixture, mode)
    finish = "length" if fixture.truncated else "stop"
    options: dict[str, Any] = {
        "tools": [dict(tool) for tool in fixture.tools],
        "prompt_tail": prompt_tail(fixture),
        "on_defect": mode.on_defect,
        "arguments": mode.arguments,
    }

    def stream(deltas: Iterable[str]) -> ParseResult:
        client = received(run(deltas, dialect, finish_reason=finish, **options))
        return _result(client.content, client.reasoning, client.calls)

    message = toolglot.parse(fixture.raw_output, dialect, finish_reason=finish, **options)
    whole = _result(
        message.content, message.reasoning, [(call.name, call.arguments_json) for call in message.tool_calls]
    )
    markers = families()[fixture.family].markers
    units = tokens(fixture.raw_output, markers)
    streams: dict[str, ParseResult] = {}
    for name in STRATEGIES:
        groups = split(units, ChunkStrategy.parse(name), special=set(markers))
        streams[name] = stream("".join(group) for group in groups)
    streams[CHAR] = stream(fixture.raw_output)
    return Observation(whole, streams)


def _result(content: str, reasoning: str, calls: Sequence[tuple[str, str]]) -> ParseResult:
    return ParseResult(content or None, reasoning or None, tuple(ParsedToolCall(n, a) for n, a in calls))


def judge(fixture: Fixture, mode: Mode) -> Outcome:
    """Judge one fixture, per-character deltas included (the checks' own status leaves those out)."""
    rows: list[CheckResult] = run_checks(fixture, families()[fixture.family], observe(fixture, mode))
    status = worst_status([case_status(rows), *(row.status for row in rows)])
    worst = next((row for row in rows if row.status is status and status is not Status.PASS), None)
    detail = f"{worst.check}/{worst.strategy}: {worst.detail}" if worst else ""
    return Outcome(fixture.id, fixture.family, status, detail)


def report(mode: Mode, outcomes: Sequence[Outcome]) -> str:
    """A table by family, and each failure by name."""
    lines = [
        f"{mode.name}: dialect by {mode.dialect}, on_defect={mode.on_defect}, arguments={mode.arguments}",
        "",
    ]
    lines.append(f"  {'family':14} {'pass':>5} {'soft':>5} {'fail':>5}")
    for family in [*sorted({o.family for o in outcomes}), "all"]:
        count = Counter(o.status for o in outcomes if family in (o.family, "all"))
        failed = sum(count.values()) - count[Status.PASS] - count[Status.SOFT_PASS]
        lines.append(f"  {family:14} {count[Status.PASS]:5} {count[Status.SOFT_PASS]:5} {failed:5}")
    lines.append("")
    lines.extend(
        f"  {o.status.value} {o.fixture}\n    {o.detail}" for o in outcomes if o.status is not Status.PASS
    )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="conformance", description="the public fixtures through toolglot")
    parser.add_argument("--mode", action="append", choices=[m.name for m in MODES], help="only this mode")
    parser.add_argument("--family", action="append", help="only fixtures of this family")
    parser.add_argument("--id", action="append", help="only fixtures whose id holds this")
    parser.add_argument("--show", action="store_true", help="print each fixture's text as well")
    args = parser.parse_args(argv)
    chosen = [
        f
        for f in fixtures()
        if (not args.family or f.family in args.family)
        and (not args.id or any(part in f.id for part in args.id))
    ]
    modes = [m for m in MODES if not args.mode or m.name in args.mode]
    print(f"{len(chosen)} fixtures; {NOTE}\n")
    failed = False
    for mode in modes:
        outcomes = [judge(fixture, mode) for fixture in chosen]
        print(report(mode, outcomes), end="\n\n")
        failed |= mode.on_defect == "strict" and any(
            o.status not in (Status.PASS, Status.SOFT_PASS) for o in outcomes
        )
    if args.show:
        for fixture in chosen:
            print(f"{fixture.id}\n  raw      {fixture.raw_output!r}\n  prompt   {prompt_tail(fixture)!r}")
            print(f"  expected {fixture.expected or fixture.expected_error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
