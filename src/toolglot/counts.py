"""Counts: the characters that searches examine, for tests of the law that cost is linear.

Does not: cost anything while nobody counts, but for one look at an empty list.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Count:
    """Characters examined by searches while a ``counting`` block runs."""

    __slots__ = ("characters",)

    def __init__(self) -> None:
        self.characters = 0


open_counts: Final[list[Count]] = []
"""The counts of the blocks that are open."""


class counting:  # noqa: N801 - it is used as a function
    """Count the characters that all searches examine inside the block (for tests of law 5)."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = Count()

    def __enter__(self) -> Count:
        open_counts.append(self._count)
        return self._count

    def __exit__(self, *fault: object) -> None:
        open_counts.remove(self._count)


def examined(characters: int) -> None:
    """Add to every open ``counting`` block."""
    for count in open_counts:
        count.characters += characters
