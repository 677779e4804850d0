"""Closing: the marker that must stand behind a complete body, and what becomes of it where it does not.

Promises: blanks in front of the marker are markup; other text is rejected if the marker comes within
``limits.trailing`` characters, else it is content and the close is missing. In ``strict`` both end the
claim, but for a close that is the dialect's stop token. Separators and surplus brackets between bodies
are passed as a repair. A faulty call is passed up to its close, the next opener or the end.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ._typing import TYPE_CHECKING
from .bodies import begins
from .calls import Reading
from .dialect import Body, Envelope
from .events import DefectKind
from .faults import BodyFault, Cut, Malformed, OverLimit
from .jsonstream import Steps
from .markers import Markers, marks
from .scanner import BLANKS, END, MORE, NONE, Source
from .waits import wait

if TYPE_CHECKING:
    from typing import Final

# What models write between bodies where the format has nothing: separators, a bracket too many.
_NOISE: Final = BLANKS + "}]),;"


def at_close(reading: Reading, envelope: Envelope) -> int:
    """1 where the close stands behind a body that has none of its own; the cursor moves past it.

    ``MORE`` where nothing but blanks is there yet, ``NONE`` where what is there has to be looked at.
    """
    if not reading.lenient or reading.body.close or not envelope.close or envelope.gap == "text":
        return NONE
    source = reading.source
    found = source.follows(source.pos, envelope.close)
    if found < 0:
        return MORE if found == MORE and source.follow_at == len(source.text) else NONE
    reading.channel.markup(source.follow_at + len(envelope.close[found]))
    return 1


def pass_close(
    reading: Reading, closers: tuple[str, ...], outer: tuple[str, ...], stops: tuple[str, ...]
) -> Steps:
    """Pass one of ``closers`` behind a body; ``outer`` may stand there instead, where it was left out.

    ``stops`` are the dialect's stop tokens: a close among them may be cut from the text.
    """
    source, channel = reading.source, reading.channel
    while True:
        options = (*closers, *outer)
        found = source.follows(source.pos, options)
        if found != MORE:
            break
        wait(source, source.follow_at, options)
        yield
    if 0 <= found < len(closers):
        channel.markup(source.follow_at + len(closers[found]))
    elif found == END or (source.eof and _begun(source, closers)):
        channel.markup(len(source.text))
        _cut_off(reading, closers, stops)
    elif found >= 0:
        if not reading.lenient:
            raise Malformed(f"{closers[0]!r} is missing")
        reading.missing_close(closers[0], channel.ledger.count - 1)
    else:
        yield from _trailing(reading, closers, outer)


def pass_late(reading: Reading, closers: tuple[str, ...]) -> Generator[None, None, bool]:
    """Pass a close marker that no opener asks for and that stands directly behind; whether one does."""
    source = reading.source
    while closers:
        found = source.follows(source.pos, closers)
        if found != MORE:
            if found >= 0:
                reading.channel.markup(source.follow_at + len(closers[found]))
            return found >= 0
        yield
    return False


def _begun(source: Source, closers: tuple[str, ...]) -> bool:
    """Whether the text ends inside one of ``closers``."""
    rest = source.text[source.skip(source.pos) :]
    return any(closer.startswith(rest) for closer in closers)


def _cut_off(reading: Reading, closers: tuple[str, ...], stops: tuple[str, ...]) -> None:
    """The text ends behind a complete body without its close marker."""
    stopped = bool(set(closers) & set(stops))
    if not reading.lenient and not (stopped and reading.finish_reason == "stop"):
        raise Cut(f"{closers[0]!r} is missing")
    if not (stopped and reading.finish_reason == "stop"):
        reading.missing_close(closers[0], reading.channel.ledger.count - 1)


def _trailing(reading: Reading, closers: tuple[str, ...], outer: tuple[str, ...]) -> Steps:
    """Other text behind a complete body."""
    source, channel = reading.source, reading.channel
    if not reading.lenient:
        raise Malformed("text between the body and its close marker")
    index = channel.ledger.count - 1
    marks = Markers((*closers, *outer))
    ahead = 0
    most = reading.limits.trailing
    while True:
        at = source.find(marks, source.pos + ahead)
        end = len(source.text) if at < 0 else at
        if at >= 0 and source.hit in closers and at - source.pos <= most:
            start, stop = source.at, source.base + at
            channel.settle(stop)
            channel.defect(DefectKind.REJECTED, start, stop, "text between the body and its close marker")
            channel.defect(DefectKind.REPAIRED, start, stop, "text behind the body is dropped", index)
            channel.markup(at + len(source.hit or ""))
            return
        if source.eof or end - source.pos > most or (at >= 0 and source.hit is not None):
            reading.missing_close(closers[0], index)
            return
        ahead = end - source.pos
        yield


def pass_noise(reading: Reading, bodies: Sequence[Body], at: int) -> int:
    """Drop separators and surplus brackets at local index ``at`` where another body stands behind them.

    1 where they are gone; else ``NONE``, or ``MORE`` where that cannot be told yet.
    """
    source, channel = reading.source, reading.channel
    behind = source.skip_over(at, _NOISE)
    if behind == at:
        return NONE
    if behind == len(source.text):
        return NONE if source.eof or behind - at > reading.limits.trailing else MORE
    begun = [begins(reading, behind, body) for body in bodies]
    if 1 not in begun:
        return MORE if MORE in begun else NONE
    start = source.base + at
    channel.markup(behind)
    channel.defect(DefectKind.REPAIRED, start, source.at, "noise between calls", channel.ledger.count - 1)
    return 1


def pass_faulty(reading: Reading, fault: BodyFault, own: tuple[str, ...] = ()) -> Generator[None, None, str]:
    """Pass the rest of a faulty call, up to and with its close marker, an opener, or the end, and report it.

    ``own``: what ends the call itself. The marker that did; empty at the end of the text.
    """
    source, channel = reading.source, reading.channel
    most = reading.limits.call
    call = channel.call
    kind = DefectKind.LIMIT if isinstance(fault, OverLimit) else fault.kind
    index: int | None = None
    start = channel.mark
    if call is not None:
        call.give_up()
        index, start = call.index, call.start
    ends = marks((*own, *reading.closers, *reading.openers))
    told = False
    while True:
        at = source.find(ends, source.pos)
        end = len(source.text) if at < 0 else at
        if not told and source.base + end - start > most:
            # What is longer is still passed up to its close, but not kept.
            channel.markup(start + most - source.base)
            channel.defect(kind, start, source.at, fault.detail, index)
            source.forget()
            told = True
        channel.markup(end)
        if (at >= 0 and source.hit is not None) or source.eof:
            break
        yield
    hit = (source.hit or "") if at >= 0 else ""
    if hit in own or hit in reading.closers:
        channel.markup(at + len(hit))
    if not told:
        channel.defect(kind, start, source.at, fault.detail, index)
    return hit
