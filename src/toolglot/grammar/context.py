"""What the calls of one grammar share, and how a count is found in what a codec writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..dialect import Body
from ..errors import RenderError
from ..schema import Tool
from .form import NEVER, Lit, Node, Rep, Rules, Token, one_of, seq
from .values import Notation, Values

# Two counts that share no digit, nor do the numbers that follow them.
_COUNTS: Final = (0, 22222)
_DIGITS: Final = Token(Rep(one_of("0-9"), 1))


@dataclass(frozen=True)
class Context:
    """What the calls of one grammar share: the body, the markers that raw text may not hold, and notes."""

    body: Body
    rules: Rules
    markers: tuple[str, ...]
    notes: set[str]

    def values(self, notation: Notation, tool: Tool) -> Values:
        """Values of the tool's schema in that notation."""
        return Values(notation, self.rules, tool.schema, self.notes)

    def written(self, name: str, make: Callable[[], Node]) -> Node:
        """What ``make`` makes; ``NEVER``, and a note, where the format cannot write what has that name."""
        try:
            return make()
        except RenderError as error:
            self.notes.add(f"{name}: {error}")
            return NEVER


def counted(write: Callable[[int], str]) -> Node:
    """What ``write`` gives, with any number where it depends on the count."""
    first, other = (write(count) for count in _COUNTS)
    if first == other:
        return Lit(first)
    before = shared(first, other)
    after = shared(first[::-1], other[::-1])[::-1]
    return seq(Lit(before), _DIGITS, Lit(after))


def shared(one: str, other: str) -> str:
    """What both begin with."""
    size = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[:size]
