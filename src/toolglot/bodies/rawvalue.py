"""rawvalue: a value as raw text between markers, and where it ends.

Promises: nothing in a value is unescaped, and text that cannot be its end is data at once. If the value
began with a newline where the dialect writes one, ends count only at the start of a line, else
anywhere. The value's own close counts if a sibling, an outer close or the end of the text follows; a
sibling of a known name, or an outer close before an opener or the end, ends a value whose close is
missing; an own close inside a line counts where one of those stands right behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..calls import Call, Reading
from ..events import DefectKind
from ..faults import Cut
from ..jsonstream import Steps
from ..jsontext import json_escape
from ..markers import Markers, Rope
from ..scanner import BLANKS, END, MORE, NONE
from ..schema import Param

_NEWLINE: Final = "\n"
_marks: dict[tuple[str, ...], Markers] = {}


def marks(literals: tuple[str, ...]) -> Markers:
    """The markers of ``literals``, compiled once."""
    found = _marks.get(literals)
    if found is None:
        found = _marks[literals] = Markers(literals)
    return found


class Frame:
    """The markers around the values of one call.

    ``ends`` close a value, ``siblings`` open the next one and ``sibling(at)`` tells whether one that
    begins at a local index is (1), is not (``NONE``) or may be (``MORE``) one of the tool's; ``blocks``
    close the group of values, ``openers`` begin another group.
    """

    __slots__ = ("ends", "siblings", "sibling", "blocks", "openers")

    def __init__(
        self,
        ends: tuple[str, ...],
        siblings: tuple[str, ...],
        sibling: Callable[[int], int],
        blocks: tuple[str, ...] = (),
        openers: tuple[str, ...] = (),
    ) -> None:
        self.ends = ends
        self.siblings = siblings
        self.sibling = sibling
        self.blocks = blocks
        self.openers = openers


class RawValue:
    """Reads one raw value up to its end. ``frame``: the markers around it."""

    def __init__(self, reading: Reading, call: Call, param: Param, frame: Frame) -> None:
        self._reading = reading
        self._source = reading.source
        self._call = call
        self._param = param
        self._frame = frame
        self._trim = reading.body.trim
        self._live = param.is_string
        self._kept = Rope()
        self._anchored = False
        self._groups = (frame.ends, frame.siblings, frame.blocks, reading.closers)
        self._marks = marks(sum(self._groups, ()))

    def read(self) -> Steps:
        """Read the value, its close and what it means. The cursor stands behind the close."""
        source = self._source
        yield from self._lead()
        start = source.at
        self._reading.channel.settle(start)
        if self._live:
            self._call.take('"', 0)
        ahead = 0
        while True:
            hit = source.find(self._marks, source.pos + ahead)
            if hit < 0 or source.hit is None:
                end = len(source.text) if hit < 0 else hit
                if source.eof:
                    raise Cut("the text ends inside a value")
                ahead = self._data(end, held=True)
                yield
                continue
            marker = source.hit
            verdict = self._ends(hit, marker)
            if verdict == MORE:
                ahead = self._data(hit, held=True)
                yield
            elif verdict == NONE:
                ahead = hit - source.pos + 1
            else:
                break
        self._data(hit, held=False)
        self._finish(start)
        if marker in self._frame.ends:
            source.pos += len(marker)
        else:
            self._reading.missing_close(self._frame.ends[0], self._call.index)

    def _lead(self) -> Steps:
        """Pass what stands between the opening and the value."""
        source = self._source
        while self._trim != "none":
            if source.pos < len(source.text):
                c = source.text[source.pos]
                if self._trim == "newline" and c == _NEWLINE:
                    source.pos += 1
                    self._anchored = True
                elif self._trim == "blank" and c in BLANKS:
                    source.pos += 1
                    continue
                return
            if source.eof:
                raise Cut("the text ends inside a value")
            yield

    def _data(self, end: int, held: bool) -> int:
        """Text up to local index ``end`` is data, but for what may be layout before the close.

        Returns how many characters stay in front of the cursor that need no second look.
        """
        source = self._source
        to = end
        if self._trim == "blank":
            to = source.tail(source.pos, end)
        elif self._anchored and end > source.pos and source.text[end - 1] == _NEWLINE:
            to = end - 1
        if to > source.pos:
            piece = source.text[source.pos : to]
            if self._live:
                self._call.take(json_escape(piece), len(piece))
            else:
                self._kept.append(piece)
                source.pos = to
        if not held:
            source.pos = end
        return end - source.pos

    def _finish(self, start: int) -> None:
        call = self._call
        if self._live:
            call.take('"', 0)
            return
        typed = self._param.typed(self._kept.text())
        call.take(typed.json, 0)
        if not typed.ok:
            self._reading.channel.defect(
                DefectKind.WRONG_TYPE,
                start,
                self._source.at,
                "the value is not of its declared type",
                call.index,
            )

    # -- where a value ends ---------------------------------------------------------------------

    def _ends(self, at: int, marker: str) -> int:
        """Whether ``marker`` at local index ``at`` ends the value: 1, ``NONE`` or ``MORE``."""
        if self._reading.ordinary(at, marker):
            return NONE
        frame = self._frame
        if marker not in frame.ends:
            return self._bare_end(at, marker) if self._counts(at) else NONE
        options = (*frame.siblings, *frame.blocks, *self._reading.closers)
        found = self._source.follows(at + len(marker), options)
        if found == END:
            return 1
        if found < 0 or self._counts(at):
            return 1 if found >= 0 else found
        return self._bare_end(self._source.follow_at, options[found])

    def _counts(self, at: int) -> bool:
        """Whether an end may stand at ``at``."""
        return not self._anchored or self._source.before(at) == _NEWLINE

    def _bare_end(self, at: int, marker: str) -> int:
        """Whether a sibling, a block's close or an outer close at ``at`` ends a value by itself."""
        source, frame, reading = self._source, self._frame, self._reading
        if not self._counts(at):
            return NONE
        behind = at + len(marker)
        if marker in frame.siblings:
            return frame.sibling(behind)
        if marker in frame.blocks:
            after = source.follows(behind, (*frame.openers, *reading.openers, *reading.closers))
        else:
            after = source.follows(behind, (*reading.openers, *frame.openers, *reading.closers))
        return 1 if after >= 0 or after == END else after
