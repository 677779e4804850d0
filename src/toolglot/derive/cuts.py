"""cuts: where literal texts are taken apart, from what renders have in common.

Promises: no cut falls inside a tag or a bracketed token; digits that count the calls become a slot.
Pure functions of texts. Does not: know what a text means.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .layout import INDEX, Layout
from .probe import common

UNIT: Final = re.compile(r"<[^<>\n]{1,80}>|\[/?[A-Z_]+\]|\w+")
"""What is never cut in two: a tag, a token in brackets, a word."""


def common_end(left: str, right: str) -> int:
    """How many characters two texts end with in common."""
    return common(left[::-1], right[::-1])


_LONGEST_STOP: Final = 40


def stop_of(layout: Layout) -> str:
    """The marker with which the model ends its turn: the first of what the template writes behind it."""
    end = layout.end.strip()
    if len(end) <= _LONGEST_STOP and not any(char.isspace() for char in end):
        return end
    unit = UNIT.match(end)
    return unit[0] if unit and not unit[0].isalnum() else ""


def earlier(text: str, at: int) -> int:
    """``at``, or the start of the unit that it would cut in ``text``."""
    return next((u.start() for u in UNIT.finditer(text) if u.start() < at < u.end()), at)


def later(text: str, at: int) -> int:
    """``at``, or the end of the unit that it would cut in ``text``."""
    return next((u.end() for u in UNIT.finditer(text) if u.start() < at < u.end()), at)


def prefix(left: str, right: str) -> str:
    """What two texts begin with in common, in whole units of both."""
    at = common(left, right)
    return left[: min(earlier(left, at), earlier(right, at))]


def suffix(left: str, right: str) -> str:
    """What two texts end with in common, in whole units of both."""
    size = common_end(left, right)
    size = min(len(left) - later(left, len(left) - size), len(right) - later(right, len(right) - size))
    return left[len(left) - size :]


class Parts(NamedTuple):
    """``outer_open``, items between ``open`` and ``close`` with ``separator`` between, ``outer_close``.

    ``first``: the number of the first item, where they are counted."""

    outer_open: str
    open: str
    separator: str
    close: str
    outer_close: str
    first: int


def decompose(before: str, between: str, behind: str, *, lead: bool = False) -> Parts:
    """The literals around repeated items, from the texts before the first, between two and behind the last.

    ``lead``: whether what stands in front of each item and of the outer close is taken for their beginning
    and not for the end of what precedes them.
    """
    close = prefix(between, behind)
    rest = between[len(close) :]
    opener, index = _common_open(before, rest)
    outer = before[: len(before) - len(opener)]
    separator = rest[: len(rest) - len(opener)]
    shared = suffix(outer, close) if lead and not separator else ""
    if shared.strip():
        close = close.removesuffix(shared)
        return Parts(outer.removesuffix(shared), shared + opener, "", close, behind[len(close) :], index)
    return Parts(outer, opener, separator, close, behind[len(close) :], index)


def _common_open(first: str, second: str) -> tuple[str, int]:
    """What both texts end with, a digit that grows by one as a slot; and that digit in the first."""
    size = 0
    index = 0
    found: list[str] = []
    for one, two in zip(reversed(first), reversed(second), strict=False):
        if one != two:
            if not (one.isdigit() and two.isdigit() and int(two) == int(one) + 1):
                break
            index = int(one)
            one = INDEX
        found.append(one)
        size += 1
    text = "".join(reversed(found))
    skip = max(later(part, len(part) - size) - (len(part) - size) for part in (first, second))
    return text[skip:], index
