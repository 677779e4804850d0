"""Delimited: the machine for answers with calls between markers, or without any.

Promises: what a marker means where it stands is in two tables, ``_OUTSIDE`` and ``_INSIDE``; a marker
in inline code or in an open fence is text; prose goes out with the delta that brought it, but for what
can still be markup. Layout next to markup is dropped where content ends at it and kept where content
goes on.

Does not: read message streams (``messages``) or decide on faulty calls (``envelope``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._typing import TYPE_CHECKING
from .envelope import Verdict
from .events import DefectKind
from .jsonstream import Steps
from .late import late
from .markers import Markers
from .reasoning import Reasoner, ThinkingOver
from .scanner import BLANKS, MORE, NONE
from .stops import NAME_STOP
from .table import Kind, Meaning
from .waits import expect

if TYPE_CHECKING:
    from typing import Final

_NEWLINE: Final = "\n"
_TICK: Final = "`"
_FENCE: Final = 3
_LINE_END: Final = late(_NEWLINE)


class Delimited(Reasoner):
    """The machine of one channel. ``run`` is a generator that yields for more text."""

    __slots__ = ()

    def run(self) -> Steps:
        """Read the text to its end."""
        ended = False
        while not ended:
            try:
                if self.state.thinking:
                    ended = yield from self._inside()
                else:
                    ended = yield from self._outside()
                # Only now, since one generator more would be open all the while that a call comes.
                yield from self.entered()
            except ThinkingOver:
                self.drop_draft(len(self.source.text))
        self.finish()

    # -- the answer -----------------------------------------------------------------------------

    def _outside(self) -> Verdict:
        """Read the answer until reasoning begins or an envelope is entered; True where the text has ended."""
        source = self.source
        ahead, start = 0, True
        while not self.state.thinking:
            state = self.state
            if state.table.streams and source.at == 0 and (yield from self.stream(0)):
                return True
            if start and (state.fresh or self.more is not None) and not state.fence and self.may_answer():
                start = yield from self.answer()
                continue
            start = False
            markers = state.table.quoted if state.ticks else state.table.outside
            at = source.find(markers, source.pos + ahead)
            if at >= 0 and source.hit is None and self._within_word(at):
                ahead = at + 1 - source.pos
                continue
            if at < 0 or source.hit is None:
                if source.eof:
                    return True
                end = len(source.text) if at < 0 else at
                self.prose(self._run(end))
                source.ahead = end - source.pos
                if self.overdue():
                    self.spill(thinking=True)
                else:
                    self.wait(markers)
                yield
                ahead = source.ahead
                continue
            hit = source.hit
            self.prose(self._run(at))
            spot = source.base + at
            gone = False
            for kind, found in self._meant(at, hit):
                gone = yield from _OUTSIDE[kind](self, spot - source.base - source.pos, hit, found)
                if gone:
                    break
            if self.entering:
                return False
            ahead = 0 if gone else self._pass(spot - source.base, hit)
            start = gone
        return False

    def wait(self, markers: Markers) -> None:
        """Declare that prose may only go on, where separators are nothing but newlines."""
        state, table = self.state, self.state.table
        if state.after_call and state.edge == self.source.at and not state.thinking and self.way is not None:
            expect(self.source, self.limits, self.way.after)
            return
        blanks = BLANKS
        if table.layout != "blank":
            blanks = max((*table.separators, _NEWLINE if table.closes else ""), key=len)
            if blanks.strip(_NEWLINE):
                return
        self.go_on(markers, blanks, None if self.state.thinking else table.firsts)

    def _within_word(self, at: int) -> bool:
        """Whether what begins at local index ``at`` could only be an offered name, but stands in a word."""
        before, first = self.source.before(at), self.source.text[at]
        word = before.isalnum() or before == "_"
        return word and first != _TICK and first not in self.state.table.firsts

    def _run(self, end: int) -> int:
        """Where the blanks begin that may be layout in front of what stands at local index ``end``."""
        source, table = self.source, self.state.table
        if table.layout == "blank":
            return max(source.tail(source.pos, end), end - self.limits.blanks)
        newline = table.closes and end > source.pos and source.text[end - 1] == _NEWLINE
        parts = [source.beginning(source.pos, end, separator) for separator in table.separators]
        return min(end - 1 if newline else end, *parts, end)

    def _meant(self, at: int, hit: str) -> Sequence[tuple[str, list[Meaning]]]:
        """What a hit at local index ``at`` may be where it stands, in the order in which that is tried."""
        state = self.state
        if hit not in state.table.meanings:
            return ()
        quoted = (state.ticks or state.fence) and not self.source.flagged(at)
        return () if quoted or not self._in_place(at, hit) else state.table.sorts(hit)

    def _pass(self, at: int, hit: str) -> int:
        """A hit at local index ``at`` was no more than text; how far ahead of the cursor to look on."""
        known = hit in self.state.table.meanings
        if not known or hit[0] == _TICK:
            self._code(at, hit)
        return at + (1 if known else len(hit)) - self.source.pos

    def _in_place(self, at: int, hit: str) -> bool:
        """Whether a marker may stand at local index ``at``: some count only where they start a line.

        One that repeats a character is none within a longer run of it.
        """
        if self.source.before(at) == hit[0] and hit == hit[0] * len(hit):
            return False
        return hit not in self.state.table.lines or self.source.line_start(at)

    def _code(self, at: int, run: str) -> None:
        """Follow inline code and fences; ``run`` begins with backticks or tildes, or is a newline."""
        state = self.state
        if run != _NEWLINE:
            run = run[: len(run) - len(run.lstrip(run[0]))]
        if run == _NEWLINE:
            state.ticks = 0
        elif state.fence:
            # A line that goes on behind the run closes nothing.
            if run.startswith(state.fence) and self.source.fence_line(at, at + len(run)):
                state.fence = ""
        elif len(run) >= _FENCE and self.source.fence_line(at):
            state.fence = run
            state.ticks = 0
        elif run[0] != _TICK:
            pass
        elif state.ticks == len(run):
            state.ticks = 0
        elif not state.ticks:
            state.ticks = len(run)

    def stream(self, rel: int) -> Verdict:
        """Read a message stream whose first header stands ``rel`` ahead; False where none does."""
        table, at = self.state.table, self.source.pos + rel
        first = self.source.text[at : at + 1]
        if not table.streams or (first and table.stream_firsts.isdisjoint((first, ""))):
            return False
        from .messages import Messages

        for dialect in table.streams:
            stream = Messages(self.channel, self.reading, self.state.table, dialect, strict=self.strict)
            if (yield from stream.begins(rel, known=False)):
                self.prose(self.source.pos + rel)
                self.chosen, self.chosen_by = dialect, f"a message's header at {max(self.source.at, 0)}"
                stream.state = self.state
                yield from stream.run()
                return True
        return False

    def header(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A message header in the answer."""
        return self.stream(rel)

    def orphan(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A close marker that no opener waits for."""
        yield from ()
        source, channel, state = self.source, self.channel, self.state
        if self.refuted >= 0 and any(hit in m.dialect.envelope.close for m in found):
            start, text = self.refuted, self.refuted_text
            self.prose(source.pos + rel + len(hit))
            self.refuted = -1
            self.malformed(text.text(), start)
            return True
        ends = any(m.kind is Kind.STOP for m in state.table.meanings[hit])
        if ends or not (state.after_call and state.edge == source.at):
            return False
        channel.set_aside(source.pos + rel)
        start = source.at
        channel.markup(source.pos + len(hit))
        channel.defect(DefectKind.REJECTED, start, start, f"{hit!r} closes nothing")
        state.edge = source.at
        return True

    def stop(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """An end-of-turn token; one of a family that is not known to be spoken counts only at the end."""
        source = self.source
        if self.guess and all(m.dialect is not self.chosen for m in found):
            while source.skip(source.pos + rel + len(hit)) == len(source.text):
                if source.eof:
                    break
                yield
            else:
                return False
        self.aside(rel)
        self.mark(len(hit))
        return True

    def wrap_open(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A marker in front of the answer, and the newline behind it."""
        source = self.source
        self.aside(rel)
        self.mark(len(hit))
        newline = MORE if found[0].dialect.envelope.wrap_trim == "newline" else NONE
        while newline == MORE:
            newline = source.starts(source.pos, _NEWLINE)
            if newline == MORE:
                yield
        if newline == 1:
            self.mark(1)
        return True

    def wrap_close(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A marker behind the answer, and the newline in front of it."""
        yield from ()
        source = self.source
        trim = found[0].dialect.envelope.wrap_trim == "newline"
        left = 1 if trim and rel and source.text[source.pos + rel - 1] == _NEWLINE else 0
        self.prose(source.pos + rel - left)
        self.mark(left + len(hit))
        return True

    def lead(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """What stands in front of an answer and is no part of it: words at its start, a header anywhere."""
        yield from ()
        header = hit.endswith(tuple(f"{turn}\n" for turn in found[0].dialect.envelope.turn_open))
        if not self.state.fresh and not header:
            return False
        self.aside(rel)
        self.mark(len(hit))
        return True

    def skip(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A marker behind which a header may stand: words, markup if the next marker opens something.

        A word that the end of the text cuts off is one too; but behind the prompt it may be the answer.
        """
        source = self.source
        self.aside(rel)
        self.mark(len(hit))
        ahead = 0
        while True:
            at = source.find(self.state.table.outside, source.pos + ahead)
            end = len(source.text) if at < 0 else at
            if source.eof and at < 0:
                if source.at > 0 and source.stop(NAME_STOP, source.pos) == end:
                    self.mark(end - source.pos)
                return True
            # Behind the prompt a second word is the answer's.
            ends = NAME_STOP if source.at <= 0 else _LINE_END
            if source.stop(ends, source.pos + ahead, end) < end:
                return True
            if at >= 0 and source.hit is not None:
                break
            ahead = end - source.pos
            if ahead > self.limits.header:
                return True
            yield
        if any(m.kind in _OPENING for m in self.state.table.meanings.get(source.hit or "", ())):
            self.mark(end - source.pos)
        return True

    def cut_off(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A marker behind which nothing is the model's to say, once a call has come."""
        source, channel = self.source, self.channel
        if not channel.ledger.count:
            return False
        self.aside(rel)
        self.mark(len(hit))
        start = source.at
        source.keep(start)
        while True:
            most = start + self.limits.held - source.base
            channel.markup(min(len(source.text), most))
            if source.pos == most or source.eof:
                if source.raw(start, source.at).strip(BLANKS):
                    channel.defect(DefectKind.REJECTED, start, source.at, f"text behind {hit!r}")
                source.release()
                start = source.at
                source.keep(start)
                if source.eof and source.pos == len(source.text):
                    break
            else:
                yield
        source.release()
        return True

    # -- reasoning ------------------------------------------------------------------------------

    def inside_wrap(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """What opens an answer ends the reasoning whose close is missing, where the dialect says so."""
        if hit not in found[0].dialect.reasoning.ends:
            return False
        self.prose(self.source.pos + rel)
        self.state.thinking = False
        yield from self.wrap_open(0, hit, found)
        yield from self._after(found[0])
        return True

    def _inside(self) -> Verdict:
        """Read reasoning until it ends or an envelope is entered; True where the text has ended."""
        source = self.source
        ahead = 0
        while self.state.thinking and self.draft is None:
            at = source.find(self.state.table.inside, source.pos + ahead)
            if at < 0 or source.hit is None:
                if source.eof:
                    return True
                end = len(source.text) if at < 0 else at
                self.prose(self._run(end))
                source.ahead = end - source.pos
                self.wait(self.state.table.inside)
                yield
                ahead = source.ahead
                continue
            hit = source.hit
            self.prose(self._run(at))
            spot = source.base + at
            gone = False
            if self._in_place(at, hit):
                for kind, found in self.state.table.sorts(hit):
                    if kind in _INSIDE:
                        gone = yield from _INSIDE[kind](self, spot - source.at, hit, found)
                        if gone:
                            break
            if self.entering:
                return False
            ahead = 0 if gone else spot + 1 - source.at
        return False


_Handler = Callable[[Delimited, int, str, list[Meaning]], Verdict]
_OPENING: Final = frozenset((Kind.OPEN, Kind.UNMARKED, Kind.THINK_OPEN, Kind.WRAP_OPEN, Kind.SKIP))
_OUTSIDE: Final[dict[str, _Handler]] = {
    Kind.HEADER: Delimited.header,
    Kind.OPEN: Delimited.begin,
    Kind.UNMARKED: Delimited.begin,
    Kind.THINK_OPEN: Delimited.think_open,
    Kind.THINK_CLOSE: Delimited.think_close,
    Kind.CLOSE: Delimited.orphan,
    Kind.STOP: Delimited.stop,
    Kind.WRAP_OPEN: Delimited.wrap_open,
    Kind.WRAP_CLOSE: Delimited.wrap_close,
    Kind.LEAD: Delimited.lead,
    Kind.SKIP: Delimited.skip,
    Kind.END: Delimited.cut_off,
}
_INSIDE: Final[dict[str, _Handler]] = {
    Kind.OPEN: Delimited.inside_call,
    Kind.UNMARKED: Delimited.inside_call,
    Kind.THINK_OPEN: Delimited.inside_open,
    Kind.THINK_CLOSE: Delimited.inside_close,
    Kind.STOP: Delimited.inside_stop,
    Kind.WRAP_OPEN: Delimited.inside_wrap,
}
