"""Prose runs: text of the answer, or of the reasoning, taken delta by delta without resuming the machine.

Promises: what ``runs`` does. A blank at the end of a delta, and what may begin a marker there, wait for more.

Does not: tell what a marker means; a delta that has a whole one is the machine's.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING, Any, Protocol
from .events import Reasoning, Text
from .markers import Markers
from .parts import Part, parts_of
from .runs import JOIN, Run, begun, tail
from .scanner import BLANKS, Source
from .stops import SURROGATE, prose_patterns
from .window import CONTEXT

if TYPE_CHECKING:
    from typing import Final

# How much is taken before the machine reads on: where text is kept, and where it is not.
_FOLD: Final = 2048
_PLENTY: Final = 1 << 20


class Flow(Protocol):
    """What a run of prose asks of its channel."""

    mark: int
    holds: list[Any]
    aside: list[tuple[str, int, int]]


class ProseRun(Run):
    """Text in which ``markers`` are looked for.

    ``blanks``: what is held at its end: any blank, or at most so many newlines. ``firsts``: those
    with which a marker inside a word may begin; any, where there are none.
    """

    __slots__ = ("_blanks", "_firsts", "_flow", "_keeping", "_markers")

    def __init__(
        self,
        source: Source,
        flow: Flow,
        markers: Markers,
        blanks: str,
        firsts: frozenset[str] | None,
        *,
        thinking: bool,
    ) -> None:
        # Characters that stand in any prose tell little: there the markers themselves are looked for.
        spelled = any(c in BLANKS or c.isalnum() for c in markers.firsts)
        care = markers.beginning() if spelled else prose_patterns(markers.firsts).stop
        kind = Reasoning if thinking else Text
        super().__init__(source, kind, parts_of(markers, blanks, firsts, "prose"), care, blanks)
        self._ascii = spelled
        self._flow = flow
        self._keeping = False
        self._markers = markers
        self._blanks = blanks
        self._firsts = firsts

    def _room(self) -> int:
        flow, source = self._flow, self.source
        if flow.holds or flow.aside or flow.mark != source.base + source.pos:
            return 0
        self._keeping = source.keeping
        return _FOLD if self._keeping else _PLENTY

    def more(self, to: int) -> bool:
        """As in any run; what went out is let go, but for the end of it that may be asked for again."""
        if self._keeping or to > self._end:
            return super().more(to)
        # Each piece has a character at least.
        del self.pieces[:-CONTEXT]
        self.most = min(to + JOIN, self._end)
        return True

    def _part(self, text: str, start: int) -> Part | None:
        if not text.isascii() and SURROGATE.search(text) is not None:
            return None
        end = len(text)
        if self._stop.search(text, start) is not None:
            end = begun(text, self._markers, self._firsts, start)
            if end < 0 or (self._ordinary and end < len(text)):
                return None
        safe = tail(text, end, self._blanks)
        taken = text[:safe]
        return taken, taken, text[safe:], safe

    def _deliver(self, text: str) -> None:
        source = self.source
        source.pos += len(text)
        self._flow.mark = source.base + source.pos
