"""Answers: calls where they begin in the answer, with their opener or without.

Promises: a marked call is read by the first way whose body starts as it must; an unmarked one goes out
only once it is complete and its gate holds; a code fence counts only if it is the whole answer. What
is refuted is content, byte for byte.
"""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from typing import Final

from .bodies import CODECS
from .calls import Reading
from .channel import Channel
from .dialect import Dialect
from .envelope import Machine, Verdict, Way
from .events import DefectKind
from .faults import BodyFault, Cut, OverLimit
from .jsonstream import Steps
from .scanner import BLANKS, END, MORE, NONE
from .table import Kind, Meaning, Table, table_of

_FENCE: Final = "```"
_FENCE_LINE: Final = 40
_SEPARATORS: Final = BLANKS + ";,"
_WHOLE: Final = ("object", "array", "list")


class Answers(Machine):
    """Reads the calls of an answer. ``guess``: the dialect is not known, so only offered names count."""

    def __init__(self, channel: Channel, reading: Reading, table: Table, *, strict: bool, guess: bool) -> None:
        super().__init__(channel, reading, table, strict=strict)
        self.guess = guess
        self.more: Meaning | None = None
        self.chosen: Dialect | None = None if guess else table.dialects[-1]

    def aside(self, rel: int) -> None:
        """The blanks in front of markup: layout where the dialect has it, else text."""
        end = self.source.pos + rel
        if self.state.table.layout == "blank" and not self.state.thinking:
            self.channel.set_aside(end)
        else:
            self.prose(end)

    def choice(self, dialect: Dialect, form: int) -> None:
        """A call was read in ``dialect``; from here on it is the dialect of the text."""
        state = self.state
        state.form = min(state.form, form)
        if self.guess and self.chosen is None:
            self.chosen = dialect
            names = frozenset() if self.reading.tools is None else self.reading.tools.names
            state.table = table_of((state.table.dialects[0], dialect), names)

    # -- with an opener -------------------------------------------------------------------------

    def envelope(self, rel: int, length: int, found: list[Meaning]) -> Verdict:
        """Read the envelope whose opener stands ``rel`` ahead; False where the opener is refuted."""
        source, channel = self.source, self.channel
        ways = [Way(m.dialect, body) for m in found for body in m.dialect.bodies]
        gap = any(m.dialect.envelope.gap == "blank" for m in found)
        try:
            way = yield from self.choose(ways, rel + length, gap)
        except Cut as fault:
            self.aside(rel)
            opened = source.at
            source.keep(opened)
            source.pos = len(source.text)
            self.unfinished(opened, fault, None)
            source.release()
            return True
        if way is None:
            self.pend(source.at + rel)
            return False
        start = source.base + source.follow_at
        self.aside(rel)
        count = channel.ledger.count
        yield from self.region(way, source.at, start, required=bool(way.dialect.envelope.close))
        if channel.ledger.count > count:
            self.choice(way.dialect, 0)
            if not way.dialect.envelope.close:
                self.more = self._follower(way)
        return True

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
        if unmarked.when == "alone" and self.state.form < self._form(meaning):
            return False
        if unmarked.place == "line":
            return self.source.line_start(at)
        if unmarked.place == "word":
            before = self.source.before(at)
            return not before or before in BLANKS or before in unmarked.boundary
        return True

    @staticmethod
    def _form(meaning: Meaning) -> int:
        return 1 + next(i for i, u in enumerate(meaning.dialect.unmarked) if u is meaning.unmarked)

    def unmarked(self, rel: int, meaning: Meaning) -> Verdict:
        """Read the unmarked body that stands ``rel`` ahead; False where none does."""
        source, channel = self.source, self.channel
        unmarked, body = meaning.unmarked, meaning.body
        assert unmarked is not None and body is not None
        way = Way(meaning.dialect, body)
        try:
            if (yield from self.choose((way,), rel, gap=False)) is None:
                return False
        except Cut:
            return False
        offered_only = self.guess or unmarked.gate == "offered"
        count = channel.ledger.count
        if unmarked.shape == "opener":
            self.aside(rel)
            opened = source.at
            yield from self.region(way, opened, opened, required=False, offered_only=offered_only and not self.guess)
        else:
            self.prose(source.pos + rel)
            channel.hold(copy(self.state))
            complete = yield from self._claim(way, offered_only)
            if complete:
                channel.release()
                self.called()
        if channel.ledger.count > count:
            self.choice(meaning.dialect, self._form(meaning))
        return True

    def _claim(self, way: Way, offered_only: bool) -> Verdict:
        """Read one unmarked body into the hold; False where it was none and the hold is gone."""
        source, channel, reading = self.source, self.channel, self.reading
        closers = way.dialect.envelope.close
        reading.enter(way.body, (), closers, marked=False, offered_only=offered_only)
        reading.provisional = False
        channel.body_at = source.at
        count = channel.ledger.count
        try:
            yield from CODECS[way.body.codec].read(reading)
            yield from self._optional_close(closers)
            channel.settle(source.at)
            return True
        except Cut as fault:
            ended = channel.ledger.count - count - (channel.call is not None)
            wanted = reading.name is not None and reading.offered(reading.name)
            if (ended > 0 or wanted) and not self.strict:
                self._stand(fault)
                return True
            self._give_back(fault if wanted else None, cut=True)
        except BodyFault as fault:
            self._give_back(fault if isinstance(fault, OverLimit) else None)
        return False

    def _stand(self, fault: Cut) -> None:
        """A claim was cut: the calls before stand, the last one is reported."""
        source, channel = self.source, self.channel
        source.pos = len(source.text)
        call = channel.call
        index, start = None, channel.mark
        if call is not None:
            call.flush()
            channel.call = None
            index, start = call.index, call.start
        self.unfinished(start, fault, index)

    def _give_back(self, fault: BodyFault | None, cut: bool = False) -> None:
        """Discard the hold: its text is content."""
        source, channel = self.source, self.channel
        start = channel.holds[-1].at
        self.undo()
        if cut:
            source.pos = len(source.text)
        if not (cut and fault is not None and self.finish_reason == "length"):
            self.prose(source.pos)
        channel.settle(source.at)
        if fault is not None:
            kind = DefectKind.UNCLOSED_CALL if cut else DefectKind.LIMIT
            channel.defect(kind, start, source.at, fault.detail)
        channel.dropped()

    def _optional_close(self, closers: tuple[str, ...]) -> Steps:
        """Pass a close marker that stands directly behind an unmarked body."""
        source = self.source
        while closers:
            found = source.follows(source.pos, closers)
            if found != MORE:
                if found >= 0:
                    self.channel.markup(source.follow_at + len(closers[found]))
                return
            yield

    # -- the whole answer -----------------------------------------------------------------------

    def answer(self) -> Verdict:
        """Read what stands at the start of an answer, or behind a bare object; whether anything was taken."""
        source = self.source
        more, self.more = self.more, None
        blanks = _SEPARATORS if more is not None else BLANKS
        while True:
            at = source.skip_over(source.pos, blanks)
            if at >= len(source.text):
                if source.eof:
                    if more is not None:
                        self.channel.markup(at)
                    return False
                if at - source.pos > self.limits.blanks:
                    return False
                yield
                continue
            waiting = False
            for meaning in [more] if more is not None else self.state.table.answers:
                assert meaning.body is not None
                if self.strict and meaning.unmarked is not None and meaning.unmarked.standing == "repair":
                    continue
                found = CODECS[meaning.body.codec].starts(self.reading, at, meaning.body)
                if found == 1 and not self._backtick(at):
                    return (yield from self._bare(at - source.pos, meaning))
                waiting = waiting or found == MORE
            if more is None and self._backtick(at):
                fence = self._fence_at(at)
                if fence == 1:
                    return (yield from self._fenced(at - source.pos))
                waiting = fence == MORE
            if not waiting or source.eof:
                return False
            yield

    def _backtick(self, at: int) -> bool:
        return self.source.text[at] == "`"

    def _bare(self, rel: int, meaning: Meaning) -> Verdict:
        """Read a bare body ``rel`` ahead: committed at its end, or in strict only as the whole answer."""
        source, channel = self.source, self.channel
        unmarked, body = meaning.unmarked, meaning.body
        assert unmarked is not None and body is not None
        way = Way(meaning.dialect, body)
        channel.hold(copy(self.state))
        channel.markup(source.pos + rel)
        offered_only = self.guess or unmarked.gate == "offered"
        whole = self.strict and unmarked.shape in _WHOLE
        while True:
            if not (yield from self._claim(way, offered_only)):
                return True
            if not whole:
                break
            again = yield from self._again(way)
            if again == END:
                break
            if again == NONE:
                self._give_back(None)
                return True
        channel.release()
        self.called()
        self.choice(meaning.dialect, self._form(meaning))
        if unmarked.shape == "object":
            self.more = meaning
        return True

    def _again(self, way: Way) -> Generator[None, None, int]:
        """Past separators: 1 where another body begins, ``END`` at the end, ``NONE`` at anything else."""
        source = self.source
        while True:
            at = source.skip_over(source.pos, _SEPARATORS)
            self.channel.markup(at)
            if at < len(source.text):
                found = CODECS[way.body.codec].starts(self.reading, at, way.body)
                if found != MORE:
                    return found if way.body.codec == "json_object" else NONE
            elif source.eof:
                return END
            if source.eof:
                return NONE
            yield

    # -- a fence as the whole answer ------------------------------------------------------------

    def _fence_at(self, at: int) -> int:
        """Whether a fence begins at ``at`` with something inside that could be a call."""
        source = self.source
        found = source.starts(at, _FENCE)
        if found != 1:
            return found
        line = source.line_end(at)
        if line < 0:
            return MORE if line == MORE and len(source.text) - at <= _FENCE_LINE else NONE
        inside = source.skip(line)
        if inside >= len(source.text):
            return NONE if source.eof or inside - line > self.limits.blanks else MORE
        if self._openers(inside):
            return 1
        waiting = False
        for meaning in self._fence_ways():
            assert meaning.body is not None
            found = CODECS[meaning.body.codec].starts(self.reading, inside, meaning.body)
            if found == 1 and not self._backtick(inside):
                return 1
            waiting = waiting or found == MORE
        waiting = waiting or any(source.starts(inside, m) == MORE for m in self._open_markers())
        return MORE if waiting else NONE

    def _fence_ways(self) -> list[Meaning]:
        return [m for m in self.state.table.answers if m.unmarked is not None and m.unmarked.shape in _WHOLE]

    def _open_markers(self) -> list[str]:
        return [m for m, found in self.state.table.meanings.items() if any(f.kind is Kind.OPEN for f in found)]

    def _openers(self, at: int) -> str:
        """The call opener at local index ``at``, the longest there is."""
        standing = [m for m in self._open_markers() if self.source.starts(at, m) == 1]
        return max(standing, key=len, default="")

    def _fenced(self, rel: int) -> Verdict:
        """Read a fence ``rel`` ahead whose inside may be calls; they count if it is the whole answer."""
        source, channel = self.source, self.channel
        channel.hold(copy(self.state))
        depth = len(channel.holds)
        count = channel.ledger.count
        channel.markup(source.skip(source.line_end(source.pos + rel)))
        dialect: Dialect | None = None
        while True:
            read = yield from self._fence_item()
            if read is None:
                break
            if read is False:
                self._unfence(3, depth)
                return True
            dialect = read if isinstance(read, Dialect) else dialect
        while True:
            self.channel.markup(source.skip(source.pos))
            if source.pos < len(source.text):
                self._unfence(0, depth)
                return True
            if source.eof:
                break
            yield
        if channel.ledger.count == count or dialect is None:
            self._unfence(0, depth)
            return True
        channel.release()
        self.called()
        self.choice(dialect, 0)
        return True

    def _unfence(self, fence: int, depth: int) -> None:
        """The fence was not the whole answer: its text is content."""
        if len(self.channel.holds) >= depth:
            self._give_back(None)
        self.state.fence = fence

    def _fence_item(self) -> Generator[None, None, Dialect | bool | None]:
        """Read one item inside a fence: its dialect, None at the closing fence, False at anything else."""
        source, channel = self.source, self.channel
        while True:
            at = source.skip_over(source.pos, _SEPARATORS)
            if at < len(source.text):
                found = source.starts(at, _FENCE)
                if found != MORE:
                    break
            elif source.eof:
                return False
            yield
        channel.markup(at)
        if found == 1:
            channel.markup(source.pos + len(_FENCE))
            return None
        marker = self._openers(source.pos)
        count = channel.ledger.count
        if marker:
            meanings = [m for m in self.state.table.meanings[marker] if m.kind is Kind.OPEN]
            yield from self.envelope(0, len(marker), meanings)
            return meanings[0].dialect if channel.ledger.count > count else False
        for meaning in self._fence_ways():
            body, unmarked = meaning.body, meaning.unmarked
            assert body is not None and unmarked is not None
            if CODECS[body.codec].starts(self.reading, source.pos, body) == 1:
                way = Way(meaning.dialect, body)
                held = len(channel.holds)
                if (yield from self._claim(way, self.guess or unmarked.gate == "offered")):
                    return meaning.dialect
                if len(channel.holds) < held:
                    return False
        return False

    def undo(self) -> None:
        """Forget the held events; their text is still to be attributed."""
        self._undo()
