"""Real clients over a scripted upstream: what each of them makes of a text that a model wrote.

The upstream answers in memory with the text as content, whole or in deltas of whole tokens; in between stands
``ToolCallTransport``. Every fixture of canitoolcall and every field case is a ``Script``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests import conformance, field
from tests.delivery import tokens
from tests.places import shared_folder
from tests.upstream import body, says
from toolglot.integrations.httpx import ToolCallTransport
from toolglot.wire import Report, Settings

Calls = list[tuple[str, Any]]
PIECES = 12
"""Deltas that a text is sent in, at the most: a client's work is by the delta, and shows nothing more."""


@dataclass(frozen=True)
class Script:
    """What the model writes, how it is read, and the calls that a client must get.

    ``expected``: the calls, or None where the text has none that may be dispatched.
    """

    id: str
    raw: str
    tools: list[dict[str, Any]]
    settings: Settings
    finish: str
    expected: Calls
    listed: bool
    """Whether exactly these calls are meant; else none of them is right as well."""


@lru_cache(maxsize=1)
def scripts() -> tuple[Script, ...]:
    """All of them; the field cases only where the shared folder is."""
    return (*_fixtures(), *_field())


def _fixtures() -> Iterator[Script]:
    for fixture in conformance.fixtures():
        expected = fixture.expected.tool_calls if fixture.expected is not None else ()
        yield Script(
            id=fixture.id,
            raw=fixture.raw_output,
            tools=[dict(tool) for tool in fixture.tools],
            settings=Settings(
                dialect=conformance.dialect_of(fixture, conformance.DEFAULTS),
                prompt_tail=conformance.prompt_tail(fixture),
            ),
            finish="length" if fixture.truncated else "stop",
            expected=[(call.name, call.arguments) for call in expected],
            listed=fixture.expected is not None,
        )


def _field() -> Iterator[Script]:
    folder = shared_folder()
    for line in field.lines(folder, "field") if folder is not None else ():
        case = line.case
        error = case.get("expected_error") or {}
        calls = (error if error else case["expected"]).get("tool_calls") or []
        yield Script(
            id=line.id,
            raw=case["raw"],
            tools=case["tools"],
            settings=Settings(dialect=line.dialect, prompt_tail=case.get("prompt_tail") or ""),
            finish=case.get("finish_reason") or "stop",
            expected=[(call["name"], call["arguments"]) for call in calls],
            listed=not error,
        )


def deltas(script: Script) -> list[str]:
    """The text in at most ``PIECES`` runs of tokens."""
    units = tokens(script.raw)
    size = max(1, -(-len(units) // PIECES))
    return ["".join(units[i : i + size]) for i in range(0, len(units), size)]


def answer(script: Script, *, stream: bool) -> tuple[str, bytes]:
    """Content type and body of the upstream's answer."""
    if stream:
        return "text/event-stream", says(*deltas(script), reason=script.finish)
    return "application/json", json.dumps(body(script.raw, script.finish)).encode()


def transport(library: Any, script: Callable[[], Script], seen: list[Report]) -> Any:
    """The transport of a client: each request is read with its script's settings."""

    def upstream(request: Any) -> Any:
        asked = json.loads(request.content)
        kind, data = answer(script(), stream=asked.get("stream") is True)
        return library.Response(200, headers={"content-type": kind}, content=data)

    class Switch(library.MockTransport):
        """A transport for one request after the other."""

        def handle_request(self, request: Any) -> Any:
            return _reader().handle_request(request)

        async def handle_async_request(self, request: Any) -> Any:
            return await _reader().handle_async_request(request)

    def _reader() -> ToolCallTransport:
        inner = library.MockTransport(upstream)
        return ToolCallTransport(inner, settings=script().settings, on_report=seen.append)

    return Switch(upstream)


def dispatchable(name: str, arguments: Any) -> Calls:
    """A call that a client can run: one whose arguments are a JSON object."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return []
    return [(name, arguments)] if isinstance(arguments, dict) else []


def fault(script: Script, calls: Calls) -> str | None:
    """What is wrong with the calls that a client has, or None."""
    got, want = _keys(calls), _keys(script.expected)
    if got == want or (not script.listed and not got):
        return None
    return f"{script.id}: {calls}, expected {script.expected}"


def _keys(calls: Calls) -> list[str]:
    return [f"{name} {json.dumps(_plain(arguments), sort_keys=True)}" for name, arguments in calls]


def _plain(value: Any) -> Any:
    """Numbers by value: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
