"""lint: layouts that no parser can be sure of, whatever they are made of.

Promises: quotes that do not pair are refused even where some dialect happens to read what is printed,
and one whose arguments run into one another is named as such. Does not: look at any turn.
"""

from __future__ import annotations

from typing import Final

from .derived import Refused
from .layout import Layout, Pairs

_QUOTE: Final = '"'


def malformed(layout: Layout) -> Refused | None:
    """Quotes that open in front of the arguments and close behind them, or never."""
    if isinstance(layout.arguments, str) and layout.head.count(_QUOTE) % 2:
        return Refused("ambiguous-body", "the quotes around name and arguments do not pair", layout.head)
    return None


def ambiguous(layout: Layout) -> Refused | None:
    """Arguments whose end nothing marks, or between which nothing stands."""
    if not isinstance(layout.arguments, Pairs):
        return None
    text = layout.arguments.forms["string"]
    if text.codec == "raw" and not text.close:
        return Refused("ambiguous-body", "nothing marks where a text ends", text.open)
    if not layout.arguments.separator and not text.close and not text.open.partition("\ue003")[0]:
        return Refused("ambiguous-body", "nothing stands between two arguments", text.open)
    return None
