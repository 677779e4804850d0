"""Limits: how much a parser holds for one output before it lets go."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on what a model can make a parser hold, in characters unless said otherwise.

    ``held``: text that may still turn out to be a call (a bare JSON answer, a draft in reasoning).
    ``blanks``: a run of blanks that may turn out to be layout. ``header``: a message header or a name.
    ``trailing``: text between a complete body and its close marker. ``nesting``: depth of brackets.
    ``call``: one call. Beyond them held text goes out as content, a call is abandoned and the rest of it
    rejected, with a ``limit`` defect.
    """

    held: int = 1 << 22
    blanks: int = 256
    header: int = 512
    trailing: int = 1024
    nesting: int = 128
    call: int = 1 << 26
