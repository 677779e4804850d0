"""Waits: runs that hold what they take, where nothing happens before more has come.

Promises: what ``runs`` does. What is held is the beginning of a text that the machine waits for whole; a
delta after which it cannot be any more is the machine's, with all that was held.

Does not: know what it waits for. Codecs and machines say that.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .counts import open_counts as counts
from .events import Text
from .limits import Limits
from .parts import Beginning, Part, Parts, parts_of
from .runs import HELD_MOST, Run
from .scanner import BLANKS, Source, examined

if TYPE_CHECKING:
    from typing import Final

_PLENTY: Final = 1 << 12
_NO_MEMORY: Final[tuple[Parts, ...]] = ({},)
_NO_PIECES: Final[list[str]] = []


class HeadRun(Run):
    """What begins ``rel`` ahead and sends nothing as long as it is but a ``beginning``."""

    __slots__ = ("_begun_as", "_rel")

    def __init__(self, source: Source, beginning: Beginning, rel: int = 0) -> None:
        super().__init__(source, Text, _NO_MEMORY)
        self.parts = beginning.parts[rel]
        # Nothing is taken.
        self.pieces = _NO_PIECES
        self._begun_as = beginning
        self._rel = rel

    def look(self, beginning: Beginning, rel: int) -> None:
        """Look for another ``beginning``, or elsewhere."""
        if beginning is not self._begun_as or rel != self._rel:
            self._begun_as, self._rel = beginning, rel
            self.parts = beginning.parts[rel]

    def ready(self, shift: int, since: int, ordinary: bool) -> bool:
        # As for any run; but it is shorter, since nothing is taken.
        source = self.source
        pos = source.pos
        lead = source.base + pos
        led = len(source.text) - pos
        if led > HELD_MOST or lead < since or source.due - lead <= HELD_MOST:
            return False
        self._led = led
        self._ordinary = ordinary
        self.held = source.text[pos:]
        self.at = self._from = self.most = lead + shift
        return True

    def settle(self) -> None:
        held, led = self.held, self._led
        self.held, self._led = "", 0
        if counts:
            examined(self._looked + len(held) - led)
            self._looked = 0
        if led < len(held):
            source = self.source
            if self._ordinary:
                source.grow(held[led:], ordinary=True)
            else:
                # It is too short to be kept as it is.
                source.text += held[led:]
            source.ahead = 0

    def _part(self, text: str, start: int) -> Part | None:
        return ("", "", text, 0) if self._begun_as.begins(text, self._rel) else None


def expect(source: Source, limits: Limits, beginning: Beginning | None, rel: int = 0) -> None:
    """Declare that nothing happens while what stands ``rel`` ahead is but a ``beginning``, if one is."""
    if beginning is not None and limits.header >= HELD_MOST <= limits.blanks:
        source.run = head_run(source, beginning, rel)


def head_run(source: Source, beginning: Beginning, rel: int = 0) -> HeadRun:
    """The run for ``beginning``: a source has one for all, since it waits for one at a time."""
    run = source.waiting
    if run is None:
        run = source.waiting = HeadRun(source, beginning, rel)
    else:
        run.look(beginning, rel)
    return run


def head_waits(source: Source, beginning: Beginning) -> bool:
    """Declare that nothing happens while what is at the cursor is but a ``beginning``; whether it is."""
    at = source.pos
    if source.eof or len(source.text) - at > HELD_MOST:
        return False
    if counts:
        examined(len(source.text) - at)
    if not beginning.begins(source.text, at):
        return False
    source.run = head_run(source, beginning)
    return True


class OptionRun(Run):
    """What stands ``rel`` ahead, behind blanks, as long as it may be the beginning of one of ``options``."""

    __slots__ = ("_options", "_rel")

    def __init__(self, source: Source, rel: int, options: tuple[str, ...]) -> None:
        super().__init__(source, Text, parts_of(rel, options))
        self._rel = rel
        self._options = options

    def _room(self) -> int:
        return _PLENTY

    def _part(self, text: str, start: int) -> Part | None:
        return ("", "", text, 0) if undecided(text[self._rel :].lstrip(BLANKS), self._options) else None

    def _deliver(self, text: str) -> None:
        """All is held."""


def undecided(text: str, options: tuple[str, ...]) -> bool:
    """Whether more text must tell which of ``options`` it begins with, as ``Source.follows`` sees it."""
    begun = False
    for option in options:
        if text.startswith(option):
            return begun
        begun = begun or option.startswith(text)
    return begun


def wait(source: Source, at: int, options: tuple[str, ...]) -> None:
    """Declare that nothing happens before it is told which of ``options`` stands at local index ``at``."""
    if not source.eof:
        source.run = OptionRun(source, at - source.pos, options)
