"""verify: whether a layout and a dialect are the template's, by random calls there and back.

Promises: a dialect passes only where every turn of the rounds reads back as the calls that were given, whole
and cut at random, and turns without calls give none. What fails is returned as the smallest counter-example.

Does not: mend a dialect that fails.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from ..assembler import assemble
from ..dialect import Dialect
from ..errors import RenderError
from ..events import DefectKind, Event
from ..message import Message
from ..parser import Parser, parse
from .cuts import stop_of
from .frame import message_of
from .layout import Layout, written
from .probe import CONTENT, KEYS, NAMES, Prober
from .rounds import BACKSLASH, SEED, conversations, tools_for
from .template import TemplateFault
from .values import PROBES

_LONGEST_CUT: Final = 32
MENDED: Final = {DefectKind.REPAIRED, DefectKind.MISSING_CLOSE, DefectKind.REJECTED}
"""Defects that a turn may have: templates write what no model should, and it reads back the same."""


@dataclass(frozen=True)
class Turn:
    """One round: what was given and how the template wrote it, without the role's header."""

    calls: list[tuple[str, dict[str, Any]]]
    text: str
    tools: Mapping[str, Any]
    content: str = ""


@dataclass(frozen=True)
class Failure:
    """The smallest counter-example of a check."""

    check: str
    given: str
    text: str
    got: str


def rounds(
    prober: Prober, layout: Layout, without: frozenset[str] = frozenset()
) -> tuple[list[Turn], Failure | None]:
    """The turns of all rounds (V1), and the smallest that the layout does not write.

    ``without``: JSON types that are left out of them.
    """
    turns: list[Turn] = []
    failures: list[Failure] = []
    for calls in conversations(layout.single, without):
        if layout.extra.get("empty") and not all(given for _, given in calls):
            continue
        try:
            turn = prober.turn(calls)
        except TemplateFault as fault:
            failures.append(Failure("V1", repr(calls), "", str(fault)))
            continue
        try:
            text = written(layout, message_of(prober, calls))
        except RenderError as error:
            text = str(error)
        if text != turn:
            failures.append(Failure("V1", repr(calls), turn, text))
        else:
            turns.append(Turn(calls, model_text(layout, turn), tools_for(calls)))
    return turns, smallest(failures)


def model_text(layout: Layout, turn: str) -> str:
    """What the model writes of a turn: without the role's header, and nothing behind its stop marker."""
    return turn[len(layout.header) : len(turn) - len(layout.end)] + stop_of(layout)


def smallest(failures: list[Failure]) -> Failure | None:
    """The failure with the least text."""
    return min(failures, key=lambda failure: len(failure.given), default=None)


def key(value: Any) -> Any:
    """A value with its JSON types told apart, order aside."""
    if isinstance(value, Mapping):
        return {name: key(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [key(item) for item in value]
    return (type(value).__name__, value)


def _read(message: Message) -> list[Any]:
    return [(call.name, key(call.arguments)) for call in message.tool_calls]


def misread(dialect: Dialect, turn: Turn) -> Failure | None:
    """Whether a turn reads back as what was given (V2), whole."""
    message = parse(turn.text, dialect, tools=turn.tools, finish_reason="stop")
    return _compare("V2", turn, message)


def _compare(check: str, turn: Turn, message: Message) -> Failure | None:
    wanted = [(name, key(given)) for name, given in turn.calls]
    defects = [defect.detail for defect in message.defects if defect.kind not in MENDED]
    if _read(message) == wanted and message.content.strip() == turn.content and not defects:
        return None
    got = (
        f"{[(c.name, c.arguments) for c in message.tool_calls]} content={message.content!r} defects={defects}"
    )
    return Failure(check, repr(turn.calls), turn.text, got)


def streamed(dialect: Dialect, turn: Turn, draw: random.Random) -> Failure | None:
    """The same with the text cut at random (V3)."""
    parser = Parser(dialect, tools=turn.tools)
    events: list[Event] = []
    at = 0
    while at < len(turn.text):
        size = draw.randint(1, _LONGEST_CUT)
        events += parser.feed(turn.text[at : at + size])
        at += size
    events += parser.close("stop")
    return _compare("V3", turn, assemble(events, parser.dialect))


def negative(dialect: Dialect, prober: Prober, layout: Layout) -> Failure | None:
    """Whether turns without calls, and a tool's name in prose, give no call (V4)."""
    offered: dict[str, Any] = {name: {} for name in NAMES}
    texts = [f"Use {NAMES[0]} for that, or {NAMES[1]}."]
    with suppress(TemplateFault):
        texts.append(model_text(layout, prober.turn([], CONTENT)))
    for text in texts:
        message = parse(text, dialect, tools=offered, finish_reason="stop")
        if message.tool_calls or (message.content.strip() == "" and CONTENT in text):
            return Failure("V4", "no calls", text, repr(message.content))
    return None


def unreadable(dialect: Dialect, prober: Prober, layout: Layout) -> frozenset[str]:
    """The JSON types whose values do not read back where they stand alone, and perhaps ``BACKSLASH``."""
    found: set[str] = set()
    for kind, values in PROBES.items():
        for value in values:
            if kind not in found and not _alone(dialect, prober, layout, value):
                slash = isinstance(value, str) and "\\" in value
                found.add(BACKSLASH if slash else kind)
    return frozenset(found)


def _alone(dialect: Dialect, prober: Prober, layout: Layout, value: Any) -> bool:
    calls = [(NAMES[0], {KEYS[0]: value})]
    try:
        text = model_text(layout, prober.turn(calls))
    except TemplateFault:
        return False
    return misread(dialect, Turn(calls, text, tools_for(calls))) is None


def reads(dialect: Dialect, turns: list[Turn]) -> Failure | None:
    """The shortest turn that the dialect does not read whole (V2)."""
    failures = (misread(dialect, turn) for turn in sorted(turns, key=lambda turn: len(turn.text)))
    return next((failure for failure in failures if failure is not None), None)


def streams(dialect: Dialect, turns: list[Turn]) -> Failure | None:
    """The shortest turn that the dialect does not read where it comes in pieces (V3)."""
    draw = random.Random(SEED)
    failures = (streamed(dialect, turn, draw) for turn in sorted(turns, key=lambda turn: len(turn.text)))
    return next((failure for failure in failures if failure is not None), None)
