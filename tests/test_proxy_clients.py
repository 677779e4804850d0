"""Every public fixture and every field case through a running proxy, read by the real clients.

One scripted upstream and one proxy serve all of it. A client is judged by canitoolcall's own checks on
what it has, and field cases by the rules of their README.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import pytest
from canitoolcall.checks import run_checks
from canitoolcall.fixtures import Fixture
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status

from tests import field, sdks
from tests.conformance import DEFAULTS, dialect_of, families, fixtures, prompt_tail
from tests.delivery import Received
from tests.known import known_failures
from tests.places import shared_folder
from tests.scripted import Answer, Running, Script, running
from tests.sdks import Got, Tools
from toolglot import Parser, Relabel
from toolglot.proxy.config import ModelRule

ALL = os.environ.get("TOOLGLOT_EVERY_CLIENT") == "1"
QUICK = os.environ.get("HYPOTHESIS_PROFILE") == "quick"


@lru_cache(maxsize=1)
def field_lines() -> list[field.Line]:
    """The field cases that name a dialect, and whose tools a request can say."""
    folder = shared_folder()
    lines = [] if folder is None else field.lines(folder, "field")
    return [line for line in lines if not field.why_not(line) and line.case["tools"] is not None]


class Served(NamedTuple):
    """What the scripted upstream answers, and how the proxy reads it."""

    script: Script
    rules: dict[str, str | ModelRule]


def served() -> Served:
    """Every fixture and case under its own id."""
    script = Script()
    rules: dict[str, str | ModelRule] = {}
    for fixture in fixtures():
        markers = families()[fixture.family].markers
        finish = "length" if fixture.truncated else "stop"
        script.answers[fixture.id] = Answer(fixture.raw_output, finish, markers)
        tail = prompt_tail(fixture)
        rules[fixture.id] = ModelRule(fixture.id, dialect_of(fixture, DEFAULTS), tail)
    for line in field_lines():
        case = line.case
        script.answers[line.id] = Answer(case["raw"], case.get("finish_reason") or "stop")
        rules[line.id] = ModelRule(line.id, line.dialect, case.get("prompt_tail") or "")
    return Served(script, rules)


@pytest.fixture(scope="module")
def proxied() -> Iterator[Running]:
    found = served()
    with running(found.script, dialects=found.rules) as both:
        yield both


def callable_only(got: Got) -> Got:
    """What a client can act on: arguments that are no JSON object are those of a call that was cut."""

    def whole(arguments: str) -> bool:
        try:
            return isinstance(json.loads(arguments), dict)
        except ValueError:
            return False

    return replace(got, calls=tuple(call for call in got.calls if whole(call[1])))


def judged(fixture: Fixture, whole: Got, stream: Got) -> str | None:
    """What is wrong with a fixture as a client has it, or None."""

    def result(got: Got) -> ParseResult:
        got = callable_only(got)
        reasoning = got.reasoning
        if reasoning is None:
            reasoning = fixture.expected.reasoning_content if fixture.expected else None
        calls = tuple(ParsedToolCall(name, arguments) for name, arguments in got.calls)
        return ParseResult(got.content or None, reasoning or None, calls)

    rows = run_checks(
        fixture, families()[fixture.family], Observation(result(whole), {"token": result(stream)})
    )
    worst = next((row for row in rows if row.status not in (Status.PASS, Status.SOFT_PASS)), None)
    return f"{worst.check}/{worst.strategy}: {worst.detail}" if worst else None


def relabelled(line: field.Line) -> bool:
    case = line.case
    parser = Parser(line.dialect, tools=case["tools"], prompt_tail=case.get("prompt_tail") or "")
    return any(isinstance(event, Relabel) for event in [*parser.feed(case["raw"]), *parser.close()])


def faults(read: Callable[[Sequence[tuple[str, Tools, bool]]], list[Got]], each: int) -> dict[str, str]:
    """Everything that is wrong as one client has it, of each so manieth fixture and case."""
    public, lines = fixtures()[::each], field_lines()[::each]
    asked = [(fixture.id, [dict(tool) for tool in fixture.tools]) for fixture in public]
    asked += [(line.id, line.case["tools"]) for line in lines]
    got = iter(read([(model, tools, stream) for model, tools in asked for stream in (False, True)]))
    wrong = {fixture.id: judged(fixture, next(got), next(got)) for fixture in public}
    for line in lines:
        for kind, one in (("whole", next(got)), ("stream", next(got))):
            expected = line.case.get("expected") or {}
            reasoning = one.reasoning if one.reasoning is not None else expected.get("reasoning") or ""
            one = callable_only(one)
            received = Received(one.content, reasoning, list(one.calls), [], [])
            case = {k: v for k, v in line.case.items() if k not in ("expected_ids", "expected_defects")}
            if kind == "stream" and relabelled(line):
                # Reasoning whose open tag is missing has gone out as content when its close comes.
                case["free"] = [*(case.get("free") or ()), "content", "reasoning"]
            found = field.fault(case, received)
            if found:
                wrong[f"{line.id} {kind}"] = found
    known = known_failures("conformance", "defaults")
    return {name: fault for name, fault in wrong.items() if fault and name not in known}


def test_plain(proxied: Running) -> None:
    """Without an SDK: a stream's deltas joined, as any of them does."""
    assert faults(lambda asked: sdks.gather(sdks.plain(proxied.proxy + "/v1"), asked), 1) == {}


def test_openai(proxied: Running) -> None:
    sdks.sdk("openai")
    with sdks.openai_sync(proxied.proxy + "/v1") as read:
        assert faults(lambda asked: [read(*one) for one in asked], 4 if QUICK else 1) == {}


# Where the SDK's helper refuses an answer in the middle, httpx leaves its generator to the collector, which
# may find it when the client's loop is gone.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <async_generator object Async:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("client", ["openai_async", "langchain", "pydantic_ai", "agents"])
def test_client(proxied: Running, client: str) -> None:
    """The rest is there with ``make clients``: every client on every fixture takes a minute and a half."""
    reader = getattr(sdks, client)(proxied.proxy + "/v1")
    assert faults(lambda asked: sdks.gather(reader, asked), 1 if ALL else 12) == {}


def test_no_key_is_kept(proxied: Running) -> None:
    sent: Any = proxied.script.headers[-1]
    assert sent["Authorization"] == f"Bearer {sdks.KEY}"
