"""Claims: one call where it begins, with its opener or without.

Promises: a marked call is read by the first way whose body starts as it must; an unmarked one goes out
only once it is complete and its gate holds. What is refuted is content, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from ._typing import TYPE_CHECKING
from .bodies import echo_of, read_body
from .calls import Call, Reading
from .channel import Channel
from .closing import pass_late
from .dialect import Dialect
from .envelope import Machine, Verdict
from .events import DefectKind
from .faults import BodyFault, Cut, OverLimit
from .markers import Bookmark, Markers
from .proserun import ProseRun
from .runs import HELD_MOST
from .scanner import BLANKS, UNBOUNDED, Pattern
from .sections import pass_empty, to_section
from .stops import LETTER, holds
from .table import Kind, Meaning, Table, Way, table_of
from .ways import ways_of

if TYPE_CHECKING:
    from typing import Final

    from .echo import Echo

_RUNS_MOST: Final = 3
_NOTHING: Final[Iterable[None]] = ()


class Claims(Machine):
    """Reads the calls of an answer. ``guess``: the dialect is not known, so only offered names count."""

    __slots__ = (
        *("chosen", "chosen_by", "echo", "fenced", "guess", "more", "reached"),
        *("_entered", "_repeat", "_runs"),
    )

    def __init__(
        self, channel: Channel, reading: Reading, table: Table, *, strict: bool, guess: bool
    ) -> None:
        super().__init__(channel, reading, table, strict=strict)
        self.guess = guess
        self.told = not guess
        self.more: Meaning | None = None
        self._entered: Iterable[None] = _NOTHING
        self._repeat: Pattern | None = None
        # The way in which the last call was read, and what reads others so without the machine.
        self.echo: tuple[Way, Echo | None] | None = None
        self.reached = 0
        self.fenced = False
        self.chosen: Dialect | None = None if guess else table.dialects[-1]
        self.chosen_by = ""
        # One for the answer, one for reasoning, the same within inline code: few enough to look through.
        self._runs: tuple[tuple[Markers, bool, ProseRun], ...] = ()

    def aside(self, rel: int, layout: str | None = None) -> None:
        """The blanks in front of markup: layout where the dialect has it, else text."""
        end = self.source.pos + rel
        if (layout or self.state.table.layout) == "blank" and not self.state.thinking:
            self.channel.set_aside(end)
        else:
            self.prose(end)

    def before_call(self, rel: int, dialect: Dialect) -> None:
        """As ``aside`` in front of a call, where the dialect may have a separator of its own."""
        separator = dialect.envelope.separator
        end = self.source.pos + rel
        if separator and self.source.text.endswith(separator, self.source.pos, end):
            self.prose(end - len(separator))
            self.channel.set_aside(end)
        else:
            self.aside(rel, dialect.envelope.layout)

    def choice(self, dialect: Dialect, form: int, why: str) -> None:
        """A call was read in ``dialect``, told by ``why``; from here on it is the dialect of the text."""
        state = self.state
        state.form = min(state.form, form)
        if self.guess and self.chosen is None:
            self.chosen = dialect
            self.told = True
            self.chosen_by = why
            names = frozenset() if self.reading.tools is None else self.reading.tools.names
            state.table = table_of((state.table.dialects[0], dialect, state.table.rest), names)

    def go_on(self, markers: Markers, blanks: str, firsts: frozenset[str] | None = None) -> None:
        """Declare that prose may only go on, up to ``markers`` and but for ``blanks`` at its end.

        ``firsts``: the characters with which a marker inside a word may begin; any, where there are none.
        """
        state = self.state
        if self.refuted >= 0 or not (state.thinking or (state.said and not state.fresh)):
            return
        for searched, thinking, run in self._runs:
            if searched is markers and thinking == state.thinking:
                self.source.run = run
                return
        run = ProseRun(self.source, self.channel, markers, blanks, firsts, thinking=state.thinking)
        self._runs = ((markers, state.thinking, run), *self._runs[:_RUNS_MOST])
        self.source.run = run

    # -- either -----------------------------------------------------------------------------------

    def begin(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """Read the call that ``hit`` opens; its envelope, if it is one, only up to what ``entered`` reads."""
        marked = found[0].kind is Kind.OPEN
        # One generator less is open all the while that a call comes.
        return self.envelope(rel, hit, found) if marked else self._otherwise(rel, hit, marked=False)

    def _otherwise(self, rel: int, hit: str, *, marked: bool) -> Verdict:
        """Read the call that ``hit`` opens without its envelope, where none was read: ``marked`` if tried."""
        opened = self.source.at + rel
        count = self.channel.ledger.count
        meanings = self.state.table.meanings[hit]
        if not marked and any(m.kind is Kind.OPEN for m in meanings):
            return False
        self.reached = self.source.at
        for meaning in meanings:
            if meaning.kind is not Kind.UNMARKED or not self.usable(meaning, self.source.pos + rel):
                continue
            if (yield from self.unmarked(rel, meaning)):
                if self.guess and self.channel.ledger.count > count:
                    # Families share bodies more often than closes.
                    yield from pass_late(self.reading, sum((m.dialect.envelope.close for m in meanings), ()))
                    self.state.edge = self.source.at
                return True
        if marked:
            self.pend(opened)
        return self.content()

    def content(self) -> bool:
        """What no shape could read to its end is content as far as it was read; whether anything was."""
        source = self.source
        if self.reached <= source.at:
            return False
        self.prose(self.reached - source.base)
        self.channel.settle(source.at)
        return True

    # -- with an opener -------------------------------------------------------------------------

    def envelope(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """Read the envelope whose opener ``hit`` stands ``rel`` ahead, or what else begins there."""
        source = self.source
        ways, gap, repeats = ways_of(self.state.table, hit, found)
        noise = 0
        length = len(hit)
        try:
            way = self.way_at(ways, rel + length, gap)
            if way is None:
                way = yield from self.choose(ways, rel + length, gap)
            if way is None:
                noise = yield from to_section(self.source, self.limits, ways, rel + length)
                if noise < 0:
                    self.before_call(rel, ways[0].dialect)
                    pass_empty(self.reading, ways[0].dialect)
                    self.state.edge = source.at
                    return True
                if noise:
                    way = yield from self.choose(ways, rel + length + noise, gap=False)
        except Cut as fault:
            if self.guess and self.chosen is None and not holds(LETTER, hit):
                return (yield from self._otherwise(rel, hit, marked=True))
            self.before_call(rel, ways[0].dialect)
            opened = source.at
            source.keep(opened)
            source.pos = len(source.text)
            self.unfinished(opened, fault, None)
            source.release()
            return True
        if way is None:
            return (yield from self._otherwise(rel, hit, marked=True))
        start = source.base + source.follow_at
        self.before_call(rel, way.dialect)
        required = bool(way.dialect.envelope.close)
        state = self.state
        self._repeat = None
        if not (self.strict or state.thinking or state.ticks or state.fence or self.channel.holds):
            # What is held goes out with the end of a call, and must not wait for the next one's.
            self._repeat = repeats.get(id(way)) if self.told else None
        self._entered = self.region(way, source.at, start, required=required, noise=noise, opener=hit)
        return True

    def entered(self) -> Iterable[None]:
        """What reads the envelope that ``begin`` entered, if it did: one generator less is open meanwhile."""
        entered, self._entered = self._entered, _NOTHING
        return entered

    @property
    def entering(self) -> bool:
        """Whether ``begin`` entered an envelope that is not read yet."""
        return self._entered is not _NOTHING

    def closed(self, way: Way, opened: int, opener: str) -> None:
        state, source = self.state, self.source
        state.edge, state.form = source.base + source.pos, 0
        if not self.told:
            self.choice(way.dialect, 0, f"{opener!r}{_at(opened)}")
        if not way.dialect.envelope.close:
            self.more = self._follower(way)

    def expect_next(self) -> None:
        way = self.way
        echo: Echo | None = None
        if self._repeat is not None and way is not None and self.reading.body is way.body:
            if self.echo is None or self.echo[0] is not way:
                self.echo = way, echo_of(self, way)
            echo = self.echo[1]
        if echo is not None and echo.usable():
            self.source.run = echo
        else:
            super().expect_next()

    def again(self) -> int:
        source, repeat = self.source, self._repeat
        if repeat is None or source.flags or self.limits.blanks < HELD_MOST:
            return -1
        match = source.head(repeat, source.pos)
        if match is None or match.end() - source.pos > HELD_MOST:
            return -1
        # As in front of any call: its dialect has no separator, and blanks for layout.
        channel = self.channel
        channel.set_aside(match.start(1))
        opened = source.base + source.pos
        source.pos = end = match.end()
        channel.body_at = source.base + end
        return opened

    def _follower(self, way: Way) -> Meaning | None:
        """The bare shape that may follow a body without a close marker: another object, after a separator."""
        for meaning in self.state.table.answers:
            unmarked = meaning.unmarked
            if meaning.body is way.body and unmarked is not None and unmarked.shape == "object":
                return meaning
        return None

    def pend(self, opened: int) -> None:
        """An opener at absolute offset ``opened`` is refuted: a close behind it makes it a malformed call."""
        self.prose(opened - self.source.base)
        self.refute(opened)

    # -- without --------------------------------------------------------------------------------

    def usable(self, meaning: Meaning, at: int) -> bool:
        """Whether the unmarked shape may stand at local index ``at``."""
        unmarked = meaning.unmarked
        assert unmarked is not None
        if self.strict and unmarked.standing == "repair":
            return False
        if unmarked.when == "alone" and self.state.form < self.form_of(meaning):
            return False
        if unmarked.place == "line":
            return self.source.line_start(at)
        if unmarked.place == "word":
            before = self.source.before(at)
            return not before or before in BLANKS or before in unmarked.boundary
        return True

    @staticmethod
    def form_of(meaning: Meaning) -> int:
        return 1 + next(i for i, u in enumerate(meaning.dialect.unmarked) if u is meaning.unmarked)

    def unmarked(self, rel: int, meaning: Meaning) -> Verdict:
        """Read the unmarked body that stands ``rel`` ahead; False where none does."""
        source, channel = self.source, self.channel
        unmarked, body = meaning.unmarked, meaning.body
        assert unmarked is not None
        assert body is not None
        opened = source.at + rel
        way = Way(meaning.dialect, body)
        try:
            if (yield from self.choose((way,), rel, gap=False)) is None:
                return False
        except Cut:
            return False
        offered_only = self.guess or unmarked.gate == "offered"
        count = channel.ledger.count
        if unmarked.shape == "opener":
            self.before_call(rel, meaning.dialect)
            opened = source.at
            gated = unmarked.gate == "offered"
            yield from self.region(way, opened, opened, required=False, offered_only=gated)
            if channel.ledger.count == count:
                return source.at > opened
            if unmarked.place != "word" and meaning.dialect.envelope.open:
                detail = "the call stands without its opener"
                channel.defect(DefectKind.MISSING_OPEN, opened, opened, detail, count)
        else:
            back = source.bookmark()
            channel.hold(self.state.copy())
            self.depth_held = len(channel.holds)
            self.aside(rel)
            if (yield from self.claim(way, offered_only, back)):
                channel.release()
                self.called()
            elif source.at <= back.at:
                return False
        if channel.ledger.count > count:
            self.choice(meaning.dialect, self.form_of(meaning), f"a call without a marker{_at(opened)}")
        return True

    def claim(self, way: Way, offered_only: bool, back: Bookmark | None = None) -> Verdict:
        """Read one unmarked body into the hold; False where it was none and the hold is gone.

        What is refuted is content; with ``back`` the cursor is there again, and others may read it.
        """
        source, channel, reading = self.source, self.channel, self.reading
        envelope = way.dialect.envelope
        closers = tuple(m for m in envelope.close if m not in envelope.stops and not self.fenced)
        reading.enter(way.body, envelope, marked=False, offered_only=offered_only)
        reading.provisional = False
        channel.body_at = start = source.at
        count = channel.ledger.count
        source.due = start + self.limits.held
        lost: Call | None = None
        try:
            for _ in read_body(reading):
                if source.at - start > self.limits.held:
                    lost = channel.call or lost
                    if lost is not None:
                        lost.forget()
                    self.spill(thinking=False)
                    back = None
                yield
            if source.at - start > self.limits.held:
                raise OverLimit("an answer that may be a call is longer than the limit allows")
            if (yield from pass_late(reading, closers)) and envelope.open:
                detail = "the call stands without its opener"
                channel.defect(DefectKind.MISSING_OPEN, start, start, detail, channel.ledger.count - 1)
            channel.settle(source.at)
            return True
        except Cut as cut:
            if source.base + len(source.text) - start > self.limits.held:
                self.give_back(OverLimit("an answer that may be a call is longer than the limit allows"))
                return False
            ended = channel.ledger.count - count - (channel.call is not None)
            wanted = reading.name is not None and reading.offered(reading.name)
            if (ended > 0 or wanted) and not self.strict:
                self._stand(cut)
                return True
            source.pos = len(source.text)
            if back is not None and not wanted:
                self._go_back(back)
            else:
                self.give_back(cut if wanted else None, cut=True)
        except BodyFault as fault:
            if back is not None and not isinstance(fault, OverLimit):
                self._go_back(back)
            else:
                self.give_back(fault if isinstance(fault, OverLimit) else None)
        finally:
            source.due = UNBOUNDED
        return False

    def _go_back(self, back: Bookmark) -> None:
        """Discard the hold, and leave its text to others."""
        self.reached = max(self.reached, self.source.at)
        self._undo()
        self.source.rewind(back)
        self.channel.dropped()

    def _stand(self, fault: Cut) -> None:
        """A claim was cut: the calls before stand, the last one is reported."""
        source, channel = self.source, self.channel
        source.pos = len(source.text)
        call = channel.call
        index, start = None, channel.mark
        if call is not None:
            call.give_up()
            index, start = call.index, call.start
        self.unfinished(start, fault, index)

    def give_back(self, fault: BodyFault | None, cut: bool = False) -> None:
        """Discard the hold: its text is content."""
        source, channel = self.source, self.channel
        self._join()
        start = channel.holds[-1].at
        self._undo()
        if not (cut and fault is not None and self.reading.finish_reason == "length"):
            self.prose(source.pos)
        channel.settle(source.at)
        if cut and fault is not None:
            channel.defect(DefectKind.UNCLOSED_CALL, start, source.at, fault.detail)
        elif fault is not None:
            channel.defect(DefectKind.LIMIT, source.at, source.at, fault.detail)
        channel.dropped()


def _at(offset: int) -> str:
    return f" at {offset}" if offset >= 0 else " in the prompt"
