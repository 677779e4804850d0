"""Answers: calls that are the whole of an answer, bare or in a code fence.

Promises: a bare object or list counts only where it opens the answer, and in ``strict`` only if nothing
else is said; a fence counts only if it is the whole answer. What is refuted is content, byte for byte.
"""

from __future__ import annotations

from collections.abc import Generator

from ._typing import TYPE_CHECKING
from .bodies import begins
from .claims import Claims
from .dialect import Dialect
from .envelope import Verdict
from .scanner import BLANKS, END, MORE, NONE
from .table import Kind, Meaning, Way

if TYPE_CHECKING:
    from typing import Final

_FENCE: Final = "```"
_FENCE_LINE: Final = 40
_SEPARATORS: Final = BLANKS + ";,"
_WHOLE: Final = ("object", "array", "list")


class Answers(Claims):
    """Reads an answer that may be nothing but calls."""

    __slots__ = ()

    # -- the whole answer -----------------------------------------------------------------------

    def may_answer(self) -> bool:
        """Whether ``answer`` has anything to read at the cursor."""
        source = self.source
        at = len(source.text) if self.more is not None else source.skip(source.pos)
        return at >= len(source.text) or self._may_open(source.text[at])

    def _may_open(self, character: str) -> bool:
        return character in self.state.table.answer_firsts or character == "`"

    def answer(self) -> Verdict:
        """Read what stands at the start of an answer, or behind a bare object; whether anything was taken."""
        source = self.source
        more, self.more = self.more, None
        blanks = _SEPARATORS if more is not None else BLANKS
        candidates = [more] if more is not None else self._candidates()
        self.reached = source.at
        while True:
            at = source.skip_over(source.pos, blanks)
            if at - source.pos > self.limits.blanks:
                return False
            if at >= len(source.text):
                if source.eof:
                    if more is not None:
                        self.channel.markup(at)
                    return False
                yield
                continue
            if not self._may_open(source.text[at]):
                return False
            meaning, waiting = (None, False) if self._backtick(at) else self._first(candidates, at)
            if meaning is not None:
                if (yield from self._bare(at - source.pos, meaning)):
                    return True
                candidates = [m for m in candidates if m is not meaning]
                continue
            if more is None and self._backtick(at):
                fence = self._fence_at(at)
                if fence == 1:
                    return (yield from self._fenced(at - source.pos))
                waiting = fence == MORE
            if not waiting or source.eof:
                return self.content()
            yield

    def _first(self, candidates: list[Meaning], at: int) -> tuple[Meaning | None, bool]:
        """The first shape that begins at local index ``at``; without one, whether one still may."""
        waiting = False
        for meaning in candidates:
            assert meaning.body is not None
            found = begins(self.reading, at, meaning.body)
            if found == 1 and (self.source.eof or not waiting):
                return meaning, False
            waiting = waiting or found == MORE
        return None, waiting

    def _candidates(self) -> list[Meaning]:
        """The shapes that may open an answer, the first of them ranking highest."""
        shapes = self.state.table.answers
        if not self.strict:
            return shapes
        return [m for m in shapes if m.unmarked is not None and m.unmarked.standing != "repair"]

    def _backtick(self, at: int) -> bool:
        return self.source.text[at] == "`"

    def _bare(self, rel: int, meaning: Meaning) -> Verdict:
        """Read a bare body ``rel`` ahead: committed at its end, or in strict only as the whole answer.

        False, with nothing taken, where another shape may read it.
        """
        source, channel = self.source, self.channel
        unmarked, body = meaning.unmarked, meaning.body
        assert unmarked is not None
        assert body is not None
        way = Way(meaning.dialect, body)
        back = source.bookmark()
        channel.hold(self.state.copy())
        self.depth_held = len(channel.holds)
        channel.markup(source.pos + rel)
        offered_only = self.guess or unmarked.gate == "offered"
        whole = self.strict and unmarked.shape in _WHOLE
        while True:
            if not (yield from self.claim(way, offered_only, back)):
                return source.at > back.at
            if not whole:
                break
            again = yield from self._again(way)
            if again == END:
                break
            if again == NONE:
                self.give_back(None)
                return True
        channel.release()
        self.called()
        self.choice(meaning.dialect, self.form_of(meaning), f"a bare {unmarked.shape} at {back.at + rel}")
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
                found = begins(self.reading, at, way.body)
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
        line = source.line_end(at, _FENCE_LINE)
        if line < 0:
            return line
        inside = source.skip(line)
        if source.text.startswith("`", at + len(_FENCE)):
            return NONE
        if inside >= len(source.text):
            return NONE if source.eof or inside - line > self.limits.blanks else MORE
        if self._openers(inside):
            return NONE if source.flagged(inside) else 1
        waiting = False
        for meaning in self._fence_ways():
            assert meaning.body is not None
            found = begins(self.reading, inside, meaning.body)
            if found == 1 and not self._backtick(inside):
                return 1
            waiting = waiting or found == MORE
        waiting = waiting or any(source.starts(inside, m) == MORE for m in self._open_markers())
        return MORE if waiting else NONE

    def _fence_ways(self) -> list[Meaning]:
        return [m for m in self.state.table.answers if m.unmarked is not None and m.unmarked.shape in _WHOLE]

    def _open_markers(self) -> list[str]:
        return [m for m, found in self.state.table.meanings.items() if any(f.opens for f in found)]

    def _openers(self, at: int) -> str:
        """The call opener at local index ``at``, the longest there is."""
        standing = [m for m in self._open_markers() if self.source.starts(at, m) == 1]
        return max(standing, key=len, default="")

    def _fenced(self, rel: int) -> Verdict:
        """Read a fence ``rel`` ahead whose inside may be calls; they count if it is the whole answer."""
        source, channel = self.source, self.channel
        channel.hold(self.state.copy())
        depth = len(channel.holds)
        count = channel.ledger.count
        start = source.at + rel
        channel.markup(source.skip(source.line_end(source.pos + rel, _FENCE_LINE)))
        dialect: Dialect | None = None
        while True:
            self.depth_held = depth
            self.fenced = True
            read = yield from self._fence_item()
            self.fenced = False
            if read is None:
                break
            if read is False:
                self._unfence(_FENCE, depth)
                return True
            dialect = read if isinstance(read, Dialect) else dialect
        while True:
            self.channel.markup(source.skip(source.pos))
            if source.pos < len(source.text):
                self._unfence("", depth)
                return True
            if source.eof:
                break
            yield
        if channel.ledger.count == count or dialect is None:
            self._unfence("", depth)
            return True
        channel.release()
        self.called()
        self.choice(dialect, 0, f"calls alone in a fence at {start}")
        return True

    def _unfence(self, fence: str, depth: int) -> None:
        """The fence was not the whole answer: its text is content."""
        if len(self.channel.holds) >= depth:
            self.give_back(None)
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
            meanings = self.state.table.meanings[marker]
            yield from self.begin(0, marker, [m for m in meanings if m.kind is Kind.OPEN] or meanings)
            yield from self.entered()
            return meanings[0].dialect if channel.ledger.count > count else False
        return (yield from self._fence_bare())

    def _fence_bare(self) -> Generator[None, None, Dialect | bool]:
        """Read one body inside a fence: its dialect, or False at anything else."""
        source, channel = self.source, self.channel
        candidates = self._fence_ways()
        while True:
            meaning, waiting = self._first(candidates, source.pos)
            if meaning is None:
                if not waiting or source.eof:
                    return False
                yield
                continue
            body, unmarked = meaning.body, meaning.unmarked
            assert body is not None
            assert unmarked is not None
            back = source.bookmark()
            channel.hold(self.state.copy())
            offered_only = self.guess or unmarked.gate == "offered"
            if (yield from self.claim(Way(meaning.dialect, body), offered_only, back)):
                channel.release()
                return meaning.dialect
            if source.at > back.at:
                return False
            candidates = [m for m in candidates if m is not meaning]
