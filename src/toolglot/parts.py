"""Parts: what a run makes of a short text, remembered for all parsers of the process.

Promises: models write the same tokens again and again, and what a run makes of one depends on the text and
on what the run looks for alone; so it is worked out once. What is remembered is bounded: texts of
``LONGEST`` characters, ``MOST`` of each kind of run, for the kinds that were asked for last. Texts that are
all new cost little more than a search: where no more fit, the next ones are forgotten, up to ``MISSED``.

Does not: know what makes a part (``runs``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

Part = tuple[str, str, str, int]
"""What is taken of a text, the text of its event (empty where there is none), what is held behind it, and how
many characters are taken."""
Learnt = Part | tuple[()]
"""A part, or ``HELD``: all of the text is held, and nothing else happens."""
HELD: Final[tuple[()]] = ()
Parts = dict[str, Learnt | None]
"""What is made of texts; None where the machine has to read one."""

LONGEST: Final = 96
MOST: Final = 2048
MISSED: Final = 8 * MOST
_missed: Final = [0]


def remember(parts: Parts, text: str, part: Learnt | None) -> None:
    """Remember what is made of ``text``, a short one, where there is room, or it is time to begin anew."""
    if len(parts) >= MOST:
        _missed[0] += 1
        if _missed[0] < MISSED:
            return
        _missed[0] = 0
        parts.clear()
    parts[text] = part


class Beginning:
    """The beginning of a text, which is all that ``pattern`` matches.

    Where a group of it is one of ``barred``, no more than ``gap`` characters may stand behind that.
    """

    __slots__ = ("barred", "gap", "parts", "pattern")

    def __init__(self, pattern: re.Pattern[str], barred: frozenset[str] = frozenset(), gap: int = 0) -> None:
        self.pattern = pattern
        self.barred = barred
        self.gap = gap
        # The parts of the runs that look for it, by how many characters ahead; of echoes, by -1.
        self.parts: defaultdict[int, Parts] = defaultdict(dict)

    def begins(self, text: str, at: int) -> bool:
        """Whether all of ``text`` from ``at`` on is the beginning."""
        match = self.pattern.fullmatch(text, at)
        if match is None:
            return False
        group = match.lastindex
        return group is None or match[group] not in self.barred or match.end(group) + self.gap >= len(text)


@lru_cache(maxsize=128)
def parts_of(*sought: object) -> tuple[Parts, Parts, Parts, Parts]:
    """The parts of the runs that look for this: with events and without, then the same for ordinary text."""
    return {}, {}, {}, {}
