"""reasons: whether the reasoning that a template renders reads back in a dialect. Does not: find its tags."""

from __future__ import annotations

from typing import Final

from ..dialect import Dialect
from ..parser import parse
from .probe import NAMES, ONE, THOUGHT, Prober
from .thinking import reasoned

OFFERED: Final = {name: {"type": "object"} for name in NAMES}
"""The tools of checks in which types do not matter."""


def reasons(prober: Prober, dialect: Dialect, opener: str) -> bool:
    """Whether rendered reasoning reads back, alone and in front of a call.

    ``opener``: the tag with which the template opens it.
    """
    checked = False
    for calls in ((), ONE):
        turn = reasoned(prober, calls)
        if not turn:
            continue
        at = turn.index(THOUGHT)
        start = turn.rfind(opener, 0, at)
        if start < 0:
            return False
        message = parse(turn[start:].rstrip(), dialect, tools=OFFERED, finish_reason="stop")
        names = [call.name for call in message.tool_calls]
        if message.reasoning.strip() != THOUGHT or names != [name for name, _ in calls]:
            return False
        checked = True
    return checked
