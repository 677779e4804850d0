"""Envelope: one marked or unmarked call region, from its opener to what becomes of it.

Promises: what an opener promises is a hypothesis until the body starts as its codec allows; refuted it
is content. All decisions about faulty, cut and unclosed bodies are here (design: "what a cut or
unclosed call is"), for both kinds of machine.

Does not: look for openers or know reasoning (``delimited``, ``messages``), nor read bodies (``bodies``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from ._typing import TYPE_CHECKING
from .bodies import begins, read_body
from .calls import Reading
from .channel import Channel
from .closing import at_close, pass_close, pass_faulty, pass_late, pass_noise
from .dialect import Body, Dialect
from .events import Defect, DefectKind
from .faults import BodyFault, Cut, Malformed, OverLimit
from .jsonstream import Steps
from .markers import Rope
from .scanner import MORE
from .sections import first_way, is_section, skip_text, together
from .state import State
from .table import Table, Way
from .waits import expect

if TYPE_CHECKING:
    from typing import Final

Verdict = Generator[None, None, bool]
_NOTHING: Final = Rope()


class Machine:
    """What both kinds of machine share: the reading of one call region on one channel."""

    __slots__ = (
        *("channel", "depth_held", "limits", "reading", "refuted", "refuted_text"),
        *("source", "state", "steps", "strict", "told", "way"),
    )

    def __init__(self, channel: Channel, reading: Reading, table: Table, *, strict: bool) -> None:
        self.channel = channel
        self.source = channel.source
        self.reading = reading
        self.limits = reading.limits
        self.strict = strict
        self.state = State(table)
        self.refuted = -1
        self.refuted_text = _NOTHING
        self.depth_held = 0
        # Whether it is known which dialect is spoken, and the way in which its last call was read.
        self.told = True
        self.way: Way | None = None
        self.steps: Iterator[None] = iter(())

    # -- content --------------------------------------------------------------------------------

    def prose(self, end: int) -> None:
        """Text up to local index ``end`` is the answer's, or reasoning."""
        source = self.source
        if source.base + end <= self.channel.mark:
            source.pos = end
            return
        if self.refuted >= 0:
            self.refuted_text.append(source.raw(self.channel.mark, source.base + end))
            if self.refuted_text.length > self.limits.trailing + self.limits.header:
                self.refuted = -1
        if not self.state.thinking:
            self.state.fresh = False
            self.state.said = True
        self.channel.prose(end, self.state.thinking)

    def refute(self, opened: int) -> None:
        """The held text since ``opened`` is content; a close behind it will make it a malformed call."""
        self.refuted = opened
        self.refuted_text = Rope()
        self.prose(self.source.pos)

    def malformed(self, raw: str, start: int) -> None:
        """Report the refuted region that began at ``start`` and ends at the cursor."""
        detail = "the body is not what the format allows"
        self.channel.emit(Defect(DefectKind.MALFORMED_CALL, raw, detail, (start, self.source.at)))

    def spill(self, thinking: bool) -> None:
        """What is held has grown too long: its text goes out, and only what follows is held on."""
        channel = self.channel
        state = channel.discard()
        channel.prose(self.source.pos, thinking)
        channel.dropped()
        channel.hold(state)

    # -- a marked region ------------------------------------------------------------------------

    def way_at(self, ways: Sequence[Way], ahead: int, gap: bool) -> Way | None:
        """As ``choose``, where nothing has to be waited for; else None."""
        source = self.source
        start = source.pos + ahead
        at = source.skip(start) if gap else start
        if at >= len(source.text) or at - start > self.limits.blanks:
            return None
        way = first_way(self.reading, ways, at)[0]
        source.follow_at = at
        return way

    def choose(self, ways: Sequence[Way], ahead: int, gap: bool) -> Generator[None, None, Way | None]:
        """Which way reads the body that begins ``ahead`` of the cursor, once its first characters are there.

        None where none does; raises ``Cut`` where the text ends first. With a ``gap``, blanks may stand
        in front of the body; ``source.follow_at`` is where it begins.
        """
        source, reading = self.source, self.reading
        while True:
            at = source.skip(source.pos + ahead) if gap else source.pos + ahead
            if at - source.pos - ahead > self.limits.blanks:
                return None
            if at >= len(source.text):
                if source.eof:
                    raise Cut("nothing follows the opener")
                if gap:
                    expect(source, self.limits, ways[0].head, ahead)
                yield
                continue
            way, waiting = first_way(reading, ways, at)
            if way is not None:
                source.follow_at = at
                return way
            if not waiting:
                return None
            if source.eof:
                raise Cut("the text ends before the body has begun")
            yield

    def region(
        self,
        way: Way,
        opened: int,
        start: int,
        *,
        required: bool,
        marked: bool = True,
        offered_only: bool = False,
        noise: int = 0,
        opener: str = "",
    ) -> Steps:
        """What reads the bodies of the envelope at offset ``opened``; the first one begins at ``start``.

        ``required``: whether a close marker must follow. ``noise``: how much text stands in front of it.
        ``opener``: the marker that opened it, if one did.
        """
        source, channel, reading = self.source, self.channel, self.reading
        source.keep(opened)
        # Of a region that is provisional until its first call nothing changes the state.
        channel.hold(self.state.copy() if self.strict else self.state)
        reading.enter(way.body, way.dialect.envelope, marked=marked, offered_only=offered_only)
        reading.provisional = not self.strict
        self.depth_held = len(channel.holds)
        # Nobody waits for the close behind a call, but where it lets the call out or tells the dialect.
        self.way = way if self.told and not self.strict else None
        channel.body_at = start
        source.pos = start - source.base
        self.refuted = -1
        if noise:
            channel.defect(DefectKind.REJECTED, start - noise, start, "text in front of a section's call")
        return self._envelopes(way, opened, required, opener)

    def _envelopes(self, way: Way, opened: int, required: bool, opener: str) -> Steps:
        """Read the envelope that was entered, and those right behind it that can only be read as it was."""
        source, channel, reading = self.source, self.channel, self.reading
        envelope = way.dialect.envelope
        repeated = False
        while True:
            before = channel.ledger.count
            more: Body | None = None
            try:
                while True:
                    try:
                        yield from read_body(reading)
                        # Nearly always the close stands there, or nothing does yet.
                        passed = at_close(reading, envelope)
                        if passed == MORE:
                            self.expect_next()
                            yield
                            passed = at_close(reading, envelope)
                        if passed != 1:
                            more = yield from self._behind(way.dialect, required)
                    except BodyFault as fault:
                        more = yield from self._past(fault, way.dialect, required)
                    if more is None:
                        break
                    reading.body, more = more, None
                    channel.body_at = source.at
                channel.settle(channel.mark if reading.provisional else source.base + source.pos)
                if self.strict:
                    self._join()
                    channel.release()
                elif reading.provisional:
                    raise Malformed("no call in the envelope")
            except Cut as cut:
                self._cut(cut, opened)
            except BodyFault as fault:
                yield from self._fault(fault, opened, before)
            finally:
                source.release()
            if channel.ledger.count == before:
                return
            self.called()
            if not opener:
                return
            if not repeated:
                if envelope.late_close:
                    yield from pass_late(reading, envelope.late_close)
                self.closed(way, opened, opener)
            opened = self.again()
            if opened < 0:
                return
            repeated = True
            source.keep(opened)
            if reading.body is not way.body:
                reading.enter(way.body, envelope, marked=True, offered_only=False)

    def closed(self, way: Way, opened: int, opener: str) -> None:
        """The envelope that ``opener`` opened was read, and held a call."""
        raise NotImplementedError

    def again(self) -> int:
        """Go on to the body of the next call, if one stands right behind that can only be such a call.

        The absolute offset of its opener; negative where there is none.
        """
        raise NotImplementedError

    def called(self) -> None:
        """A call was read; what comes next is behind it."""
        state = self.state
        state.fresh = False
        state.edge = state.since = self.source.base + self.source.pos
        state.said = state.since_fresh = False
        state.after_call = True

    def _past(self, fault: BodyFault, dialect: Dialect, required: bool) -> Generator[None, None, Body | None]:
        """Past a faulty body: the next one of the same envelope, or None once the envelope is done.

        A faulty call in a section ends with itself: those behind it are read. Any other fault is raised.
        """
        body = self.reading.body
        if isinstance(fault, Cut) or self.strict or self.reading.provisional or not is_section(dialect, body):
            raise fault
        tag = body.name
        hit = yield from self._reject(fault, () if tag is None else (tag.end,))
        if not hit or hit in dialect.envelope.close:
            return None
        if tag is not None and hit == tag.end:
            return (yield from self._behind(dialect, required))
        return (yield from self._following(dialect, required))

    # -- behind a body --------------------------------------------------------------------------

    def _behind(self, dialect: Dialect, required: bool) -> Generator[None, None, Body | None]:
        """After a body: the next body of the same envelope, or None once the envelope is done."""
        source, channel, reading = self.source, self.channel, self.reading
        body, envelope = reading.body, dialect.envelope
        if body.close:
            beside = yield from together(reading)
            if beside is not None:
                channel.markup(source.follow_at)
                return beside
            outer = (*body.open, *envelope.close, *envelope.open)
            yield from pass_close(reading, body.close, outer, envelope.stops)
        if not envelope.close:
            return None
        if self.strict and is_section(dialect, body):
            self._join()
            channel.settle(source.at)
            channel.hold(self.state.copy())
        return (yield from self._following(dialect, required))

    def _following(self, dialect: Dialect, required: bool) -> Generator[None, None, Body | None]:
        """The next body of an envelope that has a close, or None behind that close."""
        source, channel, reading = self.source, self.channel, self.reading
        body, envelope = reading.body, dialect.envelope
        if envelope.gap == "text":
            yield from skip_text(reading, envelope)
        while True:
            found = source.follows(source.pos, envelope.close)
            at = source.follow_at
            waiting = found == MORE
            if found < 0 and at < len(source.text):
                for following in dialect.bodies:
                    begun = begins(reading, at, following)
                    if begun == 1 and (required or following.codec == body.codec):
                        channel.markup(at)
                        return following
                    waiting = waiting or begun == MORE
                if not waiting and required and reading.lenient:
                    begun = pass_noise(reading, dialect.bodies, at)
                    if begun == 1:
                        continue
                    waiting = begun == MORE
            if not waiting:
                break
            self.expect_next()
            yield
        if found >= 0:
            channel.markup(at + len(envelope.close[found]))
        elif required:
            yield from pass_close(reading, envelope.close, reading.openers, envelope.stops)
        return None

    def expect_next(self) -> None:
        """Declare that nothing happens before the next call begins, where nothing else is awaited."""
        if self.way is not None:
            expect(self.source, self.limits, self.way.next)

    # -- faults ---------------------------------------------------------------------------------

    def _join(self) -> None:
        """What is held of a region since its last call is held with the rest of it."""
        while len(self.channel.holds) > self.depth_held:
            self.channel.release()

    def _undo(self) -> None:
        """Forget the held events of the region; its text is still to be attributed."""
        state = self.channel.discard()
        assert isinstance(state, State)
        self.state = state

    def _cut(self, fault: BodyFault, opened: int) -> None:
        """The text ended inside the region."""
        source, channel = self.source, self.channel
        index: int | None = None
        length = self.reading.finish_reason == "length"
        if self.strict and length and len(channel.holds) > self.depth_held:
            # The calls of a section that had their own close before the cut stand.
            start = channel.holds[-1].at
            self._undo()
            source.pos = len(source.text)
            self.unfinished(start, fault, index)
            channel.dropped()
            channel.release()
            return
        if self.strict or self.reading.provisional:
            self._join()
            self._undo()
            source.pos = len(source.text)
            if self.strict and not length:
                self.prose(source.pos)
            self.unfinished(opened, fault, index)
            channel.dropped()
            return
        source.pos = len(source.text)
        call = channel.call
        if call is not None:
            call.give_up()
            index, opened = call.index, call.start
        self.unfinished(opened, fault, index)

    def unfinished(self, start: int, fault: BodyFault, index: int | None) -> None:
        """Report the text since ``start`` as a call that did not finish; what is not content is markup."""
        channel = self.channel
        at = self.source.at
        channel.settle(at)
        if at > 0:
            # Else only the prompt has spoken.
            channel.defect(DefectKind.UNCLOSED_CALL, start, at, fault.detail, index)
        self.state.edge = at

    def _fault(self, fault: BodyFault, opened: int, before: int) -> Steps:
        """The body is not what its syntax allows, or too much."""
        channel, reading = self.channel, self.reading
        kind = DefectKind.LIMIT if isinstance(fault, OverLimit) else fault.kind
        if self.strict:
            self._join()
            self._undo()
            self.prose(self.source.pos)
            channel.defect(kind, opened, self.source.at, fault.detail)
            channel.dropped()
        elif reading.provisional:
            self._undo()
            if fault.kind is not DefectKind.MALFORMED_CALL or kind is DefectKind.LIMIT:
                self.prose(self.source.pos)
                channel.defect(kind, opened, self.source.at, fault.detail)
            else:
                self.refute(opened)
                if not reading.closers and channel.body_at > opened:
                    self.malformed(self.refuted_text.text(), opened)
                    self.refuted = -1
            channel.dropped()
        else:
            yield from self._reject(fault)

    def _reject(self, fault: BodyFault, own: tuple[str, ...] = ()) -> Generator[None, None, str]:
        """Pass the rest of a faulty call; the marker that ended it, empty at the end of the text."""
        hit = yield from pass_faulty(self.reading, fault, own)
        self.state.edge = self.source.at
        self.state.after_call = True
        return hit
