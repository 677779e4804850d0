"""Timing: how long text of a stream was held, and how much later its first text went out.

Promises: nothing but two comparisons for each chunk once the first text is out and nothing is held.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .record import Record

_TEXT = re.compile(rb'"(?:content|reasoning|reasoning_content|refusal)": ?"[^"]|"tool_calls": ?\[')
"""That a frame has text of the model: not its role, not an empty delta."""


class Timing:
    """The times of one stream, written into its record."""

    def __init__(self, record: Record, clock: Callable[[], float]) -> None:
        self._record = record
        self._clock = clock
        self._first: float | None = None
        self._held: float | None = None

    def received(self, chunk: bytes) -> None:
        """The upstream's next bytes."""
        if self._first is None and _TEXT.search(chunk):
            self._first = self._clock()

    def sent(self, out: bytes, held: int) -> None:
        """What the client got, and how many characters are held now."""
        if self._first is not None and self._record.added_seconds is None and _TEXT.search(out):
            self._record.added_seconds = self._clock() - self._first
        if held:
            if self._held is None:
                self._held = self._clock()
        elif self._held is not None:
            self.ended()

    def ended(self) -> None:
        """Nothing is held any more."""
        if self._held is not None:
            self._record.held_seconds += self._clock() - self._held
            self._held = None
