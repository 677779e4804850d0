"""Reasoning: what a machine does with thinking tags, inside reasoning and where they stand alone.

Promises: tags switch the mode each time they occur; reasoning may be open when the output starts, be
opened twice, closed by nothing but the end or a call, or closed without having been opened. A call's
opener inside reasoning is what the dialect's ``call_inside`` says: with ``until_close`` everything
from a confirmed opener on is held until the reasoning closes (then it was a draft) or the text ends.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .answers import Answers
from .calls import Reading
from .channel import Channel
from .envelope import Verdict
from .events import DefectKind, Relabel
from .jsonstream import Steps
from .scanner import MORE
from .state import State
from .table import Kind, Meaning, Table

if TYPE_CHECKING:
    from typing import Final

_NEWLINE: Final = "\n"
_TICK: Final = "`"


class ThinkingOver(Exception):
    """Thrown into a machine: content on another channel closed its open reasoning."""


class Reasoner(Answers):
    """Reads reasoning. ``draft`` is the state to return to while a call in open reasoning is held."""

    __slots__ = ("depth", "draft", "drafted")

    def __init__(
        self, channel: Channel, reading: Reading, table: Table, *, strict: bool, guess: bool
    ) -> None:
        super().__init__(channel, reading, table, strict=strict, guess=guess)
        self.draft: State | None = None
        self.depth = 0
        self.drafted = 0

    # -- tags in the answer ---------------------------------------------------------------------

    def think_open(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """Reasoning begins."""
        channel, state = self.channel, self.state
        if self.draft is not None:
            return False
        if state.fresh and not channel.ledger.count:
            channel.markup(self.source.pos + rel)
        else:
            self.aside(rel)
        self.mark(len(hit))
        state.thinking = True
        state.by_tag = True
        state.closers = state.table.closes[hit]
        state.ticks = 0
        state.fence = ""
        yield from self._lead(found[0])
        return True

    def _lead(self, meaning: Meaning) -> Steps:
        """Pass the label and the newline after a reasoning tag, where the dialect writes them."""
        source, think = self.source, meaning.dialect.reasoning
        for literal in (think.label, _NEWLINE if think.trim == "newline" else ""):
            found = MORE if literal else 0
            while found == MORE:
                found = source.starts(source.pos, literal)
                if found == MORE:
                    yield
            if found == 1:
                self.mark(len(literal))

    def think_close(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A reasoning tag closes what was not open, or the draft that is held."""
        source, channel, state = self.source, self.channel, self.state
        closes = (Kind.CLOSE, Kind.WRAP_CLOSE)
        if self.draft is None and any(m.kind in closes for m in state.table.meanings[hit]):
            # What also closes other things says nothing of what it closes.
            return False
        if self.draft is not None:
            if hit not in self.draft.closers:
                return False
            end = source.pos + rel
            trimmed = (
                found[0].dialect.reasoning.trim == "newline" and rel and source.text[end - 1] == _NEWLINE
            )
            rel = 1 if trimmed else 0
            self.drop_draft(end - rel)
        elif self.strict or any(m.kind is Kind.WRAP_OPEN for m in state.table.meanings[hit]):
            return False
        else:
            rel = self._claim_back(rel)
            start = source.at + rel
            channel.defect(
                DefectKind.LONE_REASONING_CLOSE,
                start,
                start + len(hit),
                f"{hit!r} closes what nothing opened",
            )
            state.fresh = state.since_fresh
        self.mark(rel + len(hit))
        yield from self._after(found[0])
        return True

    def _claim_back(self, rel: int) -> int:
        """The content since the last call or reasoning was reasoning. Returns what is left before the tag."""
        source, channel, state = self.source, self.channel, self.state
        if not state.said and state.edge == source.at:
            return rel
        left = 1 if rel and source.text[source.pos + rel - 1] == _NEWLINE else 0
        self.prose(source.pos + rel - left)
        # What was said in the prompt is none of this text.
        if state.said and source.at > state.since:
            later = [run for run in channel.aside if run[1] >= state.since]
            channel.aside = [run for run in channel.aside if run[1] < state.since]
            earlier, channel.aside = channel.aside, later
            channel.drop_aside()
            channel.aside = earlier
            channel.emit(Relabel((state.since, source.at)))
        return left

    def _after(self, meaning: Meaning) -> Steps:
        """Reasoning is over: pass the blanks that the dialect writes after its close."""
        source, state = self.source, self.state
        state.thinking = state.by_tag = False
        state.ticks = 0
        state.fence = ""
        if meaning.dialect.reasoning.after == "blank":
            while True:
                self.channel.markup(source.skip(source.pos))
                if source.pos < len(source.text) or source.eof:
                    break
                yield
        state.edge = state.since = source.at
        state.since_fresh = state.fresh
        state.said = state.after_call = False

    def mark(self, length: int) -> None:
        """The next ``length`` characters are markup."""
        self.channel.markup(self.source.pos + length)
        self.state.edge = self.source.at
        self.state.after_call = False

    # -- inside reasoning -----------------------------------------------------------------------

    def inside_close(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """The tag that ends the reasoning, unless it is quoted in inline code."""
        source = self.source
        if hit not in self.state.closers:
            return False
        if source.before(source.pos + rel) == _TICK and not source.flagged(source.pos + rel):
            quoted = MORE
            while quoted == MORE:
                quoted = source.starts(source.pos + rel + len(hit), _TICK)
                if quoted == MORE:
                    yield
            if quoted == 1:
                return False
        trim = found[0].dialect.reasoning.trim == "newline"
        left = 1 if trim and rel and source.text[source.pos + rel - 1] == _NEWLINE else 0
        self.prose(source.pos + rel - left)
        self.mark(left + len(hit))
        yield from self._after(found[0])
        return True

    def inside_open(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """Reasoning opens again: noise right behind its opening, else text."""
        if self.state.edge != self.source.at:
            return False
        self.mark(rel + len(hit))
        self.state.closers = self.state.table.closes[hit]
        yield from self._lead(found[0])
        return True

    def inside_stop(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """An end-of-turn token in open reasoning."""
        yield from ()
        self.prose(self.source.pos + rel)
        self.mark(len(hit))
        return True

    def inside_call(self, rel: int, hit: str, found: list[Meaning]) -> Verdict:
        """A call's opener in reasoning; a shape without markers is no more than thought there."""
        if all(m.unmarked is not None and m.unmarked.shape != "opener" for m in found):
            return False
        rule = found[0].dialect.reasoning.call_inside
        if rule == "draft":
            return False
        if rule == "execute":
            return (yield from self.begin(rel, hit, found))
        channel = self.channel
        saved = self.state.copy()
        channel.hold(saved)
        self.depth = len(channel.holds)
        self.drafted = channel.mark
        count = channel.ledger.count
        self.state.thinking = False
        self.state.ticks = 0
        self.state.fence = ""
        self.draft = saved
        begun = yield from self.begin(rel, hit, found)
        yield from self.entered()
        if rule == "ends" and channel.ledger.count > count:
            self.draft = None
            channel.release()
            return True
        if channel.ledger.count > count or (begun and self.source.eof):
            return True
        before = channel.holds[self.depth - 1].at
        self.drop_draft(self.source.pos)
        return self.source.at > before

    # -- drafts ---------------------------------------------------------------------------------

    def drop_draft(self, end: int) -> None:
        """What was held since a call in open reasoning is reasoning, up to local index ``end``."""
        assert self.draft is not None
        self.draft = None
        self.refuted = -1
        while len(self.channel.holds) > self.depth:
            self.channel.discard()
            self.channel.dropped()
        self._undo()
        self.state.thinking = True
        self.prose(end)
        self.channel.dropped()

    def overdue(self) -> bool:
        """Whether a draft has grown beyond the limit: it is reasoning, however it ends."""
        return self.draft is not None and self.source.at - self.drafted > self.limits.held

    def finish(self) -> None:
        """The text has ended: what was held goes out."""
        source, channel, state = self.source, self.channel, self.state
        if self.draft is not None:
            self._rest()
            if self.overdue():
                self.drop_draft(len(source.text))
                channel.defect(DefectKind.LIMIT, source.at, source.at, "a draft longer than the limit allows")
                state = self.state
            else:
                self.draft = None
                channel.release()
        self._rest()
        channel.settle(source.at)
        channel.drop_aside()
        if state.thinking and state.by_tag and self.reading.finish_reason != "length":
            channel.defect(
                DefectKind.LONE_REASONING_OPEN, source.at, source.at, "the text ends inside reasoning"
            )

    def _rest(self) -> None:
        """The end of the text: layout where nothing but blanks follows markup, else content or reasoning."""
        source, state = self.source, self.state
        blank = source.skip(source.pos) == len(source.text)
        if blank and state.edge == source.at and not state.thinking and state.table.layout == "blank":
            self.channel.markup(len(source.text))
        else:
            self.prose(len(source.text))
