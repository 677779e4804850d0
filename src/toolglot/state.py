"""State: where a machine stands in the text, as a value that can be copied and gone back to."""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .table import Table

if TYPE_CHECKING:
    from typing import Final

_NO_FORM: Final = 99


class State:
    """Where a machine stands in the text; copied before what may be undone.

    ``table``: what markers mean. ``edge``: absolute offset where the last markup ended, ``after_call``
    whether that was a call. ``since``: where the content began that a lone reasoning close would claim,
    whether text was ``said`` after it, and whether the answer was still ``fresh`` (empty) there.
    ``ticks``: the open inline code, by its number of backticks; ``fence``: the run that opened a fence.
    ``by_tag``: whether the output itself opened the reasoning. ``form``: the strongest form in which a
    call came, 0 being the envelope.
    """

    __slots__ = (
        "after_call",
        "by_tag",
        "closers",
        "edge",
        "fence",
        "form",
        "fresh",
        "said",
        "since",
        "since_fresh",
        "table",
        "thinking",
        "ticks",
    )

    def __init__(self, table: Table) -> None:
        self.table = table
        self.thinking = False
        self.closers: tuple[str, ...] = ()
        self.ticks = 0
        self.fence = ""
        self.fresh = True
        self.edge = -1
        self.after_call = False
        self.since = 0
        self.said = False
        self.since_fresh = True
        self.by_tag = False
        self.form = _NO_FORM

    def begin_output(self) -> None:
        """What was read so far was the prompt: the output is still empty."""
        self.fresh = self.since_fresh = True
        self.said = self.after_call = self.by_tag = False
        self.since = 0
        self.ticks = 0
        self.fence = ""

    def copy(self) -> State:
        """Another state that stands at the same place."""
        twin = State(self.table)
        twin.thinking, twin.closers, twin.by_tag = self.thinking, self.closers, self.by_tag
        twin.ticks, twin.fence, twin.form = self.ticks, self.fence, self.form
        twin.fresh, twin.edge, twin.after_call = self.fresh, self.edge, self.after_call
        twin.since, twin.said, twin.since_fresh = self.since, self.said, self.since_fresh
        return twin
