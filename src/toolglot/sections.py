"""Sections: envelopes around many calls, and what stands in them besides calls.

Promises: text that is no call is passed only as far as ``limits.trailing``, and only where the dialect
has such noise.

Does not: read calls or decide what becomes of them (``envelope``, ``claims``).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from .bodies import begins
from .calls import Reading
from .dialect import Body, Dialect, Envelope
from .events import DefectKind
from .jsonstream import Steps
from .limits import Limits
from .markers import marks
from .record import replace
from .runs import Run
from .scanner import MORE, Source
from .table import Way


def first_way(reading: Reading, ways: Sequence[Way], at: int) -> tuple[Way | None, bool]:
    """The way that reads what begins at local index ``at``; without one, whether one still may.

    At the end of the text that is one that would have, had more come: it was cut, not refuted. But
    behind an opener that was only assumed in the prompt the text may as well be the answer.
    """
    source, waiting = reading.source, False
    run: Run | None = None
    # Not set to None here: mypyc would hold it to be None still, behind what sets it.
    source.settle()
    for way in ways:
        reading.closers = way.closers
        found = begins(reading, at, way.body)
        # One that comes earlier in the order and may yet fit goes first.
        if found == 1 and (source.eof or not waiting):
            return way, False
        if found == MORE and not waiting:
            # The others wait with one of their own.
            waiting, run, source.waiting = True, source.run, None
    source.run = run
    if source.eof and not waiting and (source.base + at > 0 or not reading.assumed):
        source.eof = False
        for way in ways:
            reading.closers = way.closers
            waiting = waiting or begins(reading, at, way.body) == MORE
        source.eof = True
    return None, waiting


def pass_empty(reading: Reading, dialect: Dialect) -> None:
    """Pass a section without a call, up to its close marker, which begins at ``follow_at``: it is markup."""
    source, channel = reading.source, reading.channel
    closers = (m for m in dialect.envelope.close if source.starts(source.follow_at, m) == 1)
    start = source.at
    channel.markup(source.follow_at + max(map(len, closers)))
    channel.defect(DefectKind.REJECTED, start, source.at, "a section without a call")


def is_section(dialect: Dialect, body: Body) -> bool:
    """Whether the envelope stands around many calls that have an end of their own."""
    return bool(dialect.envelope.close) and (bool(body.open) or dialect.render.calls == "together")


def together(reading: Reading) -> Generator[None, None, Body | None]:
    """The next body between the markers of the same call: tags close themselves, and may stand together.

    ``source.follow_at`` is where it begins.
    """
    source = reading.source
    if reading.body.name is None:
        return None
    body = replace(reading.body, open=())
    while True:
        at = source.skip(source.pos)
        begun = MORE if at >= len(source.text) else begins(reading, at, body)
        if begun != MORE or source.eof:
            source.follow_at = at
            return body if begun == 1 else None
        yield


def first_marker(
    source: Source, ahead: int, markers: tuple[str, ...], most: int
) -> Generator[None, None, str]:
    """The first of ``markers`` ``ahead`` of the cursor: behind blanks, or behind up to ``most`` of any text.

    Empty where none stands there; else ``source.follow_at`` is where it does.
    """
    reach = ahead + most
    while most:
        at = source.find(marks(markers), source.pos + ahead)
        if at >= 0 and source.hit is not None:
            source.follow_at = at
            return source.hit
        ahead = (len(source.text) if at < 0 else at) - source.pos
        if source.eof or ahead > reach:
            return ""
        yield
    while True:
        found = source.follows(source.pos + ahead, markers)
        if found != MORE:
            return markers[found] if found >= 0 else ""
        yield


def to_section(source: Source, limits: Limits, ways: list[Way], ahead: int) -> Generator[None, None, int]:
    """How much text stands in front of a section's first call; negative where its close comes first.

    Zero where there is no section. ``source.follow_at`` is where the call or the close stands.
    """
    sections = [way for way in ways if is_section(way.dialect, way.body)]
    if not sections:
        return 0
    most = max(limits.trailing * (way.dialect.envelope.gap == "text") for way in sections)
    closers = sum((way.dialect.envelope.close for way in sections), ())
    openers = sum((way.body.open for way in sections if most), ())
    # Another section's opener ends the search: what stands in front of it belongs to no section.
    others = sum((way.dialect.envelope.open for way in sections if most), ())
    found = yield from first_marker(source, ahead, (*closers, *openers, *others), most)
    if not found or found in others:
        return 0
    return source.follow_at - source.pos - ahead if found in openers else -1


def skip_text(reading: Reading, envelope: Envelope) -> Steps:
    """Reject text behind a call, up to the section's next call or its close."""
    source, channel = reading.source, reading.channel
    markers = (*reading.body.open, *envelope.close, *envelope.open)
    found = yield from first_marker(source, 0, markers, reading.limits.trailing)
    start = source.at
    if found and found not in envelope.open and source.follow_at > source.skip(source.pos):
        channel.markup(source.follow_at)
        channel.defect(DefectKind.REJECTED, start, source.at, "text between the calls of a section")
