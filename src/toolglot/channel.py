"""Channel: one stream of text, its cursor, and the events that come out of it.

Promises: events tile the text by construction. Everything before the cursor is either attributed, set
aside as possible layout, or lies between ``mark`` and the cursor, where the next event begins. Events
can be held back and then released, or discarded as if they had never been.

Does not: decide anything; ``envelope`` and ``messages`` do.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .events import Arguments, Defect, DefectKind, Event, Markup, Reasoning, Text
from .scanner import Source

if TYPE_CHECKING:
    from typing import Final

    from .calls import Call
    from .ledger import Ledger


_NO_ASIDE: Final[list[tuple[str, int, int]]] = []


class Hold:
    """What a channel returns to when held events are discarded."""

    __slots__ = ("out", "at", "aside", "count", "state")

    def __init__(
        self, out: list[Event], at: int, aside: list[tuple[str, int, int]], count: int, state: object
    ) -> None:
        self.out = out
        self.at = at
        self.aside = aside
        self.count = count
        self.state = state


_NO_HOLDS: Final[list[Hold]] = []


class Channel:
    """A source and the events made of it. ``mark`` is an absolute offset; events of a call go to ``out``."""

    __slots__ = ("source", "ledger", "mark", "aside", "holds", "call", "body_at", "out", "_bottom")

    def __init__(self, source: Source, ledger: Ledger) -> None:
        self.source = source
        self.ledger = ledger
        self.mark = source.base
        self.aside: list[tuple[str, int, int]] = _NO_ASIDE
        # Never changed in place: those of no call share one list.
        self.holds = _NO_HOLDS
        self.call: Call | None = None
        self.body_at = 0
        self._bottom: list[Event] = []
        self.out = self._bottom

    def drain(self) -> list[Event]:
        """The events that are ready, in order."""
        call = self.call
        if call is not None and call.pending and not self.holds:
            # What is held is joined once, when it goes out.
            call.flush()
        ready = self._bottom
        if not ready:
            return []
        self._bottom = []
        if self.holds:
            self.holds[0].out = self._bottom
        else:
            self.out = self._bottom
        return ready

    def put_back(self, events: list[Event]) -> None:
        """``events``, which were drained, are ready again, before all that came since."""
        self._bottom[:0] = events

    # -- events ---------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Put out an event, after what the call in progress still owes."""
        call = self.call
        if call is not None and call.pending:
            call.flush()
        self.out.append(event)

    def prose(self, end: int, thinking: bool) -> None:
        """All up to local index ``end`` is text of the answer, or of reasoning."""
        source = self.source
        start = self.mark
        to = source.base + end
        if to <= start:
            source.pos = end
            return
        text = source.raw(start, to)
        source.pos = end
        self.mark = to
        if thinking:
            self.emit(Reasoning(text, (start, to)))
        else:
            self.restore()
            self.emit(Text(text, (start, to)))

    def markup(self, end: int) -> None:
        """All up to local index ``end`` is markup."""
        source = self.source
        source.pos = end
        self.settle(source.base + end)

    def settle(self, to: int) -> None:
        """Attribute what lies between ``mark`` and the absolute offset ``to`` to the markup."""
        call = self.call
        if call is not None and call.pending:
            call.flush()
        start = self.mark
        if to > start:
            self.mark = to
            self.out.append(Markup((start, to)))

    def defect(self, kind: DefectKind, start: int, end: int, detail: str, index: int | None = None) -> None:
        """Report a defect about the text between two absolute offsets."""
        start = min(start, end)
        self.emit(Defect(kind, self.source.raw(start, end), detail, (start, end), index))

    # -- possible layout ------------------------------------------------------------------------

    def set_aside(self, end: int) -> None:
        """The blanks up to local index ``end`` stand next to markup: content or layout, as it turns out."""
        source = self.source
        to = source.base + end
        if to > self.mark:
            start, self.mark = self.mark, to
            text = source.text[start - source.base : end] if start >= source.base else source.raw(start, to)
            # Never changed in place: what is held refers to it.
            self.aside = [*self.aside, (text, start, to)]
        source.pos = end

    def restore(self) -> None:
        """Content goes on: what was set aside was content."""
        if self.aside:
            aside, self.aside = self.aside, _NO_ASIDE
            for text, start, end in aside:
                self.emit(Text(text, (start, end)))

    def drop_aside(self) -> None:
        """Content ended: what was set aside was layout."""
        aside, self.aside = self.aside, _NO_ASIDE
        for _, start, end in aside:
            self.emit(Markup((start, end)))

    # -- holding back ---------------------------------------------------------------------------

    def hold(self, state: object = None) -> None:
        """Hold events back from here on; ``state`` is given back by ``discard``."""
        if self.call is not None:
            self.call.flush()
        self.holds = [*self.holds, Hold(self.out, self.mark, self.aside, self.ledger.count, state)]
        self.source.keep(self.mark)
        self.out = []

    def release(self, without_arguments: bool = False) -> None:
        """Let the innermost held events out, arguments as markup where they are not wanted."""
        if self.call is not None:
            self.call.flush()
        hold, self.holds = self.holds[-1], self.holds[:-1] or _NO_HOLDS
        if without_arguments:
            for event in self.out:
                if not isinstance(event, Arguments):
                    hold.out.append(event)
                elif event.span[1] > event.span[0]:
                    hold.out.append(Markup(event.span))
        else:
            hold.out.extend(self.out)
        self.out = hold.out
        self.source.release()

    def discard(self) -> object:
        """Forget the innermost held events; ``mark`` is where they began. Their text stays to be attributed.

        The caller must attribute the text before it lets more be fed: it is no longer kept.
        """
        self.call = None
        hold, self.holds = self.holds[-1], self.holds[:-1] or _NO_HOLDS
        self.out = hold.out
        self.mark = hold.at
        self.aside = hold.aside
        self.ledger.count = hold.count
        return hold.state

    def dropped(self) -> None:
        """The text of a discarded hold has been attributed; it need not be kept any longer."""
        self.source.release()
