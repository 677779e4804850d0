"""The field cases and the founding contract of the shared folder, by the rules of its README.md and SEEDS.md.

    python -m tests.field [--id F001] [--dialect hermes] [--show]

Each case is parsed whole and as streams: its own chunks, one character a delta and five random splits,
each with arguments streamed and whole (``strict`` implies whole). It passes when all of them give what is
expected. Lines whose dialect does not exist yet are counted.
Exit status 1 on a failure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import toolglot
from tests.delivery import Client, Received, random_pieces
from tests.known import load_toml
from tests.places import NO_SHARED, TESTS, shared_folder
from tests.proxied import check_residue, check_wire

FILES = ("field", "seeds")
WORDS = {"malformed function xml": "malformed_call"}
"""The cases' words that are no kind of defect as they stand."""


@dataclass(frozen=True)
class Line:
    """One case with one of its dialects."""

    file: str
    case: dict[str, Any]
    dialect: str

    @property
    def id(self) -> str:
        own = self.case["id"]
        return own if self.dialect == self.case["dialect"] else f"{own}/{self.dialect}"


def lines(folder: Path, file: str) -> Iterator[Line]:
    """Every case of a file, once for each dialect it is meant for."""
    for text in (folder / "cases" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(text)
        for dialect in [case["dialect"], *case.get("also_dialects", [])]:
            yield Line(file, case, dialect)


@lru_cache(maxsize=1)
def _needs() -> dict[str, str]:
    return dict(load_toml(TESTS / "field.toml")["needs"])


def why_not(line: Line) -> str | None:
    """Why a line cannot be run yet, or None when it can."""
    case = line.case
    if case.get("expected_raises") or case.get("spec"):
        return None
    for name in filter(None, (line.dialect, _needs().get(case["id"]))):
        try:
            toolglot.resolve(name)
        except toolglot.UnknownDialectError:
            return f"there is no dialect {name} yet"
    return None


# -- running ---------------------------------------------------------------------------------------


def _options(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "tools": case["tools"],
        "on_defect": "strict" if case.get("mode") == "strict" else "repair",
        "prompt_tail": case.get("prompt_tail") or "",
    }


def _dialect(line: Line) -> Any:
    if line.case.get("spec"):
        return toolglot.Dialect.from_dict(line.case["spec"])
    if line.case.get("auto_order"):
        return toolglot.create_auto(order=line.case["auto_order"])
    return line.dialect


def _finish(case: dict[str, Any]) -> str | None:
    return case.get("finish_reason") or (None if case.get("mode") == "strict" else "stop")


def _splits(case: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Named lists of (channel, delta); nothing is split across two channels."""
    parts = [(channel, text) for channel, text in case.get("channel_chunks") or [["content", case["raw"]]]]
    if case.get("channel_chunks"):
        yield "channels", parts
    if case.get("chunks"):
        yield "chunks", [("content", text) for text in case["chunks"]]
    yield "char", [(channel, char) for channel, text in parts for char in text]
    for seed in range(5):
        pieces = [(channel, piece) for channel, text in parts for piece in random_pieces(text, seed)]
        yield f"random {seed}", pieces


def _stream(line: Line, deltas: Sequence[tuple[Any, str]], arguments: Any) -> tuple[Received, list[str]]:
    """What a client has at the end, and the content that it had after each delta."""
    parser = toolglot.Parser(_dialect(line), arguments=arguments, **_options(line.case))
    client, visible = Client(), []
    for channel, delta in deltas:
        client.take(parser.feed(delta, channel=channel))
        visible.append(client.has().content)
    client.take(parser.close(finish_reason=_finish(line.case)))
    return client.has(), visible


def _whole(line: Line) -> Received:
    case = line.case
    message = toolglot.parse(case["raw"], _dialect(line), finish_reason=_finish(case), **_options(case))
    return Received(
        content=message.content,
        reasoning=message.reasoning,
        calls=[(call.name, call.arguments_json) for call in message.tool_calls],
        ids=[call.id for call in message.tool_calls],
        defects=[defect.kind.value for defect in message.defects],
    )


# -- judging ---------------------------------------------------------------------------------------


def _key(value: Any) -> Any:
    """A value to compare by JSON type: 1 equals 1.0 and not true, integers are exact."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, (int, float)):
        return ("number", value)
    if isinstance(value, list):
        return ("list", [_key(item) for item in value])
    return ("object", sorted((key, _key(item)) for key, item in value.items()))


def _calls(calls: Sequence[dict[str, Any]]) -> list[Any]:
    return [(call["name"], _key(call["arguments"])) for call in calls]


def _defects(case: dict[str, Any], got: Received) -> str | None:
    words = case.get("expected_defects")
    if words is None:
        return None
    want = {WORDS.get(word) or str(word).replace(" ", "_") for word in words}
    have = set(got.defects)
    if want <= have and (want or not have):
        return None
    return f"defects {sorted(have)}, expected {sorted(want) or 'none'}"


def _error(error: dict[str, Any], calls: list[Any]) -> str | None:
    """Content is free where an error is expected."""
    accept = set(error["accept"])
    listed = _calls(error.get("tool_calls") or [])
    if not calls and (not listed or accept & {"no_tool_calls", "call_flagged_invalid"}):
        return None
    if "only_listed_calls" in accept and calls == listed:
        return None
    return f"dispatched {calls}, accepted {sorted(accept)}"


def fault(case: dict[str, Any], got: Received) -> str | None:
    """What is wrong with one run of a case, or None."""
    calls = _calls([{"name": n, "arguments": json.loads(a)} for n, a in got.calls])
    defects = _defects(case, got)
    if defects or case.get("expected_error"):
        return defects or _error(case["expected_error"], calls)
    expected, free = case["expected"], case.get("free") or []
    for part in ("content", "reasoning"):
        want, have = expected.get(part) or "", getattr(got, part)
        if case.get("ws") == "loose":
            want, have = want.strip(), have.strip()
        # Blanks around or between calls are layout: they equal no content at all.
        layout = part == "content" and not want and not have.strip()
        if part not in free and want != have and not layout:
            return f"{part} {have!r}, expected {want!r}"
    if calls != _calls(expected.get("tool_calls") or []):
        return f"calls {calls}, expected {_calls(expected.get('tool_calls') or [])}"
    ids = case.get("expected_ids")
    return f"ids {got.ids}, expected {ids}" if ids is not None and got.ids != ids else None


def check(line: Line) -> str | None:
    """The first thing that is wrong with a case, or None when it passes."""
    case = line.case
    if "residue" in case:
        return check_residue(case, line.dialect)
    if "wire" in case:
        return check_wire(case, line.dialect)
    if case.get("expected_raises"):
        return _raises(line)
    if not case.get("channel_chunks"):
        found = fault(case, _whole(line))
        if found:
            return f"whole: {found}"
    for name, deltas in _splits(case):
        for arguments in ["whole"] if case.get("mode") == "strict" else ["stream", "whole"]:
            got, visible = _stream(line, deltas, arguments)
            found = fault(case, got)
            if not found and name == "chunks" and case.get("visible_after", visible) != visible:
                found = f"visible {visible}, expected {case['visible_after']}"
            if found:
                return f"{name}, {arguments}: {found}"
    return _renders(line) if case.get("render") else None


def _raises(line: Line) -> str | None:
    name = line.case["expected_raises"]
    try:
        toolglot.parse(line.case["raw"], _dialect(line), tools=line.case["tools"])
    except toolglot.ToolglotError as error:
        return None if type(error).__name__ == name else f"raised {type(error).__name__}, expected {name}"
    return f"did not raise {name}"


def _renders(line: Line) -> str | None:
    text = toolglot.render([toolglot.ToolCall(**line.case["render"])], _dialect(line))
    # Blanks inside of the arguments are free.
    if text.replace(" ", "") != line.case["raw"].replace(" ", ""):
        return f"render gives {text!r}, expected {line.case['raw']!r}"
    return None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="field", description="field cases and the founding contract")
    parser.add_argument("--id", action="append", help="only this case")
    parser.add_argument("--dialect", action="append", help="only cases of this dialect")
    parser.add_argument("--show", action="store_true", help="print each failing case in full")
    args = parser.parse_args(argv)
    folder = shared_folder()
    if folder is None:
        print(f"skipped: {NO_SHARED}")
        return 0
    failed = False
    for file in FILES:
        tally: Counter[str] = Counter()
        skipped: Counter[str] = Counter()
        for line in lines(folder, file):
            if (args.id and line.case["id"] not in args.id) or (
                args.dialect and line.dialect not in args.dialect
            ):
                continue
            reason = why_not(line)
            if reason:
                skipped[reason] += 1
                continue
            found = check(line)
            tally["fail" if found else "pass"] += 1
            if found:
                print(f"FAIL {line.id} {line.case['kind']} {line.dialect}\n  {found}")
                if args.show:
                    print(json.dumps(line.case, ensure_ascii=False, indent=2))
        print(f"{file}.jsonl: {tally['pass']} passed, {tally['fail']} failed, {skipped.total()} not yet")
        for reason, count in sorted(skipped.items()):
            print(f"  {count:3} {reason}")
        failed |= bool(tally["fail"])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
