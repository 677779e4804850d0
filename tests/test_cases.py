"""Every case of ``tests/cases``, in every delivery mode."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import toolglot
from tests.casefile import Case, read
from tests.delivery import (
    check_calls,
    check_tiling,
    cut,
    deliveries,
    markers_of,
    merge,
    positions,
    received,
    run,
)
from tests.places import TESTS
from toolglot import Message

CASES = [case for file in sorted((TESTS / "cases").glob("*.txt")) for case in read(file)]

pytestmark = pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])


def dialect_of(case: Case) -> Any:
    return toolglot.Dialect.from_dict(case.dialect) if isinstance(case.dialect, dict) else case.dialect


def modes_of(case: Case) -> list[str]:
    # Strict implies whole arguments, so the other mode would be the same run twice.
    return ["whole"] if case.mode == "strict" else ["stream", "whole"]


def calls_of(message: Message) -> list[tuple[str, str]]:
    """Names and canonical argument text: 1 is not true, and integers are exact."""
    return [(call.name, canonical(call.arguments)) for call in message.tool_calls]


def canonical(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("arguments", ["stream", "whole"])
def test_whole(case: Case, arguments: Any) -> None:
    """``parse`` of the whole text gives what the case expects."""
    message = toolglot.parse(
        case.raw, dialect_of(case), finish_reason=case.finish, arguments=arguments, **case.options
    )
    if "content" not in case.free:
        assert message.content == case.content
    if "reasoning" not in case.free:
        assert message.reasoning == case.reasoning
    assert calls_of(message) == [(name, canonical(arguments)) for name, arguments in case.calls]
    if case.ids is not None:
        assert [call.id for call in message.tool_calls] == case.ids
    kinds = list(dict.fromkeys(defect.kind.value for defect in message.defects))
    if "*" in case.defects:
        assert set(case.defects) - {"*"} <= set(kinds)
    else:
        assert kinds == case.defects
    for call in message.tool_calls:
        assert json.loads(call.arguments_json) == call.arguments


def test_delivery(case: Case) -> None:
    """Each split gives the Message of the whole text, and, neighbours merged, its events."""
    dialect = dialect_of(case)
    messages = {}
    for arguments in modes_of(case):
        options = {**case.options, "arguments": arguments, "finish_reason": case.finish}
        whole = run([case.raw], dialect, **options)
        events, message = merge(whole), toolglot.assemble(whole)
        messages[arguments] = message
        for name, deltas in deliveries(case.raw, markers_of(dialect)):
            if arguments == "whole" and name.startswith("split"):
                # Held to the call's end, the arguments are the stream's: its splits are tried there.
                break
            got = run(deltas, dialect, **options)
            check_tiling(case.raw, got)
            check_calls(got)
            assert merge(got) == events, f"{arguments}, {name}"
            assert toolglot.assemble(got) == message, f"{arguments}, {name}"
            client = received(got)
            assert client.content == message.content, f"{arguments}, {name}"
            assert client.reasoning == message.reasoning, f"{arguments}, {name}"
            assert [n for n, _ in client.calls] == [c.name for c in message.tool_calls]
            assert [json.loads(text) for _, text in client.calls] == [c.arguments for c in message.tool_calls]
            assert client.arguments == [c.arguments for c in message.tool_calls]
    # The two modes cut the segments of a call's arguments differently; all else is the same.
    meant = {mode: replace(message, segments=()) for mode, message in messages.items()}
    assert len({repr(message) for message in meant.values()}) == 1, "stream and whole differ"


def test_parse_is_feed_and_close(case: Case) -> None:
    """There is one machine: ``parse`` and the assembled events of one delta are the same Message."""
    parsed = toolglot.parse(case.raw, dialect_of(case), finish_reason=case.finish, **case.options)
    events = run([case.raw], dialect_of(case), finish_reason=case.finish, **case.options)
    assembled = toolglot.assemble(events)
    assert (parsed.content, parsed.reasoning, parsed.tool_calls, parsed.defects, parsed.segments) == (
        assembled.content,
        assembled.reasoning,
        assembled.tool_calls,
        assembled.defects,
        assembled.segments,
    )
    segments = "".join(case.raw[s.span[0] : s.span[1]] for s in parsed.segments)
    assert segments == case.raw


def test_cut(case: Case) -> None:
    """Cut anywhere, nothing is lost, no split matters, and no call is a finished one that was not."""
    dialect = dialect_of(case)
    full = toolglot.parse(case.raw, dialect, finish_reason=case.finish, **case.options)
    thoughts = [segment for segment in full.segments if segment.kind == "reasoning"]
    for at in positions(len(case.raw), most=200):
        text = cut(case.raw, [at])[0]
        options = {**case.options, "finish_reason": "length"}
        whole = run([text], dialect, **options)
        check_tiling(text, whole)
        check_calls(whole)
        if at % 4 == 0 or at > len(case.raw) - 4:
            assert merge(run(text, dialect, **options)) == merge(whole), (
                f"cut at {at}, character by character"
            )
        message = toolglot.assemble(whole)
        if full.defects:
            continue
        # A cut in open reasoning leaves a call that the rest of the text would have made a draft.
        calls = [c for c in message.tool_calls if not any(_inside(c.span, s.span) for s in thoughts)]
        for cut_call, call in zip(calls, full.tool_calls, strict=False):
            assert cut_call.arguments == call.arguments, f"cut at {at}"


def _inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
