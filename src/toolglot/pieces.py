"""Short texts taken apart: a header's fields, a tag's attributes, a name and its counter.

Promises: what a text of any length passes through here counts as examined.

Does not: look at text that still grows; ``scanner`` does.
"""

from __future__ import annotations

import re

from ._typing import TYPE_CHECKING
from .late import late
from .scanner import examined

if TYPE_CHECKING:
    from typing import Final

_ATTRIBUTE: Final = late(r"""([^\s"'=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)""")
_KEY_LINE: Final = late(r"[ \t]*([A-Za-z_]\w*)[ \t]*:(.*)", re.ASCII | re.DOTALL)


def after_last(text: str, literals: tuple[str, ...], *, including: bool) -> str:
    """What follows the last occurrence of any of ``literals``, or begins with it; else ``text``."""
    best = 0
    for literal in literals if text else ():
        found = text.rfind(literal)
        if found >= 0:
            best = max(best, found if including else found + len(literal))
    return text[best:]


def attributes_of(text: str) -> dict[str, str]:
    """The attributes in the text of a tag, with values in quotes or not."""
    examined(len(text))
    return {key: value[1:-1] if value[0] in "\"'" else value for key, value in _ATTRIBUTE.findall(text)}


def before_counter(text: str, mark: str) -> str:
    """A short text without the number at its end that ``mark`` introduces; all of it where there is none."""
    head, _, counter = text.rpartition(mark)
    return head if head and counter.isascii() and counter.isdigit() else text


def twice(text: str, mark: str) -> str:
    """What stands on both sides of ``mark`` in a short text, where that is the same; else the text."""
    half = text[: (len(text) - len(mark)) // 2]
    return half if half and text == half + mark + half else text


def field_after(text: str, mark: str, stops: tuple[str, ...]) -> str:
    """What follows the last ``mark`` in a short text, up to the first of ``stops``; empty without a mark."""
    start = text.rfind(mark) if mark else -1
    if start < 0:
        return ""
    rest = text[start + len(mark) :]
    return rest[: min((i for i in map(rest.find, stops) if i >= 0), default=len(rest))]


def key_line(line: str) -> tuple[str, str] | None:
    """The key and the rest of a ``key: rest`` line, or None."""
    examined(len(line))
    match = _KEY_LINE.match(line)
    return None if match is None else (match.group(1), match.group(2))
