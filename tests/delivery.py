"""Ways to deliver a text in deltas, and what is expected of the events that come back.

``deliveries`` names every split that a case is fed in; ``merge`` and ``check_tiling`` state two of the
laws once, for all tests; ``received`` is what a client that only reads events ends up with.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import toolglot
from toolglot import Arguments, CallEnd, CallStart, Defect, Event, Markup, Reasoning, Relabel, Text

TILES = (Text, Reasoning, CallStart, Arguments, CallEnd, Markup)
EVERY_SPLIT = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "quick" else 400
"""Up to this length each single split is tried; beyond it, and in the profile quick, every n-th."""

HANGS_AFTER = 10
"""Seconds after which a parse is taken for one that never ends."""

_WORDS = r" ?\w+|\s+|[^\w\s]"


# -- splits ----------------------------------------------------------------------------------------


def tokens(text: str, markers: Iterable[str] = ()) -> list[str]:
    """Token-like pieces: each marker whole, the rest as a word tokenizer cuts it.

    >>> tokens("Hi there<a>{}", ["<a>"])
    ['Hi', ' there', '<a>', '{', '}']
    """
    alternatives = [re.escape(m) for m in sorted(set(markers), key=len, reverse=True) if m]
    pieces = re.findall("|".join([*alternatives, _WORDS]), text)
    assert "".join(pieces) == text
    return pieces


def cut(text: str, at: Iterable[int]) -> list[str]:
    """The text cut at these positions.

    >>> cut("abcdef", [2, 4])
    ['ab', 'cd', 'ef']
    """
    bounds = [0, *sorted(at), len(text)]
    return [text[i:j] for i, j in itertools.pairwise(bounds) if i < j]


def random_pieces(text: str, seed: int, most: int = 9) -> list[str]:
    """Pieces of 1 to ``most`` characters, the same for the same seed."""
    rng = random.Random(seed)
    pieces, at = [], 0
    while at < len(text):
        size = rng.randint(1, most)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def positions(length: int, most: int = EVERY_SPLIT) -> range:
    """The inner positions of a text of this length: all of them, or an even sample where it is long."""
    return range(1, length, max(1, length // min(most, EVERY_SPLIT)))


def deliveries(text: str, markers: Iterable[str] = (), seeds: int = 5) -> Iterator[tuple[str, list[str]]]:
    """Every way to deliver the text, named, the text in one piece first."""
    yield "whole", [text]
    yield "char", list(text)
    yield "token", tokens(text, markers)
    for seed in range(seeds):
        yield f"random {seed}", random_pieces(text, seed)
    for at in positions(len(text)):
        yield f"split at {at}", [text[:at], text[at:]]


# -- runs ------------------------------------------------------------------------------------------


def run(
    deltas: Iterable[str], dialect: Any, *, finish_reason: str | None = None, **options: Any
) -> list[Event]:
    """The events of one parse, ``close`` included."""
    events: list[Event] = []
    deltas = list(deltas)
    with no_hang(f"dialect={dialect!r}, finish_reason={finish_reason!r}, {options}, deltas={deltas}"):
        parser = toolglot.Parser(dialect, **options)
        for delta in deltas:
            events.extend(parser.feed(delta))
        events.extend(parser.close(finish_reason=finish_reason))
    return events


class Hang(BaseException):
    """The parser does not return. No Exception, so that Hypothesis does not shrink it, ten seconds a step."""


@contextmanager
def no_hang(what: str) -> Iterator[None]:
    """Turn an endless loop into a failure (law 6): what is parsed here takes milliseconds."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Hang(what)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def markers_of(dialect: Any) -> tuple[str, ...]:
    """All markers of a dialect; for ``auto`` those of every bundled one."""
    if dialect == "auto":
        return tuple(sorted({m for slug in toolglot.BUNDLED for m in markers_of(slug)}))
    if isinstance(dialect, str):
        dialect = toolglot.resolve(dialect)
    return tuple(dialect.markers()) if isinstance(dialect, toolglot.Dialect) else ()


# -- events ----------------------------------------------------------------------------------------


def merge(events: Iterable[Event]) -> list[Event]:
    """Events with neighbours of one kind joined where their spans touch (law 1).

    >>> merge([Text("a", (0, 1)), Text("b", (1, 2)), Text("d", (3, 4))])
    [Text(text='ab', span=(0, 2)), Text(text='d', span=(3, 4))]
    """
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if last is None or last.span[1] != event.span[0]:
            merged.append(event)
            continue
        span = (last.span[0], event.span[1])
        if isinstance(event, Text) and isinstance(last, Text):
            merged[-1] = Text(last.text + event.text, span)
        elif isinstance(event, Reasoning) and isinstance(last, Reasoning):
            merged[-1] = Reasoning(last.text + event.text, span)
        elif isinstance(event, Arguments) and isinstance(last, Arguments) and last.index == event.index:
            merged[-1] = Arguments(event.index, last.text + event.text, span)
        elif isinstance(event, Markup) and isinstance(last, Markup):
            merged[-1] = Markup(span)
        else:
            merged.append(event)
    return merged


def check_tiling(text: str, events: Sequence[Event]) -> None:
    """Each character of the text belongs to one event, and Text and Reasoning are verbatim (law 2)."""
    tiles = sorted((e for e in events if isinstance(e, TILES)), key=lambda e: e.span)
    at = 0
    for tile in tiles:
        assert tile.span[0] == at, f"{tile} does not start where the one before it ended, at {at}"
        assert tile.span[1] >= at, f"{tile} ends before it starts"
        at = tile.span[1]
        if isinstance(tile, (Text, Reasoning)):
            want = valid(text[tile.span[0] : tile.span[1]])
            assert tile.text == want, f"{tile} is not the input's {want!r}"
    assert at == len(text), f"the events end at {at}, the text at {len(text)}"
    for event in events:
        assert 0 <= event.span[0] <= event.span[1] <= len(text), f"{event} lies outside of the text"


def check_calls(events: Sequence[Event]) -> None:
    """Every CallStart is followed by its CallEnd or by a Defect with its index; indices count up from 0."""
    started: list[int] = []
    settled: set[int] = set()
    for event in events:
        if isinstance(event, CallStart):
            started.append(event.index)
        elif isinstance(event, Arguments):
            assert event.index in started, f"{event} before its CallStart"
            assert event.index not in settled or not event.text, f"{event} after its call had ended"
        elif isinstance(event, CallEnd):
            assert event.index in started, f"{event} before its CallStart"
            assert event.index not in settled, f"{event} is the second end of its call"
            settled.add(event.index)
    flawed = {e.index for e in events if isinstance(e, Defect) and e.index is not None}
    assert started == list(range(len(started)))
    assert set(started) <= settled | flawed, f"calls without an end: {set(started) - settled - flawed}"


def valid(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, which is how output writes it."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


@dataclass
class Received:
    """What a client has: text by kind, and the calls that have ended."""

    content: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Name and joined Arguments of each call that has its CallEnd, in order."""
    arguments: list[dict[str, Any]] = field(default_factory=list)
    """The decoded arguments of the same calls, as their CallEnd gave them."""
    ids: list[str] = field(default_factory=list)
    open_calls: dict[int, str] = field(default_factory=dict)
    """Joined Arguments of the calls that have no CallEnd."""
    defects: list[str] = field(default_factory=list)


class Client:
    """Reads events as they come, and moves what a Relabel says was reasoning."""

    def __init__(self) -> None:
        self._text: list[Text] = []
        self._reasoning: list[Text | Reasoning] = []
        self._starts: dict[int, CallStart] = {}
        self._pieces: dict[int, list[str]] = {}
        self._ends: dict[int, CallEnd] = {}
        self._defects: list[str] = []

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Text):
                self._text.append(event)
            elif isinstance(event, Reasoning):
                self._reasoning.append(event)
            elif isinstance(event, CallStart):
                self._starts[event.index] = event
                self._pieces[event.index] = []
            elif isinstance(event, Arguments):
                self._pieces[event.index].append(event.text)
            elif isinstance(event, CallEnd):
                self._ends[event.index] = event
            elif isinstance(event, Defect):
                self._defects.append(event.kind.value)
            elif isinstance(event, Relabel):
                self._relabel(event)

    def _relabel(self, event: Relabel) -> None:
        low, high = event.span
        for text in self._text:
            inside = low <= text.span[0] and text.span[1] <= high
            outside = text.span[1] <= low or high <= text.span[0]
            assert inside or outside, f"{text} straddles the bounds of {event}"
            if inside:
                self._reasoning.append(text)
        self._text = [t for t in self._text if not (low <= t.span[0] and t.span[1] <= high)]

    def has(self) -> Received:
        ended = sorted(self._ends)
        return Received(
            content=_in_order(self._text),
            reasoning=_in_order(self._reasoning),
            calls=[(self._starts[i].name, "".join(self._pieces[i])) for i in ended],
            arguments=[self._ends[i].arguments for i in ended],
            ids=[self._starts[i].id for i in ended],
            open_calls={i: "".join(p) for i, p in self._pieces.items() if i not in self._ends},
            defects=list(self._defects),
        )


def _in_order(pieces: Iterable[Text | Reasoning]) -> str:
    return "".join(p.text for p in sorted(pieces, key=lambda p: p.span[0]))


def received(events: Iterable[Event]) -> Received:
    """What a client has once these events have come."""
    client = Client()
    client.take(events)
    return client.has()
