"""rawvalue: a value as raw text between markers, and where it ends.

Promises: nothing in a value is unescaped, and text that cannot be its end is data at once. If the value
began with a newline where the dialect writes one, ends count only at the start of a line, else
anywhere. The value's own close counts if a sibling, an outer close or the end of the text follows; a
sibling of a known name, or outer closes before an opener or the end, end a value whose close is missing;
an own close inside a line counts where one of those stands right behind it. Where faults are mended, an
own close also counts before the next call. Where the text was cut, its end is no evidence for a missing
close; a missing close is a repair where the dialect does not list it, and in a value that holds one.
"""

from __future__ import annotations

from collections.abc import Callable

from .._typing import TYPE_CHECKING
from ..calls import Call, Reading
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..jsontext import json_escape
from ..markers import Rope, marks
from ..parts import Beginning
from ..runs import HELD_MOST, RawRun, raw_run
from ..scanner import BLANKS, END, MORE, NONE, Source
from ..schema import Param
from ..sinks import Kept

if TYPE_CHECKING:
    from typing import ClassVar, Final

_NEWLINE: Final = "\n"
_NULL: Final = "null"
_NOTHING: Final = Rope()
# A call, its markers and its section: more closes in a row than these are no part of a value.
_OUTER_MOST: Final = 3


def behind(reading: Reading, at: int, options: tuple[str, ...], gaps: tuple[str, ...] = ()) -> int:
    """Which of ``options`` stands at ``at``, after no more blanks than may be layout."""
    source = reading.source
    found = past(source, at, options, gaps) if gaps else source.follows(at, options)
    return found if source.follow_at - at <= reading.limits.blanks else NONE


def past(source: Source, at: int, options: tuple[str, ...], gaps: tuple[str, ...]) -> int:
    """As ``Source.follows``, where ``gaps`` count as blanks."""
    found = source.follows(at, options + gaps)
    while found >= len(options):
        found = source.follows(source.follow_at + len(gaps[found - len(options)]), options + gaps)
    return found


def ends_call(reading: Reading, at: int, openers: tuple[str, ...] = ()) -> int:
    """Whether an opener or the end follows at ``at``, where an outer close ends, perhaps after more closes.

    1, ``NONE`` or ``MORE``; the end of a text that was cut tells nothing.
    """
    openers = (*openers, *reading.openers)
    for _ in range(_OUTER_MOST):
        found = behind(reading, at, (*openers, *reading.closers))
        if found < len(openers):
            return _stands(reading, found)
        at = reading.source.follow_at + len(reading.closers[found - len(openers)])
    return 1


def _stands(reading: Reading, found: int) -> int:
    """Whether an end stands that nothing speaks for but what was ``found`` behind it."""
    if found == END:
        return NONE if reading.finish_reason == "length" else 1
    return 1 if found >= 0 else found


def wrong_type(reading: Reading, call: Call, start: int) -> None:
    """Report that the value since ``start`` is not what the schema declares."""
    at = reading.source.at
    detail = "the value is not of its declared type"
    reading.channel.defect(DefectKind.WRONG_TYPE, start, at, detail, call.index)


class Frame:
    """The markers around the values of one call.

    ``ends`` close a value, ``siblings`` open the next one and ``sibling(reading, call, at)`` tells whether
    one that begins at a local index is (1), is not (``NONE``) or may be (``MORE``) one of the tool's;
    ``blocks`` close the group of values, ``openers`` begin another group. ``kind``: ``pairs``, or ``rest``
    where the value is the whole rest of its body: then any of ``ends`` ends it, and is left. ``over``: what
    begins with a value's end, and in front of whose end nothing happens. One frame serves all calls of a
    body.
    """

    __slots__ = ("ends", "siblings", "sibling", "blocks", "openers", "kind", "over", "_known")

    def __init__(
        self,
        ends: tuple[str, ...],
        siblings: tuple[str, ...] = (),
        sibling: Callable[[Reading, Call, int], int] | None = None,
        blocks: tuple[str, ...] = (),
        openers: tuple[str, ...] = (),
        kind: str = "pairs",
        over: Beginning | None = None,
    ) -> None:
        self.ends = ends
        self.siblings = siblings
        self.sibling = sibling
        self.blocks = blocks
        self.openers = openers
        self.kind = kind
        self.over = over
        self._known: _Around | None = None

    def around(self, reading: Reading) -> _Around:
        """What may end a value in the envelope that is read."""
        known = self._known
        if known is None or known.closers is not reading.closers or known.openers is not reading.openers:
            known = self._known = _Around(self, reading)
        return known


class _Around:
    """What may end a value of a frame in an envelope.

    ``ends``: all that may. ``behind``: what may stand behind its own close; all of it from ``calls`` on opens
    other calls, which counts only where faults are mended, and in front of that are the ``siblings``.
    """

    __slots__ = ("behind", "calls", "closers", "ends", "openers", "siblings")

    def __init__(self, frame: Frame, reading: Reading) -> None:
        self.openers = reading.openers
        self.closers = closers = reading.closers
        self.siblings = (*frame.siblings, *frame.blocks, *closers)
        self.ends = marks((*frame.ends, *self.siblings))
        self.calls = len(self.siblings)
        self.behind = (*self.siblings, *frame.openers, *reading.openers)


class RawValue:
    """Reads one raw value up to its end. ``frame``: the markers around it; ``key``: JSON in front of it.

    ``anchored``: whether its end must stand at the start of a line. ``escape``: with what an escape begins.
    """

    __slots__ = (
        *(
            "_call",
            "_frame",
            "_inner",
            "_kept",
            "_key",
            "_live",
            "_around",
            "_nulls",
            "_param",
            "_reading",
        ),
        *("_over", "_run", "_source", "_trim", "anchored"),
    )

    escape: ClassVar[str] = ""

    def __init__(self, reading: Reading, call: Call, param: Param, frame: Frame, key: str = "") -> None:
        body, limits = reading.body, reading.limits
        self._key = key
        self._reading = reading
        self._source = reading.source
        self._call = call
        self._param = param
        self._frame = frame
        self._trim = body.trim
        self._nulls = nulls = body.nulls == "always"
        self._live = live = param.is_string and not nulls
        self._kept = _NOTHING if live else Rope()
        self.anchored = self._inner = False
        self._run: RawRun | None = None
        self._around = frame.around(reading)
        self._over = frame.over if limits.header >= HELD_MOST <= limits.blanks else None

    def read(self) -> Steps:
        """Read the value, its close and what it means. The cursor stands behind the close."""
        source = self._source
        if self._trim == "newline" and source.pos < len(source.text):
            if source.text[source.pos] == _NEWLINE:
                source.pos += 1
                self.anchored = True
        else:
            yield from self._lead()
        start = source.base + source.pos
        self._reading.channel.settle(start)
        before = self._key + '"' if self._live else self._key
        if before:
            self._call.take(before, 0)
        ahead = 0
        while True:
            hit = source.find(self._around.ends, source.pos + ahead)
            if hit < 0 or source.hit is None:
                end = len(source.text) if hit < 0 else hit
                if source.eof:
                    raise Cut("the text ends inside a value")
                source.ahead = self._data(end, held=True)
                self._wait()
                yield
                ahead = source.ahead
                continue
            marker = source.hit
            verdict = self._ends(hit, marker)
            if verdict == MORE:
                ahead = source.ahead = self._data(hit, held=True)
                if self._over is not None:
                    self._wait()
                yield
                if self._over is not None:
                    ahead = source.ahead
            elif verdict == NONE:
                self._inner = self._inner or marker in self._frame.ends
                ahead = hit - source.pos + 1
            else:
                break
        self._data(hit, held=False)
        self._finish(start)
        if self._frame.kind == "rest":
            return
        if marker in self._frame.ends:
            source.pos += len(marker)
        elif not self._reading.lenient and (self._inner or self._reading.body.value_end == "needed"):
            raise Malformed(f"{self._frame.ends[0]!r} is missing")
        else:
            self._reading.missing_close(self._frame.ends[0], self._call.index)

    def _wait(self) -> None:
        """Declare that the value may only go on."""
        if not self._live and self._nulls and self._param.is_string:
            return
        if self._run is None or not isinstance(self._run.sink, Call):
            blanks = BLANKS if self._trim == "blank" else _NEWLINE if self.anchored else ""
            sink = self._call if self._live else Kept(self._source, self._kept)
            sought = self._around.ends, blanks, self.escape, self._over
            self._run = raw_run(self._source, sink, sought)
        self._source.run = self._run

    def _lead(self) -> Steps:
        """Pass what stands between the opening and the value."""
        source = self._source
        while self._trim != "none":
            if source.pos < len(source.text):
                c = source.text[source.pos]
                if self._trim == "newline" and c == _NEWLINE:
                    source.pos += 1
                    self.anchored = True
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
        elif self.anchored and end > source.pos and source.text[end - 1] == _NEWLINE:
            to = end - 1
        if to > source.pos:
            piece = source.text[source.pos : to]
            if self._live:
                meant = self.meant(piece) if self.escape else piece
                if meant == piece:
                    self._call.take_raw(piece)
                else:
                    self._call.take(json_escape(meant), len(piece))
            else:
                self._kept.append(self.meant(piece))
                source.pos = to
                self._decide()
        if not held:
            source.pos = end
        return end - source.pos

    def meant(self, piece: str) -> str:
        """What a piece of the value stands for: itself, where nothing is escaped."""
        return piece

    def _decide(self) -> None:
        """Text that cannot be the word null any longer is a string, where that was the question."""
        if not self._nulls or not self._param.is_string:
            return
        if self._kept.length > len(_NULL) or not _NULL.startswith(self._kept.text().lower()):
            self._nulls = False
            self._live = True
            self._call.take('"' + json_escape(self._kept.text()), 0)

    def _finish(self, start: int) -> None:
        call = self._call
        if self._live:
            call.take('"', 0)
            return
        if self._nulls and self._kept.text().lower() == _NULL:
            call.take(_NULL, 0)
            return
        typed = self._param.typed(self._kept.text())
        call.take(typed.json, 0)
        if not typed.ok:
            wrong_type(self._reading, call, start)

    # -- where a value ends ---------------------------------------------------------------------

    def _ends(self, at: int, marker: str) -> int:
        """Whether ``marker`` at local index ``at`` ends the value: 1, ``NONE`` or ``MORE``."""
        frame = self._frame
        if frame.kind == "rest":
            if self._counts(at):
                return 1
            return _stands(self._reading, behind(self._reading, at + len(marker), self._reading.openers))
        if marker not in frame.ends:
            return self._bare_end(at, marker) if self._counts(at) else NONE
        around, reading = self._around, self._reading
        options = around.behind if reading.lenient else around.siblings
        found = behind(reading, at + len(marker), options, reading.body.gaps)
        if found == END:
            return 1
        if found < 0 or self._counts(at):
            return 1 if found >= 0 else found
        if found >= around.calls:
            return 1 if self._counts(self._source.follow_at) else NONE
        return self._bare_end(self._source.follow_at, options[found])

    def _counts(self, at: int) -> bool:
        """Whether an end may stand at ``at``."""
        return not self.anchored or self._source.text[at - 1 : at] == _NEWLINE

    def _bare_end(self, at: int, marker: str) -> int:
        """Whether a sibling, a block's close or an outer close at ``at`` ends a value by itself."""
        frame = self._frame
        if not self._counts(at):
            return NONE
        if marker in frame.siblings:
            return (
                NONE if frame.sibling is None else frame.sibling(self._reading, self._call, at + len(marker))
            )
        return ends_call(self._reading, at + len(marker), frame.openers)
