"""What a stream costs, counted for every dialect: machines resumed, events made, characters copied.

Never timed. A delta that only goes on with a text is a run's (``toolglot.runs``), others resume a machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.strategies import SUBJECTS, dialect_for
from tests.test_linear import KB, TOOLS, call_text, code
from toolglot import Dialect, Parser
from toolglot.auto import resolve
from toolglot.scanner import Source

subjects = pytest.mark.parametrize("subject", SUBJECTS)

SIZE = 4 * KB
SPARE = 100
"""Deltas around the one long text: markers, names, keys."""
READ_TO_THEIR_END = frozenset({"positional_text", "keyed_lines", "labelled_lines", "xml_tree"})
"""Codecs whose values are read to their end before anything can go out: each delta resumes them."""


class Work:
    """Times a machine was resumed, and characters of its window that were copied for it."""

    def __init__(self) -> None:
        self.resumed = 0
        self.copied = 0


@contextmanager
def working(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    work = Work()
    feed, grow = Source.feed, Source.grow

    def counted(source: Source, delta: str, special: bool | None = None) -> None:
        feed(source, delta, special)
        work.resumed += 1
        work.copied += len(source.text)

    def grown(source: Source, text: str, ordinary: bool) -> None:
        grow(source, text, ordinary)
        work.copied += len(source.text)

    with monkeypatch.context() as patch:
        patch.setattr(Source, "feed", counted)
        patch.setattr(Source, "grow", grown)
        yield work


def stream(text: str, subject: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Work, int, int]:
    """The work of a stream of four characters a delta, the events that came of it, and the deltas."""
    deltas = [text[i : i + 4] for i in range(0, len(text), 4)]
    parser = Parser(dialect_for(subject), tools=TOOLS)
    with working(monkeypatch) as work:
        events = sum(len(parser.feed(delta)) for delta in deltas) + len(parser.close())
    return work, events, len(deltas)


def dialects_of(subject: str) -> tuple[Dialect, ...]:
    """The dialect of a subject; none for ``auto``, which writes as one of them."""
    resolved = resolve(dialect_for(subject))
    return (resolved,) if isinstance(resolved, Dialect) else ()


@pytest.fixture(autouse=True)
def _pure() -> None:
    if not hasattr(Source.feed, "__code__"):
        pytest.skip("a compiled class cannot be counted from outside; the pure one does the same work")


@subjects
def test_argument(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = call_text(subject, SIZE)
    work, events, deltas = stream(text, subject, monkeypatch)
    codecs = {body.codec for dialect in dialects_of(subject) for body in dialect.bodies[:1]}
    assert events <= deltas + SPARE
    if codecs & READ_TO_THEIR_END:
        return
    assert work.resumed <= deltas / 8 + SPARE
    assert work.copied <= 4 * len(text) + 8 * KB


@subjects
def test_prose(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = code(SIZE)
    work, events, deltas = stream(text, subject, monkeypatch)
    assert events <= deltas + 1
    assert work.copied <= 8 * len(text) + 8 * KB


def test_prose_is_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The quick brown fox, it says, jumps over\n\n  the lazy dog. " * 80
    for subject in ("hermes", "gpt_oss", "gemma", "qwen3_coder", "auto"):
        work, _, _ = stream(text, subject, monkeypatch)
        assert work.resumed <= 4, subject


def test_a_feed_without_events_gives_the_same_empty_tuple() -> None:
    parser = Parser("hermes", tools=TOOLS)
    nothing = parser.feed("<tool")
    assert nothing == ()
    assert parser.feed("_call") is nothing
    assert parser.feed("") is nothing
