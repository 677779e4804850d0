"""Counts: the characters that searches examine, for tests of the law that cost is linear.

Does not: cost anything while nobody counts, but for one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class Count:
    """Characters examined by searches while a ``counting`` block runs."""

    __slots__ = ("characters",)

    def __init__(self) -> None:
        self.characters = 0


open_counts: Final[list[Count]] = []
"""The counts of the blocks that are open."""


@contextmanager
def counting() -> Iterator[Count]:
    """Count the characters that all searches examine inside the block (for tests of law 5)."""
    count = Count()
    open_counts.append(count)
    try:
        yield count
    finally:
        open_counts.remove(count)


def examined(characters: int) -> None:
    """Add to every open ``counting`` block."""
    for count in open_counts:
        count.characters += characters
