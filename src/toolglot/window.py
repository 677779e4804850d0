"""Window: the part of a growing text that is still needed, and a cursor in it.

Promises: text once consumed is dropped, but for a few characters of context and what a ``keep`` asks for.

Does not: search. Positions in ``text`` are local and change with every ``feed``; what outlives a feed is a
distance from the cursor, or an absolute offset (``base + local``).
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .markers import Bookmark, Rope

if TYPE_CHECKING:
    from typing import Final

    from .runs import Run
    from .waits import HeadRun

CONTEXT: Final = 48
_SLACK: Final = 64
_SLACK_KEPT: Final = 128
# What is shorter costs as much to keep as it is as to copy.
_SHORT: Final = 256
UNBOUNDED: Final = 1 << 60

# What no window changes, so that all of them share it until they have their own.
_NOTHING_KEPT: Final = Rope()
_NO_FLAGS: Final[list[tuple[int, int, bool]]] = []


class Window:
    """The text of one channel while it grows, and a cursor in it.

    ``text`` is a window; ``pos`` the cursor in it; ``base`` the absolute offset of ``text[0]``;
    ``eof`` whether the text has ended; ``run`` what takes deltas without the machine, where it waits;
    ``special`` are the markers that are special tokens, ``ahead`` how far ahead of the cursor a search that
    waited need not look again. ``due``: the absolute offset up to which a run may go. ``waiting`` and
    ``taking``: the last run that waited for what must come, and the last that took a value. ``flags``:
    which stretches of the text the caller said to be special tokens, or not to be.
    """

    __slots__ = (
        *(
            "text",
            "pos",
            "base",
            "ahead",
            "due",
            "eof",
            "run",
            "waiting",
            "taking",
            "hit",
            "follow_at",
            "special",
        ),
        "flags",
        *("_keeps", "_kept", "_kept_to"),
    )

    def __init__(self, base: int = 0) -> None:
        self.text = ""
        self.pos = 0
        self.base = base
        self.ahead = 0
        self.due = UNBOUNDED
        self.eof = False
        self.run: Run | None = None
        self.waiting: HeadRun | None = None
        self.taking: Run | None = None
        self.hit: str | None = None
        self.follow_at = 0
        self.special: frozenset[str] = frozenset()
        self._keeps: tuple[int, ...] = ()
        self._kept = _NOTHING_KEPT
        self._kept_to = 0
        self.flags: list[tuple[int, int, bool]] = _NO_FLAGS

    @property
    def at(self) -> int:
        """The cursor as an absolute offset."""
        return self.base + self.pos

    def feed(self, delta: str, special: bool | None = None) -> None:
        """Append ``delta``, dropping what has been consumed."""
        run = self.run
        if run is not None:
            self.run = None
            run.settle()
        text = self.text
        cut = self.pos - CONTEXT
        if special is not None:
            self.flag(len(delta), special)
        # A little more is kept than must be: each cut is a copy. What must be at hand anyway may stay.
        if cut > (_SLACK if not self._keeps else _SLACK_KEPT):
            if self._keeps and self.base + cut > self._kept_to:
                self._gathered().append(text[self._kept_to - self.base : cut])
                self._kept_to = self.base + cut
            self.text = text[cut:] + delta
            self.base += cut
            self.pos = CONTEXT
            if self.flags and self.flags[0][1] <= self.base:
                self.flags = [f for f in self.flags if f[1] > self.base]
        else:
            self.text = text + delta

    def flag(self, length: int, special: bool) -> None:
        """The caller said of the next ``length`` characters whether they are a special token."""
        start = self.base + len(self.text)
        flags = self.flags
        if flags and flags[-1][1:] == (start, special) and not special:
            flags[-1] = (flags[-1][0], start + length, special)
        else:
            self.flags = [*flags, (start, start + length, special)]

    def settle(self) -> None:
        """The run is over: what it took is in the text, and behind the cursor."""
        run, self.run = self.run, None
        if run is not None:
            run.settle()

    def let_go(self) -> None:
        """Nothing waits for text any more: runs know the window, and would keep it."""
        self.run = self.waiting = self.taking = None

    def grow(self, text: str, ordinary: bool) -> None:
        """Append ``text``, which a run took; it is kept as it is, and not copied."""
        if ordinary:
            self.flag(len(text), special=False)
        if self._keeps and len(text) > _SHORT:
            self._gathered().append(self.text[self._kept_to - self.base :])
            self._gathered().append(text)
            self._kept_to = self.base + len(self.text) + len(text)
        self.text += text

    def leap(self, length: int, text: str, ordinary: bool) -> None:
        """As ``grow``, for ``length`` characters of which only the end of what is behind the cursor then, and
        what is not, is at hand: ``text``. The cursor stands where that begins.
        """
        if ordinary:
            self.flag(length, special=False)
        self.base += len(self.text) + length - len(text)
        self.text = text
        self.pos = 0
        if self.flags:
            self.flags = [f for f in self.flags if f[1] > self.base]

    @property
    def keeping(self) -> bool:
        """Whether text is kept."""
        return bool(self._keeps)

    # -- text that must stay at hand ------------------------------------------------------------

    def keep(self, start: int) -> None:
        """Keep all text from the absolute offset ``start`` until ``release``; calls nest."""
        if not self._keeps:
            self._kept_to = start
        self._keeps = (*self._keeps, start)

    def _gathered(self) -> Rope:
        """What is kept of the text that was dropped; most regions end before any is."""
        if self._kept is _NOTHING_KEPT:
            self._kept = Rope()
        return self._kept

    def release(self) -> None:
        """Undo the innermost ``keep``."""
        self._keeps = self._keeps[:-1]
        if not self._keeps:
            self._kept = _NOTHING_KEPT

    def forget(self) -> None:
        """Let go of the text that was kept so far; ``keep`` holds on from the cursor."""
        self._keeps = tuple([self.at for _ in self._keeps])
        self._kept = Rope()
        self._kept_to = self.at

    def restart(self, at: int, context: str) -> None:
        """Stand at the absolute offset ``at``, behind ``context``, and keep what follows."""
        self.text = context
        self.pos = len(context)
        self.base = at - self.pos
        self._keeps = (at,)
        self._kept = _NOTHING_KEPT
        self._kept_to = at

    def raw(self, start: int, end: int) -> str:
        """The text between two absolute offsets; ``start`` is in the window or kept."""
        if start >= end:
            return ""
        if start >= min(self.base, end):
            return self.text[start - self.base : end - self.base] if end > start else ""
        first = self._keeps[0]
        kept = self._kept.slice(start - first, min(end, self._kept_to) - first)
        return (
            kept + self.text[self._kept_to - self.base : max(end - self.base, 0)]
            if end > self._kept_to
            else kept
        )

    def bookmark(self) -> Bookmark:
        """Where the cursor stands, for ``rewind``."""
        return Bookmark(self.at, self.text[max(self.pos - CONTEXT, 0) : self.pos], tuple(self.flags))

    def rewind(self, bookmark: Bookmark) -> None:
        """Take the cursor back to ``bookmark``; the text since then must have been kept."""
        to = bookmark.at
        if to < self.base + CONTEXT:
            text = self.raw(to, self.base + len(self.text))
            if to < self._kept_to:
                before = self.raw(self._keeps[0], to)
                self._kept = Rope()
                self._gathered().append(before)
                self._kept_to = to
            self.base = to - len(bookmark.context)
            self.text = bookmark.context + text
            last = bookmark.flags[-1][0] if bookmark.flags else -1
            self.flags = [*bookmark.flags, *(f for f in self.flags if f[0] > last)]
        self.pos = to - self.base
