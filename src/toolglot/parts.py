"""Parts: what a run makes of a short text, remembered for all parsers of the process.

Promises: models write the same tokens again and again, and what a run makes of one depends on the text and
on what the run looks for alone; so it is worked out once. What is remembered is bounded: short texts, so
many of each kind of run, and so many kinds.

Does not: know what makes a part (``runs``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

Part = tuple[str, str, str, int, int]
"""What is taken of a text, the text of its event (empty where there is none), and what is held behind it;
how much of what is held needs no second look; how many characters are taken."""
Parts = dict[str, Part]

_LONGEST: Final = 96
_MOST: Final = 1024


class Beginning:
    """The beginning of a text, which is all that ``pattern`` matches."""

    __slots__ = ("fullmatch", "_memories")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.fullmatch = pattern.fullmatch
        self._memories: dict[int, tuple[Parts, ...]] = {}

    def parts(self, rel: int) -> tuple[Parts, ...]:
        """The parts of the runs that look for it, ``rel`` characters ahead."""
        found = self._memories.get(rel)
        if found is None:
            parts: Parts = {}
            found = self._memories[rel] = (parts, parts, parts, parts)
        return found


@lru_cache(maxsize=64)
def parts_of(*sought: object) -> tuple[Parts, Parts, Parts, Parts]:
    """The parts of the runs that look for this: with events and without, then the same for ordinary text."""
    return {}, {}, {}, {}


def remember(parts: Parts, text: str, part: Part) -> None:
    """Remember what is made of ``text``, if it is short."""
    if len(text) <= _LONGEST:
        if len(parts) >= _MOST:
            parts.clear()
        parts[text] = part
